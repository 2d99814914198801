"""test_second_run.py - a second `run` on a folder that is in use: it is refused at its start, says what holds the folder and
what to do, and disturbs nothing. A job whose journal another process has open waits for that one alone.
"""

import ctypes
import fcntl
import json
import os
import signal
import struct
import sys
import time

import federation as fed
from federation import expect

BUSY = 7
AGENTS = 2
PUT_OFF_S = 4
MAY = "a site whose answer to the last round did not arrive may have paid for it: its own ledger says so"
EARLY = {"job-taken", "http-listening", "coordinator-started", "agent-started", "queue-empty"}


def text_of(name, agents):
    text = fed.job_text(minimum=len(agents)).replace("job: trial", f"job: {name}")
    return text.replace("cohort:\n", f"cohort:\n  agents: [{', '.join(agents)}]\n")


def settings_of(federation, port, name="coordinator.yml"):
    """The same queue. With other ports: a person whose first attempt failed because of a port would
    try another one."""
    path = federation.office / name
    address = federation.address.rsplit(":", 1)[0]
    path.write_text(f'hedgerow: 1\nhttp: {{listen: "127.0.0.1:0"}}\nlisten: "{address}:{port}"\nkey: key\nagents: agents\n'
                    f"jobs: jobs\nlinger_s: {federation.linger_s}\nlog: {federation.log_settings}\n")
    return path


def command(federation, *words, code=0):
    got, said = federation.tool("hedgerow-coordinator", *words, "--config", federation.office / "coordinator.yml")
    expect(got == code, f"{' '.join(map(str, words))} ended with {got}, not {code}: {said}")
    return said


def submit(federation, name, agents):
    path = federation.folder / f"{name}.yml"
    path.write_text(text_of(name, agents))
    return json.loads(command(federation, "submit", path, "--json"))["number"]


def state_of(federation, number):
    status = json.loads(command(federation, "status", number, "--json"))
    return status["state"] if status["ended"] or status["state"] in ("waiting", "running") else "ending"


def until_done(federation, number, coordinator):
    def done():
        expect(coordinator.code() is None, f"the coordinator ended with {coordinator.code()}")
        return state_of(federation, number) == "done"
    fed.wait_until(done, f"job {number} is done")


def refused(federation, name, program, config, *words):
    """A second run: its code, its words, and that it has begun nothing."""
    process = federation.start(name, federation.command(program, "run", "--config", config))
    code = process.wait()
    said = federation.said(name)
    expect(code == BUSY, f"{name} ended with {code}: {said}")
    for word in ("in use by process", "remedy: stop that process", *words):
        expect(word in said, f"{name} does not say {word!r}: {said}")
    expect("another program listens" not in said, f"{name} blames a port: {said}")
    begun = [event for event in EARLY if f'"event":"{event}"' in said]
    expect(not begun, f"{name} went as far as {begun}")


def make_queue(make, programs):
    federation = make(programs, agents=AGENTS, linger_s=2, agent_settings="", policy=fed.policy_text(epsilon=9))
    port = int(federation.address.rsplit(":", 1)[1])
    return federation, port, settings_of(federation, port)


def one_queue(make, programs):
    """Two coordinators on a queue's folder, with the same ports and with others: the first one goes on."""
    federation, port, config = make_queue(make, programs)
    other = settings_of(federation, port + 1, "other.yml")
    first = submit(federation, "first", federation.names)
    coordinator = federation.start_coordinator()
    federation.wait_event("coordinator", "coordinator-started")
    where = str(federation.office / "jobs")
    refused(federation, "same", "hedgerow-coordinator", config, where, str(coordinator.popen.pid))
    refused(federation, "other", "hedgerow-coordinator", other, where, str(coordinator.popen.pid), "a queue of its own")
    for name in federation.names:
        federation.start_agent(name)
    until_done(federation, first, coordinator)
    until_done(federation, submit(federation, "next", federation.names), coordinator)
    said = command(federation, "check")
    expect("jobs         PASSED" in said and f"this coordinator runs (process {coordinator.popen.pid})" in " ".join(said.split()),
           f"`check` beside the running one says {said}")
    coordinator.signal(signal.SIGKILL)  # the lock dies with its holder
    coordinator.wait()
    third = federation.start("third", federation.command("hedgerow-coordinator", "run", "--config", other))
    federation.wait_event("third", "coordinator-started")
    third.signal(signal.SIGTERM)
    expect(third.wait() == 0, f"the one that takes its place ended with {third.code()}")
    coordinator = federation.start_coordinator()  # and with its holder's good end
    until_done(federation, submit(federation, "last", federation.names), coordinator)


