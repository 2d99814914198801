"""test_takeover.py - three coordinators share a journal in PostgreSQL, and the one that leads is disturbed in mid-job.

It is killed, stopped for longer than its lease and woken again, its connections are cut, or the server dies and comes
back. Whatever happens, the job must end as if nothing had: the shared journal has every round once, in order, with every
agent; each agent has paid once for each round; every coordinator ends with the same result. Runs under
tests/support/postgres, which gives DATABASE_URL and POSTGRES_FOLDER.

More seeds, by hand, and others: tests/support/postgres python3 -B tests/integration/federation/test_takeover.py
--programs build/gcc/bin --seeds 100 --first 1000
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.parse

import federation as fed
import journals
import test_face
from federation import expect
from libpq import psql

COORDINATORS = 3
FITS = 8
LOSSES = 3
ROUNDS = FITS + LOSSES
SLOT_MS = 500  # a fit's answer waits for it, so that a job lasts long enough to be disturbed
LEASE_S = 6
HELD_S = 4
TAKEOVER_S = 10
JOB = fed.job_text(fits=FITS, rounds=LOSSES).replace("patience_s: 60", "patience_s: 600")
POLICY = fed.policy_text(answer_slot_ms=SLOT_MS)


def ask(url, command):
    """What the server answers; another case may be killing it just now."""
    return fed.wait_until(lambda: psql(url, command), f"the server does: {command}", seconds=60)


class Team:
    """A federation whose coordinators, 0, 1 and 2, share a key, an allow-list, a job and a journal."""

    def __init__(self, make, programs, schema, **changes):
        schema = f"{schema}_{time.monotonic_ns()}"  # a case that came too late is tried again in an empty one
        self.url = f"{os.environ['DATABASE_URL']}&options={urllib.parse.quote('-csearch_path=' + schema)}"
        ask(self.url, f"CREATE SCHEMA IF NOT EXISTS {schema}; SELECT 1")
        self.federation = make(programs, **{"job": JOB, "policy": POLICY, "linger_s": 2, "lines": True, **changes})
        self.running = {}
        base = self.federation.address
        host, port = base.rsplit(":", 1)
        self.addresses = [f"{host}:{int(port) + 20000 * i}" for i in range(COORDINATORS)]
        self.federation.address = " ".join(self.addresses)
        for name in self.federation.names:
            self.federation.write_site(name)
        settings = (self.federation.office / "coordinator.yml").read_text()
        for i in range(COORDINATORS):
            (self.federation.office / f"coordinator-{i}.yml").write_text(
                settings.replace(base, self.addresses[i]).replace("state: state", f'state: "{self.url}"')
                .replace("out: out", f"out: out-{i}"))

    def name(self, i):
        return f"coordinator-{i}"

    def start(self, i):
        self.running[i] = self.federation.start(self.name(i), self.federation.command(
            "hedgerow-coordinator", "run", "--config", self.federation.office / f"{self.name(i)}.yml"))

    def start_all(self):
        """The first coordinator leads, the others stand by."""
        self.start(0)
        self.federation.wait_event(self.name(0), "leading")
        for i in range(1, COORDINATORS):
            self.start(i)
        self.agents = {name: self.federation.start_agent(name) for name in self.federation.names}

    def records(self):
        said = psql(self.url, "SELECT count(*) FROM hedgerow_record")
        return int(said) if said else 0

    def wait_records(self, count):
        fed.wait_until(lambda: self.records() >= count, f"the journal has {count} records")

    def leader(self):
        """Who leads by the lease's row, in a list; [] where nobody does now."""
        said = psql(self.url, "SELECT holder FROM hedgerow_lease WHERE until > clock_timestamp()")
        for i, process in self.running.items():
            if said and said.strip().endswith(f"process {process.popen.pid}"):
                return [i]
        return []

    def term(self):
        said = psql(self.url, "SELECT term FROM hedgerow_lease")
        return int(said) if said else None

    def finish(self):
        for i in range(COORDINATORS):
            expect(self.running[i].wait() == 0, f"coordinator {i} did not end well")
        for name, process in self.agents.items():
            expect(process.wait() == 0, f"{name} did not end well")


@contextlib.contextmanager
def held_up(team):
    """No round closes meanwhile, because an agent is stopped."""
    agent = team.agents[team.federation.names[0]]
    agent.signal(signal.SIGSTOP)
    try:
        fed.in_time(team.records() <= ROUNDS, "the job was over before it could be disturbed")
        # Another case may restart the server between the two questions.
        yield fed.wait_until(team.leader, "somebody leads")[0], fed.wait_until(team.term, "the lease has a term")
    finally:
        agent.signal(signal.SIGCONT)


