#!/usr/bin/python3
"""Prints rival.json: what scikit-learn 1.2.1 (Debian's python3-sklearn) reaches without privacy on three tables, for
tests/unit/common/learn/test_rival.c. Run in this folder: OPENBLAS_NUM_THREADS=1 ./rival.py > rival.json

Tables: `tumours` is wdbc.csv with all 30 columns; `seven` has seven classes and `line` a number, both made by the
generator below, which the test repeats. Features are the simulator's: clamped to centre +- scale, divided by
sqrt(columns + 1), and a constant. Each split holds every fifth record of a public order out.

A row of `fits` is one lambda on all records: (1/m) sum loss + lambda ||w||^2 without a penalty on the constant. A row of
`best` is the mean over `splits` splits of what a model reaches on the records held out: lambda chosen by cross-validation.
"""
import csv, json, math, warnings
import numpy
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV, Ridge
from sklearn.metrics import log_loss, roc_auc_score

warnings.filterwarnings("ignore")
MASK = (1 << 64) - 1
SPLITS = {"tumours": 10, "seven": 2, "line": 2}


class Draws:
    """Knuth's 64-bit linear congruential generator; the upper 32 bits are used."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return (self.state >> 32) / 4294967296.0

    def bell(self):
        return (self.uniform() + self.uniform() + self.uniform() + self.uniform() - 2) * math.sqrt(3)

    def order(self, count):
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            j = int(self.uniform() * (i + 1))
            order[i], order[j] = order[j], order[i]
        return order


def features(rows, scales):
    table = [[max(-1.0, min(1.0, (v - c) / s)) for v, (c, s) in zip(row, scales)] for row in rows]
    return numpy.array(table) / math.sqrt(len(scales) + 1)


def tumours():
    scales = [(float(r["centre"]), float(r["scale"])) for r in csv.DictReader(open("wdbc_public.csv"))]
    rows = [[float(v) for v in r] for r in list(csv.reader(open("wdbc.csv")))[1:]]
    return features([r[:-1] for r in rows], scales), numpy.array([int(r[-1]) for r in rows])


def seven():
    """Seven neighbouring classes on a ring, in unequal shares, with three columns of noise."""
    draws = Draws(7)
    rows, labels = [], []
    for _ in range(3000):
        label = min(int(7 * draws.uniform() ** 1.3), 6)
        angle = 2 * math.pi * label / 7
        rows.append([math.cos(angle) + 0.22 * draws.bell(), math.sin(angle) + 0.22 * draws.bell()] +
                    [draws.bell() for _ in range(3)])
        labels.append(label)
    return features(rows, [(0, 2)] * 5), numpy.array(labels)


def line():
    """A number from four columns, one of them nearly a copy of another."""
    draws = Draws(11)
    rows, labels = [], []
    for _ in range(1500):
        row = [draws.bell() for _ in range(3)]
        row.append(row[0] + 0.01 * draws.bell())
        rows.append(row)
        labels.append(max(-1.0, min(1.0, 0.3 * row[0] - 0.2 * row[1] + 0.1 * row[2] + 0.1 * draws.bell())))
    return features(rows, [(0, 3)] * 4), numpy.array(labels)


def logistic(**words):
    return LogisticRegression(penalty="l2", solver="newton-cg", tol=1e-9, max_iter=2000, **words)


def fit(name, x, y, lam):
    if name == "line":
        model = Ridge(alpha=lam * len(y), tol=1e-12, solver="cholesky").fit(x, y)
        loss = float(numpy.mean((model.predict(x) - y) ** 2))
    else:
        model = logistic(C=1 / (2 * lam * len(y))).fit(x, y)
        loss = float(log_loss(y, model.predict_proba(x)))
    return {"table": name, "lambda": lam, "objective": loss + lam * float(numpy.sum(model.coef_ ** 2)), "loss": loss}


def best(name, x, y):
    draws = Draws(5)
    reached = []
    for _ in range(SPLITS[name]):
        order = draws.order(len(y))
        held, learn = order[::5], [r for i, r in enumerate(order) if i % 5]
        if name == "line":
            model = RidgeCV(alphas=[10.0 ** -i * len(learn) for i in range(1, 9)], cv=5).fit(x[learn], y[learn])
            told = numpy.clip(model.predict(x[held]), -1, 1)
            reached.append([math.sqrt(numpy.mean((told - y[held]) ** 2)), 0])
            continue
        model = LogisticRegressionCV(Cs=[1 / (2 * 10.0 ** -i * len(learn)) for i in range(1, 9)], cv=5, tol=1e-6,
                                     scoring="neg_log_loss", solver="lbfgs", max_iter=1000).fit(x[learn], y[learn])
        auc = roc_auc_score(y[held], model.predict_proba(x[held])[:, 1]) if name == "tumours" else 0
        reached.append([numpy.mean(model.predict(x[held]) == y[held]), auc])
    figure, auc = numpy.mean(reached, axis=0)
    return {"table": name, "splits": SPLITS[name], "figure": float(figure), "auc": float(auc)}


tables = {"tumours": tumours(), "seven": seven(), "line": line()}
rows = {"fits": [fit(name, *tables[name], lam) for name in tables for lam in (1e-2, 1e-4, 1e-6)],
        "best": [best(name, *tables[name]) for name in tables]}
print("{" + ",\n".join('"%s": [\n%s]' % (key, ",\n".join(json.dumps(row) for row in value)) for key, value in rows.items())
      + "}")
