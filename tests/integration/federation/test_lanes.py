"""test_lanes.py - jobs that ask different agents, at the same time in one coordinator.

Two jobs run beside each other, and a third one, which asks an agent of each, after both. Each has one paid answer of every
site that it asks to each of its rounds and of no other site, however often the coordinator is killed, and also where
another job is cancelled meanwhile or its journal is damaged or taken away. A job of 10^6 words does not hold up the rounds
of a job of a few, and neither does one whose sums take seconds to solve. A stop in the middle of such a computation ends the
coordinator within its grace; the next start asks for the same answers, and nobody pays twice.
"""

import contextlib
import datetime
import json
import random
import re
import shutil
import signal
import sqlite3
import statistics
import sys
import time

import federation as fed
import journals
import test_face
from federation import expect

SEED = 57
AGENTS = 4
SLOT_MS = 250
FITS = 4   # each waits for its slot, so that the jobs last about a second
ROUNDS = FITS + 2
STORMS = 3
ASKS = {"west": ("site-1", "site-2"), "east": ("site-3", "site-4"), "middle": ("site-2", "site-3")}
CLASSES = 32
FEATURES = 16384  # of each of two maps: a model has 2 x 16,384 x 32 = 10^6 words
ROUNDS_SMALL = 40
ROUNDS_LARGE = 3
PAGE_FITS = 24  # so that a look falls into them
FEATURES_GONE = 1024  # blobs of 512 KiB have files of their own
ROUNDS_GONE = 40
FITS_GONE = 24
FEATURES_SOLVED = 630  # with 32 classes and 8 lambdas 256 systems of so many unknowns: seconds, the most that a job may ask for
SOLVED_LEAST_MS = 500  # else nothing was measured
OVERLAP_LEAST = 3  # rounds of the small job within that computation, else nothing was measured
STOP_S = 20  # for a grace of 2 s, on a machine that does other things too
DELAY_MS = 1000  # a round of the small job may be that much longer: the other one's share of two processors


def text_of(name, fits=FITS):
    text = fed.job_text(minimum=2, fits=fits).replace("job: trial", f"job: {name}")
    return text.replace("cohort:\n", f"cohort:\n  agents: [{', '.join(ASKS[name])}]\n")


class Office:
    """A coordinator with a queue, and its agents."""

    def __init__(self, federation, more=""):
        self.federation = federation
        self.config = federation.office / "coordinator.yml"
        self.config.write_text(
            f'hedgerow: 1\nlisten: "{federation.address}"\nkey: key\nagents: agents\njobs: jobs\n{more}'
            f"linger_s: {federation.linger_s}\nlog: {federation.log_settings}\n")
        self.number = {}
        self.process = None

    def start(self):
        self.process = self.federation.start_coordinator()

    def command(self, *words, code=0):
        got, said = self.federation.tool("hedgerow-coordinator", *words, "--config", self.config)
        expect(got == code, f"{' '.join(map(str, words))} ended with {got}, not {code}: {said}")
        return said

    def submit(self, name, text):
        path = self.federation.folder / f"{name}.yml"
        path.write_text(text)
        self.number[name] = json.loads(self.command("submit", path, "--json"))["number"]

    def status(self, name):
        return json.loads(self.command("status", self.number[name], "--json"))

    def until(self, name, states):
        """Waits until a job is in one of these states, and filed where it is over."""
        def reached():
            status = self.status(name)
            return status["state"] in states and (status["ended"] or status["state"] == "running")
        fed.wait_until(reached, f"{name} is {' or '.join(states)}")

    def records(self, name):
        folder = self.federation.office / "jobs" / str(self.number[name]) / "state"
        return [record for _, record, _ in journals.read(folder)]

    def rounds(self, name):
        return [record for record in self.records(name) if record["kind"] == "round"]

    def result(self, name):
        return json.loads((self.federation.office / "jobs" / str(self.number[name]) / "out" / "result.json").read_text())


def make_office(make, programs, keys, more="", slot_ms=SLOT_MS, **options):
    federation = make(programs, agents=AGENTS, keys=keys, linger_s=2, agent_settings="", policy=fed.policy_text(
        epsilon=9, answer_slot_ms=slot_ms), **options)
    return Office(federation, more)


def times(office, name):
    walls = [record["wall_ms"] for record in office.records(name)]
    return walls[0], walls[-1]


