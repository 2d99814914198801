"""test_collect.py - a job that several coordinators serve: one leads, two collect, and each of the three is disturbed.

The one that leads has one agent of its own; each collector has two. In each case the journal must have every round once, in
order and with every agent once, and each agent must have paid once for each round. Runs under tests/support/postgres.

More seeds, by hand: tests/support/postgres python3 -B tests/integration/federation/test_collect.py --programs
build/gcc/bin --seeds 100
"""

import json
import os
import random
import signal
import sys
import time
import urllib.parse

import federation as fed
import journals
import test_face
import test_takeover as takeover
from federation import expect

FITS = 5
LOSSES = 3
ROUNDS = FITS + LOSSES
SLOT_MS = 400
JOB = (fed.job_text(fits=FITS, rounds=LOSSES, minimum=5).replace("own: true, ", "")
       .replace("patience_s: 60", "patience_s: 600"))
POLICY = fed.policy_text(answer_slot_ms=SLOT_MS)
COLLECTORS = ["east", "west"]
STANDBY = "standby"


class Team:
    """Five agents: site-1 of the coordinator that leads, site-2 and site-3 of east, site-4 and site-5 of west."""

    def __init__(self, make, programs, schema, job=JOB):
        self.url = f"{os.environ['DATABASE_URL']}&options={urllib.parse.quote('-csearch_path=' + schema)}"
        takeover.ask(self.url, f"CREATE SCHEMA IF NOT EXISTS {schema}; SELECT 1")
        self.federation = make(programs, agents=5, job=job, policy=POLICY, linger_s=2, lines=True)
        self.running = {}
        base = self.federation.address
        host, port = base.rsplit(":", 1)
        settings = (self.federation.office / "coordinator.yml").read_text()
        self.of = {"lead": ["site-1"], "east": ["site-2", "site-3"], "west": ["site-4", "site-5"]}
        for i, (name, sites) in enumerate(self.of.items()):
            address = f"{host}:{int(port) + 14000 * i}"
            more = f"collector: {name}\n" if name != "lead" else f'collectors: "{" ".join(COLLECTORS)}"\n'
            self.write_office(name, settings.replace(base, address), more, sites)
            self.federation.address = address
            if name == "lead":
                standby = f"{host}:{int(port) + 14000 * 3}"
                self.write_office(STANDBY, settings.replace(base, standby), more, sites)
                self.federation.address += " " + standby
            for site in sites:
                self.federation.write_site(site)

    def write_office(self, name, settings, more, sites):
        office = self.federation.office
        (office / f"agents-{name}").write_text("".join(f"{one} {self.federation.public_key(one)}\n" for one in sites))
        (office / f"{name}.yml").write_text(
            settings.replace("state: state", f'state: "{self.url}"').replace("agents: agents", f"agents: agents-{name}")
            .replace("out: out", f"out: out-{name}") + more)

    def start(self, name):
        self.running[name] = self.federation.start(name, self.federation.command(
            "hedgerow-coordinator", "run", "--config", self.federation.office / f"{name}.yml"))

    def start_all(self):
        for name in ["east", "west", "lead"]:  # those that collect wait until somebody leads
            self.start(name)
        self.federation.wait_event("lead", "leading")
        self.start(STANDBY)
        self.agents = {name: self.federation.start_agent(name) for name in self.federation.names}

    def records(self):
        said = takeover.psql(self.url, "SELECT count(*) FROM hedgerow_record")
        return int(said) if said else 0

    def wait_records(self, count):
        fed.wait_until(lambda: self.records() >= count, f"the journal has {count} records")

    def finish(self):
        for name, process in self.running.items():
            expect(process.wait() == 0, f"{name} did not end well")
        for name, process in self.agents.items():
            expect(process.wait() == 0, f"{name} did not end well")


def kill_lead(team):
    for name in ["lead", STANDBY]:
        said = takeover.psql(team.url, "SELECT holder FROM hedgerow_lease WHERE until > clock_timestamp()")
        if said and said.strip().endswith(f"process {team.running[name].popen.pid}"):
            team.running[name].kill()
            time.sleep(0.3)
            team.start(name)


