"""test_full_disk.py - a full disk at each file that a daemon or its tools write.

full_disk.c, loaded into every program, lets writes to one file fail as a full disk does, until the test says that
there is room again. Each case looks for one clear error that names the file and says what to do, for an unchanged
state, and for a program that goes on, or completes its work at its next start.
"""

import os
import sys

import federation as fed
import test_second_run as second_run
from federation import expect

REMEDY = "make room"
KEPT = ["key", "key.pub", "agents", "coordinator.yml", "job.yml"]


class Disk:
    """The disk of every program that this case starts."""

    def __init__(self, federation, library):
        self.flag = federation.folder / "full"
        os.environ["FULL_DISK"] = str(self.flag)
        os.environ["LD_PRELOAD"] = library
        # The sanitizers' library demands to be loaded first. This library does not disturb it.
        os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"

    def fill(self, part):
        fresh = self.flag.with_suffix(".new")
        fresh.write_text(part)
        fresh.rename(self.flag)

    def empty(self):
        self.flag.unlink()


def says(text, part):
    expect(part in text and REMEDY in text, f"the message names no {part}, or no remedy: {text}")


def run_all(federation):
    coordinator = federation.start_coordinator()
    return coordinator, {name: federation.start_agent(name) for name in federation.names}


def ends_well(federation, coordinator, agents):
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
    for name, agent in agents.items():
        expect(agent.wait() == 0, f"{name} ended with {agent.code()}")
        expect(federation.ledger(name)["spent"]["epsilon"] == 1, f"{name} has not paid once")
    expect([r["agents"] for r in federation.result()["rounds"]] == [3, 3, 3], "a round lacks an agent")
    expect(not [path for path in federation.office.rglob("*.json.*")], "a temporary file is left behind")


def model_of_agent(make, programs, library):
    """The job's model waits in memory until it can be kept."""
    with make(programs) as federation:
        disk = Disk(federation, library)
        disk.fill("site-1/state/model.json")
        coordinator, agents = run_all(federation)
        says(federation.wait_event("site-1", "model-not-kept")["text"], "site-1/state/model.json")
        expect(agents["site-1"].code() is None, "site-1 has ended without its model")
        disk.empty()
        ends_well(federation, coordinator, agents)
        model = (federation.folder / "site-1/state/model.json").read_bytes()
        expect(model == (federation.folder / "site-2/state/model.json").read_bytes(), "another model is kept")


def model_never(make, programs, library):
    """`once` ends with an error."""
    with make(programs, linger_s=1) as federation:
        disk = Disk(federation, library)
        disk.fill("site-1/state/model.json")
        coordinator, agents = run_all(federation)
        expect(agents["site-1"].wait() == 3, f"site-1 ended with {agents['site-1'].code()}")
        expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
        expect(not (federation.folder / "site-1/state/model.json").exists(), "there is half a model")


def waiting_and_approvals(make, programs, library):
    """A job's text is kept for a person as soon as there is room; so is the person's yes."""
    policy = fed.policy_text().replace("approval: policy", "approval: person")
    with make(programs, policy=policy) as federation:
        disk = Disk(federation, library)
        disk.fill("site-1/state/waiting/")
        coordinator, agents = run_all(federation)
        says(federation.wait_event("site-1", "job-not-kept")["text"], "site-1/state/waiting")
        for name in federation.names[1:]:
            federation.wait_event(name, "job-waiting")
        disk.empty()
        folder = federation.folder / "site-1/state/waiting"
        fed.wait_until(lambda: [p for p in folder.iterdir() if p.suffix == ".yml"], "the text is kept after all")
        disk.fill("state/approvals")
        settings = federation.folder / "site-1/agent.yml"
        code, said = federation.tool("hedgerow-agent", "approve", "--yes", "--config", settings)
        expect(code == 3, f"approve ended with {code}: {said}")
        says(said, "site-1/state/approvals")
        expect(not (federation.folder / "site-1/state/approvals").exists(), "half a decision is there")
        disk.empty()
        for name in federation.names:
            settings = federation.folder / name / "agent.yml"
            code, said = federation.tool("hedgerow-agent", "approve", "--yes", "--config", settings)
            expect(code == 0, f"approve ended with {code}: {said}")
        ends_well(federation, coordinator, agents)


