"""test_queue.py - a coordinator that stays: three jobs submitted, one of them cancelled, agents and coordinator killed.

An undisturbed run tells which steps the coordinator and an agent go through. Then, for each step chosen, the same again with
a SIGKILL exactly there: the first job ends as if nothing had happened, the second is cancelled in the middle of its rounds,
the third ends. Each job must have run once, with exactly one paid answer of every site to each of its rounds. The sites'
ledgers must agree with the jobs' journals.
"""

import collections
import json
import random
import signal
import sys
import time

import federation as fed
import journals
import test_face
import test_kill
from federation import expect

SEED = 33
AGENTS = 3
ROUNDS = 3  # a fit and two of losses
LINGER_S = 6
LIVES_MAX = 4
JOBS = ("first", "second", "third")
STATES = {"first": "done", "second": "cancelled", "third": "done"}
EPSILON = 3  # what a site may spend: the three jobs would take all of it
STEPS_AT_MOST = {"commit": 16, "work": 4, "forget": 4, "finish": 8, "filing": 40, "reconnect": 2, "doubt": 2, "send": 5,
                 "event": 5}
SUSPICIOUS = ("offer-changed", "answer-forged", "offer-refused", "invitation-differs", "answer-dropped",
              "step-failed", "commit-failed", "recovery-failed", "frame-refused", "message-unexpected",
              "job-unreadable", "budget-exhausted")
PROGRAMS = {"coordinator": "hedgerow-coordinator-killed"}


def text_of(name):
    """The second job cannot be over before it is cancelled: it waits for a site that never comes."""
    more = 1 if name == "second" else 0
    return fed.job_text(minimum=AGENTS + more).replace("job: trial", f"job: {name}")


def write_settings(federation):
    (federation.office / "coordinator.yml").write_text(
        f'hedgerow: 1\nhttp: {{listen: "127.0.0.1:0"}}\nlisten: "{federation.address}"\nkey: key\nagents: agents\njobs: jobs\n'
        f"linger_s: {federation.linger_s}\nlog: {federation.log_settings}\n")


def command(federation, *words, code=0):
    got, said = federation.tool("hedgerow-coordinator", *words, "--config", federation.office / "coordinator.yml")
    expect(got == code, f"{' '.join(map(str, words))} ended with {got}, not {code}: {said}")
    return said


def status(federation, number):
    return json.loads(command(federation, "status", number, "--json"))


def is_running(federation, number):
    """A command takes as long as a round. So it is run only after a file has changed."""
    return (federation.office / "jobs" / str(number) / "state").exists() and status(federation, number)["state"] == "running"


def is_filed(federation, number):
    return (federation.office / "jobs" / str(number) / "end").exists() and status(federation, number)["ended"]


def submit(federation, name):
    path = federation.folder / f"{name}.yml"
    path.write_text(text_of(name))
    number = json.loads(command(federation, "submit", path, "--json"))["number"]
    path.write_text("hedgerow: 1\n")  # what runs is the copy
    return number


