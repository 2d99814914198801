"""values.py - what every task has to answer, computed from the papers' formulas and docs/JOBS.md alone.

People are drawn here, so that every agent holds all that a stage looks at. m records, d features.
"""

import math
import struct

MASK = 2 ** 64 - 1
COLUMNS = ("age", "sex", "site", "kappa", "days", "death", "grade")
FEATURES = """[{column: age, centre: 74, half_width: 24}, {column: sex, categories: [F, M]},
    {column: site, categories: [a, b, c]}, {column: kappa, transform: log1p, centre: 1.05, half_width: 0.9}]"""
LABELS = {"sign": 'column: death, positive: "1", negative: "0"', "number": "column: days, centre: 30, half_width: 20",
          "classes": "column: grade, classes: [I, II, III]"}
CLASSES = ("I", "II", "III")
D = 7


def draw_people(dice, count):
    rows = []
    for _ in range(count):
        age = round(dice.uniform(50, 98), 2)
        sex = dice.choice("FM")
        old = (age - 74) / 24
        rows.append((age, sex, dice.choice("abc"), round(dice.lognormvariate(0.3, 0.5), 3),
                     round(30 + 15 * old + 5 * (sex == "M") + dice.gauss(0, 4), 2),
                     int(old + 0.5 * (sex == "M") + dice.gauss(0, 0.6) > 0.3),
                     CLASSES[min(2, max(0, int((age - 50) / 16 + dice.gauss(0, 0.4))))]))
    return rows


def clamp(value, low=-1.0, high=1.0):
    return min(max(value, low), high)


def encode(value, bits):
    return math.floor(value * 2.0 ** bits + 0.5)


def features(row):
    """Features of norm 1 at most, the constant last."""
    plain = [clamp((float(row["age"]) - 74) / 24), 1 if row["sex"] == "M" else -1]
    plain += [1 if row["site"] == site else -1 for site in "abc"]
    plain += [clamp((math.log1p(float(row["kappa"])) - 1.05) / 0.9), 1]
    return [value / math.sqrt(D) for value in plain]


def label(row, kind):
    if kind == "sign":
        return 1 if row["death"] == "1" else -1
    return clamp((float(row["days"]) - 30) / 20) if kind == "number" else CLASSES.index(row["grade"])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def outputs(kind):
    return 3 if kind == "classes" else 1


def against(y, output, kind):
    """One class against the rest."""
    return y if kind != "classes" else 1 if y == output else -1


def solve(matrix, vector):
    """Gauss: the systems here are small, and positive definite."""
    rows = [row[:] + [value] for row, value in zip(matrix, vector)]
    count = len(rows)
    for i in range(count):
        for r in range(i + 1, count):
            factor = rows[r][i] / rows[i][i]
            for c in range(i, count + 1):
                rows[r][c] -= factor * rows[i][c]
    out = [0.0] * count
    for i in reversed(range(count)):
        out[i] = (rows[i][count] - dot(rows[i][i + 1:count], out[i + 1:])) / rows[i][i]
    return out


def ridge(site, kind, value):
    """The minimisers of the mean squared loss + value |w|^2, one model after another."""
    m = len(site.x)
    square = [[sum(x[i] * x[j] for x in site.x) / m + (value if i == j else 0) for j in range(D)] for i in range(D)]
    out = []
    for output in range(outputs(kind)):
        y = [against(v, output, kind) for v in site.y]
        out += solve(square, [sum(x[i] * v for x, v in zip(site.x, y)) / m for i in range(D)])
    return out


def ridge_sensitivity(kind, m, value, tolerance, bits):
    """L1, replace-one; C_L = 2 (1 + kappa/(2 sqrt(lambda))), as |w| <= 1/(2 sqrt(lambda))."""
    ball = 0.5 / math.sqrt(value)
    reach = min(2 * (2 + 2 * ball) / (2 * value * m), math.sqrt(2 * (1 + ball) ** 2 / (2 * value * m)))
    reach += 2 * tolerance / (2 * value)
    return outputs(kind) * (math.ceil(math.sqrt(D) * reach * 2 ** bits) + D)