def wait_successor(team, term):
    fed.wait_until(lambda: (team.term() or 0) > term, "another one leads", seconds=60)


def kill(team):
    """kill -9 of the leader; it comes back as one that stands by."""
    with held_up(team) as (old, term):
        team.running[old].kill()
        since = time.monotonic()
        wait_successor(team, term)
        fed.in_time(time.monotonic() - since < TAKEOVER_S, f"a takeover took {time.monotonic() - since:.1f} s")
    team.start(old)


def stop(team):
    """The leader is stopped for longer than its lease. It wakes up as if it led, while rounds close elsewhere."""
    with held_up(team) as (old, term):
        team.running[old].signal(signal.SIGSTOP)
        wait_successor(team, term)
    time.sleep(1)
    team.running[old].signal(signal.SIGCONT)


def cut(team):
    """The server ends every connection."""
    for _ in range(5):
        psql(team.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                       " WHERE application_name = 'hedgerow-coordinator'")
        time.sleep(0.2)


def restart(_):
    """The server dies and recovers: every federation of this test is struck."""
    done = subprocess.run([os.environ["POSTGRES_FOLDER"] + "/restart"], check=False)
    expect(done.returncode == 0, "the server did not start again")


def has_database():
    """Whether the test runs beside a server; if not, it says what to do."""
    if "DATABASE_URL" not in os.environ:
        print("no DATABASE_URL: run this under tests/support/postgres")
        return False
    return True


def seed_ways(first, count, every):
    """The cases that are disturbed: of each seed its name and its ways, which come by turns."""
    for seed in range(first, first + count):
        ways = every[seed % len(every)]
        yield seed, ways, f"seed {seed}: {' '.join(way.__name__ for way in ways)}"


def check_sites(team, rounds):
    """Each site has answered each round once, and has spent what the job costs."""
    for name in team.federation.names:
        answers = [record for _, record, _ in journals.read(team.federation.folder / name / "state")
                   if record["kind"] == "answer"]
        expect([answer["round"] for answer in answers] == list(range(rounds)), f"{name} has answered {answers}")
        expect(team.federation.ledger(name)["spent"]["epsilon"] == 1, f"{name} has not spent what the job costs")


def check(team, order=None):
    """The shared journal, the agents' journals and the results. order: what a planted fault changes."""
    rows = ask(team.url, "SELECT encode(body, 'hex') FROM hedgerow_record ORDER BY sequence").split()
    records = [journals.record(bytes.fromhex(row)) for row in (order(rows) if order else rows)]
    kinds = [record["kind"] for record in records]
    expect(kinds == ["job"] + ["round"] * ROUNDS, f"the shared journal holds {kinds}")
    for number, record in enumerate(records[1:]):
        expect(record["round"] == number and not record.get("failed"), f"record {number + 1} is {record}")
        expect(record["agents"] == team.federation.names, f"round {number} counted {record['agents']}")
    check_sites(team, ROUNDS)
    results = [json.loads((team.federation.office / f"out-{i}" / "result.json").read_text()) for i in range(COORDINATORS)]
    for one in results[1:]:
        expect(one["experts"] == results[0]["experts"], "two coordinators published different experts")
        expect([r["agents"] for r in one["rounds"]] == [len(team.federation.names)] * ROUNDS, "a result tells other rounds")


def case(make, programs, seed, ways):
    """One job; what disturbs it, and when, follow from the seed."""
    dice = random.Random(seed)
    team = Team(make, programs, f"takeover_{seed}")
    team.start_all()
    for at in sorted(dice.sample(range(2, FITS), len(ways))):
        team.wait_records(at)
        time.sleep(dice.uniform(0, SLOT_MS / 1000))
        dice.choice(ways)(team)
    team.finish()
    check(team)


def planted(make, programs):
    """Would the checks notice a round that is lost, doubled or out of order?"""
    team = Team(make, programs, "takeover_planted")
    team.start_all()
    team.finish()
    check(team)
    fed.must_fail("a round is lost", check, team, lambda rows: rows[:4] + rows[5:])
    fed.must_fail("a round is doubled", check, team, lambda rows: rows[:5] + rows[4:])
    fed.must_fail("two rounds are swapped", check, team, lambda rows: rows[:4] + [rows[5], rows[4]] + rows[6:])


