"""test_face_site.py - the site's own page: its ledger over time, the jobs that wait with their plans, the dictionary - the same as
the commands say, nothing that was not judged, and the same again after a kill."""

import hashlib
import json
import os
import re
import statistics
import sys
import threading
import time
from urllib.parse import quote

import federation as fed
import test_queue
from federation import expect, in_time
from test_face import ask, closed, metrics, port_of

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


def text_of(name):
    return fed.job_text(minimum=1, rounds=1, fits=3).replace("job: trial", f"job: {name}")


def with_queue(make, programs, http="", epsilon=6, slot_ms=10):
    """A coordinator that stays and one site whose person decides."""
    policy = fed.policy_text(epsilon=epsilon, answer_slot_ms=slot_ms).replace("approval: policy", "approval: person")
    federation = make(programs, agents=1, policy=policy, agent_settings=f'http: {{listen: "127.0.0.1:0"{http}}}\n')
    test_queue.write_settings(federation)
    federation.start_coordinator()
    return federation


def submit(federation, name, text=None):
    path = federation.folder / f"{name}.yml"
    path.write_text(text or text_of(name))
    return json.loads(test_queue.command(federation, "submit", path, "--json"))["number"]


def agent(federation, *words, code=0):
    got, said = federation.tool("hedgerow-agent", *words, "--config", federation.folder / "site-1" / "agent.yml")
    expect(got == code, f"{' '.join(map(str, words))} ended with {got}: {said}")
    return said


def site(place):
    code, text, _ = ask(place, "/api/site")
    return json.loads(text) if code == 200 else None


def state_of(place, name):
    for job in (site(place) or {"jobs": []})["jobs"]:
        if job["job"] == name:
            return job["state"]
    return None


def wait_state(place, name, state):
    fed.wait_until(lambda: state_of(place, name) == state, f"{name} is not {state}")
    return site(place)


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
    # Two runs are what was said: also after the end of this one.
    agent(federation, "approve", "--runs", "2", "--yes")
    wait_state(place, "second", "approved")
    test_queue.command(federation, "cancel", number + 1)
    fed.wait_until(lambda: test_queue.is_filed(federation, number + 1), "the cancelled job is filed")
    wait_state(place, "second", "approved")
    submit(federation, "second", alone)
    fed.wait_until(lambda: (federation.folder / "site-1.log").read_text().count('"job-joined"') == 2, "approved twice, it is joined twice")
    expect(len(federation.ledger("site-1")["charges"]) == charged, "something was paid that did not run")


def a_coordinator_says_that_a_person_is_waited_for(make, programs):
    """Its list, its metrics and `status`; and no more once the person has said yes."""
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


APPROVE = ", approve: true"


def post(place, path, headers, origin=True, host=None):
    """As the page asks, unless said; returns the code and the answer."""
    own = "%s:%d" % place
    headers = dict(headers, Host=host or own)
    if origin:
        headers["Origin"] = "http://" + own if origin is True else origin
    code, text, _ = ask(place, path, headers, method="POST")
    return code, json.loads(text) if text.startswith("{") else {}


def ticket(federation, place):
    done = federation.tool("hedgerow-agent", "page", "--config", federation.folder / "site-1" / "agent.yml")
    expect(done[0] == 0, f"page: {done}")
    found = re.search(r"http://(\S+)/#([0-9a-f]{64})", done[1])
    expect(found and found[1] == "%s:%d" % place, f"page says {done[1]}")
    return found[2]


def enter(federation, place):
    code, said = post(place, "/api/session", {"Hedgerow-Ticket": ticket(federation, place)})
    expect(code == 200, f"a ticket opened nothing: {code} {said}")
    return said["session"]


def wish(session, job, what="approve", **more):
    return {"Hedgerow-Session": session, "Hedgerow-Digest": job["digest"], "Hedgerow-Decision": what,
            "Hedgerow-Runs-Before": str(job["runs_before"]), **more}


