"""test_site.py - what a site's and a coordinator's operator do: enrol, check, revoke, change keys, stop."""

import datetime
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import federation as fed
import journals
import test_face
from federation import expect

MANY_ROUNDS = 5  # fits, with slots of half a second: time enough to disturb


def when(entry):
    return datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")).timestamp()


def slow_policy():
    return fed.policy_text(answer_slot_ms=500)


def config(federation, name):
    return federation.folder / name / "agent.yml"


def in_the_middle(federation):
    """What was done was done before the last round was opened."""
    closed = [entry for entry in federation.events("coordinator") if entry["event"] == "round-closed"]
    fed.in_time(len(closed) < MANY_ROUNDS, f"{len(closed)} rounds were closed before the job was disturbed")


def tokens(federation):
    code, said = federation.agents_command("list", "--json")
    expect(code == 0, f"agents list ended with {code}: {said}")
    return {entry["agent"]: entry for entry in json.loads(said)}


def enrolment(make, programs):
    """The key is made at the site, a token admits it once, and the job runs with it."""
    with make(programs, agents=2) as federation:
        federation.add_site("newcomer", fed.policy_text(), fed.records(7))
        roster = (federation.office / "agents").read_text()
        token = federation.folder / "newcomer.token"
        code, said = federation.agents_command("add", "newcomer", "--token", token)
        expect(code == 0 and token.exists(), f"agents add ended with {code}: {said}")
        expect(token.stat().st_mode & 0o077 == 0, "others may read the token")
        expect(tokens(federation)["newcomer"]["token"], "the list does not show the token")
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "coordinator-started")

        code, said = federation.tool("hedgerow-agent", "enrol", "--token", token, "--timeout", "100",
                                     "--config", config(federation, "newcomer"))
        expect(code == 0 and "newcomer" in said, f"enrol ended with {code}: {said}")
        entry = tokens(federation)["newcomer"]
        expect(not entry["token"] and entry["key"] == federation.public_key("newcomer"),
               f"the list has another key than the site's: {entry}")
        expect(roster in (federation.office / "agents").read_text(), "somebody else's line has changed")

        # The token is spent. A person who finds it later cannot enrol another key with it.
        federation.add_site("thief", fed.policy_text(), fed.records(8))
        before = (federation.office / "agents").read_text()
        code, said = federation.tool("hedgerow-agent", "enrol", "--token", token, "--timeout", "4",
                                     "--config", config(federation, "thief"))
        expect(code == 6 and "agents add" in said, f"a spent token: enrol ended with {code}: {said}")
        expect((federation.office / "agents").read_text() == before, "a spent token changed the list")

        agents = [federation.start_agent(name) for name in federation.names + ["newcomer"]]
        expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
        for agent in agents:
            expect(agent.wait() == 0, f"{agent.name} ended with {agent.code()}")
        expect(all(r["agents"] == 3 for r in federation.result()["rounds"]), "the newcomer was not counted")


def files_of(federation, names):
    """The files of a site, which another site's data must not change: digests by path."""
    out = {}
    for name in names:
        for file in ("key", "key.pub", "agent.yml", "policy.yml", "data.csv"):
            path = federation.folder / name / file
            out[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    return out


def revocation(make, programs):
    """A revoked agent's connection ends within a second; the others go on."""
    with make(programs, job=fed.job_text(minimum=2, fits=MANY_ROUNDS, rounds=1), policy=slow_policy()) as federation:
        others = federation.names[:2]
        agents = {name: federation.start_agent(name) for name in federation.names}
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "round-closed")
        before = files_of(federation, others)
        lines = {name: tokens(federation)[name] for name in others}
        revoked_at = time.time()
        code, said = federation.agents_command("revoke", "site-3")
        expect(code == 0, f"agents revoke ended with {code}: {said}")
        in_the_middle(federation)
        fed.wait_until(lambda: federation.event("site-3", "disconnected") or coordinator.code() is not None,
                       "site-3 is cut off, or the job is over")
        entry = federation.event("site-3", "disconnected")
        fed.in_time(entry is not None, "the job was over before the list was read again")
        fed.in_time(when(entry) - revoked_at < 1, f"the connection ended {when(entry) - revoked_at:.2f} s later")
        refused = federation.wait_event("site-3", "key-refused")
        expect("agents add" in refused["text"], f"site-3 is not told what to do: {refused}")
        expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
        for name in others:
            expect(agents[name].wait() == 0, f"{name} ended with {agents[name].code()}")
            expect(federation.event(name, "disconnected") is None or
                   when(federation.event(name, "disconnected")) > revoked_at + 1, f"{name} was cut off too")
        rounds = [r["agents"] for r in federation.result()["rounds"]]
        expect(rounds[0] == 3 and rounds[-1] == 2, f"agents in the rounds: {rounds}")
        expect(files_of(federation, others) == before, "somebody else's files have changed")
        expect({name: tokens(federation)[name] for name in others} == lines, "somebody else's key has changed")
        expect("site-3" not in tokens(federation), "site-3 is still listed")
        stop(agents["site-3"])


