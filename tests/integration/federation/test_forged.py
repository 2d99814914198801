"""test_forged.py - an agent on another agent's wire: it can forge what is sealed once for all agents.

Real programs, and a relay on site-1's way that knows all keys of pieces that site-2 knows (hedgerow-agent-fellow tells them).
It puts pieces of its own, of another place and of the last release into the stream, and truncates, drops, doubles, swaps and
flips. Noise is from seeds, so an undisturbed run tells what each site has to answer in each round: an agent that took another model
would answer something else. The job ends as it would have, each site pays what it would have, and the forger costs
site-1 one transfer of one release.
"""

import functools
import hashlib
import pathlib
import struct
import sys
import threading
import time

import federation as fed
import journals
import relay
from federation import expect

CLASSES = 32
FEATURES = 3584  # a release of 0.9 MB: the coordinator keeps 1 MiB of sealed pieces, so that slower agents get the same ones
ROUNDS = 4
RELEASES = ROUNDS + 1  # the first weights, and those after each round
RELEASE_BYTES = 8 * CLASSES * (FEATURES + 1)
SHARED = 1 << 31
HOLD_S = 1
VAIN_S = 16  # how long an agent waits at least after a line that carried nothing
RATE = 4e6  # bytes a second on the other connection of site-1
JOB = f"""hedgerow: 1
job: forged
data:
  label: {{column: kind, classes: [{", ".join(f'"{i}"' for i in range(CLASSES))}]}}
  features: [{{column: age, centre: 50, half_width: 50}}]
privacy: {{unit: record, neighbours: replace_one, trust: local, epsilon: 1}}
cohort: {{minimum: 3, join_deadline_s: {fed.PATIENCE_S}, deadline_s: {fed.PATIENCE_S}, patience_s: 60}}
stages:
  - task: update
    loss: logistic
    map: {{kind: fourier, kernel: gaussian, gamma: 1, features: {FEATURES}, seed: 1}}
    rounds: {ROUNDS}
    batch: 10
    clip: 0.5
    rate: 1
    grid_bits: 12
    share: 1
"""


def give_kinds(federation, records=40):
    """Tables that the job can be asked of."""
    kinds = ", ".join(f'"{i}"' for i in range(CLASSES))
    for i, name in enumerate(federation.names):
        lines = fed.records(i + 1, records).splitlines()
        table = [lines[0] + ",kind"] + [f"{line},{j % CLASSES}" for j, line in enumerate(lines[1:])]
        (federation.folder / name / "data.csv").write_text("\n".join(table) + "\n")
        (federation.folder / name / "data.yml").write_text(
            fed.dictionary_text(records) + f"      - {{name: kind, kind: category, categories: [{kinds}]}}\n")


class Told:
    """What the fellow has told of pieces: for the beginning of each, the piece and the forged one."""

    def __init__(self, path):
        self.path = path
        self.at = 0
        self.pieces = {}
        self.turn = threading.Lock()

    def read(self):
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            file.seek(self.at)
            data = file.read()
        while len(data) >= 4 and len(data) >= 4 + 2 * struct.unpack_from("<I", data)[0]:
            size = struct.unpack_from("<I", data)[0]
            self.pieces[data[4:36]] = (data[4:4 + size], data[4 + size:4 + 2 * size])
            data = data[4 + 2 * size:]
            self.at += 4 + 2 * size

    def find(self, beginning):
        """Waits a moment, as the fellow is taking the piece. None: it was sealed for others."""
        until = time.monotonic() + HOLD_S
        while time.monotonic() < until:
            with self.turn:
                self.read()
                if beginning in self.pieces:
                    return self.pieces[beginning]
            time.sleep(0.001)
        return None


