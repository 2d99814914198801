"""federation.py - a federation of real processes on loopback, for the tests beside this file.

A Federation is a folder with a coordinator's and some agents' settings, keys, policies and records, and the
processes started from it. Each federation has a loopback address of its own (127.a.b.c), so that no port is
ever in another test's way, and every process dies with the test that started it.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

PORT = 7310
PATIENCE_S = 120  # for events that must come. It is long, so that a slow machine is not taken for a program that
# stands still
ATTEMPTS = 4
LOG_LINES_SHOWN = 15
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)

JOB = """hedgerow: 1
job: trial
data:
  label: {column: ill, positive: "1", negative: "0"}
  features:
    - {column: age, centre: 50, half_width: 50}
    - {column: dose, centre: 0, half_width: 10}
privacy:
  unit: record
  neighbours: replace_one
  trust: local
  epsilon: 1
  delta: 0
cohort:
  minimum: %(minimum)d
  join_deadline_s: %(join_deadline_s)s
  deadline_s: %(deadline_s)s
  patience_s: 60
stages:
  - task: fit
    loss: logistic
    lambdas: [%(lambdas)s]
    share: 0.5
    experts: {own: true, shifts: [0.5]}
    tolerance: 0.001
    grid_bits: 16
  - task: losses
    strategy: rwm
    loss: zero_one
    rounds: %(rounds)d
    batch: 5
    share: 0.5
    grid_bits: 16
"""

POLICY = """hedgerow: 1
epsilon: %(epsilon)s
delta: %(delta)s
cohort_minimum: %(cohort_minimum)d
tasks: %(tasks)s
trust: [%(trust)s]
message_mb_max: 16
answer_slot_ms: %(answer_slot_ms)d
approval: policy
"""


class Failure(Exception):
    """What a test found; the text is for a person."""


class Late(Failure):
    """A program was too slow, or the test came too late to disturb it. A busy machine causes this too, so the
    case is tried again. A program that is too slow fails every time."""


def expect(truth, sentence):
    if not truth:
        raise Failure(sentence)


def in_time(truth, sentence):
    if not truth:
        raise Late(sentence)


def must_fail(sentence, check, *given):
    """For planted faults: the check has to notice."""
    try:
        check(*given)
    except Failure:
        return
    raise Failure(f"planted and not noticed: {sentence}")


def job_text(minimum=3, join_deadline_s=PATIENCE_S, deadline_s=PATIENCE_S, rounds=2, fits=1):
    """A job of some fits, whose answers wait for slots, and some rounds of losses, whose answers do
    not."""
    return JOB % {"lambdas": ", ".join(f"{(i + 1) / 10}" for i in range(fits)), "minimum": minimum, "join_deadline_s": join_deadline_s, "deadline_s": deadline_s,
                  "rounds": rounds}


def policy_text(epsilon=2, cohort_minimum=1, tasks="[fit, losses]", answer_slot_ms=10, delta="0",
                trust="local"):
    return POLICY % {"epsilon": epsilon, "cohort_minimum": cohort_minimum, "tasks": tasks,
                     "answer_slot_ms": answer_slot_ms, "delta": delta, "trust": trust}


def dictionary_text(count, columns=("age", "dose", "ill"), separator="comma"):
    return f"hedgerow: 1\ndata_sets:\n  - records: {count}\n    separator: {separator}\n    columns:\n" + "".join(
        f"      - {{name: \"{column}\", kind: number}}\n" for column in columns)


def records(seed, count=30):
    """A table that the job above can be run on; the seed is all that it depends on."""
    dice = random.Random(seed)
    lines = ["age,dose,ill"]
    for _ in range(count):
        age = dice.randrange(1, 100)
        lines.append("%d,%.2f,%d" % (age, dice.uniform(-9, 9), age + dice.gauss(0, 20) > 50))
    return "\n".join(lines) + "\n"


def die_with_parent():
    """A process dies with the test that started it, also with one that timed out."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(question, sentence, seconds=PATIENCE_S):
    """Waits until question() is true; sentence says what did not happen. Returns what it returned. A question that takes long
    is asked less often, so that questions take a sixth of the time and programs the rest."""
    until = time.monotonic() + seconds
    while True:
        since = time.monotonic()
        answer = question()
        if answer:
            return answer
        now = time.monotonic()
        if now >= until:
            raise Failure(f"not within {seconds} s: {sentence}")
        time.sleep(min(max(0.01, 5 * (now - since)), 0.5))


