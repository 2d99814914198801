"""test_data.py - faulty records and policies are refused at the site, and nothing about them leaves it.

Every faulty table holds a canary at its fault, and others at valid values. No output of any program, and neither
the coordinator's journal nor its result, may contain a canary. It has enough digits that noise does not show it by
chance: a run's outputs have some 1,300 random texts of five digits, and a false alarm has a probability below 1e-7.
"""

import concurrent.futures
import datetime
import gzip
import sys

import federation as fed
import journals
from federation import expect

CANARY = "735196248051739"
SPELT = {CANARY, *(f"{float(CANARY):.{digits}{kind}}" for kind in "eg" for digits in range(5, 15))}
USUAL = {"agent-present", "message-lost"}  # what the coordinator's log may say of any agent
LONG_LINE = 100 * 1000 * 1000
GOOD_LINES = f"31,2.5,1\n{CANARY},-3.5,0\n" * 6
HEADER = "age,dose,ill\n"

# What the file itself lacks. name: (the table, what the message must contain beside the file's name)
FAULTS = {
    "empty": ("", ["empty", "column names"]),
    "missing": ("age,ill\n" + f"{CANARY},1\n" * 4, ["line 1", "dose", "missing"]),
    "semicolons": (HEADER.replace(",", ";") + "31;2;1\n" * 12, ["line 1", "one column with semicolons", "separator: semicolon", "data.yml"]),
    "capital": (f"Age,dose,ill\n{CANARY},1,1\n" * 12, ["line 1", "no column", "did you mean", "Age"]),
    "cut-gz": (gzip.compress((HEADER + GOOD_LINES * 1000).encode())[:-5], ["gzip", "end too early"]),
    "damaged-gz": (gzip.compress((HEADER + GOOD_LINES).encode())[:-8] + b"damaged.", ["gzip", "damaged"]),
    "twice": ("age,age,dose,ill\n" + f"{CANARY},1,1,1\n" * 4, ["line 1", "age", "twice"]),
}
# Odd cells: every text can be read, so these sites take part like any other. name: (the table, what
# `check` tells the site's person of it, and nobody else)
ODD = {
    "text": (f"5,abc{CANARY},0\n", ["dose", "0         1         0", "line 2"]),
    "nan": ("nan,1,0\n", ["age", "0         1         6", "line 2"]),
    "infinite": ("1,inf,0\n", ["dose", "0         1         0", "line 2"]),
    "huge": (f"1,1e{CANARY},0\n", ["dose", "0         1         0", "line 2"]),
    "gap": (",1,0\n", ["age", "1         0         6"]),
    "label": (f"4,1,{CANARY}\n", ["ill", "0         1         0", "line 2"]),
    "ragged": (f"4,1,0,{CANARY}\n", ["1 row has more or fewer fields", "first in line 2"]),
    "zero-byte": (f"4,1\0{CANARY},0\n", ["dose", "0         1         0", "line 2"]),
    "quote": (f"\"4,1,{CANARY}\n", ["1 row has", "ill", "1         0         0"]),
    "long": (None, ["1 row has", "ill", "1         0         0"]),
}
ODD = {name: (row and HEADER + row + GOOD_LINES, told) for name, (row, told) in ODD.items()}
ODD["header"] = (HEADER, ["WARNING", "adds rows of missing values"])
ODD["one"] = (HEADER + f"{CANARY},1,1\n", ["WARNING", "adds rows of missing values"])
ROWS = 13  # of every such site's dictionary, and of most tables
LAWFUL = {
    "good": HEADER + GOOD_LINES,
    "semicolon": (HEADER + GOOD_LINES).replace(",", ";"),
    "tab": (HEADER + GOOD_LINES).replace(",", "\t"),
    "packed": gzip.compress((HEADER + GOOD_LINES).encode()),
    "one-class": HEADER + f"31,2.5,1\n{CANARY},-3.5,1\n" * 6,
}


