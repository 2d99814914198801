#!/bin/bash
# The tasks statistics and predict through real processes: what they release, what every ledger says they
# cost, and that the models are better than none.
. "$(dirname "$0")/common.sh"

data=$root/compose/hospitals/flchain.csv

# job NAME TRUST EPSILON DELTA [AGENTS], its stages on standard input
job() {
    cat >"$work/$1.yml" <<YML
hedgerow: 1
job: $1
data:
  label: {column: death, positive: "1", negative: "0"}
  features:
    - {column: age, centre: 74, half_width: 24}
    - {column: sex, categories: [F, M]}
    - {column: kappa, transform: log1p, centre: 1.05, half_width: 0.9}
    - {column: creatinine, centre: 1.1, half_width: 0.4, missing: 1.0}
privacy: {unit: record, neighbours: replace_one, trust: $2, epsilon: $3, delta: $4}
cohort: {minimum: 3, records: 1000, join_deadline_s: 60, deadline_s: 60}
stages:
$(cat)
YML
    expect 0 "$hedgerow" simulate "$work/$1.yml" --out "$work/$1" --data "$data" --agents "${5:-3}" --seed 7
    (cd "$work/$1/agents/hospital-2" && expect 0 "$programs/hedgerow-agent" ledger --json --config agent.yml)
    cp "$work/out" "$work/$1.ledger"
}

job statistics local 2 0 <<'YML'
  - {task: statistics, lambdas: [0.0001, 0.01], batch: 1600, share: 0.8, grid_bits: 16, experts: {shifts: [0.2]}}
  - {task: losses, loss: zero_one, rounds: 4, batch: 400, share: 0.2, grid_bits: 16}
YML
job gaussian central 1 0.00001 <<'YML'
  - {task: statistics, lambdas: [0.0001], batch: 1600, noise: gaussian, grid_bits: 16}
YML
points='points: [[60, F, 1.2, 1.0], [60, M, 1.2, 1.0], [75, F, 1.6, 1.0], [75, M, 1.6, 1.1], [90, F, 2.2, 1.1], [90, M, 2.6, 1.3]]'
job predict local 8 0 <<YML
  - task: predict
    loss: squared
    kernel: {kind: gaussian, gamma: 1}
    lambdas: [0.1, 0.3]
    share: 0.8
    grid_bits: 16
    experts: {own: true, own_weight: 0.5, shifts: [0.25]}
    $points
  - {task: losses, loss: zero_one, rounds: 4, batch: 400, share: 0.2, grid_bits: 16}
YML
job kernel central 4 0 6 <<YML
  - {task: predict, loss: logistic, kernel: {kind: polynomial, degree: 2, offset: 1}, lambdas: [0.2], tolerance: 0.0001, share: 1, grid_bits: 16, $points}
YML

python3 - "$work" <<'PY' || fault 'what the runs say'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])

def read(name):
    result = json.loads((folder / name / "result.json").read_text())
    return result, json.loads((folder / f"{name}.ledger").read_text())["charges"]

def better_than_none(result, accuracy):
    assert result["finished"] and result["accuracy"] > accuracy and result["auc"] > 0.75, result

result, charges = read("statistics")
assert [e["name"] for e in result["experts"]] == [
    f"statistics, lambda {l}{t}" for l in ("0.0001", "0.01") for t in ("", ", threshold +0.2")]
assert [c["task"] for c in charges] == ["statistics"] + 4 * ["losses"], charges
assert charges[0]["epsilon"] == 1.6, charges[0]
better_than_none(result, 0.78)

result, charges = read("gaussian")
assert len(charges) == 1 and "aussian" in charges[0]["event"]["mechanism"], charges
assert result["experts"][0]["name"] == "statistics, lambda 0.0001"
better_than_none(result, 0.78)

result, charges = read("predict")
assert [e["name"].replace(", threshold +0.25", "") for e in result["experts"]] == [
    f"{who}, distilled, lambda {l}" for l in ("0.1", "0.3")
    for who in ("average", "average", "hospital-1", "hospital-2", "hospital-3")]
assert [c["task"] for c in charges] == 2 * ["predict"] + 4 * ["losses"], charges
assert [c["epsilon"] for c in charges[:2]] == [3.2, 3.2], charges
better_than_none(result, 0.76)
answers = result["answers"]
assert len(answers) == 12 and answers[0]["name"] == "lambda 0.1, death 1: 60, F, 1.2, 1.0", answers
assert answers[4]["value"] > answers[0]["value"] and answers[5]["value"] > answers[1]["value"]
assert all(-1 <= a["low"] <= a["value"] <= a["high"] <= 1 for a in answers), answers

result, charges = read("kernel")
assert [e["name"] for e in result["experts"]] == ["average, distilled, lambda 0.2"]
assert len(charges) == 1 and charges[0]["epsilon"] == 4
assert len(result["answers"]) == 6
better_than_none(result, 0.7)
PY
finish