class Lives:
    """The programs of a federation. A program that dies by the plan is started again at once."""

    def __init__(self, federation, kills, steps):
        self.federation = federation
        self.plan = {name: list(places) for name, places in kills.items()}
        self.steps = steps
        self.deaths = collections.Counter()
        self.running = {}
        self.said = {}  # how much a program's log had when its present life began
        for name in federation.names + ["coordinator"]:
            self.launch(name)

    def launch(self, name):
        environment = {}
        places = self.plan.get(name, [])
        if places:
            environment["HEDGEROW_KILL_AT"] = places.pop(0)
        if self.steps:
            environment["HEDGEROW_STEPS"] = str(self.federation.folder / f"{name}.steps")
        self.said[name] = len(self.federation.said(name))
        program = PROGRAMS.get(name, "hedgerow-agent-killed")
        words = ("run", "--config", self.federation.folder / name / ("coordinator.yml" if name == "coordinator"
                                                                     else "agent.yml"))
        self.running[name] = self.federation.start(name, self.federation.command(program, *words), **environment)

    def mend(self):
        for name, process in list(self.running.items()):
            code = process.code()
            if code is None:
                continue
            expect(code == -signal.SIGKILL, f"{name} ended with {code}: neither the end of a job nor a cancellation ends it")
            self.deaths[name] += 1
            expect(self.deaths[name] <= LIVES_MAX, f"{name} dies again and again")
            self.launch(name)

    def until(self, question, sentence):
        def ask():
            self.mend()
            return question()
        return fed.wait_until(ask, sentence)

    def takes_signals(self, name, process):
        """Whether a life that has only begun would still die of SIGTERM."""
        return process.code() is not None or '-started"' in self.federation.said(name)[self.said[name]:]

    def stop(self):
        """A coordinator that stays ends with SIGTERM alone, and well."""
        for name, process in list(self.running.items()):
            del self.running[name]
            fed.wait_until(lambda: self.takes_signals(name, process), f"{name} has started")  # pylint: disable=cell-var-from-loop
            if process.code() is None:
                process.signal(signal.SIGTERM)
                code = process.wait()
                expect(code in (0, -signal.SIGKILL), f"{name} ended with {code} after SIGTERM")
            self.deaths[name] += 1 if process.code() == -signal.SIGKILL else 0


def carry_out(federation, kills, steps=False):
    write_settings(federation)
    number = {"first": submit(federation, "first")}  # before anything runs
    lives = Lives(federation, kills, steps)
    number["second"] = submit(federation, "second")
    number["third"] = submit(federation, "third")
    expect(list(number.values()) == [1, 2, 3], f"the jobs' numbers are {number}")
    lives.until(lambda: is_running(federation, number["second"]), "the second job has begun")
    lives.until(lambda: is_filed(federation, number["first"]), "the first job is filed")
    said = command(federation, "cancel", number["second"])
    expect("not begin" not in said, f"the cancellation of what runs: {said}")
    for name in JOBS:
        lives.until(lambda name=name: is_filed(federation, number[name]), f"the {name} job is filed")
    lives.stop()
    return lives.deaths


def jobs_of(folder):
    """The records of a journal by the job they are of: id -> list."""
    out = collections.defaultdict(list)
    for _, record, _ in journals.read(folder):
        if record["kind"] in ("job", "answer", "round"):
            out[record["job"]].append(record)
    return out


def check(federation):
    table = {job["job"]: job for job in json.loads(command(federation, "jobs", "--json"))["jobs"]}
    expect({name: table[name]["state"] for name in JOBS} == STATES and len(table) == 3, f"the queue says {table}")
    ran = {}
    for name in JOBS:
        folder = federation.office / "jobs" / str(table[name]["number"])
        journal = jobs_of(folder / "state")
        expect(len(journal) == 1, f"the {name} job was begun under {len(journal)} names")
        (job, records), = journal.items()
        ran[job] = name
        rounds = [record for record in records if record["kind"] == "round"]
        wanted = 1 if name == "second" else ROUNDS
        expect([record["round"] for record in rounds] == list(range(wanted)), f"{name}: rounds {rounds}")
        if name == "second":
            expect(rounds[0].get("failed") and rounds[0].get("cancelled"), "the cancellation is no record")
            expect(b"cancelled by " in rounds[0]["cause"], f"the cancellation's cause is {rounds[0]['cause']}")
            expect(table[name]["epsilon"] == 0, "a job that waited for a site was paid")
            continue
        expect(all(sorted(record["agents"]) == federation.names for record in rounds), f"{name}: who answered")
        result = json.loads((folder / "out" / "result.json").read_text())
        expect(result["job"] == name and [r["agents"] for r in result["rounds"]] == [AGENTS] * ROUNDS,
               f"{name}: result.json tells of another job")
        expect(table[name]["epsilon"] == 1 and table[name]["rounds"] == ROUNDS, f"{name}: {table[name]}")
        out = federation.folder / f"copy-{name}"
        command(federation, "result", table[name]["number"], "--out", out)
        expect((out / "result.json").read_text() == (folder / "out" / "result.json").read_text(), "another result")
    for name in federation.names:
        check_site(federation, name, ran)
    for name in ["coordinator"] + federation.names:
        odd = {entry["event"] for entry in federation.events(name)} & set(SUSPICIOUS)
        expect(not odd, f"{name}'s log has {odd}")


