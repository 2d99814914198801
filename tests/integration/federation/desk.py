"""desk.py - what the tests of operators on other machines share: a line that can be cut at any byte, and a coordinator with a desk."""

import contextlib
import json
import os
import re
import select
import socket
import subprocess
import threading

import federation as fed
from federation import expect

AGENTS = 3
SLOT_MS = 200  # a fit of as many records as the flood needs, by a program under sanitizers on a busy machine


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
        """Submits a file until it is said to be in the queue. On a slow machine a desk that dies again and again is
        away for longer than one command waits. Submitting the same file again adds no job."""
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


def run(cases, alone=(), **more):
    """cases: from the options to (name, function, what it is given besides); alone: such that measure."""
    options = fed.options(at_once=(2, "federations at a time"), **more)
    with fed.temporary_folder() as folder:
        common = {"programs": options.programs, "keys": fed.make_keys(options.programs, folder / "keys", AGENTS + 1)}
        chosen = [(name, case, {**common, **own}) for name, case, own in cases(options) if options.only in name]
        failed = fed.run_cases(chosen, options.at_once) if chosen else 0
        for measure in alone:
            if options.figures and options.only in measure.__name__:
                failed += fed.run_cases([(measure.__name__, measure, common)], 1)
        return 1 if failed else 0
