"""test_queue_desks.py - what people see and do at either of two coordinators that share a queue in PostgreSQL: desks, pages, questions that
the database holds up, and settings that are refused. Runs under tests/support/postgres."""

import json
import os
import re
import subprocess
import sys
import time

import federation as fed
import test_face
from federation import expect
from queue_team import COORDINATORS, FITS, ROUNDS, Team
from shared_queue import run
from test_takeover import ask, psql

HELD_S = 60  # a table that the page reads
FITS_LONG = 50  # of a job that lasts longer than a question of the page may take, which is 8 s
UNASKED_S = 14  # the page reads the queue every 10 s, also while nobody looks
RESULTS = ["model.json", "report.html", "result.json"]
ANSWERED_S = 4  # a question may take 8 s
NOTICED_S = 3  # a submission is seen within a second, where the machine has time for it


def operator(team, name):
    home = team.federation.folder / f"home-{name}"
    home.mkdir(mode=0o700, exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if key != "XDG_CONFIG_HOME"}
    return {**kept, "HOME": str(home)}, home / ".config" / "hedgerow" / "office.yml"


def remote(team, name, *words, code=0):
    environment, _ = operator(team, name)
    done = subprocess.run(team.federation.command("hedgerow", "--at", "office", *words), env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=fed.PATIENCE_S, check=False)
    said = done.stdout.decode() + done.stderr.decode()
    expect(done.returncode == code, f"{name}: {' '.join(map(str, words))} ended with {done.returncode}, not {code}: {said}")
    return done.stdout.decode()


def move(team, name, i):
    """The operator's command goes to the desk of another machine from now on."""
    _, path = operator(team, name)
    path.write_text(re.sub(r'^address:.*$', f'address: "{team.desks[i]}"', path.read_text(), flags=re.MULTILINE))


def names(team, i):
    return [job["job"] for job in json.loads(team.patient(i, "jobs", "--json"))["jobs"]]


