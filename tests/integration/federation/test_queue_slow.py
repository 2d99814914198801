"""test_queue_slow.py - a database that is slow for one job of a queue: the other jobs of the process go on.

Two jobs run beside each other. A record of the first one waits at the server, as another session has a record of the same number
that it takes back in the end. Meanwhile the second job gains rounds, the lease is kept, and nobody hears of the round whose
record waits. The record comes back late: after its job was cancelled, after its coordinator lost the lead or was killed, or while
it stops. Whatever happens, each journal has every round once and in order, and each site has one paid answer to each round. Runs
under tests/support/postgres, which gives DATABASE_URL and POSTGRES_FOLDER.
"""

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import federation as fed
import journals
import test_face
from federation import expect
from queue_team import SUSPICIOUS, Team, wait_successor
from test_takeover import ask, has_database, psql

HELD_S = 6  # longer than a lease lasts, and shorter than the 8 s that a statement may take
SLOT_MS = 100
FITS = {"first": 30, "second": 100}
LOSSES = 2
LEAST = 10  # rounds of the second job while the first one's record waits
ASKS = {"first": ("site-1", "site-2"), "second": ("site-3",)}
ANSWERED_S = 2  # the page, meanwhile
TAKEN_S = 6  # what the queue has is looked at each second, and a statement may take 8 s
ENDED_S = 20  # a stop waits for the record; on a machine that does other things too


def text_of(name):
    text = fed.job_text(minimum=len(ASKS[name]), fits=FITS[name], rounds=LOSSES).replace("job: trial", f"job: {name}")
    text = text.replace("patience_s: 60", "patience_s: 600").replace("join_deadline_s: 120", "join_deadline_s: 600")
    return text.replace("cohort:\n", f"cohort:\n  agents: [{', '.join(ASKS[name])}]\n")


class SlowTeam(Team):
    """Its two jobs ask different sites."""

    def __init__(self, make, programs, schema):
        super().__init__(make, programs, f"{schema}_{os.getpid()}")
        for name in self.federation.names:
            (self.federation.folder / name / "policy.yml").write_text(fed.policy_text(epsilon=9, answer_slot_ms=SLOT_MS))
        self.numbers = {}

    def text(self, name, **_):
        return text_of(name)

    def begin(self, coordinators=1):
        self.start(0)
        self.federation.wait_event(self.name(0), "leading")
        if coordinators > 1:
            self.start(1)
            self.federation.wait_event(self.name(1), "standing-by")
        for name in ASKS:
            self.numbers[name] = self.submit(0, name)
        self.agents = {name: self.federation.start_agent(name) for name in self.federation.names}
        for number in self.numbers.values():
            fed.wait_until(lambda number=number: self.records(number) >= 3, f"job {number} has two rounds")

    def rounds(self, name):
        return self.kept(self.numbers[name])[1:]

    def answers(self, site, name):
        """The rounds of a job that a site has answered."""
        rows = psql(self.url, f"SELECT encode(body, 'hex') FROM {self.schema}_job_{self.numbers[name]}.hedgerow_record WHERE sequence = 1").split()
        job = journals.record(bytes.fromhex(rows[0]))["job"]
        return [record["round"] for _, record, _ in journals.read(self.federation.folder / site / "state")
                if record["kind"] == "answer" and record["job"] == job]