def check(office, whole=("west", "east", "middle"), known=()):
    """Every job that ran to its end: one answer of each site that it asks to each round, and none of another."""
    ids = {}
    for name in whole:
        rounds = office.rounds(name)
        expect([one["round"] for one in rounds] == list(range(ROUNDS)), f"{name}: rounds {rounds}")
        expect(all(sorted(one["agents"]) == sorted(ASKS[name]) for one in rounds), f"{name}: who answered")
        expect(office.result(name)["job"] == name, f"{name}: another job's result")
        ids[next(record["job"] for record in office.records(name) if record["kind"] == "job")] = name
    for site in office.federation.names:
        answers = {name: [] for name in whole}
        for _, record, _ in journals.read(office.federation.folder / site / "state"):
            if record["kind"] == "answer" and record["job"] in ids:
                answers[ids[record["job"]]].append(record["round"])
        wanted = {name: list(range(ROUNDS)) if site in ASKS[name] else [] for name in whole}
        expect({name: sorted(rounds) for name, rounds in answers.items()} == wanted, f"{site} has answered {answers}")
        spent = office.federation.ledger(site)["spent"]["epsilon"]
        expect(spent <= sum(site in ASKS[name] for name in ASKS), f"{site}'s ledger says {spent}")
    odd = {entry["event"] for entry in office.federation.events("coordinator")} & {
        "stranger", "frame-refused", "answer-forged", "offer-refused", "step-failed", "commit-failed", "recovery-failed"} - set(known)
    expect(not odd, f"the coordinator's log has {odd}")


def beside(make, programs, keys):
    """Two at the same time; the third waits for both. Lines of the log name their job."""
    office = make_office(make, programs, keys)
    with office.federation:
        for name in ASKS:
            office.submit(name, text_of(name))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        for name in ASKS:
            office.until(name, ("done", "failed"))
        check(office)
        (west, west_end), (east, east_end), (middle, _) = (times(office, name) for name in ASKS)
        expect(west < east_end and east < west_end, f"one after another: {west}-{west_end}, {east}-{east_end}")
        expect(middle >= max(west_end, east_end), "the third did not wait for the agents that it asks")
        closed = {entry.get("job") for entry in office.federation.events("coordinator") if entry["event"] == "round-closed"}
        expect(closed == {1, 2, 3}, f"lines of rounds name the jobs {closed}")
        kept = office.rounds
        office.rounds = lambda name: kept(name)[1:]
        fed.must_fail("a round is missing", check, office)
        office.rounds = kept
        ASKS_PLANTED = dict(ASKS)
        ASKS["west"] = ("site-1", "site-3")
        fed.must_fail("an agent that was not asked", check, office)
        ASKS.update(ASKS_PLANTED)


def storm(make, programs, keys, seed):
    """The coordinator is killed at any time: all that ran goes on, and nothing is asked or paid for twice."""
    dice = random.Random(seed)
    office = make_office(make, programs, keys)
    with office.federation:
        for name in ASKS:
            office.submit(name, text_of(name))
        for site in office.federation.names:
            office.federation.start_agent(site)
        for _ in range(5):
            office.start()
            time.sleep(dice.uniform(0.1, 1.5))
            office.process.signal(signal.SIGKILL)
            office.process.wait()
        office.start()
        for name in ASKS:
            office.until(name, ("done", "failed"))
        check(office)


def cancelled(make, programs, keys):
    """One of two is cancelled: the other one goes on, and the one that waited for its agent begins."""
    office = make_office(make, programs, keys)
    with office.federation:
        office.submit("west", text_of("west").replace("agents: [site-1, site-2]", "agents: [site-1, site-2, nobody]")
                      .replace("minimum: 2", "minimum: 3"))
        office.submit("east", text_of("east"))
        office.submit("middle", text_of("middle"))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("east", ("done",))
        expect(office.status("west")["state"] == "running", "the first waits for its third agent")
        expect(office.status("middle")["state"] == "waiting", "the third waits for the first")
        office.command("cancel", office.number["west"])
        office.until("west", ("cancelled",))
        office.until("middle", ("done",))
        check(office, ("east", "middle"))


def spoil(place):
    """Zeros in the place of a journal's first record."""
    with contextlib.closing(sqlite3.connect(place / "journal.db")) as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE record SET body = zeroblob(length(body)) WHERE sequence = 1")
        database.commit()


