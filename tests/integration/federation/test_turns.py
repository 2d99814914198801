"""test_turns.py - `learn` looks by turns, and agents and coordinator are killed (kill -9) in both looks and between them.

Five sites and 44 columns of noise beside one that tells: three sites look first, two second. In one case

    in the first look    one agent dies with its answer durable and unsent, one before its answer is durable, and the coordinator
                         when it has counted the others'
    between the looks    the coordinator dies when the first round's record is durable and nobody has heard of it, and all agents
    in the second look   as in the first, other agents

and all are started again. Every round is in the journal once, with every site. Every site looks once and pays once, and its
ledger says the job's epsilon. The states in the coordinator's journal are, bit for bit, those that looks_of_run computes from the
sites' durable answers. In the other case nobody dies.
"""

import random
import signal
import subprocess
import sys

import federation as fed
import journals
import test_kill
from federation import expect

SITES = 5
COLUMNS = [f"c{i}" for i in range(45)]
RECORDS = 60
JOB = """hedgerow: 1
job: turns
data:
  label: {column: ill, positive: "1", negative: "0"}
  features: [%s]
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 2, delta: 0}
cohort: {minimum: 5, records: %d, join_deadline_s: 120, deadline_s: 120, patience_s: 60}
stages:
  - {task: learn}
""" % (", ".join(f"{{column: {column}, centre: 0, half_width: 10}}" for column in COLUMNS), RECORDS)
POLICY = fed.policy_text(epsilon=2, cohort_minimum=5, tasks="[learn]", answer_slot_ms=50)


def table(seed):
    dice = random.Random(seed)
    lines = [",".join(COLUMNS) + ",ill"]
    for _ in range(RECORDS):
        values = [dice.uniform(-9, 9) for _ in COLUMNS]
        lines.append(",".join("%.2f" % value for value in values) + ",%d" % (values[0] + dice.gauss(0, 2) > 0))
    return "\n".join(lines) + "\n"


def build(make, programs, keys):
    federation = make(programs, agents=0, job=JOB, keys=keys, linger_s=30)
    federation.names = [f"site-{i + 1}" for i in range(SITES)]
    for i, name in enumerate(federation.names):
        federation.add_site(name, POLICY, table(i + 1), i + 1)
    federation.admit(federation.names)
    return federation


def run_agents(federation, running, kill_at=None):
    """Starts those who do not run; kill_at: where some die."""
    for name in federation.names:
        if name not in running:
            running[name] = test_kill.start(federation, name, (kill_at or {}).get(name), False)


def bury(running, names):
    for name in names:
        fed.wait_until(lambda name=name: running[name].code() is not None, f"{name} has died")
        expect(running.pop(name).code() == -signal.SIGKILL, f"{name} ended, and was to be killed")


def counted(federation, round_number, name):
    """Whether the coordinator, in any of its lives, has counted the site's answer to the round."""
    return any(entry["event"] == "answer-counted" and entry.get("peer") == name
               and f"round {round_number}" in entry["text"] for entry in federation.events("coordinator"))


def in_a_look(federation, running, round_number, durable, lost, commit):
    """Two agents die, and the coordinator when the others' answers are in its sum. commit: of the answer, in an agent's life."""
    others = [name for name in federation.names if name not in (durable, lost)]
    run_agents(federation, running, {durable: f"commit-after:{commit}", lost: f"commit-before:{commit}"})
    fed.wait_until(lambda: all(counted(federation, round_number, name) for name in others), "three answers are counted")
    bury(running, [durable, lost])
    running["coordinator"].kill()
    del running["coordinator"]


def disturbed(federation, running):
    running["coordinator"] = test_kill.start(federation, "coordinator", None, False)
    in_a_look(federation, running, 1, "site-1", "site-3", 2)  # the job is an agent's first commit
    running["coordinator"] = test_kill.start(federation, "coordinator", "commit-after:1", False)
    run_agents(federation, running)
    bury(running, ["coordinator"])  # the first round's record is durable
    for name in federation.names:
        running.pop(name).kill()
    running["coordinator"] = test_kill.start(federation, "coordinator", None, False)
    in_a_look(federation, running, 2, "site-2", "site-4", 1)
    running["coordinator"] = test_kill.start(federation, "coordinator", None, False)
    run_agents(federation, running)


def undisturbed(federation, running):
    running["coordinator"] = test_kill.start(federation, "coordinator", None, False)
    run_agents(federation, running)