def one_journal(make, programs):
    """A job's journal is held elsewhere: that job waits, another one runs, and it goes on when the journal is free."""
    federation, _, _ = make_queue(make, programs)
    held = submit(federation, "held", [federation.names[0]])
    state = federation.office / "jobs" / str(held) / "state"
    state.mkdir(0o700)
    lock = os.open(state / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(lock, b"12345\n")
    coordinator = federation.start_coordinator()
    for name in federation.names:
        federation.start_agent(name)
    federation.wait_event("coordinator", "start-put-off")
    until_done(federation, submit(federation, "free", [federation.names[1]]), coordinator)
    expect(state_of(federation, held) == "waiting", "a job whose journal is held elsewhere runs")
    coordinator.signal(signal.SIGTERM)
    expect(coordinator.wait() == 0, f"a stop while a job is put off ended with {coordinator.code()}")
    coordinator = federation.start_coordinator()
    fed.wait_until(lambda: put_off(federation) >= 2, "the job is put off again")
    until_done(federation, submit(federation, "more", [federation.names[1]]), coordinator)
    os.close(lock)
    until_done(federation, held, coordinator)
    expect(put_off(federation) == 2, f"it was told {put_off(federation)} times in two lives")
    entry = federation.event("coordinator", "start-put-off")
    expect("in use by process 12345" in entry["text"] and str(state) in entry["text"], f"it says {entry['text']}")


def hold(federation, number):
    """Another process's lock on a job's journal: closing it lets go."""
    lock = os.open(federation.office / "jobs" / str(number) / "state" / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.ftruncate(lock, 0)
    os.write(lock, b"12345\n")
    return lock


def status_of(federation, number):
    return json.loads(command(federation, "status", number, "--json"))


def cancelled_while_held(make, programs):
    """A job whose journal is held elsewhere is cancelled: before it began it ends at once, and its agents are free for others; once
    it has begun it ends by a record in its journal, as soon as that is free, and is told to do so."""
    federation, _, _ = make_queue(make, programs)
    early = submit(federation, "early", federation.names)
    (federation.office / "jobs" / str(early) / "state").mkdir(0o700)
    lock = hold(federation, early)
    coordinator = federation.start_coordinator()
    federation.wait_event("coordinator", "start-put-off")
    status = status_of(federation, early)
    expect(status["held"] == "process 12345" and "journal open" in status["waits"], f"it is put off, and status says {status}")
    begun = submit(federation, "begun", federation.names)  # after it, because it asks the same agents
    said = " ".join(command(federation, "cancel", early).split())
    expect("will not begin" in said or "cancelled; what sites have paid" in said, f"cancel says {said}")
    fed.wait_until(lambda: status_of(federation, early)["ended"] is not None, "a job that has not begun is filed")
    expect(status_of(federation, early)["state"] == "cancelled", "it is filed as something else")
    fed.wait_until(lambda: status_of(federation, begun)["state"] == "running", "its agents are free for the next one")
    status = status_of(federation, begun)
    expect(status["held"] is None, f"the coordinator's own journals are no other process's: {status}")
    coordinator.signal(signal.SIGTERM)
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
    os.close(lock)
    lock = hold(federation, begun)
    before = put_off(federation)
    coordinator = federation.start_coordinator()
    fed.wait_until(lambda: put_off(federation) > before, "the job that has begun is put off")
    said = " ".join(command(federation, "cancel", begun).split())
    expect("ends the job once that process ends or closes it" in said, f"cancel says {said}")
    status = status_of(federation, begun)
    expect(status["ended"] is None and status["held"] == "process 12345" and status["cancel"], f"it cannot have ended: {status}")
    os.close(lock)
    fed.wait_until(lambda: status_of(federation, begun)["ended"] is not None, "it ends once its journal is free")
    status = status_of(federation, begun)
    expect(status["state"] == "cancelled" and status["held"] is None, f"it ended as {status}")
    expect(MAY in " ".join(command(federation, "status", begun).split()), "status hides what a site may have paid besides")
    expect("its own ledger" not in command(federation, "status", early), "nobody was asked by a job that never began")
    for name in federation.names:
        federation.start_agent(name)
    until_done(federation, submit(federation, "after", federation.names), coordinator)


class Opened:
    """Counts how often any process opens a file from now on. Python has no module for inotify. Two equal events in a row would be
    one, so the test asks for closings too."""

    IN_CLOSE, IN_OPEN = 0x18, 0x20

    def __init__(self, path):
        library = ctypes.CDLL(None, use_errno=True)
        self.file = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        expect(self.file >= 0 and library.inotify_add_watch(self.file, os.fsencode(path), self.IN_OPEN | self.IN_CLOSE) >= 0, f"{path} cannot be watched")

    def count(self):
        try:
            return sum(mask == self.IN_OPEN for _, mask, _, _ in struct.iter_unpack("iIII", os.read(self.file, 1 << 16)))
        except BlockingIOError:
            return 0


def looks_once(make, programs):
    """A job that is put off is tried again each second. An attempt looks once, and does not wait: the loop has other jobs. Opening
    the journal would look four times, 50 ms apart."""
    federation, _, _ = make_queue(make, programs)
    held = submit(federation, "held", [federation.names[0]])
    (federation.office / "jobs" / str(held) / "state").mkdir(0o700)
    lock = hold(federation, held)
    opened = Opened(federation.office / "jobs" / str(held) / "state" / "lock")
    coordinator = federation.start_coordinator()
    federation.wait_event("coordinator", "start-put-off")
    opened.count()
    time.sleep(PUT_OFF_S)
    count = opened.count()
    expect(1 <= count <= 2 * PUT_OFF_S, f"it was looked at {count} times in {PUT_OFF_S} s")
    os.close(lock)
    coordinator.signal(signal.SIGTERM)
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")


def put_off(federation):
    return sum(entry["event"] == "start-put-off" for entry in federation.events("coordinator"))


def one_job(make, programs):
    """A coordinator of one job, with a page, and an agent with one: a second run of either blames no port."""
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=8, rounds=1), policy=fed.policy_text(answer_slot_ms=2000))
    config = federation.office / "coordinator.yml"
    page = federation.address.split("//")[1].rsplit(":", 1)
    config.write_text(config.read_text() + f'http: {{listen: "127.0.0.1:{int(page[1]) + 1}"}}\n')
    federation.write_site("site-1", more=f'http: {{listen: "127.0.0.1:{int(page[1]) + 2}"}}\n')
    site = federation.folder / "site-1"
    coordinator = federation.start_coordinator()
    federation.wait_event("coordinator", "coordinator-started")
    refused(federation, "second", "hedgerow-coordinator", config, "the journal in", str(coordinator.popen.pid))
    agent = federation.start_agent("site-1")
    federation.wait_event("coordinator", "round-closed")
    refused(federation, "twin", "hedgerow-agent", site / "agent.yml", str(site / "state"), str(agent.popen.pid))
    code, said = federation.tool("hedgerow-coordinator", "check", "--config", config)
    expect(code == 0 and f"this coordinator runs (process {coordinator.popen.pid})" in " ".join(said.split()), f"its check: {code}: {said}")
    for _ in range(2):
        code, said = federation.tool("hedgerow-agent", "check", "--timeout", "100", "--config", site / "agent.yml")
        fed.in_time(federation.event("coordinator", "job-ended") is None, "the job was over before the second run and the check")
        expect(code == 0 and "this site's agent runs" in said and "remedy" not in said and f"process {agent.popen.pid}" in said, f"check: {code}: {said}")
    expect(coordinator.wait() == 0 and agent.wait() == 0, f"they ended with {coordinator.code()} and {agent.code()}")
    odd = {entry["event"] for entry in federation.events("coordinator")} & {"key-in-use", "connection-replaced"}
    expect(not odd, f"the coordinator takes the site's own second run, or its check, for a thief: {odd}")
    code, said = federation.tool("hedgerow-agent", "check", "--timeout", "1", "--config", site / "agent.yml")
    expect("this site's agent runs" not in said, f"check says that an agent runs, and none does: {code}: {said}")


def main():
    options = fed.options()
    cases = [(function.__name__, function, {"programs": options.programs}) for function in (one_queue, one_journal, cancelled_while_held, looks_once, one_job)]
    return fed.run_cases([case for case in cases if options.only in case[0]])


if __name__ == "__main__":
    sys.exit(main())