def look(make, programs, library):
    """The agent does not judge a job that it cannot count. It does so once there is room."""
    with make(programs) as federation:
        disk = Disk(federation, library)
        disk.fill("site-1/state/looks")
        coordinator, agents = run_all(federation)
        says(federation.wait_event("site-1", "job-not-counted")["text"], "site-1/state/looks")
        expect(federation.event("site-1", "job-joined") is None, "site-1 has looked at the job")
        disk.empty()
        ends_well(federation, coordinator, agents)


def dictionary(make, programs, library):
    """A dictionary that could not be kept is asked for again; the job does not wait for it."""
    with make(programs, policy=fed.policy_text() + "share_dictionary: true\n", linger_s=60) as federation:
        disk = Disk(federation, library)
        disk.fill("coordinator/dictionaries/site-1")
        kept = federation.office / "dictionaries/site-1.yml"
        coordinator = federation.start_coordinator()
        agents = {"site-1": federation.start_agent("site-1")}
        says(federation.wait_event("coordinator", "dictionary-not-kept")["text"], "dictionaries/site-1.yml")
        expect(not kept.exists(), "half a dictionary is there")
        disk.empty()
        fed.wait_until(kept.exists, "the dictionary is kept after all")
        for name in federation.names[1:]:
            agents[name] = federation.start_agent(name)
        ends_well(federation, coordinator, agents)


def journal(make, programs, library, name, part, when):
    """Nothing is said before it is durable; the next start goes on where the journal ends."""
    with make(programs) as federation:
        disk = Disk(federation, library)
        processes = {}

        def start(who):
            processes[who] = federation.start_coordinator() if who == "coordinator" else federation.start_agent(who)

        late = "site-1" if when == "start" and name == "site-1" else "site-3"
        for who in ["coordinator"] + [site for site in federation.names if site != late]:
            start(who)
            federation.wait_event(who, "coordinator-started" if who == "coordinator" else "job-joined")
        disk.fill(part)
        start(late)
        code = processes[name].wait()
        expect(code in (1, 3), f"{name} ended with {code}")
        says(federation.events(name)[-1]["text"], part)
        disk.empty()
        start(name)
        ends_well(federation, processes.pop("coordinator"), processes)


def results(make, programs, library, file):
    """The job is over, and is published by the next start."""
    with make(programs, linger_s=2) as federation:
        disk = Disk(federation, library)
        disk.fill(f"out/{file}")
        coordinator, agents = run_all(federation)
        expect(coordinator.wait() == 3, f"the coordinator ended with {coordinator.code()}")
        says(federation.events("coordinator")[-1]["text"], f"out/{file}")
        expect(not (federation.office / "out" / file).exists(), f"half a {file} is there")
        disk.empty()
        ends_well(federation, federation.start_coordinator(), agents)
        expect((federation.office / "out" / "model.json").exists(), "there is no model")


def put_off(make, programs, library):
    """A job that is put off and cancelled, and whose end cannot be written, keeps its place and stops nobody else's job."""
    federation, _, _ = second_run.make_queue(make, programs)
    held = second_run.submit(federation, "held", [federation.names[0]])
    (federation.office / "jobs" / str(held) / "state").mkdir(0o700)
    lock = second_run.hold(federation, held)
    disk = Disk(federation, library)
    coordinator = federation.start_coordinator()
    for name in federation.names:
        federation.start_agent(name)
    federation.wait_event("coordinator", "start-put-off")
    disk.fill(f"jobs/{held}/end")
    second_run.command(federation, "cancel", held)
    said = federation.wait_event("coordinator", "job-unfiled")
    says(said["text"], f"jobs/{held}/end")
    expect(said["job"] == held, f"of which job: {said}")
    second_run.until_done(federation, second_run.submit(federation, "free", [federation.names[1]]), coordinator)
    told = [entry for entry in federation.events("coordinator") if entry["event"] == "job-unfiled"]
    expect(len(told) == 1, f"it was told {len(told)} times")
    disk.empty()
    fed.wait_until(lambda: second_run.status_of(federation, held)["ended"], "its end is written, once there is room")
    expect(second_run.status_of(federation, held)["state"] == "cancelled", "it is filed as something else")
    os.close(lock)


