#!/bin/bash
# `hedgerow plan job`: the shipped jobs, a drowned job, another trust, and its refusals.
. "$(dirname "$0")/common.sh"

# tells TEXT: standard output holds it, wherever its lines are broken. fits: no line is wider than a table may be.
tells() { tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -qF -- "$1" || fault "standard output lacks: $1"; }
fits() { ! grep -E '.{100}' "$work/out" || fault "a line does not fit 99 columns: $*"; }

expect 0 "$hedgerow" plan job "$job" --agents 5
prints 'stage 1: fit, average; discrete Laplace'
prints "each of the average's 8 weights, lambda 0.005"
prints "in all, for any one record of an agent: epsilon 1; the job's limit: epsilon 1"
prints 'noise by trust'
tells 'Trust central has less noise for its signal here. Under it every agent sends exact sums'
prints '+- is one standard deviation of the noise'
! grep -q ' $' "$work/out" || fault 'a line ends in spaces'
says_not WARNING
says_not DROWNED
# No shipped job gets a warning, with as many agents as its federation has.
for shipped in "$root"/compose/*/*.yml; do
    case $shipped in
    */docker-compose.yml | */watch/*) continue ;; # not jobs
    */sensors/*) agents=20 ;;
    */registries/*) agents=32 ;;
    *) agents=5 ;;
    esac
    expect 0 "$hedgerow" plan job "$shipped" --agents "$agents"
    fits "$shipped"
    says_not WARNING
    says_not DROWNED
    says_not 'NO LEDGER'
    [ -z "${VECTORS:-}" ] || continue # with sanitizers the jobs below are enough for JSON
    expect 0 "$hedgerow" plan job "$shipped" --agents "$agents" --json
    python3 -m json.tool "$work/out" >"$work/tool" || fault "not JSON: $shipped"
done
# The smallest federation that the sensors' job allows is in order; released early it drowns, and is told so.
expect 0 "$hedgerow" plan job "$root/compose/sensors/job.yml"
says_not WARNING
sed 's/t0: 3000$/t0: 50/' "$root/compose/sensors/job.yml" >"$work/early.yml"
expect 0 "$hedgerow" plan job "$work/early.yml"
fits drowned
tells 'WARNING: the noise of stage 1 drowns its signal (one prediction of the average after 51 records)'
prints ' agents -> '
prints 't0: '

expect 0 "$hedgerow" plan job --help
cp "$work/out" "$work/help"
expect 0 "$hedgerow" plan job "$job" --agents 5 --json
cp "$work/out" "$work/well.json"
cat >"$work/slip.yml" <<'YAML'
hedgerow: 1
job: slip
data:
  label: {column: death, positive: "1", negative: "0"}
  features: [{column: age, centre: 74, half_width: 24}]
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}
cohort: {minimum: 3, deadline_s: 30}
stages: [{task: query, queries: ["count: age >= 65", "count: age >= 650"], batch: 1254, share: 1, grid_bits: 10}]
YAML
expect 0 "$hedgerow" plan job "$work/slip.yml"
fits slip
prints 'NOTE: stage 1: character 15 of "count: age >= 650" lies outside'
[ "$(grep -c NOTE "$work/out")" -eq 1 ] || fault 'a note on a question that is in order'
expect 0 "$hedgerow" plan job "$work/slip.yml" --json
python3 -c 'import json, sys; notes = json.load(open(sys.argv[1]))["stages"][0]["notes"]; assert len(notes) == 1, notes' \
    "$work/out" || fault 'the note as JSON'
# A question that is asked twice in other words: both places and the remedy.
sed -e 's/features: \[/&{column: sex, categories: [F, M]}, {column: dead, categories: [a, b]}, /' \
    -e 's/queries: .*\], batch/queries: ["crosstab: sex x dead", "count: sex == M", "crosstab: dead x sex", "count: (sex == M)", "count: not sex != M"], batch/' \
    "$work/slip.yml" >"$work/twice.yml"
expect 0 "$hedgerow" plan job "$work/twice.yml"
fits twice
tells 'WARNING: stage 1: question 3, "crosstab: dead x sex", asks the same as question 1, "crosstab: sex x dead", and both are paid for. Remove one'
tells 'WARNING: stage 1: question 4, "count: (sex == M)", asks the same as question 2'
tells 'WARNING: stage 1: question 5, "count: not sex != M", asks the same as question 2, "count: sex == M", of every record but those with a missing'
expect 0 "$hedgerow" plan job "$work/twice.yml" --json
python3 -c 'import json, sys; notes = json.load(open(sys.argv[1]))["stages"][0]["notes"]; assert len(notes) == 3 and all("asks the same" in n for n in notes), notes' \
    "$work/out" || fault 'questions that are asked twice as JSON'
# What is lost between sites if only their sum is released, and who reads what otherwise.
sed 's/trust: local/trust: central/' "$work/slip.yml" >"$work/sites.yml"
expect 0 "$hedgerow" plan job "$work/sites.yml"
fits sites
prints 'NOTE: stage 1: under trust central the answers of all sites together are'
sed 's/task: query,/& by_site: true,/' "$work/slip.yml" >"$work/sites.yml"
expect 0 "$hedgerow" plan job "$work/sites.yml"
prints "NOTE: stage 1: by_site: each site's own noisy answer"
expect 0 "$hedgerow" plan job "$work/sites.yml" --json
python3 -c 'import json, sys; notes = json.load(open(sys.argv[1]))["stages"][0]["notes"]; assert "published under" in notes[0], notes' \
    "$work/out" || fault 'the note on sites as JSON'
# Every interval that an answer has is told, by site too, and how many records it needs.
cat >"$work/every.yml" <<'YAML'
hedgerow: 1
job: every-interval
data:
  label: {column: death, positive: "1", negative: "0"}
  features:
    - {column: futime, centre: 2625, half_width: 2625}
    - {column: age, centre: 74, half_width: 24}
    - {column: risk, centre: 0.5, half_width: 0.5}
    - {column: sex, categories: [F, M]}
    - {column: ward, categories: [A, B, C]}
    - {column: stage, categories: [I, II, III]}
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 5.6}
cohort: {minimum: 5, records: 5000, deadline_s: 30}
stages:
  - {task: query, by_site: true, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["crosstab: sex x death"]}
  - {task: query, by_site: true, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["survival: time futime event death by sex, to 4000"]}
  - {task: query, by_site: true, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["regress: death ~ age + sex + ward"]}
  - {task: query, by_site: true, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["table1: [age, ward]"]}
  - {task: query, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["evaluate: risk for death by sex, cut at 0.25"]}
  - {task: query, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["table1: [age, ward] by sex"]}
  - {task: query, share: 0.142857142, batch: 5000, grid_bits: 10, queries: ["crosstab: sex x death x ward x stage"]}
YAML
expect 0 "$hedgerow" plan job "$work/every.yml"
fits every
cp "$work/out" "$work/every.txt"
expect 0 "$hedgerow" plan job "$work/every.yml" --json
python3 - "$work/out" "$work/every.txt" <<'PY' || fault 'an interval that the plan does not tell'
import json, math, re, sys
stages = json.load(open(sys.argv[1]))["stages"]
table, curves, regression, table1, score, by_group, wide = (stage["releases"] for stage in stages)


def told(releases, *parts):
    found = [i for i, release in enumerate(releases) if all(part in release["what"] for part in parts)]
    assert len(found) == 1, (parts, [releases[i]["what"] for i in found])
    assert math.isfinite(releases[found[0]]["bar"]) and releases[found[0]]["bar"] > 0, releases[found[0]]
    assert re.search("needs about [0-9]+ records", releases[found[0]]["what"]), releases[found[0]]["what"]
    return found[0]


def joined(releases, *parts):
    """A site's interval, and behind it that of the mean over 5: t's 97.5 % point over the normal one's, and sqrt 5.
    And that of another site, which the few sites do not tell to be as alike as they are."""
    i = told(releases, "one site's", *parts)
    assert "the mean over 5 sites" in releases[i + 1]["what"], releases[i + 1]["what"]
    ratio = releases[i + 1]["bar"] / releases[i]["bar"]
    assert math.isclose(ratio, 2.77645 / 1.95996 / math.sqrt(5), rel_tol=1e-3), ratio
    assert "another such site" in releases[i + 2]["what"], releases[i + 2]["what"]
    assert 2 < releases[i + 2]["bar"] / releases[i + 1]["bar"] < 6, releases[i + 2]["bar"]
    return releases[i]["bar"]


odds = joined(table, "odds ratio's logarithm")
assert odds > 1.96 * math.sqrt(4 / 1250) and odds < 1.1 * 1.96 * math.sqrt(4 / 1250), odds
joined(table, "shares' difference")
alike, uneven = (table[told(table, f"interval of the {part}")]["bar"]
                 for part in ("share, if all cells are alike", "share, if a row has a tenth of the records"))
assert uneven > 2 * alike, (alike, uneven)
hazards = joined(curves, "hazard ratio's logarithm")
assert hazards > 1.96 * math.sqrt(4 / 2500) and hazards < 1.2 * 1.96 * math.sqrt(4 / 2500), hazards
# Means of survival are joined without an interval: a line each, and none of the mean over sites.
for part in ("a group's mean", "difference of two groups' means"):
    at = told(curves, "one site's", part)
    assert "the mean over" not in curves[at + 1]["what"], curves[at + 1]["what"]
small = " in a group of a tenth of the records"
for part in ("share at the end", "curve as a whole (band) at the end", "mean up to the end", "median"):
    alike = told(curves, f"interval of the {part} in a group, if all are alike")
    own = told(curves, f"interval of the {part}{small}")
    assert curves[own]["bar"] > curves[alike]["bar"], (curves[alike], curves[own])
told(curves, "the difference of two means", " of groups alike")
told(curves, "the difference of two medians", " of groups alike")
told(curves, "mean up to the end, less another group's," + small)
told(curves, "median, less another group's," + small)
told(curves, "log-rank test of groups alike")
told(curves, "log-rank test of a group of a tenth")
told(curves, "one site's", "a group's median")
told(regression, "half of the 95 % interval of age")
told(regression, "the same of sex's second category")
told(regression, "the same of ward's second category, and its others")
told(regression, "the same of the intercept")
assert joined(regression, "of age") < joined(regression, "of sex's") < joined(regression, "of ward's")
joined(table1, "of age, its mean")
joined(table1, "of ward, a share")
told(table1, "one site's", "of age, its median")
for part in ("AUC", "share with the event", "share with the event in an eighth of the range (calibration)",
             "share with the event less the mean score", "accuracy at the cut", "sensitivity at the cut",
             "specificity at the cut"):
    widths = [score[told(score, f"interval of the {part}{where}")]["bar"]
              for where in (small, " in a group, if all are alike", " in all groups together")]
    assert widths[0] > widths[1] > widths[2], (part, widths)
for threshold in range(1, 8):
    for of in ("net benefit", "net benefit of treating all"):
        told(score, f"interval of the {of} at a risk of {threshold / 8:g} ")
# Numbers of records: of groups, categories and missing values, of cells and of totals.
for releases, columns in ((by_group, ("in which age is", "of a category of ward, or in which it is")), (score, ())):
    told(releases, "the number of records" + (" of a group;" if columns else " in a group;"))
    told(releases, "the number of records" + (" of" if columns else " in") + " all groups together;")
    for column in columns:
        for where in (" in a group;", " in all groups together;"):
            told(releases, f" {column} missing{where}")
    if not columns:
        told(releases, "whose score is missing in a group;")
for part in ("mean", "standard deviation", "median", "lower or upper quartile"):
    widths = [by_group[told(by_group, f"interval of the {part} of age{where}")]["bar"]
              for where in (small, " in a group, if all are alike", " in all groups together")]
    assert widths[0] > widths[1] >= widths[2], (part, widths)
cell = wide[told(wide, "each of 36 cells; a cell needs about")]
assert f"a cell needs about {math.ceil(cell['bar'])} records" in cell["what"], cell
for column in ("sex", "death", "ward", "stage"):
    told(wide, f"each total of {column};")
# The tables have every width to three digits: each figure of the object stands in its question's table.
import pathlib
text = pathlib.Path(sys.argv[2]).read_text()
tables = re.split(r"^stage [0-9]+: ", text, flags=re.M)[1:]
assert len(tables) == len(stages)
for releases, shown in zip((table, curves, regression, table1, score, by_group, wide), tables):
    numbers = {float(word) for word in re.findall(r"[0-9]+(?:[.][0-9]+)?(?:e[-+][0-9]+)?", shown)}
    widths = [release for release in releases if re.search(": (half of|the same of|the [a-z-]+ test) ", release["what"])
              and "another such site" not in release["what"]] # a multiple, which the legend has
    assert len(widths) > 3
    for release in widths:
        bar = math.exp(release["bar"]) if "log-rank" in release["what"] else release["bar"]
        is_range = "net benefit" in release["what"]
        rounded = float(f"{bar:.3g}") if bar < 999.5 else round(bar)
        assert is_range or rounded in numbers, (release, shown)
    bars = [release["bar"] for release in widths if "net benefit at" in release["what"]]
    assert not bars or f"{min(bars):.3g}..{max(bars):.3g}" in shown, (min(bars), max(bars))
    needs = {int(number) for release in widths if "net benefit" not in release["what"]
             for number in re.findall("needs about ([0-9]+) records", release["what"])}
    assert needs <= numbers, needs - numbers
PY
# A job of curves and a table by site fits a screen or two, and says below how many records it refuses.
expect 0 "$hedgerow" plan job "$root/compose/survival/job.yml" --agents 5
[ "$(wc -l <"$work/out")" -le 70 ] || fault "the plan of the survival job has $(wc -l <"$work/out") lines"
grep -qE '^ *share at the end +0\.0425\.\.0\.0645 +refused +992$' "$work/out" || fault 'a row of the curves'
prints 'another such site: 2.8 times that'
grep -qE '^ *mean of age +2\.08 +refused +1699 +1\.46 +2402 +2\.33 +1\.48 +760$' "$work/out" || fault 'a row of the table'
sed 's/epsilon: 1 /epsilon: 0.02 /' "$job" >"$work/drowned.yml"
expect 0 "$hedgerow" plan job "$work/drowned.yml" --agents 5
fits drowned
prints 'WARNING: the noise of stage 2 drowns its signal'
prints 'privacy.epsilon: '
prints 'records of each agent'
expect 0 "$hedgerow" plan job "$work/drowned.yml" --agents 5 --json
cp "$work/out" "$work/drowned.json"
python3 - "$work" <<'PY' || fault 'the plan as JSON'
import json, math, pathlib, sys
folder = pathlib.Path(sys.argv[1])
well, drowned = (json.loads((folder / f"{name}.json").read_text()) for name in ("well", "drowned"))
assert well["admitted"] and well["price"] == {"epsilon": 1.0, "delta": 0.0} and well["agents"] == 5
fit, losses = well["stages"]
assert losses["rounds"] * losses["batch"] <= well["records"] and losses["batch"] == 209, losses
assert math.isclose(losses["releases"][0]["noise"], math.sqrt(2) * 8 / 0.3 / 209 / math.sqrt(5), rel_tol=1e-9)
assert fit["charge_epsilon"] == 0.7 and fit["passes"] == 1 and fit["charge_sigma"] is None
assert losses["regret_bound_without_privacy"] < losses["regret_bound"] < 1
assert 0 < losses["best_is_broadcast"] <= 1
assert not fit["drowned"] and not losses["drowned"] and fit["advice"] == [] and losses["advice"] == []
assert well["other_trust"]["trust"] == "central" and well["better_trust"] == "central"
assert 16e6 < well["coordinator_bytes"] < 18e6, well["coordinator_bytes"]
# Every key is there, also where it is null, and --help tells of each.
keys = {"job", "unit", "trust", "agents", "records", "price", "limit", "admitted", "weak", "burden", "coordinator_bytes", "stages"}
assert set(well) == keys | {"other_trust", "better_trust", "trusts"} and set(well["other_trust"]) == keys, set(well)
# Three trusts: central has one noise, local one a site, distributed one for every h of them. The fit has a model of
# its own for each site, which local trust alone releases.
rows = {row["trust"]: row for row in well["trusts"]}
row_keys = {"trust", "trusted", "messages", "round_trips", "commits", "dishonest", "noise", "round_s", "no_such_job"}
assert list(rows) == ["local", "central", "distributed"] and all(set(row) == row_keys for row in rows.values()), rows
for row in rows.values():
    assert row["no_such_job"] is None and len(row["noise"]) == len(row["round_s"]) == 2, row
assert rows["local"]["dishonest"] == rows["central"]["dishonest"] == 0 and rows["distributed"]["dishonest"] == 1
# Five sites, one dishonest: four survivors open a sum, three shares are one noise.
assert math.isclose(rows["distributed"]["noise"][0], math.sqrt(5 / 3) * rows["central"]["noise"][0], rel_tol=1e-9), rows
assert math.isclose(rows["local"]["noise"][0], math.sqrt(5) * rows["central"]["noise"][0], rel_tol=0.1), rows
assert rows["distributed"]["messages"] > rows["central"]["messages"], rows
assert well["unit"] == "record" and well["price"].keys() == well["limit"].keys() == {"epsilon", "delta"}
stage_keys = {"task", "strategy", "mechanism", "passes", "charge_epsilon", "charge_sigma", "sampling", "epsilon", "delta",
              "regret_bound", "regret_bound_without_privacy", "best_is_broadcast", "best_changed_is_broadcast", "releases", "drowned", "memory_bytes",
              "operations", "slot_ms", "rounds", "batch"}
release_keys = {"what", "unit", "noise", "bar", "burden", "drowned_when"}
for stage in well["stages"] + drowned["stages"]:
    assert set(stage) == stage_keys | {"advice", "expected", "notes"}, set(stage)
    assert all(set(release) == release_keys for release in stage["releases"])
    assert all(set(advice) == {"change", "noise", "burden", "enough"} for advice in stage["advice"])
assert all(set(stage) == stage_keys for stage in well["other_trust"]["stages"])
told = (folder / "help").read_text()
for key in keys | stage_keys | release_keys | row_keys | {"other_trust", "no_other_trust", "better_trust", "trusts", "advice", "expected", "notes", "change", "enough"}:
    assert key in told, key
assert [stage["passes"] for stage in well["stages"]] == [1, 1]
# A solver's slot: twice its operations at 10^9 a second.
assert fit["slot_ms"] == math.ceil(2 * fit["operations"] / 1e6) > 0, fit
for stage in drowned["stages"]:
    assert stage["drowned"] and stage["releases"][0]["burden"] > 1
    assert any(advice["enough"] and advice["burden"] <= 1 for advice in stage["advice"]), stage
    assert all(advice["enough"] == (advice["burden"] <= 1) for advice in stage["advice"])
# Noise is inverse to epsilon.
assert math.isclose(drowned["stages"][1]["releases"][0]["noise"], 50 * losses["releases"][0]["noise"], rel_tol=1e-6)
PY
# The time of a round: what the line takes is inverse to its speed and grows with the agents, and what is left without it are
# round trips of 50 ms, commits of 5, and little work.
for link in 10 20 40 1000000; do
    expect 0 "$hedgerow" plan job "$job" --agents 5 --link $link --json
    cp "$work/out" "$work/link-$link.json"
done
expect 0 "$hedgerow" plan job "$job" --agents 10 --link 10 --json
cp "$work/out" "$work/link-ten.json"
expect 0 "$hedgerow" plan job "$job" --agents 5 --link 40
tells 'Times: a line of 40 Mbit/s at the coordinator (--link), trips of 50 ms, no computing at the sites.'
prints 'messages, trips, commits; time'
expect 2 "$hedgerow" plan job "$job" --link 0
python3 - "$work" <<'PY' || fault 'the time of a round'
import json, math, pathlib, sys
def rows(name):
    told = json.loads((pathlib.Path(sys.argv[1]) / f"link-{name}.json").read_text())["trusts"]
    return {row["trust"]: row for row in told}
at = {link: rows(link) for link in (10, 20, 40, 1000000)}
more = rows("ten")
for trust in ("local", "central", "distributed"):
    for stage in (0, 1):
        t = {link: at[link][trust]["round_s"][stage] for link in at}
        assert math.isclose(t[10] - t[20], 2 * (t[20] - t[40]), rel_tol=1e-6) and t[10] > t[20], (trust, t)
        row = at[1000000][trust]
        waits = 0.05 * row["round_trips"] + 0.005 * row["commits"]
        assert waits < t[1000000] < waits + 0.03, (trust, stage, t, waits)
        assert more[trust]["round_s"][stage] > t[10], (trust, stage)
for stage in (0, 1):
    assert at[20]["distributed"]["round_s"][stage] > at[20]["local"]["round_s"][stage]
PY
# An epsilon that protects nothing gets a warning.
for epsilon in 10 11 1000; do
    sed "s/epsilon: 1 /epsilon: $epsilon /" "$job" >"$work/weak.yml"
    expect 0 "$hedgerow" plan job "$work/weak.yml" --agents 5
    fits weak
    if [ $epsilon = 10 ]; then says_not WARNING; else tells "WARNING: privacy.epsilon $epsilon hardly protects a record"; fi
done
expect 0 "$hedgerow" plan job "$work/weak.yml" --agents 5 --json
grep -q '"weak": true' "$work/out" || fault 'weak is missing in JSON'
# Four classes, three narrow numbers and two categories, as `init job` writes them: the result of this job is near the largest
# class. With three agents the trusts look at other sums, so their noise is not compared.
cat >"$work/stage.yml" <<'YML'
hedgerow: 1
job: stage
data:
  label: {column: stage, classes: [I, II, III, IV]}
  features:
    - {column: age, centre: 59, half_width: 41}
    - {column: sex, categories: [F, M]}
    - {column: crp, centre: 50, half_width: 50}
    - {column: albumin, centre: 35, half_width: 25}
    - {column: ward, categories: [Cardiology, Internal, Surgery, Other]}
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}
cohort: {minimum: 3, records: 320, join_deadline_s: 60, deadline_s: 30}
stages: [{task: learn}]
YML
expect 0 "$hedgerow" plan job "$work/stage.yml" --agents 5
fits stage
tells 'WARNING: the noise of stage 1 drowns its signal (the sums of 8 columns of each of 4 classes)'
tells "the noise on the classes' means is as large as their usual distance"
says_not 'less noise for its signal'
expect 0 "$hedgerow" plan job "$work/stage.yml" --agents 3 --json
cp "$work/out" "$work/stage.json"
expect 0 "$hedgerow" plan job "$work/stage.yml" --agents 5 --json
cp "$work/out" "$work/five.json"
expect 0 "$hedgerow" plan job "$root/compose/tumours/learn.yml" --agents 5 --json
cp "$work/out" "$work/tumours.json"
sed 's/epsilon: 1,/epsilon: 10,/' "$work/stage.yml" >"$work/rich.yml"
expect 0 "$hedgerow" plan job "$work/rich.yml" --agents 5 --json
cp "$work/out" "$work/rich.json"
expect 0 "$hedgerow" plan job "$work/stage.yml" --agents 3
tells 'Under the other trust this job releases other numbers. So their noise cannot be compared.'
says_not 'less noise for its signal'
python3 - "$work" <<'PY' || fault 'what is said of the noise of learn'
import json, pathlib, sys
read = lambda name: json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text())
three, five, tumours, rich = (read(name) for name in ("stage", "five", "tumours", "rich"))
assert three["better_trust"] is None, three["better_trust"]
assert three["stages"][0]["releases"][2]["what"] != three["other_trust"]["stages"][0]["releases"][2]["what"]
sums = five["stages"][0]["releases"][2]
# A record of eight values keeps 2.4 of the norm 5.84: noise on a class's mean 0.103, on a score 0.206; the means are 0.117 apart.
assert abs(sums["burden"] / (sums["noise"] * 4 * 5.84 / 2.4 * 4.02 ** 0.5 / (0.09 * 1.7 ** 0.5)) - 1) < 1e-9, sums
assert 1.5 < sums["burden"] < 2, sums
# Thirty numbers: 9 of 8.4, so all of a record is kept, and a class has half of the records.
own = tumours["stages"][0]["releases"][2]
assert abs(own["burden"] - 4 * own["noise"]) < 1e-9 and tumours["burden"] < 1, own
# Sites share these columns out under trust local alone: other numbers, whose noise is not compared.
assert "of 3 groups of sites" in own["what"] and tumours["better_trust"] is None, tumours["better_trust"]
assert rich["burden"] < 0.5, rich["burden"] # whose result is within a point of the model without privacy
PY

# Under central trust a play is drawn: no noise is on it, and what privacy adds is regret.
expect 0 "$hedgerow" plan job "$root/compose/hospitals/fit.yml"
prints ' none; 0 regret added'
grep -qE 'regret at most a round .* 0\.4226( |$)' "$work/out" || fault 'the regret under a trust'
grep -qE 'best broadcast: chance .* 0\.24( |$)' "$work/out" || fault 'the chance under a trust'
expect 3 "$hedgerow" plan job "$work/nowhere.yml"
says 'nowhere.yml'
sed 's/epsilon: 1 /epsilon: much /' "$job" >"$work/bad.yml"
expect 3 "$hedgerow" plan job "$work/bad.yml"
says 'privacy.epsilon'
expect 3 "$hedgerow" plan job "$job" --records 100
says 'the job needs 1254 of each agent'
expect 3 "$hedgerow" plan job "$job" --agents 2
says 'at least 3 (cohort.minimum)'
# An interval that no epsilon of the job allows is no number, under no trust.
cat >"$work/correlate.yml" <<'YML'
hedgerow: 1
job: correlate
data:
  label: {column: y, positive: "1", negative: "0"}
  features: [{column: a, centre: 0, half_width: 1}, {column: b, centre: 0, half_width: 1}]
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 0.25}
cohort: {minimum: 3, records: 200, records_most: 200, join_deadline_s: 60, deadline_s: 30}
stages:
  - {task: query, queries: ["correlate: [a, b]"], batch: 100 %, share: 1}
YML
expect 0 "$hedgerow" plan job "$work/correlate.yml"
tells '1 correlation of 0 no answer'
grep -qE '^ *correlation of 0 +refused ' "$work/out" || fault 'a refusal in its table'
tells 'taken: values spread by a sixth of their range'
! grep -qwi nan "$work/out" || fault 'NaN is shown to a person'
expect 0 "$hedgerow" plan job "$work/correlate.yml" --json
python3 -m json.tool "$work/out" >"$work/tool" || fault 'not JSON: a correlation that is not shown'

# With every error standard output has only JSON.
for wrong in "3 $work/nowhere.yml" "3 $work/bad.yml" "3 $job --records 100" "3 $job --agents 2" "2 $job --agents x" \
    "2 $job --records 1" "2 $job --records 0.5" "2 $job --records -3" "2 $job --agents" "2 $job $job" "2 $job --noise 1"; do
    read -ra words <<<"$wrong"
    expect "${words[0]}" "$hedgerow" plan job --json "${words[@]:1}"
    [ ! -s "$work/out" ] || fault "an answer to a wrong request: $wrong"
    [ -s "$work/err" ] || fault "no sentence about: $wrong"
done
# Texts that people write in place of a job, or with another file's keys: the message says what to
# write.
expect 3 "$hedgerow" plan job "$root/compose/hospitals/flchain.csv"
says 'is it a table of records?'
head -n 50 "$root/compose/hospitals/flchain.csv" >"$work/few.csv"
expect 3 "$hedgerow" plan job "$work/few.csv"
says 'this line is of a table'
printf 'hedgerow: 1\ndata_sets:\n  - records: 100\n    columns: [{name: age, kind: number}]\n' >"$work/data.yml"
expect 3 "$hedgerow" plan job "$work/data.yml"
says 'this is a data dictionary, not a job'
sed 's/epsilon: 1}/epsilon: 0,5}/; s/half_width: 24/half_width: 24,5/' "$root/compose/hospitals/learn.yml" >"$work/comma.yml"
expect 3 "$hedgerow" plan job "$work/comma.yml"
says '"24,5" has a decimal comma: write 24.5'
sed 's/centre: 74, half_width: 24/low: 50, high: 98/' "$root/compose/hospitals/learn.yml" >"$work/low.yml"
expect 3 "$hedgerow" plan job "$work/low.yml"
says '"centre: 59, half_width: 41"'
sed 's/{task: learn/{query: ["count: age > 70"], task: learn/; s/task: learn *$/&\n    query: ["count: age > 70"]/' \
    "$root/compose/hospitals/learn.yml" >"$work/query.yml"
expect 3 "$hedgerow" plan job "$work/query.yml"
says 'did you mean "queries"?'
expect 0 "$hedgerow" plan job "$root/compose/hospitals/learn.yml"
! grep -q ' $' "$work/out" || fault 'blanks at the end of a line'
expect 3 "$hedgerow" plan job "$root/compose/hospitals/learn.yml" --records 100
says 'lower cohort.records'
expect 1 sh -c "'$hedgerow' plan job '$job' --json >/dev/full"
expect 2 "$hedgerow" plan job
expect 2 "$hedgerow" plan job "$job" --agents 0
expect 2 "$hedgerow" plan job "$job" --agents 10001
# Each agent has a connection at the coordinator.
expect 0 "$hedgerow" plan job "$job" --agents 256
prints 'the coordinator takes about 42.8 MB'
finish