def stop(process, number=signal.SIGTERM):
    """A daemon asked to stop does so at once, with 0."""
    since = time.monotonic()
    process.signal(number)
    code = process.wait()
    expect(code == 0, f"{process.name} ended with {code} after {number.name}")
    fed.in_time(time.monotonic() - since < 3, f"{process.name} took {time.monotonic() - since:.1f} s to stop")


def new_key(make, programs):
    """A site changes its key in the middle of a job: new one added, agent restarted, old one revoked."""
    with make(programs, job=fed.job_text(minimum=2, fits=MANY_ROUNDS, rounds=1), policy=slow_policy()) as federation:
        agents = {name: federation.start_agent(name) for name in federation.names}
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "round-closed")
        site = federation.folder / "site-3"
        old = federation.public_key("site-3")
        for file in ("key", "key.pub"):
            (site / file).rename(site / f"old-{file}")
        federation.make_key(site, None)
        new = federation.public_key("site-3")
        expect(new != old, "the same key again")
        code, said = federation.agents_command("add", "site-3", "--key", new)
        expect(code == 0, f"agents add ended with {code}: {said}")
        stop(agents["site-3"])
        in_the_middle(federation)
        agents["site-3"] = federation.start_agent("site-3")
        fed.wait_until(lambda: federation.said("site-3").count('"connected"') >= 2, "it is back")
        code, said = federation.agents_command("revoke", "site-3", "--key", old)
        expect(code == 0, f"agents revoke ended with {code}: {said}")
        expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
        for agent in agents.values():
            expect(agent.wait() == 0, f"{agent.name} ended with {agent.code()}")
        rounds = [r["agents"] for r in federation.result()["rounds"]]
        expect(rounds[0] == 3 and rounds[-1] == 3, f"agents in the rounds: {rounds}")
        expect(tokens(federation)["site-3"]["key"] == new, "the list has another key")
        answered = [r["round"] for _, r, _ in journals.read(site / "state") if r["kind"] == "answer"]
        expect(len(set(answered)) == len(answered), f"rounds paid twice: {answered}")


def restarts(make, programs):
    """Agents may come first; the coordinator may be stopped and go on where it was."""
    with make(programs, job=fed.job_text(fits=MANY_ROUNDS, rounds=1), policy=slow_policy()) as federation:
        agents = [federation.start_agent(name) for name in federation.names]
        for name in federation.names:
            entry = federation.wait_event(name, "unreachable")
            expect("remedy" in entry["text"], f"{name} is not told what to do: {entry}")
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "round-closed")
        stop(coordinator)
        in_the_middle(federation)
        expect(federation.event("coordinator", "coordinator-stopped") is not None, "it does not say how it ended")
        time.sleep(0.5)
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "job-resumed")
        expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
        for agent in agents:
            expect(agent.wait() == 0, f"{agent.name} ended with {agent.code()}")
        rounds = [r["agents"] for r in federation.result()["rounds"]]
        expect(rounds == [3] * (1 + MANY_ROUNDS), f"agents in the rounds: {rounds}")
        for name in federation.names:
            expect(federation.ledger(name)["spent"]["epsilon"] == 1, f"{name} has paid something else")


def checks(make, programs):
    """`check` says PASSED, or what to do."""
    with make(programs, agents=3) as federation:
        def check(name, *more, timeout_s=3):
            return federation.tool("hedgerow-agent", "check", "--timeout", timeout_s, "--config",
                                   config(federation, name), *more)

        job = federation.office / "job.yml"
        code, said = check("site-1", "--job", job)
        expect(code == 6 and "NOT READY" in said and "the coordinator runs" in said,
               f"without a coordinator check ended with {code}: {said}")
        code, said = federation.tool("hedgerow-coordinator", "check", "--config",
                                     federation.office / "coordinator.yml")
        expect(code == 0 and "\nPASSED" in said, f"the coordinator's check ended with {code}: {said}")
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "coordinator-started")
        code, said = check("site-1", "--job", job, timeout_s=100)
        expect(code == 0 and said.endswith("\nPASSED\n"), f"check ended with {code}: {said}")
        # A label in another spelling is told, and changes no exit code: that may depend on no record.
        table = federation.folder / "site-1" / "data.csv"
        lines = table.read_text().splitlines()
        table.write_text("\n".join([lines[0]] + [line + ".0" for line in lines[1:]]) + "\n")
        code, said = check("site-1", "--job", job, timeout_s=100)
        expect(code == 0 and said.endswith("\nPASSED, but read the WARNINGs above\n") and "\ndata         WARNING" in said
               and "\ndata         PASSED" not in said, f"check of a label in another spelling: {code}, {said}")

        federation.add_site("stranger", fed.policy_text(), fed.records(5))
        code, said = check("stranger")
        expect(code == 6, f"a stranger's check ended with {code}: {said}")
        fed.in_time("agents add" in said and federation.public_key("stranger") in said,
                    f"a stranger is told: {said}")

        federation.write_site("site-2", coordinator_key=federation.public_key("stranger"))
        code, said = check("site-2")
        expect(code == 6, f"with a wrong key check ended with {code}: {said}")
        fed.in_time("public_key" in said, f"with a wrong key a site is told: {said}")
        agent = federation.start_agent("site-2")
        entry = federation.wait_event("site-2", "handshake-failed")
        expect("public_key" in entry["text"], f"site-2 is not told what to do: {entry}")
        expect("8 times at once" in entry["text"] and "wait 10 s" in entry["text"], f"site-2 is not told of the limit: {entry}")
        stop(agent)
        stop(coordinator)