def check_site(federation, name, ran):
    """One answer to each round of the two jobs that ended, and none to a round that nobody opened."""
    answers = collections.defaultdict(list)
    for job, records in jobs_of(federation.folder / name / "state").items():
        expect(job in ran, f"{name} took part in a job that the queue does not know")
        answers[ran[job]] += [record["round"] for record in records if record["kind"] == "answer"]
    expect({job: sorted(rounds) for job, rounds in answers.items() if rounds} ==
           {"first": list(range(ROUNDS)), "third": list(range(ROUNDS))}, f"{name} has answered {dict(answers)}")
    spent = federation.ledger(name)["spent"]["epsilon"]
    expect(spent == 2, f"{name}'s ledger says {spent}")


def run(make, programs, keys, **more):
    return make(programs, keys=keys, linger_s=LINGER_S, policy=fed.policy_text(epsilon=EPSILON), agent_settings="",
                **more)


def undisturbed(make, programs, keys, out):
    with run(make, programs, keys) as federation:
        deaths = carry_out(federation, {}, steps=True)
        expect(sum(deaths.values()) == 0, "somebody died in the undisturbed run")
        check(federation)
        for name in ("coordinator", federation.names[0]):
            (out / f"{name}.steps").write_text((federation.folder / f"{name}.steps").read_text())


def case(make, programs, keys, kills, out):
    with run(make, programs, keys) as federation:
        deaths = carry_out(federation, kills)
        check(federation)
        for name, places in kills.items():
            if deaths[name] and len(places) == 1:
                (out / f"{name} {places[0]}").touch()


def storm(make, programs, keys, seed):
    """Kills from outside, at any instruction: also while results are published and jobs are filed."""
    dice = random.Random(seed)
    with run(make, programs, keys) as federation:
        write_settings(federation)
        submit(federation, "first")
        submit(federation, "second")
        submit(federation, "third")
        lives = Lives(federation, {}, False)
        for _ in range(8):
            until = time.monotonic() + dice.uniform(0.02, 0.5)
            while time.monotonic() < until:
                lives.mend()
                time.sleep(0.002)
            victim = lives.running[dice.choice(["coordinator", "coordinator"] + federation.names)]
            if victim.code() is None:
                victim.signal(signal.SIGKILL)
            victim.wait()
            lives.deaths.clear()
        lives.until(lambda: is_filed(federation, 1), "the first job is filed")
        lives.until(lambda: is_running(federation, 2), "the second job has begun")
        command(federation, "cancel", 2)
        lives.until(lambda: is_filed(federation, 3), "the third job is filed")
        lives.stop()
        check(federation)