class Process:
    """A running program of a federation; what it says goes to a file that all its runs share."""

    def __init__(self, federation, name, command, environment):
        self.name = name
        self.log_path = federation.folder / f"{name}.log"
        with open(self.log_path, "ab") as log:
            # pylint: disable=subprocess-popen-preexec-fn
            self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          env={**os.environ, **environment}, preexec_fn=die_with_parent)

    def code(self):
        """The exit code, negative for a signal; None while it runs."""
        return self.popen.poll()

    def signal(self, number):
        self.popen.send_signal(number)

    def wait(self, seconds=PATIENCE_S):
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end within {seconds} s") from None

    def kill(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()


class Federation:
    """See the top of the file. Used in a with statement: its end kills whatever still runs."""

    number = 0

    def __init__(self, programs, folder=None, agents=3, job=None, policy=None, keys=None,
                 linger_s=30, heartbeat_s=0.1, silence_s=1, log="{level: debug, format: json}",
                 agent_settings="once: true\n", lines=False):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="hedgerow-"))
        self.folder.mkdir(exist_ok=True)
        Federation.number += 1
        own = os.getpid() % (250 * 250 * 120)
        self.address = "tcp://127.%d.%d.%d:%d" % (7 + own // 62500, 1 + own // 250 % 250, 1 + own % 250,
                                                  PORT + Federation.number % 20000)
        self.job = job or job_text()
        self.log_settings = log
        self.linger_s = linger_s
        self.heartbeat_s = heartbeat_s
        self.silence_s = silence_s
        self.agent_settings = agent_settings
        self.lines = lines
        self.names = [f"site-{i + 1}" for i in range(agents)]
        self.keys = keys
        self.processes = []
        self.heard = {}  # what events() has parsed of each log: its first bytes, which say when it began; how far; the entries
        self.tools = 0
        self.office = self.folder / "coordinator"
        self.office.mkdir()
        self.make_key(self.office, 0)
        self.write_office()
        for i, name in enumerate(self.names):
            self.add_site(name, policy or policy_text(), records(i + 1), i + 1)
        self.admit(self.names)

    def admit(self, names):
        """Writes the coordinator's allow-list."""
        (self.office / "agents").write_text("".join(f"{name} {self.public_key(name)}\n" for name in names))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()

    def write_office(self):
        (self.office / "job.yml").write_text(self.job)
        lines = self.address.rsplit(":", 1)[0] + ":0"  # any free port of the same host
        lines = f'lines: "{lines}"\n' if self.lines else ""
        (self.office / "coordinator.yml").write_text(
            f'hedgerow: 1\nlisten: "{self.address}"\n{lines}key: key\nagents: agents\nstate: state\njob: job.yml\n'
            f"out: out\nlinger_s: {self.linger_s}\nlog: {self.log_settings}\n")

    def add_site(self, name, policy, data, key_number=None, dictionary=None):
        site = self.folder / name
        site.mkdir()
        self.make_key(site, key_number)
        (site / "policy.yml").write_text(policy)
        (site / "data.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
        if dictionary is None:
            self.describe(name)
        else:
            (site / "data.yml").write_text(dictionary)
        self.write_site(name)

    def describe(self, name, count=None, columns=None):
        """The site's dictionary: its table's columns as numbers, and a number of records, by default
        all."""
        site = self.folder / name
        lines = (site / "data.csv").read_text(errors="replace").splitlines()
        (site / "data.yml").write_text(dictionary_text(count or len(lines) - 1, columns or lines[0].split(",")))

    def write_site(self, name, coordinator_key=None, more=""):
        site = self.folder / name
        key = coordinator_key or self.public_key("coordinator")
        (site / "agent.yml").write_text(
            f'hedgerow: 1\ncoordinator: {{address: "{self.address}", public_key: "{key}"}}\n'
            "key: key\nstate: state\ndata: data.csv\ndictionary: data.yml\npolicy: policy.yml\n"
            f"heartbeat_s: {self.heartbeat_s}\nsilence_s: {self.silence_s}\nlog: {self.log_settings}\n"
            f"{self.agent_settings}{more}")

    def make_key(self, folder, number):
        """Keys are made by the program, or copied from a stock of them where hundreds are needed."""
        if self.keys is not None and number is not None:
            for name in ("key", "key.pub"):
                shutil.copy(self.keys / f"{number}{name[3:]}", folder / name)
            return
        code, said = self.tool("hedgerow", "keygen", "--out", folder / "key")
        expect(code == 0, f"keygen ended with {code}: {said}")

    def public_key(self, name):
        lines = (self.folder / name / "key.pub").read_text().splitlines()
        return [line for line in lines if line and not line.startswith("#")][-1].strip()

    def command(self, program, *words):
        return [str(self.programs / program), *map(str, words)]

    def tool(self, program, *words, seconds=PATIENCE_S):
        """Runs a command to its end; returns its exit code and all it said."""
        done = subprocess.run(self.command(program, *words), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    def agents_command(self, *words):
        return self.tool("hedgerow-coordinator", "agents", *words, "--config",
                         self.office / "coordinator.yml")

    def start(self, name, command, **environment):
        process = Process(self, name, command, environment)
        self.processes.append(process)
        return process

    def start_agent(self, name, program="hedgerow-agent", **environment):
        return self.start(name, self.command(program, "run", "--config", self.folder / name / "agent.yml"),
                          **environment)

    def start_coordinator(self, program="hedgerow-coordinator", **environment):
        return self.start("coordinator", self.command(program, "run", "--config",
                                                      self.office / "coordinator.yml"), **environment)

    def said(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def events(self, name):
        """The log so far, a dictionary per line; lines that are no JSON fail the test. A line whose end is missing is being
        written: a page of a file is seen before the next. What was parsed before is kept: questions are asked every few ms."""
        path = self.folder / f"{name}.log"
        if not path.exists():
            return []
        text = path.read_bytes()
        head, at, out = self.heard.get(name, (b"", 0, []))
        if len(text) < at or not text.startswith(head):
            at, out = 0, []  # another file by now
        whole = text.rfind(b"\n") + 1
        for line in text[at:whole].decode(errors="replace").split("\n")[:-1]:
            try:
                out.append(json.loads(line))
            except ValueError:
                raise Failure(f"{name}'s log has a line that is no JSON object: {line}") from None
        self.heard[name] = (text[:100], whole, out)
        return list(out)

    def event(self, name, event, peer=None):
        """The first entry of that event, or None."""
        for entry in self.events(name):
            if entry["event"] == event and (peer is None or entry.get("peer") == peer):
                return entry
        return None

    def wait_event(self, name, event, peer=None):
        return wait_until(lambda: self.event(name, event, peer),
                          f"{name}'s log has no {event}" + (f" of {peer}" if peer else ""))

    def result(self):
        return json.loads((self.office / "out" / "result.json").read_text())

    def ledger(self, name):
        code, said = self.tool("hedgerow-agent", "ledger", "--json", "--config",
                               self.folder / name / "agent.yml")
        expect(code == 0, f"{name}: ledger ended with {code}: {said}")
        return json.loads(said)

    def last_words(self):
        """The ends of all logs, for a person who has to find out why."""
        out = []
        for path in sorted(self.folder.glob("*.log")):
            lines = path.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
            out.append(f"---- {path.name}\n" + "\n".join(lines))
        return "\n".join(out)


@contextlib.contextmanager
def temporary_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hedgerow-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_keys(programs, folder, count):
    """A stock of keys: 0, 0.pub, 1, 1.pub, ..."""
    folder.mkdir()
    for i in range(count):
        subprocess.run([str(pathlib.Path(programs) / "hedgerow"), "keygen", "--out", str(folder / str(i))],
                       check=True, stdout=subprocess.DEVNULL)
    return folder


def attempt(work):
    """Runs one case of a test: (name, function, arguments). Returns why it failed, and whether it was late."""
    _, function, given = work
    late = False
    with temporary_folder() as folder:
        federations = []

        def federation(programs, **options):
            made = Federation(programs, folder=folder / f"federation-{len(federations)}", **options)
            federations.append(made)
            return made

        trouble = None
        try:
            function(federation, **given)
        except Failure as failure:
            trouble = str(failure)
            late = isinstance(failure, Late)
        except Exception:  # pylint: disable=broad-exception-caught
            trouble = traceback.format_exc()
        finally:
            for one in federations:
                one.__exit__()
        if trouble is not None:
            trouble = "\n".join([trouble] + [one.last_words() for one in federations])
    return trouble, late


class Case:
    """One case in a process of its own: its own address, its own end, nothing shared with the others."""

    def __init__(self, work, folder):
        self.name = work[0]
        self.since = time.monotonic()
        self.said = folder / str(time.monotonic_ns())
        self.process = os.fork()
        if self.process == 0:
            die_with_parent()
            trouble = "the test itself failed"
            try:
                for _ in range(ATTEMPTS):
                    trouble, late = attempt(work)
                    if not late:
                        break
                    print(f"late {self.name}: {trouble.splitlines()[0]}", flush=True)
            finally:
                self.said.write_text(trouble or "")
                os._exit(0)

    def ended(self):
        return os.waitpid(self.process, os.WNOHANG)[0] != 0

    def seconds(self):
        return time.monotonic() - self.since

    def trouble(self):
        return self.said.read_text() if self.said.exists() else "the test's process died"

    def abandon(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def run_cases(cases, at_once=4, case_seconds=6 * PATIENCE_S):
    """Runs cases beside each other, prints those that fail, and returns the exit code. Without any case it fails."""
    if not cases:
        print("no case is selected")
        return 1
    since = time.monotonic()
    waiting = list(cases)
    running = []
    failed = 0
    longest = (0, "")
    with temporary_folder() as folder:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(Case(waiting.pop(0), folder))
            time.sleep(0.02)
            for one in list(running):
                trouble = None
                if one.ended():
                    trouble = one.trouble()
                elif one.seconds() > case_seconds:
                    one.abandon()
                    trouble = f"no end after {case_seconds} s"
                if trouble is None:
                    continue
                running.remove(one)
                longest = max(longest, (one.seconds(), one.name))
                if trouble != "":
                    failed += 1
                    print(f"FAILED {one.name} ({one.seconds():.1f} s): {trouble}\n", flush=True)
    print(f"{len(cases)} cases, {failed} failed, {time.monotonic() - since:.1f} s; "
          f"the longest {longest[0]:.1f} s: {longest[1]}", flush=True)
    return 0 if failed == 0 and cases else 1


def is_chosen(name, only):
    """Whether --only, one or several parts of names with commas between, asks for the case of this name."""
    return any(part in name for part in only.split(","))


def options(**more):
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True, help="the folder with the programs")
    parser.add_argument("--only", default="", help="only cases whose name contains this; some tests: or one of several parts, with commas between")
    parser.add_argument("--every", type=int, default=1, help="of the steps to be killed at, each N-th alone")
    for name, (default, text) in more.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default, help=text)
    parsed = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return parsed
