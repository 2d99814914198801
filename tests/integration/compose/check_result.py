"""check_result.py FOLDER ROUNDS - judges the result.json that a deployment wrote, and its agents' ledgers.

Its shape is that of every program. Figures that need exact records (accuracy, AUC, baseline) must be
null, as a deployment has no such records.
"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
rounds = int(sys.argv[2])
result = json.loads((folder / "result.json").read_text())
model = json.loads((folder / "model.json").read_text())
faults = []


def expect(truth, sentence):
    if not truth:
        faults.append(sentence)


def kind(value, wanted):
    """A number may be written without a point; a truth value is no number."""
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, wanted)


def shape(where, value, wanted):
    for key, expected in wanted.items():
        if not isinstance(value, dict) or key not in value:
            faults.append(f"{where}.{key} is missing")
        elif expected is None:
            expect(value[key] is None, f"{where}.{key} must be null in a deployment")
        elif not kind(value[key], expected):
            faults.append(f"{where}.{key} is no {expected.__name__}")


shape("result", result, {
    "job": str, "private": bool, "agents": int, "rounds": list, "experts": list, "chosen": str,
    "accuracy": None, "auc": None, "baseline": None, "privacy": dict, "regret": dict, "seconds": float})
if not faults:
    shape("privacy", result["privacy"],
          {"trust": str, "unit": str, "epsilon": float, "delta": float, "per_agent": list})
    shape("regret", result["regret"], {"average": float, "bound": float})
    for entry in result["rounds"]:
        shape("rounds[]", entry, {"stage": str, "round": int, "agents": int, "chosen": str, "seconds": float})
    for entry in result["experts"]:
        shape("experts[]", entry, {"name": str, "lambda": float})
    for entry in result["privacy"]["per_agent"]:
        shape("per_agent[]", entry, {"agent": str, "epsilon_spent": float, "epsilon_left": float})
if not faults:
    names = [entry["name"] for entry in result["experts"]]
    expect(result["private"] is True, "private must be true")
    expect(result["agents"] == 5, "five agents took part")
    expect(len(result["rounds"]) == rounds, f"{rounds} rounds, each once; found {len(result['rounds'])}")
    expect(len({entry["round"] for entry in result["rounds"]}) == rounds, "a round is there twice")
    expect(len(names) >= 6 and len(set(names)) == len(names), "six experts or more, of different names")
    expect(result["chosen"] in names, "the chosen one is among the experts")
    cohorts = [entry["agents"] for entry in result["rounds"]]
    expect(min(cohorts) == 3 and max(cohorts) == 5, f"cohorts between 3 and 5; found {cohorts}")
    expect(cohorts[0] == 5, "all five were in the first round")
    expect({entry["agent"] for entry in result["privacy"]["per_agent"]} ==
           {f"hospital-{i}" for i in range(1, 6)}, "the account names the five hospitals")
    for entry in result["privacy"]["per_agent"]:
        expect(entry["epsilon_spent"] <= 1, f"{entry['agent']} was charged more than the job costs")
    expect(0 <= result["regret"]["bound"], "the bound of the regret is not negative")
    expect(isinstance(model, dict) and model, "model.json holds a model")

# Each site's own account: what the coordinator counted can be less (an answer that was late), never more.
counted = {entry["agent"]: entry.get("answers", 0) for entry in result["privacy"]["per_agent"]} if not faults else {}
for i in range(1, 6):
    ledger = json.loads((folder / f"ledger-hospital-{i}.json").read_text())
    spent = float(ledger["spent"]["epsilon"])
    expect(0 < spent <= 1, f"hospital-{i} spent {spent} of at most 1")
    charged = [(charge["job"], charge["round"]) for charge in ledger["charges"]]
    expect(len(set(charged)) == len(charged), f"hospital-{i} was charged twice for one round")
    expect(counted.get(f"hospital-{i}", 0) <= len(charged), f"an answer of hospital-{i} was never charged")
    expect(len(charged) <= rounds, f"hospital-{i} has more charges than the job has rounds")

for fault in faults:
    print(f"result: {fault}")
sys.exit(1 if faults else 0)
