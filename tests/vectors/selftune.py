#!/usr/bin/python3
"""Prints selftune.json: what the self-tuning learner (common/learn/selftune.h) makes of given releases, computed with
numpy 1.24, for tests/unit/common/learn/test_selftune.c. Run in this folder: OPENBLAS_NUM_THREADS=1 ./selftune.py > selftune.json

A case has a stage's public numbers, what it releases (records of a fixed seed, with noise of a fixed seed), and for each
release the numbers that agents see after it: C, V, mu, W. `model` is the model at the end. `without_expected` is V after
the last step when that step forgets to subtract the gradient that the model itself would give: it must not be met.

The made-up records are those of common/learn/standin.h: SplitMix64 and Karney's algorithm N, as in features_normal.h.
"""
import copy, json, math
import numpy as np

MASK = (1 << 64) - 1
sig = lambda t: 1 / (1 + np.exp(-np.clip(t, -40, 40)))


class Normal:
    def __init__(self, seed):
        self.state = seed

    def word(self):
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        return self.word() >> 16

    def half(self):
        last, even = 1 << 47, True
        while (x := self.uniform()) < last:
            last, even = x, not even
        return even

    def part(self, k, x):
        last, even = x, True
        while True:
            y = self.uniform()
            if y >= last or self.uniform() * (2 * k + 2) >= ((2 * k) << 48) + x:
                return even
            last, even = y, not even

    def draw(self):
        while True:
            k = 0
            while self.half():
                k += 1
            if k > 1 and not all(self.half() for _ in range(k * (k - 1))):
                continue
            x = self.uniform()
            if not all(self.part(k, x) for _ in range(k + 1)):
                continue
            size = math.ldexp((((k << 48) + x) << 1) + 1, -49)
            return -size if self.word() >> 63 else size


def standin(d):
    count, normal = min(max(800, 40 * d), 2560), Normal(7)
    u = np.array([[normal.draw() for _ in range(d)] for _ in range(count)])
    u -= u.mean(0)
    w, e = np.linalg.eigh(u.T @ u / count)
    return np.hstack([u @ (e / np.sqrt(w)) @ e.T, np.ones((count, 1))])


def norms(u, gaussian):
    return np.linalg.norm(u, axis=1) if gaussian else np.abs(u).sum(1)


def clip_of(s, v, q, gaussian):
    p, nu = sig(s @ v), norms(s, gaussian)
    size = np.concatenate([(1 - p) * nu, p * nu])
    mass = np.concatenate([p, 1 - p]) * size
    order = np.argsort(size)
    total = np.cumsum(mass[order])
    return size[order][np.searchsorted(total, q * total[-1])]


def shares_of(n, counts, sd):
    share = 0.5 + (counts / n - 0.5) * 0.04 / (0.04 + (sd / n) ** 2)
    share = np.maximum(share, 0.01)
    return np.clip(share / share.sum(), 1e-3, 1)


def intercept(n, counts, sd):
    share = shares_of(n, counts, sd)
    return math.log(share[1] / share[0])


def shrink(x, var):
    """Posterior means and variances by a spike and a slab, over a grid of their shares and sizes."""
    grid = [(p, t) for p in (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95) for t in var.mean() * 2.0 ** np.arange(-2, 12)]
    logs, means, squares = [], [], []
    for p, t in grid:
        slab = np.log(p) - np.log(t + var) / 2 - x * x / (t + var) / 2
        spike = np.log(1 - p) - np.log(var) / 2 - x * x / var / 2
        chance = np.exp(slab - np.logaddexp(slab, spike))
        logs.append(np.logaddexp(slab, spike).sum())
        mean = x * t / (t + var)
        means.append(chance * mean)
        squares.append(chance * (mean ** 2 + t * var / (t + var)))
    weight = np.exp(np.array(logs) - max(logs))
    weight /= weight.sum()
    mean = weight @ np.array(means)
    return mean, weight @ np.array(squares) - mean ** 2