def latest_page(office):
    """Where the coordinator that was started last shows its page."""
    texts = [entry["text"] for entry in office.federation.events("coordinator") if entry["event"] == "http-listening"]
    host, port = re.search(r"http://([0-9.]+):([0-9]+)/", texts[-1]).groups()
    return host, int(port)


def expect_aside(office, name):
    """What every command says of a job whose journal cannot be read."""
    number = office.number[name]
    said = office.command("jobs")
    expect("set aside" in said and "its journal cannot be read" in said and name in said, f"jobs: {said}")
    listed = json.loads(office.command("jobs", "--json"))
    row = next(row for row in listed["jobs"] if row["number"] == number)
    expect(row["state"] == "set aside" and row["job"] == name and row["stuck"] and row["begun"], f"the row: {row}")
    expect((row["epsilon"], row["delta"], row["rounds"], row["rounds_planned"]) == (None, None, None, ROUNDS), f"the row: {row}")
    said = office.command("status", number)
    expect("set aside" in said and "not known here: the sites' ledgers have it" in said, f"status: {said}")
    expect("set aside" in office.command("watch", number, code=3), "watch of what stands still")


def given_up(make, programs, keys):
    """A job whose journal is damaged is cancelled: that is a decision that it never goes on, though its journal comes back."""
    office = make_office(make, programs, keys)
    with office.federation:
        office.submit("west", text_of("west"))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("west", ("running",))
        fed.wait_until(lambda: len(office.rounds("west")) >= 2, "west has two rounds")
        office.process.signal(signal.SIGKILL)
        office.process.wait()
        place = office.federation.office / "jobs" / str(office.number["west"]) / "state"
        shutil.copytree(place, office.federation.folder / "copy")
        spoil(place)
        office.start()
        fed.wait_until(lambda: "job-set-aside" in {entry["event"] for entry in office.federation.events("coordinator")},
                       "west is set aside")
        said = office.command("cancel", office.number["west"])
        expect("never will" in " ".join(said.split()), f"the cancellation: {said}")
        now = office.status("west")
        expect(now["state"] == "cancelled" and "what was paid cannot be told here" in now["because"], f"cancelled: {now}")
        expect(office.status("west")["ended"] is None, "it was filed before anybody looked")
        office.command("cancel", office.number["west"], code=3)
        office.submit("middle", text_of("middle"))  # whoever runs looks at the queue
        office.until("west", ("cancelled",))
        office.until("middle", ("done",))
        office.process.signal(signal.SIGTERM)
        expect(office.process.wait() == 0, "the coordinator did not end well")
        before = {site: office.federation.ledger(site)["spent"]["epsilon"] for site in office.federation.names}
        shutil.rmtree(place)
        shutil.copytree(office.federation.folder / "copy", place)
        office.start()
        office.submit("east", text_of("east"))
        office.until("east", ("done",))
        now = office.status("west")
        expect((now["state"], now["epsilon"], now["stuck"]) == ("cancelled", None, False), f"it came back: {now}")
        expect(office.federation.ledger("site-1")["spent"]["epsilon"] == before["site-1"], "site-1 answered west again")


