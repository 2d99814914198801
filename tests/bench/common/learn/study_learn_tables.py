#!/usr/bin/env python3
"""Writes the made-up tables of study_learn into a folder: columns in -1 .. 1, and the label y.

    study_learn_tables.py FOLDER

line, 6: two classes along a line.             alike, 6: the same, of columns that share a factor.
skewed, 8: the same, of skewed columns and of columns of two values.
curve, 6: along the square of a column.        both, 6: where two columns have one sign.
tree, 8: thresholds of three columns.          three, 6: three classes, two of which are curved.
"""

import math
import random
import sys

RECORDS = 10000


def held(x):
    return max(-1.0, min(1.0, x))


def label(draw, f):
    return int(draw.random() < 1 / (1 + math.exp(-f)))


def normal(draw, count, spread=0.45):
    return [held(draw.gauss(0, spread)) for _ in range(count)]


def line(draw):
    z = normal(draw, 6)
    return z, label(draw, 4 * z[0] - 3 * z[1] + 2 * z[2] - 0.5)


def alike(draw):
    factor = draw.gauss(0, 0.36)
    z = [held(factor + draw.gauss(0, 0.22)) for _ in range(6)]
    return z, label(draw, 5 * z[0] - 4 * z[1] + 2 * z[2] - 1)


def skewed(draw):
    z = [held(draw.expovariate(2) - 1) for _ in range(5)]
    z += [1.0 if draw.random() < share else -1.0 for share in (0.1, 0.3, 0.5)]
    return z, label(draw, 3 * z[0] - 3 * z[1] + 2 * z[2] + 0.6 * z[5] + 0.8 * z[6] + 1)


def curve(draw):
    z = normal(draw, 6)
    return z, label(draw, 12 * z[0] ** 2 + 3 * z[1] - 3)


def both(draw):
    z = normal(draw, 6)
    return z, label(draw, 16 * z[0] * z[1] + 2 * z[2])


def tree(draw):
    z = normal(draw, 8)
    f = (1.5 if z[0] > 0.2 else -1.5) * (1 if z[1] > 0 else -0.3) + (1.5 if z[2] > 0.4 else 0)
    return z, label(draw, 2 * f)


def three(draw):
    z = normal(draw, 6)
    score = [8 * z[0] ** 2 - 2, 3 * z[2], 9 * z[1] * z[3]]
    score = [s - math.log(-math.log(draw.random())) for s in score]
    return z, "abc"[score.index(max(score))]


def main():
    for seed, make in enumerate((line, alike, skewed, curve, both, tree, three), start=1):
        draw = random.Random(seed)
        rows = [make(draw) for _ in range(RECORDS)]
        with open(f"{sys.argv[1]}/{make.__name__}.csv", "w", encoding="ascii") as out:
            out.write(",".join([f"c{j}" for j in range(len(rows[0][0]))] + ["y"]) + "\n")
            for z, y in rows:
                out.write(",".join([f"{x:.5f}" for x in z] + [str(y)]) + "\n")


if __name__ == "__main__":
    main()
