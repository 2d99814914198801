"""test_queue_shared.py - two coordinators share a queue in PostgreSQL, and the one that leads is disturbed in the middle of a job.

Three jobs: the first is disturbed, the second waits for a site that never comes and is cancelled, the third ends. The leader is
killed, or stopped for longer than its lease and woken again; connections are cut, or the server dies and comes back. Whatever
happens, each job runs once: its journal has every round once and in order, each site has exactly one paid answer to each round,
the cancelled job stays cancelled, and both coordinators show the same queue and the same results. Runs under
tests/support/postgres, which gives DATABASE_URL and POSTGRES_FOLDER.

More, by hand: tests/support/postgres python3 -B tests/integration/federation/test_queue_shared.py --programs build/gcc/bin
--seeds 100 --first 1000
"""

import collections
import contextlib
import json
import os
import random
import re
import signal
import sys
import time

import federation as fed
import journals
from federation import expect
from queue_team import COORDINATORS, FITS, ROUNDS, SLOT_MS, SUSPICIOUS, Team, wait_successor
from shared_queue import run
from test_takeover import ask, cut, restart

TAKEOVER_S = 10
STATES = {"first": "done", "second": "cancelled", "third": "done"}


@contextlib.contextmanager
def held_up(team, number):
    """No round of that job closes meanwhile, because one of its agents is stopped."""
    agent = team.agents[team.federation.names[0]]
    agent.signal(signal.SIGSTOP)
    try:
        fed.in_time(team.records(number) <= ROUNDS, "the job was over before it could be disturbed")
        yield fed.wait_until(team.leader, "somebody leads")[0], fed.wait_until(team.term, "the lease has a term")
    finally:
        agent.signal(signal.SIGCONT)


def kill(team, number):
    """kill -9 of the leader; it comes back as one that stands by."""
    with held_up(team, number) as (old, term):
        team.running[old].kill()
        since = time.monotonic()
        wait_successor(team, term)
        fed.in_time(time.monotonic() - since < TAKEOVER_S, f"a takeover took {time.monotonic() - since:.1f} s")
    team.start(old)


def stop(team, number):
    """The leader is stopped for longer than its lease. It wakes up as if it led, while rounds close elsewhere."""
    with held_up(team, number) as (old, term):
        team.running[old].signal(signal.SIGSTOP)
        wait_successor(team, term)
    time.sleep(1)
    team.running[old].signal(signal.SIGCONT)


def check(team, numbers, order=lambda records: records):
    """The journals of jobs and agents, and what both coordinators tell. order: what a planted fault changes."""
    tables = [json.loads(team.patient(i, "jobs", "--json"))["jobs"] for i in range(COORDINATORS)]
    expect(tables[0] == tables[1], f"two machines tell another queue: {tables}")
    table = {job["job"]: job for job in tables[0]}
    expect({name: table[name]["state"] for name in table} == STATES and len(tables[0]) == 3, f"the queue says {tables[0]}")
    expect({name: table[name]["number"] for name in table} == numbers, f"the numbers are {table}")
    ran = {}
    for name, number in numbers.items():
        records = order(team.kept(number))
        kinds = [record["kind"] for record in records]
        wanted = 1 if name == "second" else ROUNDS
        expect(kinds == ["job"] + ["round"] * wanted, f"{name}: its journal holds {kinds}")
        expect([one["round"] for one in records[1:]] == list(range(wanted)), f"{name}: rounds {records[1:]}")
        ran[records[0]["job"]] = name
        if name == "second":
            expect(records[1].get("failed") and b"cancelled by " in records[1]["cause"], f"the cancellation: {records[1]}")
            continue
        expect(all(sorted(one["agents"]) == team.federation.names and not one.get("failed") for one in records[1:]), f"{name}: who answered")
        outs = [team.federation.folder / f"{name}-{i}-{time.monotonic_ns()}" for i in range(COORDINATORS)]
        for i, out in enumerate(outs):
            team.patient(i, "result", number, "--out", out)
        texts = [(out / "result.json").read_text() for out in outs]
        expect(texts[0] == texts[1] and json.loads(texts[0])["job"] == name, f"{name}: two machines have other results")
        expect((outs[0] / "model.json").read_bytes() == (outs[1] / "model.json").read_bytes(), f"{name}: another model")
    expect(len(ran) == 3, f"jobs under one name: {ran}")
    for site in team.federation.names:
        check_site(team, site, ran)
    for i in range(COORDINATORS):
        odd = {entry["event"] for entry in team.federation.events(team.name(i))} & SUSPICIOUS
        expect(not odd, f"{team.name(i)}'s log has {odd}")


def check_site(team, site, ran):
    answers = collections.defaultdict(list)
    for _, record, _ in journals.read(team.federation.folder / site / "state"):
        if record["kind"] == "answer":
            expect(record["job"] in ran, f"{site} answered a job that the queue does not know")
            answers[ran[record["job"]]].append(record["round"])
    expect(dict(answers) == {"first": list(range(ROUNDS)), "third": list(range(ROUNDS))}, f"{site} has answered {dict(answers)}")
    expect(team.federation.ledger(site)["spent"]["epsilon"] == 2, f"{site} has not spent what the two jobs cost")


