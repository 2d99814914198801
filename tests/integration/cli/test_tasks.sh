#!/bin/bash
# Jobs of questions and selections, of Gaussian noise, of plays under central trust: through real
# processes to a result, a report and ledgers, which tell what was released, with which noise and
# price.
. "$(dirname "$0")/common.sh"

# 500 records: a fifth held out, 200 for each of two agents, and batches of 200: all of them.
python3 - >"$work/people.csv" <<'PY'
print("age,sex,ill")
for i in range(500):
    print(f"{50 + i * 7 % 40},{'FM'[i % 2]},{int(i * 7 % 40 + i % 11 > 25)}")
PY

# job NAME TRUST EPSILON DELTA, its stages on standard input
job() {
    cat >"$work/$1.yml" <<YML
hedgerow: 1
job: $1
data:
  label: {column: ill, positive: "1", negative: "0"}
  features: [{column: age, centre: 70, half_width: 20}, {column: sex, categories: [F, M]}]
privacy: {unit: record, neighbours: replace_one, trust: $2, epsilon: $3, delta: $4}
cohort: {minimum: 2, records: 200, join_deadline_s: 60, deadline_s: 30}
stages:
$(cat)
YML
}

run() {
    expect 0 "$hedgerow" simulate "$work/$1.yml" --out "$work/$1" --data "$work/people.csv" --agents 2 --seed 5
    cp "$work/out" "$work/$1.shown"
    ! grep -nE '.{81}' "$work/out" || fault "$1: these lines are longer than a terminal's 80 columns"
    expect 0 "$hedgerow" report "$work/$1/result.json" --out "$work/$1.html"
    cmp -s "$work/$1/report.html" "$work/$1.html" || fault "$1: the report drawn again is another"
    expect 0 "$programs/hedgerow-agent" ledger --config "$work/$1/agents/hospital-1/agent.yml" --json
    cp "$work/out" "$work/$1.ledger"
}

job asked local 8 0 <<'YML'
  - {task: query, queries: ["count: age >= 70 and sex == F", "mean: age", "histogram: sex", "quantile: 0.5 of age in 6 rounds"], batch: 200, share: 0.8, grid_bits: 10}
  - {task: select, candidates: {stumps: [age], thresholds: 20}, batch: 200, share: 0.2}
YML
run asked
grep -qE '^  query +1/7 +2 .* none: the job asks for no model$' "$work/asked.shown" || fault 'a model is promised that no stage makes'
job gauss central 1 0.00001 <<'YML'
  - {task: update, loss: logistic, rounds: 10, batch: 200, clip: 0.5, rate: 4, noise: gaussian}
YML
run gauss
expect 0 "$programs/hedgerow-agent" ledger --config "$work/gauss/agents/hospital-1/agent.yml"
prints 'left   what the divergence leaves, delta 0.00001'
grep -q ' gauss  *1  update ' "$work/out" || fault 'the first round is not 1, as in every other table'
grep -qE '^    discrete_gaussian sigma [^;]*$' "$work/out" || fault 'a digest of an exact answer is shown'
job plays central 4 0.00001 <<'YML'
  - {task: fit, loss: logistic, lambdas: [0.05], share: 0.5, experts: {shifts: [0.25]}}
  - {task: losses, strategy: rwm, loss: zero_one, rounds: 4, batch: 50, share: 0.5}
YML
run plays

python3 - "$work" <<'PY' || fault 'results of tasks'
import csv, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
result = {name: json.loads((folder / name / "result.json").read_text()) for name in ("asked", "gauss", "plays")}
shown = {name: (folder / f"{name}.shown").read_text() for name in result}
ledger = {name: json.loads((folder / f"{name}.ledger").read_text()) for name in result}

asked = result["asked"]
people = [row for i in (1, 2) for row in csv.DictReader((folder / f"asked/agents/hospital-{i}/data.csv").open())]
ages = sorted(float(row["age"]) for row in people)
exact = {answer["name"]: answer for answer in asked["answers"]}
assert len(people) == 400 and len(exact) == 5, exact.keys()
assert exact["count: age >= 70 and sex == F"]["exact"] == sum(float(r["age"]) >= 70 and r["sex"] == "F" for r in people)
assert abs(exact["mean: age"]["exact"] - sum(ages) / 400) < 0.05
assert sum(answer["exact"] for name, answer in exact.items() if name.startswith("histogram")) == 400
assert abs(exact["quantile: 0.5 of age in 6 rounds"]["exact"] - ages[199]) < 40 / 2 ** 6 + 1
for answer in asked["answers"]:
    assert answer["low"] <= answer["value"] <= answer["high"], answer
for name in ("count: age >= 70 and sex == F", "mean: age"):
    assert exact[name]["value"] != exact[name]["exact"], "no noise"