class Forger:
    """Carries a line's bytes to site-1. deeds: what to do with the pieces that both sites get, in order. The last deed is
    repeated."""

    def __init__(self, told, deeds):
        self.told = told
        self.deeds = list(deeds)
        self.done = []  # deeds
        self.lines = []  # when each began
        self.held = None  # a record and its piece, to be sent after the next

    def carry(self, source, sink):
        self.lines.append(time.monotonic())
        self.held = None
        relay.give(sink, relay.take(source, 16))  # the proof
        while True:
            head = relay.take(source, 4)
            size = struct.unpack("<I", head)[0]
            record = head + relay.take(source, size & ~SHARED)
            if self.deeds == ["cut"]:
                self.done.append("cut")
                raise relay.Ended
            if size & SHARED == 0:
                relay.give(sink, record)
                continue
            beginning = relay.take(source, 32)
            found = self.told.find(beginning)
            if found is None:  # the fellow does not know it, and so not where it ends
                relay.give(sink, record + beginning)
                relay.pass_on(source, sink)
                raise relay.Ended
            piece = beginning + relay.take(source, len(found[0]) - 32)
            expect(piece == found[0], "a piece is not the bytes that the fellow got")
            self.act(sink, record, piece, found[1])

    def act(self, sink, record, piece, forged):
        deed = self.deeds[0]
        if deed in ("forge", "forge and cut") and forged == piece:
            deed = "pass"  # the texts are the same: the first weights are all zeros
        elif len(self.deeds) > 1:
            self.deeds.pop(0)
        if self.held is not None:
            relay.give(sink, record + piece + self.held)
            raise relay.Ended
        if deed != "pass":
            self.done.append(deed)
        if deed == "swap":
            self.held = record + piece
            return
        relay.give(sink, {"pass": record + piece, "forge": record + forged, "forge and cut": record + forged,
                          "truncate": record + piece[:len(piece) // 2], "drop": b"", "double": 2 * (record + piece),
                          "flip": record + piece[:100] + bytes([piece[100] ^ 1]) + piece[101:]}[deed])
        if deed in ("truncate", "forge and cut"):
            raise relay.Ended


def answers(federation, name):
    """What a site has answered and paid, round by round."""
    return [(record["round"], record["answer"], record["epsilon_micro"])
            for _, record, _ in journals.read(federation.folder / name / "state") if record["kind"] == "answer"]


def account(federation):
    """All that is to be as it would have been."""
    rounds = [(record["round"], record.get("failed", 0), record["agents"])
              for _, record, _ in journals.read(federation.office / "state") if record["kind"] == "round"]
    out = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
           for path in sorted((federation.office / "out").glob("*")) if path.suffix != ".html" and path.name != "result.json"}
    return {"rounds": rounds, "published": out, "answers": {name: answers(federation, name) for name in federation.names},
            "spent": {name: federation.ledger(name)["spent"] for name in federation.names}}


def prepare(make, programs):
    federation = make(programs, job=JOB, policy=fed.policy_text(tasks="[update]"), lines=True, linger_s=60,
                      agent_settings="once: true\nsimulated: true\n")
    give_kinds(federation)
    settings = federation.office / "coordinator.yml"
    host, port = federation.address.removeprefix("tcp://").split(":")
    settings.write_text(settings.read_text().replace(f'{host}:0"', f'{host}:{int(port) + 1}"') + "simulated: true\n")
    return federation, host, int(port)


def start(federation, name, first_seed=100, **environment):
    number = 0 if name == "coordinator" else int(name[-1])
    program = {"coordinator": "hedgerow-coordinator-seeded", "site-2": "hedgerow-agent-fellow"}.get(name, "hedgerow-agent-seeded")
    place = federation.office / "coordinator.yml" if name == "coordinator" else federation.folder / name / "agent.yml"
    return federation.start(name, federation.command(program, "run", "--config", place, "--simulate-seed", first_seed + number),
                            **environment)


def run(federation, first_seed=100, dies=False, **environment):
    processes = {name: start(federation, name, first_seed, **environment) for name in ["coordinator"] + federation.names}
    if dies:
        federation.wait_event("site-1", "pieces-forged")
        processes["site-1"].kill()
        fed.in_time(not answers(federation, "site-1"), "site-1 has drawn noise by now")
        processes["site-1"] = start(federation, "site-1", first_seed, **environment)
    for process in processes.values():
        expect(process.wait() == 0, f"{process.name} did not end well")


def undisturbed(make, programs, out):
    federation, _, _ = prepare(make, programs)
    run(federation)
    out.write_text(repr(account(federation)))


