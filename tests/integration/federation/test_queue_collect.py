"""test_queue_collect.py - a queue in PostgreSQL whose jobs have agents at several coordinators: one leads, one stands by, two
collect, and each of them is disturbed.

Five sites: site-1 of those that may lead, site-2 and site-3 of east, site-4 and site-5 of west. Two jobs run at the same time,
each with a site of both collectors; a third asks everybody, waits for a site that never comes, and is cancelled; a fourth asks
everybody and ends. Whatever happens, each job's journal has every round once and in order, and each round has once every site
that it asks. Each site has paid once for each round of its jobs, and for nothing else. Runs under tests/support/postgres.

More, by hand: tests/support/postgres python3 -B tests/integration/federation/test_queue_collect.py --programs build/gcc/bin
--seeds 100
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
from federation import expect
from shared_queue import Coordinators, run
from test_declined import WHY, agent, waiting_at
from test_takeover import ask, cut, restart

FITS = 5
LOSSES = 2
ROUNDS = FITS + LOSSES
SLOT_MS = 400  # a fit's answer waits for it, so that a job lasts long enough to be disturbed
AWAY_S = 12  # longer than a collector counts as present, and than one keeps a job that nobody leads
OF = {"lead": ["site-1"], "east": ["site-2", "site-3"], "west": ["site-4", "site-5"]}
COLLECTORS = ["east", "west"]
STANDBY = "standby"
SITES = sorted(sum(OF.values(), []))
ASKS = {"left": ["site-1", "site-2", "site-4"], "right": ["site-3", "site-5"], "never": SITES, "last": SITES}
STATES = {"left": "done", "right": "done", "never": "cancelled", "last": "done"}
SUSPICIOUS = {"job-set-aside", "job-unreadable", "job-removed", "answer-forged", "offer-changed", "invitation-differs", "budget-exhausted",
              "collector-refused", "agent-twice"}


def text_of(name, fits=FITS):
    """The job `never` waits for one site more than there is. Those that ask all name nobody."""
    text = fed.job_text(minimum=len(ASKS[name]) + (name == "never"), fits=fits, rounds=LOSSES).replace("job: trial", f"job: {name}")
    text = text.replace("own: true, ", "").replace("patience_s: 60", "patience_s: 600").replace("join_deadline_s: 120", "join_deadline_s: 600")
    return text if ASKS[name] == SITES else text.replace("cohort:\n", f"cohort:\n  agents: [{', '.join(ASKS[name])}]\n")


class Team(Coordinators):
    """A federation whose coordinators share a queue. The two that may lead share a list; each collector has its own."""

    def __init__(self, make, programs, schema, linger_s=2, approval="policy"):
        super().__init__(schema)
        policy = fed.policy_text(epsilon=9, answer_slot_ms=SLOT_MS).replace("approval: policy", f"approval: {approval}")
        self.federation = make(programs, agents=len(SITES), policy=policy, linger_s=linger_s, agent_settings="", lines=True)
        host, port = self.federation.address.rsplit(":", 1)
        addresses = {name: f"{host}:{int(port) + 14000 * i}" for i, name in enumerate([*OF, STANDBY])}
        for name, address in addresses.items():
            collects = name in COLLECTORS
            sites = OF.get(name, OF["lead"])
            (self.federation.office / f"agents-{name}").write_text(
                "".join(f"{one} {self.federation.public_key(one)}\n" for one in sites))
            self.settings(name).write_text(
                f'hedgerow: 1\nlisten: "{address}"\nlines: "{host}:0"\nkey: key\nagents: agents-{name}\njobs: "{self.url}"\n'
                f"linger_s: {linger_s}\nlog: {self.federation.log_settings}\nhttp: {{listen: \"127.0.0.1:0\"}}\n"
                + (f"collector: {name}\n" if collects else f'collectors: "{" ".join(COLLECTORS)}"\n'))
            self.federation.address = address if collects else f"{addresses['lead']} {addresses[STANDBY]}"
            for site in sites:
                self.federation.write_site(site)

    def settings(self, name):
        return self.federation.office / f"{name}.yml"

    def start(self, name):
        self.running[name] = self.federation.start(name, self.federation.command("hedgerow-coordinator", "run", "--config", self.settings(name)))

    def start_all(self, standby=True):
        for name in [*COLLECTORS, "lead"]:  # those that collect wait until somebody leads
            self.start(name)
        self.federation.wait_event("lead", "leading")
        if standby:
            self.start(STANDBY)
            self.federation.wait_event(STANDBY, "standing-by")
        self.agents = {name: self.federation.start_agent(name) for name in SITES}

    def text(self, name, **options):
        return text_of(name, **options)

    def submit(self, at, name, **options):
        return json.loads(self.patient(at, "submit", self.file(name, **options), "--json"))["number"]

    def state(self, number):
        return self.status("lead", number)

    def ends(self, number, state):
        self.until("lead", number, state, seconds=3 * fed.PATIENCE_S)  # a whole job


def kill_lead(team):
    name = fed.wait_until(team.leader, "somebody leads")[0]
    team.running[name].kill()
    fed.wait_until(lambda: [one for one in team.leader() if one != name], "the other one leads", seconds=60)
    team.start(name)


def stop_lead(team):
    """The leader stands still for longer than its lease, and wakes up as if it led."""
    name = fed.wait_until(team.leader, "somebody leads")[0]
    team.running[name].signal(signal.SIGSTOP)
    fed.wait_until(lambda: [one for one in team.leader() if one != name], "the other one leads", seconds=60)
    time.sleep(1)
    team.running[name].signal(signal.SIGCONT)


def kill_east(team):
    team.running["east"].kill()
    time.sleep(0.2)
    team.start("east")


def kill_both(team):
    kill_east(team)
    team.running["west"].kill()
    team.start("west")


def stop_west(team):
    team.running["west"].signal(signal.SIGSTOP)
    time.sleep(AWAY_S)
    team.running["west"].signal(signal.SIGCONT)


def check(team, numbers, change=lambda name, records: records):
    """The journals of jobs and sites. change: what a planted fault makes of a job's records."""
    ran = {}
    for name, number in numbers.items():
        records = change(name, team.kept(number))
        wanted = 1 if name == "never" else ROUNDS
        expect([one["kind"] for one in records] == ["job"] + ["round"] * wanted, f"{name}: its journal holds {records}")
        expect([one["round"] for one in records[1:]] == list(range(wanted)), f"{name}: rounds {records[1:]}")
        ran[records[0]["job"]] = name
        left = ask(team.url, f"SELECT 'left ' || count(*) FROM {team.schema}_job_{number}.hedgerow_partial")
        expect(left.strip() == "left 0", f"{name}: parts of closed rounds stay: {left}")
        if name == "never":
            expect(records[1].get("failed") and b"cancelled by " in records[1]["cause"], f"the cancellation: {records[1]}")
            continue
        for one in records[1:]:
            expect(one["agents"] == ASKS[name] and not one.get("failed"), f"{name}: a round counted {one}")
    for site in SITES:
        check_site(team, site, ran)
    for name in team.running:
        odd = {entry["event"] for entry in team.federation.events(name)} & SUSPICIOUS
        expect(not odd, f"{name}'s log has {odd}")


