#!/bin/bash
# Labels that are numbers or several classes, a series, feature maps: from the job's text through real
# processes to predictions, which must be the ones that the simulator judged.
. "$(dirname "$0")/common.sh"

rest='privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 100}
cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 30}
stages:'

# job NAME LOSS, its data section on standard input
job() {
    {
        printf 'hedgerow: 1\njob: %s\ndata:\n' "$1"
        cat
        printf '%s\n  - {task: fit, loss: %s, lambdas: [0.03], share: 1, tolerance: 0.00001}\n' "$rest" "$2"
    } >"$work/$1.yml"
}

# run NAME DATA: a small federation, and what its model predicts of the records held out
run() {
    expect 0 "$hedgerow" simulate "$work/$1.yml" --out "$work/$1" --data "$2" --agents 2 --seed 5
    cp "$work/out" "$work/$1.shown"
    expect 0 "$hedgerow" predict --model "$work/$1/model.json" --data "$work/$1/held-out.csv"
    cp "$work/out" "$work/$1.csv"
}

python3 - >"$work/days.csv" <<'PY'
import math
print("entries,warm")
for day in range(700):
    warm = 15 + 10 * math.sin(day / 58) + day * 7 % 5
    print(f"{50 + 20 * math.sin(2 * math.pi * day / 7) + warm:.6f},{warm:.6f}")
PY
job series squared <<'YML'
  label: {centre: 65, half_width: 40}
  series: {column: entries, lags: [1, 7]}
  features: [{column: warm, centre: 15, half_width: 20}]
YML
run series "$work/days.csv"
grep -qF 'RMS error' "$work/series.shown" || fault 'no error is shown for a number'
python3 - "$work" <<'PY' || fault 'the series'
import csv, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
whole = (folder / "days.csv").read_text().splitlines()
parts = [(folder / "series" / name).read_text().splitlines()[1:]
         for name in ("agents/hospital-1/data.csv", "agents/hospital-2/data.csv", "held-out.csv")]
assert whole[1:] == parts[0] + parts[1] + parts[2], "the days are not in stretches"
truth = [min(max(float(line.split(",")[0]), 25), 105) for line in parts[2]][7:]
told = [float(row["value"]) for row in csv.DictReader((folder / "series.csv").open())]
assert len(told) == len(truth)
error = (sum((a - b) ** 2 for a, b in zip(told, truth)) / len(truth)) ** 0.5
stated = json.loads((folder / "series/result.json").read_text())["error"]
assert abs(error - stated["root_mean_square"]) < 1e-6 * error, (error, stated)
assert stated["pooled"] < error < stated["constant"], stated
PY

job classes logistic <<'YML'
  label: {column: mgus, classes: ["0", "1", never]}
  features: [{column: age, centre: 74, half_width: 24}]
YML
run classes "$root/compose/hospitals/flchain.csv"
[ "$(head -n 1 "$work/classes.csv")" = 'score 0,score 1,score never,class' ] || fault 'the header of classes'

for kind in 'kind: fourier, kernel: gaussian, gamma: 2, features: 16, seed: 42' \
    'kind: nystrom, kernel: laplacian, gamma: 2, landmarks: [[60, F], [60, M], [75, F], [75, M], [90, F], [90, M]]'; do
    job map logistic <<YML
  label: {column: death, positive: "1", negative: "0"}
  features: [{column: age, centre: 74, half_width: 24}, {column: sex, categories: [F, M]}]
  map: {$kind}
YML
    rm -rf "$work/map"
    run map "$root/compose/hospitals/flchain.csv"
    python3 - "$work" classes map <<'PY' || fault "accuracy of classes, or of a map ($kind)"
import csv, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for name, label in zip(sys.argv[2:], ("mgus", "death")):
    told = [row["class"] for row in csv.DictReader((folder / f"{name}.csv").open())]
    truth = [row[label] for row in csv.DictReader((folder / name / "held-out.csv").open())]
    share = sum(a == b for a, b in zip(told, truth)) / len(truth)
    stated = json.loads((folder / name / "result.json").read_text())["accuracy"]
    assert abs(share - stated) < 2e-3 and share > 0.7, (name, share, stated)
PY
done
finish
