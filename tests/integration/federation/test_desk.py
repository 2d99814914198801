"""test_desk.py - operators who work from another machine: the real coordinator with its desk, and the real command.

Every command says what the local one says. A key of one list has no right of the other.
"""

import json
import re
import subprocess
import sys
import time

import federation as fed
from desk import AGENTS, make_office, run
from federation import expect

JOB_FIELDS = {"number", "job", "state", "begun", "stuck", "rounds", "rounds_planned", "epsilon", "epsilon_planned", "delta", "delta_planned",
              "submitted", "cancel", "ended", "because", "seconds_left", "waits", "declined", "held", "results"}
ROUND_FIELDS = {"round", "rounds", "stage", "agents", "epsilon", "seconds", "closed"}


def walk(make, programs, keys):
    """Every command, as text and as JSON, against what the local commands say."""
    office = make_office(make, programs, keys)
    office.start()
    said = office.remote("maria", "jobs", code=3)
    expect("enrol --token" in said, f"without settings: {said}")
    office.enrol("maria")
    office.remote("maria", "enrol", "--token", office.federation.folder / "maria.token")  # asked again: no harm
    job = office.job("walk", rounds=3)
    said = office.remote("maria", "submit", job, "--stream")
    rows = re.findall(r"^  (\w+) +(\d)/4 +3 ", said, re.M)
    expect(rows == [("fit", "1"), ("losses", "2"), ("losses", "3"), ("losses", "4")], f"the rounds: {said}")
    expect(re.search(r"^submitted +operator maria at ", said, re.M) and re.search(r"^state +done", said, re.M), said)
    local, far = json.loads(office.local("status", 1, "--json")), office.ask("maria", "status", 1)
    expect(set(far) == JOB_FIELDS and local.pop("results") and far.pop("results") is None and local == far,
           f"an operator is told {far}, a local command {local}")
    lines = [json.loads(line) for line in office.remote("maria", "watch", 1, "--json").splitlines()]
    expect(len(lines) == 5 and all(set(line) == ROUND_FIELDS for line in lines[:4]) and set(lines[4]) == JOB_FIELDS,
           f"watch as JSON: {lines}")
    expect(office.local("watch", 1, "--json").splitlines()[:4] == office.remote("maria", "watch", 1, "--json").splitlines()[:4],
           "the local watch tells other rounds")
    expect(office.remote("maria", "agents") == office.local("agents", "list"), "the agents")
    expect(office.ask("maria", "agents") == json.loads(office.local("agents", "list", "--json")), "the agents as JSON")
    expect([one["number"] for one in office.ask("maria", "jobs")["jobs"]] == [1], "the queue")
    out = office.federation.folder / "far"
    office.remote("maria", "result", 1, "--out", out)
    office.local("result", 1, "--out", office.federation.folder / "near")
    for name in ("result.json", "model.json"):
        own = (office.federation.office / "jobs" / "1" / "out" / name).read_bytes()
        expect((out / name).read_bytes() == own == (office.federation.folder / "near" / name).read_bytes(), name)
    expect("not an empty folder" in office.remote("maria", "result", 1, "--out", out, code=7), "a folder that holds something")
    expect("no job 9" in office.remote("maria", "status", 9, code=3), "a job that is not there")
    expect("no job's number" in office.remote("maria", "cancel", "x", code=3), "a number that is none")
    office.remote("maria", "jobs", "--out", "x", code=2)
    bad = office.federation.folder / "bad.yml"
    bad.write_text(job.read_text().replace("epsilon: 1", "epsilon: much"))
    said = office.remote("maria", "submit", bad, code=3)
    expect("bad.yml:" in said and "epsilon" in said, f"a bad job: {said}")
    waits = office.ask("maria", "submit", office.job("waits", minimum=AGENTS + 1))
    fed.wait_until(lambda: office.ask("maria", "status", 2)["state"] == "running", "the second job has begun")
    expect(waits["number"] == 2 and "no result yet" in office.remote("maria", "result", 2, "--out", "r", code=3), "no result yet")
    expect(office.ask("maria", "cancel", 2)["cancel"].startswith("operator maria at "), "who cancelled")
    fed.wait_until(lambda: office.ended(2), "the cancelled job is filed")
    office.remote("maria", "watch", 2, code=4)
    for name, words, code in (("maria", (job, "--id", "nightly"), 0), ("maria", (job, "--id", "nightly"), 0), ("maria", (bad, "--id", "x"), 3)):
        office.remote(name, "submit", *words, code=code)
    expect(office.names() == ["walk", "waits", "walk"], f"one job of one id: {office.names()}")
    said = office.remote("maria", "submit", office.job("other"), "--id", "nightly", code=3)
    expect("job 3 was submitted with this id" in said and not list(office.own_key("maria").parent.glob("*.submits-*")), f"an id of another file: {said}")
    office.remote("maria", "cancel", 3)
    log = [(entry["event"], entry.get("peer"), entry["text"]) for entry in office.federation.events("coordinator")]
    for event, text in (("submit", "submit job 1: done"), ("submit", "submit job 2: done"), ("cancel", "cancel job 2: done"),
                        ("result", "result job 1: done"), ("jobs", "jobs: done"), ("watch", "watch job 1: done")):
        expect((f"operator-{event}", "maria", text) in log, f"the log lacks: {event}, {text}")
    key = office.own_key("maria")
    key.chmod(0o644)
    expect("chmod 600" in office.remote("maria", "jobs", code=3), "a key that others may read")
    key.chmod(0o600)
    key.parent.chmod(0o777)
    office.remote("maria", "jobs", code=3)
    key.parent.chmod(0o700)
    office.remote("maria", "jobs")


