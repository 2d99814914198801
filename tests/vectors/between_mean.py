#!/usr/bin/env python3
"""between_mean.py - the interval of a mean over sites, of all that tau^2 may be:
python3 tests/vectors/between_mean.py > tests/vectors/between_mean.json

The middle 95 % of m(tau^2) + Z / sqrt(sum w), where P(tau^2 <= x) = P(chi-squared >= Q(x)), on a grid of 40,000 points. The sites
are those of studies.R. Nothing is shared with common/estimate."""

import json
import math

Y = [0.12, 0.31, 0.05, 0.44, 0.22, 0.18]
V = [0.0021, 0.0144, 0.0009, 0.0225, 0.0049, 0.0036]
ALIKE = [0.21, 0.19, 0.2]
FINE = 40000


def chi_squared_above(x, freedom):
    """By the series of the incomplete gamma function."""
    half, power = x / 2, freedom / 2
    term = total = 1 / power
    k = power
    while term > 1e-17 * total:
        k += 1
        term *= half / k
        total += term
    return max(0.0, 1 - total * math.exp(power * math.log(half) - half - math.lgamma(power)))


def weigh(y, v, variance):
    w = [1 / (one + variance) for one in v]
    mean = sum(a * b for a, b in zip(w, y)) / sum(w)
    return mean, 1 / math.sqrt(sum(w)), sum(a * (b - mean) ** 2 for a, b in zip(w, y))


def ends(y, v):
    parts, before = [], 0.0
    for i in range(FINE + 1):
        variance = 0 if i == 0 else 1e-6 * 10 ** (9 * i / FINE)
        mean, scale, q = weigh(y, v, variance)
        until = 1 if i == FINE else chi_squared_above(q, len(y) - 1)
        if until - before > 1e-13:
            parts.append((until - before, mean, scale))
        before = until
    out = []
    for share in (0.025, 0.975):
        low, high = -20.0, 20.0
        for _ in range(50):
            middle = (low + high) / 2
            below = sum(p * math.erfc((m - middle) / s / math.sqrt(2)) / 2 for p, m, s in parts)
            low, high = (middle, high) if below < share else (low, middle)
        out.append(low)
    return out


print(json.dumps({"between_mean": {"y": ends(Y, V), "alike": ends(ALIKE, V[:3])}}, indent=2))
