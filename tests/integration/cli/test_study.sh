#!/bin/bash
# `hedgerow study`: its command line, its files, the same seed twice, and a claim that fails.
. "$(dirname "$0")/common.sh"

study() { "$hedgerow" study "$@"; }

expect 0 study --help
prints 'example:'
prints 'exit code 1'
for name in regret excess concentration accuracy corrections; do
    prints "  $name "
done
expect 2 study
says 'NAME is missing'
expect 2 study nothing --out "$work/o"
says 'there is no study "nothing"; there are regret, excess, concentration, accuracy, corrections and intervals'
expect 2 study excess
says '--out'
expect 2 study excess --out "$work/o" --runs 1
says '--runs'
expect 2 study excess --out "$work/o" --rounds 99
says '--rounds'
expect 2 study excess --out "$work/o" --nonsense
says 'there is no option --nonsense'
[ ! -e "$work/o" ] || fault 'a folder was made by a wrong command line'
touch "$work/file"
expect 7 study excess --out "$work/file"
says 'is not a folder'
expect 3 study accuracy --out "$work/o" --compose "$work/nowhere" --runs 2
says "$work/nowhere/hospitals/update-local.yml"
[ ! -e "$work/o/accuracy.json" ] || fault 'a study that failed wrote a report'
expect 3 study excess --out "$work/o" --rounds 200
says 'excess needs 256 records'

expect 3 study intervals --out "$work/o" --only nothing
says 'there is no kind "nothing"; there are survival, crosstab,'
[ ! -e "$work/o/intervals.json" ] || fault 'a study of no kind wrote a report'
expect 0 study intervals --out "$work/o" --only evaluate --rounds 200 --runs 100
prints 'scores: intervals of the AUC'
! grep -q 'survival:' "$work/out" || fault 'another kind was simulated'

# What is written; several studies share a folder, and one that is there is replaced.
expect 0 study excess --out "$work/o" --rounds 4096 --runs 3
prints 'NOT PRIVATE'
prints 'holds'
! grep -v "$work" "$work/out" | grep -E '.{81}' || fault 'a line does not fit 80 columns'
cp "$work/o/excess.json" "$work/first.json"
expect 0 study concentration --out "$work/o" --runs 2000
expect 0 study excess --out "$work/o" --rounds 4096 --runs 3 --json
cmp -s "$work/out" "$work/first.json" || python3 - "$work" <<'PYTHON' || fault 'the same seed gave another study'
import json, sys
assert json.load(open(sys.argv[1] + "/out")) == json.load(open(sys.argv[1] + "/first.json"))
PYTHON
expect 0 study excess --out "$work/o" --rounds 4096 --runs 3 --seed 2
! cmp -s "$work/o/excess.json" "$work/first.json" || fault 'another seed gave the same study'
for name in excess concentration; do
    shown "$work/o/$name.html" >"$work/o/$name.shown" || fault "$name: the page shows nothing"
done
python3 - "$work/o" <<'PYTHON' || fault 'the reports are not what they should be'
import json, re, sys
for name, claims in ("excess", 6), ("concentration", 3):
    study = json.load(open(f"{sys.argv[1]}/{name}.json"))
    assert study["study"] == name and study["private"] is False and study["holds"] is True
    assert len(study["claims"]) == claims and study["charts"]
    for claim in study["claims"]:
        measured, bound = claim["measured"], claim["bound"]
        assert claim["holds"] == (measured <= bound if claim["relation"] == "at most" else measured >= bound)
    for chart in study["charts"]:
        assert chart["series"] and all(len(point) == 2 for line in chart["series"] for point in line["points"])
    assert all(len(row) == len(study["table"]["columns"]) for row in study["table"]["rows"])
    page = open(f"{sys.argv[1]}/{name}.shown").read()
    assert "NOT PRIVATE" in page and f"{claims} of {claims} claims hold" in page
    assert not re.search(r'(src|href)=', page)
PYTHON

# A claim that does not hold: too few samples cannot show that the papers' stream tells too much.
expect 1 study corrections --out "$work/o" --runs 1000
says 'a claim does not hold'
prints 'FAILS'
grep -q '"holds": false' "$work/o/corrections.json" || fault 'the report does not say that a claim failed'
shown "$work/o/corrections.html" | grep -q 'claims hold</h2>' || fault 'no page was drawn'
expect 1 sh -c "'$hedgerow' study excess --out '$work/o' --rounds 1024 --runs 2 >/dev/full"
finish
