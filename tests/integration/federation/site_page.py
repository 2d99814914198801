"""site_page.py - what the tests of a site's own page share: a queue and one site whose person decides, and what is asked of the page
and told to it."""

import json
import re

import federation as fed
import test_queue
from federation import expect
from test_face import ask


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