def class_look(out, n, d, rng, z, y, noise, gaussian, squares):
    """A look at each class's sums: mu, W, V, Pv (D), the scale of columns (d), which W and V contain, and what
    gradients are compared with."""
    sd, held = noise / n, np.zeros(2)
    nz = norms(z, gaussian)
    reach = 0.35 * math.sqrt(d) if gaussian else 0.3 * d
    keep = np.ones(n) if squares else np.minimum(1, reach / nz)
    label = y.astype(int)
    sums = np.array([(z * keep[:, None])[label == c].sum(0) for c in (0, 1)]) + rng.normal(0, noise, (2, d))
    out["sum"] = list(sums.ravel())
    share = shares_of(n, np.array(out["count"]), out["count_deviation"])
    mean_kept, kept = 1.0, np.ones(2)
    if not squares:
        out["kept"] = list(np.array([keep[label == c].sum() for c in (0, 1)]) + rng.normal(0, noise / 4, 2))
        held = np.array(out["kept"]) / n
        s2 = (noise / 4 / n) ** 2
        mean_kept = np.clip(0.65 + (held.sum() - 0.65) * 0.04 / (0.04 + 2 * s2), 0.05, 1)
        own = np.clip(held / share, mean_kept / 2, min(1, 2 * mean_kept))
        err = (s2 + (mean_kept * out["count_deviation"] / n) ** 2) / share ** 2
        spread = (0.15 * mean_kept) ** 2
        kept = mean_kept + (own - mean_kept) * spread / (spread + err)
    sd /= mean_kept
    sums = sums / n / kept[:, None]
    total = sums.sum(0)
    signal = max((total ** 2).mean() - 2 * sd * sd, 1e-4)
    mu = np.clip(total * signal / (signal + 2 * sd * sd), -1, 1)
    if squares:
        out["square"] = list((z ** 2).sum(0) + rng.normal(0, 2 * noise, d))
        var = np.clip(np.array(out["square"]) / n - mu ** 2, min(max(0.01, 2 * noise / n), 1), 1)
    else:
        var = np.full(d, 0.25)
    h = share[0] * share[1]
    by = 1 / np.sqrt(var * h)
    x, v = shrink((sums[1] - share[1] * total) * by, (sd * by) ** 2 * (share[0] ** 2 + share[1] ** 2))
    if not squares:  # again, from what has nothing to do with the contrast's noise
        q = share @ share
        mu = (share @ sums - (share[1] - share[0]) * x / by) / q
        signal = max((mu ** 2).mean() - sd * sd / q, 1e-4)
        mu = np.clip(mu * signal / (signal + sd * sd / q), -1, 1)
    model, unsure = x / math.sqrt(h), v / h
    whole = model
    square = model @ model
    steep = 1 + 0.35 * max(np.abs(model).sum() ** 2 / square - 1, 0)
    model = model * min(1, 2 / math.sqrt(steep * square))
    own = unsure + 0.3 * model ** 2
    prior = 0.9 * own + 0.1 * own.mean()
    scale = np.maximum(np.sqrt(prior / prior.max()), 0.05)
    secants = Secants(d, -h * scale * whole, h * h * (scale ** 2 @ prior))
    return mu, np.diag(scale / np.sqrt(var)), model / scale, np.append(prior, own.mean()), scale, secants


class Secants:
    """How much more than the made-up records the columns vary, as far as gradients tell: the rule of Broyden, Fletcher, Goldfarb
    and Shanno. rest: what the last gradient, unclipped, has beyond that of white columns; noise: its variance, all columns."""

    def __init__(self, d, rest, noise):
        self.model, self.rest, self.noise, self.more = np.zeros(d), rest, noise, np.zeros((d, d))

    def learn(self, v, g, h, kept, white, noise, scale):
        d, way = len(self.model), v[:-1] - self.model
        rest, noise = h / kept * g[:-1] - white[:-1], d * (h / kept * noise) ** 2
        off, unsure = (rest - self.rest) / h, (noise + self.noise) / h ** 2
        self.model, self.rest, self.noise = v[:-1].copy(), rest, noise
        if way @ way >= 1e-12:
            moments = np.diag(scale ** 2) + self.more
            y = scale ** 2 * way + max(0, 1 - unsure / max(off @ off, 1e-12)) * off
            y = y * min(1, d * np.linalg.norm(way) / max(np.linalg.norm(y), 1e-12))
            by = moments @ way
            if min(y @ way, by @ way) >= 0.02 * way @ way:
                self.more = self.more + np.outer(y, y) / (y @ way) - np.outer(by, by) / (by @ way)
        w, e = np.linalg.eigh(self.more)
        return (e * np.clip(w, 0, d)) @ e.T


