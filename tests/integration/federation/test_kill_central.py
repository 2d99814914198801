"""test_kill_central.py - kill -9 under central trust: gradient rounds with Gaussian noise, which the
coordinator alone adds.

As in test_kill.py an undisturbed run tells which steps there are; then the first agent, the coordinator, or
both die at some of them and are started again at once. The job must end as if nobody had died: every round
has every agent and one charge, every ledger has the same sums, and there is a model. No journal holds an
exact answer or its digest.
"""

import random
import sys

import federation as fed
import journals
import test_kill
from federation import expect

SEED = 22
AGENTS = 3
ROUNDS = 4
# Each death comes after a state or an answer is durable and before the one that it replaces is forgotten.
NEVER_FORGOTTEN = [{"coordinator": ["commit-after:3", "forget-before:2"]}]
SOME = {"commit": 100, "work": 100, "forget": 100, "send": 5, "event": 5}

JOB = f"""hedgerow: 1
job: central
data:
  label: {{column: ill, positive: "1", negative: "0"}}
  features:
    - {{column: age, centre: 50, half_width: 50}}
    - {{column: dose, centre: 0, half_width: 10}}
privacy: {{unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: 0.000001}}
cohort: {{minimum: {AGENTS}, join_deadline_s: 120, deadline_s: 120}}
stages:
  - {{task: update, loss: logistic, rounds: {ROUNDS}, batch: 30, clip: 1, rate: 1, noise: gaussian,
     sampling: 0.5, grid_bits: 16}}
"""


def make_federation(make, programs, keys):
    policy = fed.policy_text(tasks="[update]", delta="0.000002", trust="central")
    return make(programs, keys=keys, linger_s=test_kill.LINGER_S, job=JOB, policy=policy, lines=True)


def charges(answers):
    """Without what differs between two runs of one job."""
    differing = ("job", "pass", "invitation", "sum", "agents", "wall_ms")
    return [{key: value for key, value in answer.items() if key not in differing} for answer in answers]


def check_agent(federation, name):
    """An agent's journal has one charge a round and nothing of the answers. Returns the charges."""
    records = journals.read(federation.folder / name / "state")
    for _, record, blob in records:
        if record["kind"] != "job":  # the text of a job stands beside it
            expect(not blob, f"{name}'s journal holds {len(blob or b'')} bytes beside a record")
        expect(not record.get("answer"), f"{name}'s journal holds a digest of an exact answer")
    answers = test_kill.answers_of(records)
    expect([answer["round"] for answer in answers] == list(range(ROUNDS)),
           f"{name} has paid for rounds {[answer['round'] for answer in answers]}")
    return charges(answers)


def check(federation, reference):
    """Returns what is the same in every run: charges and what the ledgers say."""
    records = journals.read(federation.office / "state")
    rounds = [record for _, record, _ in records[1:]]
    expect([record["kind"] for record in rounds] == ["round"] * ROUNDS, "other records than rounds")
    for number, record in enumerate(rounds):
        expect(record["round"] == number and not record.get("failed"), f"round {number} is not that")
        expect(record["agents"] == federation.names, f"round {number} counted {record['agents']}")
        expect(not record["sum"], f"round {number} holds a sum")
    expect(records[-1][2], "the last state is gone from the journal")
    states = sum(1 for _, _, blob in records[1:] if blob)
    expect(states <= 2, f"{states} states are kept: a death leaves the one before the last, until the next start")
    found = {name: (check_agent(federation, name), federation.ledger(name)["spent"])
             for name in federation.names}
    expect(reference is None or found == reference, f"charges or ledgers differ: {found} from {reference}")
    result = federation.result()
    expect([r["agents"] for r in result["rounds"]] == [AGENTS] * ROUNDS, "result.json tells other rounds")
    expect((federation.office / "out" / "model.json").exists(), "there is no model")
    return found


def case(make, programs, keys, kills, reference):
    with make_federation(make, programs, keys) as federation:
        deaths = test_kill.carry_out(federation, kills, [])
        test_kill.expect_met(kills, deaths)
        check(federation, reference)


def undisturbed(make, programs, keys, out):
    with make_federation(make, programs, keys) as federation:
        deaths = test_kill.carry_out(federation, {}, [], steps=True)
        expect(sum(deaths.values()) == 0, "somebody died in the undisturbed run")
        test_kill.keep(federation, out, check(federation, None))


def planted(make, programs, keys, reference):
    """Would the checks notice a charge too many?"""
    name, (paid, spent) = sorted(reference.items())[0]
    with make_federation(make, programs, keys) as federation:
        test_kill.carry_out(federation, {}, [])
        wrong = {**reference, name: (paid + paid[-1:], spent)}
        fed.must_fail("a charge too many", check, federation, wrong)


def main():
    options = fed.options(at_once=(6, "federations at a time"), cases=(28, "cases"))
    dice = random.Random(SEED)
    with fed.temporary_folder() as folder:
        begun = test_kill.begin(options, folder, AGENTS, undisturbed, dice, SOME)
        if begun is None:
            return 1
        common, at = begun
        cases = [("planted", planted, dict(common))]
        cases += [(f"{kills}", case, {**common, "kills": kills}) for kills in NEVER_FORGOTTEN]
        cases += test_kill.drawn_cases(case, options.cases, common, dice, at)
        return fed.run_cases([one for one in cases if options.only in one[0]], options.at_once)


if __name__ == "__main__":
    sys.exit(main())