def check_site(federation, name):
    """Its answers in the ledger. Returns in which round it looked."""
    records = journals.read(federation.folder / name / "state")
    expect([record["kind"] for _, record, _ in records] == ["job", "answer", "answer"],
           f"{name}'s journal has {[record['kind'] for _, record, _ in records]}")
    expect(records[0][1]["protocol"] == 9, f"{name} has not kept whose job it is: {records[0][1].get('protocol')}")
    answers = test_kill.answers_of(records)
    expect([answer["round"] for answer in answers] == [0, 1], f"{name} has answered {answers}")
    expect(answers[0]["pass"] == answers[1]["pass"], f"{name} has paid for two passes")
    looks = [answer["round"] for answer in answers if answer.get("row_first", 0) == RECORDS]
    expect(len(looks) == 1, f"{name} looked in rounds {looks}")
    spent = federation.ledger(name)["spent"]["epsilon"]
    expect(spent == 2, f"{name}'s ledger says {spent}")
    return looks[0]


def check_states(federation, records, witnesses):
    """The states in the coordinator's journal are those that follow from the sites' durable answers."""
    answers = {}
    for name, witness in zip(federation.names, witnesses):
        for past in witness.commits():
            for _, record, blob in past:
                if record["kind"] == "answer" and blob is not None:
                    expect(journals.digest(blob) == record["answer"], f"{name}: bytes that are not the digest's")
                    expect(answers.setdefault((record["round"], name), blob) == blob, f"{name} had two answers to a round")
    lines = []
    for record in records:
        lines.append(f"{SITES} {record['records']}")
        lines += [answers[record["round"], name].hex() for name in federation.names]
    done = subprocess.run(federation.command("looks_of_run", federation.office / "job.yml"), input="\n".join(lines) + "\n",
                          stdout=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 0, "looks_of_run failed")
    states = [bytes.fromhex(line) for line in done.stdout.split()]
    kept = [blob for _, record, blob in journals.read(federation.office / "state") if record["kind"] == "round"]
    expect(kept[-1] == states[-1], "the model is not what the sites' answers come to")
    return answers, lines


def check(federation, witnesses):
    records = [record for _, record, _ in journals.read(federation.office / "state")]
    expect([record["kind"] for record in records] == ["job", "round", "round"], f"the journal has {records}")
    looked = {name: check_site(federation, name) for name in federation.names}
    for number, record in enumerate(records[1:]):
        expect(record["round"] == number and record["agents"] == federation.names, f"round {number}: {record}")
        away = [name for name in federation.names if looked[name] != number]
        expect(record["away"] == away, f"round {number}: {record['away']} were away, and it was {away}")
        note = federation.result()["rounds"][number]["said"]
        expect(f"{SITES - len(away)} of {SITES} sites" in note, f"round {number} says: {note}")
    expect(0 < list(looked.values()).count(0) < SITES, f"all sites looked in one round: {looked}")
    for name in ["coordinator"] + federation.names:
        odd = {entry["event"] for entry in federation.events(name)} & {*test_kill.SUSPICIOUS, "job-misdated"}
        expect(not odd, f"{name}'s log has {odd}")
    return check_states(federation, records[1:], witnesses), looked


def case(make, programs, keys, play):
    federation = build(make, programs, keys)
    witnesses = [journals.Witness(federation.folder / name / "state") for name in federation.names]
    running = {}
    try:
        for name in federation.names:  # they make their journals, and wait for a coordinator
            running[name] = test_kill.start(federation, name, None, False)
        for witness in witnesses:
            fed.wait_until(witness.attach, "an agent's journal is there")
        for name in federation.names:
            running.pop(name).kill()
        play(federation, running)
        fed.wait_until(lambda: running["coordinator"].code() is not None, "the job has ended")
        expect(running["coordinator"].code() == 0, f"the coordinator ended with {running['coordinator'].code()}")
        for name in federation.names:
            expect(running[name].wait() == 0, f"{name} ended with {running[name].code()}")
        _, looked = check(federation, witnesses)
        if play is undisturbed:
            expect(list(looked.values()).count(0) == 3, f"not three of five looked first: {looked}")
            swapped = [witnesses[1], witnesses[0], *witnesses[2:]]
            fed.must_fail("a site's answers doubled", check, federation, [witnesses[1], *witnesses[1:]])
            check(federation, swapped)  # sums know no order
    finally:
        for witness in witnesses:
            witness.close()


def main():
    options = fed.options(at_once=(2, "federations at a time"))
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(options.programs, folder / "keys", SITES + 1)
        given = {"programs": options.programs, "keys": keys}
        cases = [("undisturbed", case, {**given, "play": undisturbed}), ("disturbed", case, {**given, "play": disturbed})]
        return fed.run_cases([one for one in cases if options.only in one[0]], options.at_once)


if __name__ == "__main__":
    sys.exit(main())
