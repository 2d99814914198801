"""test_desk.py - operators who work from another machine: the real coordinator with its desk, the real command, and a line
between them that can be cut at any byte.

Whatever dies or is cut - the command, the desk, the coordinator, the line before or behind any byte - a submission is in the
queue once, a cancellation holds, a result is whole or not there. A key of one list has no right of the other. Floods of an
operator and of strangers do not delay rounds beyond what the machine's processors explain.
"""

import contextlib
import json
import os
import random
import re
import select
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

import federation as fed
from federation import expect

SEED = 71
AGENTS = 3
CUTS = 4  # places at which the line is cut, for each command
KILLS = 6
FLOOD = 4000
SLOT_MS = 200  # a fit of as many records as the flood needs, by a program under sanitizers on a busy machine
ROUNDS_MEASURED = 120
SLOWER_AT_MOST = 6  # rounds under a flood: three programs more on two processors, and the desk has the lowest priority
JOB_FIELDS = {"number", "job", "state", "begun", "stuck", "rounds", "rounds_planned", "epsilon", "epsilon_planned", "delta", "delta_planned",
              "submitted", "cancel", "ended", "because", "seconds_left", "waits", "declined", "held", "results"}
ROUND_FIELDS = {"round", "rounds", "stage", "agents", "epsilon", "seconds", "closed"}


class Line:
    """A TCP line in the middle that ends each connection after some bytes of one direction."""

    def __init__(self, address, towards):
        self.towards = towards
        self.cut = {"up": None, "down": None}  # how many bytes a connection may carry; None: all
        self.passed = {"up": 0, "down": 0}     # of the present connection
        self.ended = 0
        self.socket = socket.create_server(address, backlog=64)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(near,), daemon=True).start()

    def carry(self, near):
        self.passed = {"up": 0, "down": 0}
        with near, contextlib.suppress(OSError), socket.create_connection(self.towards) as far:
            while True:
                for one in select.select([near, far], [], [])[0]:
                    way, other = ("up", far) if one is near else ("down", near)
                    data = one.recv(65536)
                    if not data:
                        return
                    room = len(data) if self.cut[way] is None else self.cut[way] - self.passed[way]
                    self.passed[way] += len(data)
                    other.sendall(data[:room])
                    if room < len(data):
                        self.cut = {"up": None, "down": None}  # the next connection is whole
                        self.ended += 1
                        return

    def close(self):
        self.socket.close()


def place(address):
    host, port = re.fullmatch(r"tcp://(.*):(\d+)", address).groups()
    return host, int(port)


