"""test_moved.py - jobs that programs of protocol versions 5 to 8 have begun, and that those of today go on with.

tests/vectors/version5 to version8 have the keys and state folders of federations that they left in the middle: all
programs were killed (kill -9). Today's programs have to end each job. Every round must be there once, in order and with every
site. No site may pay twice for a round, or for a round that does not count.

    local      rounds of fit are closed, and others are open
    shared     of `learn`, whose only round all sites had paid for, and none was counted: today columns of such a job would be
               shared out among groups of sites
    central    gradient rounds with noise of the coordinator alone
    masked     masked rounds of four sites
    parts      of version 6: a `correlate`, paid for in parts, where today it has fourth moments
    judged     of version 7: `learn` with steps, the last of which all sites had paid for, and `losses` of five experts. Today the
               look's own model would be a sixth
    number     of version 8: `learn` of a number, three of whose five steps all sites had paid for. Today it would look first, and take
               three

They were made by the programs of commit a0150e76 (version 5), 624bbb18 (version 6), b958be8f (version 7) and
3eb8d20f (version 8):

    python3 -B tests/integration/federation/test_moved.py --programs OLD/build/gcc/bin --write 8
"""

import pathlib
import random
import shutil
import signal
import sqlite3
import sys
import tarfile

import federation as fed
import journals
import test_kill_central
import test_kill_masked
from federation import expect

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors"
LATER = {"parts": 6, "judged": 7, "number": 8}  # the others are of version 5
KEPT = ("key", "key.pub", "state", "peers")  # of a machine's folder; the rest follows from this file
COLUMNS = [f"c{i}" for i in range(12)]
LEARN = """hedgerow: 1
job: shared
data:
  label: {column: ill, positive: "1", negative: "0"}
  features: [%s]
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}
cohort: {minimum: 3, records: 30, join_deadline_s: 120, deadline_s: 120, patience_s: 60}
stages:
  - {task: learn}
""" % ", ".join(f"{{column: {column}, centre: 0, half_width: 10}}" for column in COLUMNS)
PARTS = """hedgerow: 1
job: parts
data:
  label: {column: ill, positive: "1", negative: "0"}
  features: [%s]
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 400, delta: 0}
cohort: {minimum: 3, records: 150, join_deadline_s: 120, deadline_s: 120, patience_s: 60}
stages:
  - {task: query, queries: ["correlate: [c0, c1]", "correlate: [c0, c2] in 8 parts"], batch: 150, share: 1}
""" % ", ".join(f"{{column: {column}, centre: 0, half_width: 10}}" for column in COLUMNS)
JUDGED = LEARN.replace("job: shared", "job: judged").replace("epsilon: 1,", "epsilon: 20,").replace("records: 30,", "records: 150,").replace(
    "  - {task: learn}\n", "  - {task: learn, share: 0.9}\n  - {task: losses, loss: zero_one, share: 0.1}\n")
NUMBER = LEARN.replace("job: shared", "job: number").replace("epsilon: 1,", "epsilon: 10,").replace("records: 30,", "records: 150,").replace(
    '{column: ill, positive: "1", negative: "0"}', "{column: ill, centre: 0, half_width: 20}")
SLOT_MS = 300  # an answer waits for it, so that the programs can be killed in the middle
LONG_SLOT_MS = 3000


def policy(slot_ms=SLOT_MS, more="", **changes):
    return fed.policy_text(answer_slot_ms=slot_ms, **changes) + more


# For each kind: the job, the policy, the sites, the rounds, after how many of them version 5 is killed, and the epsilon that the
# ledger says (None: the noise has no epsilon of its own).
KINDS = {
    "local": (fed.job_text(fits=5, rounds=3), policy(), 3, 8, 3, 1),
    "shared": (LEARN, policy(LONG_SLOT_MS, tasks="[learn]"), 3, 1, 0, 1),
    "central": (test_kill_central.JOB, policy(tasks="[update]", delta="0.000002", trust="central"), 3, test_kill_central.ROUNDS, 2, None),
    "parts": (PARTS, policy(LONG_SLOT_MS, tasks="[query]", epsilon="400"), 3, 1, 0, 400),
    "judged": (JUDGED, policy(LONG_SLOT_MS, tasks="[learn, losses]", epsilon="20"), 3, 5, 3, 20),
    "number": (NUMBER, policy(LONG_SLOT_MS, tasks="[learn]", epsilon="10"), 3, 5, 2, 10),
    "masked": (test_kill_masked.job_text(fits=4), policy(trust="distributed", more="peers: ../peers\ndishonest_minimum: 1\n"), 4, 6, 2, 1),
}


def label_of(kind, score):
    return score if kind == "number" else score > 0


def records(kind, site):
    if kind not in ("shared", "parts", "judged", "number"):
        return fed.records(site)
    dice = random.Random(site)
    lines = [",".join(COLUMNS + ["ill"])]
    for _ in range(30 if kind == "shared" else 150):
        values = [dice.uniform(-9, 9) for _ in COLUMNS]
        lines.append(",".join("%.2f" % value for value in values) + (",%.2f" if kind == "number" else ",%d") % label_of(kind, values[0] + dice.gauss(0, 3)))
    return "\n".join(lines) + "\n"


