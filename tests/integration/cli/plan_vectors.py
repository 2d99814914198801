"""Known answers through the real program, both ways: epsilon at a row's delta, delta around its epsilon.

Tolerances (tests/vectors/dp_vectors.md): never more than 1e-9 below an EXACT value, at most 0.1 % above
it; REF values: within 3 err_est + 1e-9; draws of the exponential mechanism lie between the adaptive grid and 0.1 % above the Renyi column. Asks a part of the rows; with the word
"every" as last argument, all of them, and with "few" some of each kind.
"""
import json
import math
import subprocess
import sys

program, vectors = sys.argv[1:3]
every = sys.argv[3:] == ["every"]
few = sys.argv[3:] == ["few"]  # a sanitized program computes by the same code as another one: what each kind of row runs is enough
table = json.load(open(vectors))
accountants = ["basic", "advanced", "optimal", "zcdp", "renyi", "pld"]
faults = []


def ask(part, events, **options):
    command = [program, "plan", part, "--events", "-", "--json"]
    for name, value in options.items():
        command += ["--" + name, repr(value)]
    done = subprocess.run(command, input=json.dumps({"events": events}), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{events} {options}: {done.stderr}")
    return json.loads(done.stdout)


def event(mechanism, parameter, count, **more):
    name = {"laplace": "scale", "discrete_laplace": "scale", "gaussian": "sigma", "discrete_gaussian": "sigma"}
    return {"mechanism": mechanism, name.get(mechanism, "epsilon"): parameter, "count": count, **more}


def exact(value, above=1e-3):
    return value - 1e-9, value + 1e-9, above


def reference(row):
    slack = 3 * row["err_est"] + 1e-9
    return row["eps_ref"] - slack, row["eps_ref"] + slack, 0


# group, every how many rows, the row's events, where the truth is and how far above it we may be
groups = [
    ("a_pure_kfold", 4, lambda r: [event("pure", r["eps0"], r["k"])], lambda r: exact(r["eps_tight"])),
    ("a3_approx_kfold", 2, lambda r: [event("pure", r["eps0"], r["k"], delta=r["delta0"])],
     lambda r: exact(r["eps_tight"])),
    ("a4_heterogeneous_pure", 2, lambda r: [event("pure", e, 1) for e in r["eps_list"]],
     lambda r: exact(r["eps_tight"])),
    ("b_laplace", 5, lambda r: [event("laplace", r["b"], r["k"])], lambda r: reference(r)),
    ("c_discrete_laplace", 8, lambda r: [event("discrete_laplace", r["b"], r["k"], sensitivity=r["sensitivity"])],
     lambda r: exact(r["eps_tight"])),
    ("d_gaussian", 6, lambda r: [event("gaussian", r["sigma"], r["k"])], lambda r: exact(r["eps_exact"])),
    ("d_discrete_gaussian", 6,
     lambda r: [event("discrete_gaussian", r["sigma"], r["k"], sensitivity=r["sensitivity"])],
     lambda r: exact(r["eps_tight"])),
    ("e_poisson_subsampled", 17,
     lambda r: [event(r["mechanism"], r["param"], r["k"], sampling=r["q"], neighbours="add-remove")],
     lambda r: reference(r)),
    ("f_exponential_bounded_range", 6, lambda r: [event("exponential", r["eps0"], r["k"])],
     lambda r: (r["eps_adaptive_dp_grid"] * (1 - 1e-4), r["eps_rdp_br"], 1e-3)),
]

rows = 0
for group, stride, events_of, truth_of in groups:
    for i in range(0, len(table[group]), 1 if every else stride * (8 if few else 1)):
        row = table[group][i]
        low, high, above = truth_of(row)
        events = events_of(row)
        delta = row["delta"]
        rows += 1

        answer = ask("compose", events, delta=delta)
        if list(answer) != ["delta", "epsilon", "best", "low", "high"] or list(answer["epsilon"]) != accountants:
            faults.append(f"{group}[{i}]: the keys are {list(answer)}")
        bounds = [b for b in answer["epsilon"].values() if b is not None]
        if answer["delta"] != delta or answer["high"] != min(bounds) or \
                answer["epsilon"][answer["best"]] != answer["high"]:
            faults.append(f"{group}[{i}]: best is not the least bound, or delta is another one: {answer}")
        if not (low <= answer["high"] <= high * (1 + above) + (1e-9 if above else 0) and answer["low"] <= min(high, answer["high"])):
            faults.append(f"{group}[{i}]: [{answer['low']}, {answer['high']}], truth [{low}, {high}]")

        below = low * (1 - 1e-9) - 1e-9
        if below > 0:
            answer = ask("compose", events, epsilon=below)
            if list(answer) != ["epsilon", "delta", "best", "low", "high"]:
                faults.append(f"{group}[{i}]: the keys are {list(answer)}")
            if not answer["high"] >= delta * (1 - 1e-9):
                faults.append(f"{group}[{i}]: delta {answer['high']} at epsilon {below}, truth {delta}")
        answer = ask("compose", events, epsilon=high * (1 + above) + 1e-9)
        if not answer["low"] <= answer["high"] <= delta:
            faults.append(f"{group}[{i}]: delta {answer['high']} above {delta}")

# The other way round, where delta is the known answer.
for row in table["a2_pure_kfold_delta_at_eps"][::8 if few else 1]:
    answer = ask("compose", [event("pure", row["eps0"], row["k"])], epsilon=row["eps"])
    truth = row["delta_tight"]
    rows += 1
    if not (truth - 1e-9 <= answer["high"] <= truth * 1.001 + 1e-9 and answer["low"] <= truth + 1e-9):
        faults.append(f"delta of {row}: {answer}")

# null where an accountant does not cover an event, or has no finite bound.
answer = ask("compose", [event("gaussian", 1, 1)], delta=1e-6)["epsilon"]
if [name for name in accountants if answer[name] is None] != ["basic", "advanced", "optimal"]:
    faults.append(f"who covers a Gaussian: {answer}")
answer = ask("compose", [event("gaussian", 1, 1)], delta=0.0)
if any(answer[key] is not None for key in ("best", "high")) or any(answer["epsilon"].values()):
    faults.append(f"a Gaussian at delta 0: {answer}")
answer = ask("compose", [event("pure", 0.5, 1), event("laplace", 2, 1)], delta=0.0)
if answer["high"] != 1:
    faults.append(f"two halves: {answer}")

# calibrate: what it answers can be composed again, and costs no more than was asked for.
for row in table["m_gaussian_calibration"][::24 if few else 3]:
    answer = ask("calibrate", [event("gaussian", 1, 1)], epsilon=row["eps"], delta=row["delta"])
    if not math.isclose(answer["events"][0]["sigma"], row["sigma_analytic_gaussian"], rel_tol=1e-9):
        faults.append(f"calibrated sigma {answer['events']}, not {row['sigma_analytic_gaussian']}")
    if not ask("compose", answer["events"], delta=row["delta"])["high"] <= row["eps"]:
        faults.append(f"not verified: {answer}")
schedule = [event("laplace", 4, 3), event("pure", 0.5, 2), event("exponential", 0.25, 4, delta=1e-9)]
answer = ask("calibrate", schedule, epsilon=1.0, delta=1e-6)
again = ask("compose", answer["events"], delta=1e-6)
if again["high"] > 1 or again["high"] != answer["account"]["high"] or again["high"] < 0.99:
    faults.append(f"the schedule costs {again['high']}, said {answer['account']}")
if not math.isclose(answer["events"][0]["scale"], 4 * answer["factor"], rel_tol=1e-15):
    faults.append(f"the factor is not the events': {answer}")

if rows < (10 if few else 60):
    faults.append(f"only {rows} rows")
print("\n".join(faults) or f"{rows} known answers, both ways")
sys.exit(len(faults) > 0)
