"""test_many_masked.py - 32 sites under distributed trust, through kill -9 of any program.

The job is compose/registries/job.yml on the records that come with it, dealt out to 32 sites. While it runs, sites
and the coordinator are killed in turn and started again at once. The job ends; every round has 21 sites or more;
nobody pays twice, signs two lists of survivors of a round, or keeps what opens a closed round; no released number
carries a mask (test_kill_masked.py says how surely), and the model ranks the records far better than chance. Memory
and time are printed, and the coordinator's memory is held below a limit.
"""

import csv
import json
import math
import pathlib
import random
import re
import signal
import sys
import time

import federation as fed
import journals
import test_kill
import test_kill_masked as masked
from federation import expect

SEED = 32
SITES = 32
ENOUGH = 21
ROUNDS = 8
COORDINATOR_DEATHS = 3
SITE_DEATHS = 12
PAUSE_S = 0.2
MEGABYTES_MAX = 100  # of the coordinator; 19 were measured; a sanitizer needs more
ROOT = pathlib.Path(__file__).resolve().parents[3]
FEATURES = [("age", False, 74, 24), ("sample.yr", False, 1999, 4), ("kappa", True, 1.05, 0.9),
            ("lambda", True, 1.05, 0.9)]
COLUMNS = ("age", "sample.yr", "kappa", "lambda", "death")


def tables():
    """The shipped records, dealt out in turn."""
    with open(ROOT / "compose/hospitals/flchain.csv", encoding="utf-8", newline="") as file:
        rows = [[row[column] for column in COLUMNS] for row in csv.DictReader(file)]
    random.Random(SEED).shuffle(rows)
    return ["\n".join(",".join(row) for row in [COLUMNS, *rows[i::SITES]]) + "\n" for i in range(SITES)]


def make_federation(make, programs, keys):
    policy = fed.policy_text(tasks="[update]", trust="distributed") + "peers: ../peers\ndishonest_minimum: 8\n"
    job = (ROOT / "compose/registries/job.yml").read_text()
    federation = make(programs, keys=keys, agents=SITES, linger_s=test_kill.LINGER_S, lines=True, job=job, policy=policy,
                      log="{level: info, format: json}")
    lines = []
    for name, table in zip(federation.names, tables()):
        (federation.folder / name / "data.csv").write_text(table)
        federation.describe(name)
        text = (federation.folder / name / "key.pub").read_text()
        lines.append(name + " " + re.search(r"^signing (\S+)", text, re.M)[1])
    (federation.folder / "peers").write_text("\n".join(lines) + "\n")
    return federation


def peak_mb(process):
    """The most memory that a process has held; 0 when it is gone."""
    try:
        status = pathlib.Path(f"/proc/{process.popen.pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+)", status, re.M)
    return int(found[1]) / 1024 if found else 0


class Crowd:
    """All programs, by name, each started again when it was killed."""

    def __init__(self, federation):
        self.federation = federation
        self.running = {name: federation.start_agent(name=name) for name in federation.names}
        self.running["coordinator"] = federation.start_coordinator()
        self.deaths = dict.fromkeys(self.running, 0)
        self.peak = dict.fromkeys(self.running, 0)

    def look(self):
        for name, process in self.running.items():
            self.peak[name] = max(self.peak[name], peak_mb(process))

    def kill(self, name):
        """Returns whether it was alive."""
        process = self.running[name]
        if process.code() is not None:
            return False
        process.signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            return False  # it ended by itself just before
        self.deaths[name] += 1
        start = self.federation.start_coordinator if name == "coordinator" else self.federation.start_agent
        self.running[name] = start() if name == "coordinator" else start(name=name)
        return True


def rounds_closed(federation):
    return len([one for one in federation.events("coordinator") if one["event"] == "round-closed"])


def disturb(federation, crowd, dice):
    """Kills until there were enough deaths, or the coordinator has ended."""
    fed.wait_until(lambda: rounds_closed(federation) > 0, "the first round is closed")
    while crowd.running["coordinator"].code() is None:
        sites = sum(crowd.deaths.values()) - crowd.deaths["coordinator"]
        often = crowd.deaths["coordinator"] < COORDINATOR_DEATHS and sites % 4 == 3
        if sites >= SITE_DEATHS and not often:
            return
        crowd.look()
        crowd.kill("coordinator" if often else dice.choice(federation.names))
        time.sleep(PAUSE_S)