def hold(team):
    """Begins to hold the next record for a moment: another session has one of its number, which it takes back. None where one
    came in just then."""
    session = subprocess.Popen(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", team.url], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    session.stdin.write(f"BEGIN; INSERT INTO hedgerow_record SELECT max(sequence) + 1, '', 0, '', '' FROM hedgerow_record;\n"
                        f"SELECT 'held';\nSELECT pg_sleep({HELD_S});\nROLLBACK;\n".encode())
    session.stdin.close()
    if session.stdout.readline() == b"held\n":
        return session
    session.wait()
    session.stdout.close()
    return None


def late(make, programs):
    """The leader is stopped with a record on its way, for longer than its lease: that is there when it wakes up, and another one
    leads. It stands by then."""
    team = Team(make, programs, "takeover_late")
    team.start_all()
    team.wait_records(2)
    session = fed.wait_until(lambda: hold(team), "the next record is held")
    old, term = fed.wait_until(team.leader, "somebody leads")[0], team.term()
    waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'hedgerow_record'::regclass)"
    fed.wait_until(lambda: psql(team.url, waits) or session.poll() is not None, "a record waits")
    team.running[old].signal(signal.SIGSTOP)
    fed.in_time(session.poll() is None, "the record was there before its leader was stopped")
    session.wait()
    session.stdout.close()
    wait_successor(team, term)
    team.running[old].signal(signal.SIGCONT)
    team.federation.wait_event(team.name(old), "standing-by")
    team.finish()
    check(team)


def central(make, programs):
    """Under central trust the coordinator draws the noise. If the database went back to an older state, it would draw
    again. So it refuses such a job before it waits for agents."""
    team = Team(make, programs, "takeover_central")
    job = team.federation.office / "job.yml"
    job.write_text(job.read_text().replace("trust: local", "trust: central").replace("own: true, ", "")
                   .replace("minimum: 3", "minimum: 3\n  records: 30"))
    team.start(0)
    expect(team.running[0].wait() == 3, "a database was taken for the journal of a trusted coordinator")
    expect("put back to an older state" in team.federation.said(team.name(0)), "the reason is not told")


def pages_say_who_leads(make, programs):
    """A supervisor sees that all are healthy, and that only the leader is ready. A page does not tell the size of a
    journal on another machine."""
    team = Team(make, programs, f"pages_{os.getpid()}")
    for i in range(COORDINATORS):
        path = team.federation.office / f"{team.name(i)}.yml"
        path.write_text(path.read_text() + 'http: {listen: "127.0.0.1:0"}\n')
    team.start_all()
    places = [test_face.port_of(team.federation, team.name(i)) for i in range(COORDINATORS)]
    team.federation.wait_event(team.name(1), "standing-by")

    def said(path):
        return [test_face.ask(place, path)[:2] for place in places]
    fed.wait_until(lambda: said("/readyz") == [(200, "ok\n"), (503, "standing by\n"), (503, "standing by\n")], "the first one is ready")
    expect(said("/healthz") == [(200, "ok\n"), (200, "standing by\n"), (200, "standing by\n")], f"health: {said('/healthz')}")
    expect("hedgerow_journal_bytes" not in test_face.ask(places[0], "/metrics")[1], "the size of a journal that is not here")
    expect("hedgerow_build_info" in test_face.ask(places[1], "/metrics")[1], "one that stands by has no figures")
    team.running[0].kill()
    places.pop(0)
    fed.wait_until(lambda: sorted(said("/readyz")) == [(200, "ok\n"), (503, "standing by\n")], "another one is ready", TAKEOVER_S + 10)
    team.start(0)
    team.finish()


def main():
    options = fed.options(at_once=(3, "federations at a time"), seeds=(8, "disturbed jobs"), first=(0, "the first seed"))
    if not has_database():
        return 77
    cases = [("planted", planted, {"programs": options.programs}), ("central", central, {"programs": options.programs}),
             ("late", late, {"programs": options.programs}), ("pages", pages_say_who_leads, {"programs": options.programs})]
    every = [[kill], [stop], [cut], [restart], [kill, stop], [stop, cut], [restart, kill], [cut, restart, stop]]
    cases += [(name, case, {"programs": options.programs, "seed": seed, "ways": ways})
              for seed, ways, name in seed_ways(options.first, options.seeds, every)]
    return fed.run_cases([one for one in cases if fed.is_chosen(one[0], options.only)], at_once=options.at_once)


if __name__ == "__main__":
    sys.exit(main())
