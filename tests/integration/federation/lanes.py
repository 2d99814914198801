"""lanes.py - what the tests of jobs at the same time in one coordinator share: a coordinator with a queue, its agents, and jobs,
small and large."""

import json
import re

import federation as fed
import journals
import test_face
from federation import expect

AGENTS = 4
SLOT_MS = 250
FITS = 4   # each waits for its slot, so that the jobs last about a second
ROUNDS = FITS + 2
ASKS = {"west": ("site-1", "site-2"), "east": ("site-3", "site-4"), "middle": ("site-2", "site-3")}
CLASSES = 32
FEATURES = 16384  # of each of two maps: a model has 2 x 16,384 x 32 = 10^6 words
ROUNDS_LARGE = 3
FEATURES_SOLVED = 630  # the most that a job may ask for. With 32 classes and 8 lambdas the coordinator solves 256 systems with
# this many unknowns, which takes seconds


def text_of(name, fits=FITS):
    text = fed.job_text(minimum=2, fits=fits).replace("job: trial", f"job: {name}")
    return text.replace("cohort:\n", f"cohort:\n  agents: [{', '.join(ASKS[name])}]\n")


class Office:
    """A coordinator with a queue, and its agents."""

    def __init__(self, federation, more=""):
        self.federation = federation
        self.config = federation.office / "coordinator.yml"
        self.config.write_text(
            f'hedgerow: 1\nlisten: "{federation.address}"\nkey: key\nagents: agents\njobs: jobs\n{more}'
            f"linger_s: {federation.linger_s}\nlog: {federation.log_settings}\n")
        self.number = {}
        self.process = None

    def start(self):
        self.process = self.federation.start_coordinator()

    def command(self, *words, code=0):
        got, said = self.federation.tool("hedgerow-coordinator", *words, "--config", self.config)
        expect(got == code, f"{' '.join(map(str, words))} ended with {got}, not {code}: {said}")
        return said

    def submit(self, name, text):
        path = self.federation.folder / f"{name}.yml"
        path.write_text(text)
        self.number[name] = json.loads(self.command("submit", path, "--json"))["number"]

    def status(self, name):
        return json.loads(self.command("status", self.number[name], "--json"))

    def until(self, name, states):
        """Waits until a job is in one of these states, and filed where it is over."""
        def reached():
            status = self.status(name)
            return status["state"] in states and (status["ended"] or status["state"] == "running")
        fed.wait_until(reached, f"{name} is {' or '.join(states)}")

    def records(self, name):
        folder = self.federation.office / "jobs" / str(self.number[name]) / "state"
        return [record for _, record, _ in journals.read(folder)]

    def rounds(self, name):
        return [record for record in self.records(name) if record["kind"] == "round"]

    def result(self, name):
        return json.loads((self.federation.office / "jobs" / str(self.number[name]) / "out" / "result.json").read_text())


def make_office(make, programs, keys, more="", slot_ms=SLOT_MS, **options):
    federation = make(programs, agents=AGENTS, keys=keys, linger_s=2, agent_settings="", policy=fed.policy_text(
        epsilon=9, answer_slot_ms=slot_ms), **options)
    return Office(federation, more)


def times(office, name):
    walls = [record["wall_ms"] for record in office.records(name)]
    return walls[0], walls[-1]


def check(office, whole=("west", "east", "middle"), known=()):
    """Every job that ran to its end: one answer of each site that it asks to each round, and none of another."""
    ids = {}
    for name in whole:
        rounds = office.rounds(name)
        expect([one["round"] for one in rounds] == list(range(ROUNDS)), f"{name}: rounds {rounds}")
        expect(all(sorted(one["agents"]) == sorted(ASKS[name]) for one in rounds), f"{name}: who answered")
        expect(office.result(name)["job"] == name, f"{name}: another job's result")
        ids[next(record["job"] for record in office.records(name) if record["kind"] == "job")] = name
    for site in office.federation.names:
        answers = {name: [] for name in whole}
        for _, record, _ in journals.read(office.federation.folder / site / "state"):
            if record["kind"] == "answer" and record["job"] in ids:
                answers[ids[record["job"]]].append(record["round"])
        wanted = {name: list(range(ROUNDS)) if site in ASKS[name] else [] for name in whole}
        expect({name: sorted(rounds) for name, rounds in answers.items()} == wanted, f"{site} has answered {answers}")
        spent = office.federation.ledger(site)["spent"]["epsilon"]
        expect(spent <= sum(site in ASKS[name] for name in ASKS), f"{site}'s ledger says {spent}")
    odd = {entry["event"] for entry in office.federation.events("coordinator")} & {
        "stranger", "frame-refused", "answer-forged", "offer-refused", "step-failed", "commit-failed", "recovery-failed"} - set(known)
    expect(not odd, f"the coordinator's log has {odd}")