def whitening(n, d, mean, tri, deviation):
    s = deviation / n
    m = np.zeros((d, d))
    m[np.triu_indices(d)] = tri / n
    m = m + m.T - np.diag(np.diag(m))
    mu = np.clip(mean / n, -1, 1)
    t = m - np.outer(mu, mu)
    dg = np.clip(np.diag(t), max(0.01, s), 1)
    off = t - np.diag(np.diag(t))
    ms = (off**2).sum() / max(1, d * (d - 1))
    al = max(0, 1 - s * s / ms) if ms > 0 else 0
    w, e = np.linalg.eigh(al * off + np.diag(dg))
    t = (e * np.maximum(w, 1e-3)) @ e.T + 2 * al * s * math.sqrt(d) * np.eye(d)
    w, e = np.linalg.eigh(t)
    return mu, (e / np.sqrt(w)) @ e.T


def step(s_in, v0, c, rel, s, pv_prior, scale, steep, gaussian, expected=True, secants=None, way=None):
    n, width = s_in.shape
    p, nu = sig(s_in @ v0), norms(s_in, gaussian)
    h = (p * (1 - p)).mean()
    gm = (s_in.T @ (p * (p - 1) * np.minimum(1, c / np.maximum((1 - p) * nu, 1e-300)))
          + s_in.T @ ((1 - p) * p * np.minimum(1, c / np.maximum(p * nu, 1e-300)))) / n
    g = rel - (gm if expected else 0)
    wt = ((1 - p) * np.minimum(1, c / np.maximum((1 - p) * nu, 1e-300))
          + p * np.minimum(1, c / np.maximum(p * nu, 1e-300)))
    more = np.zeros((width, width))
    if secants is not None:
        kept = (wt * p * (1 - p)).mean()
        more[:-1, :-1] = kept * secants.learn(v0, g, h, kept, s_in.T @ p / n, s, scale)
    if way is not None and g @ way > h * way @ way / 2 + 2 * s * np.linalg.norm(way):  # far back along the last step
        steep = min(max(steep * (1 + g @ way / (h * way @ way)), 1), 8, width)
    l2, tries = s * s / (h * pv_prior) + 1e-4 + (steep - 1) * h, 0
    while True:
        v, target, tries = v0.copy(), s_in.T @ (wt * p) / n - g, tries + 1
        for _ in range(30):
            pv = sig(s_in @ v)
            r = s_in.T @ (wt * pv) / n - target + l2 * (v - v0) + more @ (v - v0)  # l2: (D)
            hess = (s_in * (wt * pv * (1 - pv))[:, None]).T @ s_in / n + np.diag(l2) + more
            move = np.linalg.solve(hess, r)
            v = v - move
            if np.abs(move).max() < 1e-8:
                break
        if np.linalg.norm(v - v0) <= 3 or l2.min() > 1e6:
            break
        l2 *= 3
    d, model = width - 1, scale * v[:-1]
    drift = np.append(0.1 + 0.9 * model ** 2 * d / (model @ model), 1)
    return v, 1 / (1 / pv_prior + (h * np.append(scale, 1) / s) ** 2) + 0.3 / d * drift, tries, steep