def commands(make, programs, keys):
    """What an operator may get wrong, and jobs that end before they begin."""
    with run(make, programs, keys, silence_s=10) as federation:
        write_settings(federation)
        jobs = federation.office / "jobs"
        bad = federation.folder / "bad.yml"
        bad.write_text(text_of("bad").replace("epsilon: 1", "epsilon: much"))
        said = command(federation, "submit", bad, code=3)
        expect("bad.yml:" in said and "epsilon" in said, f"a bad job is refused by: {said}")
        expect(not list(jobs.iterdir()), "a job that was refused left something behind")
        expect("no job 1" in command(federation, "status", 1, code=3), "a job that is not there")
        expect("no job's number" in command(federation, "cancel", "one", code=3), "a number that is none")
        first = submit(federation, "first")
        expect("no result yet" in command(federation, "result", first, "--out", federation.folder / "r", code=3),
               "a result before the end")
        said = command(federation, "cancel", first)
        expect("it has not begun, and it will not begin" in said, f"the cancellation of what has not begun: {said}")
        expect(status(federation, first)["state"] == "cancelled", "what has not begun is cancelled at once")
        expect("is over" in command(federation, "cancel", first, code=3), "a second cancellation")
        third = submit(federation, "third")
        (jobs / "4").mkdir()  # half a job, made by hand: it does not run, and the others do
        (jobs / "5").mkdir()
        (jobs / "5" / "job.yml").write_text("hedgerow: 1\n")
        (jobs / ".new.abcdef").mkdir()
        (jobs / "notes.txt").write_text("not a job\n")
        lives = Lives(federation, {}, False)
        lives.until(lambda: federation.event("coordinator", "http-listening"), "the page is there")
        lives.until(lambda: is_filed(federation, third), "the job behind a cancelled one is filed")
        lives.until(lambda: is_filed(federation, first), "the cancelled job is filed")
        fed.wait_until(lambda: federation.event("coordinator", "queue-empty"), "the queue is empty")
        command(federation, "submit", federation.folder / "bad.yml", code=3)
        (federation.folder / "late.yml").write_text(text_of("late"))
        said = command(federation, "submit", federation.folder / "late.yml", "--wait", "--json")
        late = json.loads(said)
        expect((late["number"], late["state"], late["epsilon"]) == (6, "done", 1), f"the late job: {late}")
        page = test_face.status(test_face.port_of(federation, "coordinator"))
        expect(all(set(row) == test_face.LISTS["queue"] for row in page["queue"]), "a column that was not judged")
        expect([(row["number"], row["state"], row["rounds"], row["job"]) for row in page["queue"]] ==
               [("6", "done", "3 of 3", "late"), ("5", "waiting", "0 of 0", ""), ("4", "waiting", "0 of 0", ""),
                ("2", "done", "3 of 3", "third"), ("1", "cancelled", "0 of 3", "first")], f"the page: {page['queue']}")
        expect(page["jobs_waiting"] == 2 and page["job_info"] == [], "the page of a coordinator without a job")
        for event in ("job-taken", "job-filed"):  # the log has the begin and the end of each job
            told = [entry for entry in federation.events("coordinator") if entry["event"] == event]
            expect(told and all(f"job {entry.get('job')} " in entry["text"] for entry in told), f"the field job of {event}: {told}")
        unreadable = [entry for entry in federation.events("coordinator") if entry["event"] == "job-unreadable"]
        expect([entry["text"].split()[1] for entry in unreadable] == ["4", "5"], f"told of: {unreadable}")
        for name in federation.names:  # connected all the time, also while no job ran
            odd = {entry["event"] for entry in federation.events(name)} & {"disconnected", "coordinator-silent"}
            expect(not odd, f"{name}'s log has {odd}")
        lives.stop()
        (jobs / "2" / "end").chmod(0o600)
        (jobs / "2" / "end").write_text("state: perhaps\n")
        said = command(federation, "jobs", code=3)
        expect("/jobs/2/end" in said and "late" in said, f"one broken file hides the others: {said}")
        one = (federation.office / "coordinator.yml").read_text().replace("jobs: jobs", "jobs: jobs\njob: job.yml")
        (federation.office / "coordinator.yml").write_text(one)
        expect('both "job" and "jobs"' in command(federation, "jobs", code=3), "one job beside a queue")
        (federation.office / "coordinator.yml").write_text(
            one.replace("jobs: jobs\n", "state: state\nout: out\n"))
        expect("name one job" in command(federation, "jobs", code=3), "a queue's command without one")


