"""test_face_site.py - the site's own page: its ledger over time, the jobs that wait with their plans, the dictionary - the same as
the commands say, no key that was not judged to be public, and the same again after a kill."""

import hashlib
import json
import sys

import federation as fed
import test_queue
from federation import expect
from site_page import agent, approvals, site, submit, text_of, wait_state, with_queue
from test_face import ask, metrics, port_of

ROUNDS = 4  # three fits and one round of losses
# What the page tells, by place. A new key is judged by a person, and then written here: does it depend on a record?
SITE = {
    "": {"approve", "budget", "window", "window_days", "spending", "runs", "waiting", "jobs", "refused", "unread", "dictionary"},
    "budget": {"limit", "used", "left", "sum"},
    "runs": {"number", "id", "digest", "job"},
    "waiting": {"digest", "name", "text", "trust", "promise", "unit", "agents", "records", "epsilon", "delta", "notes", "stages", "runs_before",
                "not_enough"},  # by charges, the policy and the job's text
    "jobs": {"digest", "job", "state", "epsilon", "epsilon_paid", "runs", "runs_approved", "answers"},
    "refused": {"digest", "job", "when", "why"},  # by the policy, the dictionary, the machine and the job's text
    "dictionary": {"records", "columns"},
}


def rounded(value):
    """The commands write more digits."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def judge(shown):
    for place, keys in SITE.items():
        for one in [shown] if place == "" else shown[place] if isinstance(shown[place], list) else [shown[place]]:
            expect(set(one) == keys, f"a key that was not judged: {place}: {set(one) ^ keys}")


def same_as_the_commands(federation, shown):
    ledger = federation.ledger("site-1")
    for name, own in (("limit", "limit"), ("used", "spent"), ("left", "left")):
        expect(abs(shown["budget"][name] - ledger[own]["epsilon"]) < 1e-9, f"{name}: {shown['budget']}, {ledger[own]}")
    listed = json.loads(agent(federation, "jobs", "--json"))
    for job in listed["jobs"]:
        job.pop("why")
    key = lambda job: job["digest"]  # pylint: disable=unnecessary-lambda-assignment
    expect(rounded(sorted(shown["jobs"], key=key)) == rounded(sorted(listed["jobs"], key=key)), f"{shown['jobs']}, {listed['jobs']}")
    waiting = json.loads(agent(federation, "approve", "--json"))["waiting"]
    for job in waiting:
        job.pop("epsilon_left")
    expect(rounded(shown["waiting"]) == rounded(waiting), f"{shown['waiting']}, {waiting}")
    # Each step of the drawing is a charge of its run.
    paid = {}
    before = 0
    for _, run, used in shown["spending"]:
        paid[run] = paid.get(run, 0) + used - before
        before = used
    numbers = {run["id"]: run["number"] for run in shown["runs"]}
    for job in ledger["jobs"]:
        expect(abs(paid[numbers[job["job"][:16]]] - job["spent"]["epsilon"]) < 1e-9, f"{paid}, {ledger['jobs']}")


def same_as_commands_also_after_a_kill(make, programs):
    federation = with_queue(make, programs)
    process = federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    for name in ("first", "second", "third"):
        submit(federation, name)
        shown = wait_state(place, name, "waiting")
        expect([job["name"] for job in shown["waiting"]] == [name], f"waits: {shown['waiting']}")
        expect(shown["waiting"][0]["text"] == text_of(name), "the text is not the coordinator's")
        if name != "third":
            agent(federation, "approve", "--yes")
            wait_state(place, name, "done")
    shown = site(place)
    judge(shown)
    expect(1.9 < shown["budget"]["used"] <= 2 and len(shown["runs"]) == 2, f"two jobs of epsilon 1: {shown['budget']}")
    same_as_the_commands(federation, shown)
    fed.must_fail("a key that nobody judged", judge, {**shown, "rows": 30})
    process.kill()
    (federation.folder / "site-1.log").unlink()
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    again = wait_state(place, "third", "waiting")
    expect(again == shown, f"before {shown}, now {again}")
    # A file that is not what its name says is counted and not shown.
    folder = federation.folder / "site-1" / "state" / "waiting"
    (folder / (64 * "a" + ".yml")).write_text("hedgerow: 1\n")
    fed.wait_until(lambda: site(place)["unread"] == 1, "the text that was put there is counted")
    expect(site(place)["waiting"] == shown["waiting"], "the text that was put there is shown")
    agent(federation, "reject", shown["waiting"][0]["digest"], "--why", "a-word-for-this-site-alone")
    wait_state(place, "third", "rejected")
    expect("a-word-for-this-site-alone" not in ask(place, "/api/site")[1], "a person's words are shown")


def dead_jobs_are_over(make, programs):
    """A job that failed at its join deadline, or was cancelled, waits no more and runs no more, by the command, the page and the
    metrics, also after a restart. A late yes is refused, and the same text again waits for a person again."""
    federation = with_queue(make, programs, slot_ms=500)
    process = federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    short = text_of("first").replace(f"join_deadline_s: {fed.PATIENCE_S}", "join_deadline_s: 3").replace("patience_s: 60", "patience_s: 0")
    submit(federation, "first", short)
    shown = wait_state(place, "first", "waiting")
    digest = shown["waiting"][0]["digest"]
    fed.wait_until(lambda: test_queue.status(federation, 1)["state"] == "failed", "it fails at its join deadline")
    shown = wait_state(place, "first", "over")
    expect(shown["waiting"] == [], f"the page says that it waits: {shown['waiting']}")
    fed.wait_until(lambda: phases(place).get("waiting for a person") == 0, "the metrics say that it waits")
    same_as_the_commands(federation, shown)
    said = agent(federation, "approve", digest, "--yes", code=3)
    expect("no longer waits" in said and "approved" not in said, f"a late yes: {said}")
    agent(federation, "approve", "--yes", code=3)
    expect("no job waits" in agent(federation, "approve") and approvals(federation) == [], f"a late yes is kept: {approvals(federation)}")
    process.kill()
    (federation.folder / "site-1.log").unlink()
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    wait_state(place, "first", "over")
    # The same text again: nobody has said yes to it.
    submit(federation, "first", short)
    wait_state(place, "first", "waiting")
    expect(federation.ledger("site-1")["charges"] == [], "it ran without a person")
    fed.wait_until(lambda: test_queue.status(federation, 2)["state"] == "failed", "it fails again")
    wait_state(place, "first", "over")
    # A rejected one can be approved at any time, and the command says for what.
    agent(federation, "reject", digest, "--why", "not this one")
    said = agent(federation, "approve", digest, "--yes")
    expect("begins when it is submitted again" in said and "within a second" not in said, f"a yes for the next submission: {said}")
    # Cancelled in the middle: told of the end, it runs no more.
    slow = fed.job_text(minimum=1, rounds=1, fits=200).replace("job: trial", "job: second")
    number = submit(federation, "second", slow)
    wait_state(place, "second", "waiting")
    agent(federation, "approve", "--yes")
    wait_state(place, "second", "running")
    test_queue.command(federation, "cancel", number)
    shown = wait_state(place, "second", "over")
    same_as_the_commands(federation, shown)


def refused_jobs_are_shown_with_the_reason(make, programs):
    """By the policy, and by the dictionary: nobody is asked, and without this a person would only see that no job waits. It stays
    known after a kill. An edited policy takes the refusal back, also of a text that waited before."""
    federation = with_queue(make, programs)
    process = federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    policy = federation.folder / "site-1" / "policy.yml"
    costly = text_of("costly").replace("epsilon: 1\n", "epsilon: 7\n")
    expect("epsilon: 7" in costly, "the job costs as much as before")
    shared = hashlib.sha256(text_of("first").encode()).hexdigest()[:2]
    while not hashlib.sha256(costly.encode()).hexdigest().startswith(shared):
        costly += "# so that two digests begin alike\n"
    number = submit(federation, "costly", costly)
    shown = wait_state(place, "costly", "refused")
    judge(shown)
    expect(shown["waiting"] == [] and len(shown["refused"]) == 1 and "epsilon" in shown["refused"][0]["why"], f"the page: {shown}")
    same_as_the_commands(federation, shown)
    said = " ".join(agent(federation, "jobs").split())
    expect("refused" in said and "because: " + shown["refused"][0]["why"] in said, f"jobs: {said}")
    expect([job["why"] for job in json.loads(agent(federation, "jobs", "--json"))["jobs"]] == [shown["refused"][0]["why"]], "jobs --json")
    said = agent(federation, "show", shown["refused"][0]["digest"], code=3)
    expect("was refused" in said and shown["refused"][0]["why"] in said, f"show: {said}")
    process.kill()
    (federation.folder / "site-1.log").unlink()
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    again = wait_state(place, "costly", "refused")
    expect(again["refused"] == shown["refused"], f"after a kill: {again['refused']}")
    test_queue.command(federation, "cancel", number)
    # One that asks about a column that the dictionary does not have.
    stranger = text_of("stranger").replace("dose", "nowhere")
    expect("nowhere" in stranger, "the job asks about the same columns as before")
    number = submit(federation, "stranger", stranger)
    shown = wait_state(place, "stranger", "refused")
    expect([job["job"] for job in shown["refused"]] == ["stranger", "costly"] and "nowhere" in shown["refused"][0]["why"], f"{shown['refused']}")
    test_queue.command(federation, "cancel", number)
    # A text that waits, a policy that forbids it, and the policy as it was.
    submit(federation, "first")
    wait_state(place, "first", "waiting")
    before = policy.read_text()
    policy.write_text(before.replace("[fit, losses]", "[losses]"))
    expect(policy.read_text() != before, "the policy is as before")
    shown = wait_state(place, "first", "refused")
    expect(shown["waiting"] == [] and "fit" in shown["refused"][0]["why"], f"it is refused and waits for a person: {shown}")
    expect("no job waits" in agent(federation, "approve"), "the command asks a person about it")
    policy.write_text(before)
    shown = wait_state(place, "first", "waiting")
    expect([job["name"] for job in shown["waiting"]] == ["first"] and len(shown["refused"]) == 2, f"{shown}")
    expect(shown["waiting"][0]["digest"].startswith(shared) and shown["refused"][1]["digest"].startswith(shared), f"{shown}")
    said = agent(federation, "show", shared, code=3)
    expect("more than one job has a digest that begins with" in said, f"a job that waits and one that was refused: {said}")
    same_as_the_commands(federation, shown)


def a_yes_ends_with_its_job(make, programs):
    """Approved while it was offered, cancelled before it began here: the yes pays for no later submission of the same text, also
    where the agent was killed between the yes and the end. `jobs` and the page say over."""
    federation = with_queue(make, programs)
    process = federation.start_agent("site-1")
    place = port_of(federation, "site-1")

    def start_again():
        (federation.folder / "site-1.log").unlink()
        return federation.start_agent("site-1"), port_of(federation, "site-1")

    submit(federation, "first")
    digest = wait_state(place, "first", "waiting")["waiting"][0]["digest"]
    process.kill()
    expect("approved for 1 run" in agent(federation, "approve", "--yes"), "the yes")
    test_queue.command(federation, "cancel", 1)
    fed.wait_until(lambda: test_queue.is_filed(federation, 1), "the cancelled job is filed")
    submit(federation, "first")
    process, place = start_again()
    again = wait_state(place, "first", "waiting")["waiting"]
    expect([job["digest"] for job in again] == [digest], f"the same text: {again}")
    expect(test_queue.status(federation, 2)["state"] == "running", "it waits for a person")
    expect(federation.ledger("site-1")["charges"] == [], "a yes to the first job paid for the second")
    agent(federation, "approve", "--yes")
    wait_state(place, "first", "done")
    charged = len(federation.ledger("site-1")["charges"])
    expect(charged > 0, "a yes to the second job lets it run")
    # It cannot begin: it needs a site that never comes. The agent hears of its end.
    alone = text_of("second").replace("minimum: 1", "minimum: 2")
    expect("minimum: 2" in alone, "the job's text has another minimum")
    number = submit(federation, "second", alone)
    wait_state(place, "second", "waiting")
    agent(federation, "approve", "--yes")
    shown = wait_state(place, "second", "approved")
    same_as_the_commands(federation, shown)
    test_queue.command(federation, "cancel", number)
    shown = wait_state(place, "second", "over")
    expect([job["runs_approved"] for job in shown["jobs"] if job["job"] == "second"] == [0], f"a run is approved: {shown['jobs']}")
    same_as_the_commands(federation, shown)
    process.kill()
    process, place = start_again()
    wait_state(place, "second", "over")
    submit(federation, "second", alone)
    wait_state(place, "second", "waiting")
    # The person approved two runs. This holds also after the end of the first one.
    agent(federation, "approve", "--runs", "2", "--yes")
    wait_state(place, "second", "approved")
    test_queue.command(federation, "cancel", number + 1)
    fed.wait_until(lambda: test_queue.is_filed(federation, number + 1), "the cancelled job is filed")
    wait_state(place, "second", "approved")
    submit(federation, "second", alone)
    fed.wait_until(lambda: (federation.folder / "site-1.log").read_text().count('"job-joined"') == 2, "approved twice, it is joined twice")
    expect(len(federation.ledger("site-1")["charges"]) == charged, "something was paid that did not run")


def a_coordinator_says_that_a_person_is_waited_for(make, programs):
    """The coordinator's list, metrics and `status` name the site, until the person approves."""
    federation = with_queue(make, programs, slot_ms=1000)
    federation.start_agent("site-1")
    place, own = port_of(federation, "coordinator"), port_of(federation, "site-1")
    number = submit(federation, "first")
    wait_state(own, "first", "waiting")

    def waits():
        return {row["number"]: row["waits"] for row in json.loads(ask(place, "/api/status")[1])["facts"]["queue"]}[str(number)]

    of_job = (("job_number", str(number)),)
    expect(metrics(place)["agents_ready"][of_job] == 0 and metrics(place)["agents_needed"][of_job] == 1, "who is ready")
    fed.wait_until(lambda: waits() == "for approval: 0 of 1 ready", f"the list does not say that a person is waited for: {waits()}")
    said = test_queue.status(federation, number)["waits"]
    expect(said and "may have to approve" in said, f"status: {said}")
    agent(federation, "approve", "--yes")
    fed.wait_until(lambda: waits() == "", "the list says that a person is waited for, who has said yes")
    fed.wait_until(lambda: test_queue.is_filed(federation, number), "the job does not end")
    expect(test_queue.status(federation, number)["state"] == "done", "the job ends in another way")
    expect(test_queue.status(federation, number)["waits"] is None, "a job that is done waits")
    # A site that says no is not counted as ready: it is named.
    alone = text_of("second").replace("minimum: 1", "minimum: 2")
    number = submit(federation, "second", alone)
    digest = wait_state(own, "second", "waiting")["waiting"][0]["digest"]
    agent(federation, "reject", digest, "--why", "not about our patients")
    fed.wait_until(lambda: waits() == "for agents: 0 of 2 ready; declined by site-1", f"the list does not say who declined: {waits()}")
    expect(metrics(place)["agents_ready"][(("job_number", str(number)),)] == 0, "a site that declined is ready")
    expect("not about our patients" not in (federation.folder / "coordinator.log").read_text(), "a person's words have left")
    test_queue.command(federation, "cancel", number)
    number = submit(federation, "third")
    digest = wait_state(own, "third", "waiting")["waiting"][0]["digest"]
    agent(federation, "reject", digest, "--why", "not about our patients")
    fed.wait_until(lambda: test_queue.status(federation, number)["state"] == "failed", "it does not fail at once")
    said = test_queue.status(federation, number)["because"]
    expect("round 1: 0 agents were ready and the others declined" in said and "site-1 (declined)" in said, f"because: {said}")


def phases(place):
    return {dict(labels)["phase"]: value for labels, value in metrics(place)["job_phase"].items()}


def main():
    options = fed.options()
    cases = [(case.__name__, case, {"programs": options.programs})
             for case in (same_as_commands_also_after_a_kill, dead_jobs_are_over, refused_jobs_are_shown_with_the_reason,
                              a_yes_ends_with_its_job, a_coordinator_says_that_a_person_is_waited_for) if options.only in case.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
