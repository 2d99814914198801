#!/bin/bash
# The commands that need no federation: usage, help, keys, predictions, reports, and their exit codes.
. "$(dirname "$0")/common.sh"

# Usage: 2, and nothing on standard output; help: 0, with an example and the exit codes.
expect 2 "$hedgerow"
expect 2 "$hedgerow" nonsense
says 'no command "nonsense"'
expect 0 "$hedgerow" --version
prints 'hedgerow 0.'
expect 0 "$hedgerow" --help
prints 'exit codes:'
prints '130'
for command in init simulate keygen predict report plan; do
    expect 0 "$hedgerow" $command --help
    prints 'example:'
    prints 'exit codes:'
    expect 2 "$hedgerow" $command
    says "try: hedgerow $command --help"
    expect 2 "$hedgerow" $command --no-such-option
    says '--no-such-option'
done
expect 1 sh -c "'$hedgerow' --help >/dev/full"

# keygen: the secret is its owner's alone, and nothing is ever replaced.
expect 0 "$hedgerow" keygen --out "$work/key"
[ "$(stat -c %a "$work/key")" = 600 ] || fault 'the secret key is readable by others'
grep -qF "$(tail -n 1 "$work/key.pub")" "$work/out" || fault 'the public key is not printed'
! grep -qF "$(tail -n 1 "$work/key")" "$work/out" "$work/err" || fault 'the secret key is printed'
cp "$work/key" "$work/key.before"
expect 7 "$hedgerow" keygen --out "$work/key"
cmp -s "$work/key" "$work/key.before" || fault 'a key was replaced'
rm "$work/key"
expect 7 "$hedgerow" keygen --out "$work/key"
[ ! -e "$work/key" ] || fault 'half a pair was written'
expect 3 "$hedgerow" keygen --out "$work/no/such/folder/key"

# predict: on the model and the records of a simulation.
expect 0 "$hedgerow" simulate "$job" --out "$work/sim" --seed 3
model=$work/sim/model.json
held=$work/sim/held-out.csv
expect 0 "$hedgerow" predict --model "$model" --data "$held"
[ "$(head -n 1 "$work/out")" = 'probability,class' ] || fault 'the header of the predictions'
[ "$(wc -l <"$work/out")" -eq "$(wc -l <"$held")" ] || fault 'a row for each record'
awk -F, 'NR > 1 && !($1 >= 0 && $1 <= 1 && $2 == ($1 >= 0.5 ? "1" : "0")) { exit 1 }' "$work/out" ||
    fault 'a probability out of range, or a class that does not follow from it'
says 'NOT PRIVATE'
cp "$work/out" "$work/before"
expect 0 "$hedgerow" predict --model "$model" --data "$held" --out "$work/predictions.csv"
cmp -s "$work/before" "$work/predictions.csv" || fault '--out differs from standard output'
[ "$(stat -c %a "$work/predictions.csv")" = 600 ] || fault 'predictions are readable by others'

# The accuracy that the simulator states is the one that its own files give.
python3 - "$work/sim/result.json" "$held" "$work/before" <<'PY' || fault 'accuracy of the predictions'
import csv, json, sys
result = json.load(open(sys.argv[1]))
truth = [row["death"] for row in csv.DictReader(open(sys.argv[2]))]
said = [row["class"] for row in csv.DictReader(open(sys.argv[3]))]
share = sum(a == b for a, b in zip(truth, said)) / len(truth)
sys.exit(abs(share - result["accuracy"]) > 2e-3)
PY

# A wrong cell: line and column, and never the value. The label's column may be absent.
number() { head -n 1 "$held" | tr , '\n' | grep -nx "\"*$1\"*" | cut -d: -f1; }
broken() { awk -F, -v OFS=, -v line="$1" -v field="$(number "$2")" -v value="$3" \
    'NR == line { $field = value } { print }' "$held" >"$work/broken.csv"; }
broken 17 age sixtythree
expect 3 "$hedgerow" predict --model "$model" --data "$work/broken.csv"
says 'broken.csv'
says '17'
says 'age'
says_not sixtythree
[ ! -s "$work/out" ] || fault 'predictions were printed for a broken table'
broken 5 kappa nan
expect 3 "$hedgerow" predict --model "$model" --data "$work/broken.csv"
says kappa
broken 5 sex X
expect 3 "$hedgerow" predict --model "$model" --data "$work/broken.csv"
says sex
cut -d, -f"$(number death)" --complement "$held" >"$work/unlabelled.csv"
expect 0 "$hedgerow" predict --model "$model" --data "$work/unlabelled.csv"
cmp -s "$work/out" "$work/before" || fault 'without the label the predictions differ'
cut -d, -f"$(number age)" --complement "$held" >"$work/ageless.csv"
expect 3 "$hedgerow" predict --model "$model" --data "$work/ageless.csv"
says age
: >"$work/empty.csv"
expect 3 "$hedgerow" predict --model "$model" --data "$work/empty.csv"
expect 3 "$hedgerow" predict --model "$model" --data "$work/nowhere.csv"
expect 3 "$hedgerow" predict --model "$work/nowhere.json" --data "$held"
expect 3 "$hedgerow" predict --model "$held" --data "$held"
head -c 200 "$model" >"$work/cut.json"
expect 3 "$hedgerow" predict --model "$work/cut.json" --data "$held"
expect 3 "$hedgerow" predict --model "$model" --data "$held" --out "$work/no/such/folder/x"

# report: the same page as the simulator's; every other file is refused, and no page is written.
expect 0 "$hedgerow" report "$work/sim/result.json" --out "$work/report.html"
cmp -s "$work/report.html" "$work/sim/report.html" || fault 'the report differs from the simulator'"'"'s'
expect 3 "$hedgerow" report "$work/sim/result.json" --format csv --out "$work/other.html"
says 'has no answers and no curves to print; remedy: draw the page'
expect 3 "$hedgerow" report "$model" --out "$work/other.html"
expect 3 "$hedgerow" report "$work/nowhere.json" --out "$work/other.html"
expect 3 "$hedgerow" report "$work/empty.csv" --out "$work/other.html"
says 'empty.csv: line 1'
says 'name the result.json'
[ ! -e "$work/other.html" ] || fault 'a page of something that is no result'

finish
