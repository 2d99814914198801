"""test_kill_masked.py - kill -9 under distributed trust: masked sums of four sites, of which three are enough.

As in test_kill.py an undisturbed run tells which steps there are; then the first site, the coordinator, or both die at
some of them and are started again at once. Keys are durable before they leave, and so is each answer: a site that dies
goes on where it was. So the job must end, every round with all four sites. Nothing is paid twice, no site has two keys
or signs two lists of survivors for a round, nothing that opens a closed round's masks stays in a journal, and no
released number carries a mask: a mask that stays is uniform among 2^32 numbers. A right sum of losses is below 2^25,
and a wrong sum of two numbers is so by chance with a probability of 2^-12. For three weights, which are below 64, this
probability is 2^-21. A right number exceeds its limit with a probability below e^-60.

In the last cases a site does not come back. If it leaves for good before its signature, the job ends; it is
charged, and nothing is released. If it is revoked after its answer, it is in no sum.
"""

import random
import signal
import struct
import sys
import time

import federation as fed
import journals
import test_kill
from federation import expect

SEED = 23
AGENTS = 4
ENOUGH = 3
ROUNDS = 3
SOME = {"commit": 100, "work": 100, "forget": 100, "send": 8, "event": 6}
MASKS = "  dishonest: 1\n  honest: 2\n  records: 30\n"


def job_text(**changes):
    return fed.job_text(minimum=ENOUGH, **changes).replace("trust: local", "trust: distributed").replace(
        "own: true, ", "").replace("  minimum:", MASKS + "  minimum:")


def introduce(federation):
    """Every site knows all sites' keys for signing."""
    lines = []
    for name in federation.names:
        text = (federation.folder / name / "key.pub").read_text().splitlines()
        lines.append(name + " " + next(line for line in text if line.startswith("signing ")).split()[1])
    (federation.folder / "peers").write_text("\n".join(lines) + "\n")


def make_federation(make, programs, keys, job=None):
    policy = fed.policy_text(trust="distributed") + "peers: ../peers\ndishonest_minimum: 1\n"
    federation = make(programs, keys=keys, agents=AGENTS, linger_s=test_kill.LINGER_S, lines=True, job=job or job_text(),
                      policy=policy)
    introduce(federation)
    return federation


def check_agent(federation, name):
    """One charge, one set of keys and one list of survivors a round; only the latest answer may still be there."""
    records = journals.read(federation.folder / name / "state")
    answers = [record for _, record, _ in records if record["kind"] == "answer"]
    rounds = [answer["round"] for answer in answers]
    lists = [record["round"] for _, record, _ in records if record["kind"] == "survivors"]
    keys = [record["round"] for _, record, _ in records if record["kind"] == "keys"]
    expect(rounds == list(range(ROUNDS)), f"{name} has paid for rounds {rounds}")
    expect(lists == list(range(ROUNDS)), f"{name} has signed for rounds {lists}")
    expect(keys == list(range(ROUNDS)), f"{name} has drawn keys for rounds {keys}")
    kept = [record["round"] for _, record, blob in records if record["kind"] == "keys" and blob]
    expect(not kept, f"{name}'s journal still holds its keys for {kept}")
    kept = [record["round"] for _, record, blob in records if record["kind"] == "answer" and blob]
    expect(len(kept) <= 1, f"{name}'s journal still holds what opens its answers to {kept}")
    expect(all(answer["masks_bytes"] > 0 for answer in answers), f"{name} has answered without masks")
    spent = federation.ledger(name)["spent"]["epsilon"]
    expect(spent == 1, f"{name}'s ledger says {spent}")
    return test_kill.charges(answers)


def check_numbers(record, blob, most=64):
    """No released number carries a mask. most: limit of a weight."""
    for value in record["sum"]:
        expect(abs(value) < 1 << 25, f"round {record['round']} releases {value}")
    for weight in struct.unpack(f"<{len(blob or b'') // 8}d", blob or b""):
        expect(abs(weight) < most, f"round {record['round']} releases the weight {weight}")


def check_words(rosters):
    expect(all(record["width"] == 32 for record in rosters), f"words of {[record['width'] for record in rosters]} bits")


def check(federation):
    """Nobody may be missing. Returns the agents' charges."""
    records = journals.read(federation.office / "state")
    rounds = [(record, blob) for _, record, blob in records if record["kind"] == "round"]
    lists = [record for _, record, _ in records if record["kind"] == "survivors"]
    rosters = [record for _, record, _ in records if record["kind"] == "roster"]
    expect([record["round"] for record, _ in rounds] == list(range(ROUNDS)), "other rounds than the job's")
    expect([record["round"] for record in lists] == list(range(ROUNDS)), "other lists than one a round")
    expect([record["round"] for record in rosters] == list(range(ROUNDS)), "other rosters than one a round")
    check_words(rosters)
    for (record, blob), survivors in zip(rounds, lists):
        there = sum(bin(byte).count("1") for byte in survivors["set"])
        expect(not record.get("failed"), f"round {record['round']} failed")
        expect(there == len(record["agents"]) == AGENTS, f"round {record['round']} has {record['agents']}")
        check_numbers(record, blob)
    result = federation.result()
    expect(len(result["rounds"]) == ROUNDS, "result.json tells other rounds")
    return {name: check_agent(federation, name) for name in federation.names}


