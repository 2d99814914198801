#!/bin/bash
# Runs the walk by hand of docs/WALK command by command, each machine in a folder of its own: what a newcomer
# types has to lead to a result. Commands that stay (enrol, run) go on beside those of the other machine.
. "$(dirname "$0")/../cli/common.sh"
PATH=$work/bin:$programs:$PATH
host=127.$((200 + $$ / 65536 % 50)).$(($$ / 256 % 256)).$(($$ % 256))
machines='coordinator|hospital-1'
declare -A staying
mkdir "$work/bin" "$work/coordinator" "$work/hospital-1"
trap '[ ${#staying[@]} -eq 0 ] || kill "${staying[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT

# Another machine is another folder.
cat >"$work/bin/scp" <<SCP
#!/bin/bash
cp "\${@:1:\$#-1}" "$work/\${!#%:}/"
SCP
chmod +x "$work/bin/scp"

# The next command of a machine waits for the end of the one that stays, which has to end well.
settle() { # MACHINE
    [ -n "${staying[$1]:-}" ] || return 0
    wait "${staying[$1]}" || fault "$1: what stays ended with $?: $(cat "$work/$1/said")"
    unset "staying[$1]"
}

# A person answers on a terminal, beside the agent that runs.
approve() { # COMMAND
    for _ in $(seq 600); do grep -q job-waiting said && break || sleep 0.1; done
    echo y | timeout 120 script -qec "$1" /dev/null >>said 2>&1 || fault "$1 ended with $?: $(cat said)"
}

perform() { # MACHINE COMMAND
    cd "$work/$1" || exit 1
    if [[ $2 == hedgerow-agent\ approve* ]]; then
        approve "$2"
        return
    fi
    settle "$1"
    case $2 in
    hedgerow-coordinator\ enrol*|hedgerow-coordinator\ run*|hedgerow-agent\ run*)
        timeout 120 bash -c "$2" >>said 2>&1 &
        staying[$1]=$!
        ;;
    *)
        timeout 120 bash -c "$2" >>said 2>&1 || fault "$1: $2 ended with $?: $(cat said)"
        ;;
    esac
}

count=0
machine=
command=
while IFS= read -r line; do
    line=${line#        }
    line=${line//hedgerow.example.org/$host}
    line=${line//0.0.0.0/$host}
    if [[ $line =~ ^($machines)\$\ (.*) ]]; then
        [ -z "$machine" ] || perform "$machine" "$command"
        machine=${BASH_REMATCH[1]}
        command=${BASH_REMATCH[2]}
        count=$((count + 1))
    else
        command+=$'\n'$line
    fi
done < <(sed -n '/^## By hand/,$p' "$root/docs/WALK.md" | grep '^        ')
perform "$machine" "$command"
settle coordinator
[ "$count" -ge 17 ] || fault "only $count commands were found"
grep -q 'hospital-1: enrolled' "$work/coordinator/said" || fault 'enrol does not say who has enrolled'
grep -q 'approved for 1 run' "$work/hospital-1/said" || fault 'nobody was asked for a yes'
grep -q PASSED "$work/hospital-1/said" || fault 'the site did not pass'
! grep -q 'PASSED.*cannot be opened' "$work/hospital-1/said" || fault 'a check that passed tells of an error'
[ -s "$work/coordinator/report.html" ] && [ -s "$work/coordinator/out/model.json" ] || fault 'there is no result'

# Without a token that waits the command says so, instead of waiting for nobody.
cd "$work/coordinator" || exit 1
expect 3 hedgerow-coordinator enrol --config coordinator.yml
says 'agents add NAME --token FILE'

# A site whose policy says so shows its data dictionary; the coordinator keeps it, and tells the columns. Another
# site's column has a name that a terminal would act upon: what is printed is harmless.
cd "$work/coordinator" || exit 1
hedgerow-coordinator agents add other --token other.token --address "tcp://$host:7310" --config coordinator.yml >said
hedgerow-coordinator enrol --config coordinator.yml >said 2>&1 &
enrolling=$!
cd "$work/hospital-1" || exit 1
timeout 120 hedgerow-agent run --config agent.yml >said 2>&1 &
agent=$!
sleep 3
[ ! -e "$work/coordinator/dictionaries" ] || fault 'a dictionary was shown that the policy keeps'
kill "$agent"; wait "$agent"
echo 'share_dictionary: true' >>policy.yml
timeout 120 hedgerow-agent run --config agent.yml >said 2>&1 &
agent=$!
for _ in $(seq 600); do [ ! -e "$work/coordinator/dictionaries/hospital-1.yml" ] || break; sleep 0.1; done
kill "$agent" "$enrolling"; wait "$agent"; wait "$enrolling"
cmp "$work/coordinator/dictionaries/hospital-1.yml" data.yml || fault 'another text was kept'
cd "$work/coordinator" || exit 1
hedgerow keygen --out second >said
hedgerow-coordinator agents add hospital-2 --key "$(tail -n 1 second.pub)" --config coordinator.yml >said
printf 'hedgerow: 1\ndata_sets: [{records: 70, columns: [{name: age, kind: category}, {name: "\xe2\x80\xaeK", kind: number}]}]\n' \
    >dictionaries/hospital-2.yml
expect 0 hedgerow-coordinator columns --config coordinator.yml
prints 'hospital-2: 70 records, 2 columns'
prints '  hospital-2: category'
prints '???K'
expect 0 hedgerow-coordinator columns --config coordinator.yml --json
python3 -c '
import json, sys
sites = json.load(open(sys.argv[1]))
assert [site["agent"] for site in sites] == ["hospital-1", "hospital-2"], sites
assert sites[1]["columns"][0] == {"name": "age", "kind": "category", "unit": "", "low": None, "high": None,
                                  "categories": []}, sites
' "$work/out" || fault 'columns --json'
hedgerow-coordinator agents revoke other --config coordinator.yml >said

# A token that is not used expires, and that ends it as well; Ctrl-C is told from the end.
hedgerow-coordinator agents add late --token late.token --address "tcp://$host:7310" --config coordinator.yml >said
sed -i "s/token-until=.*/token-until=$(($(date +%s) + 6))/" agents
expect 0 timeout 30 hedgerow-coordinator enrol --config coordinator.yml
prints 'late: its token has expired'
hedgerow-coordinator agents add never --token never.token --address "tcp://$host:7310" --config coordinator.yml >said
python3 -c '
import signal, subprocess, sys
enrol = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
assert "listening on" in enrol.stdout.readline()
enrol.send_signal(signal.SIGINT)
code = enrol.wait(60)
assert code == 130, f"it ended with {code}; a program that does not take the signal ends with -2"
' hedgerow-coordinator enrol --config coordinator.yml || fault 'Ctrl-C of enrol'
finish
