"""test_takeover_large.py - the coordinator that leads dies in the middle of large transfers, and another one takes over.

Three coordinators share a journal in PostgreSQL, as in test_takeover.py. A relay stands before each of them, counts what passes
and holds it to a rate, so that the leader is killed (kill -9) when a part of a round's release or of its answers is through. The
job has a state with momentum that is averaged, models of several MB as answers, and a release of three models to judge. Noise and
choices are from seeds: the job must end with the files of an undisturbed run, to the last bit. A transfer that was taken half or
twice changes a sum, and with it all that comes later. Each site pays once for each round. Runs under tests/support/postgres.
"""

import hashlib
import pathlib
import random
import sys

import federation as fed
import journals
import relay
import test_forged
import test_kill_masked
import test_takeover
from federation import expect

CLASSES = test_forged.CLASSES
FEATURES = 11264
MODEL_BYTES = 8 * CLASSES * (FEATURES + 1)
JUDGED = 3 * MODEL_BYTES  # what the last round's agents fetch: 8.7 MB
ROUNDS = 5
RATE = 25e6
LINGER_S = 60  # agents write a model of some MB before they tell that they have heard of the end
LINES = 9000  # from a coordinator's port to its other one
STAGES = """stages:
  - {task: update, strategy: momentum, momentum: 0.5, iterates: polynomial, loss: logistic, rounds: 2, batch: 10,
     clip: 0.5, rate: 1, grid_bits: 12, share: 0.4}
  - {task: fit, loss: logistic, lambdas: [0.1, 0.2], tolerance: 0.001, grid_bits: 12, share: 0.4}
  - {task: losses, loss: zero_one, rounds: 1, batch: 10, grid_bits: 12, share: 0.2}
"""
MAP = f"map: {{kind: fourier, kernel: gaussian, gamma: 1, features: {FEATURES}, seed: 1}}\n"
JOB = test_forged.JOB[:test_forged.JOB.index("stages:")].replace("privacy:", f"  {MAP}privacy:") + STAGES
POLICY = fed.policy_text(tasks="[fit, losses, update]", epsilon=1, answer_slot_ms=500).replace("message_mb_max: 16", "message_mb_max: 64")


def masked(text):
    return text.replace("trust: local", "trust: distributed").replace("minimum: 3", "minimum: 3, dishonest: 1, honest: 2, records: 40")


class Team(test_takeover.Team):
    """Coordinators behind relays, all programs from seeds."""

    def __init__(self, make, programs, schema, trust):
        changes = {"job": JOB, "policy": POLICY, "agent_settings": "once: true\nsimulated: true\n", "linger_s": LINGER_S}
        if trust == "distributed":
            changes = {**changes, "agents": 4, "job": masked(JOB),
                       "policy": POLICY.replace("trust: [local]", "trust: [distributed]") + "peers: ../peers\ndishonest_minimum: 1\n"}
        super().__init__(make, programs, schema, **changes)
        self.trust = trust
        if trust == "distributed":
            test_kill_masked.introduce(self.federation)
        test_forged.give_kinds(self.federation)
        self.relays = []
        ways = []
        for i, address in enumerate(self.addresses):
            host, port = address.removeprefix("tcp://").split(":")
            path = self.federation.office / f"{self.name(i)}.yml"
            path.write_text(path.read_text().replace(f'lines: "tcp://{host}:0"', f'lines: "tcp://{host}:{int(port) + LINES}"') +
                            "simulated: true\nmessage_mb_max: 64\n")
            own = relay.own_host(host)
            self.relays.append(relay.Relay(own, host, [int(port), int(port) + LINES], rate=RATE))
            ways.append(f"tcp://{own}:{port}")
        self.federation.address = " ".join(ways)
        for name in self.federation.names:
            self.federation.write_site(name)

    def start(self, i):
        self.running[i] = self.federation.start(self.name(i), self.federation.command(
            "hedgerow-coordinator-seeded", "run", "--config", self.federation.office / f"{self.name(i)}.yml", "--simulate-seed", 100))

    def start_all(self):
        self.start(0)
        self.federation.wait_event(self.name(0), "leading")
        for i in range(1, test_takeover.COORDINATORS):
            self.start(i)
        self.agents = {name: self.federation.start(name, self.federation.command(
            "hedgerow-agent-seeded", "run", "--config", self.federation.folder / name / "agent.yml", "--simulate-seed", 101 + i))
            for i, name in enumerate(self.federation.names)}

    def finish(self):
        """The one that led ends when all agents have heard of the end; the others would wait for these agents in vain."""
        for name, process in self.agents.items():
            expect(process.wait() == 0, f"{name} did not end well")
        ended = fed.wait_until(lambda: [i for i, one in self.running.items() if one.code() is not None], "a coordinator ends")
        expect(self.running[ended[0]].code() == 0, f"coordinator {ended[0]} did not end well")
        self.published = self.federation.office / f"out-{ended[0]}"
        for one in self.running.values():
            one.kill()

    def passed(self):
        """Bytes that have passed all relays: to agents, and to coordinators."""
        return (sum(sum(one.to_agents.values()) for one in self.relays),
                sum(sum(one.to_coordinator.values()) for one in self.relays))


