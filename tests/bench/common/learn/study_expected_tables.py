#!/usr/bin/env python3
"""Writes four made-up tables that the rehearsal's prior does not draw, with a job for each: study_expected_tables.py FOLDER

tails: two classes, columns with heavy tails, a label that bends. groups: five groups of uneven spread.
near: a number, neighbouring columns correlated by 0.9. counts: a skewed number, columns of yes and no."""
import math
import pathlib
import random
import sys

SITES = 5


def write(folder, name, label, rows):
    """rows: (columns, label) of each record; columns are held to -1 .. 1."""
    width = len(rows[0][0])
    names = [f"c{j}" for j in range(width)]
    with open(folder / f"{name}.csv", "w", encoding="utf-8") as table:
        print(",".join(names + ["y"]), file=table)
        for columns, y in rows:
            print(",".join([f"{max(-1, min(1, x)):.4f}" for x in columns] + [str(y)]), file=table)
    features = "".join(f"    - {{column: {column}, centre: 0, half_width: 1}}\n" for column in names)
    (folder / f"{name}.yml").write_text(
        f"hedgerow: 1\njob: {name}\ndata:\n  label: {label}\n  features:\n{features}"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
        f"cohort: {{minimum: {SITES}, records: {len(rows) * 4 // 5 // SITES}, deadline_s: 30}}\n"
        "stages:\n  - {task: learn}\n", encoding="utf-8")


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def held(x):
    return f"{max(-1, min(1, x)):.4f}"


def tails(draw):
    weight = [draw.gauss(0, 1) for _ in range(12)]
    for _ in range(4000):
        z = [draw.gauss(0, 0.3) / math.sqrt(draw.expovariate(1) + 0.2) for _ in weight]
        score = 2 * dot(weight, z) + 1.5 * (z[0] ** 2 - 0.1)
        yield z, int(draw.random() < 1 / (1 + math.exp(-score)))


def groups(draw):
    mean = [[draw.gauss(0, 0.35) for _ in range(20)] for _ in range(5)]
    for _ in range(5000):
        c = draw.choices(range(5), [5, 3, 2, 1, 1])[0]
        yield [m + draw.gauss(0, 0.3 + 0.1 * c) for m in mean[c]], c


def near(draw):
    weight = [draw.gauss(0, 1) for _ in range(10)]
    table = []
    for _ in range(8000):
        x = [draw.gauss(0, 1)]
        while len(x) < len(weight):
            x.append(0.9 * x[-1] + math.sqrt(1 - 0.81) * draw.gauss(0, 1))
        table.append(x)
    spread = math.sqrt(sum(dot(weight, x) ** 2 for x in table) / len(table))
    for x in table:
        yield [0.4 * v for v in x], held(0.3 * dot(weight, x) / spread + draw.gauss(0, 0.2))


def counts(draw):
    for _ in range(3000):
        z = [1 if draw.random() < 0.1 + 0.05 * j else -1 for j in range(15)]
        mean = sum((0.2 if j % 3 else -0.1) * (v + 1) / 2 for j, v in enumerate(z))
        yield z, held(-0.9 + 0.5 * mean + 0.25 * draw.expovariate(1))


def main():
    folder = pathlib.Path(sys.argv[1])
    number = "{column: y, centre: 0, half_width: 1}"
    draw = random.Random(7)
    write(folder, "tails", '{column: y, positive: "1", negative: "0"}', list(tails(draw)))
    write(folder, "groups", '{column: y, classes: ["0", "1", "2", "3", "4"]}', list(groups(draw)))
    write(folder, "near", number, list(near(draw)))
    write(folder, "counts", number, list(counts(draw)))


main()