def check_agent(federation, name):
    """At most one charge, one set of keys and one list of survivors a round, and nothing that opens a closed one."""
    records = journals.read(federation.folder / name / "state")
    told = {kind: [record["round"] for _, record, _ in records if record["kind"] == kind]
            for kind in ("answer", "survivors", "keys")}
    for kind, rounds in told.items():
        expect(len(set(rounds)) == len(rounds), f"{name}: {kind} twice: {rounds}")
    expect(set(told["survivors"]) <= set(told["answer"]), f"{name} has signed without an answer: {told}")
    opening = [record["round"] for _, record, blob in records if record["kind"] in ("answer", "keys") and blob]
    expect(set(opening) <= {ROUNDS - 1}, f"{name}'s journal still holds what opens rounds {opening}")
    spent = federation.ledger(name)["spent"]["epsilon"]
    expect(abs(spent - len(told["answer"]) / ROUNDS) < 1e-9, f"{name} answered {told['answer']} and spent {spent}")


def check(federation):
    """What the journals say. Returns how many sites each round had."""
    records = journals.read(federation.office / "state")
    rounds = [(record, blob) for _, record, blob in records if record["kind"] == "round"]
    for kind in ("round", "roster", "survivors"):
        told = [record["round"] for _, record, _ in records if record["kind"] == kind]
        expect(told == list(range(ROUNDS)), f"{kind}: {told}")
    masked.check_words([record for _, record, _ in records if record["kind"] == "roster"])
    for record, blob in rounds:
        expect(not record.get("failed") and len(record["agents"]) >= ENOUGH, f"round {record['round']}: {record}")
        masked.check_numbers(record, blob, most=100)  # weights are below 20, and have a deviation of about 6
    for name in federation.names:
        check_agent(federation, name)
    return [len(record["agents"]) for record, _ in rounds]


def score(row, weights):
    """As the job's text says it; the constant's weight and the vector's length move all alike."""
    total = 0
    for (column, log, centre, half_width), weight in zip(FEATURES, weights):
        x = float(row[column])
        x = ((math.log1p(x) if log else x) - centre) / half_width
        total += weight * max(-1, min(1, x))
    return total


def ranked(weights):
    """How well these weights rank the records of all sites: the AUC."""
    rows = [row for table in tables() for row in csv.DictReader(table.splitlines())]
    scored = sorted((score(row, weights), row["death"] == "1") for row in rows)
    positive = sum(ill for _, ill in scored)
    ranks = sum(i for i, (_, ill) in enumerate(scored, 1) if ill)
    return (ranks - positive * (positive + 1) / 2) / (positive * (len(scored) - positive))


def many(make, programs, keys):
    dice = random.Random(SEED)
    with make_federation(make, programs, keys) as federation:
        since = time.monotonic()
        crowd = Crowd(federation)
        disturb(federation, crowd, dice)
        fed.wait_until(lambda: crowd.look() or crowd.running["coordinator"].code() is not None,
                       "the coordinator has ended", 3 * fed.PATIENCE_S)
        seconds = time.monotonic() - since
        code = crowd.running["coordinator"].code()
        expect(code == 0, f"the coordinator ended with {code}")
        for name in federation.names:
            expect(crowd.running[name].wait() == 0, f"{name} did not end well")
        sites = sum(crowd.deaths.values()) - crowd.deaths["coordinator"]
        fed.in_time(crowd.deaths["coordinator"] > 0 and sites >= SITE_DEATHS / 2, "the job was over too early")
        there = check(federation)
        model = json.loads((federation.office / "out" / "model.json").read_text())
        auc = ranked(model["weights"])
        expect(auc > 0.75, f"the model's AUC is {auc}")
        peak = crowd.peak.pop("coordinator")
        print(f"{SITES} sites, {ROUNDS} rounds with {there}: {seconds:.1f} s; {sites} sites and "
              f"{crowd.deaths['coordinator']} coordinators killed; memory: coordinator {peak:.0f} MB, a site at most "
              f"{max(crowd.peak.values()):.0f} MB; AUC {auc:.3f}", flush=True)
        expect("sanitize" in str(programs) or peak < MEGABYTES_MAX,
               f"the coordinator held {peak:.0f} MB")


def main():
    options = fed.options()
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(options.programs, folder / "keys", SITES + 1)
        return fed.run_cases([("many", many, {"programs": options.programs, "keys": keys})])


if __name__ == "__main__":
    sys.exit(main())
