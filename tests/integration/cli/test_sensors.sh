#!/bin/bash
# Streams: a wide table dealt out by columns, learned from as it comes, released on the doubling schedule,
# judged in the order of time beside forecasters that the job writes down; the shipped federation likewise.
. "$(dirname "$0")/common.sh"

sensors=$root/compose/sensors
python3 - >"$work/wide.csv" <<'PY'
import math
print("north,warm,South,date")
for day in range(700):
    warm = 15 + 10 * math.sin(day / 58) + day * 7 % 5
    week = math.sin(2 * math.pi * day / 7)
    print(f"{100 + 60 * week + warm:.6f},{warm:.6f},{5 + 3 * week:.6f},day {day}")
PY
printf 'stream,unit\nSouth,4\nnorth,100\n' >"$work/streams.csv"
cat >"$work/job.yml" <<'YML'
hedgerow: 1
job: streams
data:
  label: {centre: 1, half_width: 1}
  series: {column: entries, lags: [1, 7]}
  features: [{column: warm, centre: 15, half_width: 20}]
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1000}
cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 30}
stages:
  - {task: online, rounds: 3, t0: 30, share: 0.5, grid_bits: 32,
     map: {kind: fourier, kernel: gaussian, gamma: 0.5, features: 6, seed: 3}}
  - task: losses
    loss: absolute
    first: 211
    rounds: 20
    batch: 14
    share: 0.5
    forecasters:
      - {name: same as yesterday, features: [lag_1]}
      - {name: as last week, features: [lag_7]}