def expect_refused(place, headers, wanted, sentence, path="/api/decide", **how):
    code, said = post(place, path, headers, **how)
    expect(code == wanted, f"{sentence}: {code} {said}")


def approvals(federation):
    path = federation.folder / "site-1" / "state" / "approvals"
    return [line for line in path.read_text().splitlines() if not line.startswith("#")] if path.exists() else []


def a_decision_at_the_page(make, programs):
    """The same decision as by the command; whoever may not make it changes nothing."""
    federation = with_queue(make, programs, http=APPROVE)
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    submit(federation, "first")
    job = wait_state(place, "first", "waiting")["waiting"][0]
    session = enter(federation, place)
    good = wish(session, job)
    expect_refused(place, good, 403, "a form on another page (CSRF)", origin="http://evil.example")
    expect_refused(place, good, 403, "a page of another port", origin="http://127.0.0.1:1")
    expect_refused(place, good, 403, "no origin", origin=False)
    expect_refused(place, good, 421, "a name that resolves to here (DNS rebinding)", host="rebound.example", origin="http://rebound.example")
    expect_refused(place, dict(good, **{"Sec-Fetch-Site": "cross-site"}), 403, "the browser says that another page asks")
    expect_refused(place, wish("", job), 401, "no token")
    expect_refused(place, wish("0" * 64, job), 401, "a token that was guessed")
    expect_refused(place, dict(wish("0" * 64, job), Cookie="session=" + session), 401, "the token in a cookie, which other ports can read")
    expect_refused(place, dict(good, **{"Hedgerow-Digest": hashlib.sha256(b"another").hexdigest()}), 409, "another job's digest")
    expect_refused(place, dict(good, **{"Hedgerow-Digest": job["digest"][:12]}), 400, "half a digest")
    expect_refused(place, dict(good, **{"Hedgerow-Runs-Before": "1"}), 409, "runs that are not those which were shown")
    expect_refused(place, dict(good, **{"Hedgerow-Decision": "agree"}), 400, "a word that is none")
    expect_refused(place, wish(session, job, "reject"), 422, "a rejection without words")
    expect_refused(place, wish(session, job, "reject", **{"Hedgerow-Why": 128 * "x"}), 422, "too many words")
    expect(ask(place, "/api/decide")[0] == 405 and approvals(federation) == [], f"something was decided: {approvals(federation)}")
    # The text on the disk is changed while the page shows it: what is approved is what was shown.
    kept = federation.folder / "site-1" / "state" / "waiting" / (job["digest"] + ".yml")
    kept.write_text(kept.read_text() + "# changed\n")
    expect(post(place, "/api/decide", good) == (200, {"done": "approved"}), "the person's yes")
    expect(re.fullmatch(job["digest"] + " 1@[0-9a-f]{64}", *approvals(federation)), f"approved: {approvals(federation)}")
    expect(hashlib.sha256(job["text"].encode()).hexdigest() == job["digest"], "the text that was shown")
    wait_state(place, "first", "done")
    expect_refused(place, good, 409, "the same yes again (replay)")
    # The same text again is another job: the old yes is not for it.
    submit(federation, "first")
    again = wait_state(place, "first", "waiting")["waiting"][0]
    expect(again["runs_before"] == 1, f"{again}")
    expect_refused(place, good, 409, "an old yes for a new run")
    # By the policy as it is now.
    policy = federation.folder / "site-1" / "policy.yml"
    before = policy.read_text()
    policy.write_text(before.replace("tasks: [fit, losses]", "tasks: [losses]"))
    expect_refused(place, wish(session, again), 422, "a task that the policy no longer allows")
    policy.write_text(before)
    for words in ("half an escape %C", "%zz", "nothing%00more", "n%F6"):
        code, said = post(place, "/api/decide", wish(session, again, "reject", **{"Hedgerow-Why": words}))
        expect(code == (422 if words == "n%F6" else 400), f"{words}: {code} {said}")
    code, said = post(place, "/api/decide", wish(session, again, "reject", **{"Hedgerow-Why": quote("nicht für 5 €, 100 %")}))
    expect(code == 200 and approvals(federation) == [job["digest"] + " 0 nicht für 5 €, 100 %"], f"{code} {said} {approvals(federation)}")
    secrets_stay(federation, session)