def kernel(a, b):
    return math.exp(-sum((x - y) ** 2 for x, y in zip(a, b)))


def kernel_answers(site, value, points):
    """Gaussian kernel ridge at the points, brought to -1 .. 1."""
    m = len(site.x)
    gram = [[kernel(a, b) + (value * m if i == j else 0) for j, b in enumerate(site.x)] for i, a in enumerate(site.x)]
    alpha = solve(gram, site.y)
    return [clamp(sum(c * kernel(x, p) for c, x in zip(alpha, site.x))) for p in points]


def moments(site, kind, bits):
    """The upper triangle of the sum of x x^T, then x y; of classes x for each one's own."""
    out = [sum(encode(x[i] * x[j], bits) for x in site.x) for i in range(D) for j in range(i, D)]
    for output in range(outputs(kind)):
        y = [v if kind != "classes" else float(v == output) for v in site.y]
        out += [sum(encode(x[j] * v, bits) for x, v in zip(site.x, y)) for j in range(D)]
    return out


def moments_sensitivity(kind, bits):
    """The page's bound in the reals, where the matrix and the vector cannot both be at their worst."""
    count = D * (D + 3) // 2
    if kind == "classes":
        return (1 + D / math.sqrt(2) + 2 * math.sqrt(D)) * 2 ** bits + count
    turns = [i * math.pi / 8192 for i in range(4097)]
    most = max(D / math.sqrt(2) * math.sin(a) + 2 * math.sqrt(D) * math.cos(a / 2) for a in turns)
    return (1 + most) * 2 ** bits + count