YML
expect 0 "$hedgerow" simulate "$work/job.yml" --out "$work/small" --seed 5 --data "$work/wide.csv" --streams "$work/streams.csv"
prints 'online        3/23 '
prints 'chosen: as last week'
python3 - "$work" <<'PY' || fault 'the streams'
import csv, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
wide = list(csv.DictReader((folder / "wide.csv").open()))
held = -(-(700 - 7) // 5)
for column, unit in (("South", 4), ("north", 100)):
    agent = list(csv.DictReader((folder / f"small/agents/{column.lower()}/data.csv").open()))
    out = list(csv.DictReader((folder / f"small/held-out/{column.lower()}.csv").open()))
    assert list(agent[0]) == ["entries", "warm"], "an agent has its own column and the job's features alone"
    assert len(out) == held and len(agent) == 700 - held
    for row, day in zip(agent + out, wide):
        assert abs(float(row["entries"]) - float(day[column]) / unit) < 1e-6 and row["warm"] == day["warm"]
result = json.loads((folder / "small/result.json").read_text())
names = [expert["name"] for expert in result["experts"]]
assert names == ["online, day 31", "online, day 91", "online, day 211", "same as yesterday", "as last week"], names
assert [round(w, 12) for w in result["experts"][4]["model"]] == [0] * 7 + [0, 2, 0, 0], "lag_7 itself, before any map"
assert all(any(e["model"][:7]) and not any(e["model"][7:]) for e in result["experts"][:3]), "on their own map's features"
model = json.loads((folder / "small/model.json").read_text())
assert [round(w, 12) for w in model["weights"]] == [0, 2, 0, 0] and "map" not in model["schema"], "a file for itself"
assert result["error"]["root_mean_square"] < 0.2 < result["error"]["constant"], result["error"]
judged = [r for r in result["rounds"] if r["losses"]]
assert len(judged) == 20 and len(judged[0]["losses"]) == 5
assert judged[-1]["regret_average"] <= judged[-1]["regret_bound"]
spent = [a["epsilon_spent"] for a in result["privacy"]["per_agent"]]
assert spent == [1000, 1000], "a stream of three releases is paid for once"
assert [r["epsilon"] for r in result["rounds"][:4]] == [500, 500, 500, 1000]
assert [f["stream"] for f in result["forecasts"]] == ["south", "north"]
for forecast, column in zip(result["forecasts"], ("South", "north")):
    unit = {"South": 4, "north": 100}[column]
    truth = [min(max(float(row[column]) / unit, 0), 2) for row in wide[-56:]]
    week = [min(max(float(row[column]) / unit, 0), 2) for row in wide[-63:-7]]
    assert all(abs(a - b) < 1e-5 for a, b in zip(forecast["truth"], truth))
    assert all(abs(a - b) < 1e-5 for a, b in zip(forecast["forecast"], week)), "as last week"
# Losses of the two written forecasters, over the days that were judged: exact but for a noise far below.
loss = [0.0, 0.0]
for column, unit in (("South", 4), ("north", 100)):
    y = [min(max(float(row[column]) / unit, 0), 2) for row in wide]
    for record in range(211, 211 + 20 * 14):
        for i, lag in enumerate((1, 7)):
            loss[i] += abs(y[record + 7] - y[record + 7 - lag]) / 2 / (2 * 20 * 14)
for i in range(2):
    mean = sum(r["losses"][3 + i] for r in judged) / 20
    assert abs(mean - loss[i]) < 0.003, (i, mean, loss[i])
PY

expect 2 "$hedgerow" simulate "$work/job.yml" --out "$work/none" --data "$work/wide.csv" --streams "$work/streams.csv" --agents 2
says 'as many as --streams names'
printf 'stream,unit\nsouth,4\n' >"$work/wrong.csv"
expect 3 "$hedgerow" simulate "$work/job.yml" --out "$work/none" --data "$work/wide.csv" --streams "$work/wrong.csv"
says 'no column "south"'
printf 'stream,unit\nSouth,0\n' >"$work/wrong.csv"
expect 3 "$hedgerow" simulate "$work/job.yml" --out "$work/none" --data "$work/wide.csv" --streams "$work/wrong.csv"
says 'a number above 0'
printf 'stream,unit\nSouth,1\nSouth,1\n' >"$work/wrong.csv"
expect 3 "$hedgerow" simulate "$work/job.yml" --out "$work/none" --data "$work/wide.csv" --streams "$work/wrong.csv"
says 'stands there twice'
printf 'stream,unit\n../South,1\n' >"$work/wrong.csv"
expect 3 "$hedgerow" simulate "$work/job.yml" --out "$work/none" --data "$work/wide.csv" --streams "$work/wrong.csv"
says 'letters, digits'
expect 3 "$hedgerow" simulate "$job" --out "$work/none" --streams "$work/streams.csv"
says 'splits a table of series, and this job has none'
[ ! -e "$work/none" ] || fault 'a refused simulation has made its folder'

# What is shipped, with fewer rounds: twenty stations, each charged what the job says.
expect 0 "$hedgerow" simulate "$sensors/job.yml" --out "$work/sensors" --seed 1 --data "$sensors/chicago.csv" \
    --streams "$sensors/stations.csv" --set 'stages[2].rounds=15'
# One table whatever a stage is called, in 80 columns.
prints 'statistics    2/17 '
[ "$(awk '/^  (online|statistics|losses) / && substr($0, 38, 2) == "  " && substr($0, 40, 1) != " "' "$work/out" | wc -l)" -eq 17 ] ||
    fault 'the rounds are not aligned'
! grep -v "$work" "$work/out" | grep -E '.{81}' || fault 'a line does not fit 80 columns'
python3 - "$work" <<'PY' || fault 'the shipped federation'
import json, pathlib, sys
result = json.loads((pathlib.Path(sys.argv[1]) / "sensors/result.json").read_text())
assert result["finished"] and result["agents"] == 20
assert all(a["epsilon_spent"] == 2 and a["answers"] == 17 for a in result["privacy"]["per_agent"])
assert all(r["agents"] == 20 for r in result["rounds"])
assert result["error"]["root_mean_square"] < 0.25 < result["error"]["constant"], result["error"]
assert result["regret"]["average"] < result["regret"]["bound"]
assert result["error"]["pooled"] < 0.172, "the rival has the best of all maps, and the first is the kernel's"
kernel, *others = result["experts"]
assert kernel["name"] == "online, day 3001" and len(others) == 4, result["experts"]
assert all(kernel["model"][:3]) and not any(kernel["model"][3:]), "two landmarks and the constant"
assert all(any(e["model"][3:]) and not any(e["model"][:3]) for e in others), "all others are linear in the lags"
PY
finish