def a_price_that_is_not_left(make, programs):
    """What the ledger cannot pay for is not approved, at the page or by the command; with more it is."""
    federation = with_queue(make, programs, http=APPROVE, epsilon=1.5)
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    submit(federation, "first")
    job = wait_state(place, "first", "waiting")["waiting"][0]
    expect(job["not_enough"] is None, f"not enough of 1.5: {job['not_enough']}")
    agent(federation, "approve", "--yes")
    wait_state(place, "first", "done")
    submit(federation, "second")
    job = wait_state(place, "second", "waiting")["waiting"][0]
    expect("this job costs epsilon 1, delta 0, and epsilon 0.5" in (job["not_enough"] or ""), f"{job}")
    session = enter(federation, place)
    expect_refused(place, wish(session, job), 422, "a price that is not left")
    said = " ".join(agent(federation, "approve", "--yes", code=5).split())
    expect("left of the policy's total: epsilon 0.5" in said and "NOT ENOUGH" in said, f"approve: {said}")
    expect("reject it, or raise epsilon in the policy" in said and "approved for" not in said, f"approve: {said}")
    expect(len(approvals(federation)) == 1, f"approved: {approvals(federation)}")
    policy = federation.folder / "site-1" / "policy.yml"
    policy.write_text(policy.read_text().replace("epsilon: 1.5", "epsilon: 2"))
    fed.wait_until(lambda: (site(place) or {"waiting": [job]})["waiting"][0]["not_enough"] is None, "2 is not enough for twice 1")
    expect(post(place, "/api/decide", wish(session, job)) == (200, {"done": "approved"}), "the person's yes")
    wait_state(place, "second", "done")


def secrets_stay(federation, session):
    """Neither the log nor the state folder has what opens the page."""
    for path in federation.folder.rglob("*"):
        if path.is_file():
            expect(session.encode() not in path.read_bytes(), f"{path} has the session's secret")


def tickets(make, programs):
    """Good once, for ten minutes, at the agent that ran when it was made, from a file that nobody else may write."""
    federation = with_queue(make, programs, http=APPROVE)
    process = federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    path = federation.folder / "site-1" / "state" / "page-ticket"
    fed.wait_until(lambda: (path.parent / "page").exists(), "the page is not announced")

    def tries(text, code, sentence, **how):
        expect_refused(place, {"Hedgerow-Ticket": text}, code, sentence, path="/api/session", **how)

    one = ticket(federation, place)
    expect(one.encode() not in path.read_bytes() and path.stat().st_mode & 0o777 == 0o600, "the file has the ticket, or others may read it")
    for wrong in ("", "0" * 64, one[:-1], one.upper(), one + "0"):
        tries(wrong, 401, f"a wrong ticket {wrong}")
    tries(one, 403, "another page", origin="http://evil.example")
    tries(one, 421, "another name", host="rebound.example", origin="http://rebound.example")
    first = post(place, "/api/session", {"Hedgerow-Ticket": one})
    expect(first[0] == 200, f"wrong ones have used it up: {first}")
    tries(one, 401, "the same ticket again")
    second = enter(federation, place)
    nothing = {"digest": "0" * 64, "runs_before": 0}
    expect_refused(place, wish(first[1]["session"], nothing), 401, "the session before the latest")
    expect_refused(place, wish(second, nothing), 409, "the latest session, without a job")
    for seconds, sentence in ((-1, "a ticket that is too old"), (3600, "a ticket for longer than tickets are good")):
        late = ticket(federation, place)
        path.write_text(f"{path.read_text().split()[0]} {int((time.time() + seconds) * 1000)}\n")
        tries(late, 401, sentence)
    open_to_all = ticket(federation, place)
    os.chmod(path, 0o666)
    tries(open_to_all, 401, "a file that everybody may write")
    # While the agent is away another account may listen at its port, and be given a ticket.
    given_away = ticket(federation, place)
    process.kill()
    (federation.folder / "site-1.log").unlink()
    process = federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    fed.wait_until(lambda: site(place) is not None, "the agent is there again")
    tries(given_away, 401, "a ticket of before the start")
    expect_refused(place, wish(second, nothing), 401, "a session of before the start")
    enter(federation, place)
    process.signal(15)
    expect(process.wait(20) == 0, "an agent with an open page ends")
    code, said = federation.tool("hedgerow-agent", "page", "--config", federation.folder / "site-1" / "agent.yml")
    expect(code == 3 and "no running agent" in said, f"page without an agent: {code} {said}")