def roles(make, programs, keys):
    """A key on one list has no right of the other; a token enrols to its own list; one key is not on both."""
    office = make_office(make, programs, keys)
    office.start(agents=False)
    office.enrol("maria")
    site = office.federation.names[0]
    agent_key, operator_key = office.federation.folder / site / "key", office.own_key("maria")
    office.heard(office.desk, operator_key, "who", "an operator at the desk")
    expect(office.stranger(office.federation.address, operator_key, "hello", 3)[1] == 0, "an operator at the agents' port")
    expect(office.stranger(office.desk, agent_key, "who", 3)[1] == 0, "an agent at the desk")
    expect(office.stranger(office.desk, operator_key, "hello", 3)[1] == 0, "an agent's message under an operator's key")
    expect(office.stranger(office.federation.address, agent_key, "who", 3)[1] == 0, "a question under an agent's key")
    office.heard(office.federation.address, agent_key, "hello", "an agent at its own port")
    expect("both an agent and an operator" in office.local("operators", "add", "jan", "--key",
                                                           office.federation.public_key(site), code=7), "an agent's key")
    expect("both an agent and an operator" in office.local("agents", "add", "jan", "--key", office.public_key("maria"), code=7),
           "an operator's key")
    # Tokens, used by the programs, and by a peer that took the secret out of one.
    jan = office.token("jan")
    agents_token = office.federation.folder / "site-9.token"
    office.local("agents", "add", "site-9", "--token", agents_token, "--address", office.federation.address)
    said = office.federation.tool("hedgerow-agent", "enrol", "--token", jan, "--config",
                                  office.federation.folder / site / "agent.yml")
    expect(said[0] == 5 and "enrols an operator, not an agent" in said[1], f"an operator's token at an agent: {said}")
    expect("enrols an agent, not an operator" in office.remote("jan", "enrol", "--token", agents_token, code=5), "the other way")
    secret = {path: re.search(r"token-secret (\w+)", path.read_text())[1] for path in (jan, agents_token)}
    stock = office.federation.folder / "thief"
    office.federation.tool("hedgerow", "keygen", "--out", stock)
    lists = {name: (office.federation.office / name).read_text() for name in ("agents", "operators")}
    for token, address in ((jan, office.federation.address), (jan, office.desk), (agents_token, office.federation.address),
                           (agents_token, office.desk)):
        for deed in ("enrol-operator", "enrol-agent", "jobs"):
            right = (token, address, deed) in ((jan, office.desk, "enrol-operator"),
                                               (agents_token, office.federation.address, "enrol-agent"))
            if not right:
                heard = office.stranger(address, stock, deed, 2, secret[token])[1]
                expect(heard == 0, f"{deed} under {token.name} at {address}: {heard} answers")
    expect(lists == {name: (office.federation.office / name).read_text() for name in lists}, "a list has changed")
    # Another role's key is refused also with the right token.
    office.stranger(office.desk, agent_key, "enrol-operator", 2, secret[jan])
    office.stranger(office.federation.address, operator_key, "enrol-agent", 2, secret[agents_token])
    expect(lists == {name: (office.federation.office / name).read_text() for name in lists}, "a key came onto both lists")
    office.remote("jan", "enrol", "--token", jan)
    expect(office.stranger(office.desk, stock, "enrol-operator", 2, secret[jan])[1] == 0, "a token that was spent")
    # Written onto both lists by hand: no operator's right is left.
    with open(office.federation.office / "agents", "a", encoding="ascii") as file:
        file.write(f"both {office.public_key('jan')}\n")
    fed.wait_until(lambda: office.federation.event("coordinator", "key-on-both-lists", "jan"), "it is told")
    office.remote("jan", "jobs", code=6)
    # Revoked: within a second, also a line that lives.
    watching = subprocess.Popen(office.words("watch", office.ask("maria", "submit", office.job("waits", minimum=9))["number"]),
                                env=office.environment("maria"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(1)
    expect(watching.poll() is None, "watch has ended")
    since = time.monotonic()
    office.local("operators", "revoke", "maria")
    fed.wait_until(lambda: office.federation.event("coordinator", "key-revoked", "maria"), "the connection is cut", 20)
    fed.in_time(time.monotonic() - since < 1.2, "the connection lived longer than a second")
    expect(watching.wait(fed.PATIENCE_S) == 6 and b"operators add" in watching.stderr.read(), "watch tells why it ended")
    office.remote("maria", "jobs", code=6)


def together(make, programs, keys):
    """Several commands of one operator at once: a key has one line, so they take turns. Nobody is cut for that."""
    office = make_office(make, programs, keys)
    office.start(agents=False)
    office.enrol("maria")
    number = office.ask("maria", "submit", office.job("waits", minimum=9))["number"]
    watching = [subprocess.Popen(office.words("watch", number), env=office.environment("maria"),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    fed.wait_until(lambda: office.federation.event("coordinator", "operator-watch", "maria"), "somebody watches")
    for _ in range(3):
        expect(office.ask("maria", "status", number)["number"] == number, "status beside two watches")
    office.remote("maria", "cancel", number)
    for one in watching:
        said = one.communicate(timeout=fed.PATIENCE_S)[1]
        expect(one.returncode == 4, f"watch of a cancelled job ended with {one.returncode}: {said}")
    for event in ("connection-replaced", "key-in-use"):
        expect(not office.federation.event("coordinator", event, "maria"), f"{event} for one operator's commands")


if __name__ == "__main__":
    sys.exit(run(lambda options: [(case.__name__, case, {}) for case in (walk, roles, together)]))