def desks(make, programs):
    """Each machine has a desk, whether it leads or not. A submission whose leader and desk died before they answered is repeated at the
    other machine's, and is in the queue once."""
    team = Team(make, programs, f"desks_{os.getpid()}")
    team.start(0, "hedgerow-coordinator-killed", HEDGEROW_KILL_AT="desk-acted:2")
    team.federation.wait_event(team.name(0), "leading")
    team.start(1)
    team.federation.wait_event(team.name(1), "standing-by")
    token = team.federation.folder / "maria.token"
    team.command(0, "operators", "add", "maria", "--token", token, "--address", team.desks[0])
    remote(team, "maria", "enrol", "--token", token)
    environment, _ = operator(team, "maria")
    lost = subprocess.Popen(team.federation.command("hedgerow", "--at", "office", "submit", team.file("second")), env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    team.federation.wait_event(team.name(0), "desk-ended")  # by itself, once it had acted (the first act was the enrolment's question)
    team.running[0].kill()
    lost.kill()
    said = lost.communicate()[0]
    expect(b"job " not in said, f"the first submission was answered: {said}")
    expect(names(team, 1) == ["second"], f"the desk acted: {names(team, 1)}")
    move(team, "maria", 1)
    again = json.loads(remote(team, "maria", "submit", team.file("second"), "--json"))
    expect(again["number"] == 1 and names(team, 1) == ["second"], f"a submission that came again: {again}, {names(team, 1)}")
    other = json.loads(remote(team, "maria", "submit", team.file("second"), "--json"))
    expect(other["number"] == 2, f"the same file, once its number was told, is another job: {other}")
    fed.wait_until(lambda: team.leader() == [1], "the other one leads")
    team.start(0)
    fed.wait_until(lambda: team.leader() == [1], "the second one leads")
    move(team, "maria", 0)  # where nobody leads
    for name in team.federation.names:
        team.federation.start_agent(name)
    team.until(0, 1, "running")
    for number in (1, 2):
        remote(team, "maria", "cancel", number)
        team.until(1, number, "cancelled")
    status = json.loads(remote(team, "maria", "status", 1, "--json"))
    expect(status["cancel"].startswith("operator maria at ") and status["submitted"].startswith("operator maria at "), f"who did it: {status}")
    said = remote(team, "maria", "submit", team.file("first"), "--stream")
    expect(len(re.findall(r"^  (?:fit|losses) +\d/7 ", said, re.MULTILINE)) == ROUNDS, f"the rounds at a desk that does not lead: {said}")
    for i in range(COORDINATORS):
        move(team, "maria", i)
        remote(team, "maria", "result", 3, "--out", team.federation.folder / f"desk-{i}")
    expect((team.federation.folder / "desk-0" / "result.json").read_text() == (team.federation.folder / "desk-1" / "result.json").read_text(),
           "two desks have other results")
    team.stop()


def pages(make, programs):
    """Each page tells of the queue and has the results. One that stands by is healthy and not ready."""
    team = Team(make, programs, f"pages_{os.getpid()}")
    team.start_all()
    places = [test_face.port_of(team.federation, team.name(i)) for i in range(COORDINATORS)]
    said = [test_face.ask(place, "/readyz")[:2] for place in places]
    expect(said == [(200, "ok\n"), (503, "standing by\n")], f"who is ready: {said}")
    number = team.submit(1, "first")
    since = time.monotonic()
    team.federation.wait_event(team.name(0), "job-taken")
    fed.in_time(time.monotonic() - since < NOTICED_S, f"the leader saw the job after {time.monotonic() - since:.1f} s")
    team.until(1, number, "done")

    def tells(place):
        page = test_face.status(place)
        return ([(row["number"], row["state"], row["job"]) for row in page["queue"]] == [("1", "done", "first")] and page["jobs_waiting"] == 0
                and sorted(row["file"] for row in page["results"]) == ["model.json", "report.html", "result.json"])
    for place in places:
        fed.wait_until(lambda place=place: tells(place), "the page tells of the job")
        expect("journal_bytes" not in test_face.metrics(place), "the size of a journal that is not here")
        expect(test_face.metrics(place)["jobs_waiting"] is not None, "the queue's figure")
    files = [[test_face.ask(place, f"/results/1/{name}")[:2] for name in ("result.json", "model.json", "report.html")] for place in places]
    expect(files[0] == files[1] and all(code == 200 for code, _ in files[0]), "results at the pages")
    expect(json.loads(files[1][0][1])["job"] == "first", "another job's result")
    expect(test_face.ask(places[1], "/results/2/result.json")[0] == 404, "a job that is not there")
    team.submit(0, "second")
    team.until(1, 2, "running")
    for place in places:  # the one that stands by sees that it runs elsewhere
        fed.wait_until(lambda place=place: ("2", "running") in [(row["number"], row["state"]) for row in test_face.status(place)["queue"]]
                       and test_face.status(place)["jobs_waiting"] == 0, "the page tells of the second job")
        expect("journal_bytes" not in test_face.metrics(place), "the size of a journal that is not here, while its job runs")
    team.stop()


def locked(team, seconds):
    """A session that locks the results' table as soon as a job is filed. Every reader waits."""
    session = subprocess.Popen(["psql", "-qAt", "-d", team.url, "-c",
                                "BEGIN; DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM hedgerow_job WHERE ending IS NOT NULL) LOOP"
                                " PERFORM pg_sleep(0.005); END LOOP; END $$;"
                                f" LOCK TABLE hedgerow_result IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({seconds})"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fed.wait_until(lambda: psql(team.url, "SELECT 1 FROM pg_locks WHERE relation = 'hedgerow_result'::regclass"
                                          " AND mode = 'AccessExclusiveLock' AND granted"), "the table is held")
    return session


def one_that_leads(make, programs, name):
    """A team whose first coordinator leads, alone; its agents are there. Returns the team, and where the page is."""
    team = Team(make, programs, f"{name}_{os.getpid()}")
    team.start(0)
    team.federation.wait_event(team.name(0), "leading")
    place = test_face.port_of(team.federation, team.name(0))
    for agent in team.federation.names:
        team.federation.start_agent(agent)
    return team, place


def questions(team):
    """The sessions that wait for the results' table now, with the time at which they began to wait.
    None: nobody holds the table."""
    said = psql(team.url, "SELECT granted, pid, waitstart FROM pg_locks WHERE relation = 'hedgerow_result'::regclass"
                          " AND (mode = 'AccessExclusiveLock' OR NOT granted)")
    lines = (said or "").split("\n")
    return {line for line in lines if line.startswith("f|") and not line.endswith("|")} if any(line.startswith("t|") for line in lines) else None


def results_of(facts, number):
    return sorted(row["file"] for row in facts["results"] if row["number"] == str(number))


def stalls(make, programs):
    """If the server does not answer the page's question, rounds, /healthz and the page go on. Page and /healthz answer in less
    time than such a question may take. The question is asked again, so the page lists the results in the end."""
    team, place = one_that_leads(make, programs, "stalls")
    team.submit(0, "first")
    session = locked(team, HELD_S)
    number = team.submit(0, "third", fits=FITS_LONG)
    slowest = 0.0
    asked, failed = set(), set()

    def look():
        nonlocal slowest
        for path in ("/api/status", "/healthz"):
            since = time.monotonic()
            expect(test_face.ask(place, path)[0] == 200, f"{path} is not answered")
            slowest = max(slowest, time.monotonic() - since)
        waiting = questions(team)
        over = team.records(number) > FITS_LONG  # then the results are written, and that waits too
        if waiting is not None and not over:
            failed.update(asked - waiting)
            asked.update(waiting)
        return over or session.poll() is not None or failed

    fed.wait_until(look, "a question of the page fails")
    fed.in_time(session.poll() is None, "the rounds took longer than the table was held")
    records = team.records(number)
    fed.in_time(failed, f"of the page's questions {asked} none has failed by record {records} of the job")
    expect(records > FITS, f"the job has {records} records after a question of the page that nobody answered")
    fed.in_time(slowest < ANSWERED_S, f"an answer took {slowest:.1f} s")
    session.kill()
    session.wait()
    psql(team.url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'hedgerow_result'::regclass AND mode = 'AccessExclusiveLock'")
    team.until(0, number, "done")

    def lists_all():
        facts = test_face.status(place)
        return {row["state"] for row in facts["queue"]} == {"done"} and all(results_of(facts, one) == RESULTS for one in (1, number))

    fed.wait_until(lists_all, "the page goes on, and lists the results", seconds=180)
    print(f"while the server kept the page waiting its slowest answer took {slowest:.2f} s")
    team.stop()


def unasked(make, programs):
    """The page's first answer tells what happened while nobody looked: also of a job that ended meanwhile, and of one that
    nobody saw run."""
    team, place = one_that_leads(make, programs, "unasked")
    first = team.submit(0, "first")
    team.until(0, first, "running")
    fed.in_time(test_face.status(place)["jobs_waiting"] is not None, "the first answer has no queue")

    def state(number):
        facts = test_face.status(place)
        expect((facts["jobs_waiting"], facts["jobs_set_aside"]) == (0, 0), f"the page counts {facts['jobs_waiting']}, {facts['jobs_set_aside']}: {facts['queue']}")
        row = next((row for row in facts["queue"] if row["number"] == str(number)), None)
        expect(row is None or (row["job"] != "" and row["state"] in ("running", "done")), f"the page says {row}")
        expect(row is None or row["state"] == "running" or results_of(facts, number) == RESULTS, f"results: {facts['results']}")
        return row and row["state"]

    fed.in_time(fed.wait_until(lambda: state(first), "the page tells of the job") == "running", "the job was over before the page told of it")
    team.until(0, first, "done")
    fed.wait_until(lambda: state(first) == "done", "the page says that the job is done")
    second = team.submit(0, "third")
    team.until(0, second, "done")
    time.sleep(UNASKED_S)  # how old an answer may be
    fed.in_time(state(second) == "done", "the page does not know what ended while nobody looked")
    team.stop()


def refusals(make, programs):
    """What an operator may get wrong."""
    team = Team(make, programs, f"refusals_{os.getpid()}")
    said = team.command(0, "submit", team.file("first", trust="central"), code=3)
    expect("put back to an older state" in said and "a folder as `jobs`" in said, f"trust central: {said}")
    expect(names(team, 0) == [], "a job that was refused is in the queue")
    team.command(0, "check", code=0)
    expect("no job 1" in team.command(0, "status", 1, code=3), "a job that is not there")
    settings = team.settings(0).read_text()
    for text, code, because in ((settings.replace("postgresql://", "mysql://"), 3, "jobs"),
                                (settings.replace("postgresql://hedgerow@", "postgresql://hedgerow:secret@"), 3, "PGPASSFILE"),
                                (settings + "collector: east\ncollectors: west\n", 3, "collector"),
                                (re.sub(r"host=[^&\"]*", "host=/nowhere", settings), 6, "database hedgerow at /nowhere")):
        expect(text != settings, "nothing was changed")
        team.settings(0).write_text(text)
        said = team.command(0, "jobs", code=code)
        expect(because in said and "secret" not in said, f"{because}: {said}")
    team.settings(0).write_text(settings)
    # A database that has one job's journal, and the other way round.
    one = team.federation.office / "coordinator.yml"
    one.write_text(re.sub(r"^jobs: .*$", f'state: "{team.url}"\njob: job.yml\nout: out', re.sub(r"^operators:.*\n", "", settings, flags=re.MULTILINE),
                          flags=re.MULTILINE))
    code, said = team.federation.tool("hedgerow-coordinator", "run", "--config", one)
    expect(code == 3 and "another program (queue)" in said, f"one job in a queue's database: {code} {said}")
    ask(team.url, "UPDATE hedgerow_lease SET kind = 'coordinator'; SELECT 1")
    expect("database of its own" in team.command(0, "jobs", code=3), "a queue in a job's database")
    ask(team.url, "UPDATE hedgerow_lease SET kind = 'queue', version = 9; SELECT 1")
    expect("version 9" in team.command(0, "jobs", code=3), "a later version")
    ask(team.url, "UPDATE hedgerow_lease SET version = 1; SELECT 1")


if __name__ == "__main__":
    sys.exit(run((desks, pages, refusals, stalls, unasked)))