class Office:
    """A federation whose coordinator stays, with a desk; and operators with a home each."""

    def __init__(self, federation):
        self.federation = federation
        host, _ = place(federation.address)
        self.desk = f"tcp://{host}:8311"
        self.settings = federation.office / "coordinator.yml"
        self.settings.write_text(
            f'hedgerow: 1\nlisten: "{federation.address}"\nkey: key\nagents: agents\njobs: jobs\n'
            f'operators: {{listen: "{self.desk}", list: operators}}\n'
            f"linger_s: {federation.linger_s}\nlog: {{level: info, format: json}}\n")
        self.coordinator = None
        self.agents = []

    def start(self, agents=True, program="hedgerow-coordinator", **environment):
        self.coordinator = self.federation.start_coordinator(program, **environment)
        if agents:
            self.agents = [self.federation.start_agent(name) for name in self.federation.names]

    def local(self, *words, code=0):
        got, said = self.federation.tool("hedgerow-coordinator", *words, "--config", self.settings)
        expect(got == code, f"{' '.join(map(str, words))} ended with {got}, not {code}: {said}")
        return said

    def home(self, name):
        home = self.federation.folder / f"home-{name}"
        home.mkdir(mode=0o700, exist_ok=True)
        return home

    def environment(self, name):
        kept = {key: value for key, value in os.environ.items() if key != "XDG_CONFIG_HOME"}
        return {**kept, "HOME": str(self.home(name))}

    def words(self, *words):
        return self.federation.command("hedgerow", "--at", "office", *words)

    def remote(self, name, *words, code=0):
        done = subprocess.run(self.words(*words), env=self.environment(name), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=fed.PATIENCE_S, check=False)
        said = done.stdout.decode() + done.stderr.decode()
        expect(code is None or done.returncode == code,
               f"{name}: {' '.join(map(str, words))} ended with {done.returncode}, not {code}: {said}")
        return done.stdout.decode() if code == 0 else said

    def submit_again(self, name, path):
        """Submits a file until it is said to be in the queue. A desk that dies again and again outlasts one command's
        patience on a slow machine; the same file is the same job."""
        for _ in range(fed.ATTEMPTS):
            said = self.remote(name, "submit", path, code=None)
            if "nothing answers" not in said:
                break
        expect(said.startswith("job "), f"{name}: submit {path} said {said}")

    def ask(self, name, *words):
        return json.loads(self.remote(name, *words, "--json"))

    def token(self, name, address=None):
        path = self.federation.folder / f"{name}.token"
        path.unlink(missing_ok=True)
        self.local("operators", "add", name, "--token", path, "--address", address or self.desk)
        return path

    def enrol(self, name, address=None):
        self.remote(name, "enrol", "--token", self.token(name, address))

    def job(self, name, rounds=2, minimum=AGENTS):
        path = self.federation.folder / f"{name}.yml"
        path.write_text(fed.job_text(rounds=rounds, minimum=minimum).replace("job: trial", f"job: {name}"))
        return path

    def own_key(self, name):
        return self.home(name) / ".config" / "hedgerow" / "office.key"

    def public_key(self, name):
        return [line for line in self.own_key(name).with_suffix(".key.pub").read_text().splitlines()
                if line and not line.startswith("#")][-1].strip()

    def stranger(self, address, key, deed, count, *token):
        done = subprocess.run([str(self.federation.programs / "desk_stranger"), address,
                               self.federation.public_key("coordinator"), str(key), deed, str(count), *token],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=fed.PATIENCE_S, check=False)
        said = done.stdout.decode()
        found = re.search(r"sent (\d+) heard (\d+)", said)
        expect(done.returncode == 0 and found, f"desk_stranger {deed}: {said}")
        return int(found[1]), int(found[2])

    def heard(self, address, key, deed, who):
        """A stranger waits 1.5 s for its answer, which a crowded machine may need longer for: it asks again."""
        fed.wait_until(lambda: self.stranger(address, key, deed, 1)[1] >= 1, f"{who} is answered")

    def names(self):
        return [job["job"] for job in json.loads(self.local("jobs", "--json"))["jobs"]]

    def ended(self, number):
        return json.loads(self.local("status", number, "--json"))["ended"]


def make_office(make, programs, keys, **options):
    return Office(make(programs, keys=keys, linger_s=2, policy=fed.policy_text(epsilon=99, answer_slot_ms=SLOT_MS), agent_settings="",
                       log="{level: info, format: json}", **options))