def check_site(team, site, ran):
    answers = collections.defaultdict(list)
    for _, record, _ in journals.read(team.federation.folder / site / "state"):
        if record["kind"] == "answer":
            answers[ran.get(record["job"])].append(record["round"])
    wanted = {name: list(range(ROUNDS)) for name in ran.values() if site in ASKS[name] and name != "never"}
    expect(dict(answers) == wanted, f"{site} has answered {dict(answers)}")
    expect(team.federation.ledger(site)["spent"]["epsilon"] == len(wanted), f"{site} has not spent what its jobs cost")


def carry_out(team, at, ways, dice):
    """at: how far the first job is when the first disturbance comes."""
    numbers = {"left": team.submit("lead", "left"), "right": team.submit("east", "right")}  # a collector's machine takes one as well
    for i, way in zip(at, ways):
        team.wait_records(numbers["left"], i)
        time.sleep(dice.uniform(0, SLOT_MS / 1000))
        way(team)
    numbers["never"] = team.submit("lead", "never")
    numbers["last"] = team.submit("lead", "last")
    team.ends(numbers["never"], "running")
    fed.wait_until(lambda: all(any(entry["event"] == "job-taken" and f"job {numbers['never']} " in entry["text"] for entry in team.federation.events(name))
                               for name in COLLECTORS), "both collectors serve the job that waits")
    team.patient("west", "cancel", numbers["never"])
    for name, state in STATES.items():
        team.ends(numbers[name], state)
    return numbers


