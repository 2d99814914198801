"""The planner's known answers (tests/vectors/planner.json) through the real program, to 1e-6.

The eta of rwm and dartboard may be larger than the row's, where the accountant proves it: never smaller
(dartboard: 0.995 of it), and their regret bounds follow from the eta printed.
"""
import json
import math
import subprocess
import sys

program, vectors = sys.argv[1:3]
rows = json.load(open(vectors))["rows"]
faults = []


def ask(command, **request):
    words = [program, "plan", command, "--json"]
    for name, value in request.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{words}: {done.stderr}")
    return json.loads(done.stdout)


def near(value, wanted, tolerance=1e-6):
    return value is not None and math.isclose(value, wanted, rel_tol=tolerance)


def differences(answer, wanted, path=""):
    found = []
    for key, value in wanted.items():
        here = f"{path}.{key}"
        if key not in answer:
            found.append(f"{here} is missing")
        elif isinstance(value, dict):
            found += differences(answer[key], value, here)
        elif not near(answer[key], value):
            found.append(f"{here}: {answer[key]}, not {value}")
    return found


def regret(eta, experts, rounds):
    rest = math.log(experts) / (eta * rounds)
    return eta / 8 + rest, eta + rest


for row in rows:
    request, wanted = row["request"], json.loads(json.dumps(row["answer"]))
    answer = ask(row["command"], **request)
    for name, least in (("rwm", 1 - 1e-9), ("dartboard", 0.995)) if row["command"] == "hedge" else ():
        eta = answer[name]["eta"]
        if not least * wanted[name]["eta"] <= eta <= 1.2 * wanted[name]["eta"]:
            faults.append(f"{request}: {name} has eta {eta}, known is {wanted[name]['eta']}")
        tight, textbook = regret(eta, request["experts"], request["rounds"])
        wanted[name].update(eta=eta, regret_bound=tight, regret_bound_textbook=textbook)
    faults += [f"{row['command']} {request}: {text}" for text in differences(answer, wanted)]

# The comparison can fail.
first = rows[5]["answer"]
if not differences({**first, "sensitivity": first["sensitivity"] * (1 + 2e-6)}, first) or \
        not differences({"lipschitz": 1}, first) or differences(first, first):
    faults.append("the comparison finds no difference where there is one")

# The same formulas where no row stands.
fit = dict(records=300, bound=1, kappa=1.25, epsilon=0.5)
for loss, more, slope in (("absolute", {}, 1), ("pinball", {"tau": 0.9}, 0.9), ("huber", {"threshold": 0.5}, 0.5),
                          ("epsilon_insensitive", {"width": 0.1}, 1)):
    answer = ask("erm", loss=loss, **{"lambda": 0.05}, **fit, **more)
    moved = 1.25**2 * slope / (0.05 * 300)
    wanted = {"lipschitz": slope, "sensitivity": moved, "noise_scale": moved / 0.5, "sensitivity_weights": moved / 1.25}
    faults += [f"{loss}: {text}" for text in differences(answer, wanted)]
answer = ask("erm", loss="hinge", records=2, bound=1, kappa=1, epsilon=1, **{"lambda": 0.01})
if not near(answer["sensitivity"], math.sqrt(2 * 11 / 0.04)):
    faults.append(f"few records: not the smaller bound: {answer}")
answer = ask("select", rule="least_squares_fixed", records=10000, exponent=0.5, epsilon=0.5, kappa=2, bound=3,
             source_norm=0.7)
if not near(answer["error_bound"], (24 * 9 * 16 * 9 / 0.25 + 2 * 3.25 * 0.49) / 100):
    faults.append(f"the error's constant: {answer}")
if ask("select", rule="lipschitz", records=10, exponent=1)["error_bound"] is not None:
    faults.append("an error bound without its constants")

answer = ask("online", theta=0.75, t0=5, kappa=1, bound=1, time=100, epsilon=1)
if answer["releases"] != 4 or not near(answer["stream_epsilon_so_far"], sum(2 ** (-j / 2) for j in range(4))):
    faults.append(f"a stream so far: {answer}")
# The bound that jobs use, beside the published form; the formulas of learn/online.h, computed apart.
known = {"sensitivity_tight": 0.0780037072180407, "stream_epsilon_tight": 1 / (1 - 2**-0.25),
         "stream_epsilon_tight_so_far": 3.0152830266931336}
if any(not near(answer[key], value) for key, value in known.items()):
    faults.append(f"a stream, bounded tightly: {answer}")

pac = ask("pac", candidates=1000, alpha=0.05, beta=0.1, epsilon=0.5)
noise, sampling = 4 * math.log(20000) / (0.5 * 0.05), 8 * math.log(40000) / 0.05**2
if differences(pac, {"records": math.ceil(sampling), "for_noise": noise, "for_sampling": sampling}):
    faults.append(f"pac: {pac}")
sq = ask("sq", queries=20, tolerance=0.05, beta=0.05, epsilon=0.25)
noise, sampling = 40 * math.log(800) / (0.25 * 0.05), 2 * math.log(1600) / 0.05**2
if differences(sq, {"records": math.ceil(noise), "for_noise": noise, "for_sampling": sampling, "trust_factor": 1}):
    faults.append(f"sq: {sq}")
many = ask("sq", queries=20, tolerance=0.05, beta=0.05, epsilon=0.25, agents=100)
if not 5 < many["trust_factor"] < 11 or not near(many["for_noise"], noise * many["trust_factor"]):
    faults.append(f"local trust: {many}")

# A record instead of a whole round: n/c times the eta, until privacy is free; and noise at the source.
game = dict(experts=10, rounds=10000, epsilon=1, delta=1e-6)
whole = ask("hedge", **game)
record = ask("hedge", **game, records=30, participations=3)
if not near(record["theorem"]["eta"], 10 * whole["theorem"]["eta"]):
    faults.append(f"a record's theorem: {record['theorem']}")
free = ask("hedge", **game, records=100000)
if not (free["rwm"]["privacy_is_free"] and free["rwm"]["eta"] == free["not_private"]["eta"]) or \
        whole["rwm"]["privacy_is_free"]:
    faults.append(f"whether privacy is free: {free['rwm']} {whole['rwm']}")
if not near(whole["noisy_losses"]["sigma"], math.sqrt(2) * 10, 1e-3):
    faults.append(f"noise at the source: {whole['noisy_losses']}")
high = ask("hedge", **game, beta=0.05)
if not near(high["rwm"]["high_probability"], math.sqrt(math.log(20) / 20000)) or "high_probability" in high["dartboard"]:
    faults.append(f"the high-probability form: {high}")
if list(ask("hedge", **game, strategy="epochs")) != ["epochs", "not_private", "noisy_losses"]:
    faults.append("a strategy that was not asked for")

if len(rows) != 15:
    faults.append(f"{len(rows)} rows")
print("\n".join(faults) or f"{len(rows)} known answers")
sys.exit(len(faults) > 0)