def carry_out(team, at, ways, dice):
    """at: how far the first job is when the first disturbance comes."""
    numbers = {"first": team.submit(1, "first"), "second": team.submit(0, "second")}  # one leads, the other does not
    for i, way in zip(at, ways):
        fed.wait_until(lambda i=i: team.records(numbers["first"]) >= i, f"the first job has {i} records")
        time.sleep(dice.uniform(0, SLOT_MS / 1000))
        way(team, *([numbers["first"]] if way in (kill, stop) else []))
    numbers["third"] = json.loads(team.patient(dice.randrange(COORDINATORS), "submit", team.file("third"), "--json"))["number"]
    team.until(0, numbers["second"], "running")
    team.patient(1, "cancel", numbers["second"])
    for name, state in STATES.items():
        team.until(dice.randrange(COORDINATORS), numbers[name], state)
    return numbers


def case(make, programs, seed, ways):
    dice = random.Random(seed)
    team = Team(make, programs, f"queue_{seed}")
    team.start_all()
    numbers = carry_out(team, sorted(dice.sample(range(2, FITS), len(ways))), ways, dice)
    team.stop()
    check(team, numbers)


def planted(make, programs):
    """Would the checks notice a round that is lost, doubled or out of order, an answer too many, or a job that nobody knows?"""
    team = Team(make, programs, "queue_planted")
    team.start_all()
    numbers = carry_out(team, [], [], random.Random(1))
    team.stop()
    check(team, numbers)
    fed.must_fail("a round is lost", check, team, numbers, lambda rows: rows[:3] + rows[4:])
    fed.must_fail("a round is doubled", check, team, numbers, lambda rows: rows[:3] + rows[2:])
    fed.must_fail("two rounds are swapped", check, team, numbers, lambda rows: rows[:2] + rows[3:4] + rows[2:3] + rows[4:])
    fed.must_fail("a job that nobody submitted", check_site, team, team.federation.names[0], {})
    answered = {record["job"] for _, record, _ in journals.read(team.federation.folder / team.federation.names[0] / "state")
                if record["kind"] == "answer"}
    fed.must_fail("answers to a job that was cancelled", check_site, team, team.federation.names[0], {job: "second" for job in answered})


def damaged(make, programs):
    """A journal that is damaged, or gone, stops its own job alone; also where another coordinator takes over meanwhile."""
    team = Team(make, programs, f"damaged_{os.getpid()}")
    team.start_all()
    first = team.submit(0, "first")
    fed.wait_until(lambda: team.records(first) >= 2, "the first job has two records")
    with held_up(team, first) as (old, term):
        team.running[old].kill()
        team.damage(first)
        wait_successor(team, term)
    other = team.federation.wait_event(team.name(1 - old), "job-set-aside")
    expect(other["job"] == first and "database hedgerow at" in other["text"], f"what is told: {other}")
    team.start(old)
    third = team.submit(old, "third")
    team.until(old, third, "done")
    gone = team.submit(old, "second")
    team.until(1 - old, gone, "running")
    ask(team.url, f"DROP SCHEMA {team.schema}_job_{gone} CASCADE; SELECT 1")
    term = team.term()
    team.running[1 - old].kill()
    wait_successor(team, term)
    fed.wait_until(lambda: [entry for entry in team.federation.events(team.name(old)) if entry["event"] == "job-unreadable" and entry.get("job") == gone],
                   "the job whose journal is gone is passed over")
    expect("its journal is gone" in team.status(old, gone)["because"], f"the job: {team.status(old, gone)}")
    expect(team.records(gone) == 0, "it has begun again")
    last = team.submit(old, "third")
    team.until(old, last, "done")
    for site in team.federation.names:  # rounds of all jobs; of the damaged job those before the damage
        spent = team.federation.ledger(site)["spent"]["epsilon"]
        expect(2 <= spent <= 3, f"{site} has spent {spent}")
    team.running.pop(1 - old)
    team.stop()


def away(make, programs):
    """The database is away at the start, and while nothing runs. The coordinator tries again, and logs
    it once."""
    team = Team(make, programs, f"away_{os.getpid()}")
    settings = team.settings(0).read_text()
    team.settings(0).write_text(re.sub(r"host=[^&\"]*", "host=/nowhere", settings))
    team.start(0)
    team.federation.wait_event(team.name(0), "database-away")
    team.running[0].signal(signal.SIGTERM)
    expect(team.running[0].wait() == 0, "one that waits for a database did not end after SIGTERM")
    team.settings(0).write_text(settings)
    team.start_all()
    restart(team)
    number = json.loads(team.patient(1, "submit", team.file("first"), "--json"))["number"]
    team.until(0, number, "done")
    team.stop()


if __name__ == "__main__":
    sys.exit(run((planted, damaged), (away,), case,
                 ([kill], [stop], [cut], [restart], [kill, stop], [stop, cut], [restart, kill], [cut, stop, kill])))