def forged(make, programs, reference, deeds, wanted, way="own", doubts=1, dies=False):
    """wanted: what has to have happened to the line, once at least; doubts: how often site-1 fetches anew, at most, and once at least if it ever does; dies: it is killed when it
    does, and forgets that it doubts."""
    federation, host, port = prepare(make, programs)
    own = relay.own_host(host)
    forger = Forger(Told(federation.folder / "told"), deeds)
    with relay.Relay(own, host, [port, port + 1], {port + 1: forger.carry}, RATE) as wire:
        federation.address = f"tcp://{own}:{port}"
        federation.write_site("site-1")
        run(federation, dies=dies, FELLOW_TELLS=str(forger.told.path), FELLOW_FORGES=way)
    got = account(federation)
    for key, value in reference.items():
        expect(got[key] == value, f"{key}: {got[key]} in place of {value}")
    fed.in_time(set(wanted) <= set(forger.done), f"the forger had no occasion: {forger.done}")
    seen = [entry["event"] for entry in federation.events("site-1")]
    came = sum(wire.to_agents.values()) / RELEASE_BYTES
    print(f"{wanted}, {way}: {len(forger.lines)} lines, {len(forger.done)} deeds, {seen.count('pieces-forged')} doubts, {came:.2f} releases", flush=True)
    expect(min(doubts, 1) <= seen.count("pieces-forged") <= doubts, f"{seen.count('pieces-forged')} transfers came wrong, not {doubts}")
    expect(("line-forged" in seen) == (wanted[0] in ("flip", "drop", "double", "swap")), f"site-1 has seen {set(seen)}")
    for name in ("site-2", "site-3"):
        expect(not {"pieces-forged", "line-forged"} & {entry["event"] for entry in federation.events(name)}, f"{name} was disturbed")
    gaps = [after - before for before, after in zip(forger.lines, forger.lines[1:])]
    expect(wanted != ["cut"] or min(gaps, default=VAIN_S) >= VAIN_S, f"lines after {gaps} s: site-1 has to do without, where none carries anything")
    fed.in_time(came < RELEASES + doubts + 0.5, f"{came:.2f} releases came to site-1: a forgery costs one")  # what comes late is asked for again


def planted(make, programs, reference):
    """Would the comparison show another model, or a second charge?"""
    federation, _, _ = prepare(make, programs)
    run(federation, first_seed=200)
    got = account(federation)
    for key in ("answers", "published"):
        expect(got[key] != reference[key], f"{key} are the same for other noise")
    expect(got["rounds"] == reference["rounds"] and got["spent"] == reference["spent"], "other noise has another price")


def main():
    options = fed.options()
    common = {"programs": options.programs}
    with fed.temporary_folder() as folder:
        out = pathlib.Path(folder) / "reference"
        if fed.run_cases([("undisturbed", functools.partial(undisturbed, out=out), common)]) != 0:
            return 1
        common["reference"] = eval(out.read_text())  # pylint: disable=eval-used
        cases = [(deed, forged, {**common, "deeds": [deed, "pass"], "wanted": [deed], "doubts": 0})
                 for deed in ("truncate", "flip", "drop", "double", "swap")]
        cases += [("cut", forged, {**common, "deeds": ["cut"], "wanted": ["cut"], "doubts": 0})]
        cases += [("once", forged, {**common, "deeds": ["forge", "pass"], "wanted": ["forge"]}),
                 ("always", forged, {**common, "deeds": ["forge"], "wanted": ["forge"]}),
                 ("the piece before", forged, {**common, "deeds": ["forge"], "wanted": ["forge"], "way": "before"}),
                 ("the last release", forged, {**common, "deeds": ["forge"], "wanted": ["forge"], "way": "last"}),
                 ("and cuts", forged, {**common, "deeds": ["forge and cut"], "wanted": ["forge and cut"]}),
                 ("always, and site-1 dies", forged, {**common, "deeds": ["forge"], "wanted": ["forge"], "doubts": 2, "dies": True}),
                 ("planted", planted, common)]
        return fed.run_cases([one for one in cases if fed.is_chosen(one[0], options.only)], at_once=2)


if __name__ == "__main__":
    sys.exit(main())
