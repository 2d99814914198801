"""queue_team.py - two coordinators that share a key, two lists and a queue in PostgreSQL, with three sites."""

import json

import federation as fed
from shared_queue import Coordinators
from test_takeover import psql

COORDINATORS = 2
AGENTS = 3
FITS = 5
LOSSES = 2
ROUNDS = FITS + LOSSES
SLOT_MS = 400  # a fit's answer waits for it, so that a job lasts long enough to be disturbed
SUSPICIOUS = {"job-set-aside", "job-unreadable", "job-removed", "answer-forged", "offer-changed", "invitation-differs", "budget-exhausted"}


def text_of(name, trust="local", fits=FITS):
    """The second job waits for one site more than there is."""
    text = fed.job_text(minimum=AGENTS + (name == "second"), fits=fits, rounds=LOSSES).replace("job: trial", f"job: {name}")
    text = text.replace("patience_s: 60", "patience_s: 600").replace("join_deadline_s: 120", "join_deadline_s: 600")
    if trust == "central":
        text = text.replace("trust: local", "trust: central").replace("own: true, ", "").replace("minimum: 3", "minimum: 3\n  records: 30")
    return text


class Team(Coordinators):
    """A federation whose coordinators, 0 and 1, share a key, two lists and a queue. Each has a desk and a page."""

    def __init__(self, make, programs, schema):
        super().__init__(schema)
        self.federation = make(programs, agents=AGENTS, policy=fed.policy_text(epsilon=9, answer_slot_ms=SLOT_MS), linger_s=2,
                               agent_settings="", lines=True)
        host, port = self.federation.address.rsplit(":", 1)
        addresses = [f"{host}:{int(port) + 20000 * i}" for i in range(COORDINATORS)]
        self.desks = [f"{host}:{8311 + i}" for i in range(COORDINATORS)]
        self.federation.address = " ".join(addresses)
        for name in self.federation.names:
            self.federation.write_site(name)
        for i, address in enumerate(addresses):
            self.settings(i).write_text(
                f'hedgerow: 1\nlisten: "{address}"\nkey: key\nagents: agents\njobs: "{self.url}"\nlinger_s: 2\n'
                f'operators: {{listen: "{self.desks[i]}", list: operators}}\nhttp: {{listen: "127.0.0.1:0"}}\n'
                f"log: {self.federation.log_settings}\n")

    def name(self, i):
        return f"coordinator-{i}"

    def settings(self, i):
        return self.federation.office / f"coordinator-{i}.yml"

    def start(self, i, program="hedgerow-coordinator", **environment):
        self.running[i] = self.federation.start(self.name(i), self.federation.command(
            program, "run", "--config", self.settings(i)), **environment)

    def start_all(self):
        """The first coordinator leads."""
        self.start(0)
        self.federation.wait_event(self.name(0), "leading")
        self.start(1)
        self.federation.wait_event(self.name(1), "standing-by")
        self.agents = {name: self.federation.start_agent(name) for name in self.federation.names}

    def text(self, name, **options):
        return text_of(name, **options)

    def submit(self, i, name, **options):
        return json.loads(self.command(i, "submit", self.file(name, **options), "--json"))["number"]

    def term(self):
        said = psql(self.url, "SELECT term FROM hedgerow_lease")
        return int(said) if said else None


def wait_successor(team, term):
    fed.wait_until(lambda: (team.term() or 0) > term, "another one leads", seconds=60)