def data_sets(make, programs):
    """A site's second data set has an agent of its own: it declines a job that asks for the first one, and pays nothing."""
    job = fed.job_text().replace("data:\n", "data:\n  set: main\n")
    with make(programs, agents=4, job=job, agent_settings="") as federation:
        for name in federation.names:
            path = federation.folder / name / "data.yml"
            of = "tumours" if name == "site-4" else "main"
            path.write_text(path.read_text().replace("- records", f"- name: {of}\n    records"))
        federation.write_site("site-4", more='http: {listen: "127.0.0.1:0"}\n')
        coordinator = federation.start_coordinator()
        agents = [federation.start_agent(name) for name in federation.names]
        entry = federation.wait_event("site-4", "job-refused")
        expect("asks for the data set" in entry["text"] and "tumours" in entry["text"], f"site-4 says: {entry}")
        said = test_face.ask(test_face.port_of(federation, "site-4"), "/metrics")[1]
        expect('hedgerow_data_set_info{data_set="tumours"} 1' in said, f"of which data set are these figures: {said}")
        expect(coordinator.wait() == 0, "the job did not end well")
        expect([one["agents"] for one in federation.result()["rounds"]] == [3, 3, 3], "another data set's agent was counted")
        for agent in agents:
            stop(agent)
        expect(federation.ledger("site-4")["spent"]["epsilon"] == 0, "a data set that was not asked has paid")


def endings(make, programs):
    """SIGTERM ends both daemons with 0, Ctrl-C in the middle of a job with 130; logs are JSON lines, and text on a terminal."""
    with make(programs, agents=1, log="{level: info, format: auto}") as federation:
        coordinator = federation.start_coordinator()
        agent = federation.start_agent("site-1")
        federation.wait_event("coordinator", "agent-present")
        federation.wait_event("site-1", "job-joined")
        stop(agent)
        coordinator.signal(signal.SIGINT)
        code = coordinator.wait()
        expect(code == 130, f"after Ctrl-C in the middle of its job the coordinator ended with {code}")
        for name in ("site-1", "coordinator"):
            for entry in federation.events(name):
                expect({"time", "level", "event", "text"} <= set(entry), f"{name}'s log lacks a key: {entry}")
            expect(federation.event(name, "stopping") is not None, f"{name} does not say that it stops")

        outer, inner = os.openpty()
        process = subprocess.Popen(federation.command("hedgerow-agent", "run", "--config",
                                                      config(federation, "site-1")),
                                   stdin=subprocess.DEVNULL, stdout=inner, stderr=inner,
                                   preexec_fn=fed.die_with_parent)
        os.close(inner)
        said = b""
        while b"nothing answers" not in said:  # by then it hears signals
            said += os.read(outer, 4096)
        process.send_signal(signal.SIGTERM)
        expect(process.wait(fed.PATIENCE_S) == 0, f"on a terminal the agent ended with {process.returncode}")
        os.close(outer)
        expect(b"{" not in said and b" info " in said, f"on a terminal the log is: {said}")


def signal_after_a_failure(make, programs):
    """A coordinator whose job has failed, and that waits for an agent to hear of it, ends with 4, whatever stops it."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with make(programs, agents=2, job=fed.job_text(minimum=3, join_deadline_s=2)) as federation:
            deaf = federation.start_agent("site-2")
            coordinator = federation.start_coordinator()
            federation.wait_event("site-2", "job-joined")
            federation.wait_event("coordinator", "agent-present")
            deaf.signal(signal.SIGSTOP)
            agent = federation.start_agent("site-1")
            federation.wait_event("coordinator", "job-failed")
            expect(agent.wait() == 4, f"site-1 ended with {agent.code()}")
            fed.in_time(coordinator.code() is None, "the coordinator has not waited")
            coordinator.signal(number)
            code = coordinator.wait()
            expect(code == 4, f"after signal {int(number)} behind a failed job the coordinator ended with {code}")
            deaf.kill()


def main():
    options = fed.options()
    cases = [(function.__name__, function, {"programs": options.programs})
             for function in (enrolment, revocation, new_key, restarts, checks, data_sets, endings, signal_after_a_failure)]
    return fed.run_cases([case for case in cases if options.only in case[0]], at_once=4)


if __name__ == "__main__":
    sys.exit(main())
