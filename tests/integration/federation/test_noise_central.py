"""test_noise_central.py - the noise of a central run through real processes is one draw of what was charged.

Two agents, one gradient round of ten classes and 1001 features: 10010 released values, once with Laplace and
once with Gaussian noise. noise_of_central.c computes the exact sums and judges the difference; there are the
false-alarm rate and the planted wrong scales, among them that of a draw by each agent.
"""

import random
import subprocess
import sys

import federation as fed
from federation import expect

COLUMNS = 1000
CLASSES = 10
RECORDS = 20
AGENTS = 2

NOISE = {"laplace": "noise: laplace, share: 1", "gaussian": "noise: gaussian"}


def job(kind):
    features = "".join(f"    - {{column: c{i}, centre: 0, half_width: 1}}\n" for i in range(COLUMNS))
    classes = ", ".join(f"k{i}" for i in range(CLASSES))
    delta = "0.000001" if kind == "gaussian" else "0"
    return f"""hedgerow: 1
job: noise
data:
  label: {{column: y, classes: [{classes}]}}
  features:
{features}privacy: {{unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: {delta}}}
cohort: {{minimum: {AGENTS}, join_deadline_s: 120, deadline_s: 120}}
stages:
  - {{task: update, loss: logistic, rounds: 1, batch: {RECORDS}, clip: 1, rate: 1, grid_bits: 16,
     {NOISE[kind]}}}
"""


def table(seed):
    dice = random.Random(seed)
    lines = [",".join(f"c{i}" for i in range(COLUMNS)) + ",y"]
    for _ in range(RECORDS):
        numbers = ",".join(f"{dice.uniform(-1, 1):.3f}" for _ in range(COLUMNS))
        lines.append(f"{numbers},k{dice.randrange(CLASSES)}")
    return "\n".join(lines) + "\n"


def noise(make, programs, kind):
    policy = fed.policy_text(tasks="[update]", delta="0.000002", trust="central", answer_slot_ms=200)
    with make(programs, agents=AGENTS, job=job(kind), policy=policy, heartbeat_s=0.5, silence_s=10,
              log="{level: info, format: json}") as federation:
        data = [federation.folder / name / "data.csv" for name in federation.names]
        for seed, (name, path) in enumerate(zip(federation.names, data)):
            path.write_text(table(seed))
            federation.describe(name)
            federation.start_agent(name)
        code = federation.start_coordinator().wait()
        expect(code == 0, f"the coordinator ended with {code}")
        done = subprocess.run(federation.command(
            "noise_of_central", federation.office / "job.yml", federation.office / "state",
            federation.folder / "site-1" / "state", *data),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        print(done.stdout.decode())
        expect(done.returncode == 0, f"noise_of_central ended with {done.returncode}")


if __name__ == "__main__":
    programs_folder = fed.options().programs
    sys.exit(fed.run_cases([(kind, noise, {"programs": programs_folder, "kind": kind}) for kind in NOISE]))