def damaged(make, programs, keys):
    """The journal of one of two is damaged while the coordinator is down: that job stands still, and the others go on, one
    that asks an agent of its too. Once a copy is brought back it goes on as well. A site may have answered its open round
    before, and has nothing of that answer any more after another job: it declines then, and pays for nothing twice."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        office.submit("west", text_of("west"))
        office.submit("east", text_of("east"))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("west", ("running",))
        fed.wait_until(lambda: len(office.rounds("west")) >= 2, "west has two rounds")
        office.process.signal(signal.SIGKILL)
        office.process.wait()
        place = office.federation.office / "jobs" / str(office.number["west"]) / "state"
        shutil.copytree(place, office.federation.folder / "copy")
        spoil(place)
        expect_aside(office, "west")
        office.start()
        office.submit("middle", text_of("middle"))
        office.until("east", ("done",))
        office.until("middle", ("done",))
        check(office, ("east", "middle"), known=("recovery-failed",))
        expect_aside(office, "west")
        facts = test_face.status(latest_page(office))
        rows = {row["job"]: row["state"] for row in facts["queue"]}
        expect(rows == {"west": "set aside", "east": "done", "middle": "done"}, f"the page's queue: {rows}")
        expect((facts["jobs_set_aside"], facts["jobs_waiting"]) == (1, 0), f"the page counts: {facts}")
        aside = [entry for entry in office.federation.events("coordinator") if entry["event"] == "job-set-aside"]
        expect([entry["job"] for entry in aside] == [office.number["west"]], f"set aside: {aside}")
        office.process.signal(signal.SIGTERM)
        expect(office.process.wait() == 0, "the coordinator did not end well")
        shutil.rmtree(place)
        shutil.copytree(office.federation.folder / "copy", place)
        office.start()
        office.until("west", ("done", "failed"))
        check(office, ("east", "middle"), known=("recovery-failed",))
        expect([one["round"] for one in office.rounds("west")][:3] == [0, 1, 2], "west did not go on where it was")
        west = next(record["job"] for record in office.records("west") if record["kind"] == "job")
        for site in ASKS["west"]:
            paid = [record["round"] for _, record, _ in journals.read(office.federation.folder / site / "state")
                    if record["kind"] == "answer" and record["job"] == west]
            expect(len(paid) >= 2 and len(paid) == len(set(paid)), f"{site} has paid west for {paid}")


def expect_unwritten(office, name, page=True):
    """What every command and the page say of a job that is over, whose results cannot be written."""
    number, words = office.number[name], ("its results cannot be written", "result.json", "remedy: mend that and start again")
    listed = json.loads(office.command("jobs", "--json"))
    row = next(row for row in listed["jobs"] if row["number"] == number)
    expect(row["state"] == "set aside" and row["stuck"] and row["rounds"] == row["rounds_planned"], f"the row: {row}")
    for said in (row["because"], office.command("jobs"), office.command("status", number), office.command("watch", number, code=3)):
        expect(all(word in " ".join(said.split()) for word in words), f"what is said of {name}: {said}")
    if page:
        facts = test_face.status(latest_page(office))
        row = next(row for row in facts["queue"] if row["job"] == name)
        expect(row["state"] == "set aside" and all(word in row["because"] for word in words), f"the page's queue: {facts['queue']}")
        expect((facts["jobs_set_aside"], facts["jobs_waiting"]) == (1, 0), f"the page counts: {facts}")


def unwritten(make, programs, keys):
    """Something is in the way of a job's results: that job is set aside, and others go on with its agents. Once it is out of
    the way a new start writes them, and asks nobody."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        office.submit("west", text_of("west"))
        office.submit("middle", text_of("middle"))
        obstacle = office.federation.office / "jobs" / str(office.number["west"]) / "out" / "result.json"
        obstacle.mkdir(parents=True)
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("middle", ("done",))
        aside = [entry for entry in office.federation.events("coordinator") if entry["event"] == "job-set-aside"]
        expect([entry["job"] for entry in aside] == [office.number["west"]], f"set aside: {aside}")
        expect("result.json" in aside[0]["text"], f"set aside: {aside}")
        expect_unwritten(office, "west")
        office.process.signal(signal.SIGTERM)
        expect(office.process.wait() == 0, "the coordinator did not end well")
        expect_unwritten(office, "west", page=False)
        obstacle.rmdir()
        office.start()
        office.until("west", ("done",))
        expect(office.status("west")["because"] is None, f"it is mended: {office.status('west')}")
        check(office, ("west", "middle"))


def one_at_a_time(make, programs, keys):
    """`jobs_at_once: 1` is the queue of before."""
    office = make_office(make, programs, keys, more="jobs_at_once: 1\n")
    with office.federation:
        for name in ("west", "east"):
            office.submit(name, text_of(name))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        for name in ("west", "east"):
            office.until(name, ("done", "failed"))
        check(office, ("west", "east"))
        expect(times(office, "east")[0] >= times(office, "west")[1], "two ran at the same time")


def of_job(samples, number):
    """Figures of a family with the label of one job, by their other labels."""
    mine = {labels: value for labels, value in samples.items() if ("job_number", str(number)) in labels}
    return {tuple(one for one in labels if one[0] != "job_number"): value for labels, value in mine.items()}


