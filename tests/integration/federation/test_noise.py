"""test_noise.py - the noise of a whole run through real processes is what was charged for.

One agent, fixed records, 100 fits of 1001 weights and 24 rounds of losses of the 100 experts that these are:
more than 10^5 released values. noise_of_run.c computes the exact answers and judges the difference; there
are the false-alarm rates and the planted wrong scales.
"""

import random
import subprocess
import sys

import federation as fed
from federation import expect

COLUMNS = 1000
RECORDS = 24
LAMBDAS = 100
SEED = 6


def job():
    """One line a column: a job's text is at most 64 KiB."""
    features = "".join(f"    - {{column: c{i}, centre: 0, half_width: 1}}\n" for i in range(COLUMNS))
    lambdas = ", ".join(f"{1 + i / 1000:.3f}" for i in range(LAMBDAS))
    return f"""hedgerow: 1
job: noise
data:
  label: {{column: y, positive: "1", negative: "0"}}
  features:
{features}privacy: {{unit: record, neighbours: replace_one, trust: local, epsilon: 100, delta: 0}}
cohort: {{minimum: 1, join_deadline_s: 120, deadline_s: 120}}
stages:
  - task: fit
    loss: logistic
    lambdas: [{lambdas}]
    share: 0.7
    tolerance: 0.001
    grid_bits: 20
  - task: losses
    strategy: rwm
    loss: zero_one
    rounds: {RECORDS}
    batch: 1
    share: 0.3
    grid_bits: 10
"""


def table():
    dice = random.Random(SEED)
    lines = [",".join(f"c{i}" for i in range(COLUMNS)) + ",y"]
    for _ in range(RECORDS):
        lines.append(",".join(f"{dice.uniform(-1, 1):.3f}" for _ in range(COLUMNS)) + f",{dice.randrange(2)}")
    return "\n".join(lines) + "\n"


def noise(make, programs):
    policy = fed.policy_text(epsilon=200, answer_slot_ms=5)
    with make(programs, agents=1, job=job(), policy=policy, heartbeat_s=0.5, silence_s=10,
              log="{level: info, format: json}") as federation:
        (federation.folder / "site-1" / "data.csv").write_text(table())
        federation.describe("site-1")
        federation.start_agent("site-1")
        code = federation.start_coordinator().wait()
        expect(code == 0, f"the coordinator ended with {code}")
        done = subprocess.run(federation.command(
            "noise_of_run", federation.office / "job.yml", federation.folder / "site-1" / "data.csv",
            federation.office / "state", federation.folder / "site-1" / "state"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        print(done.stdout.decode())
        expect(done.returncode == 0, f"noise_of_run ended with {done.returncode}")


if __name__ == "__main__":
    programs_folder = fed.options().programs
    sys.exit(fed.run_cases([("noise", noise, {"programs": programs_folder})]))