def kill_east(team):
    team.running["east"].kill()
    time.sleep(0.2)
    team.start("east")


def stop_west(team):
    """A collector is stopped until it no longer counts as present, and then goes on."""
    team.running["west"].signal(signal.SIGSTOP)
    time.sleep(12)
    team.running["west"].signal(signal.SIGCONT)


def kill_both(team):
    kill_east(team)
    team.running["west"].kill()
    team.start("west")


def cut(team):
    takeover.cut(team)


def restart(team):
    takeover.restart(team)


def check(team, change=None):
    """The journal, the agents' journals and the results. change: what a planted fault makes of the journal's records."""
    rows = takeover.ask(team.url, "SELECT encode(body, 'hex') FROM hedgerow_record ORDER BY sequence").split()
    records = [journals.record(bytes.fromhex(row)) for row in rows]
    records = change(records) if change else records
    kinds = [record["kind"] for record in records]
    expect(kinds == ["job"] + ["round"] * ROUNDS, f"the journal holds {kinds}")
    takeover.check_sites(team, ROUNDS)
    for number, record in enumerate(records[1:]):
        expect(record["round"] == number and not record.get("failed"), f"record {number + 1} is {record}")
        expect(record["agents"] == team.federation.names, f"round {number} counted {record['agents']}")
    left = takeover.ask(team.url, "SELECT 'left ' || count(*) FROM hedgerow_partial")
    expect(left.strip() == "left 0", f"parts of closed rounds stay: {left}")


def case(make, programs, seed, ways):
    """One job; what disturbs it, and when, follow from the seed."""
    dice = random.Random(seed)
    team = Team(make, programs, f"collect_{seed}")
    team.start_all()
    for at in sorted(dice.sample(range(1, FITS), len(ways))):
        team.wait_records(at)
        time.sleep(dice.uniform(0, SLOT_MS / 1000))
        dice.choice(ways)(team)
    team.finish()
    check(team)
    result = json.loads((team.federation.office / "out-lead" / "result.json").read_text())
    expect([one["agents"] for one in result["rounds"]] == [5] * ROUNDS, "the result tells other rounds")


def planted(make, programs):
    """Would the checks notice a round that is lost, or an answer that is?"""
    team = Team(make, programs, "collect_planted")
    team.start_all()
    team.finish()
    check(team)

    def lose(records):
        records[-1]["agents"] = records[-1]["agents"][:-1]
        return records
    fed.must_fail("a round is lost", check, team, lambda records: records[:4] + records[5:])
    fed.must_fail("an answer is lost", check, team, lose)


def page(make, programs):
    """The leader's figures tell how many agents each collector has: what its log says too."""
    team = Team(make, programs, "collect_page")
    for name in ("lead", "east"):
        path = team.federation.office / f"{name}.yml"
        path.write_text(path.read_text() + 'http: {listen: "127.0.0.1:0"}\n')
    team.start_all()
    place = test_face.port_of(team.federation, "lead")
    of_east = test_face.port_of(team.federation, "east")

    def said(where=place):
        return test_face.ask(where, "/metrics")[1]
    for name in COLLECTORS:
        fed.wait_until(lambda name=name: f'hedgerow_collector_agents_ready{{collector="{name}"}} 2' in said(),
                       f"the page tells of {name}'s agents")
    fed.wait_until(lambda: "hedgerow_last_round_agents 5" in said(of_east), "a collector's page tells of the rounds")
    team.finish()