def write_long(path):
    """A record of one line of 100 MB."""
    with open(path, "w", encoding="ascii") as file:
        file.write(HEADER)
        piece = CANARY * 20000
        for _ in range(LONG_LINE // len(piece)):
            file.write(piece)
        file.write(",1,1\n" + GOOD_LINES)


def expect_told(what, said, path, wanted):
    joined = " ".join(said.split())  # `check` breaks its lines at 80 columns
    for text in [str(path)] + wanted:
        expect(text in said or text in joined, f"{what}: not told: {text!r} in: {said}")


def tells(text):
    return any(spelt in text for spelt in SPELT)


def expect_no_canary(federation, said):
    for name, text in said.items():
        expect(not tells(text), f"{name} tells a record's value: {text}")
    for path in [federation.office, *federation.folder.glob("*.log")]:
        for file in ([path] if path.is_file() else path.rglob("*")):
            if file.is_file() and not file.is_symlink():
                expect(not tells(file.read_bytes().decode(errors="replace")), f"{file} holds a record's value")


def faulty_tables(make, programs):
    """All sites in one federation: the job takes place without those whose file lacks something, and with
    those whose records are odd."""
    joining = len(ODD) + len(LAWFUL)
    # The sites without a table never come: each round waits its whole deadline for them, and stays open as
    # long as it is below the minimum; the coordinator then lingers for them.
    job = fed.job_text(minimum=joining, deadline_s=1, rounds=1)
    with make(programs, agents=0, job=job, linger_s=3) as federation:
        policy = fed.policy_text()
        for name, (table, _) in {**FAULTS, **ODD}.items():
            federation.add_site(name, policy, table or "", dictionary=fed.dictionary_text(ROWS))
        for name, table in LAWFUL.items():
            federation.add_site(name, policy, table, dictionary=fed.dictionary_text(
                12, separator=name if name in ("semicolon", "tab") else "comma"))
        write_long(federation.folder / "long" / "data.csv")
        names = [*FAULTS, *ODD, *LAWFUL]
        federation.admit(names)
        with concurrent.futures.ThreadPoolExecutor(7) as pool:
            checked = dict(zip([*FAULTS, *ODD], pool.map(lambda name: federation.tool(
                "hedgerow-agent", "check", "--timeout", "1", "--job", federation.office / "job.yml",
                "--config", federation.folder / name / "agent.yml"), [*FAULTS, *ODD])))
        said = {name: text for name, (_, text) in checked.items()}
        for name, (_, wanted) in FAULTS.items():
            code = checked[name][0]
            expect(code == 3, f"check of {name} ended with {code}: {said[name]}")
            expect_told(f"check of {name}", said[name], federation.folder / name / "data.csv", wanted)
            expect("NOT READY" in said[name], f"check of {name} says no NOT READY: {said[name]}")
        for name, (_, wanted) in ODD.items():
            code = checked[name][0]
            expect(code == 6, f"check of {name}, without a coordinator, ended with {code}: {said[name]}")
            expect_told(f"check of {name}", said[name], "data", wanted)
        agents = {name: federation.start_agent(name) for name in names}
        code = federation.start_coordinator().wait()
        fed.in_time(code != 4, "the good sites did not answer before a round's deadline")
        expect(code == 0, f"the coordinator ended with {code}")
        for name, agent in agents.items():
            expect(agent.wait() == (3 if name in FAULTS else 0), f"{name} ended with {agent.code()}")
        for name, (_, wanted) in FAULTS.items():
            expect(federation.event(name, "agent-started") is None, f"{name} has begun without a table")
            expect_told(f"run of {name}", federation.said(name), federation.folder / name / "data.csv", wanted)
            told = {e["event"] for e in federation.events("coordinator") if e.get("peer") == name}
            expect(not told, f"the coordinator's log says of {name}: {told}")
            expect(not journals_mention(federation, name), f"the coordinator's journal mentions {name}")
        for name in [*LAWFUL, *ODD]:
            for words in ("clamp", "bounds", "outside", "unlisted", "column", "cells", "unfit"):
                expect(words not in federation.said(name), f"{name}'s log tells of its cells: {words}")
        result = federation.result()
        expect([r["agents"] for r in result["rounds"]] == [joining] * 2, f"rounds: {result['rounds']}")
        expect_no_canary(federation, said)
        for spelt in SPELT:
            fed.must_fail("a value in an output", expect_no_canary, federation, {"check": f"not {spelt}"})
        (federation.office / "out" / "planted").write_text(CANARY)
        fed.must_fail("a value in a result", expect_no_canary, federation, said)


def journals_mention(federation, name):
    return any(name in record["agents"] for _, record, _ in journals.read(federation.office / "state"))


def clamped_values(make, programs):
    """Values out of the public bounds are counted for the site's operator, by `check` alone."""
    with make(programs, agents=1) as federation:
        (federation.folder / "site-1" / "data.csv").write_text(LAWFUL["good"])
        federation.describe("site-1")
        code, said = federation.tool("hedgerow-agent", "check", "--timeout", "1", "--job",
                                     federation.office / "job.yml", "--config",
                                     federation.folder / "site-1" / "agent.yml")
        expect("age                          0         0         6" in said and "clamped" in said, f"check tells no count: {said}")
        expect(code == 6 and "NOT READY" in said, f"without a coordinator check ended with {code}: {said}")
        expect_no_canary(federation, {"check": said})


def no_policy(make, programs, file):
    """Without a policy, a dictionary or a table an agent does not start."""
    with make(programs, agents=1) as federation:
        (federation.folder / "site-1" / file).unlink()
        agent = federation.start_agent("site-1")
        expect(agent.wait() == 3, f"without {file} the agent ended with {agent.code()}")
        expect(file in federation.said("site-1"), "it does not say which file is missing")
        code, said = federation.tool("hedgerow-agent", "check", "--timeout", "1", "--config",
                                     federation.folder / "site-1" / "agent.yml")
        expect(code == 3 and file in said, f"check ended with {code}: {said}")


REFUSING = {
    "no-task": (fed.policy_text(tasks="[losses]"), "tasks"),
    "poor": (fed.policy_text(epsilon=0.9), "epsilon"),
    "lonely": (fed.policy_text(cohort_minimum=5), "cohort_minimum"),
    "slow": (fed.policy_text(answer_slot_ms=60000), "answer_slot_ms"),
}
# name: (the dictionary, what the site's own log says)
UNSUITED = {
    "few": (fed.dictionary_text(9), "needs 10 records"),
    "other": (fed.dictionary_text(30, ["age", "ill"]), 'no column "dose"'),
    "kind": (fed.dictionary_text(30).replace('"age", kind: number', '"age", kind: category'), 'numbers in column "age"'),
}


def refusals(make, programs, minimum):
    """Sites whose policy or dictionary forbids the job. minimum 2: the job goes on; 3: it fails, and says so."""
    with make(programs, agents=2, job=fed.job_text(minimum=minimum, deadline_s=40)) as federation:
        for name, (policy, _) in REFUSING.items():
            federation.add_site(name, policy, fed.records(9))
        for name, (dictionary, _) in UNSUITED.items():
            federation.add_site(name, fed.policy_text(), fed.records(9), dictionary=dictionary)
        refusing = {**REFUSING, **UNSUITED}
        names = [*refusing, *federation.names]
        federation.admit(names)
        agents = {name: federation.start_agent(name) for name in names}
        coordinator = federation.start_coordinator()
        wanted = 0 if minimum == 2 else 4
        expect(coordinator.wait() == wanted, f"the coordinator ended with {coordinator.code()}")
        for name, agent in agents.items():
            expect(agent.wait() == (5 if name in refusing else wanted), f"{name} ended with {agent.code()}")
        for name, (_, word) in refusing.items():
            entry = federation.event(name, "job-refused")
            expect(entry is not None and word in entry["text"], f"{name} does not say why: {entry}")
            told = [e for e in federation.events("coordinator") if e.get("peer") == name]
            expect({e["event"] for e in told} <= USUAL | {"agent-declined"} and
                   any(e["event"] == "agent-declined" for e in told),
                   f"the coordinator's log says of {name}: {told}")
            for entry in told:
                expect(word not in entry["text"] and "policy" not in entry["text"],
                       f"the coordinator knows why {name} declines: {entry}")
            expect(federation.ledger(name)["spent"]["epsilon"] == 0, f"{name} has paid for nothing")
        if minimum == 3:
            entry = federation.event("coordinator", "job-failed")
            expect(entry is not None and "cohort.minimum" in entry["text"], f"why did it fail? {entry}")
            expect(not (federation.office / "out" / "model.json").exists(), "a failed job left a model")
        else:
            expect(all(r["agents"] == 2 for r in federation.result()["rounds"]), "others were counted")


def two_jobs(federation, policy, word):
    """Runs two jobs. site-1 can pay for a part of the second one. Returns its ledger."""
    (federation.folder / "site-1" / "policy.yml").write_text(policy)
    for state in ("state", "state-2"):
        text = (federation.office / "coordinator.yml").read_text()
        (federation.office / "coordinator.yml").write_text(text.replace("state: state\n",
                                                                        f"state: {state}\n"))
        agents = [federation.start_agent(name) for name in federation.names]
        code = federation.start_coordinator().wait()
        expect(code == 0, f"the coordinator ended with {code}")
        for agent in agents:
            expect(agent.wait() == 0, f"{agent.name} ended with {agent.code()}")
    expect([r["agents"] for r in federation.result()["rounds"]] == [3, 2, 2],
           f"rounds of the second job: {federation.result()['rounds']}")
    entry = federation.event("site-1", "budget-exhausted")
    expect(entry is not None and word in entry["text"], f"site-1 does not say why: {entry}")
    return federation.ledger("site-1")


def budget_runs_out(make, programs):
    """A budget of one and a half jobs: the site answers the second job until the budget is spent."""
    policy = fed.policy_text(epsilon=1.5)
    with make(programs, agents=3, job=fed.job_text(minimum=2)) as federation:
        ledger = two_jobs(federation, policy, "ledger")
        expect(ledger["spent"]["epsilon"] == 1.5 and ledger["left"]["epsilon"] == 0, f"ledger: {ledger}")
        told = {e["event"] for e in federation.events("coordinator") if e.get("peer") == "site-1"}
        expect(told <= USUAL | {"agent-declined", "answer-counted"}, f"of site-1: {told}")


def days_run_out(make, programs):
    """An allowance for a year, and delta: both outlast the job and the agent's process, and neither is the total."""
    policy = fed.policy_text(epsilon=10) + "allowance_days: 365\nallowance_epsilon: 1.5\n"
    with make(programs, agents=3, job=fed.job_text(minimum=2)) as federation:
        ledger = two_jobs(federation, policy, "allowance_epsilon")
        expect(ledger["spent"]["epsilon"] == 1.5 and ledger["left"]["epsilon"] == 8.5, f"total: {ledger}")
        window = ledger["window"]
        expect(window["days"] == 365 and window["spent"]["epsilon"] == 1.5 and
               window["left"]["epsilon"] == 0, f"window: {window}")
        expect([job["spent"]["epsilon"] for job in ledger["jobs"]] == [1, 0.5], f"jobs: {ledger['jobs']}")
        event = ledger["charges"][0]["event"]
        expect(event["mechanism"] == "pure" and event["neighbours"] == "replace-one" and
               event["count"] == 1 and event["sampling"] == 1, f"event: {event}")
        (federation.folder / "site-1" / "policy.yml").write_text(
            policy.replace("delta: 0\n", "delta: 1e-6\n"))
        ledger = federation.ledger("site-1")
        expect(ledger["divergence_percent"] > 0 and ledger["by_now"]["epsilon"] <= 1.5 and
               ledger["if_fixed_in_advance"]["epsilon"] <= 1.5, f"with delta: {ledger}")
        code, said = federation.tool("hedgerow-agent", "ledger", "--config",
                                     str(federation.folder / "site-1" / "agent.yml"))
        for words in ("of any 365 days", "if the charges had been fixed in advance", "pure epsilon",
                      "at any time and however the charges were chosen"):
            expect(code == 0 and words in " ".join(said.split()), f"the ledger for people has no \"{words}\": {said}")


def answer_slots(make, programs):
    """A fit's answer arrives at a public slot, neither before nor long after it. Losses take a public time, so their
    answers do not wait for one."""
    slot_ms = 300
    policy = fed.policy_text(answer_slot_ms=slot_ms)
    with make(programs, agents=1, job=fed.job_text(minimum=1, rounds=5), policy=policy) as federation:
        federation.start_agent("site-1")
        code = federation.start_coordinator().wait()
        expect(code == 0, f"the coordinator ended with {code}")
        opened = None
        waits = []
        for entry in federation.events("coordinator"):
            when = datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00"))
            if entry["event"] == "round-opened":
                opened = when
            elif entry["event"] == "answer-counted":
                waits.append((when - opened).total_seconds() * 1000)
        # Times are cut to milliseconds, twice; what the machine adds is allowed half a slot.
        expect(len(waits) == 6 and waits[0] >= slot_ms - 2, f"answers after {waits} ms")
        fed.in_time(waits[0] % slot_ms < slot_ms / 2, f"the fit's answer is not at a slot: after {waits} ms")
        fed.in_time(sorted(waits[1:])[2] < slot_ms / 2, f"losses waited for a slot: {waits} ms")


def main():
    options = fed.options()
    common = {"programs": options.programs}
    cases = [("faulty tables", faulty_tables, common),
             ("refusals, enough others", refusals, {**common, "minimum": 2}),
             ("refusals, too few others", refusals, {**common, "minimum": 3}),
             ("budget runs out", budget_runs_out, common),
             ("days run out", days_run_out, common),
             ("answer slots", answer_slots, common),
             ("clamped values", clamped_values, common),
             ("no policy", no_policy, {**common, "file": "policy.yml"}),
             ("no dictionary", no_policy, {**common, "file": "data.yml"}),
             ("no table", no_policy, {**common, "file": "data.csv"})]
    return fed.run_cases([case for case in cases if options.only in case[0]], at_once=3)


if __name__ == "__main__":
    sys.exit(main())