def account(team):
    """What must be as in the undisturbed run, and checks that hold in every run."""
    rows = test_takeover.ask(team.url, "SELECT encode(body, 'hex') FROM hedgerow_record ORDER BY sequence").split()
    rounds = [record for record in (journals.record(bytes.fromhex(row)) for row in rows) if record["kind"] == "round"]
    expect([record["round"] for record in rounds] == list(range(ROUNDS)), f"rounds {[record['round'] for record in rounds]}")
    expect(not any(record.get("failed") for record in rounds), "a round failed")
    out = {"agents": [record["agents"] for record in rounds], "sums": [record["sum"] for record in rounds]}
    for name in team.federation.names:
        answers = test_forged.answers(team.federation, name)
        expect([answer[0] for answer in answers] == list(range(ROUNDS)), f"{name} has answered {answers}")
        out[name] = [(answer[0], answer[2], answer[1] if team.trust == "local" else b"") for answer in answers]
        out[f"{name} spent"] = team.federation.ledger(name)["spent"]["epsilon"]
        expect(out[f"{name} spent"] == 1, f"{name} has spent {out[name + ' spent']}")
    out["published"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                        for path in sorted(team.published.glob("*.json")) if path.name != "result.json"}
    expect(out["published"], "no model is published")
    return out


def opened(team, number):
    """Whether a coordinator has opened this round; the first one is 1."""
    return any(entry["event"] == "round-opened" and entry["text"] == f"round {number} is open"
               for i in team.running for entry in team.federation.events(team.name(i)))


def undisturbed(make, programs, trust, out):
    """Tells what every round moves, too."""
    team = Team(make, programs, f"large_{trust}", trust)
    team.start_all()
    moved = []
    for number in range(1, ROUNDS + 1):
        fed.wait_until(lambda: opened(team, number), f"round {number} opens")  # pylint: disable=cell-var-from-loop
        moved.append(team.passed())
    team.finish()
    moved.append(team.passed())
    got = account(team)
    rounds = [tuple(after - before for before, after in zip(*pair)) for pair in zip(moved, moved[1:])]
    print(f"{trust}: MB to agents and to coordinators, round by round: {[(a // 10**6, b // 10**6) for a, b in rounds]}", flush=True)
    expect(rounds[-1][0] > 0.7 * JUDGED * len(team.federation.names), "the last release is not fetched by all")
    out.write_text(repr((got, rounds)))


def over(team, number):
    """Whether a round is over: another one is open, or agents have heard of the end."""
    return opened(team, number + 1) or any(one.code() is not None for one in team.agents.values())


def strike(team, number, which, part, moved):
    """kill -9 of the leader when some bytes of a round's release (0) or answers (1) have passed. It comes back and stands
    by."""
    fed.wait_until(lambda: opened(team, number), f"round {number} opens")
    before = team.passed()[which]
    old, term = fed.wait_until(team.leader, "somebody leads")[0], fed.wait_until(team.term, "the lease has a term")
    wanted = part * moved[number - 1][which]
    fed.wait_until(lambda: team.passed()[which] - before >= wanted or over(team, number), f"{wanted} bytes of round {number} have passed")
    team.running[old].kill()
    fed.in_time(not over(team, number), f"round {number} was over")
    test_takeover.wait_successor(team, term)
    team.start(old)


def case(make, programs, trust, reference, seed, strikes):
    """strikes: for a round, whether its release or its answers are on their way."""
    dice = random.Random(seed)
    wanted, moved = reference
    team = Team(make, programs, f"large_{trust}_{seed}", trust)
    team.start_all()
    for number, which in strikes:
        strike(team, number, which, dice.uniform(0.1, 0.8), moved)
    team.finish()
    got = account(team)
    for key, value in wanted.items():
        expect(got[key] == value, f"{key}: {got[key]} in place of {value}")


RELEASE, ANSWERS = 0, 1
STRIKES = [[(1, ANSWERS), (5, RELEASE)], [(2, RELEASE), (3, ANSWERS)], [(2, ANSWERS), (5, RELEASE)], [(1, RELEASE), (4, ANSWERS)]]


def main():
    options = fed.options(trust=("local", "or distributed"), seeds=(2, "disturbed jobs"), first=(0, "the first seed"), at_once=(2, "federations at a time"))
    if not test_takeover.has_database():
        return 77
    common = {"programs": options.programs, "trust": options.trust}
    with fed.temporary_folder() as folder:
        out = pathlib.Path(folder) / "reference"
        if fed.run_cases([("undisturbed", undisturbed, {**common, "out": out})]) != 0:
            return 1
        common["reference"] = eval(out.read_text())  # pylint: disable=eval-used
        cases = [(f"seed {seed}", case, {**common, "seed": seed, "strikes": STRIKES[seed % len(STRIKES)]})
                 for seed in range(options.first, options.first + options.seeds)]
        return fed.run_cases([one for one in cases if fed.is_chosen(one[0], options.only)], at_once=options.at_once)


if __name__ == "__main__":
    sys.exit(main())