assert asked["chosen"] is None and asked["experts"] == [] and asked["accuracy"] is None
assert asked["rounds"][-1]["said"].startswith("age >= "), asked["rounds"][-1]
assert not (folder / "asked/model.json").exists() and not (folder / "asked/coordinator/out/model.json").exists()
assert all(f"count: age >= 70 and sex == F" in text for text in (shown["asked"],))
assert "simulator only" in shown["asked"] and "select: age >= " in shown["asked"]
assert "nan" not in shown["asked"] and "none" not in shown["asked"].split("answers")[1]

gauss = result["gauss"]
for agent in gauss["privacy"]["per_agent"]:
    assert 0.9 < agent["epsilon_spent"] <= 1 and agent["delta_spent"] == 1e-5, agent
    assert 0 < agent["epsilon_left"] < 2
release = gauss["releases"][0]
assert release["mechanism"] == "discrete Gaussian" and release["sigma"] > 1 and release["passes"] == 10
assert release["epsilon"] <= 1 and release["delta"] == 1e-5 and release["noise"] > 0
assert all(round["chosen"] is None for round in gauss["rounds"][:-1]) and gauss["rounds"][-1]["chosen"]
event = ledger["gauss"]["charges"][0]["event"]
assert event["mechanism"] == "discrete_gaussian" and event["sigma"] == release["sigma"] and event["count"] == 1
assert ledger["gauss"]["charges"][0]["epsilon"] is None and ledger["gauss"]["spent"]["epsilon"] is None
assert ledger["gauss"]["at_end"]["epsilon"] > 0 and ledger["gauss"]["at_end"]["delta"] == 2e-5
assert "at delta 1e-05" in shown["gauss"]

plays = result["plays"]
assert plays["regret"]["average"] is None and 0 < plays["regret"]["bound"] <= 1
assert all(round["losses"] is None and round["weights"] is None for round in plays["rounds"])
assert plays["chosen"] and "nobody may know what it cost" in " ".join(shown["plays"].split())

# A file from before answers, releases and deltas existed, and one from a later program.
old = json.loads(json.dumps(asked))
for key in ("answers", "releases"):
    del old[key]
for agent in old["privacy"]["per_agent"]:
    del agent["delta_spent"]
old["rounds"][-1].pop("said")
(folder / "old.json").write_text(json.dumps(old))
new = json.loads(json.dumps(asked)) | {"yet": {"to": "come"}}
new["answers"][0]["more"] = 1
(folder / "new.json").write_text(json.dumps(new))
asked["answers"][0]["value"] = "many"
(folder / "bad.json").write_text(json.dumps(asked))
PY
expect 0 "$hedgerow" report "$work/old.json" --out "$work/old.html"
expect 0 "$hedgerow" report "$work/new.json" --out "$work/new.html"
expect 3 "$hedgerow" report "$work/bad.json" --out "$work/bad.html"
says '"value" is neither a number nor null'
[ ! -e "$work/bad.html" ] || fault 'a page was drawn of a bad result'
expect 0 "$programs/hedgerow-agent" ledger --config "$work/gauss/agents/hospital-1/agent.yml"
prints 'discrete_gaussian sigma '
prints 'at this moment epsilon '
"$programs/hedgerow-agent" check --config "$work/gauss/agents/hospital-1/agent.yml" --timeout 1 >"$work/out" 2>&1
grep -qE 'budget +PASSED  epsilon 0\.[0-9]+ is left' "$work/out" || fault 'Gaussian charges leave no budget'
grep -qE '^ +update +10/10 +2 +(1|0\.9[0-9]*) ' "$work/gauss.shown" && grep -qF 'spent: at delta 1e-05' "$work/gauss.shown" ||
    fault 'an epsilon without its delta'
expect 0 "$hedgerow" simulate "$work/asked.yml" --out "$work/again" --data "$work/people.csv" --agents 2 --repeat 2
says_not nan
# A question beyond a column's public range: the coordinator warns of it when it starts, and the answer says it.
cat >"$work/beyond.yml" <<'YML'
hedgerow: 1
job: beyond
data:
  label: {column: death, positive: "1", negative: "0"}
  features:
    - {column: age, centre: 74, half_width: 24}
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}
cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 60}
stages:
  - {task: query, queries: ["count: age >= 120", "count: age >= 80"], batch: 200, share: 1}
YML
expect 0 "$hedgerow" simulate "$work/beyond.yml" --data "$root/compose/hospitals/flchain.csv" --agents 2 --out "$work/beyond"
prints "warning: character 15 of \"count: age >= 120\" lies outside the column's public range"
[ "$(grep -c "    character 15 of" "$work/out")" -eq 1 ] || fault 'the notes of answers are not one'
grep -q 'question-out-of-range' "$work/beyond/logs/coordinator.log" || fault 'no event tells of the question'

