"""test_key.py - two agents with one key: the coordinator admits one at a time, and the other ends before it is
charged."""

import shutil
import signal
import sys
import time

import federation as fed
import journals
from federation import expect

KEY_IN_USE = 8
ROUNDS = 14  # long enough that a busy machine is done with the copies before the job is
SILENCE_S = 2.5  # as in common/io/challenge.h


def federation_of_two(make, programs, **more):
    """One site, and a copy of its key in a folder of its own, with another state and other records."""
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=ROUNDS, rounds=1),
                      policy=fed.policy_text(answer_slot_ms=500), **more)
    federation.add_site("copy", fed.policy_text(answer_slot_ms=500), fed.records(9))
    for file in ("key", "key.pub"):
        shutil.copy(federation.folder / "site-1" / file, federation.folder / "copy" / file)
    return federation


def charges(federation, name):
    """The rounds that a site has paid for."""
    state = federation.folder / name / "state"
    if not (state / "journal.db").exists():
        return []
    return [r["round"] for _, r, _ in journals.read(state) if r["kind"] == "answer"]


def refused(federation, process, coordinator):
    """An agent that ended because its key is in use, told what to do."""
    fed.wait_until(lambda: process.code() is not None or coordinator.code() is not None, "one of the two ends")
    fed.in_time(process.code() is not None, f"the job was over before {process.name} was there")
    code = process.wait()
    expect(code == KEY_IN_USE, f"{process.name} ended with {code}")
    entry = federation.event(process.name, "key-in-use")
    expect(entry is not None and entry["level"] == "error", f"{process.name} does not say why: {entry}")
    expect("remedy" in entry["text"] and federation.public_key("site-1") in entry["text"],
           f"{process.name} is not told which key, or what to do: {entry}")


def finish(federation, coordinator, agent):
    """The job ends, and every round was counted and paid for once."""
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
    expect(agent.wait() == 0, f"{agent.name} ended with {agent.code()}")
    rounds = [r["agents"] for r in federation.result()["rounds"]]
    expect(rounds == [1] * (1 + ROUNDS), f"agents in the rounds: {rounds}")


def cuts(federation, name):
    """How often its connection ended before the job did."""
    events = [entry["event"] for entry in federation.events(name)]
    until = events.index("job-ended") if "job-ended" in events else len(events)
    return events[:until].count("disconnected")


def wait_for_question(federation):
    """Waits until a round has just opened, while the agent's answer waits for its slot. An agent that ends
    between its offer and the pull binds its key to an answer that only its own state holds, and a copy cannot
    send it."""
    def opened():
        return sum(entry["event"] == "round-opened" for entry in federation.events("coordinator"))
    before = opened()
    fed.wait_until(lambda: opened() > before, "the next round opens")


def undisturbed(federation, began):
    expect(cuts(federation, "site-1") == 0, "the agent that was there first lost its connection")
    expect(charges(federation, "site-1") == list(range(1 + ROUNDS)),
           f"site-1 paid for {charges(federation, 'site-1')}")
    expect(charges(federation, "copy") == [], f"the copy paid for {charges(federation, 'copy')}")
    entry = federation.event("coordinator", "key-in-use", "site-1")
    expect(entry is not None and entry["text"].count("127.") == 2, f"the coordinator does not say who: {entry}")
    # Eight fits in slots of half a second and a round of losses: two agents that cut each other off took far longer.
    fed.in_time(time.monotonic() - began < 15, f"the job took {time.monotonic() - began:.1f} s")


def at_once(make, programs):
    """Both come at the same moment. The first one stays, and exactly one is charged."""
    with federation_of_two(make, programs) as federation:
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "coordinator-started")
        began = time.monotonic()
        agents = [federation.start_agent(name) for name in ("site-1", "copy")]
        fed.wait_until(lambda: any(agent.code() is not None for agent in agents), "one of the two ends")
        loser = next(agent for agent in agents if agent.code() is not None)
        winner = next(agent for agent in agents if agent is not loser)
        refused(federation, loser, coordinator)
        finish(federation, coordinator, winner)
        expect(charges(federation, loser.name) == [], f"{loser.name} paid for {charges(federation, loser.name)}")
        expect(charges(federation, winner.name) == list(range(1 + ROUNDS)),
               f"{winner.name} paid for {charges(federation, winner.name)}")
        fed.in_time(time.monotonic() - began < 15, f"the job took {time.monotonic() - began:.1f} s")


def one_after_the_other(make, programs):
    """A copy comes twice in the middle of a job, and once as a check. The agent that runs is not
    disturbed."""
    with federation_of_two(make, programs) as federation:
        agent = federation.start_agent("site-1")
        coordinator = federation.start_coordinator()
        began = time.monotonic()
        federation.wait_event("coordinator", "round-closed")
        for _ in range(2):
            refused(federation, federation.start_agent("copy"), coordinator)
        code, said = federation.tool("hedgerow-agent", "check", "--timeout", "100", "--config",
                                     federation.folder / "copy" / "agent.yml")
        expect(code == 0 and "an agent with this key is connected now" in said,
               f"check ended with {code}: {said}")
        finish(federation, coordinator, agent)
        undisturbed(federation, began)


def copy_first(make, programs):
    """The copy comes first and stays. The site's own agent is told."""
    with federation_of_two(make, programs) as federation:
        copy = federation.start_agent("copy")
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "agent-present")
        refused(federation, federation.start_agent("site-1"), coordinator)
        finish(federation, coordinator, copy)
        expect(charges(federation, "site-1") == [], "the one that was told has paid")


def killed(make, programs):
    """After kill -9 of the first the second one takes its place without waiting for a dead connection."""
    with federation_of_two(make, programs) as federation:
        agent = federation.start_agent("site-1")
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "round-closed")
        refused(federation, federation.start_agent("copy"), coordinator)
        wait_for_question(federation)
        agent.kill()
        since = time.monotonic()
        copy = federation.start_agent("copy")
        federation.wait_event("copy", "job-joined")
        fed.in_time(time.monotonic() - since < SILENCE_S,
                    f"the copy joined after {time.monotonic() - since:.1f} s")
        expect(federation.event("coordinator", "connection-replaced") is None, "it waited for a dead connection")
        finish(federation, coordinator, copy)
        both = charges(federation, "site-1") + charges(federation, "copy")
        expect(len(set(both)) >= 1 + ROUNDS, f"rounds paid for: {both}")


def stopped(make, programs):
    """The first stands still (SIGSTOP) for longer than a challenge takes: the second takes its place. When the
    first wakes it is told."""
    with federation_of_two(make, programs) as federation:
        agent = federation.start_agent("site-1")
        coordinator = federation.start_coordinator()
        wait_for_question(federation)
        agent.signal(signal.SIGSTOP)
        try:
            copy = federation.start_agent("copy")
            federation.wait_event("coordinator", "connection-replaced", "site-1")
            federation.wait_event("copy", "job-joined")
        finally:
            agent.signal(signal.SIGCONT)
        refused(federation, agent, coordinator)
        finish(federation, coordinator, copy)
        expect(cuts(federation, "copy") == 0, "the newer one lost its connection again")


def main():
    options = fed.options()
    cases = [(function.__name__, function, {"programs": options.programs})
             for function in (at_once, one_after_the_other, copy_first, killed, stopped)]
    return fed.run_cases([case for case in cases if options.only in case[0]], at_once=5)


if __name__ == "__main__":
    sys.exit(main())
