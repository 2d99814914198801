"""test_values.py - every task through real processes: each release is the right answer with noise of the
stated size, at the stated price in every ledger, and no file holds exact sums.

values.py computes the exact answers anew. With discrete Laplace noise of scale s, |noise|/s sums over n draws
to Gamma(n) but for 1/s; a verdict rejects what is outside its two tails of 2e-9. There are fewer than 40
verdicts, so that a right program fails less than once in 5 * 10^6 runs. Half and twice the noise, another round's
answer and a written sum are planted.
"""

import csv
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading

import federation as fed
import journals
import values
from federation import expect

AGENTS = 2
RECORDS = 200  # of each agent: a fifth of 500 is held out
REJECT = 2e-9
POINTS = [(50 + i / 4, "FM"[i % 2], "abc"[i % 3], 0.5 + i / 100) for i in range(190)]
LAMBDAS = [0.3 + i / 50 for i in range(20)]
UPDATES = 12
MOMENTS = 3
TIMES = [21, 61, 141]  # t0 = 20, doubled


class Site:
    pass


def gamma_tails(count, total):
    """P(Gamma(count) <= total) and P(>= total): a Poisson number of that mean reaches count, or does not."""
    def upto(last):
        return sum(math.exp(k * math.log(total) - total - math.lgamma(k + 1)) for k in range(last + 1))
    above = upto(count - 1)
    below = sum(math.exp(k * math.log(total) - total - math.lgamma(k + 1))
                for k in range(count, count + 40 + int(12 * math.sqrt(total) + total)))
    return below, above


def judge(what, sizes):
    """sizes: |noise| in units of the scale that was to be."""
    below, above = gamma_tails(len(sizes), max(sum(sizes), 1e-9))
    print(f"{what}: {len(sizes)} values, mean size {sum(sizes) / len(sizes):.3f}")
    expect(min(below, above) > REJECT, f"{what}: {len(sizes)} values of noise, {sum(sizes) / len(sizes):.3f} of "
           "their scale on average, and 1 is right")


def sizes_of(released, exact, scale):
    if isinstance(released, bytes):  # an agent's answer
        released = journals.words(released, len(exact))
    expect(len(released) == len(exact), f"{len(released)} numbers, and {len(exact)} are right")
    return [abs(a - b) / scale for a, b in zip(released, exact)]


def watch(folders, ended, answers):
    """Keeps every noisy vector that an agent commits; it is dropped once its round is over."""
    witnesses = [journals.Witness(folder) for folder in folders]
    while not ended.wait(0.005):
        for witness in witnesses:
            if witness.database is None:
                witness.attach()
    for index, witness in enumerate(witnesses):
        for records in witness.commits() if witness.database is not None else ():
            for _, record, blob in records:
                if record.get("kind") == "answer" and blob:
                    answers[index][record["round"]] = blob
        witness.close()