def latest_page(office):
    """Where the coordinator that was started last shows its page."""
    texts = [entry["text"] for entry in office.federation.events("coordinator") if entry["event"] == "http-listening"]
    host, port = re.search(r"http://([0-9.]+):([0-9]+)/", texts[-1]).groups()
    return host, int(port)


def large_text(features=FEATURES, rounds=ROUNDS_LARGE):
    """Gradient rounds of 32 classes on two maps: each invitation carries a model, of 10^6 words where nothing else is said."""
    stages = "".join(f"""  - task: update
    loss: logistic
    map: {{kind: fourier, kernel: gaussian, gamma: 1, features: {features}, seed: {seed}}}
    rounds: {rounds}
    batch: 10
    clip: 0.5
    rate: 1
    grid_bits: 12
    share: 0.5
""" for seed in (1, 2))
    return f"""hedgerow: 1
job: large
data:
  label: {{column: kind, classes: [{", ".join(f'"{i}"' for i in range(CLASSES))}]}}
  features: [{{column: age, centre: 50, half_width: 50}}]
privacy: {{unit: record, neighbours: replace_one, trust: local, epsilon: 1}}
cohort: {{agents: [site-3, site-4], minimum: 2, deadline_s: 60}}
stages:
{stages}"""


def heavy_text():
    """One round, whose sums are solved for 32 classes and 8 lambdas."""
    text = large_text().replace("job: large", "job: heavy")
    return text[:text.index("stages:")] + f"""stages:
  - task: statistics
    map: {{kind: fourier, kernel: gaussian, gamma: 1, features: {FEATURES_SOLVED}, seed: 1}}
    lambdas: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    batch: 10
    grid_bits: 12
    share: 1
"""


def give_kinds(office, count):
    """Tables that large_text can be asked of."""
    for i, site in enumerate(office.federation.names):
        lines = fed.records(i + 1, count).splitlines()
        table = [lines[0] + ",kind"] + [f"{line},{j % CLASSES}" for j, line in enumerate(lines[1:])]
        (office.federation.folder / site / "data.csv").write_text("\n".join(table) + "\n")
        columns = "".join(f"      - {{name: {name}, kind: number}}\n" for name in ("age", "dose", "ill"))
        kinds = ", ".join(f'"{j}"' for j in range(CLASSES))
        (office.federation.folder / site / "data.yml").write_text(
            f"hedgerow: 1\ndata_sets:\n  - records: {len(lines) - 1}\n    separator: comma\n    columns:\n{columns}"
            f"      - {{name: kind, kind: category, categories: [{kinds}]}}\n")
        (office.federation.folder / site / "policy.yml").write_text(
            fed.policy_text(epsilon=9, answer_slot_ms=SLOT_MS, tasks="[fit, losses, statistics, update]").replace(
                "message_mb_max: 16", "message_mb_max: 64"))


def phase(place, number):
    """What the coordinator does with a job of the queue; None where it does not run."""
    for one in test_face.whole_status(place)["jobs"]:
        if one["job_number"] == number:  # of one that has ended, there is no phase
            return next((row["phase"] for row in one["facts"].get("job_phase", []) if row["value"] == 1), None)
    return None


def run(cases, alone=(), seeds=None, **more):
    """cases: functions that are cases by themselves; alone: such that measure; seeds: a function from how many storms to cases."""
    options = fed.options(at_once=(2, "federations at a time"), **more)
    with fed.temporary_folder() as folder:
        common = {"programs": options.programs, "keys": fed.make_keys(options.programs, folder / "keys", AGENTS + 1)}
        chosen = [(case.__name__, case, common) for case in cases]
        chosen += [(name, case, {**common, **own}) for name, case, own in (seeds(options) if seeds else [])]
        chosen = [one for one in chosen if fed.is_chosen(one[0], options.only)]
        failed = fed.run_cases(chosen, options.at_once) if chosen else 0
        for measure in alone:
            if options.figures and fed.is_chosen(measure.__name__, options.only):
                failed += fed.run_cases([(measure.__name__, measure, common)], 1)
        return 1 if failed else 0