def make_federation(make, programs, kind):
    job, allows, sites = KINDS[kind][:3]
    federation = make(programs, job=job, policy=allows, agents=sites, linger_s=12)
    for i, name in enumerate(federation.names):
        (federation.folder / name / "data.csv").write_text(records(kind, i + 1))
        federation.describe(name)
    if kind == "masked":
        test_kill_masked.introduce(federation)
    return federation


def version_of(kind):
    return LATER.get(kind, 5)


def take_over(federation, kind):
    """Puts keys and states in place that programs of an earlier version left."""
    with tarfile.open(VECTORS / f"version{version_of(kind)}" / f"{kind}.tar.gz") as archive:
        for member in archive.getmembers():
            path = pathlib.PurePosixPath(member.name)
            expect(not path.is_absolute() and ".." not in path.parts and (member.isfile() or member.isdir()), f"{kind}.tar.gz has {path}")
        archive.extractall(federation.folder)
    federation.admit(federation.names)
    for name in federation.names:
        federation.write_site(name)


def start_all(federation):
    return [federation.start_coordinator()] + [federation.start_agent(name) for name in federation.names]


def rounds_of(federation):
    return [record for _, record, _ in journals.read(federation.office / "state") if record["kind"] == "round"]


def answers_of(federation, name):
    return [record["round"] for _, record, _ in journals.read(federation.folder / name / "state") if record["kind"] == "answer"]


def check(federation, kind):
    rounds, _, cost = KINDS[kind][3:]
    closed = rounds_of(federation)
    expect([one["round"] for one in closed] == list(range(rounds)), f"the rounds are {[one['round'] for one in closed]}")
    for one in closed:
        expect(one["agents"] == federation.names and not one.get("failed"), f"a round is {one}")
    for name in federation.names:
        expect(answers_of(federation, name) == list(range(rounds)), f"{name} has answered {answers_of(federation, name)}")
        spent = federation.ledger(name)["spent"]["epsilon"]
        expect(spent == cost, f"{name} has spent {spent}")
    result = federation.result()
    expect(len(result["rounds"]) == rounds, "result.json tells other rounds")
    experts = [expert["name"] for expert in result["experts"]]
    expect(kind != "judged" or (len(experts) == 5 and not any("look alone" in name for name in experts)), f"the experts are {experts}")


def case(make, programs, kind):
    federation = make_federation(make, programs, kind)
    take_over(federation, kind)
    before = len(rounds_of(federation))
    paid = min(len(answers_of(federation, name)) for name in federation.names)
    expect(before < KINDS[kind][3] and paid > 0, f"version {version_of(kind)} left {before} rounds, and {paid} answers of a site at least")
    for process in start_all(federation):
        expect(process.wait() == 0, f"{process.name} did not end well")
    check(federation, kind)


def planted(make, programs):
    """Planted: a site that has lost its journal pays again."""
    federation = make_federation(make, programs, "local")
    take_over(federation, "local")
    shutil.rmtree(federation.folder / "site-1" / "state")
    for process in start_all(federation):
        expect(process.wait() == 0, f"{process.name} did not end well")
    fed.must_fail("a site without its journal", check, federation, "local")


def is_paid(federation, closed):
    """Whether this many rounds are closed, and every site has answered the next one."""
    try:
        return len(rounds_of(federation)) >= closed and all(len(answers_of(federation, name)) > closed for name in federation.names)
    except sqlite3.OperationalError:
        return False  # a journal is not there yet


def write(programs, version):
    """Runs programs of a version, and keeps what they leave."""
    folder = VECTORS / f"version{version}"
    for kind in [one for one in KINDS if version_of(one) == version]:
        with fed.temporary_folder() as place, make_federation(lambda *given, place=place, **more: fed.Federation(*given, folder=place / "f", **more), programs, kind) as federation:
            processes = start_all(federation)
            fed.wait_until(lambda kind=kind, federation=federation: is_paid(federation, KINDS[kind][4]), f"{kind}: an open round is paid for")
            for process in processes:
                process.signal(signal.SIGKILL)
                process.wait()
            folder.mkdir(exist_ok=True)
            with tarfile.open(folder / f"{kind}.tar.gz", "w:gz") as archive:
                for path in sorted(federation.folder.glob("*/*")) + [federation.folder / "peers"]:
                    if path.name in KEPT and path.exists():
                        archive.add(path, path.relative_to(federation.folder), filter=lambda one: None if one.name.endswith("-shm") else one)
            print(f"{kind}: {len(rounds_of(federation))} rounds")


def main():
    options = fed.options(write=(0, "make the vectors of this version, with its programs"), at_once=(2, "federations at a time"))
    if options.write:
        return write(options.programs, options.write)
    cases = [(f"version {version_of(kind)}: {kind}", case, {"programs": options.programs, "kind": kind}) for kind in KINDS]
    cases.append(("planted", planted, {"programs": options.programs}))
    return fed.run_cases([one for one in cases if fed.is_chosen(one[0], options.only)], at_once=options.at_once)


if __name__ == "__main__":
    sys.exit(main())
