"""test_declined.py - people at sites say no, with real processes: operators' commands name the site while the job waits, a
person takes a rejection back within the ten seconds that the job waits, and the reason for a rejection stays at the site."""

import json
import sys

import federation as fed
import test_queue
from federation import expect, in_time

WHY = "our ethics committee meets on Friday"


def text_of(name):
    return fed.job_text(minimum=2, rounds=1, fits=2).replace("job: trial", f"job: {name}")


def with_people(make, programs):
    """A coordinator that stays and two sites, each with a person who decides."""
    policy = fed.policy_text(epsilon=6, answer_slot_ms=10).replace("approval: policy", "approval: person")
    federation = make(programs, agents=2, policy=policy, agent_settings="")
    test_queue.write_settings(federation)
    federation.start_coordinator()
    for name in federation.names:
        federation.start_agent(name)
    return federation


def submit(federation, name):
    path = federation.folder / f"{name}.yml"
    path.write_text(text_of(name))
    return json.loads(test_queue.command(federation, "submit", path, "--json"))["number"]


def agent(federation, site, *words, code=0):
    got, said = federation.tool("hedgerow-agent", *words, "--config", federation.folder / site / "agent.yml")
    expect(got == code, f"{site}: {' '.join(words)} ended with {got}: {said}")
    return said


def waiting_at(federation, site, name):
    """The digest of a job that waits there for a person, or None."""
    for job in json.loads(agent(federation, site, "approve", "--json"))["waiting"]:
        if job["name"] == name:
            return job["digest"]
    return None


def until_waiting(federation, name):
    return {site: fed.wait_until(lambda site=site: waiting_at(federation, site, name), f"{name} waits for a person at {site}")
            for site in federation.names}


def said_of(federation, number):
    return " ".join(test_queue.command(federation, "status", number).split())


def everything(federation):
    """All that left a site: what the coordinator and its folder have."""
    files = [path for path in federation.office.rglob("*") if path.is_file()]
    return federation.said("coordinator") + "".join(path.read_bytes().decode(errors="replace") for path in files)


def a_no_is_named_and_taken_back(make, programs):
    federation = with_people(make, programs)
    number = submit(federation, "first")
    digest = until_waiting(federation, "first")
    waits = test_queue.status(federation, number)
    expect(waits["declined"] is None and "who declined" in waits["waits"], f"before anybody has said a word: {waits}")
    agent(federation, "site-1", "approve", "--yes", digest["site-1"])
    said = fed.wait_until(lambda: waiting_at(federation, "site-1", "first") is None
                          and agent(federation, "site-1", "approve", "--yes", digest["site-1"], code=3), "the yes is taken")
    expect("is approved already" in said, f"a second yes to the same: {said}")
    watching = federation.start("watch", federation.command("hedgerow-coordinator", "watch", number, "--config",
                                                            federation.office / "coordinator.yml"))
    agent(federation, "site-2", "reject", digest["site-2"], "--why", WHY)
    fed.wait_until(lambda: test_queue.status(federation, number)["declined"], "status names who declined")
    status = test_queue.status(federation, number)
    in_time(status["state"] == "running", f"the job was over before anybody could say yes: {status}")
    expect(status["declined"] == "site-2" and "Ask them, or cancel the job" in status["waits"], f"status: {status}")
    expect("declined site-2" in said_of(federation, number), f"status in words: {said_of(federation, number)}")
    expect("declined by site-2" in test_queue.command(federation, "jobs"), "`jobs` names nobody")
    agent(federation, "site-2", "approve", "--yes", digest["site-2"])
    fed.wait_until(lambda: test_queue.is_filed(federation, number), "the job ends")
    status = test_queue.status(federation, number)
    in_time(status["state"] == "done" or "others declined" not in status["because"], f"the yes came too late: {status}")
    expect(status["state"] == "done" and status["declined"] is None, f"after a no that was taken back: {status}")
    for site in federation.names:
        paid = federation.ledger(site)["spent"]["epsilon"]
        expect(paid > 0.9, f"{site} took no part: it paid {paid}")
    expect(watching.wait() == 0, f"watch ended with {watching.code()}: {federation.said('watch')}")
    said = federation.said("watch")
    expect(f"job {number}: declined by site-2" in said, f"watch: {said}")
    expect(WHY not in everything(federation), "a person's words have left the site")
    fed.wait_until(lambda: not (federation.office / "jobs" / str(number) / "declined").exists(), "what no site says any more is still kept")


def a_no_that_stays_ends_the_job(make, programs):
    federation = with_people(make, programs)
    number = submit(federation, "second")
    digest = until_waiting(federation, "second")
    agent(federation, "site-1", "reject", digest["site-1"], "--why", WHY)
    fed.wait_until(lambda: test_queue.status(federation, number)["declined"] or test_queue.status(federation, number)["ended"],
                   "status names who declined")
    agent(federation, "site-2", "approve", "--yes", digest["site-2"])
    fed.wait_until(lambda: test_queue.is_filed(federation, number), "the job fails")
    status = test_queue.status(federation, number)
    expect(status["state"] == "failed" and "site-1 (declined)" in status["because"] and status["declined"] is None, f"it ended as {status}")
    expect(federation.ledger("site-2")["spent"]["epsilon"] == 0, "a round was paid that never was")
    expect(WHY not in everything(federation), "a person's words have left the site")


def main():
    options = fed.options()
    cases = [(function.__name__, function, {"programs": options.programs})
             for function in (a_no_is_named_and_taken_back, a_no_that_stays_ends_the_job)]
    return fed.run_cases([case for case in cases if options.only in case[0]])


if __name__ == "__main__":
    sys.exit(main())
