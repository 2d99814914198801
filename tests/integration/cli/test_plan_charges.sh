#!/bin/bash
# The charges that `hedgerow plan job` tells beforehand are those of the ledgers in the end: for every shipped job and
# every job of docs/JOBS.md and docs/CHOOSING.md, run by real programs.
. "$(dirname "$0")/common.sh"

hospitals=$root/compose/hospitals
sensors="--data $root/compose/sensors/chicago.csv --streams $root/compose/sensors/stations.csv"
python3 - "$root/docs" "$work" <<'PY' || fault 'the jobs of the pages'
import pathlib, re, sys
docs, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
for page, least in (("JOBS.md", 8), ("CHOOSING.md", 5)):
    jobs = re.findall(r"```yaml\n(.*?)```", (docs / page).read_text(), re.S)
    assert len(jobs) >= least, (page, len(jobs))
    for text in jobs:
        path = folder / ("page-" + re.search(r"^job: (\S+)", text, re.M)[1] + ".yml")
        assert not path.exists(), path
        path.write_text(text)
PY
for job in "$root"/compose/*/*.yml; do
    federation=$(basename "$(dirname "$job")")
    [ "$(basename "$job")" = docker-compose.yml ] || [ "$federation" = watch ] || cp "$job" "$work/$federation-$(basename "$job")"
done
# Gaussian noise in shares: sixteen sites, four of which may help the coordinator.
sed -e 's/trust: central/trust: distributed/; s/^  minimum: .*/  minimum: 16\n  dishonest: 4/; s/batch: 91 /batch: 28 /' \
    "$root/compose/tumours/update-gaussian.yml" >"$work/tumours-shared-gaussian.yml"

# run JOB WORDS...: planned, and run into a folder of its name
run() {
    local name agents
    name=$(basename "$1" .yml)
    case " $* " in *' --streams '*) agents=20 ;; *) agents=$(sed -n 's/.*minimum: \([0-9]*\).*/\1/p' "$1") ;; esac
    "$hedgerow" plan job "$1" --agents "$agents" --json >"$work/$name.plan" &&
        "$hedgerow" simulate "$1" --out "$work/$name" --set cohort.deadline_s=600 "${@:2}" \
            $([ "$agents" = 20 ] || echo --agents "$agents") \
            >"$work/$name.log" 2>&1 &&
        for state in "$work/$name"/agents/*; do
            (cd "$state" && "$programs/hedgerow-agent" ledger --json --config agent.yml) \
                >"$work/$name.$(basename "$state").ledger" || return
        done || { echo "FAILED: $name"; tail -n 3 "$work/$name.log"; touch "$work/failed"; }
}

for job in "$work"/*.yml; do
    while [ "$(jobs -rp | wc -l)" -ge 6 ]; do wait -n; done
    case $(basename "$job") in
    sensors-* | page-station-entries.yml) read -ra words <<<"$sensors" ;;
    tumours-*) words=(--data "$root/compose/tumours/wdbc.csv") ;;
    *) words=(--data "$hospitals/flchain.csv") ;;
    esac
    run "$job" "${words[@]}" &
done
wait
[ ! -e "$work/failed" ] || fault 'a job that did not run'

python3 - "$work" <<'PY' || fault 'what was charged'
import json, math, pathlib, sys
folder = pathlib.Path(sys.argv[1])
plans = sorted(folder.glob("*.plan"))
assert len(plans) >= 16, plans

def faults(plan, ledger):
    found = []
    spent = ledger["jobs"][0]["at_end"]
    for amount in ("epsilon", "delta"):
        if not math.isclose(spent[amount], plan["price"][amount], rel_tol=1e-9, abs_tol=1e-24):
            found.append(f"{amount}: {spent[amount]}, planned {plan['price'][amount]}")
    paid = {(c["task"], round(c["event"].get("epsilon", c["event"].get("sigma")), 6)) for c in ledger["charges"]}
    told = {(s["task"], round(s["charge_epsilon"] or s["charge_sigma"], 6)) for s in plan["stages"]}
    if paid != told:
        found.append(f"charges of {sorted(paid)}, planned {sorted(told)}")
    return found

count = 0
for path in plans:
    plan = json.loads(path.read_text())
    ledgers = sorted(folder.glob(path.stem + ".*.ledger"))
    assert len(ledgers) == plan["agents"], (path.stem, len(ledgers))
    assert plan["admitted"] and plan["price"]["epsilon"] <= plan["limit"]["epsilon"]
    for one in ledgers:
        ledger = json.loads(one.read_text())
        assert not faults(plan, ledger), (path.stem, faults(plan, ledger))
        # A plan one part in a thousand too low is seen, in all and for one charge.
        low = dict(plan, price=dict(plan["price"], epsilon=plan["price"]["epsilon"] * 0.999))
        less = dict(plan, stages=[dict(stage, charge_epsilon=0.999 * (stage["charge_epsilon"] or 1))
                                  for stage in plan["stages"]])
        assert faults(low, ledger) and faults(less, ledger), path.stem
        count += 1
print(f"{len(plans)} jobs, {count} ledgers")
PY
finish