class Run:
    """A simulated federation, and all that it left."""

    def __init__(self, programs, folder, kind, privacy, stages, data_map=""):
        self.folder = pathlib.Path(folder) / "out"
        self.kind = kind
        self.width = values.D * values.outputs(kind)
        table = pathlib.Path(folder) / "people.csv"
        with table.open("w", encoding="ascii", newline="") as file:
            csv.writer(file).writerows([values.COLUMNS, *values.draw_people(random.Random(3), 500)])
        job = pathlib.Path(folder) / "job.yml"
        job.write_text(f"hedgerow: 1\njob: values\ndata:\n  label: {{{values.LABELS[kind]}}}\n"
                       f"  features: {values.FEATURES}\n{data_map}privacy: {{neighbours: replace_one, {privacy}}}\n"
                       f"cohort: {{minimum: {AGENTS}, records: {RECORDS}, deadline_s: 60}}\nstages:\n"
                       + "".join(f"  - {stage}\n" for stage in stages))
        self.homes = [self.folder / "agents" / f"hospital-{i + 1}" for i in range(AGENTS)]
        self.answers = [{} for _ in self.homes]
        ended = threading.Event()
        watching = threading.Thread(target=watch, args=([home / "state" for home in self.homes], ended, self.answers))
        watching.start()
        done = subprocess.run([f"{programs}/hedgerow", "simulate", job, "--out", self.folder, "--data", table,
                               "--agents", str(AGENTS)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        ended.set()
        watching.join()
        expect(done.returncode == 0, f"simulate ended with {done.returncode}: {done.stdout.decode()}")
        self.sites = [self.site(home) for home in self.homes]
        self.ledgers = [json.loads(subprocess.run(
            [f"{programs}/hedgerow-agent", "ledger", "--json", "--config", "agent.yml"], cwd=home,
            stdout=subprocess.PIPE, check=True).stdout) for home in self.homes]
        self.rounds = [(record, blob) for _, record, blob in journals.read(self.folder / "coordinator" / "state")
                       if record.get("kind") == "round"]
        self.result = json.loads((self.folder / "result.json").read_text())

    def site(self, home):
        site = Site()
        with (home / "data.csv").open(encoding="ascii") as file:
            site.rows = list(csv.DictReader(file))
        expect(len(site.rows) == RECORDS, f"{len(site.rows)} records, and {RECORDS} are right")
        site.x = [values.features(row) for row in site.rows]
        site.mapped = site.x
        site.y = [values.label(row, self.kind) for row in site.rows]
        digest = next(record["job"] for _, record, _ in journals.read(home / "state") if record.get("kind") == "job")
        if len(digest) != 32:
            digest = next(value for _, value in journals.fields(digest))
        site.order = values.public_order(digest, RECORDS)
        return site

    def model(self, at):
        """The first expert that a round made, or the state it came to."""
        return struct.unpack_from(f"<{self.width}d", self.rounds[at][1])

    def expect_charges(self, wanted):
        """wanted: task and epsilon of every round, in order."""
        for ledger in self.ledgers:
            charges = [(charge["task"], charge["epsilon"]) for charge in ledger["charges"]]
            expect(len(charges) == len(wanted) and all(
                a[0] == b[0] and abs(a[1] - b[1]) < 2e-6 for a, b in zip(charges, wanted)),
                f"the ledger has {charges}, and {wanted} are right")
            expect(abs(ledger["spent"]["epsilon"] - sum(epsilon for _, epsilon in wanted)) < 1e-4,
                   f"spent: {ledger['spent']}")

    def expect_nowhere(self, vectors):
        """No two neighbours of an exact vector lie in any file as they would in memory, and no number as text. The
        simulator's own result says what is exact, and that it is the simulator's."""
        pairs = {struct.pack("<2q", *pair) for vector in vectors for pair in zip(vector, vector[1:]) if 0 not in pair}
        texts = {str(abs(v)).encode() for vector in vectors for v in vector if abs(v) >= 10 ** 8}
        mine = {self.folder / name for name in ("result.json", "report.html", "model.json", "held-out.csv")}
        for path in self.folder.rglob("*"):
            if not path.is_file() or path in mine or path.name == "data.csv":
                continue
            content = path.read_bytes()
            expect(not any(pair in content for pair in pairs), f"{path} holds an exact sum")
            expect(texts.isdisjoint(re.findall(rb"(?<![\d.])\d{9,}(?![\d.])", content)), f"{path} tells an exact sum")


def totals(vectors):
    return [sum(column) for column in zip(*vectors)]


def points_text():
    return "[" + ", ".join("[" + ", ".join(str(v) for v in point) + "]" for point in POINTS) + "]"


def point_features():
    return [values.features(dict(zip(("age", "sex", "site", "kappa"), point))) for point in POINTS]


def exact_update(run, first, rounds, batch_of):
    """Replays the stage, which begins at the model so far, from the released sums: the weights that each round was
    asked at, and the last ones."""
    weights = list(run.model(first - 1)) if first > 0 else [0.0] * run.width
    speed, asked = [0.0] * run.width, []
    for within in range(rounds):
        asked.append(weights[:])
        total = totals([journals.words(answers[first + within], run.width) for answers in run.answers])
        speed = [0.5 * v + g / 2 ** 16 / (AGENTS * batch_of) for v, g in zip(speed, total)]
        weights = [w - 0.7 * v for w, v in zip(weights, speed)]
    return asked, weights


def stream_scales(run, width, epsilon, draws):
    """The scale of one draw of every release, in grid steps; the run's result has to state the same, as a prediction's
    noise in days, of a half width of 20."""
    scales = [size / epsilon for size in values.stream_sensitivity(width, 0.75, 20, TIMES, 34)]
    stated = [line["noise"] for line in run.result["releases"] if line["task"] == "online"]
    stated = [noise / 20 * AGENTS * 2 ** 34 / math.sqrt(2 * draws) for noise in stated]
    expect(len(stated) == len(scales) and all(abs(a / b - 1) < 1e-5 for a, b in zip(stated, scales)),
           f"stated scales {stated}, computed {scales}")
    return scales


def local(_, programs, kind):
    """Every agent's own noise: fit, statistics, update, losses, and what they cost."""
    lambdas = ", ".join(str(value) for value in LAMBDAS)
    moved = "" if kind == "classes" else ", experts: {shifts: [0.5]}"
    with tempfile.TemporaryDirectory() as folder:
        run = Run(programs, folder, kind, "unit: record, trust: local, epsilon: 400", [
            f"{{task: fit, loss: squared, lambdas: [{lambdas}], share: 0.25, grid_bits: 20}}",
            *["{task: statistics, lambdas: [0.5], batch: 200, share: 0.083, grid_bits: 20}"] * MOMENTS,
            f"{{task: update, strategy: momentum, momentum: 0.5, loss: logistic, rounds: {UPDATES}, batch: 200,"
            f" clip: 0.5, rate: 0.7, share: 0.25, grid_bits: 16{moved}}}",
            "{task: losses, loss: hinge, rounds: 5, batch: 40, share: 0.25, grid_bits: 16}"])
        fits, first = len(LAMBDAS), len(LAMBDAS) + MOMENTS
        asked, last = exact_update(run, first, UPDATES, RECORDS)
        expect(max(abs(a - b) for a, b in zip(last, run.model(first + UPDATES - 1))) < 1e-9, "other steps were taken")
        experts = [run.model(at) for at in range(first)] + [run.model(first + UPDATES - 1)]
        if moved:  # the last feature is the constant
            *most, threshold = experts[-1]
            experts.append((*most, threshold + 0.5 / run.sites[0].x[0][-1]))
        found = {"fit": [], "statistics": [], "update": [], "losses": []}
        for site, answers in zip(run.sites, run.answers):
            expect(len(answers) == first + UPDATES + 5, f"{len(answers)} answers of an agent were seen")
            for at, value in enumerate(LAMBDAS):
                exact = [values.encode(v, 20) for v in values.ridge(site, kind, value)]
                scale = values.ridge_sensitivity(kind, RECORDS, value, 1e-6, 20) / (100 / fits)
                found["fit"] += sizes_of(answers[at], exact, scale)
            exact = values.moments(site, kind, 20)
            for at in range(fits, first):
                found["statistics"] += sizes_of(answers[at], exact, values.moments_sensitivity(kind, 20) / 33.2)
            for within in range(UPDATES):
                exact = values.gradients(site, kind, asked[within], 2 ** 15, 16)
                found["update"] += sizes_of(answers[first + within], exact, 2 * 2 ** 15 / (100 / UPDATES))
            for within in range(5):
                rows = site.order[40 * within:40 * within + 40]
                exact = values.hinge_losses(site, rows, experts, kind, 16)
                found["losses"] += sizes_of(answers[first + UPDATES + within], exact, len(experts) * 2 ** 16 / 100)
        for task, sizes in found.items():
            judge(f"{kind}, {task}", sizes)
        everything = sum(found.values(), [])
        for factor in (0.5, 2):
            fed.must_fail(f"{factor} times the noise", judge, "planted", [factor * size for size in everything])
        wrong = sizes_of(run.answers[0][0], [values.encode(v, 20) for v in values.ridge(run.sites[1], kind, 0.3)], 100)
        fed.must_fail("another agent's answer", judge, "planted", wrong)
        run.expect_charges([("fit", 100 / fits)] * fits + [("statistics", 33.2)] * MOMENTS
                           + [("update", 100 / UPDATES)] * UPDATES + [("losses", 100)] + [("losses", 0)] * 4)


def central(_, programs):
    """One draw of noise on the sum over all agents. No file holds the exact sums."""
    lambdas = ", ".join(str(value) for value in LAMBDAS)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(programs, folder, "number", "unit: record, trust: central, epsilon: 1000", [
            f"{{task: fit, loss: squared, lambdas: [{lambdas}], share: 0.2, grid_bits: 30}}",
            f"{{task: predict, loss: squared, lambdas: [0.3], kernel: {{gamma: 1}}, points: {points_text()},"
            " share: 0.2, grid_bits: 30}",
            "{task: online, rounds: 3, t0: 20, theta: 0.75, share: 0.2, grid_bits: 34}",
            *[f"{{task: query, queries: {json.dumps(values.QUERIES)}, batch: 200, share: 0.1, grid_bits: 24}}"] * 2,
            "{task: statistics, lambdas: [0.5], batch: 200, share: 0.2, grid_bits: 30}"])
        fits, secret, found = len(LAMBDAS), [], {"fit": [], "predict": [], "online": [], "query": []}

        def compare(task, at, each, bits, scale):
            """bits: of means, which the round made a model of; None: the sum stands in the record."""
            secret.extend(each + [totals(each)])
            released = run.rounds[at][0]["sum"]
            if bits is not None:
                released = [AGENTS * 2 ** bits * v for v in run.model(at)]
            found[task] += sizes_of(released, totals(each), scale)

        for at, value in enumerate(LAMBDAS):
            each = [[values.encode(v, 30) for v in values.ridge(site, "number", value)] for site in run.sites]
            compare("fit", at, each, 30, values.ridge_sensitivity("number", RECORDS, value, 1e-6, 30) / (200 / fits))
        points = point_features()
        each = [[values.encode(v, 30) for v in values.kernel_answers(site, 0.3, points)] for site in run.sites]
        one = (values.ridge_sensitivity("number", RECORDS, 0.3, 1e-6, 30) - values.D) / math.sqrt(values.D)
        compare("predict", fits, each, None, len(POINTS) * one / 200)
        streams = [values.stream(site, site.order, 0.75, 20, TIMES, 34) for site in run.sites]
        for index, scale in enumerate(stream_scales(run, values.D, 200, draws=1)):
            compare("online", fits + 1 + index, [stream[index] for stream in streams], 34, scale)
        each = [values.query_cells(site, 24) for site in run.sites]
        for at in (fits + 4, fits + 5):
            compare("query", at, each, None, values.QUERIES_NORM * 2 ** 24 / 100)
        for task, sizes in found.items():
            judge(f"central, {task}", sizes)
        secret += [values.moments(site, "number", 30) for site in run.sites]
        run.expect_nowhere(secret)
        (run.folder / "planted").write_bytes(struct.pack("<2q", *secret[0][:2]))
        fed.must_fail("an exact sum as bytes", run.expect_nowhere, secret)
        (run.folder / "planted").write_text(f'{{"sum": {secret[-1][0]}}}')
        fed.must_fail("an exact sum as text", run.expect_nowhere, secret)
        run.expect_charges([("fit", 200 / fits)] * fits + [
            ("predict", 200), ("online", 200), ("online", 0), ("online", 0), ("query", 100), ("query", 100),
            ("statistics", 200)])


def whole_agents(_, programs):
    """Unit agent: all records of an agent may be replaced, and every round is charged again."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(programs, folder, "sign", "unit: agent, trust: local, epsilon: 400", [
            "{task: update, strategy: momentum, momentum: 0.5, loss: logistic, rounds: 12, batch: 200, clip: 0.5,"
            " clip_all: 0.01, rate: 0.7, share: 0.5, grid_bits: 16}",
            f"{{task: query, queries: {json.dumps(values.QUERIES)}, batch: 200, share: 0.5, grid_bits: 12}}"])
        asked, _last = exact_update(run, 0, UPDATES, RECORDS)
        clipped, asking = [], []
        for site, answers in zip(run.sites, run.answers):
            for within in range(UPDATES):
                most = 2 * 2 ** 16  # clip_all of the mean over 200 records
                exact = values.clip(values.gradients(site, "sign", asked[within], 2 ** 15, 16), most)
                clipped += sizes_of(answers[within], exact, 2 * most / (200 / UPDATES))
            asking += sizes_of(answers[UPDATES], values.query_cells(site, 12),
                               RECORDS * values.QUERIES_NORM * 2 ** 12 / 200)
        judge("agent, update clipped together", clipped)
        judge("agent, query", asking)
        run.expect_charges([("update", 200 / UPDATES)] * UPDATES + [("query", 200)])


def mapped_streams(_, programs):
    """Online regression on random Fourier features, every agent's own."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(programs, folder, "number", "unit: record, trust: local, epsilon: 100",
                  ["{task: online, rounds: 3, t0: 20, theta: 0.75, share: 1, grid_bits: 34}"],
                  "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 40, seed: 42}\n")
        found = []
        for site, answers in zip(run.sites, run.answers):
            site.mapped = values.fourier(site.x, 1, 40, 42)
            exact = values.stream(site, site.order, 0.75, 20, TIMES, 34)
            for at, scale in enumerate(stream_scales(run, 41, 100, draws=AGENTS)):
                found += sizes_of(answers[at], exact[at], scale)
        judge("mapped, online", found)
        run.expect_charges([("online", 100), ("online", 0), ("online", 0)])


def own_maps(_, programs):
    """A stage with a map of its own beside one without: each answers by its own features and at their price, their
    experts are judged together, and the released model's file has the one map that it needs."""
    lambdas = ", ".join(str(value) for value in LAMBDAS)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(programs, folder, "sign", "unit: record, trust: local, epsilon: 300", [
            "{task: online, rounds: 3, t0: 20, theta: 0.75, share: 0.3333, grid_bits: 34,"
            " map: {kind: fourier, kernel: gaussian, gamma: 1, features: 40, seed: 42}}",
            f"{{task: fit, loss: squared, lambdas: [{lambdas}], share: 0.3333, grid_bits: 20}}",
            "{task: losses, loss: hinge, rounds: 5, batch: 40, share: 0.3333, grid_bits: 16}"])
        fits, run.width, found = len(LAMBDAS), 41 + values.D, {"online": [], "fit": [], "losses": []}
        experts = [run.model(at) for at in range(3 + fits)]
        expect(all(not any(w[41:]) for w in experts[:3]) and all(not any(w[:41]) for w in experts[3:]),
               "an expert has weights on another map's features")
        for site, answers in zip(run.sites, run.answers):
            site.mapped = values.fourier(site.x, 1, 40, 42)
            exact = values.stream(site, site.order, 0.75, 20, TIMES, 34)
            for at, size in enumerate(values.stream_sensitivity(41, 0.75, 20, TIMES, 34)):
                found["online"] += sizes_of(answers[at], exact[at], size / 99.99)
            for at, value in enumerate(LAMBDAS):
                exact = [values.encode(v, 20) for v in values.ridge(site, "sign", value)]
                scale = values.ridge_sensitivity("sign", RECORDS, value, 1e-6, 20) / (99.99 / fits)
                found["fit"] += sizes_of(answers[3 + at], exact, scale)
            site.x = [mapped + plain for mapped, plain in zip(site.mapped, site.x)]
            for within in range(5):
                exact = values.hinge_losses(site, site.order[40 * within:40 * within + 40], experts, "sign", 16)
                found["losses"] += sizes_of(answers[3 + fits + within], exact, len(experts) * 2 ** 16 / 99.99)
        for task, sizes in found.items():
            judge(f"own maps, {task}", sizes)
        run.expect_charges([("online", 99.99), ("online", 0), ("online", 0)] + [("fit", 99.99 / fits)] * fits
                           + [("losses", 99.99)] + [("losses", 0)] * 4)
        model = json.loads((run.folder / "model.json").read_text())
        mapped = run.result["chosen"].startswith("online")
        expect(len(model["weights"]) == (41 if mapped else values.D) and ("map" in model["schema"]) == mapped,
               f"the file of {run.result['chosen']} has {len(model['weights'])} weights")


if __name__ == "__main__":
    chosen = fed.options()
    cases = [(f"local-{kind}", local, {"programs": chosen.programs, "kind": kind}) for kind in ("sign", "classes")]
    cases += [("central", central, {"programs": chosen.programs})]
    cases += [("agents", whole_agents, {"programs": chosen.programs})]
    cases += [("mapped", mapped_streams, {"programs": chosen.programs})]
    cases += [("own-maps", own_maps, {"programs": chosen.programs})]
    sys.exit(fed.run_cases([case for case in cases if chosen.only in case[0]]))