def case(name, d, sight, gaussian, k, q, n, noise, seed, factor=1.0, moments_noise=None, alike=False):
    rng, s_in = np.random.default_rng(seed), standin(d)
    root = rng.normal(size=(d, d)) / math.sqrt(d) * 0.4
    z = np.clip(rng.normal(size=(n, d)) @ root + 0.2 * rng.normal(size=d), -1, 1)
    y = (rng.random(n) < sig(z @ rng.normal(0, 3, d) - 0.7)).astype(float)
    if alike:  # all columns go with one number, and so does the label
        cause = rng.normal(size=n)
        z = np.clip(0.45 * np.outer(cause, rng.choice([-1, 1], d)) + 0.15 * rng.normal(size=(n, d)), -1, 1)
        own = z[:, 0] - z[:, 1] * np.sign(z[:, 0] @ z[:, 1])
        y = (rng.random(n) < sig(4 * cause - 0.5 if alike != "but not the label" else 6 * own + cause)).astype(float)
    moments_noise = noise if moments_noise is None else moments_noise
    out = dict(name=name, features=d, sight=sight, gaussian=gaussian, steps=k, quantile=q, records=n,
               deviation=noise, count_deviation=4.0, moments_deviation=moments_noise)
    counts = np.array([(y == 0).sum(), (y == 1).sum()], float) + rng.laplace(0, 4 / math.sqrt(2), 2)
    out["count"] = list(counts)
    v, prior, scale, steep, secants = np.zeros(d + 1), np.full(d + 1, 3 / d), np.ones(d), 1.0, None
    b0 = intercept(n, counts, 4.0)
    if sight == "products":
        out["sum"] = list(z.sum(0) + rng.normal(0, moments_noise, d))
        iu = np.triu_indices(d)
        out["product"] = list((z.T @ z)[iu] + rng.normal(0, moments_noise, len(iu[0])))
        mu, w = whitening(n, d, np.array(out["sum"]), np.array(out["product"]), moments_noise)
    else:
        mu, w, v[:-1], prior, scale, secants = class_look(out, n, d, rng, z, y, moments_noise, gaussian,
                                                          sight == "squares")
    v[-1] = b0
    s_in = s_in * np.append(scale, 1)
    shown = w.ravel() if sight == "products" else np.diag(w)
    seen = lambda: dict(clip=clip_of(s_in, v, q, gaussian), v=list(v), mu=list(mu), w=list(shown))
    out["after"] = [seen()]
    u = np.hstack([(z - mu) @ w, np.ones((n, 1))])
    iterates, planted, out["gradients"], out["tries"] = [v.copy()], v + 1, [], []
    for t in range(k):
        c = clip_of(s_in, v, q, gaussian)
        r = sig(u @ v) - y
        r *= np.minimum(1, c / np.maximum(np.abs(r) * norms(u, gaussian), 1e-300))
        rel = u.T @ r * factor + rng.normal(0, noise, d + 1)
        out["gradients"].append(list(rel))
        args = (s_in, v, c, rel / n, noise / n, prior, scale, steep, gaussian)
        way = v - iterates[-2] if t > 0 and k > 2 and secants is not None else None
        planted = step(*args, expected=False, secants=copy.deepcopy(secants), way=way)[0]
        v, prior, tries, steep = step(*args, secants=secants, way=way)
        out["tries"].append(tries)
        iterates.append(v.copy())
        out["after"].append(seen())
    out["without_expected"] = list(planted)
    if k >= 3:
        v = np.mean(iterates[-(3 if k >= 5 else 2):], 0)
    model = w @ v[:-1]
    out["model"] = list(model) + [v[-1] - mu @ model]
    return out


CASES = [
    case("L1 after products", 3, "products", False, 2, 0.3, 2000, 30.0, 1),
    case("L2 after products", 5, "products", True, 5, 0.6, 1500, 10.0, 2),
    case("L1 after sums", 2, "sums", False, 3, 0.3, 1000, 20.0, 3),
    case("L2 after sums", 4, "sums", True, 6, 0.5, 800, 5.0, 4),
    case("sums alone", 6, "sums", False, 0, 0.3, 900, 60.0, 10),
    case("squares", 5, "squares", False, 2, 0.3, 2000, 15.0, 11),
    case("squares alone, L2", 3, "squares", True, 0, 0.3, 700, 8.0, 12),
    case("columns that are alike", 10, "sums", False, 2, 0.3, 2000, 20.0, 14, alike=True),
    case("columns that are alike, squares, L2", 12, "squares", True, 1, 0.3, 1500, 10.0, 15, alike=True),
    case("columns that are alike, three steps", 7, "sums", False, 3, 0.3, 1500, 20.0, 16, alike=True),
    case("columns that are alike, but not the label", 10, "sums", False, 1, 0.3, 4000, 20.0, 17, alike="but not the label"),
    case("columns that are alike, but not the label, four steps", 8, "squares", False, 4, 0.3, 4000, 4.0, 18,
         alike="but not the label"),
    case("one column", 1, "products", False, 1, 0.3, 500, 5.0, 5),
    case("a large gradient", 3, "products", False, 2, 0.3, 2000, 1.0, 6, 40.0),
    case("a huge gradient", 3, "products", True, 4, 0.3, 2000, 1.0, 7, 1e9),
    case("moments of noise alone", 4, "products", False, 2, 0.3, 300, 20.0, 8, 1.0, 3000.0),
    case("sums of noise alone", 4, "sums", False, 1, 0.3, 300, 20.0, 13, 1.0, 3000.0),
    case("moments that are not positive definite", 4, "products", False, 2, 0.3, 300, 20.0, 9, 1.0, 60.0),
]
print("[")
print(",\n".join(json.dumps(case) for case in CASES))
print("]")
