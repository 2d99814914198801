#!/bin/bash
# What `plan job` expects beside what a run shows, on the hospitals' records: the same noise, so that widths differ by what the
# plan takes of the records alone. Numbers of records have no such part, and agree to a hundredth. Others are within the factor
# that stands beside them: 1.3 where the records are nearly as the plan takes them; 1.5, or 2, where ages and kappa lie near the range's begin,
# and where age tells deaths though a plan takes a score that tells nothing.
. "$(dirname "$0")/common.sh"

cat >"$work/job.yml" <<'YAML'
hedgerow: 1
job: widths
data:
  label: {column: death, positive: "1", negative: "0"}
  features:
    - {column: futime, centre: 2625, half_width: 2625}
    - {column: age, centre: 74, half_width: 24}
    - {column: sex, categories: [F, M]}
    - {column: flc.grp, categories: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]}
    - {column: kappa, centre: 1.5, half_width: 1.5}
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 8}
cohort: {minimum: 5, records: 1200, join_deadline_s: 120, deadline_s: 120}
stages:
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["survival: time futime event death by flc.grp == 10, to 4000"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["table1: [age, sex] by flc.grp == 10"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["crosstab: sex x death x flc.grp"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["crosstab: sex x death"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["evaluate: age for death by sex, cut at 74"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 20, queries: ["correlate: [age, kappa]"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["regress: death ~ age + sex"]}
  - {task: query, share: 0.125, batch: 1254, grid_bits: 10, queries: ["quantile: 0.5 of age"]}
YAML
# Under another trust, and with Gaussian noise, which one stage alone may have: all questions in it but the quantile, which takes rounds.
sed 's/trust: local/trust: central/' "$work/job.yml" >"$work/central.yml"
{
    sed '/^stages:/,$d; s/trust: local, epsilon: 8}/trust: distributed, epsilon: 8, delta: 0.00001}/; s/minimum: 5,/minimum: 5, dishonest: 1,/' "$work/job.yml"
    echo 'stages:'
    echo '  - task: query'
    echo '    noise: gaussian'
    echo '    batch: 1254'
    echo '    grid_bits: 10'
    echo '    queries:'
    sed -n '/quantile/d; s/.*queries: \[\(.*\)\]}$/      - \1/p' "$work/job.yml"
} >"$work/gaussian.yml"
for name in job central gaussian; do
    expect 0 "$hedgerow" plan job "$work/$name.yml" --agents 5 --json
    cp "$work/out" "$work/$name.json"
    expect 0 "$hedgerow" simulate "$work/$name.yml" --out "$work/run" --data "$root/compose/hospitals/flchain.csv" --agents 5 --seed 3
    python3 - "$work/$name.json" "$work/run/result.json" <<'PY' || fault "a width that the run does not have: $name"
import json, math, re, sys

plan, result = (json.load(open(path)) for path in sys.argv[1:])
lines = [line for stage in plan["stages"] for line in stage["releases"]]
answers = result["answers"]


def one(rows, key, question, part):
    found = [row for row in rows if row[key].startswith(question) and part in row[key]]
    assert len(found) == 1, (question, part, [row[key] for row in rows if row[key].startswith(question)])
    return found[0]


def named(name):
    found = [answer for answer in answers if answer["name"] == name]
    assert len(found) == 1, (name, [answer["name"] for answer in answers if answer["name"][:12] == name[:12]])
    return found[0]


def half(answer):
    low, high = answer["interval_low"], answer["interval_high"]
    low, high = (answer["low"], answer["high"]) if low is None else (low, high)
    return None if low is None or high is None else (high - low) / 2


small, alike, every = " in a group of a tenth of the records", " in a group, if all are alike", " in all groups together"
curves = "survival: time futime event death by flc.grp == 10, to 4000: "
table = "table1: [age, sex] by flc.grp == 10: "
wide, narrow = "crosstab: sex x death x flc.grp: ", "crosstab: sex x death: "
score = "evaluate: age for death by sex, cut at 74: "
# question, the plan's words, the answer's words, the largest factor either way
CASES = [
    (curves, "interval of the mean up to the end" + small, "mean up to 4000 flc.grp == 10", 1.3),
    (curves, "mean up to the end, less another group's," + small, "mean up to 4000, flc.grp == 10 less not flc.grp == 10", 1.3),
    (curves, "interval of the median" + small, "median flc.grp == 10", 1.5),
    (table, "the number of records of a group;", "records, flc.grp == 10", 1.01),
    (table, "category of sex, or in which it is missing in a group;", "sex, F, flc.grp == 10", 1.01),
    (table, "category of sex, or in which it is missing in all groups together;", "sex, F, all", 1.01),
    (table, "interval of the mean of age" + small, "age, mean, flc.grp == 10", 1.3),
    (table, "interval of the mean of age" + every, "age, mean, all", 1.5),
    (table, "interval of the standard deviation of age" + every, "age, standard deviation, all", 1.5),
    (table, "interval of the median of age" + small, "age, median, flc.grp == 10", 2),
    (table, "quartile of age" + small, "age, upper quartile, flc.grp == 10", 2),
    (table, "interval of the median of age" + every, "age, median, all", 2),
    (table, "interval of the share of a category of sex" + small, "sex, F, share, flc.grp == 10", 1.3),
    (table, "interval of the share of a category of sex" + every, "sex, F, share, all", 1.3),
    (wide, "each total of sex", "all sex F", 1.01),
    (wide, "each total of flc.grp", "all flc.grp 3", 1.01),
    (narrow, "interval of the share, if all cells are alike", "share of death 1, sex F", 1.3),
    (narrow, "interval of the difference of the shares, if all cells are alike", "share of death 1, sex M less F", 1.3),
    (score, "the number of records in a group;", "records, F", 1.01),
    (score, "interval of the AUC" + alike, "age, AUC, F", 2),
    (score, "interval of the AUC" + every, "age, AUC, all", 2),
    (score, "interval of the share with the event" + every, "with the event, of all, all", 1.3),
    (score, "accuracy at the cut" + alike, "age, accuracy at 74, F", 1.5),
    ("correlate: [age, kappa]: ", "half of the 95 % interval of a correlation", "age with kappa", 1.5),
    ("regress: death ~ age + sex: ", "the number of events", "records with the event", 1.01),
    ("regress: death ~ age + sex: ", "the same of sex's second category", "sex, M to F, coefficient", 1.3),
    ("regress: death ~ age + sex: ", "half of the 95 % interval of age over half", "age, by 1, coefficient", 2, 24),
    ("quantile: 0.5 of age", "half of the 95 % interval of the quantile", "", 2),
]
asked = [case for case in CASES if any(answer["name"].startswith(case[0]) for answer in answers)]
assert len(asked) >= len(CASES) - 1, [case[0] for case in CASES if case not in asked]
for question, planned, shown, factor, *unit in asked:
    line = one(lines, "what", question, planned)
    answer = named(question + shown)
    width = half(answer)
    assert line["bar"] and width, (line, answer)
    width *= unit[0] if unit else 1  # a coefficient by 1 is a 24th of that over half of the range
    ratio = width / line["bar"]
    print(f"{ratio:6.3f} of {factor:4}  {question}{shown}")
    assert 1 / factor <= ratio <= factor, (ratio, line, answer)
if plan["trust"] != "local":
    sys.exit()
# A standard deviation of a tenth of the records is refused, and the refusal says about how many records would be
# enough.
line = one(lines, "what", table, "standard deviation of age" + small)
answer = named(table + "age, standard deviation, flc.grp == 10")
assert line["bar"] is None and answer["value"] is None, answer
advice = re.search(r"([0-9.]+) times the epsilon, or (?:([0-9.]+) times )?the records, would be enough", answer["note"])
assert "too few records: a group needs about" in line["what"] and advice, (line, answer)
needed = float(line["what"].split("needs about ")[1].split()[0])
said = float(advice[2] or advice[1])
assert 1 / 1.2 < said * 617 / needed < 4, (said, needed)  # the advice allows for noise, and for more steps
# The smallest cell of a table of three columns is as large as its bar.
line = one(lines, "what", wide, "each of 40 cells; a cell needs about")
answer = named(wide + "sex F, death 0, flc.grp 3")
needed = float(line["what"].split("needs about ")[1].split()[0])
assert needed == math.ceil(line["bar"]) and 1 / 1.1 < half(answer) / line["bar"] < 1.1, (line, answer)
PY
    rm -rf "$work/run"
done
finish