def case(make, programs, seed, ways):
    """What disturbs the queue, and when, follow from the seed."""
    dice = random.Random(seed)
    team = Team(make, programs, f"queue_collect_{seed}")
    team.start_all()
    numbers = carry_out(team, sorted(dice.sample(range(2, FITS), len(ways))), ways, dice)
    team.stop()
    check(team, numbers)


def planted(make, programs):
    """Jobs side by side, undisturbed. Would the checks notice a round or an answer that is lost, or a round twice?"""
    team = Team(make, programs, "queue_collect_planted")
    team.start_all()
    numbers = carry_out(team, [], [], random.Random(1))
    team.stop()
    check(team, numbers)
    times = {name: [one["wall_ms"] for one in team.kept(numbers[name])] for name in ("left", "right")}
    fed.in_time(times["left"][0] < times["right"][-1] and times["right"][0] < times["left"][-1], f"the two jobs ran one after the other: {times}")

    def lose(name, records):
        return records if name != "left" else records[:-1] + [{**records[-1], "agents": records[-1]["agents"][:-1]}]
    fed.must_fail("an answer is lost", check, team, numbers, lose)
    fed.must_fail("a round is lost", check, team, numbers, lambda name, rows: rows[:3] + rows[4:])
    fed.must_fail("a round is doubled", check, team, numbers, lambda name, rows: rows[:3] + rows[2:])
    fed.must_fail("answers to a job that nobody knows", check_site, team, "site-2", {})


def absent(make, programs):
    """A collector's agent is away when a job ends. The job keeps its agents until that one has heard of the end, as with one
    coordinator; then the next job has all of them."""
    team = Team(make, programs, "queue_collect_absent", linger_s=2 * fed.PATIENCE_S)
    team.start_all(standby=False)
    path = team.file("last")
    path.write_text(path.read_text().replace("minimum: 5", "minimum: 4").replace(f"deadline_s: {fed.PATIENCE_S}\n  patience", "deadline_s: 5\n  patience"))
    first = json.loads(team.command("lead", "submit", path, "--json"))["number"]
    second = team.submit("lead", "last")
    team.wait_records(first, 3)
    team.agents["site-5"].kill()
    team.wait_records(first, 1 + ROUNDS)
    last = team.kept(first)[-1]
    fed.in_time(last["agents"] == SITES[:4], f"site-5 was there to the end: {last}")
    time.sleep(2)
    expect(not team.state(first)["ended"] and team.records(second) == 0, "the next job did not wait for an agent that was away")
    team.agents["site-5"] = team.federation.start_agent("site-5")
    team.ends(second, "done")
    expect([one["agents"] for one in team.kept(second)[1:]] == [SITES] * ROUNDS, "the second job has other agents")
    team.stop()


def aside(make, programs):
    """A job that the leader sets aside is left by its collectors: their agents are free for the next one."""
    team = Team(make, programs, "queue_collect_aside")
    team.start_all(standby=False)
    first = team.submit("lead", "left")
    team.wait_records(first, 2)
    team.agents["site-2"].signal(signal.SIGSTOP)  # no round closes meanwhile
    fed.in_time(team.records(first) <= ROUNDS, "the job was over before it could be damaged")
    team.running["lead"].kill()
    team.damage(first)
    team.start("lead")
    team.federation.wait_event("lead", "job-set-aside")
    team.agents["site-2"].signal(signal.SIGCONT)
    last = team.submit("west", "last")
    for name in COLLECTORS:
        expect(team.federation.wait_event(name, "job-left")["job"] == first, f"{name} left another job")
    team.ends(last, "done")
    expect([one["agents"] for one in team.kept(last)[1:]] == [SITES] * ROUNDS, "the job behind it has other agents")
    team.stop()


