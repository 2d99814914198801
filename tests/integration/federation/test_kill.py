"""test_kill.py - kill -9 of a real agent and of the real coordinator at the steps of a small job.

An undisturbed run tells which steps there are: before and after each event, commit, send, computation and forgetting. Events and
sends are many and alike, heartbeats above all: a sample of them is enough. Then, for each step, a federation in which the first
agent or the coordinator dies exactly there, by its own SIGKILL, and is started again at once. In each case the job must end as
if nobody had died: every round has every agent and one paid answer of each, the sums are those of the answers, and the experts
of two feature maps have weights on their own features alone.

In half of the cases the agents' journals are held open from outside, so that their logs keep every commit:
then each answer ever made durable is compared with what the coordinator added up. In the other half nobody
holds anything, and SQLite recovers alone.
"""

import collections
import pathlib
import random
import shutil
import signal
import struct
import sys
import time

import federation as fed
import journals
from federation import expect

SEED = 20
AGENTS = 3
ROUNDS = 3  # a fit and two of losses
MAP = "    map: {kind: fourier, kernel: gaussian, gamma: 1, features: 6, seed: 3}\n"
MAPPED = 7  # the map's features, including the constant one; the plain ones follow
FORECASTER = "    forecasters: [{name: older, features: [age]}]\n"
JOB = fed.job_text().replace("    tolerance:", MAP + "    tolerance:").replace("    batch:", FORECASTER + "    batch:")
LIVES_MAX = 4
LINGER_S = 12  # how long a coordinator waits at its end for an agent that died after its own end
STEPS_AT_MOST = {"commit": 1000, "work": 1000, "forget": 1000, "finish": 1000, "reconnect": 1000, "doubt": 1000,
                 "send": 20, "event": 12}
SUSPICIOUS = ("offer-changed", "answer-forged", "offer-refused", "invitation-differs", "answer-dropped",
              "step-failed", "commit-failed", "recovery-failed", "frame-refused", "message-unexpected")


def program_of(name):
    return "hedgerow-coordinator-killed" if name == "coordinator" else "hedgerow-agent-killed"


def start(federation, name, kill_at, steps):
    environment = {}
    if kill_at is not None:
        environment["HEDGEROW_KILL_AT"] = kill_at
    if steps:
        environment["HEDGEROW_STEPS"] = str(federation.folder / f"{name}.steps")
    launch = federation.start_coordinator if name == "coordinator" else federation.start_agent
    arguments = {} if name == "coordinator" else {"name": name}
    return launch(program=program_of(name), **arguments, **environment)


def carry_out(federation, kills, witnesses, steps=False, launcher=start):
    """Runs the job; who dies is started again. Returns how many deaths there were, by name."""
    plan = {name: list(places) for name, places in kills.items()}
    deaths = collections.Counter()
    running = {}

    def launch(name):
        places = plan.get(name, [])
        running[name] = launcher(federation, name, places.pop(0) if places else None, steps)

    def mend():
        for name, process in list(running.items()):
            code = process.code()
            if code == -signal.SIGKILL:
                deaths[name] += 1
                expect(deaths[name] <= LIVES_MAX, f"{name} dies again and again")
                launch(name)
            elif code is not None:
                expect(code == 0, f"{name} ended with {code}")
                if name != "coordinator":
                    del running[name]
        return running["coordinator"].code() == 0

    for name in federation.names:
        launch(name)
    for witness in witnesses:
        fed.wait_until(witness.attach, "an agent's journal is there")
    launch("coordinator")
    fed.wait_until(mend, "the job has ended")
    del running["coordinator"]
    for name, process in running.items():
        if name not in kills:
            fed.wait_until(lambda: process.code() is not None, f"{name}, never killed, has ended")
        deaths[name] += end_agent(federation, name, process, deaths[name])
    return deaths


def is_driven(federation, name, lives):
    """Whether the agent has reached its loop since its last start: it has met the coordinator, or has
    found nobody."""
    events = [entry["event"] for entry in federation.events(name)]
    if events.count("agent-started") < lives:
        return False  # the events are of the life before
    latest = len(events) - 1 - events[::-1].index("agent-started")
    return {"connected", "unreachable"} & set(events[latest:])