def walk(make, programs, keys):
    """Every command, as text and as JSON, against what the local commands say."""
    office = make_office(make, programs, keys)
    office.start()
    said = office.remote("maria", "jobs", code=3)
    expect("enrol --token" in said, f"without settings: {said}")
    office.enrol("maria")
    office.remote("maria", "enrol", "--token", office.federation.folder / "maria.token")  # asked again: no harm
    job = office.job("walk", rounds=3)
    said = office.remote("maria", "submit", job, "--stream")
    rows = re.findall(r"^  (\w+) +(\d)/4 +3 ", said, re.M)
    expect(rows == [("fit", "1"), ("losses", "2"), ("losses", "3"), ("losses", "4")], f"the rounds: {said}")
    expect(re.search(r"^submitted +operator maria at ", said, re.M) and re.search(r"^state +done", said, re.M), said)
    local, far = json.loads(office.local("status", 1, "--json")), office.ask("maria", "status", 1)
    expect(set(far) == JOB_FIELDS and local.pop("results") and far.pop("results") is None and local == far,
           f"an operator is told {far}, a local command {local}")
    lines = [json.loads(line) for line in office.remote("maria", "watch", 1, "--json").splitlines()]
    expect(len(lines) == 5 and all(set(line) == ROUND_FIELDS for line in lines[:4]) and set(lines[4]) == JOB_FIELDS,
           f"watch as JSON: {lines}")
    expect(office.local("watch", 1, "--json").splitlines()[:4] == office.remote("maria", "watch", 1, "--json").splitlines()[:4],
           "the local watch tells other rounds")
    expect(office.remote("maria", "agents") == office.local("agents", "list"), "the agents")
    expect(office.ask("maria", "agents") == json.loads(office.local("agents", "list", "--json")), "the agents as JSON")
    expect([one["number"] for one in office.ask("maria", "jobs")["jobs"]] == [1], "the queue")
    out = office.federation.folder / "far"
    office.remote("maria", "result", 1, "--out", out)
    office.local("result", 1, "--out", office.federation.folder / "near")
    for name in ("result.json", "model.json"):
        own = (office.federation.office / "jobs" / "1" / "out" / name).read_bytes()
        expect((out / name).read_bytes() == own == (office.federation.folder / "near" / name).read_bytes(), name)
    expect("not an empty folder" in office.remote("maria", "result", 1, "--out", out, code=7), "a folder that holds something")
    expect("no job 9" in office.remote("maria", "status", 9, code=3), "a job that is not there")
    expect("no job's number" in office.remote("maria", "cancel", "x", code=3), "a number that is none")
    office.remote("maria", "jobs", "--out", "x", code=2)
    bad = office.federation.folder / "bad.yml"
    bad.write_text(job.read_text().replace("epsilon: 1", "epsilon: much"))
    said = office.remote("maria", "submit", bad, code=3)
    expect("bad.yml:" in said and "epsilon" in said, f"a bad job: {said}")
    waits = office.ask("maria", "submit", office.job("waits", minimum=AGENTS + 1))
    fed.wait_until(lambda: office.ask("maria", "status", 2)["state"] == "running", "the second job has begun")
    expect(waits["number"] == 2 and "no result yet" in office.remote("maria", "result", 2, "--out", "r", code=3), "no result yet")
    expect(office.ask("maria", "cancel", 2)["cancel"].startswith("operator maria at "), "who cancelled")
    fed.wait_until(lambda: office.ended(2), "the cancelled job is filed")
    office.remote("maria", "watch", 2, code=4)
    for name, words, code in (("maria", (job, "--id", "nightly"), 0), ("maria", (job, "--id", "nightly"), 0), ("maria", (bad, "--id", "x"), 3)):
        office.remote(name, "submit", *words, code=code)
    expect(office.names() == ["walk", "waits", "walk"], f"one job of one id: {office.names()}")
    said = office.remote("maria", "submit", office.job("other"), "--id", "nightly", code=3)
    expect("job 3 was submitted with this id" in said and not list(office.own_key("maria").parent.glob("*.submits-*")), f"an id of another file: {said}")
    office.remote("maria", "cancel", 3)
    log = [(entry["event"], entry.get("peer"), entry["text"]) for entry in office.federation.events("coordinator")]
    for event, text in (("submit", "submit job 1: done"), ("submit", "submit job 2: done"), ("cancel", "cancel job 2: done"),
                        ("result", "result job 1: done"), ("jobs", "jobs: done"), ("watch", "watch job 1: done")):
        expect((f"operator-{event}", "maria", text) in log, f"the log lacks: {event}, {text}")
    key = office.own_key("maria")
    key.chmod(0o644)
    expect("chmod 600" in office.remote("maria", "jobs", code=3), "a key that others may read")
    key.chmod(0o600)
    key.parent.chmod(0o777)
    office.remote("maria", "jobs", code=3)
    key.parent.chmod(0o700)
    office.remote("maria", "jobs")


