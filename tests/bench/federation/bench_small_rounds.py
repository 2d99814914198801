#!/usr/bin/env python3
"""bench_small_rounds - how long a round takes: five agents and a coordinator on one machine, by the real programs.

    bench_small_rounds.py PROGRAMS [FOLDER [ROUNDS]]      # a folder of the disk to be measured; 400 rounds

`hedgerow simulate` runs a stage of losses and a stage of update, journals and all, in a folder of FOLDER. Prints
the time from one closed round to the next, and the time of one small durable write on that disk: a round
has two such writes on its way, an agent's and then the coordinator's. Runs before all other programs where it may
(root), as they are not what is measured. Fails when a job fails, or when a round of losses takes longer than 5 ms.
"""
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

AGENTS = 5
LOSSES_MS_MAX = 5
BATCH = 20
JOB = """\
hedgerow: 1
job: rounds
data:
  label: {{column: y, positive: "1", negative: "0"}}
  features:
    - {{column: a, centre: 0, half_width: 1}}
    - {{column: b, centre: 0, half_width: 1}}
    - {{column: c, centre: 0, half_width: 1}}
    - {{column: d, centre: 0, half_width: 1}}
privacy: {{unit: record, neighbours: replace_one, trust: local, epsilon: 400, delta: 0}}
cohort: {{minimum: 5, join_deadline_s: 60, deadline_s: 30}}
stages:
  - {{task: update, strategy: average, loss: logistic, rounds: {rounds}, batch: {batch}, batches: 10, clip: 1, rate: 1,
     share: 0.9, grid_bits: 16, experts: {{shifts: [-0.2, 0.2]}}}}
  - {{task: losses, strategy: rwm, loss: zero_one, rounds: {rounds}, batch: {batch}, share: 0.1, grid_bits: 16}}
"""


def write_table(path, records):
    dice = random.Random(1)
    with path.open("w") as table:
        table.write("a,b,c,d,y\n")
        for _ in range(records):
            x = [dice.uniform(-1, 1) for _ in range(4)]
            table.write(",".join(f"{v:.4f}" for v in x) + f",{int(x[0] + x[1] / 2 + dice.gauss(0, 0.3) > 0)}\n")


def durable_write_ms(folder):
    file = os.open(folder / "write", os.O_CREAT | os.O_RDWR, 0o600)
    took = []
    for i in range(200):
        os.pwrite(file, bytes(4096), 4096 * i)
        before = time.perf_counter()
        os.fdatasync(file)
        took.append(1e3 * (time.perf_counter() - before))
    os.close(file)
    return statistics.median(took)


def go_first():
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except PermissionError:
        print("without root other programs count as well")


def main():
    programs = pathlib.Path(sys.argv[1])
    parent = sys.argv[2] if len(sys.argv) > 2 else None
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    go_first()
    with tempfile.TemporaryDirectory(prefix="hedgerow-rounds-", dir=parent) as name:
        folder = pathlib.Path(name)
        print(f"{folder}: a durable write takes {durable_write_ms(folder):.2f} ms, half of them less")
        write_table(folder / "data.csv", int(1.3 * AGENTS * BATCH * rounds) + 1000)
        (folder / "job.yml").write_text(JOB.format(rounds=rounds, batch=BATCH))
        subprocess.run([programs / "hedgerow", "simulate", folder / "job.yml", "--out", folder / "out",
                        "--agents", str(AGENTS)], stdout=subprocess.DEVNULL, check=True)
        closed = {"update": [], "losses": []}
        for line in (folder / "out" / "logs" / "coordinator.log").read_text().splitlines():
            entry = json.loads(line)
            if entry["event"] == "round-closed":
                closed[entry["stage"]].append(datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")))
        mean = {}
        for stage, times in closed.items():
            assert len(times) == rounds, (stage, len(times))
            apart = sorted(1e3 * (b - a).total_seconds() for a, b in zip(times, times[1:]))
            mean[stage] = statistics.mean(apart)
            print(f"{stage:8} {mean[stage]:6.2f} ms a round, half of them below {statistics.median(apart):.0f}, "
                  f"nine of ten below {apart[9 * len(apart) // 10]:.0f}")
    if mean["losses"] > LOSSES_MS_MAX:
        sys.exit(f"a round of losses takes {mean['losses']:.2f} ms, more than {LOSSES_MS_MAX}")


if __name__ == "__main__":
    main()