def end_agent(federation, name, process, died):
    """Waits for an agent's end after the job's end. It has heard of that end, or it was dead when the
    coordinator left. Returns how often it died on the way. died: how often it had before."""
    deaths = 0
    until = time.monotonic() + 1
    while process.code() is None and time.monotonic() < until:
        time.sleep(0.01)
    if process.code() == -signal.SIGKILL:
        deaths += 1
        process = start(federation, name, None, False)
    if process.code() is None:
        fed.wait_until(lambda: is_driven(federation, name, died + deaths + 1), f"{name} has looked for the coordinator")
        process.signal(signal.SIGTERM)
        process.wait()
    expect(process.code() == 0, f"{name} ended with {process.code()} after the job")
    return deaths


def charges(answers):
    """What the answers cost, without what differs between two runs of one job."""
    return [(a["round"], a["task"], a["epsilon_micro"], a.get("delta_atto", 0), a.get("row_first", 0),
             a["row_count"]) for a in answers]


def answers_of(records):
    return [record for _, record, _ in records if record["kind"] == "answer"]


def check_rounds(federation):
    """The coordinator's journal: every round once, in order, with every agent once."""
    records = journals.read(federation.office / "state")
    kinds = [record["kind"] for _, record, _ in records]
    expect(kinds == ["job"] + ["round"] * ROUNDS, f"the coordinator's journal holds {kinds}")
    for number, (_, record, _) in enumerate(records[1:]):
        expect(record["round"] == number and not record.get("failed"),
               f"record {number + 1} is round {record['round']}, failed: {record.get('failed')}")
        expect(record["agents"] == federation.names, f"round {number} counted {record['agents']}")
    return [(record, blob) for _, record, blob in records[1:]]


def check_answers(federation, name):
    """An agent's journal: one answer a round. Returns its records."""
    records = journals.read(federation.folder / name / "state")
    rounds = [answer["round"] for answer in answers_of(records)]
    expect(rounds == list(range(ROUNDS)), f"{name} has paid for rounds {rounds}")
    kept = [record["round"] for _, record, blob in records if record["kind"] == "answer" and blob is not None]
    expect(len(kept) <= 1, f"{name}'s journal still holds the answers to closed rounds {kept}")
    return records


def whole_answers(name, witness):
    """Every answer's bytes by round, from the journal's past; no round may ever have had two."""
    found = {}
    for records in witness.commits():
        rounds = [answer["round"] for answer in answers_of(records)]
        expect(len(set(rounds)) == len(rounds), f"{name} once had two answers to a round: {rounds}")
        for _, record, blob in records:
            if record["kind"] != "answer" or blob is None:
                continue
            expect(journals.digest(blob) == record["answer"], f"{name}: bytes that are not the digest's")
            before = found.setdefault(record["round"], blob)
            expect(before == blob, f"{name} had two different answers to round {record['round']}")
    expect(sorted(found) == list(range(ROUNDS)), f"{name}'s journal kept the answers to {sorted(found)}")
    return found


def check_sums(federation, rounds, witnesses):
    """What the coordinator committed is the sum of what the agents had committed."""
    answers = [whole_answers(name, witness) for name, witness in zip(federation.names, witnesses)]
    for number, (record, blob) in enumerate(rounds):
        count = len(record["sum"]) or MAPPED
        sums = [sum(values) for values in zip(*(journals.words(answer[number], count) for answer in answers))]
        if record["sum"]:
            expect(list(record["sum"]) == sums, f"round {number}: the committed sums are not the answers'")
            continue
        average = struct.unpack_from(f"<{len(sums)}d", blob)
        for is_there, total in zip(average, sums):
            wanted = total / 65536 / AGENTS
            expect(abs(is_there - wanted) <= 1e-12 * max(1, abs(wanted)),
                   f"round {number}: the committed average is not the answers'")


def check_maps(experts):
    """Experts of a fit have the map's features, the written one has the plain ones."""
    for expert in experts:
        own, other = expert["model"][:MAPPED], expert["model"][MAPPED:]
        if expert["name"] == "older":
            own, other = other, own
        expect(any(own) and not any(other), f"{expert['name']} has other features' weights: {expert['model']}")
    expect([expert["name"] for expert in experts].count("older") == 1, "the written expert is not there once")


def check(federation, witnesses, reference):
    rounds = check_rounds(federation)
    for name in federation.names:
        records = check_answers(federation, name)
        if reference is not None:
            expect(charges(answers_of(records)) == reference[name], f"{name}'s charges differ from the "
                   "undisturbed run's")
    if witnesses:
        check_sums(federation, rounds, witnesses)
    result = federation.result()
    expect([r["agents"] for r in result["rounds"]] == [AGENTS] * ROUNDS, "result.json tells other rounds")
    expect(all(a["epsilon_spent"] == 1 for a in result["privacy"]["per_agent"]), "result.json: epsilon_spent")
    check_maps(result["experts"])
    for name in ["coordinator"] + federation.names:
        odd = {entry["event"] for entry in federation.events(name)} & set(SUSPICIOUS)
        expect(not odd, f"{name}'s log has {odd}")