def case(make, programs, keys, kills, reference):
    with make_federation(make, programs, keys) as federation:
        deaths = test_kill.carry_out(federation, kills, [])
        test_kill.expect_met(kills, deaths)
        for name, charges in check(federation).items():
            expect(charges == reference[name], f"{name}'s charges: {charges}")


def undisturbed(make, programs, keys, out):
    with make_federation(make, programs, keys) as federation:
        deaths = test_kill.carry_out(federation, {}, [], steps=True)
        expect(sum(deaths.values()) == 0, "somebody died in the undisturbed run")
        test_kill.keep(federation, out, check(federation))
        planted(federation)


def planted(federation):
    """Would the checks notice a sum that still has a mask?"""
    records = journals.read(federation.office / "state")
    record, blob = next((record, blob) for _, record, blob in records
                        if record["kind"] == "round" and record["sum"])
    wrong = {**record, "sum": (record["sum"][0] ^ 1 << 30, *record["sum"][1:])}
    fed.must_fail("a mask in a sum", check_numbers, wrong, blob)
    fit, blob = next((record, blob) for _, record, blob in records if record["kind"] == "round" and blob)
    fed.must_fail("a mask in a weight", check_numbers, fit, struct.pack("<d", 2 ** 10) + blob[8:])
    fed.must_fail("words that are wider than they need be", check_words, [{"round": 0, "width": 64}])


def leaver(make, programs, keys, place, ends_well):
    """A site dies at a place and never comes back."""
    job = job_text(deadline_s=3).replace("patience_s: 60", "patience_s: 0")
    with make_federation(make, programs, keys, job=job) as federation:
        environment = {"HEDGEROW_KILL_AT": place}
        for name in federation.names[1:]:
            federation.start_agent(name=name)
        gone = federation.start_agent(name="site-1", program="hedgerow-agent-killed", **environment)
        coordinator = federation.start_coordinator()
        fed.wait_until(lambda: gone.code() == -signal.SIGKILL, f"site-1 dies at {place}")
        fed.wait_until(lambda: coordinator.code() is not None, "the coordinator has ended")
        expect(coordinator.code() == (0 if ends_well else 4), f"the coordinator ended with {coordinator.code()}")
        records = [record for _, record, _ in journals.read(federation.office / "state") if record["kind"] == "round"]
        expect(bool(records[-1].get("failed")) == (not ends_well), f"the last round: {records[-1]}")
        if ends_well:
            expect(all(len(record["agents"]) >= ENOUGH for record in records), "too few sites")
        else:
            expect(not records[-1]["sum"], "a round that was lost has released something")
            spent = federation.ledger("site-2")["spent"]["epsilon"]
            expect(spent > 0, "a round that was lost is not charged")
        time.sleep(0.1)


def revoked(make, programs, keys):
    """A site is revoked after it has answered, while another one is away: the round goes on without it."""
    with make_federation(make, programs, keys) as federation:
        for name in federation.names[:-1]:
            federation.start_agent(name=name)
        away = federation.start_agent(name="site-4", program="hedgerow-agent-killed",
                                      HEDGEROW_KILL_AT="commit-before:3")
        coordinator = federation.start_coordinator()
        fed.wait_until(lambda: away.code() == -signal.SIGKILL, "site-4 dies before its answer")
        for name in federation.names[:-1]:
            federation.wait_event("coordinator", "answer-counted", name)
        code, said = federation.agents_command("revoke", "site-1")
        expect(code == 0, f"agents revoke ended with {code}: {said}")
        federation.wait_event("coordinator", "answers-anew")
        federation.start_agent(name="site-4")
        fed.wait_until(lambda: coordinator.code() is not None, "the coordinator has ended")
        expect(coordinator.code() == 0, f"the coordinator ended with {coordinator.code()}")
        rounds = [(record, blob) for _, record, blob in journals.read(federation.office / "state")
                  if record["kind"] == "round"]
        for record, blob in rounds:
            expect(record["agents"] == ["site-2", "site-3", "site-4"], f"round {record['round']}: {record['agents']}")
            check_numbers(record, blob)


def main():
    options = fed.options(at_once=(6, "federations at a time"), cases=(12, "cases with two deaths or more"),
                          sides=(1, "of a step that is killed at: 1, by turns, or 2"))
    dice = random.Random(SEED)
    with fed.temporary_folder() as folder:
        begun = test_kill.begin(options, folder, AGENTS, undisturbed, dice, SOME)
        if begun is None:
            return 1
        common, at = begun
        cases = [(f"{name} {line}", case, {**common, "kills": {name: [line]}}) for name in at
                 for line in at[name][::options.every] if options.sides == 2 or test_kill.is_its_turn(line)]
        cases += test_kill.drawn_cases(case, options.cases, common, dice, at)
        away = {key: common[key] for key in ("programs", "keys")}
        # The first four commits of a site: keys, the job, its answer, the list that it signs.
        cases.append(("leaves before it answers", leaver, {**away, "place": "commit-before:3", "ends_well": True}))
        cases.append(("leaves before it signs", leaver, {**away, "place": "commit-before:4", "ends_well": False}))
        cases.append(("leaves once it has signed", leaver, {**away, "place": "commit-after:4", "ends_well": False}))
        cases.append(("revoked once it has answered", revoked, away))
        return fed.run_cases([one for one in cases if options.only in one[0]], options.at_once)


if __name__ == "__main__":
    sys.exit(main())