def hold(team, seconds):
    """Begins to hold the first job's next record. Returns how many records there are, and the session; None where one came in just then."""
    table = f"{team.schema}_job_{team.numbers['first']}.hedgerow_record"
    script = (f"BEGIN; INSERT INTO {table} SELECT max(sequence) + 1, '', 0, '', '' FROM {table};\n"
              f"SELECT 'held', count(*) - 1 FROM {table};\nSELECT pg_sleep({seconds});\nROLLBACK;\n")
    session = subprocess.Popen(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", team.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    session.stdin.write(script.encode())
    session.stdin.close()
    said = session.stdout.readline().decode().strip()
    if said.startswith("held|"):
        return int(said.split("|")[1]), session
    end(session)
    expect("duplicate key" in said, f"the session that holds a record said: {said}")
    return None


def end(session):
    session.kill()
    session.wait()
    session.stdout.close()


@contextlib.contextmanager
def held(team, seconds=HELD_S):
    """The first job's next record waits from now on, for some seconds. Yields how many records the job has, and the session that
    holds the next one."""
    records, session = fed.wait_until(lambda: hold(team, seconds), "the next record is held")
    try:
        fed.in_time(records <= FITS["first"], "the job was over before its next record was held")
        fed.wait_until(lambda: waits(team), "a record waits")
        yield records, session
    finally:
        end(session)


def waits(team):
    """Whether a record waits at the server: a session that writes the job's records waits for a lock."""
    return psql(team.url, "SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_locks"
                          f" WHERE relation = '{team.schema}_job_{team.numbers['first']}.hedgerow_record'::regclass)")


def check_meanwhile(team, records, is_held=waits):
    """No site knows the round whose record waits: none has answered the round after it. Returns whether the record still
    waits."""
    there = team.records(team.numbers["first"])
    latest = {site: max(team.answers(site, "first")) for site in ASKS["first"]}
    if not is_held(team):
        return False
    expect(there == records, "the record that waits is there")
    for site, answered in latest.items():
        expect(answered <= records - 1, f"{site} has answered round {answered} with {records} records in the journal")
    return True


def check(team, cancelled=False):
    """The journals of jobs and sites."""
    for name, sites in ASKS.items():
        rounds = team.rounds(name)
        whole = [one for one in rounds if not one.get("failed")]
        failed = rounds[len(whole):]
        expect([one["round"] for one in rounds] == list(range(len(rounds))), f"{name}: rounds {rounds}")
        expect(all(sorted(one["agents"]) == sorted(sites) for one in whole), f"{name}: who answered")
        if name == "first" and cancelled:
            expect(len(failed) == 1 and b"cancelled by " in failed[0]["cause"], f"{name}: the cancellation: {failed}")
        else:
            expect(len(whole) == FITS[name] + LOSSES and not failed, f"{name}: {len(whole)} rounds, {failed}")
        for site in sites:
            twice = [one for one, times in collections.Counter(team.answers(site, name)).items() if times > 1]
            expect(not twice, f"{site} has answered rounds {twice} of {name} twice")
            expect(team.federation.ledger(site)["spent"]["epsilon"] <= 1, f"{site} has paid more than the job costs")
    for i in team.running:
        odd = {entry["event"] for entry in team.federation.events(team.name(i))} & (SUSPICIOUS | {"step-failed"})
        expect(not odd, f"{team.name(i)}'s log has {odd}")


def finish(team, states):
    for name, state in states.items():
        team.until(0, team.numbers[name], state)
    for process in team.running.values():
        process.signal(signal.SIGTERM)
        expect(process.wait() == 0, "a coordinator did not end well after SIGTERM")


DONE = {"first": "done", "second": "done"}


def beside(make, programs):
    """Planted: the loop wrote the record itself, and all jobs waited for it."""
    team = SlowTeam(make, programs, "beside")
    team.begin()
    place = test_face.port_of(team.federation, team.name(0))
    term = team.term()
    with held(team) as (records, _):
        before = team.records(team.numbers["second"])
        slowest = 0.0
        seen = before
        while check_meanwhile(team, records):
            seen = team.records(team.numbers["second"])
            since = time.monotonic()
            expect(test_face.ask(place, "/healthz")[0] == 200, "the page is not healthy")
            slowest = max(slowest, time.monotonic() - since)
            time.sleep(0.1)
    fed.in_time(seen < FITS["second"], "the second job was over before the record was written")
    print(f"rounds of the other job while a record waited {HELD_S} s: {seen - before}; the page's slowest answer {slowest:.2f} s", flush=True)
    fed.in_time(seen - before >= LEAST, f"the other job gained {seen - before} rounds")
    fed.in_time(slowest < ANSWERED_S, f"the page answered after {slowest:.1f} s")
    finish(team, DONE)
    expect(team.term() == term, "the lead was lost")
    check(team)


@contextlib.contextmanager
def held_by(team, script):
    """Another session performs the script and keeps its locks. Yields what takes them back."""
    session = subprocess.Popen(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", team.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    name = f"holder of {team.schema}"
    session.stdin.write(f"SET application_name = '{name}'; BEGIN; {script};\nSELECT 'held';\nSELECT pg_sleep(600);\n".encode())
    session.stdin.close()

    def release():
        psql(team.url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'")

    try:
        while (said := session.stdout.readline().decode()).strip() != "held":
            expect(said != "", "nothing is held")
        yield release
    finally:
        release()
        end(session)


def gains(team, release, waiting):
    """While a statement of the first job waits, for as long as it may, the second one gains rounds and the page answers."""
    place = test_face.port_of(team.federation, team.name(0))
    fed.wait_until(lambda: psql(team.url, waiting), "a statement of the first job waits")
    before = seen = team.records(team.numbers["second"])
    slowest, began = 0.0, time.monotonic()
    while time.monotonic() < began + HELD_S:
        since = time.monotonic()
        expect(test_face.ask(place, "/healthz")[0] == 200, "the page is not healthy")
        slowest = max(slowest, time.monotonic() - since)
        seen = team.records(team.numbers["second"])
        time.sleep(0.1)
    waits_yet = psql(team.url, waiting)
    release()
    print(f"rounds of the other job while the first one's statement waited {HELD_S} s: {seen - before}; the page's slowest answer"
          f" {slowest:.2f} s", flush=True)
    fed.in_time(waits_yet, "the statement was refused meanwhile")
    fed.in_time(slowest < ANSWERED_S, f"the page answered after {slowest:.1f} s")
    fed.in_time(seen - before >= LEAST, f"the other job gained {seen - before} rounds")


def begin_and_end(team, script, waiting):
    """The script's locks are held from before the first job's end: its rounds need none of them."""
    team.begin()
    first = team.numbers["first"]
    with held_by(team, script.format(first=first)) as release:
        gains(team, release, waiting)
    finish(team, DONE)
    check(team)


class Download(threading.Thread):
    """Somebody downloads a file of a job's results meanwhile."""

    def __init__(self, place, path):
        super().__init__(daemon=True)
        self.place, self.path, self.got = place, path, None
        self.start()

    def run(self):
        self.got = test_face.ask(self.place, self.path)


def download(make, programs):
    """The first job is over, and its results are asked for while the server holds the table that has them. The port answers others
    meanwhile, and the file comes whole in the end. Planted: the loop read it, and all jobs waited."""
    team = SlowTeam(make, programs, "download")
    team.begin()
    first = team.numbers["first"]
    place = test_face.port_of(team.federation, team.name(0))
    path = f"/results/{first}/result.json"
    code, whole, _ = fed.wait_until(lambda: (lambda got: got if got[0] == 200 else None)(test_face.ask(place, path)), "the result is there")
    expect(code == 200 and json.loads(whole)["job"] == "first", f"a download: {code} {whole[:200]}")
    with held_by(team, "LOCK TABLE hedgerow_result IN ACCESS EXCLUSIVE MODE") as release:
        downloads = [Download(place, path), Download(place, f"/results/{first}/model.json")]
        gains(team, release, WAITING.format("%hedgerow_result%"))
        expect(all(one.got is None for one in downloads), f"a file came while its table was held: {[one.got for one in downloads]}")
    for one in downloads:
        one.join(90)
        expect(one.got is not None and one.got[0] == 200, f"{one.path}: {one.got}")
    expect(downloads[0].got[1] == whole, "the file differs from what was there before")
    finish(team, DONE)
    check(team)


WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '{}'"


def results(make, programs):
    """Planted: the loop wrote a job's results and its end, and all jobs waited."""
    begin_and_end(SlowTeam(make, programs, "results"), "LOCK TABLE hedgerow_result IN SHARE MODE",
                  WAITING.format("%INTO hedgerow_result%"))


def filing(make, programs):
    begin_and_end(SlowTeam(make, programs, "filing"), "SELECT FROM hedgerow_job WHERE number = {first} FOR UPDATE",
                  WAITING.format("%SET ending%"))


def chosen_meanwhile(make, programs):
    """The end of the first job waits at the server. A third job is submitted meanwhile: it asks a site that is free, so it is taken.
    Planted: the end was written on the connection with which jobs are chosen, by two threads at once."""
    team = SlowTeam(make, programs, "chosen")
    team.begin()
    term = team.term()
    path = team.federation.folder / "third.yml"
    path.write_text(text_of("first").replace("job: first", "job: third").replace("[site-1, site-2]", "[site-4]").replace("minimum: 2", "minimum: 1"))
    with held_by(team, f"SELECT FROM hedgerow_job WHERE number = {team.numbers['first']} FOR UPDATE") as release:
        waiting = WAITING.format("%SET ending%")
        fed.wait_until(lambda: psql(team.url, waiting), "the first job's end waits")
        number = json.loads(team.command(0, "submit", path, "--json"))["number"]
        fed.wait_until(lambda: [entry for entry in team.federation.events(team.name(0)) if entry["event"] == "job-taken"
                                and entry["text"].startswith(f"job {number} ")], "the third job is taken", seconds=TAKEN_S)
        fed.in_time(psql(team.url, waiting), "the end was written or refused meanwhile")
        release()
    team.patient(0, "cancel", number)
    finish(team, DONE)
    expect(team.term() == term, "the lead was lost")
    check(team)


def opening(make, programs):
    """Planted: the loop opened a job's journal, and connected to the queue. A session that makes tables, or looks for them, waits
    for the same lock."""
    team = SlowTeam(make, programs, "opening")
    team.begin()
    team.submit(0, "first")  # it begins when the first one ends
    with held_by(team, "SELECT pg_advisory_xact_lock(7522713, 1)") as release:
        gains(team, release, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    finish(team, DONE)


def late_cancelled(make, programs):
    """The job is cancelled while its record waits. The round counts, as its record is in the journal, and the job ends
    after it."""
    team = SlowTeam(make, programs, "cancelled")
    team.begin()
    with held(team, seconds=7) as (records, session):
        team.patient(0, "cancel", team.numbers["first"])
        fed.in_time(waits(team), "the record was written before the job was cancelled")
        check_meanwhile(team, records)
        session.wait()
    finish(team, {"first": "cancelled", "second": "done"})
    rounds = team.rounds("first")
    expect(len(rounds) == records + 1 and not rounds[records - 1].get("failed"), f"the cancelled job has {rounds}")
    check(team, cancelled=True)


def late_lost(make, programs):
    """The leader is stopped while a record waits, until another one leads. It wakes up with the server's answer, and says nothing."""
    team = SlowTeam(make, programs, "lost")
    team.begin(coordinators=2)
    term = team.term()
    with held(team) as (records, session):
        fed.in_time(check_meanwhile(team, records), "the record was written before the leader was disturbed")
        team.running[0].signal(signal.SIGSTOP)
        session.wait()
        wait_successor(team, term)
    first = team.numbers["first"]
    expect(team.records(first) >= records + 1, "the record that had begun is gone, and its round is asked for again")
    time.sleep(1)
    team.running[0].signal(signal.SIGCONT)
    fed.wait_until(lambda: len([1 for entry in team.federation.events(team.name(0)) if entry["event"] == "standing-by"]) > 0,
                   "the old one stands by")
    finish(team, DONE)
    check(team)


def killed(make, programs):
    """kill -9 of the leader while a record waits: its statement ends with it, and another one leads both jobs on."""
    team = SlowTeam(make, programs, "killed")
    team.begin(coordinators=2)
    term = team.term()
    with held(team) as (records, _):
        fed.in_time(check_meanwhile(team, records), "the record was written before the leader was disturbed")
        team.running[0].kill()
        wait_successor(team, term)
    team.start(0)
    finish(team, DONE)
    check(team)


def stopped(make, programs):
    """A stop waits for the record, and gives the lead back."""
    team = SlowTeam(make, programs, "stopped")
    team.begin()
    with held(team) as (records, _):
        fed.in_time(check_meanwhile(team, records), "the record was written before the stop")
        since = time.monotonic()
        team.running[0].signal(signal.SIGTERM)
        expect(team.running[0].wait() == 0, "a stop while a record waits did not end well")
        fed.in_time(time.monotonic() - since < ENDED_S, f"it took {time.monotonic() - since:.1f} s")
    expect(team.leader() == [], "the lead was not given back")
    expect(team.records(team.numbers["first"]) == records + 1, "the record that waited is not there")
    team.start(0)
    finish(team, DONE)
    check(team)


COUNTING = """CREATE TABLE filing (job bigint); CREATE FUNCTION filed() RETURNS trigger LANGUAGE plpgsql AS
 $$ BEGIN INSERT INTO filing VALUES (NEW.number); RETURN NULL; END $$;
 CREATE TRIGGER counted AFTER UPDATE OF ending ON hedgerow_job FOR EACH ROW EXECUTE FUNCTION filed(); SELECT 1"""


def stopped_filing(make, programs):
    """A stop comes while the first job's end waits at the server, and waits for it. The job is filed once, and the log says so.
    Planted: the thread could give up the job's place no more, and all of it was made, written and filed a second time."""
    team = SlowTeam(make, programs, "stopped_filing")
    team.begin()
    first = team.numbers["first"]
    ask(team.url, COUNTING)
    with held_by(team, f"SELECT FROM hedgerow_job WHERE number = {first} FOR UPDATE") as release:
        waiting = WAITING.format("%SET ending%")
        fed.wait_until(lambda: psql(team.url, waiting), "the first job's end waits")
        team.running[0].signal(signal.SIGTERM)
        fed.wait_until(lambda: "stopping" in {entry["event"] for entry in team.federation.events(team.name(0))}, "the stop is heard")
        fed.in_time(psql(team.url, waiting), "the end was written or refused before the stop")
        release()
        expect(team.running[0].wait() == 0, "the coordinator did not end well")
    told = [entry for entry in team.federation.events(team.name(0)) if entry["event"] == "job-filed" and entry["text"].startswith(f"job {first} ")]
    expect(len(told) == 1, f"the log says {len(told)} times that the job is filed")
    expect(psql(team.url, f"SELECT count(*) FROM filing WHERE job = {first}").strip() == "1", "the job was filed a second time")
    team.start(0)
    finish(team, DONE)
    check(team)


def refused(make, programs):
    """The record waits for longer than a statement may take: the server refuses it, and the job goes on from its journal."""
    team = SlowTeam(make, programs, "refused")
    team.begin()
    term = team.term()
    with held(team, seconds=9) as (records, session):
        fed.in_time(check_meanwhile(team, records), "the record was written")
        before = team.records(team.numbers["second"])
        session.wait()
        gained = team.records(team.numbers["second"]) - before
    fed.in_time(gained >= LEAST, f"the other job gained {gained} rounds")
    finish(team, DONE)
    expect("commit-failed" in {entry["event"] for entry in team.federation.events(team.name(0))}, "no record was refused")
    expect(team.term() == term, "the lead was lost")
    check(team)


def planted(make, programs):
    """Would the checks notice a round that is lost, doubled or told too early?"""
    team = SlowTeam(make, programs, "planted")
    team.begin()
    finish(team, DONE)
    check(team)
    fed.must_fail("a round was told before its record was there", check_meanwhile, team, team.records(team.numbers["first"]) - 2, lambda _: True)
    rounds = team.rounds("first")
    for wrong in (rounds[:2] + rounds[3:], rounds[:3] + rounds[2:], rounds[:-1]):
        team.rounds = lambda name, wrong=wrong: wrong
        fed.must_fail("a round is lost or doubled", check, team)


def main():
    options = fed.options(at_once=(2, "federations at a time"))
    if not has_database():
        return 77
    cases = [(one.__name__, one, {"programs": options.programs}) for one in (beside, download, results, filing, chosen_meanwhile, opening, late_cancelled, late_lost, killed, stopped, stopped_filing, refused, planted)]
    return fed.run_cases([one for one in cases if fed.is_chosen(one[0], options.only)], at_once=options.at_once)


if __name__ == "__main__":
    sys.exit(main())