def roles(make, programs, keys):
    """A key on one list has no right of the other; a token enrols to its own list; one key is not on both."""
    office = make_office(make, programs, keys)
    office.start(agents=False)
    office.enrol("maria")
    site = office.federation.names[0]
    agent_key, operator_key = office.federation.folder / site / "key", office.own_key("maria")
    office.heard(office.desk, operator_key, "who", "an operator at the desk")
    expect(office.stranger(office.federation.address, operator_key, "hello", 3)[1] == 0, "an operator at the agents' port")
    expect(office.stranger(office.desk, agent_key, "who", 3)[1] == 0, "an agent at the desk")
    expect(office.stranger(office.desk, operator_key, "hello", 3)[1] == 0, "an agent's message under an operator's key")
    expect(office.stranger(office.federation.address, agent_key, "who", 3)[1] == 0, "a question under an agent's key")
    office.heard(office.federation.address, agent_key, "hello", "an agent at its own port")
    expect("both an agent and an operator" in office.local("operators", "add", "jan", "--key",
                                                           office.federation.public_key(site), code=7), "an agent's key")
    expect("both an agent and an operator" in office.local("agents", "add", "jan", "--key", office.public_key("maria"), code=7),
           "an operator's key")
    # Tokens, by the programs and by whoever takes the secret out of them.
    jan = office.token("jan")
    agents_token = office.federation.folder / "site-9.token"
    office.local("agents", "add", "site-9", "--token", agents_token, "--address", office.federation.address)
    said = office.federation.tool("hedgerow-agent", "enrol", "--token", jan, "--config",
                                  office.federation.folder / site / "agent.yml")
    expect(said[0] == 5 and "enrols an operator, not an agent" in said[1], f"an operator's token at an agent: {said}")
    expect("enrols an agent, not an operator" in office.remote("jan", "enrol", "--token", agents_token, code=5), "the other way")
    secret = {path: re.search(r"token-secret (\w+)", path.read_text())[1] for path in (jan, agents_token)}
    stock = office.federation.folder / "thief"
    office.federation.tool("hedgerow", "keygen", "--out", stock)
    lists = {name: (office.federation.office / name).read_text() for name in ("agents", "operators")}
    for token, address in ((jan, office.federation.address), (jan, office.desk), (agents_token, office.federation.address),
                           (agents_token, office.desk)):
        for deed in ("enrol-operator", "enrol-agent", "jobs"):
            right = (token, address, deed) in ((jan, office.desk, "enrol-operator"),
                                               (agents_token, office.federation.address, "enrol-agent"))
            if not right:
                heard = office.stranger(address, stock, deed, 2, secret[token])[1]
                expect(heard == 0, f"{deed} under {token.name} at {address}: {heard} answers")
    expect(lists == {name: (office.federation.office / name).read_text() for name in lists}, "a list has changed")
    # Under the right token, another role's key is refused all the same.
    office.stranger(office.desk, agent_key, "enrol-operator", 2, secret[jan])
    office.stranger(office.federation.address, operator_key, "enrol-agent", 2, secret[agents_token])
    expect(lists == {name: (office.federation.office / name).read_text() for name in lists}, "a key came onto both lists")
    office.remote("jan", "enrol", "--token", jan)
    expect(office.stranger(office.desk, stock, "enrol-operator", 2, secret[jan])[1] == 0, "a token that was spent")
    # Written onto both lists by hand: no operator's right is left.
    with open(office.federation.office / "agents", "a", encoding="ascii") as file:
        file.write(f"both {office.public_key('jan')}\n")
    fed.wait_until(lambda: office.federation.event("coordinator", "key-on-both-lists", "jan"), "it is told")
    office.remote("jan", "jobs", code=6)
    # Revoked: within a second, also a line that lives.
    watching = subprocess.Popen(office.words("watch", office.ask("maria", "submit", office.job("waits", minimum=9))["number"]),
                                env=office.environment("maria"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(1)
    expect(watching.poll() is None, "watch has ended")
    since = time.monotonic()
    office.local("operators", "revoke", "maria")
    fed.wait_until(lambda: office.federation.event("coordinator", "key-revoked", "maria"), "the connection is cut", 20)
    fed.in_time(time.monotonic() - since < 1.2, "the connection lived longer than a second")
    expect(watching.wait(fed.PATIENCE_S) == 6 and b"operators add" in watching.stderr.read(), "watch tells why it ended")
    office.remote("maria", "jobs", code=6)


def together(make, programs, keys):
    """Several commands of one operator at once: a key has one line, so they take turns. Nobody is cut for that."""
    office = make_office(make, programs, keys)
    office.start(agents=False)
    office.enrol("maria")
    number = office.ask("maria", "submit", office.job("waits", minimum=9))["number"]
    watching = [subprocess.Popen(office.words("watch", number), env=office.environment("maria"),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    fed.wait_until(lambda: office.federation.event("coordinator", "operator-watch", "maria"), "somebody watches")
    for _ in range(3):
        expect(office.ask("maria", "status", number)["number"] == number, "status beside two watches")
    office.remote("maria", "cancel", number)
    for one in watching:
        said = one.communicate(timeout=fed.PATIENCE_S)[1]
        expect(one.returncode == 4, f"watch of a cancelled job ended with {one.returncode}: {said}")
    for event in ("connection-replaced", "key-in-use"):
        expect(not office.federation.event("coordinator", event, "maria"), f"{event} for one operator's commands")


def cuts(make, programs, keys, count):
    """The line is cut before and behind any byte: jobs are in the queue once, results whole."""
    office = make_office(make, programs, keys)
    office.start()
    host, port = place(office.desk)
    line = Line((host, port + 1), (host, port))
    address = f"tcp://{host}:{port + 1}"
    dice = random.Random(SEED)
    office.enrol("maria", address)
    wanted = []

    def through(way, at, *words):
        line.cut = {"up": None, "down": None, way: at}
        said = office.remote("maria", *words)
        line.cut = {"up": None, "down": None}
        return said

    office.remote("maria", "submit", office.job("first"))
    wanted.append("first")
    reach = dict(line.passed)  # what an undisturbed submission takes
    expect(reach["up"] > 500 and reach["down"] > 300, f"the line carried {reach}")
    fed.wait_until(lambda: office.ended(1), "the first job is over")
    for way in ("up", "down"):
        for i in range(count):
            at = reach[way] - 1 - i if i < count // 2 else dice.randrange(1, reach[way])
            name = f"cut-{way}-{i}"
            through(way, at, "submit", office.job(name, minimum=AGENTS + 1))
            wanted.append(name)
            expect(sorted(office.names()) == sorted(wanted), f"{name}, cut at {at} of {reach[way]}: the queue has {office.names()}")
            through(way, dice.randrange(1, reach[way]), "cancel", len(wanted))
            expect(json.loads(office.local("status", len(wanted), "--json"))["cancel"], "a cancellation was lost")
    for i in range(count):
        out = office.federation.folder / f"cut-result-{i}"
        through("down", dice.randrange(1, 12000), "result", 1, "--out", out)
        for name in ("result.json", "model.json"):
            expect((out / name).read_bytes() == (office.federation.office / "jobs" / "1" / "out" / name).read_bytes(), name)
    expect(line.ended > 3 * count, f"only {line.ended} connections were cut")
    # An enrolment whose answer is lost: the token is spent, and the key is in.
    for i in range(4):
        line.cut = {"up": None, "down": reach["down"] - 1 - 20 * i}
        office.enrol(f"jan-{i}", address)
        office.remote(f"jan-{i}", "jobs")
    line.close()


def kills(make, programs, keys, count):
    """SIGKILL of the command, of the desk and of the coordinator, while jobs are submitted: each is in the queue once."""
    office = make_office(make, programs, keys)
    office.start()
    office.enrol("maria")
    dice = random.Random(SEED)
    wanted = []
    for i in range(count):
        name = f"job-{i}"
        wanted.append(name)
        path = office.job(name, minimum=AGENTS + 1)
        victim = ("command", "coordinator")[i % 2]
        command = subprocess.Popen(office.words("submit", path), env=office.environment("maria"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(dice.uniform(0, 0.12))
        if victim == "command":
            command.kill()
            told = b"job " in command.communicate()[0]
            if told:  # what was told is done: the same file again would be another job
                continue
        else:
            office.coordinator.kill()
            office.coordinator = office.federation.start_coordinator()
            expect(command.wait(fed.PATIENCE_S) == 0, f"{name}: {command.stderr.read()}")
            continue
        office.remote("maria", "submit", path)
        office.remote("maria", "cancel", len(office.names()))
    expect(sorted(office.names()) == sorted(wanted), f"the queue has {office.names()}")
    pending = list(office.own_key("maria").parent.glob("*.submits-*"))
    expect(len(pending) <= count, f"left behind: {pending}")
    # The desk alone, at each of its steps: it comes back, and the command does not notice.
    office.coordinator.signal(signal.SIGTERM)
    office.coordinator.wait()
    for step in ("desk-asked:2", "desk-acted:2", "desk-told:2"):
        office.start(agents=False, program="hedgerow-coordinator-killed", HEDGEROW_KILL_AT=step)
        before = len(office.names())
        for i in range(2):
            office.submit_again("maria", office.job(f"{step}-{i}".replace(":", "-"), minimum=AGENTS + 1))
        expect(len(office.names()) == before + 2, f"{step}: {office.names()}")
        fed.wait_until(lambda: office.federation.event("coordinator", "desk-ended"), "the desk was killed")
        office.coordinator.signal(signal.SIGTERM)
        expect(office.coordinator.wait() == 0, "the coordinator's end")
    # No desk is left behind by a coordinator that died.
    office.start(agents=False)
    office.remote("maria", "jobs")
    office.coordinator.kill()
    fed.wait_until(lambda: not is_open(office.desk), "the desk is gone with its coordinator", 5)
    # A result whose command was killed is whole or not there.
    office.start(agents=False)
    done = office.ask("maria", "submit", office.job("last"))["number"]
    for number in range(1, done):
        office.remote("maria", "cancel", number, code=None)
    fed.wait_until(lambda: office.ended(done), "the last job is over")
    for i in range(count):
        out = office.federation.folder / f"killed-{i}"
        command = subprocess.Popen(office.words("result", done, "--out", out), env=office.environment("maria"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.01, 0.15))
        command.kill()
        command.wait()
        expect(not out.exists() or sorted(path.name for path in out.iterdir()) == ["model.json", "result.json"],
               f"half a result: {list(out.iterdir()) if out.exists() else ''}")


def is_open(address):
    with contextlib.suppress(OSError), socket.create_connection(place(address), timeout=1):
        return True
    return False


def seconds_of_rounds(office, number):
    lines = [json.loads(line) for line in office.local("watch", number, "--json").splitlines()]
    return [line["seconds"] for line in lines if "seconds" in line]


def flood(make, programs, keys):
    """Questions without end, hostile bytes and strangers: rounds keep their pace, other operators are served."""
    office = make_office(make, programs, keys)
    for i, name in enumerate(office.federation.names):  # enough records for so many rounds
        (office.federation.folder / name / "data.csv").write_text(fed.records(i + 1, 5 * ROUNDS_MEASURED))
        office.federation.describe(name)
    office.start()
    office.enrol("maria")
    office.enrol("jan")
    stranger = office.federation.folder / "stranger"
    office.federation.tool("hedgerow", "keygen", "--out", stranger)
    calm = office.ask("maria", "submit", office.job("calm", rounds=ROUNDS_MEASURED), "--wait")
    calm_ms = 1000 * statistics.median(seconds_of_rounds(office, calm["number"]))
    noise = []
    stop = threading.Event()

    def disturb(key, deed):
        while not stop.is_set():
            noise.append((deed, office.stranger(office.desk, key, deed, FLOOD)))

    threads = [threading.Thread(target=disturb, args=one) for one in
               ((office.own_key("jan"), "jobs"), (stranger, "jobs"))]
    for thread in threads:
        thread.start()
    try:
        waits = time.monotonic()
        loud = office.ask("maria", "submit", office.job("loud", rounds=ROUNDS_MEASURED), "--wait")
        waits = time.monotonic() - waits
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    loud_ms = 1000 * statistics.median(seconds_of_rounds(office, loud["number"]))
    print(f"a round took {calm_ms:.1f} ms (median), under a flood {loud_ms:.1f} ms; the other operator's job {waits:.1f} s; {noise}")
    expect(calm["state"] == loud["state"] == "done" and loud["rounds"] == ROUNDS_MEASURED + 1, f"{calm} {loud}")
    fed.in_time(loud_ms < SLOWER_AT_MOST * max(calm_ms, 5), f"rounds of {calm_ms:.1f} ms took {loud_ms:.1f} ms under a flood")
    expect(sum(sent for deed, (sent, _) in noise if deed == "jobs") > FLOOD, f"hardly a flood: {noise}")
    sent, heard = office.stranger(office.desk, office.own_key("jan"), "bytes", FLOOD)
    expect(sent == FLOOD and heard < sent, f"of {sent} hostile frames {heard} were answered")
    office.remote("maria", "jobs")
    odd = {entry["event"] for entry in office.federation.events("coordinator")} & {"desk-ended", "desk-failed"}
    expect(not odd, f"the desk: {odd}")

    def refused_lines():
        return [entry for entry in office.federation.events("coordinator") if entry["event"] == "frame-refused"]

    fed.wait_until(refused_lines, "the log tells of hostile frames")  # a busy machine may read them late
    refused = refused_lines()
    expect(1 <= len(refused) < 50, f"{len(refused)} lines of {FLOOD} hostile frames")
    # Submissions without end, each cancelled at once, are slowed down.
    for i in range(80):
        said = office.remote("jan", "submit", office.job(f"spam-{i}", minimum=9), "--json", code=None)
        if "number" not in said:
            expect("too many submissions" in said or "may have no more" in said, said)
            break
    else:
        raise fed.Failure("80 submissions at once were taken")
    office.remote("maria", "submit", office.job("other", minimum=9))


def main():
    options = fed.options(at_once=(2, "federations at a time"), cuts=(CUTS, "connections cut a case"),
                          kills=(KILLS, "commands killed a case"),
                          figures=(1, "0: measure nothing, as where the programs are slow"))
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(options.programs, folder / "keys", AGENTS + 1)
        common = {"programs": options.programs, "keys": keys}
        cases = [(case.__name__, case, common) for case in (walk, roles, together)]
        cases += [("cuts", cuts, {**common, "count": options.cuts}), ("kills", kills, {**common, "count": options.kills})]
        cases = [one for one in cases if options.only in one[0]]
        failed = fed.run_cases(cases, options.at_once) if cases else 0
        if options.figures and options.only in "flood":  # alone: it measures
            failed += fed.run_cases([("flood", flood, common)], 1)
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
