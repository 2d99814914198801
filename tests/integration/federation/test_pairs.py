"""test_pairs.py - the real agent with tables that differ in one odd record: the same exit code, the same log,
the same frames by their sizes. What the machine itself lets out is compared byte for byte, for many more
jobs and records, by unit/agent/test_participant_pairs.
"""

import socket
import sys
import threading

import federation as fed
from federation import expect

SEED = 11
SLOT_MS = 300
ODD_ROW = 5
GREETING_BYTES = 64  # of ZMTP, each way
USUAL = "50,0.00,1"
ODD = {
    "unlisted class": "50,0.00,7",
    "text": "old,0.00,1",
    "quote": '"50,0.00,1',
    "long": "5" * 1100000 + ",0.00,1",
}


class Proxy:
    """Stands between an agent and its coordinator, and keeps what passes."""

    def __init__(self, host, port, to):
        self.to = to
        self.passed = []  # (the agent's bytes, the coordinator's) of every connection
        self.listener = socket.create_server((host, port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            agent, _ = self.listener.accept()
            try:
                coordinator = socket.create_connection(self.to)
            except OSError:
                agent.close()
                continue
            both = (bytearray(), bytearray())
            self.passed.append(both)
            threading.Thread(target=self.carry, args=(agent, coordinator, both[0]), daemon=True).start()
            threading.Thread(target=self.carry, args=(coordinator, agent, both[1]), daemon=True).start()

    @staticmethod
    def carry(source, sink, kept):
        try:
            while True:
                got = source.recv(1 << 16)
                if not got:
                    break
                kept += got
                sink.sendall(got)
        except OSError:
            pass
        for end in (source, sink):
            end.close()

    def sizes(self):
        """The sizes of the agent's frames. How often the heartbeat's are there is a matter of time."""
        return sorted({size for both in self.passed for size in frame_sizes(both[0])})


def frame_sizes(stream):
    at = GREETING_BYTES
    while at < len(stream):
        wide = 8 if stream[at] & 2 else 1
        size = int.from_bytes(stream[at + 1:at + 1 + wide], "big")
        yield size
        at += 1 + wide + size


def table(row):
    lines = fed.records(1).splitlines()
    lines[ODD_ROW] = row
    return "\n".join(lines) + "\n"


def run(make, programs, row, dictionary=None):
    """All that others may notice of a site whose table has this row."""
    with make(programs, agents=1, job=fed.job_text(minimum=1, deadline_s=5, join_deadline_s=5),
              policy=fed.policy_text(answer_slot_ms=SLOT_MS), heartbeat_s=0.2, silence_s=60,
              agent_settings="once: true\nsimulated: true\n") as federation:
        site = federation.folder / "site-1"
        (site / "data.csv").write_text(table(row))
        (site / "data.yml").write_text(dictionary or fed.dictionary_text(30))
        host, port = federation.address.removeprefix("tcp://").rsplit(":", 1)
        proxy = Proxy(host, int(port) + 10000, (host, int(port)))
        settings = (site / "agent.yml").read_text().replace(federation.address, f"tcp://{host}:{int(port) + 10000}")
        (site / "agent.yml").write_text(settings)
        coordinator = federation.start_coordinator()
        federation.wait_event("coordinator", "coordinator-started")
        agent = federation.start("site-1", federation.command(
            "hedgerow-agent-seeded", "run", "--config", site / "agent.yml", "--simulate-seed", SEED))
        codes = (agent.wait(), coordinator.wait())
        said = [(e["level"], e["event"], e["text"].replace(str(int(port) + 10000), "PORT").replace(host, "HOST")
                 .replace(str(site), "SITE")) for e in federation.events("site-1")]
        # Behind the job's end the coordinator may leave first: a matter of time.
        over = next((i for i, (_, event, _) in enumerate(said) if event == "job-ended"), len(said))
        said = said[:over + 1] + [one for one in said[over + 1:] if one[1] not in {"disconnected", "unreachable"}]
        late = {"slot-overrun", "reading-overrun"} & {event for _, event, _ in said}
        fed.in_time(not late, f"the machine kept no time: {late}")
        told = {e["event"] for e in federation.events("coordinator") if e.get("peer") == "site-1"}
        return {"exit codes": codes, "log": said, "coordinator's events": told, "frames": proxy.sizes()}


def compare(first, second):
    for what, value in first.items():
        expect(value == second[what], f"{what}: {value} with one record, {second[what]} with the other")


def pairs(make, programs, name):
    first = run(make, programs, USUAL)
    expect(first["exit codes"] == (0, 0) and len(first["frames"]) > 3, f"no job took place: {first}")
    compare(first, run(make, programs, ODD[name]))


def planted(make, programs):
    """A site that declined because of a record would look like this one, whose dictionary declines."""
    first = run(make, programs, USUAL)
    declines = run(make, programs, USUAL, fed.dictionary_text(9))
    for what in ("exit codes", "log", "coordinator's events", "frames"):
        fed.must_fail(what, compare, {what: first[what]}, declines)


def main():
    options = fed.options()
    common = {"programs": options.programs}
    cases = [(name, pairs, {**common, "name": name}) for name in ODD] + [("planted", planted, common)]
    return fed.run_cases([case for case in cases if options.only in case[0]], at_once=4)


if __name__ == "__main__":
    sys.exit(main())