def tells_of_both(place, waits, runs):
    """Two jobs run: one of the lowest number that waits for an agent, and one with rounds."""
    now, whole = test_face.metrics(place), test_face.whole_status(place)
    facts = whole["facts"]
    jobs = {one["job_number"]: one["facts"] for one in whole["jobs"]}
    expect(set(jobs) == {waits, runs}, f"jobs of the status: {set(jobs)}")
    for number, name, planned in ((waits, "east", ROUNDS), (runs, "west", PAGE_FITS + 2)):
        info = dict(next(labels for labels in now["job_info"] if ("job_number", str(number)) in labels))
        expect(info["job"] == jobs[number]["job_info"][0]["job"] == name, f"job {number} is {info}, {jobs[number]['job_info']}")
        expect(of_job(now["rounds_planned"], number)[()] == jobs[number]["rounds_planned"] == planned, f"job {number}: rounds planned")
        expect(sum(of_job(now["job_phase"], number).values()) == 1, f"job {number}: {now['job_phase']}")
        expect(of_job(now["journal_bytes"], number)[()] > 1000, f"job {number}: the size of its journal, {now['journal_bytes']}")
        expect(jobs[number]["journal_bytes"] > 1000, f"job {number}: the size of its journal, {jobs[number]}")
    expect(of_job(now["rounds_closed_total"], runs)[()] > 0 and of_job(now["epsilon_spent"], runs)[()] > 0, "the rounds of the job that runs")
    expect(of_job(now["rounds_closed_total"], waits)[()] == 0, "rounds of the job that waits")
    expect(whole["shown"] == runs and facts["job_info"][0]["job"] == "west", f"the page tells of {whole['shown']}, {facts['job_info']}")
    rows = {int(row["number"]): row for row in facts["queue"]}
    expect(rows[waits]["waits"] in ("for agents: 2 of 3 ready", "for approval: 2 of 3 ready"), f"the list says {rows[waits]}")
    expect(rows[runs]["waits"] == "" and rows[runs]["agents"] == "2 of 2 ready" and rows[runs]["left"] != "", f"the list says {rows[runs]}")
    expect(rows[waits]["state"] == rows[runs]["state"] == "running", f"the list says {rows}")
    expect(sum(now["agents"].values()) == len(now["agent_info"]) == AGENTS, f"agents: {now['agents']}, {now['agent_info']}")


def tells_of_the_picked(place, waits, absent):
    """Each that runs is told of to whoever asks for it, in the form of an event; no other one."""
    told = test_face.whole_status(place, f"/api/jobs/{waits}")
    expect(told["status"]["shown"] == waits and told["status"]["facts"]["job_info"][0]["job"] == "east", "another job than was asked for")
    expect(told["drawn"]["result"]["job"] == "east", f"another job is drawn: {told['drawn']}")
    for path in (f"/api/jobs/{absent}", f"/api/jobs/0{waits}", f"/api/jobs/{waits}/", f"/api/jobs/+{waits}", "/api/jobs/", "/api/jobs/x",
                 f"/api/jobs/{waits}?x", f"/api/jobs/%3{waits}", "/api/jobs/4294967297"):
        expect(test_face.ask(place, path)[0] == 404, f"{path} is answered")


