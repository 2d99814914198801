#!/usr/bin/env python3
"""regress_hazard.py - the known answer of a regression of hazards in intervals, from the likelihood itself:
python3 tests/vectors/regress_hazard.py > tests/vectors/regress_hazard.json

R's glm has no such likelihood: of those who do not die, a share q of each interval's leaves at times that are even over it.
q is of all points together. Scores are derivatives of the logarithm of a cell's chance by complex steps, the curvature theirs by
differences; nothing is shared with common/estimate."""

import cmath
import json

K = 3
CELLS = [9, 7, 5, 10, 12, 8, 60, 12, 9, 8, 9, 11, 10, 50, 14, 12, 9, 12, 9, 11, 45,
         18, 15, 12, 10, 8, 9, 36, 22, 17, 14, 9, 9, 8, 30, 30, 20, 13, 8, 9, 6, 20]
POINTS = [(level, second) for level in (-2 / 3, 0, 2 / 3) for second in (0, 1)]
TERMS = K + 2


def leaving():
    counts = [sum(CELLS[y::2 * K + 1]) for y in range(2 * K + 1)]
    under = [sum(counts[j:K]) + sum(counts[K + j:2 * K]) + counts[2 * K] for j in range(K)]
    return [counts[K + j] / (under[j] - counts[j] / 2) for j in range(K)]


Q = leaving()


def log_chance(cell, b):
    x = POINTS[cell // (2 * K + 1)]
    outcome = cell % (2 * K + 1)
    hazard = [cmath.exp(b[j] + b[K] * x[0] + b[K + 1] * x[1]) for j in range(K)]
    last = K if outcome == 2 * K else outcome % K
    out = -sum(hazard[:last])
    if outcome < 2 * K:
        u = hazard[last]
        passes = (1 - Q[last]) * cmath.exp(-u)
        leaves = Q[last] * (1 - cmath.exp(-u)) / u
        out += cmath.log(1 - passes - leaves if outcome < K else leaves)
    return out


def score(cell, b):
    tiny = 1e-30
    return [log_chance(cell, [c + (1j * tiny if i == k else 0) for i, c in enumerate(b)]).imag / tiny
            for k in range(TERMS)]


def total(b):
    scores = [score(cell, b) for cell in range(len(CELLS))]
    return [sum(n * s[k] for n, s in zip(CELLS, scores)) for k in range(TERMS)]


def curvature(b, step=1e-5):
    columns = []
    for k in range(TERMS):
        above, below = ([c + (way * step if i == k else 0) for i, c in enumerate(b)] for way in (1, -1))
        columns.append([(low - high) / (2 * step) for high, low in zip(total(above), total(below))])
    return [[(columns[i][j] + columns[j][i]) / 2 for j in range(TERMS)] for i in range(TERMS)]


def solve(matrix, right):
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(TERMS):
        pivot = max(range(i, TERMS), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(TERMS):
            if r != i:
                by = rows[r][i] / rows[i][i]
                rows[r] = [a - by * c for a, c in zip(rows[r], rows[i])]
    return [rows[i][TERMS] / rows[i][i] for i in range(TERMS)]


def main():
    b = [-2.0] * K + [0.0, 0.0]
    for _ in range(50):
        b = [c + d for c, d in zip(b, solve(curvature(b), total(b)))]
    h = curvature(b)
    inverse = [solve(h, [1.0 if i == k else 0.0 for i in range(TERMS)]) for k in range(TERMS)]
    errors = []
    for row in inverse:
        along = [sum(a * s for a, s in zip(row, score(cell, b))) for cell in range(len(CELLS))]
        errors.append(sum(n * a * a for n, a in zip(CELLS, along)) ** 0.5)
    print(json.dumps({"regress_hazard": {"cells": CELLS, "coefficients": b, "errors": errors}}))


main()