def pages(make, programs):
    """The leader's figures tell of each job how many agents each collector has; a collector's page tells of the rounds."""
    team = Team(make, programs, "queue_collect_pages")
    team.start_all(standby=False)
    numbers = {name: team.submit("lead", name, fits=3 * FITS) for name in ("left", "right")}
    places = {name: test_face.port_of(team.federation, name) for name in ("lead", "east")}

    def said(name):
        return test_face.ask(places[name], "/metrics")[1]
    for name, number in numbers.items():
        for collector in COLLECTORS:
            line = f'hedgerow_collector_agents_ready{{job_number="{number}",collector="{collector}"}} 1'
            fed.wait_until(lambda line=line: line in said("lead"), f"the page says {line}")
        line = f'hedgerow_last_round_agents{{job_number="{number}"}} {len(ASKS[name])}'
        fed.wait_until(lambda line=line: line in said("east"), f"a collector's page says {line}")
    expect(test_face.ask(places["east"], "/readyz")[:2] == (200, "ok\n"), "a collector is not ready")
    facts = test_face.status(places["east"])
    expect(facts["jobs_waiting"] in (0, None), f"a collector's page counts jobs that run as waiting: {facts['queue']}")
    for number in numbers.values():
        team.ends(number, "done")
    team.stop()


def declined(make, programs):
    """`status` names who declines a job, at whichever coordinator its agent is, and where the collector was killed meanwhile."""
    team = Team(make, programs, "queue_collect_declined", approval="person")
    team.start_all()
    path = team.file("last")
    path.write_text(path.read_text().replace("minimum: 5", "minimum: 2"))  # so that those who say nothing are enough
    number = json.loads(team.command("lead", "submit", path, "--json"))["number"]
    digest = {site: fed.wait_until(lambda site=site: waiting_at(team.federation, site, "last"), f"the job waits for a person at {site}")
              for site in ("site-1", "site-2", "site-5")}

    def names():
        return team.state(number)["declined"]
    for site in digest:
        agent(team.federation, site, "reject", digest[site], "--why", WHY)
    fed.wait_until(lambda: names() == "site-1, site-2, site-5", "all three are named")
    said = " ".join(team.command(STANDBY, "status", number).split())
    expect("declined site-1, site-2, site-5" in said, f"at a coordinator that stands by: {said}")
    kill_east(team)
    agent(team.federation, "site-5", "approve", "--yes", digest["site-5"])
    fed.wait_until(lambda: names() == "site-1, site-2", "who says yes again is not named any more")
    said = ask(team.url, "SELECT encode(text, 'escape') FROM hedgerow_job; SELECT names FROM hedgerow_declined;"
                         f" SELECT encode(body, 'escape') FROM {team.schema}_job_{number}.hedgerow_record")
    expect("site-2" in said and WHY not in said, f"what the database has: {said}")
    team.patient("lead", "cancel", number)
    team.ends(number, "cancelled")
    expect(names() is None, "a job that is over has decliners")
    team.stop()


def refusals(make, programs):
    """What collectors cannot serve is refused as it is submitted, at any of the machines."""
    team = Team(make, programs, "queue_collect_refusals")
    path = team.file("last")
    path.write_text(path.read_text().replace("experts: {", "experts: {own: true, "))
    for name in ("lead", "west"):
        said = team.command(name, "submit", path, code=3)
        expect("needs each site's own answer" in said and "one coordinator" in said, f"{name}: {said}")
        expect("collectors" in team.command(name, "check"), f"{name}: check says nothing of collectors")
    expect(json.loads(team.command("lead", "jobs", "--json"))["jobs"] == [], "a job that was refused is in the queue")
    settings = team.settings("lead").read_text()
    for text, because in ((settings.replace('"east west"', '"east east"'), "east is named twice"),
                          (settings.replace(f'"{team.url}"', "jobs"), "as `state` or as `jobs`")):
        team.settings("lead").write_text(text)
        expect(because in team.command("lead", "run", code=3), f"not refused: {because}")
        team.command("lead", "check", code=3)


if __name__ == "__main__":
    sys.exit(run((planted, absent, aside, declined, pages, refusals), (), case,
                 ([kill_east], [kill_lead], [stop_west], [cut], [kill_both, kill_lead], [restart, kill_east], [stop_lead])))
