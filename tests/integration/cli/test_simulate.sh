#!/bin/bash
# `hedgerow simulate`: what it writes, that a seed repeats it, what it refuses, and that no process
# survives it, however it ends.
. "$(dirname "$0")/common.sh"

# The processes are recognised by their parent and their order, because a hardened process hides its command line.
# begin OPTION...: starts a simulation and stops its coordinator in the middle. So the job is under way when the
# test disturbs it, however slow the machine is. It starts again if the job was over too early, or if the
# processes' numbers began again at 1, as these numbers tell the order.
begin() {
    for _ in $(seq 5); do
        rm -rf "$work/e"
        "$hedgerow" simulate "$job" --out "$work/e" --set 'stages.1.rounds=300' --set 'stages.1.batch=4' "$@" \
            >"$work/out" 2>"$work/err" &
        simulation=$!
        until [ "$(closed)" -ge 5 ] || ! kill -0 $simulation 2>/dev/null; do sleep 0.05; done
        mapfile -t child < <(pgrep -P $simulation)
        if [ ${#child[@]} -eq 6 ] && [ $((child[5] - child[0])) -lt 1000 ] && kill -STOP "${child[0]}" &&
            sleep 0.1 && [ "$(closed)" -lt 280 ]; then
            return
        fi
        kill -KILL $simulation 2>/dev/null
        wait $simulation 2>/dev/null
    done
    fault 'six processes with some rounds behind them did not come'
}
closed() { cat "$work/e/logs/coordinator.log" 2>/dev/null | grep -c round-closed; }
resume() { kill -CONT "${child[0]}"; }

# gone WHY: no process that `begin` saw is left before long.
gone() {
    for _ in $(seq 600); do
        kill -0 "${child[@]}" 2>/dev/null || return
        sleep 0.1
    done
    fault "processes are left behind after $1"
}

# A private run: every promised file, a line for each round, the ledger's sums, mode 0700.
expect 0 "$hedgerow" simulate "$job" --out "$work/a"
prints 'fit            1/7 '
! grep -v "$work" "$work/out" | grep -E '.{81}' || fault 'a line does not fit 80 columns'
prints 'pooled, not private (simulator only)'
prints "the chosen one's standard error, of 1575 records"
says_not 'NOT PRIVATE'
python3 - "$work/a" "$programs" <<'PY' || fault 'the result of a private run'
import json, pathlib, subprocess, sys
folder = pathlib.Path(sys.argv[1])
result = json.loads((folder / "result.json").read_text())
assert result["private"] is True and result["agents"] == 5 and result["simulated"] is True
assert result["chosen"] in [expert["name"] for expert in result["experts"]]
assert 0 <= result["accuracy"] <= 1 and 0 <= result["auc"] <= 1, "how good it is, noise decides"
assert result["baseline"]["pooled_auc"] > 0.8 and 0.5 <= result["baseline"]["majority"] < 0.8
for i, spent in enumerate(result["privacy"]["per_agent"], 1):
    config = folder / "agents" / spent["agent"] / "agent.yml"
    ledger = json.loads(subprocess.run([sys.argv[2] + "/hedgerow-agent", "ledger", "--config", config, "--json"],
                                       check=True, capture_output=True).stdout)
    assert spent["agent"] == f"hospital-{i}"
    assert abs(spent["epsilon_spent"] - ledger["spent"]["epsilon"]) < 1e-9
    assert abs(spent["epsilon_left"] - ledger["left"]["epsilon"]) < 1e-9
    assert spent["epsilon_spent"] <= result["privacy"]["epsilon"] + 1e-9
for name in ("model.json", "report.html", "held-out.csv", "logs/coordinator.log", "logs/hospital-5.log"):
    assert (folder / name).stat().st_size > 0, name
header, *rows = (folder / "held-out.csv").read_text().splitlines()
for i in range(1, 6):
    shared, *share = (folder / "agents" / f"hospital-{i}" / "data.csv").read_text().splitlines()
    assert shared == header and 1255 < len(share) < 1265
    rows += share
assert len(rows) == 7874
PY
shown "$work/a/report.html" >"$work/a.shown" && ! grep -q 'NOT PRIVATE' "$work/a.shown" &&
    grep -q 'Five institutions learned one model together, in rehearsal' "$work/a.shown" || fault 'the report of a private run'
[ "$(stat -c %a "$work/a")" = 700 ] || fault 'others may look into the folder'
grep -q '^listen: "tcp://127\.' "$work/a/coordinator/coordinator.yml" || fault 'others may dial the coordinator'
! grep -q '127\.0\.0\.1' "$work/a/coordinator/coordinator.yml" ||
    fault 'the port is one that whoever dials out may be given meanwhile'

# A loopback of one address, as some containers have, has that; where nobody may make such a network it is not tried.
alone='ip link set lo up && ip address flush dev lo scope host && ip address add 127.0.0.1/32 dev lo'
if unshare -rn sh -c "$alone" 2>/dev/null; then
    expect 0 unshare -rn sh -c "$alone"' && exec "$@"' sh "$hedgerow" simulate "$job" --out "$work/alone"
    grep -q '^listen: "tcp://127\.0\.0\.1:' "$work/alone/coordinator/coordinator.yml" || fault 'it listens elsewhere'
fi

# The job of the demo: a line for each round, and what was decided in words. Of one round of losses no regret is told.
expect 0 "$hedgerow" simulate "$root/compose/hospitals/job.yml" --out "$work/demo"
prints '  learn          3/4       5      0.9  learn, after products, steps: 2'
prints '  losses         4/4       5        1  learn, after products, steps: 2'
prints '  learn: looked at counts, means and products of 7 columns'
! grep -q 'regret:' "$work/out" || fault 'a regret of one round'

# Gradient rounds: a line for each, every column in its place, experts that cost nothing more, and the weights that
# chose among them.
expect 0 "$hedgerow" simulate "$root/compose/hospitals/update.yml" --out "$work/demo"
prints 'regret: the choice cost'
prints '  update         3/8       5      0.6  being learned, round 3 of 4'
prints '  update         4/8       5      0.8  update, rounds: 4'
prints '  losses         8/8       5        1  update, rounds: 4'
! grep -v "$work" "$work/out" | grep -E '.{81}' || fault "a line of the demo's does not fit 80 columns"
python3 - "$work/demo" <<'PY' || fault 'the log does not tell each round in fields'
import json, sys
result = json.load(open(sys.argv[1] + "/result.json"))
lines = [json.loads(line) for line in open(sys.argv[1] + "/logs/coordinator.log")]
closed = [line for line in lines if line["event"] == "round-closed"]
assert [(line["stage"], line["agents"]) for line in closed] == [(r["stage"], r["agents"]) for r in result["rounds"]]
assert [(line["round"], line["rounds"]) for line in closed] == [(at, 8) for at in range(1, 9)]
assert abs(closed[2]["epsilon"] - 0.6) < 1e-9 and closed[-1]["epsilon"] == 1 and closed[-1]["delta"] == 0
assert closed[-1]["model"] == result["chosen"]
PY
python3 - "$work/demo/result.json" <<'PY' || fault "the result of the demo's job"
import json, math, sys
result = json.load(open(sys.argv[1]))
names = ["update, rounds: 4" + shift for shift in ("", ", threshold -0.2", ", threshold +0.2")]
assert [expert["name"] for expert in result["experts"]] == names and result["chosen"] in names
assert [round["stage"] for round in result["rounds"]] == 4 * ["update"] + 4 * ["losses"]
plain, *moved = (expert["model"] for expert in result["experts"])
for model, shift in zip(moved, (-0.2, 0.2)):
    assert model[:-1] == plain[:-1] and math.isclose(model[-1] - plain[-1], shift * math.sqrt(6), rel_tol=1e-9)
for entry in result["rounds"][4:]:
    assert math.isclose(sum(entry["weights"]), 1, rel_tol=1e-9) and len(entry["losses"]) == 3
last = result["rounds"][-1]["weights"]
assert result["chosen"] == names[last.index(max(last))], "the last pick is the leader"
assert [spent["epsilon_spent"] for spent in result["privacy"]["per_agent"]] == 5 * [1]
assert result["privacy"]["trust"] == "local" and result["privacy"]["delta"] == 0
assert all(isinstance(result[key], float) for key in ("accuracy", "auc"))
PY

# The pooled model is good at both figures. On this split the lambda with the best AUC has an accuracy of
# only 79.9 %, and the next one has nearly the same AUC.
expect 0 "$hedgerow" simulate "$root/compose/hospitals/update.yml" --out "$work/demo" --seed 104
python3 -c '
import json, sys
rival = json.load(open(sys.argv[1]))["baseline"]
assert rival["pooled_accuracy"] > 0.82 and rival["pooled_auc"] > 0.85, rival' "$work/demo/result.json" || fault 'a rival of straw'

# The same seed, the same result but for the seconds, also of a table with other separators that is
# packed; NOT PRIVATE everywhere. Another seed differs.
sed 's/,/;/g' "$root/compose/hospitals/flchain.csv" | gzip >"$work/packed.csv.gz"
for run in b c; do
    table=$root/compose/hospitals/flchain.csv
    [ "$run" = b ] || table=$work/packed.csv.gz
    expect 0 "$hedgerow" simulate "$job" --out "$work/$run" --seed 5 --json --data "$table"
    says 'NOT PRIVATE'
    cmp -s "$work/out" "$work/$run/result.json" || python3 -c "
import json,sys; sys.exit(json.load(open('$work/out')) != json.load(open('$work/$run/result.json')))" ||
        fault '--json does not print result.json'
    shown "$work/$run/report.html" | grep -q '<strong>NOT PRIVATE' || fault 'the report hides that it is not private'
    grep -q 'NOT PRIVATE' "$work/$run/model.json" || fault 'the model hides that it is not private'
    grep -v '"seconds"' "$work/$run/result.json" >"$work/$run.result"
done
python3 -c "
import json,sys; result = json.load(open('$work/b/result.json'))
sys.exit(not (0.5 < result['accuracy'] <= 1 and 0.5 < result['auc'] <= 1))" || fault 'a model that is worth nothing'
cmp "$work/b.result" "$work/c.result" || fault 'the same seed gave another result'
cmp "$work/b/model.json" "$work/c/model.json" || fault 'the same seed gave another model'
expect 0 "$hedgerow" simulate "$job" --out "$work/c" --seed 6
grep -v '"seconds"' "$work/c/result.json" | cmp -s - "$work/b.result" && fault 'another seed gave the same result'

# Two private runs differ.
cp "$work/a/model.json" "$work/a.model"
expect 0 "$hedgerow" simulate "$job" --out "$work/a"
cmp -s "$work/a.model" "$work/a/model.json" && fault 'two private runs drew the same noise'

# A folder that no simulation made is left alone.
mkdir "$work/mine"
echo precious >"$work/mine/file"
expect 7 "$hedgerow" simulate "$job" --out "$work/mine"
[ "$(cat "$work/mine/file")" = precious ] && [ "$(ls -A "$work/mine" | wc -l)" -eq 1 ] || fault 'a folder was touched'
# In an earlier simulation's folder what it wrote is replaced. What it did not write is not touched: where it could be
# in the way, the simulation is refused.
ln -s "$work/mine/file" "$work/a/link"
echo mine >"$work/a/notes.txt"
mkdir "$work/a/photos"
echo mine >"$work/a/photos/one"
echo mine >"$work/a/agents/hospital-1/notes.txt"
before=$(find "$work/a" | sort)
expect 7 "$hedgerow" simulate "$job" --out "$work/a"
says 'agents/hospital-1/notes.txt was written by no simulation'
[ "$(find "$work/a" | sort)" = "$before" ] || fault 'a refused simulation removed files'
rm "$work/a/agents/hospital-1/notes.txt"
expect 0 "$hedgerow" simulate "$job" --out "$work/a" --set privacy.epsilon=2
[ "$(cat "$work/mine/file" "$work/a/link" "$work/a/notes.txt" "$work/a/photos/one" | sort | uniq -c | tr -s ' \n' ' ')" =     ' 2 mine 2 precious ' ] || fault 'a file that is not of the simulation was touched'
grep -q '"epsilon_spent": 2.0' "$work/a/result.json" || fault '--set privacy.epsilon=2 changed nothing'

# What cannot work is said before anything starts.
expect 3 "$hedgerow" simulate "$work/nowhere.yml" --out "$work/d"
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --data "$work/nowhere.csv"
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --set privacy.epsilon=much
says epsilon
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --set no.such.key=1
expect 2 "$hedgerow" simulate "$job" --out "$work/d" --set privacy.epsilon
says '--set privacy.epsilon=2'
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --agents 50
says 'fewer agents'
expect 4 "$hedgerow" simulate "$job" --out "$work/d" --agents 2
says 'and 2 are simulated; remedy: more agents, or --set cohort.minimum=2'
# Sites that decline are named, with their reasons: in a rehearsal all of them are one person's.
expect 5 "$hedgerow" simulate "$job" --out "$work/declined" --set cohort.deadline_s=0.1
says 'agents decline the job (cohort.minimum: 3); hospital-'
says '(answer_slot_ms)'
prints ' takes no part: policy or dictionary forbid job'
# A rehearsal judges as the default policy would: answers too cheap for it are declined.
expect 5 "$hedgerow" simulate "$job" --out "$work/declined" --agents 3 --set privacy.epsilon=0.00006
prints 'wants at least 0.00001 for each (least_epsilon)'
sed '1s/age/years/' "$root/compose/hospitals/flchain.csv" >"$work/bad.csv"
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --data "$work/bad.csv"
says 'bad.csv: line 1: column age is missing'
sed 's/column: age/column: aeg/' "$job" >"$work/typo.yml"
expect 3 "$hedgerow" simulate "$work/typo.yml" --out "$work/d" --data "$root/compose/hospitals/flchain.csv"
says 'no column "aeg", which the job names; did you mean "age"?'
# A cell that is not a number is read as an agent reads it, and the person who holds the table is
# told.
sed '9s/^[^,]*,/"old",/' "$root/compose/hospitals/flchain.csv" >"$work/bad.csv"
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --data "$work/bad.csv" --agents 50
says 'unlisted first in line 9'
# Nor does a label in another spelling pass in silence, or a column in another unit.
sed -E '2,$s/^(([^,]*,){9})([01]),/\1\3.0,/; 2,$s/^([0-9.]+),/\11000,/' "$root/compose/hospitals/flchain.csv" >"$work/dotted.csv"
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --data "$work/dotted.csv" --agents 50
says 'cells of the label "death" is "1"; line 2 has'
says 'numbers of column "age" are outside 50 to 98: another'
# A text that no data dictionary can hold is named in the table, not in a draft that nobody wrote.
LC_ALL=C sed $'9s/^\\([^,]*\\),[^,]*,/\\1,"M\xfc",/' "$root/compose/hospitals/flchain.csv" >"$work/latin.csv"
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --data "$work/latin.csv"
says 'latin.csv: line 9, column sex: the text is not UTF-8: save the table as UTF-8 text'
# The remedy names a key that the job has.
expect 3 "$hedgerow" simulate "$root/compose/hospitals/learn.yml" --out "$work/d" --agents 12
says '--set cohort.records=524'
# A bad --out is told before the data are read: no note about a cell stands before the refusal.
expect 3 "$hedgerow" simulate "$job" --out "$work/no/d" --data "$work/bad.csv"
says 'make the folder above it'
says_not 'note:'
expect 7 "$hedgerow" simulate "$job" --out "$work/mine" --data "$work/bad.csv"
says 'holds files that no simulation made'
says_not 'note:'
[ ! -e "$work/d" ] || fault 'a refused simulation left a folder'
expect 3 "$hedgerow" simulate "$job" --out "$work/d" --data "$work"
says 'is a folder, not a table'
expect 3 "$hedgerow" simulate "$job" --out "$work/no/d"
says 'make the folder above it'
# A disk that takes no more, as far as one file can tell.
expect 3 bash -c "trap '' XFSZ; ulimit -f 20; exec '$hedgerow' simulate '$job' --out '$work/full'"
says "$work/full: the shares cannot be written: is the disk full?"
# And one that is full in truth, once the processes run: the reason is told, though no log could take it.
small='mkdir -p "$0" && mount -t tmpfs -o size=700k none "$0" && exec "$@"'
if unshare -rm sh -c "$small" "$work/small" true 2>/dev/null; then
    ! unshare -rm sh -c "$small" "$work/small" "$hedgerow" simulate "$job" --out "$work/small/o" \
        --set cohort.deadline_s=2 >"$work/out" 2>"$work/err" || fault 'a disk of 700 kB was enough'
    grep -qE 'No space left|no space is left' "$work/err" || fault "a full disk is not named: $(tail -n 1 "$work/err")"
    ! grep -qE 'code [0-9]+: *(\(see|$)' "$work/out" "$work/err" || fault 'an empty reason'
fi
mkdir "$work/several"
cp "$job" "$work/several/"
expect 3 "$hedgerow" simulate "$work/several/${job##*/}" --out "$work/d"
says '--data'

# A second simulation in the same folder is refused, and the first one goes on.
begin
"$hedgerow" simulate "$job" --out "$work/e" >"$work/second" 2>&1
code=$?
[ $code -eq 7 ] || fault "a second simulation in the folder ended with $code"
grep -q 'under way' "$work/second" || fault 'the second simulation does not say why'
resume
wait $simulation || fault 'the first simulation was disturbed'
gone 'a good end'

# Ctrl-C: 130, and no process stays.
begin
kill -INT $simulation
resume
wait $simulation
code=$?
[ $code -eq 130 ] || fault "Ctrl-C ended with $code"
gone Ctrl-C

# kill -9 of the simulator itself: the kernel takes the others along.
begin
kill -KILL $simulation
wait $simulation 2>/dev/null
gone 'kill -9'

# An agent that crashes is told of; the job goes on with the others. Each round now waits for its deadline, which
# on a machine that stands still may leave out others as well: then it is done again.
for _ in $(seq 4); do
    begin --set cohort.deadline_s=1
    kill -KILL "${child[2]}"
    resume
    wait $simulation
    code=$?
    prints 'hospital-2 ended with code 137'
    gone 'a crash'
    [ $code -eq 4 ] || python3 - "$work/e/result.json" <<'PY' || continue
import json, sys
sys.exit([round["agents"] for round in json.load(open(sys.argv[1]))["rounds"]][-1] < 4)
PY
    [ $code -eq 4 ] || break
done
[ $code -eq 0 ] || fault "with a crashed agent the simulation ended with $code: $(tail -n 2 "$work/err")"
python3 - "$work/e/result.json" <<'PY' || fault 'the result without hospital-2'
import json, sys
result = json.load(open(sys.argv[1]))
assert [round["agents"] for round in result["rounds"]][-1] == 4
assert len(result["privacy"]["per_agent"]) == 5
PY

# A coordinator that crashes ends it with an internal error that says where to look.
begin
kill -KILL "${child[0]}"
wait $simulation
code=$?
[ $code -eq 1 ] || fault "with a crashed coordinator the simulation ended with $code"
says "$work/e/logs"
gone 'a crash of the coordinator'

# Below the minimum cohort the job fails, and says so.
begin --set cohort.minimum=5 --set cohort.deadline_s=3
kill -KILL "${child[4]}"
resume
wait $simulation
code=$?
[ $code -eq 4 ] || fault "below the minimum cohort the simulation ended with $code"
gone 'a failed job'

finish
