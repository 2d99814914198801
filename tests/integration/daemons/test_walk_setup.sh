#!/bin/bash
# test_walk_setup.sh PROGRAMS ROOT - runs every command of the walk of docs/WALK.md in order, each machine in a folder
# of its own that holds its /etc, /srv and /var/lib, without packages and without root.
#
# Three kinds of command cannot run here; packages/test_install.sh runs them on bare Debians: scripts/packages
# builds for minutes; here the files that it makes are empty ones apt install would install on the machine that
# tests; here it looks whether the files are there scp has no second machine; here it copies into the other
# machine's folder Services are started by hand, by their unit's command, as there is no systemd. Every account is
# the one that runs the test.
. "$(dirname "$0")/../cli/common.sh"
. "$root/tests/integration/packages/walk.sh"
host=127.$((150 + $$ / 65536 % 50)).$(($$ / 256 % 256)).$(($$ % 256))
declare -A service
trap '[ ${#service[@]} -eq 0 ] || kill "${service[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
mkdir "$work/bin"

stand_in() { # NAME: standard input is its text
    { echo '#!/bin/bash'; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
stand_in apt <<'APT'
[ "$1" = install ] && shift && ls -- "$@" >/dev/null
APT
stand_in scp <<SCP
cp -- "\${@:1:\$#-1}" "$work/\${!#%:}/"
SCP
stand_in runuser <<'RUNUSER'
[ "$1 $3" = '-u --' ] && shift 3 && exec "$@"
RUNUSER
stand_in install <<'INSTALL'
[ "$1" != -o ] || shift 4
exec /usr/bin/install "$@"
INSTALL
stand_in chown </dev/null
stand_in id <<'ID'
[ "$*" = -u ] && echo 0
ID

# An address sanitizer reserves more memory than any limit grants.
unlimited=
! grep -q __asan_init "$programs/hedgerow-coordinator" || unlimited='/^memory_mb_max:/d'
# What the packages hold, of each machine: folders, and the setup commands, whose paths lie below the machine's folder.
here() { # MACHINE TEXT
    local place=$work/$1
    sed "s#/etc/hedgerow#$place/etc/hedgerow#g; s#/var/lib/#$place/var/lib/#g; s#/etc/\$program#$place/etc/\$program#g
        s#/srv/#$place/srv/#g; s#/run/systemd/system#$place/no-systemd#g
        s#hedgerow\.example\.org#$host#g; s#0\.0\.0\.0#$host#g
        $unlimited" <<<"$2"
}
for machine in coordinator:coordinator hospital-1:agent; do
    place=$work/${machine%:*}
    name=hedgerow-${machine#*:}
    mkdir -p "$place/bin" "$place/scripts" "$place/srv" "$place/etc/$name" "$place/var/lib/$name"
    chmod 700 "$place/var/lib/$name"
    here "${machine%:*}" "$(cat "$root/packaging/setup/$name-setup")" >"$place/bin/$name-setup"
    chmod +x "$place/bin/$name-setup"
done
cat >"$work/coordinator/scripts/packages" <<'PACKAGES'
#!/bin/sh
mkdir -p build/release/packages
for name in hedgerow hedgerow-agent hedgerow-coordinator; do : >build/release/packages/${name}_0_amd64.deb; done
PACKAGES
chmod +x "$work/coordinator/scripts/packages"

start() { # MACHINE: as the unit of its package says
    local name=hedgerow-agent settings=agent.yml
    [ "$1" != coordinator ] || { name="hedgerow-coordinator"; settings=coordinator.yml; }
    "$programs/$name" run --config "$work/$1/etc/$name/$settings" >>"$work/$1/log" 2>&1 &
    service[$1]=$!
}
# The commands that a person has to answer do so on a terminal.
perform() { # MACHINE COMMAND
    local code=0
    cd "$work/$1" || exit 1
    if [[ $2 == *'hedgerow-agent approve '* ]]; then
        for _ in $(seq 1200); do grep -q job-waiting log && break || sleep 0.1; done
        echo y | timeout 120 script -qec "$2" /dev/null >>said 2>&1 || code=$?
    else
        timeout 300 bash -c "$2" >>said 2>&1 || code=$?
    fi
    [ $code -eq 0 ] || {
        fault "$1: $2 ended with $code: $(tail -n 5 said); the log: $(tail -n 5 log 2>/dev/null)"
        exit 1
    }
    [[ $2 != hedgerow-*-setup* ]] || start "$1"
}

read_walk "$root/docs/WALK.md"
for i in "${!walk_command[@]}"; do
    machine=${walk_machine[i]}
    PATH=$work/$machine/bin:$work/bin:$programs:/usr/sbin:/usr/bin:/sbin:/bin perform "$machine" \
        "$(here "$machine" "${walk_command[i]}")"
done
cd "$work" || exit 1
grep -q PASSED hospital-1/said || fault 'the site was not checked'
grep -q 'approved for 1 run' hospital-1/said || fault 'nobody was asked for a yes'
[ -s coordinator/report.html ] && [ -s coordinator/var/lib/hedgerow-coordinator/jobs/1/out/model.json ] ||
    fault 'there is no result'
"$programs/hedgerow-agent" ledger --json --config hospital-1/etc/hedgerow-agent/agent.yml >ledger &&
    python3 -c '
import json, sys
held = json.load(open(sys.argv[1]))
assert len(held["charges"]) == 1 and abs(held["spent"]["epsilon"] - 1) < 1e-9, held
' ledger || fault 'the ledger has another price'

# The service goes on after the job, and takes further jobs. A setup that is repeated does not ask for the job again
# and does not change the settings. It admits another site.
kill -0 "${service[coordinator]}" || fault 'the service has ended with the job'
cp coordinator/etc/hedgerow-coordinator/coordinator.yml before.yml
cd coordinator || exit 1
PATH=$work/coordinator/bin:$work/bin:$programs:/usr/bin:/bin
expect 0 hedgerow-coordinator-setup --address "tcp://$host:7310" --job job.yml hospital-2
says 'the queue has job.yml already'
[ -s hospital-2.token ] && cmp etc/hedgerow-coordinator/coordinator.yml ../before.yml || fault 'a second setup'
[ "$(hedgerow-coordinator jobs --json --config etc/hedgerow-coordinator/coordinator.yml | grep -o '"number"' | wc -l)" -eq 1 ] ||
    fault 'the queue has another number of jobs'
expect 2 hedgerow-coordinator-setup --address nowhere hospital-3
says '--address has no port'
for machine in coordinator hospital-1; do
    kill "${service[$machine]}"
    wait "${service[$machine]}" || fault "the service of $machine ended with $?"
    unset "service[$machine]"
done
finish