# A category that no record has is left out of a regression: it has no released value and no exact one; the others have both.
sed -e 's/job: beyond/job: empty/; s/epsilon: 1,/epsilon: 8,/; s/^  features:$/&\n    - {column: sex, categories: [F, M, X]}/; /^stages:/q' \
    "$work/beyond.yml" >"$work/empty.yml"
echo '  - {task: query, queries: ["regress: death ~ sex"], batch: 3000, share: 1, grid_bits: 10}' >>"$work/empty.yml"
expect 0 "$hedgerow" simulate "$work/empty.yml" --data "$root/compose/hospitals/flchain.csv" --agents 2 --seed 3 --out "$work/empty"
python3 - "$work/empty/result.json" <<'PY' || fault 'a category that no record has'
import json, sys
answers = [a for a in json.load(open(sys.argv[1]))["answers"] if a.get("variable") == "sex"]
empty = [a for a in answers if a["figure"] == "X to F"]
others = [a for a in answers if a["figure"] == "M to F"]
assert [a["group"] for a in empty] == [a["group"] for a in others] == ["coefficient", "odds ratio", "p-value"], answers
for answer in empty:
    assert answer["value"] is None and answer["exact"] is None, answer
    assert "no record was found in this category" in answer["note"], answer
for answer in others:
    assert answer["value"] is not None and answer["exact"] is not None, answer
assert abs(others[0]["value"] - others[0]["exact"]) < 0.1, others
PY

# Answers by site: each site's own, under its name, with one site's noise; they are joined, shown and drawn.
sed -e 's/job: beyond/job: by-site/' -e 's/minimum: 2/minimum: 3/' -e '/stages:/q' "$work/beyond.yml" >"$work/sites.yml"
cat >>"$work/sites.yml" <<'YML'
  - {task: query, by_site: true, queries: ["count: age >= 70", "mean: age", "histogram: age by 10"], batch: 50 %, share: 1, grid_bits: 10}
YML
sed -i -e 's/cohort: {/&records_most: 5000, /' "$work/sites.yml"
expect 0 "$hedgerow" simulate "$work/sites.yml" --data "$root/compose/hospitals/flchain.csv" --agents 4 --out "$work/sites"
prints 'by site, 95 % intervals: count: age >= 70, in share'
prints 'mean over sites '
python3 - "$work/sites/result.json" <<'PY' || fault 'answers by site'
import json, sys
result = json.load(open(sys.argv[1]))
share, mean = result["effects"]
assert share["effect"] == "count: age >= 70" and share["sites"] == 4 and share["low"] < share["value"] < share["high"], share
assert share["tau"] >= 0 and share["next_low"] <= share["low"] and mean["tau"] is None and mean["note"], result["effects"]
sites = [s for s in result["sites"] if s["effect"] == share["effect"]]
assert [s["site"] for s in sites] == [f"hospital-{i}" for i in range(1, 5)], sites
assert abs(sum(s["weight"] for s in sites) - 1) < 1e-9, sites
# The sum of all sites is the sum of theirs, to the last step of the grid.
count = next(a for a in result["answers"] if a["name"] == share["effect"])
assert abs(sum(s["value"] * s["records"] for s in sites) - count["value"]) < 1e-6, (sites, count)
assert sum(s["records"] for s in sites) == count["records"], (sites, count)
PY
expect 0 "$hedgerow" report "$work/sites/result.json" --format md
prints 'epsilon 1, delta 0 for all answers of this stage; epsilon 1, delta 0 for the whole job.'
expect 0 "$hedgerow" report "$work/sites/result.json" --format csv
prints '"effect","round","unit","note","sites","value","low","high"'
prints '"count: age >= 70",0,"hospital-1",'


# A long answer, 16,385 numbers, leaves in words of 2 bytes, rounded after the noise was added. The coordinator
# multiplies each word by its step. Without this the model would be thousands of times too small.
job long local 4 0.00001 <<'YML'
  - {task: update, strategy: average, loss: logistic, noise: gaussian, rate: 16, rounds: 2, batch: 200, clip: 0.5, grid_bits: 20}
YML
sed -i '/^privacy:/i\  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 16384, seed: 1}' "$work/long.yml"
run long
python3 -B - "$work/long" "$root/tests/integration/federation" <<'PY' || fault 'answers of 2 bytes a number'
import json, pathlib, sys
sys.path.insert(0, sys.argv[2])
import journals
folder = pathlib.Path(sys.argv[1])
for site in ("hospital-1", "hospital-2"):
    records = [record for _, record, _ in journals.read(folder / "agents" / site / "state")]
    sizes = [record["answer_bytes"] for record in records if record["kind"] == "answer"]
    assert sizes == [2 * 16385] * 2, sizes
weights = json.loads((folder / "model.json").read_text())["weights"]
largest = max(abs(weight) for row in weights for weight in (row if isinstance(row, list) else [row]))
assert 0.2 < largest < 20, largest
PY
finish