def page(make, programs, keys):
    """Page, status and metrics tell of all that run, by number; the page draws one with rounds before one that waits, whatever
    their numbers. While no job runs the agents are told of all the same, and the latest release stays."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        office.submit("east", text_of("east").replace("minimum: 2", "minimum: 3").replace("site-4]", "site-4, nobody]"))
        office.submit("west", text_of("west", PAGE_FITS))
        office.submit("middle", text_of("middle"))
        waits, runs, absent = (office.number[name] for name in ("east", "west", "middle"))
        office.start()
        agents = [office.federation.start_agent(site) for site in office.federation.names]
        place = test_face.port_of(office.federation, "coordinator")

        def look():
            code, said, _ = test_face.ask(place, "/healthz")
            expect(code == 200, f"/healthz says {code} {said}")
            return test_face.status(place)

        def two_run():
            facts = look()
            rows = facts["queue"]
            return facts if [row["state"] for row in rows] == ["waiting", "running", "running"] and not rows[1]["rounds"].startswith("0 ") else None

        facts = fed.wait_until(two_run, "two run, and one has a round")
        expect(facts["jobs_waiting"] == 1, f"of three jobs {facts['jobs_waiting']} wait")
        fed.wait_until(lambda: of_job(test_face.metrics(place)["agents_ready"], waits)[()] == 2, "two are ready for the one that waits")
        tells_of_both(place, waits, runs)
        tells_of_the_picked(place, waits, absent)
        said = office.command("status", waits)
        expect("no round is released" in said, f"`status` of a job that waits says: {said}")
        office.until("west", ("done",))
        fed.wait_until(lambda: look()["job_info"][0]["job"] == "east", "the page tells of the other")
        kept = of_job(test_face.metrics(place)["last_release_timestamp_seconds"], runs)
        expect(kept and abs(kept[()] - times(office, "west")[1] / 1000) < 0.01, f"the latest release is forgotten: {kept}")
        office.command("cancel", waits)
        office.until("middle", ("done",))

        def none_runs():
            now = test_face.metrics(place)
            return now if "job_info" not in now and now["agents"].get((("state", "without a job"),)) == AGENTS else None

        now = fed.wait_until(none_runs, "no job runs, and the agents are there")
        expect(sum(now["agents"].values()) == len(now["agent_info"]) == AGENTS, f"agents while no job runs: {now['agents']}")
        kept = now["last_release_timestamp_seconds"]
        expect(list(of_job(kept, absent)) == [()] and len(kept) == 1, f"the latest release of the latest job: {kept}")
        agents[0].kill()
        fed.wait_until(lambda: test_face.metrics(place)["agents"].get((("state", "not connected"),)) == 1, "one is gone")


def large_text(features=FEATURES, rounds=ROUNDS_LARGE):
    """Gradient rounds of 32 classes on two maps: each invitation carries a model, of 10^6 words where nothing else is said."""
    stages = "".join(f"""  - task: update
    loss: logistic
    map: {{kind: fourier, kernel: gaussian, gamma: 1, features: {features}, seed: {seed}}}
    rounds: {rounds}
    batch: 10
    clip: 0.5
    rate: 1
    grid_bits: 12
    share: 0.5
""" for seed in (1, 2))
    return f"""hedgerow: 1
job: large
data:
  label: {{column: kind, classes: [{", ".join(f'"{i}"' for i in range(CLASSES))}]}}
  features: [{{column: age, centre: 50, half_width: 50}}]
privacy: {{unit: record, neighbours: replace_one, trust: local, epsilon: 1}}
cohort: {{agents: [site-3, site-4], minimum: 2, deadline_s: 60}}
stages:
{stages}"""


def heavy_text():
    """One round, whose sums are solved for 32 classes and 8 lambdas."""
    text = large_text().replace("job: large", "job: heavy")
    return text[:text.index("stages:")] + f"""stages:
  - task: statistics
    map: {{kind: fourier, kernel: gaussian, gamma: 1, features: {FEATURES_SOLVED}, seed: 1}}
    lambdas: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    batch: 10
    grid_bits: 12
    share: 1