def steps_of(federation, name):
    """The steps of all lives of a program."""
    return (federation.folder / f"{name}.steps").read_text().split()


def case(make, programs, keys, kills, hold, reference, out=None):
    """One federation with some deaths. out: where to leave how often the plan came true."""
    with make(programs, keys=keys, job=JOB, linger_s=LINGER_S, lines=True) as federation:
        witnesses = [journals.Witness(federation.folder / name / "state") for name in federation.names]
        witnesses = witnesses if hold else []
        try:
            deaths = carry_out(federation, kills, witnesses, steps=out is not None)
            for name in kills if out is not None else ():
                place = kills[name][0]
                if deaths[name]:
                    (pathlib.Path(out) / f"{name} {place}").touch()
                else:
                    expect(place not in steps_of(federation, name), f"{name} lived on after {place}")
            check(federation, witnesses, reference)
            for name in kills:
                if name != "coordinator":
                    spent = federation.ledger(name)["spent"]["epsilon"]
                    expect(spent == 1, f"{name}'s ledger says {spent}")
        finally:
            for witness in witnesses:
                witness.close()


def undisturbed(make, programs, keys, out):
    """The run that the others are compared with; leaves the steps and the charges in the folder out."""
    with make(programs, keys=keys, job=JOB, linger_s=LINGER_S, lines=True) as federation:
        witnesses = [journals.Witness(federation.folder / name / "state") for name in federation.names]
        try:
            deaths = carry_out(federation, {}, witnesses, steps=True)
            expect(sum(deaths.values()) == 0, "somebody died in the undisturbed run")
            check(federation, witnesses, None)
            lost = [entry for entry in federation.events("coordinator")
                    if entry["event"] == "message-lost" and "not now" in entry["text"]]
            expect(not lost, f"a queue was too short although nothing was disturbed: {lost}")
        finally:
            for witness in witnesses:
                witness.close()
        for name in ("coordinator", federation.names[0]):
            shutil.copy(federation.folder / f"{name}.steps", out)
        for name in federation.names:
            (out / f"{name}.charges").write_text(
                repr(charges(answers_of(journals.read(federation.folder / name / "state")))))


def planted(make, programs, keys, reference):
    """Would the checks notice? A sum that is off by one, a charge too many, an answer drawn twice."""
    with make(programs, keys=keys, job=JOB, linger_s=LINGER_S, lines=True) as federation:
        witnesses = [journals.Witness(federation.folder / name / "state") for name in federation.names]
        try:
            carry_out(federation, {}, witnesses)
            check(federation, witnesses, reference)
            rounds = check_rounds(federation)
            wrong = rounds[1][0]["sum"]
            rounds[1][0]["sum"] = (wrong[0] + 1, *wrong[1:])
            fed.must_fail("a sum off by one", check_sums, federation, rounds, witnesses)
            once_more = {name: charges + charges[-1:] for name, charges in reference.items()}
            fed.must_fail("a charge too many", check, federation, witnesses, once_more)
            experts = federation.result()["experts"]
            experts[0]["model"][-1] = 1.0
            fed.must_fail("a weight on another map's features", check_maps, experts)
        finally:
            for witness in witnesses:
                witness.close()
    with make(programs, keys=keys, job=JOB, linger_s=LINGER_S, lines=True) as federation:
        def forgetful(federation, name, kill_at, steps):
            """Starts the agent as one that has lost its journal between two lives."""
            if name == "site-1" and kill_at is None:
                shutil.rmtree(federation.folder / name / "state")
            return start(federation, name, kill_at, steps)

        def run_and_check():
            carry_out(federation, {"site-1": ["commit-after:3"]}, [], launcher=forgetful)
            check(federation, [], reference)

        fed.must_fail("an agent without memory", run_and_check)