def stuck(make, programs, keys):
    """A job that has begun and whose text or journal has changed does not run again, and delays no other job."""
    with run(make, programs, keys) as federation:
        write_settings(federation)
        jobs = federation.office / "jobs"
        lives = Lives(federation, {}, False)
        for number, spoil, because in ((1, "text", "put the old text back"), (3, "journal", "its journal is gone")):
            expect(submit(federation, "second") == number, "its number")
            lives.until(lambda number=number: is_running(federation, number), "the job has begun")
            lives.stop()
            if spoil == "text":
                path = jobs / str(number) / "job.yml"
                path.chmod(0o600)
                path.write_text(path.read_text() + "# another text\n")
            else:
                (jobs / str(number) / "state").rename(federation.folder / "gone")
            expect(submit(federation, "third") == number + 1, "the number of the job behind it")
            lives = Lives(federation, {}, False)
            lives.until(lambda number=number: is_filed(federation, number + 1), "the job behind it is filed")
            now = status(federation, number)
            expect(now["state"] == "set aside" and because in now["because"], f"the stuck job: {now}")
            command(federation, "cancel", number)
            lives.stop()
            lives = Lives(federation, {}, False)
            lives.until(lambda number=number: is_filed(federation, number), "the stuck job is filed")
            now = status(federation, number)
            expect(now["state"] == "cancelled" and because in now["because"], f"the filed job: {now}")
        lives.stop()
        for name in federation.names:
            expect(federation.ledger(name)["spent"]["epsilon"] == 2, f"{name} paid for another job than the two that ended")


def planted(make, programs, keys):
    """Planted: a job that ran again, an answer too many, a ledger that lost a charge."""
    with run(make, programs, keys) as federation:
        carry_out(federation, {})
        check(federation)
        folder = federation.office / "jobs" / "1"
        (folder / "state").rename(folder / "kept")
        (folder / "state").mkdir()
        for path in (federation.office / "jobs" / "3" / "state").iterdir():
            (folder / "state" / path.name).write_bytes(path.read_bytes())
        fed.must_fail("a job in another's journal", check, federation)
        (folder / "kept").rename(folder / "gone")
        name = federation.names[0]
        answered = jobs_of(federation.folder / name / "state")
        fed.must_fail("answers to a job that was cancelled", check_site, federation, name,
                      {job: "second" for job in answered})
        fed.must_fail("a job that nobody submitted", check_site, federation, name, {})


def spread(items, count):
    return items if len(items) <= count else [items[i * (len(items) - 1) // (count - 1)] for i in range(count)]


def places(path):
    by_kind = collections.defaultdict(list)
    for line in path.read_text().split():
        if "filing" in line or test_kill.is_its_turn(line):  # test_kill dies at both sides of each step
            by_kind[line.replace(":", "-").split("-")[0]].append(line)
    return {kind: spread(lines, STEPS_AT_MOST[kind]) for kind, lines in sorted(by_kind.items())}


def main():
    options = fed.options(at_once=(4, "federations at a time"), storms=(6, "cases with kills at any time"))
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(options.programs, folder / "keys", AGENTS + 1)
        common = {"programs": options.programs, "keys": keys}
        if fed.run_cases([("undisturbed", undisturbed, {**common, "out": folder})]) != 0:
            return 1
        met = folder / "met"
        met.mkdir()
        cases = [("commands", commands, common), ("stuck", stuck, common), ("planted", planted, common)]
        cases += [(f"storm {i}", storm, {**common, "seed": SEED + i}) for i in range(options.storms)]
        vital = set()
        for name in ("coordinator", "site-1"):
            for kind, lines in places(folder / f"{name}.steps").items():
                lines = lines[::options.every]
                cases += [(f"{name} {line}", case, {**common, "kills": {name: [line]}, "out": met}) for line in lines]
                vital |= {f"{name} {line}" for line in lines if kind in ("commit", "filing") or
                          kind == "finish" and int(line.split(":")[1]) <= len(JOBS)}  # submissions may be seen together
        cases = [one for one in cases if fed.is_chosen(one[0], options.only)]
        failed = fed.run_cases(cases, options.at_once)
        missed = sorted(vital - {path.name for path in met.iterdir()})
        print(f"{len(list(met.iterdir()))} places were reached; vital ones that were not: {missed}")
        return 1 if failed or (missed and not options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