def nobody_decides_unless_said(make, programs):
    federation = with_queue(make, programs)
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    code, said = federation.tool("hedgerow-agent", "page", "--config", federation.folder / "site-1" / "agent.yml")
    expect(code == 3 and "approve: true" in said, f"page: {code} {said}")
    for path in ("/api/session", "/api/decide"):
        expect(post(place, path, {"Hedgerow-Ticket": "0" * 64})[0] == 403 and ask(place, path)[0] == 404, f"{path} is there")
    fed.wait_until(lambda: site(place) is not None, "the page is there")
    expect(not site(place)["approve"] and not (federation.folder / "site-1" / "state" / "page").exists(), "it is said to be open")


def floods_of_guesses_delay_no_round(make, programs):
    """Tickets, sessions and decisions are guessed as fast as the port takes them, while rounds take their slots."""
    slot_ms = 300
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=20, rounds=1), policy=fed.policy_text(answer_slot_ms=slot_ms),
                      agent_settings=f'http: {{listen: "127.0.0.1:0"{APPROVE}}}\n', linger_s=60)
    coordinator = federation.start_coordinator()
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    federation.wait_event("coordinator", "round-closed")
    one = ticket(federation, place)
    counts = []
    over = threading.Event()

    def guess():
        count = 0
        while not over.is_set():
            try:
                for path, headers in (("/api/session", {"Hedgerow-Ticket": os.urandom(32).hex()}), ("/api/decide", wish(os.urandom(32).hex(), {"digest": "0" * 64, "runs_before": 0}))):
                    count += post(place, path, headers)[0] == 401
            except OSError:
                pass
        counts.append(count)

    threads = [threading.Thread(target=guess, daemon=True) for _ in range(16)]
    for thread in threads:
        thread.start()
    fed.wait_until(lambda: len(closed(federation)) >= 20, "the rounds stand still")
    over.set()
    for thread in threads:
        thread.join(30)
    seconds = [row["seconds"] for row in closed(federation)[2:20]]
    in_time(statistics.median(seconds) < slot_ms / 1000 + 0.15, f"rounds took {seconds}")
    in_time(sum(counts) >= 50, f"so few were tried: {counts}")
    expect(post(place, "/api/session", {"Hedgerow-Ticket": one})[0] == 200, "guesses have used up the ticket")
    coordinator.kill()


def main():
    options = fed.options()
    cases = [(function.__name__, function, {"programs": options.programs})
             for function in (same_as_commands_also_after_a_kill, dead_jobs_are_over, refused_jobs_are_shown_with_the_reason, a_yes_ends_with_its_job, a_coordinator_says_that_a_person_is_waited_for, a_decision_at_the_page, a_price_that_is_not_left, tickets, nobody_decides_unless_said,
                              floods_of_guesses_delay_no_round) if options.only in function.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
