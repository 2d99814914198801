/* task_ways.h - the stages whose sensitivity test_task_sensitivity.c looks at: a row a stage, for every task, unit, trust
 * and kind of noise. */

#ifndef TEST_TASK_WAYS_H
#define TEST_TASK_WAYS_H

#include <stdbool.h>
#include <stddef.h>

#define REACHED 0.95 /* where less is asked for, `loose` says why */

#define FIT     "  - {task: fit, loss: logistic, lambdas: [0.5, 0.6, 0.7], share: 0.5}\n"
#define ONE_LAG "a later day's record differs in one lag alone, and counts as replaced whole"
#define TURNED                                                                                     \
    "a label and the forecasts that look back at it turn together, and an expert has one lag"
#define FOURTH_LOOSE                                                                               \
    "each fourth moment is taken at the two records that move it farthest, which are not the same"
#define MOMENTS                                                                                    \
    "the worst records differ in the diagonal of x x^T alone (L2), or in all of it alike (L1): "   \
    "not with a constant feature"
#define SOFTMAX                                                                                    \
    "where the model begins, no two records of three classes have opposite gradients: "            \
    "test_gradient has the clip to the last bit"
#define BOUNDED                                                                                    \
    "the clip that it begins with is above any slope of this loss: the squared one's are clipped"
#define FORECAST                                                                                   \
    ", forecasters: [{name: one, features: [a], weights: [1]},\n"                                  \
    "     {name: two, features: [b], weights: [1]}, {name: no, features: [b], weights: [-1]}]"

struct way {
    const char *name;
    const char *unit;
    const char *trust;
    const char *delta;
    const char *stages;
    double reached_least; /* of the charges, by some pair */
    const char *lags;     /* of a series; NULL: a plain table of two classes */
    size_t records;       /* 0: 24 */
    double epsilon;       /* 0: 8 */
    double
        leaked_least; /* the same, with the noise planted that was for one round's own records alone;
                             0: not looked at */
    bool torn;        /* records pull at one line, half of them each way: there a fit's minimiser
                             moves as far as any can */
    /* a series of zeros, and weights against it: one day's label turns the sign of its own gradient and of every
     * one that looks back at it, all the same way */
    bool swung;
    bool several;      /* three classes */
    bool number;       /* a label that is a number, of a plain table */
    bool shared;       /* `learn` deals its columns out: a site answers for one of two groups */
    bool bent;         /* `learn` tries products of the columns */
    bool category;     /* b has categories, and some rows' cells name none of them */
    const char *loose; /* why no pair loses as much as REACHED */
};