"""


def give_kinds(office, count):
    """Tables that large_text can be asked of."""
    for i, site in enumerate(office.federation.names):
        lines = fed.records(i + 1, count).splitlines()
        table = [lines[0] + ",kind"] + [f"{line},{j % CLASSES}" for j, line in enumerate(lines[1:])]
        (office.federation.folder / site / "data.csv").write_text("\n".join(table) + "\n")
        columns = "".join(f"      - {{name: {name}, kind: number}}\n" for name in ("age", "dose", "ill"))
        kinds = ", ".join(f'"{j}"' for j in range(CLASSES))
        (office.federation.folder / site / "data.yml").write_text(
            f"hedgerow: 1\ndata_sets:\n  - records: {len(lines) - 1}\n    separator: comma\n    columns:\n{columns}"
            f"      - {{name: kind, kind: category, categories: [{kinds}]}}\n")
        (office.federation.folder / site / "policy.yml").write_text(
            fed.policy_text(epsilon=9, answer_slot_ms=SLOT_MS, tasks="[fit, losses, statistics, update]").replace(
                "message_mb_max: 16", "message_mb_max: 64"))


def gone(make, programs, keys):
    """Somebody takes two jobs' journals away while they run. One, whose blobs have files, meets that at its next round, the
    other at its end. Neither begins again, which sites would pay for once more, and others go on with their agents."""
    office = make_office(make, programs, keys)
    with office.federation:
        give_kinds(office, 200)
        office.submit("large", large_text(features=FEATURES_GONE, rounds=ROUNDS_GONE))
        office.submit("west", text_of("west", fits=FITS_GONE))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        for name in ("large", "west"):
            office.until(name, ("running",))
        fed.wait_until(lambda: office.rounds("large") and office.rounds("west"), "both have rounds")
        for name in ("large", "west"):
            # At once: a folder that is removed file by file gets new files meanwhile.
            (office.federation.office / "jobs" / str(office.number[name]) / "state").rename(office.federation.folder / f"{name}-state")
        office.submit("middle", text_of("middle"))
        office.until("middle", ("done",))
        check(office, ("middle",), known=("commit-failed",))
        aside = [entry["job"] for entry in office.federation.events("coordinator") if entry["event"] == "job-set-aside"]
        expect(sorted(aside) == [1, 2], f"set aside: {aside}")
        for name in ("large", "west"):
            expect("bring the journal back" in office.status(name)["because"], f"{name}: {office.status(name)}")


def seconds_of(office, name):
    """The time between rounds, of those whose answers leave at once."""
    walls = [record["wall_ms"] for record in office.rounds(name)]
    return [b - a for a, b in zip(walls[1:], walls[2:])]


def shares(make, programs, keys):
    """A job of 10^6 words a round beside one of a few: the small one's rounds keep their pace."""
    office = make_office(make, programs, keys)
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        small = fed.job_text(minimum=2, rounds=ROUNDS_SMALL).replace("cohort:\n", "cohort:\n  agents: [site-1, site-2]\n")
        office.submit("alone", small)
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("alone", ("done", "failed"))
        office.submit("large", large_text())
        office.until("large", ("running",))
        office.submit("small", small)
        office.until("small", ("done", "failed"))
        during = office.status("large")["state"]
        office.until("large", ("done", "failed"))
        expect(office.status("large")["state"] == "done", f"the large job: {office.status('large')}")
        alone, loud = seconds_of(office, "alone"), seconds_of(office, "small")
        print(f"rounds of a few words: {statistics.median(alone):.0f} ms alone, at most {max(alone)}; beside rounds of "
              f"{2 * CLASSES * FEATURES} words {statistics.median(loud):.0f} ms, at most {max(loud)}; the large job was {during} at the end")
        fed.in_time(max(loud) - max(alone) < DELAY_MS, f"a round took {max(loud)} ms, alone {max(alone)} ms")


def phase(place, number):
    """What the coordinator does with a job of the queue; None where it does not run."""
    for one in test_face.whole_status(place)["jobs"]:
        if one["job_number"] == number:  # of one that has ended, there is no phase
            return next((row["phase"] for row in one["facts"].get("job_phase", []) if row["value"] == 1), None)
    return None


def log_ms(entry):
    return datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")).timestamp() * 1000


def solves(make, programs, keys):
    """A job that solves for seconds beside one of a few words: the small one's rounds keep their pace, and /healthz answers.
    A loop that stands still delays a round by the whole computation. The rule: by less than half of it, and than DELAY_MS."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        small = fed.job_text(minimum=2, rounds=ROUNDS_SMALL).replace("cohort:\n", "cohort:\n  agents: [site-1, site-2]\n")
        office.submit("alone", small)
        office.start()
        place = test_face.port_of(office.federation, "coordinator")
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("alone", ("done", "failed"))
        office.submit("heavy", heavy_text())
        fed.wait_until(lambda: phase(place, office.number["heavy"]) == "computing", "the heavy job computes")
        office.submit("small", small)
        office.until("small", ("done", "failed"))
        office.until("heavy", ("done", "failed"))
        expect(office.status("heavy")["state"] == "done", f"the heavy job: {office.status('heavy')}")
        closed = next(entry for entry in office.federation.events("coordinator")
                      if entry["event"] == "round-closed" and entry["job"] == office.number["heavy"])
        began, ended = office.rounds("heavy")[0]["wall_ms"], log_ms(closed)
        walls = [record["wall_ms"] for record in office.rounds("small")]
        within = [b - a for a, b in zip(walls, walls[1:]) if began <= a and b <= ended]
        alone = seconds_of(office, "alone")
        print(f"the heavy job computed for {ended - began:.0f} ms; meanwhile {len(within)} rounds of the small one, at most "
              f"{max(within, default=0)} ms, alone at most {max(alone)} ms")
        expect(ended - began > SOLVED_LEAST_MS, f"it computed for {ended - began:.0f} ms: too short to hold anybody up")
        fed.in_time(len(within) >= OVERLAP_LEAST, f"{len(within)} rounds of the small job were closed while the heavy one computed")
        most = min(DELAY_MS, (ended - began) / 2)
        fed.in_time(max(within) - max(alone) < most, f"a round took {max(within)} ms, alone {max(alone)} ms")


def filing(make, programs, keys):
    """While a job's results are made it has no machine, and keeps its place: the page says that it runs until it is filed, counts
    it neither as set aside nor as waiting, and tells of it to whoever has picked it."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        office.submit("heavy", heavy_text())
        office.start()
        place = test_face.port_of(office.federation, "coordinator")
        for site in office.federation.names:
            office.federation.start_agent(site)
        number = office.number["heavy"]
        office.until("heavy", ("running",))
        fed.wait_until(lambda: phase(place, number) is not None, "the page tells of the heavy job")
        without = 0

        def look():
            nonlocal without
            code, text, _ = test_face.ask(place, f"/api/jobs/{number}")
            facts = test_face.status(place)
            row = facts["queue"][0]
            expect((facts["jobs_set_aside"], facts["jobs_waiting"]) == (0, 0), f"the page counts {facts['jobs_set_aside']}, {facts['jobs_waiting']}")
            if row["state"] == "running":  # and so it was when the first of the two was asked
                expect(code == 200, f"/api/jobs/{number} gave {code} while {row}")
                told = json.loads(text)["status"]
                expect(told["shown"] == number and told["facts"]["job_info"][0]["job"] == "heavy", f"told of the job: {told}")
                without += row["agents"] == ""  # there is no machine
                return False
            expect(row["state"] == "done" and row["rounds"] == "1 of 1", f"the row: {row}")
            expect(sorted(row["file"] for row in facts["results"]) == ["model.json", "report.html", "result.json"], f"results: {facts['results']}")
            return True

        fed.wait_until(look, "the heavy job is filed")
        expect(test_face.ask(place, f"/api/jobs/{number}")[0] == 404, "a job that was filed is told of as one that runs")
        fed.in_time(without > 0, "no look fell into the time while the results were made")