def clip(vector, most):
    size = sum(abs(v) for v in vector)
    return vector if size <= most else [int(math.copysign(abs(v) * most // size, v)) for v in vector]


def gradients(site, kind, weights, most, bits):
    """Logistic gradients, each record's clipped in L1, summed."""
    total = [0] * len(weights)
    for x, y in zip(site.x, site.y):
        one = []
        for output in range(outputs(kind)):
            own = against(y, output, kind)
            slope = -own / (1 + math.exp(own * dot(weights[output * D:], x)))
            one += [encode(slope * v, bits) for v in x]
        total = [a + b for a, b in zip(total, clip(one, most))]
    return total


def stream(site, order, theta, t0, times, bits):
    """Releases of online regression: w at each time, all from the beginning."""
    w = [0.0] * len(site.mapped[0])
    out = []
    for t in range(max(times)):
        x, y = site.mapped[order[t]], site.y[order[t]]
        age = t + t0
        slip = dot(w, x) - y
        w = [(age - 1) / age * a - age ** -theta * slip * b for a, b in zip(w, x)]
        if t + 1 in times:
            out.append([encode(v, bits) for v in w])
    return out


def stream_sensitivity(width, theta, t0, times, bits):
    """The sensitivity of each release, and the factor that all of them share: a record early in the stream moves
    every release. Norms and labels are at most 1; the proof is in common/learn/online_influence.c."""
    def norm(t):
        u, q = t - 1 + t0, t0 ** (1 - theta) / (t0 - 1)
        pulled = u ** (1 - theta) * (1 - ((t0 - 1) / u) ** (3 - theta)) / ((2 - q) * (3 - theta))
        return min(t * ((t0 + u) / 2) ** (1 - theta) / u, math.sqrt(pulled))

    def moved(s, t):
        angles = (i * math.pi / 200000 for i in range(100001))
        push = max(norm(s) * math.sin(2 * angle) + 2 * math.sin(angle) for angle in angles)
        return push * (s + t0) ** (1 - theta) / (t - 1 + t0)

    own = [moved(t - 1, t) for t in times]
    factor = max(sum(moved(at - 1, t) / one for t, one in zip(times[i:], own[i:])) for i, at in enumerate(times))
    return [factor * (math.sqrt(width) * one * 2 ** bits + width) for one in own]


def public_normals(seed):
    """Karney's algorithm N on 48-bit uniform numbers of splitmix64."""
    def words():
        state = seed
        while True:
            state = (state + 0x9e3779b97f4a7c15) & MASK
            yield mixed(state)

    word = words()

    def falls(last, k=None, x=0):
        """Whether a falling run has an even length; each member survives with (2 k + x)/(2 k + 2)."""
        even = True
        while True:
            here = next(word) >> 16
            if here >= last or (k is not None and (next(word) >> 16) * (2 * k + 2) >= (2 * k << 48) + x):
                return even
            last, even = here, not even

    while True:
        k = 0
        while falls(1 << 47):
            k += 1
        if not all(falls(1 << 47) for _ in range(k * (k - 1))):
            continue
        x = next(word) >> 16
        if all(falls(x, k, x) for _ in range(k + 1)):
            size = (((k << 48) + x) * 2 + 1) / 2 ** 49
            yield -size if next(word) >> 63 else size


def fourier(rows, gamma, count, seed):
    """Pairs of a cosine and a sine for a Gaussian kernel, then the constant."""
    normal = public_normals(seed)
    frequencies = [[math.sqrt(2 * gamma) * next(normal) for _ in range(D)] for _ in range(count // 2)]
    out = []
    for x in rows:
        turns = [dot(w, x) for w in frequencies]
        out.append([f(turn) / math.sqrt(count) for turn in turns for f in (math.cos, math.sin)] + [math.sqrt(0.5)])
    return out


def mean_cell(values, low, high, bits):
    half = 2 ** bits // 2
    return sum(encode((clamp(v, low, high) - low) / (high - low), bits) - half for v in values)


QUERIES = ["count: age >= 65 and sex == M", "mean: age where sex == F", "histogram: site", "histogram: age by 0.5",
           "count: not (kappa < 1 or site == b)", "mean: kappa"]
QUERIES_NORM = 1 + 1.5 + 2 + 2 + 1 + 1


def query_cells(site, bits):
    one = 2 ** bits
    ages = [float(r["age"]) for r in site.rows]
    cuts = [50.5 + i / 2 for i in range(95)]
    women = [float(r["age"]) for r in site.rows if r["sex"] == "F"]
    out = [one * sum(a >= 65 and r["sex"] == "M" for a, r in zip(ages, site.rows))]
    out += [mean_cell(women, 50, 98, bits), one * len(women)]
    out += [one * sum(r["site"] == s for r in site.rows) for s in "abc"]
    out += [one * sum(sum(a >= c for c in cuts) == cell for a in ages) for cell in range(len(cuts) + 1)]
    out.append(one * sum(not (float(r["kappa"]) < 1 or r["site"] == "b") for r in site.rows))
    out.append(mean_cell([float(r["kappa"]) for r in site.rows], math.expm1(0.15), math.expm1(1.95), bits))
    return out


def hinge_losses(site, rows, experts, kind, bits):
    """For classes, the mean over each class against the rest; at most 1."""
    count = outputs(kind)
    out = []
    for w in experts:
        total = 0
        for i in rows:
            parts = [max(0, 1 - against(site.y[i], o, kind) * dot(w[o * D:], site.x[i])) for o in range(count)]
            total += encode(min(1, sum(min(1, part) for part in parts) / count), bits)
        out.append(total)
    return out


def mixed(word):
    word = ((word ^ (word >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    word = ((word ^ (word >> 27)) * 0x94d049bb133111eb) & MASK
    return word ^ (word >> 31)


def public_order(job, count):
    """The job's permutation of the rows: xoshiro256** from the job's digest, then Fisher and Yates."""
    s = [mixed((struct.unpack_from("<Q", job, 8 * i)[0] + (i + 1) * 0x9e3779b97f4a7c15) & MASK) for i in range(4)]

    def turned(value, bits):
        return ((value << bits) | (value >> (64 - bits))) & MASK

    def following():
        out = turned(s[1] * 5 & MASK, 7) * 9 & MASK
        shifted = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = turned(s[3], 45)
        return out

    for _ in range(16):
        following()
    order = list(range(count))
    for left in range(count, 1, -1):
        product = following() * left
        while product & MASK < 2 ** 64 % left:
            product = following() * left
        order[left - 1], order[product >> 64] = order[product >> 64], order[left - 1]
    return order