static const struct way ways[] = {
    {"fit", "record", "local", "0",
     "  - {task: fit, loss: squared, lambdas: [0.5], share: 1, grid_bits: 20}\n", 0.45,
     .loose = "the bound is of any records: those of `fit, torn` reach it"},
    {"fit, torn", "record", "local", "0",
     "  - {task: fit, loss: hinge, lambdas: [0.5], share: 1, tolerance: 0.00000005,\n"
     "     grid_bits: 24}\n",
     0.99, .torn = true},
    {"fit of a series", "record", "local", "0",
     "  - {task: fit, loss: huber, loss_parameter: 0.25, lambdas: [0.5], share: 1,\n"
     "     tolerance: 0.0000001, grid_bits: 24}\n",
     0.42, .loose = ONE_LAG, .lags = "1, 2"},
    {"losses", "record", "local", "0",
     FIT "  - {task: losses, loss: zero_one, rounds: 3, batch: 8, share: 0.5, grid_bits: 10}\n", 1},
    {"losses of a round", "round", "local", "0",
     "  - {task: update, loss: hinge, rounds: 1, batch: 8, clip: 1, rate: 1, share: 0.5}\n"
     "  - {task: losses, loss: zero_one, rounds: 3, batch: 8, share: 0.5, grid_bits: 10}\n",
     0.95},
    {"losses of an agent", "agent", "local", "0",
     "  - {task: losses, loss: zero_one, rounds: 3, batch: 2, share: 1, grid_bits: 10" FORECAST
     "}\n",
     1},
    {"losses that another stage shows at once", "round", "local", "0",
     "  - {task: update, loss: hinge, rounds: 1, batch: 8, clip: 1, rate: 1, share: 0.5}\n"
     "  - {task: losses, loss: zero_one, rounds: 5, batch: 3, share: 0.5, grid_bits: 10}\n",
     1, .leaked_least = 2.5},
    {"losses of a day", "record", "local", "0",
     "  - {task: losses, loss: absolute, rounds: 12, batch: 1, share: 1, grid_bits: 10" FORECAST
     "}\n",
     0.95, .lags = "1"},
    {"losses of a round of one day", "round", "local", "0",
     "  - {task: losses, loss: absolute, rounds: 12, batch: 1, share: 1, grid_bits: 10" FORECAST
     "}\n",
     0.95, .leaked_least = 1.9, .lags = "1"},
    {"losses of a round of days", "round", "local", "0",
     "  - {task: losses, loss: absolute, rounds: 6, batch: 3, share: 1, grid_bits: 10" FORECAST
     "}\n",
     0.48, .loose = TURNED, .leaked_least = 1.1, .lags = "1, 7"},
    {"losses of days that another stage shows at once", "round", "local", "0",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 2, batches: 2, batch: 7, clip: 1,\n"
     "     rate: 1, share: 0.5}\n"
     "  - {task: losses, loss: absolute, rounds: 6, batch: 3, share: 0.5, grid_bits: 10}\n",
     0.55, .loose = TURNED, .leaked_least = 1.5, .lags = "1, 2"},
    {"losses of an agent's days", "agent", "local", "0",
     "  - {task: losses, loss: absolute, rounds: 6, batch: 3, share: 1, grid_bits: 10" FORECAST
     "}\n",
     0.95, .lags = "1, 7"},
    {"losses, dartboard", "record", "central", "0.00001",
     FIT
     "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 3, batch: 8, share: 0.5,\n"
     "     grid_bits: 10}\n",
     1},
    {"losses of a round, rwm", "round", "central", "0.00001",
     "  - {task: update, loss: hinge, rounds: 1, batch: 8, clip: 1, rate: 1, share: 0.2}\n"
     "  - {task: update, loss: hinge, rounds: 1, batch: 8, clip: 1, rate: 2, share: 0.2}\n"
     "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 8, share: 0.5,\n"
     "     grid_bits: 10}\n",
     0.95},
    {"losses that another stage shows at once, rwm", "round", "central", "0.00001",
     "  - {task: update, loss: hinge, rounds: 1, batch: 16, clip: 1, rate: 1, share: 0.5}\n"
     "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 8, share: 0.5,\n"
     "     grid_bits: 10" FORECAST "}\n",
     1, .leaked_least = 1.9},
    {"update", "record", "local", "0",
     "  - {task: update, loss: logistic, rounds: 3, batch: 24, clip: 0.25, rate: 1, share: 1,\n"
     "     grid_bits: 16}\n",
     0.95},
    {"update, Gaussian", "record", "central", "0.00001",
     "  - {task: update, loss: hinge, rounds: 3, batch: 24, clip: 0.25, rate: 1,\n"
     "     noise: gaussian, grid_bits: 16}\n",
     0.95},
    {"update of a round", "round", "local", "0",
     "  - {task: update, loss: hinge, rounds: 3, batch: 8, clip: 0.25, rate: 1, share: 1,\n"
     "     grid_bits: 16}\n",
     0.95},
    {"update in parts of a round, Gaussian", "round", "local", "0.00001",
     "  - {task: update, loss: hinge, rounds: 9, batches: 3, batch: 8, clip: 0.25, rate: 1,\n"
     "     noise: gaussian, grid_bits: 16}\n",
     0.95},
    {"update of days", "record", "local", "0",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 40, batches: 40, batch: 1,\n"
     "     clip: 0.01, rate: 1, share: 1, grid_bits: 16}\n",
     0.95, .swung = true,
     .lags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, "
             "24, 25, 26, 27, 28, 29, 30, 31, 32",
     .records = 40},
    {"update of a round of one day", "round", "local", "0",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 40, batches: 40, batch: 1,\n"
     "     clip: 0.01, rate: 1, share: 1, grid_bits: 16}\n",
     0.95, .leaked_least = 2.7, .swung = true,
     .lags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, "
             "24, 25, 26, 27, 28, 29, 30, 31, 32",
     .records = 40},
    {"update of days, Gaussian", "record", "local", "0.00001",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 12, batches: 6, batch: 4,\n"
     "     clip: 0.01, rate: 1, noise: gaussian, grid_bits: 16}\n",
     0.95, .swung = true, .lags = "1, 7"},
    {"update of a round of days, Gaussian", "round", "central", "0.00001",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 8, batches: 8, batch: 3,\n"
     "     clip: 0.01, rate: 1, noise: gaussian, grid_bits: 16}\n",
     0.75, .swung = true, .lags = "1, 7",
     .loose =
         "7 records in rounds of 3 are bounded as 3, 3, 1; the cuts leave 3, 1, 2, 1: 15 of 19"},
    {"update of a round of days, clipped together", "round", "local", "0",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 8, batches: 8, batch: 3, clip: 0.5,\n"
     "     clip_all: 0.05, rate: 1, share: 1, grid_bits: 16}\n",
     0.95, .leaked_least = 2, .swung = true, .lags = "1, 7"},
    {"update of a round of days, clipped together, Gaussian", "round", "local", "0.00001",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 8, batches: 8, batch: 3, clip: 0.5,\n"
     "     clip_all: 0.05, rate: 1, noise: gaussian, grid_bits: 16}\n",
     0.95, .leaked_least = 1.6, .swung = true, .lags = "1, 7"},
    {"update of a round, clipped together", "round", "central", "0.00001",
     "  - {task: update, loss: hinge, rounds: 3, batch: 8, clip: 0.5, clip_all: 0.05, rate: 1,\n"
     "     noise: gaussian, grid_bits: 16}\n",
     0.95},
    {"update of a round, clipped together, Laplace", "round", "local", "0",
     "  - {task: update, loss: hinge, rounds: 3, batch: 8, clip: 0.5, clip_all: 0.05, rate: 1,\n"
     "     share: 1, grid_bits: 16}\n",
     0.95},
    {"query", "record", "local", "0",
     "  - {task: query, queries: [\"count: a > 0\", \"histogram: b by 0.5\", \"mean: a\"],\n"
     "     batch: 24, share: 1, grid_bits: 10}\n",
     0.95},
    {"query of an agent", "agent", "local", "0",
     "  - {task: query, queries: [\"count: a > 0\"], batch: 8, share: 1, grid_bits: 10}\n", 1},
    {"query of a round of days", "round", "local", "0",
     "  - {task: query, queries: [\"count: a > 0\"], batch: 8, share: 1, grid_bits: 10}\n", 1,
     .lags = "1, 2"},
    {"select", "record", "local", "0",
     "  - {task: select, candidates: {stumps: [a, b], thresholds: 5}, batch: 24, share: 1}\n", 1},
    {"select of a round, drawn", "round", "central", "0",
     "  - {task: select, candidates: {predicates: [\"a > 0\"]}, batch: 8, share: 1}\n", 0.95},
    {"select of a day among experts, drawn", "record", "central", "0",
     "  - {task: update, loss: squared, rounds: 1, batch: 8, clip: 1, rate: 1, share: 0.5}\n"
     "  - {task: select, loss: absolute, batch: 12, share: 0.5, grid_bits: 4}\n",
     0.95, .lags = "1"},
    {"statistics", "record", "local", "0",
     "  - {task: statistics, lambdas: [0.1], batch: 24, share: 1, grid_bits: 16}\n", 0.65,
     .loose = MOMENTS},
    {"statistics, Gaussian", "record", "central", "0.00001",
     "  - {task: statistics, lambdas: [0.1], batch: 24, noise: gaussian, grid_bits: 16}\n", 0.85,
     .loose = MOMENTS},
    {"statistics of a round", "round", "local", "0",
     "  - {task: statistics, lambdas: [0.1], batch: 8, share: 1, grid_bits: 16}\n", 0.65,
     .loose = MOMENTS},
    {"statistics of a round of days", "round", "local", "0",
     "  - {task: statistics, lambdas: [0.1], batch: 8, share: 1, grid_bits: 16}\n", 0.58,
     .loose = MOMENTS, .lags = "1, 2"},
    {"statistics of an agent, Gaussian", "agent", "central", "0.00001",
     "  - {task: statistics, lambdas: [0.1], batch: 8, noise: gaussian, grid_bits: 16}\n", 0.85,
     .loose = MOMENTS},
    {"predict", "record", "local", "0",
     "  - {task: predict, loss: hinge, lambdas: [2], share: 1, tolerance: 0.00000001,\n"
     "     points: [[1, 1], [1, 1]], kernel: {kind: polynomial, degree: 3}, grid_bits: 20}\n",
     0.95},
    {"predict, the whole range", "record", "central", "0",
     "  - {task: predict, loss: squared, lambdas: [0.001], share: 1, tolerance: 0.00001,\n"
     "     points: [[1, 1], [1, 1]], kernel: {kind: gaussian, gamma: 50}, grid_bits: 20}\n",
     0.95},
    {"select among experts", "record", "central", "0",
     FIT "  - {task: select, loss: zero_one, batch: 24, share: 0.5, grid_bits: 4}\n", 1},
    {"online", "record", "local", "0",
     "  - {task: online, t0: 3, rounds: 3, share: 1, grid_bits: 26}\n", 0.8,
     .loose =
         "the bound takes the largest weights of any stream, and L1 as the root of D times L2"},
    {"online, a series", "record", "local", "0",
     "  - {task: online, t0: 3, rounds: 3, share: 1, grid_bits: 26}\n", 0.32, .loose = ONE_LAG,
     .lags = "1, 2"},
    {"losses of a share", "record", "local", "0",
     FIT "  - {task: losses, loss: zero_one, rounds: 3, batch: 30 %, share: 0.5, grid_bits: 10}\n",
     1},
    {"losses of days, of a share", "record", "local", "0",
     "  - {task: losses, loss: absolute, rounds: 12, batch: 4.5 %, share: 1, grid_bits: 10" FORECAST
     "}\n",
     0.95, .lags = "1"},
    {"losses of a share, dartboard", "record", "central", "0.00001",
     FIT
     "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 3, batch: 33 %, share: 0.5,\n"
     "     grid_bits: 10}\n",
     1},
    {"update in parts that are shares, Gaussian", "record", "central", "0.00001",
     "  - {task: update, loss: hinge, rounds: 6, batches: 3, batch: 33 %, clip: 0.25, rate: 1,\n"
     "     noise: gaussian, grid_bits: 16}\n",
     0.95},
    {"query of a share", "record", "local", "0",
     "  - {task: query, queries: [\"count: a > 0\"], batch: 50 %, share: 1, grid_bits: 10}\n", 1},
    {"learn after a look", "record", "local", "0", "  - {task: learn}\n", 0.85,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn by groups of sites", "record", "local", "0", "  - {task: learn}\n", 0.8, .epsilon = 0.3,
     .shared = true,
     .loose = "what the clip keeps differs by less: test_answer_learn reaches the bound of a look"},
    {"learn three classes by groups", "record", "local", "0", "  - {task: learn}\n", 0.8,
     .epsilon = 0.3, .several = true, .shared = true,
     .loose = "what the clip keeps differs by less: test_answer_learn reaches the bound of a look"},
    {"learn without a look", "record", "local", "0", "  - {task: learn, share: 0.05}\n", 0.95},
    {"learn after a look, Gaussian", "record", "central", "0.00001", "  - {task: learn}\n", 0.7,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn without a look, Gaussian", "record", "local", "0.00001", "  - {task: learn}\n", 0.95,
     .epsilon = 0.3},
    {"learn three classes after a look", "record", "central", "0", "  - {task: learn}\n", 0.8,
     .several = true,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn three classes", "record", "local", "0", "  - {task: learn, share: 0.05}\n", 0.9,
     .several = true, .loose = SOFTMAX},
    {"learn three classes, Gaussian", "record", "local", "0.00001", "  - {task: learn}\n", 0.8,
     .epsilon = 0.3, .several = true, .loose = SOFTMAX},
    {"learn with products of columns", "record", "local", "0", "  - {task: learn}\n", 0.85,
     .epsilon = 100, .bent = true,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn with products of columns, Gaussian", "record", "central", "0.00001",
     "  - {task: learn}\n", 0.85, .epsilon = 40, .bent = true,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn a number after a look", "record", "local", "0", "  - {task: learn}\n", 0.9,
     .number = true,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn a number after a look, Gaussian", "record", "central", "0.00001", "  - {task: learn}\n",
     0.9, .epsilon = 40, .number = true,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn a number without a look", "record", "local", "0", "  - {task: learn, share: 0.05}\n",
     0.95, .number = true},
    {"learn a number without a look, Gaussian", "record", "local", "0.00001", "  - {task: learn}\n",
     0.95, .epsilon = 0.3, .number = true},
    {"learn by huber", "record", "local", "0",
     "  - {task: learn, share: 0.05, loss: huber, loss_parameter: 0.5}\n", 0.85, .number = true,
     .loose = BOUNDED},
    {"learn a quantile", "record", "local", "0",
     "  - {task: learn, share: 0.05, loss: pinball, loss_parameter: 0.5}\n", 0.85, .number = true,
     .loose = BOUNDED},
    {"learn a quantile, Gaussian", "record", "local", "0.00001",
     "  - {task: learn, loss: pinball, loss_parameter: 0.5}\n", 0.6, .epsilon = 0.3, .number = true,
     .loose = BOUNDED},
    {"learn for agents, after a look", "agent", "local", "0", "  - {task: learn}\n", 0.85,
     .epsilon = 200, .records = 8,
     .loose = "no pair is the worst of a look and of a step: test_answer_learn reaches each"},
    {"learn for agents, Gaussian", "agent", "central", "0.00001", "  - {task: learn}\n", 0.8,
     .records = 8, .loose = SOFTMAX},
    {"learn a number for agents", "agent", "local", "0", "  - {task: learn}\n", 0.95, .records = 8,
     .number = true},
    {"learn a series", "record", "local", "0", "  - {task: learn}\n", 0.5, .lags = "1, 3",
     .loose = ONE_LAG},
    {"learn a series, Gaussian", "record", "central", "0.00001", "  - {task: learn}\n", 0.5,
     .epsilon = 6, .lags = "2", .loose = ONE_LAG},
    {"learn a series for agents", "agent", "local", "0", "  - {task: learn}\n", 0.85, .lags = "1",
     .records = 8, .loose = "a day's label is the next one's lag: not all pull one way"},
    {"query of survival", "record", "local", "0",
     "  - {task: query, queries: [\"survival: time a event b > 0 by y == 1, to 0.9\"],\n"
     "     batch: 24, share: 1, grid_bits: 10}\n",
     1},
    {"query of a cross table", "record", "local", "0",
     "  - {task: query, queries: [\"crosstab: b x y where a < 0.9\"], batch: 24, share: 1,\n"
     "     grid_bits: 10}\n",
     1, .category = true},
    {"query of cross tables, central", "record", "central", "0",
     "  - {task: query, queries: [\"crosstab: b x y\", \"crosstab: y x b where a > 0\"], batch: 24,\n"
     "     share: 1, grid_bits: 10}\n",
     1, .category = true},
    {"query of a cross table of an agent", "agent", "local", "0",
     "  - {task: query, queries: [\"crosstab: b x y\"], batch: 8, share: 1, grid_bits: 10}\n", 1,
     .category = true},
    {"query of a score", "record", "local", "0",
     "  - {task: query, queries: [\"evaluate: a for y by b > 0, cut at 0.25 in 8 levels\"], batch: 24,\n"
     "     share: 1, grid_bits: 10}\n",
     1},
    {"query of a written model", "record", "local", "0",
     "  - {task: query, queries: [\"evaluate: risk for y in 8 levels\"], batch: 24, share: 1, grid_bits: 10,\n"
     "     models: [{name: risk, constant: 0.1, columns: [{column: a, weights: [3]}, {column: b, weights: [-2]}]}]}\n",
     1},
    {"query of the chosen model", "record", "local", "0",
     FIT
     "  - {task: query, queries: [\"evaluate: own for y by b > 0 in 8 levels\"], batch: 24, share: 0.5,\n"
     "     grid_bits: 10, models: [{name: own, chosen: true}]}\n",
     1},
    {"query of a score and a time", "record", "local", "0",
     "  - {task: query, queries: [\"evaluate: b for time a event y, to 0.9 in 4 bins\"], batch: 24,\n"
     "     share: 1, grid_bits: 10}\n",
     1},
    {"query of a score of a round, central", "round", "central", "0",
     "  - {task: query, queries: [\"evaluate: a for b > 0 by y where a < 0.9\"], batch: 8, share: 1,\n"
     "     grid_bits: 10}\n",
     0.95},
    {"query of correlations", "record", "local", "0",
     "  - {task: query, queries: [\"correlate: [a, b, y]\", \"correlate: [a, y] where b > 0\"],\n"
     "     batch: 24, share: 1, grid_bits: 10}\n",
     0.95},
    {"query of correlations with fourth moments", "record", "local", "0",
     "  - {task: query, queries: [\"correlate: [a, b, y]\", \"correlate: [a, y] where b > 0\"],\n"
     "     batch: 24, share: 1, grid_bits: 16}\n",
     0.7, .loose = FOURTH_LOOSE},
    {"query of correlations with fourth moments, Gaussian", "record", "local", "0.00001",
     "  - {task: query, queries: [\"correlate: [a, b, y]\", \"correlate: [a, y] where b > 0\"],\n"
     "     batch: 24, noise: gaussian, grid_bits: 16}\n",
     0.7, .loose = FOURTH_LOOSE},
    {"query of correlations of a round, central", "round", "central", "0",
     "  - {task: query, queries: [\"correlate: [a, b] where a < 0.9\"], batch: 8, share: 1,\n"
     "     grid_bits: 10}\n",
     0.95},
    {"query of components", "record", "local", "0",
     "  - {task: query, queries: [\"pca: [a, b, y]\"], batch: 24, share: 1, grid_bits: 10}\n",
     0.95},
    {"query of a regression", "record", "local", "0",
     "  - {task: query, queries: [\"regress: y ~ a + b in 3 levels where a < 0.9\"], batch: 24, share: 1,\n"
     "     grid_bits: 10}\n",
     1},
    {"query of regressions of a round, central", "round", "central", "0",
     "  - {task: query, queries: [\"regress: a ~ b\", \"regress: time b event y ~ a, to 0.9 in 2 intervals\"],\n"
     "     batch: 8, share: 1, grid_bits: 10}\n",
     0.95},
    {"query of a table 1", "record", "local", "0",
     "  - {task: query, queries: [\"table1: [a, b] by y in 8 steps\"], batch: 24, share: 1,\n"
     "     grid_bits: 10}\n",
     1, .category = true},
    {"query of a table 1, central", "record", "central", "0",
     "  - {task: query, queries: [\"table1: [b, a, y] where a < 0.9\", \"table1: [a] by b > 0\"],\n"
     "     batch: 24, share: 1, grid_bits: 7}\n",
     1},
    {"query, Gaussian", "record", "local", "0.00001",
     "  - {task: query, queries: [\"count: a > 0\", \"histogram: b by 0.5\", \"mean: a\"],\n"
     "     batch: 24, noise: gaussian, grid_bits: 10}\n",
     0.95},
    {"query of quantiles, Gaussian", "record", "central", "0.00001",
     "  - {task: query, queries: [\"quantile: 0.5 of a in 3 rounds\", \"mean: b where a > 0\"],\n"
     "     batch: 24, noise: gaussian, grid_bits: 10}\n",
     0.95},
    {"query of survival, Gaussian", "record", "local", "0.00001",
     "  - {task: query, queries: [\"survival: time a event b > 0 by y == 1, to 0.9\"],\n"
     "     batch: 24, noise: gaussian, grid_bits: 10}\n",
     0.99},
    {"query of a cross table of an agent, Gaussian", "agent", "central", "0.00001",
     "  - {task: query, queries: [\"crosstab: b x y\"], batch: 8, noise: gaussian, grid_bits: 10}\n",
     0.99, .category = true},
    {"query of a score of a round, Gaussian", "round", "central", "0.00001",
     "  - {task: query, queries: [\"evaluate: a for b > 0 by y where a < 0.9\"], batch: 8,\n"
     "     noise: gaussian, grid_bits: 10}\n",
     0.95},
    {"query of correlations and components, Gaussian", "record", "local", "0.00001",
     "  - {task: query, queries: [\"correlate: [a, b, y]\", \"pca: [a, y] where b > 0\"],\n"
     "     batch: 24, noise: gaussian, grid_bits: 11}\n",
     0.95},
    {"query of a table 1, Gaussian", "record", "local", "0.00001",
     "  - {task: query, queries: [\"table1: [a, b] by y in 8 steps\"], batch: 24,\n"
     "     noise: gaussian, grid_bits: 10}\n",
     0.99, .category = true},
    {"query of a table 1 of a round", "round", "local", "0",
     "  - {task: query, queries: [\"table1: [a, b] by y\"], batch: 8, share: 1, grid_bits: 10}\n",
     0.95},
    {"update, shared noise", "record", "distributed", "0",
     "  - {task: update, loss: logistic, rounds: 3, batch: 24, clip: 0.25, rate: 1, share: 1,\n"
     "     grid_bits: 16}\n",
     0.95},
    {"update, shared Gaussian", "record", "distributed", "0.00001",
     "  - {task: update, loss: hinge, rounds: 3, batch: 24, clip: 0.25, rate: 1,\n"
     "     noise: gaussian, grid_bits: 16}\n",
     0.95},
    {"update of days, shared Gaussian", "record", "distributed", "0.00001",
     "  - {task: update, loss: huber, loss_parameter: 1, rounds: 12, batches: 6, batch: 4,\n"
     "     clip: 0.01, rate: 1, noise: gaussian, grid_bits: 16}\n",
     0.95, .swung = true, .lags = "1, 7"},
    {"statistics, shared Gaussian", "record", "distributed", "0.00001",
     "  - {task: statistics, lambdas: [0.1], batch: 24, noise: gaussian, grid_bits: 16}\n", 0.85,
     .loose = MOMENTS},
};

enum { WAYS = sizeof ways / sizeof ways[0] };

#endif