def spread(items, count):
    """At most count of the items, from the first to the last."""
    if len(items) <= count:
        return items
    return [items[i * (len(items) - 1) // (count - 1)] for i in range(count)]


def places(path):
    """The steps of a process, thinned where they are many."""
    by_kind = collections.defaultdict(list)
    for line in path.read_text().split():
        by_kind[line.split("-")[0]].append(line)
    return {kind: spread(lines, STEPS_AT_MOST[kind]) for kind, lines in sorted(by_kind.items())}


def some_places(path, dice, most):
    """Draws some steps of each kind; most: how many, by kind."""
    return [place for kind, lines in places(path).items()
            for place in dice.sample(lines, min(len(lines), most.get(kind, 0)))]


def keep(federation, out, reference):
    """Leaves in a folder what an undisturbed run showed: the checks' reference, and the steps of the two programs that will die."""
    (out / "reference").write_text(repr(reference))
    for name in ("coordinator", "site-1"):
        shutil.copy(federation.folder / f"{name}.steps", out)


def expect_met(kills, deaths):
    """A single death was met, unless it is of an event or a send: how many of these there are depends on the time that a run takes."""
    for name, lines in kills.items() if len(kills) == 1 else ():
        expect(deaths[name] or lines[0].split("-")[0] in ("event", "send"), f"{name} lived on after {lines[0]}")


def begin(options, folder, agents, undisturbed, dice, some):
    """Runs undisturbed. Returns the arguments of all cases, and the places of each program's steps; None if it failed."""
    keys = fed.make_keys(options.programs, folder / "keys", agents + 1)
    common = {"programs": options.programs, "keys": keys}
    if fed.run_cases([("undisturbed", undisturbed, {**common, "out": folder})]) != 0:
        return None
    common["reference"] = eval((folder / "reference").read_text())  # pylint: disable=eval-used
    return common, {name: some_places(folder / f"{name}.steps", dice, some) for name in ("coordinator", "site-1")}


def drawn_cases(case, count, common, dice, at):
    """Cases in which the coordinator, the first site, or both die once or twice."""
    cases = []
    for i in range(count):
        names = (["coordinator"], ["site-1"], ["coordinator", "site-1"])[i % 3]
        kills = {name: dice.sample(at[name], 2 if i % 2 else 1) for name in names}
        cases.append((f"{kills}", case, {**common, "kills": kills}))
    return cases


def is_its_turn(place):
    """Whether a step is killed at this side if each is killed at one side only: before steps with odd numbers, and after the
    others. Each kind of record is committed once in each of three rounds. So for each kind a kill comes before one commit
    and after another."""
    kind, side, number = place.replace(":", "-").split("-")
    return kind not in ("commit", "work", "forget") or (side == "before") == (int(number) % 2 == 1)


def main():
    options = fed.options(at_once=(6, "federations at a time"), doubles=(10, "cases with two deaths"))
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(options.programs, folder / "keys", AGENTS + 1)
        first = {"programs": options.programs, "keys": keys, "out": folder}
        if fed.run_cases([("undisturbed", undisturbed, first)]) != 0:
            return 1
        reference = {path.stem: eval(path.read_text())  # pylint: disable=eval-used
                     for path in folder.glob("*.charges")}
        at = {name: places(folder / f"{name}.steps") for name in ("coordinator", "site-1")}
        common = {"programs": options.programs, "keys": keys, "reference": reference, "out": folder / "met"}
        common["out"].mkdir()
        cases = []
        for name, kinds in at.items():
            for kind, lines in kinds.items():
                print(f"{name}: {len(lines)} places of {kind}")
                cases += [(f"{name} {line}", case, {**common, "kills": {name: [line]},
                                                    "hold": len(cases) + i & 1 == 0})
                          for i, line in enumerate(lines)]
        cases = cases[::options.every]
        planned = {name for name, _, _ in cases}
        cases.append(("planted", planted, {key: common[key] for key in ("programs", "keys", "reference")}))
        dice = random.Random(SEED)
        for i in range(options.doubles):
            kills = {name: dice.sample(sum(kinds.values(), []), 1 + i % 2) for name, kinds in at.items()}
            cases.append((f"both, {kills}", case, {**common, "kills": kills, "out": None,
                                                   "hold": i & 2 == 0}))
        cases = [one for one in cases if options.only in one[0]]
        failed = fed.run_cases(cases, options.at_once)
        met = {path.name for path in common["out"].iterdir()}
        missed = sorted(planned - met)
        print(f"{len(met)} of {len(planned)} places were reached")
        # There are as many heartbeats as the undisturbed run took time for, so that a quicker one has fewer
        # events and sends; what the job itself does is the same every time.
        vital = [place for place in missed if place.split()[1].split("-")[0] in ("commit", "work", "forget")]
        if not options.only and vital:
            print("FAILED: these places were never reached:", ", ".join(vital))
            return 1
        return failed


if __name__ == "__main__":
    sys.exit(main())
