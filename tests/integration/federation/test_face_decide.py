"""test_face_decide.py - decisions at a site's own page: the same as by the command, by nobody without a ticket, and no page unless the
settings say so."""

import hashlib
import os
import re
import statistics
import sys
import threading
import time
from urllib.parse import quote

import federation as fed
from federation import expect, in_time
from site_page import APPROVE, agent, approvals, enter, expect_refused, post, site, submit, ticket, wait_state, wish, with_queue
from test_face import ask, closed, port_of


def a_decision_at_the_page(make, programs):
    """The page makes the same decision as the command. A request without permission changes nothing."""
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
    """A ticket is valid once, for ten minutes, at the agent that ran when it was made, and from a file that
    nobody else can write."""
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
    # While the agent is away, another account may listen at its port and receive a ticket.
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
    cases = [(case.__name__, case, {"programs": options.programs})
             for case in (a_decision_at_the_page, a_price_that_is_not_left, tickets, nobody_decides_unless_said,
                              floods_of_guesses_delay_no_round) if options.only in case.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