def stopped(make, programs, keys):
    """A stop, and a kill, in the middle of a long computation: nothing of it is kept, and the round is computed anew from the
    answers that were paid for."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        office.submit("heavy", heavy_text())
        for site in office.federation.names:
            office.federation.start_agent(site)
        for sent in (signal.SIGTERM, signal.SIGKILL):
            office.start()

            def computes():
                listens = [entry for entry in office.federation.events("coordinator") if entry["event"] == "http-listening"]
                return len(listens) == starts and phase(latest_page(office), office.number["heavy"]) == "computing"

            starts = 1 if sent == signal.SIGTERM else 2
            fed.wait_until(computes, "the heavy job computes")
            began = time.monotonic()
            office.process.signal(sent)
            code = office.process.wait()
            took = time.monotonic() - began
            expect(code == (0 if sent == signal.SIGTERM else -signal.SIGKILL), f"it ended with {code}")
            fed.in_time(took < STOP_S, f"a stop took {took:.1f} s")
            # The computation may have ended before the signal came. A round that nobody has computed is there in every attempt.
            fed.in_time(not office.rounds("heavy"), "a round was committed, computed or not")
        office.start()
        office.until("heavy", ("done", "failed"))
        expect(office.status("heavy")["state"] == "done", f"the heavy job: {office.status('heavy')}")
        for site in ("site-3", "site-4"):
            paid = [record["round"] for _, record, _ in journals.read(office.federation.folder / site / "state")
                    if record["kind"] == "answer"]
            expect(paid == [0], f"{site} has paid for {paid}")


def main():
    options = fed.options(at_once=(2, "federations at a time"), storms=(STORMS, "cases with kills at any time"),
                          figures=(1, "0: measure nothing, as where the programs are slow"))
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(options.programs, folder / "keys", AGENTS + 1)
        common = {"programs": options.programs, "keys": keys}
        cases = [(case.__name__, case, common) for case in (beside, cancelled, damaged, given_up, gone, unwritten, one_at_a_time, page,
                                                           stopped, filing)]
        cases += [(f"storm {i}", storm, {**common, "seed": SEED + i}) for i in range(0, options.storms, options.every)]
        cases = [one for one in cases if fed.is_chosen(one[0], options.only)]
        failed = fed.run_cases(cases, options.at_once) if cases else 0
        for measure in (shares, solves):
            if options.figures and fed.is_chosen(measure.__name__, options.only):
                failed += fed.run_cases([(measure.__name__, measure, common)], 1)
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