def moves(make, programs):
    """An agent moves from the coordinator that leads to a collector in mid-job: it is named once in each round."""
    team = Team(make, programs, "collect_moves", job=JOB.replace("minimum: 5", "minimum: 3").replace(
        f"deadline_s: {fed.PATIENCE_S}\n  patience", "deadline_s: 5\n  patience"))
    text = (team.federation.office / "agents-west").read_text()
    (team.federation.office / "agents-west").write_text(text + f"site-1 {team.federation.public_key('site-1')}\n")
    agent = team.federation.folder / "site-1" / "agent.yml"
    west = next(line for line in (team.federation.office / "west.yml").read_text().splitlines() if "listen" in line)
    address = west.split('"')[1]
    team.start_all()
    team.wait_records(2)
    team.agents["site-1"].kill()  # it moves to a collector while the one that leads has its answer, or has not
    text = agent.read_text()
    lead = text.split('address: "')[1].split('"')[0]
    agent.write_text(text.replace(lead, address))
    team.agents["site-1"] = team.federation.start_agent("site-1")
    team.finish()
    rows = takeover.ask(team.url, "SELECT encode(body, 'hex') FROM hedgerow_record ORDER BY sequence").split()
    for record in [journals.record(bytes.fromhex(row)) for row in rows][1:]:
        expect(len(set(record["agents"])) == len(record["agents"]), f"{record['agents']} has a name twice")


def unknown(make, programs):
    """A collector that the leader does not name asks nobody, and says so: its agents pay nothing."""
    team = Team(make, programs, "collect_unknown", job=JOB.replace("minimum: 5", "minimum: 3"))
    path = team.federation.office / "lead.yml"
    path.write_text(path.read_text().replace('collectors: "east west"', 'collectors: "west"'))
    team.start("east")
    team.start("west")
    team.start("lead")
    team.agents = {name: team.federation.start_agent(name) for name in team.federation.names}
    entry = team.federation.wait_event("east", "collector-unknown")
    expect("`collectors`" in entry["text"], f"east says: {entry}")
    for name in ("lead", "west", "east"):
        expect(team.running[name].wait() == 0, f"{name} did not end well")
    result = json.loads((team.federation.office / "out-lead" / "result.json").read_text())
    expect([one["agents"] for one in result["rounds"]] == [3] * ROUNDS, "the rounds have other agents")
    for name in ("site-2", "site-3"):
        expect(team.federation.ledger(name)["spent"]["epsilon"] == 0, f"{name} has paid for nothing")


def busy(make, programs):
    """A collector whose port is in use ends at once and leaves no connection to the server open."""
    team = Team(make, programs, "collect_busy")
    team.start("east")
    team.start("lead")
    team.federation.wait_event("east", "coordinator-started")
    path = team.federation.office / "west.yml"
    path.write_text(path.read_text().replace(team.federation.address, (team.federation.office / "east.yml").read_text()
                                             .split('listen: "')[1].split('"')[0]))
    team.start("west")
    expect(team.running["west"].wait(20) != 0, "west listens where east does")
    said = team.federation.said("west")
    expect("in use" in said and said.count("leading") == 0, f"west says: {said}")


def refusals(make, programs):
    """What a collector cannot serve is refused before anything begins, with a remedy."""
    for schema, change, words_of in (
            ("central", lambda text: text.replace("trust: local", "trust: central").replace("minimum: 5", "minimum: 5\n  records: 30"), "another trust"),
            ("twice", lambda text: text, "west is named twice"),
            ("own", lambda text: text.replace("experts: {", "experts: {own: true, "), "collectors hand in sums")):
        team = Team(make, programs, f"collect_refused_{schema}", job=change(JOB))
        name = "lead" if schema == "twice" else "east"
        settings = team.federation.office / f"{name}.yml"
        settings.write_text(settings.read_text().replace('collectors: "east west"', 'collectors: "west west"'))
        team.start(name)
        expect(team.running[name].wait() == 3, f"{schema}: {name} took it")
        expect(words_of in team.federation.said(name), f"{schema}: {team.federation.said(name)}")


def main():
    options = fed.options(at_once=(2, "federations at a time"), seeds=(6, "disturbed jobs"))
    if not takeover.has_database():
        return 77
    cases = [(work.__name__, work, {"programs": options.programs}) for work in (planted, page, moves, unknown, busy, refusals)]
    every = [[kill_east], [kill_lead], [stop_west], [cut], [kill_both, kill_lead], [restart, kill_east]]
    cases += [(name, case, {"programs": options.programs, "seed": seed, "ways": ways})
              for seed, ways, name in takeover.seed_ways(0, options.seeds, every)]
    return fed.run_cases([one for one in cases if fed.is_chosen(one[0], options.only)], at_once=options.at_once)


if __name__ == "__main__":
    sys.exit(main())