def checked(make, programs, library):
    """`check` says beforehand that a queue's folder has no room: `run` would end at its start."""
    federation, _, _ = second_run.make_queue(make, programs)
    disk = Disk(federation, library)
    settings = federation.office / "coordinator.yml"
    for full in (True, False):
        if full:
            disk.fill("jobs/")
        else:
            disk.empty()
        code, said = federation.tool("hedgerow-coordinator", "check", "--config", settings)
        expect(code == (3 if full else 0), f"check ended with {code}: {said}")
        if full:
            says(" ".join(said.split()), "jobs FAILED")
    expect(sorted(path.name for path in (federation.office / "jobs").iterdir() if path.is_file()) == [], "check left a file")


def enrolment(make, programs, library):
    """A list that cannot be written stays as it is; the token is good until it is spent."""
    with make(programs, agents=2) as federation:
        disk = Disk(federation, library)
        federation.add_site("site-3", fed.policy_text(), fed.records(3))
        before = {name: (federation.office / name).read_bytes() for name in KEPT}
        token = federation.folder / "new.token"
        for part in ("new.token", "coordinator/agents"):
            disk.fill(part)
            code, said = federation.agents_command("add", "site-3", "--token", token)
            expect(code == 3, f"agents add ended with {code}: {said}")
            says(said, part)
            expect({name: (federation.office / name).read_bytes() for name in KEPT} == before, "files have changed")
            expect(not token.exists(), "a token is there that the list does not know")
            disk.empty()
        code, said = federation.agents_command("add", "site-3", "--token", token)
        expect(code == 0, f"agents add ended with {code}: {said}")
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "coordinator-started")
        disk.fill("coordinator/agents")
        enrol = federation.start("enrol", federation.command(
            "hedgerow-agent", "enrol", "--token", token, "--timeout", "100", "--config",
            federation.folder / "site-3" / "agent.yml"))
        says(federation.wait_event("coordinator", "enrolment-refused")["text"], "coordinator/agents")
        disk.empty()
        expect(enrol.wait() == 0, f"enrol ended with {enrol.code()}")
        federation.names.append("site-3")
        ends_well(federation, coordinator, {name: federation.start_agent(name) for name in federation.names})


def new_files(make, programs, library):
    """Keys and first settings are whole, or not there."""
    with make(programs, agents=1) as federation:
        disk = Disk(federation, library)
        disk.fill("fresh/")
        folder = federation.folder / "fresh"
        for words in (("hedgerow", "keygen", "--out", folder / "key"), ("hedgerow-agent", "init", folder),
                      ("hedgerow-coordinator", "init", folder)):
            folder.mkdir(exist_ok=True)
            code, said = federation.tool(*words)
            expect(code == 3, f"{words} ended with {code}: {said}")
            says(said, "fresh/")
            expect(not list(folder.iterdir()), f"{words} left {list(folder.iterdir())}")


def planted(make, programs, library):
    """Planted: the checks notice a message without a remedy, and half a file."""
    with make(programs, agents=1) as federation:
        disk = Disk(federation, library)
        fed.must_fail("no remedy", says, "agents: cannot be written: No space left on device", "agents")
        disk.fill("half")
        code, _ = federation.tool("hedgerow", "keygen", "--out", federation.folder / "half")
        fed.must_fail("a full disk is an error", expect, code == 0, "the disk is not full")
        disk.empty()


def main():
    options = fed.options(library=("", "the built full_disk.c"), at_once=(5, "cases at a time"))
    common = {"programs": options.programs, "library": options.library}
    cases = [("looks of an agent", look, common), ("a dictionary", dictionary, common),
             ("model of an agent", model_of_agent, common), ("model never kept", model_never, common),
             ("waiting texts and approvals", waiting_and_approvals, common),
             ("result.json", results, {**common, "file": "result.json"}),
             ("model.json", results, {**common, "file": "model.json"}),
             ("a job put off", put_off, common), ("check of a queue", checked, common), ("enrolment", enrolment, common), ("new files", new_files, common), ("planted", planted, common)]
    for name, when in (("site-1", "start"), ("site-1", "commit"), ("coordinator", "commit")):
        cases.append((f"journal of {name} at its {when}", journal,
                      {**common, "name": name, "part": f"{name}/state/journal.db", "when": when}))
    return fed.run_cases([one for one in cases if options.only in one[0]], options.at_once)


if __name__ == "__main__":
    sys.exit(main())
