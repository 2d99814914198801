/* Every task's answer, exactly as the gate gets it, on neighbours: whatever unit the job protects is
 * replaced by the worst of many others, and the answer must not move further than round_bounds says.
 * And some pair must move nearly as far, so that a bound of half the size, or the one of a smaller
 * unit, would be caught here. Fixed seeds: no false alarms. */

#include "tests/property/agent/world.h"

#include <math.h>

enum { TRIALS = 400 };

struct way {
    const char *name;
    const char *unit;
    const char *trust;
    const char *delta;
    const char *stages;
    double reached_least; /* of the bound, by some pair */
};

static const struct way ways[] = {
    {"fit", "record", "local", "0",
     "  - {task: fit, loss: squared, lambdas: [0.5], share: 1, grid_bits: 20}\n", 0.02},
    {"losses", "record", "local", "0",
     FIT "  - {task: losses, loss: zero_one, rounds: 3, batch: 8, share: 0.5, grid_bits: 10}\n", 1},
    {"losses of a round", "round", "local", "0",
     "  - {task: update, loss: hinge, rounds: 1, batch: 8, clip: 1, rate: 1, share: 0.5}\n"
     "  - {task: losses, loss: zero_one, rounds: 3, batch: 8, share: 0.5, grid_bits: 10}\n",
     0.9},
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
     0.9},
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
     0.6},
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
     0.9},
    {"query of an agent", "agent", "local", "0",
     "  - {task: query, queries: [\"count: a > 0\"], batch: 8, share: 1, grid_bits: 10}\n", 1},
    {"select", "record", "local", "0",
     "  - {task: select, candidates: {stumps: [a, b], thresholds: 5}, batch: 24, share: 1}\n", 1},
    {"select of a round, drawn", "round", "central", "0",
     "  - {task: select, candidates: {predicates: [\"a > 0\"]}, batch: 8, share: 1}\n", 0},
    {"statistics", "record", "local", "0",
     "  - {task: statistics, lambdas: [0.1], batch: 24, share: 1, grid_bits: 16}\n", 0.6},
    {"statistics, Gaussian", "record", "central", "0.00001",
     "  - {task: statistics, lambdas: [0.1], batch: 24, noise: gaussian, grid_bits: 16}\n", 0.8},
    {"statistics of a round", "round", "local", "0",
     "  - {task: statistics, lambdas: [0.1], batch: 8, share: 1, grid_bits: 16}\n", 0.6},
    {"statistics of an agent, Gaussian", "agent", "central", "0.00001",
     "  - {task: statistics, lambdas: [0.1], batch: 8, noise: gaussian, grid_bits: 16}\n", 0.8},
    {"predict", "record", "local", "0",
     "  - {task: predict, loss: hinge, lambdas: [2], share: 1, tolerance: 0.00000001,\n"
     "     points: [[1, 1], [1, 1]], kernel: {kind: polynomial, degree: 3}, grid_bits: 20}\n",
     0.8},
    {"predict, the whole range", "record", "central", "0",
     "  - {task: predict, loss: squared, lambdas: [0.001], share: 1, tolerance: 0.00001,\n"
     "     points: [[1, 1], [1, 1]], kernel: {kind: gaussian, gamma: 50}, grid_bits: 20}\n",
     0.7},
    {"select among experts", "record", "central", "0",
     FIT "  - {task: select, loss: zero_one, batch: 24, share: 0.5, grid_bits: 4}\n", 1},
};

/* As the bound is meant: L2 for Gaussian noise, the largest value for a draw, else L1. */
static double distance(const struct world *w, const struct private_vector *a,
                       const struct private_vector *b)
{
    double sum = 0;
    double largest = 0;
    double squares = 0;
    for (size_t i = 0; i < a->count; i++) {
        double apart = fabs((double)(a->value[i] - b->value[i]));
        sum += apart;
        squares += apart * apart;
        largest = fmax(largest, apart);
    }
    if (round_is_drawn(&w->job, w->input.stage)) {
        return largest;
    }
    return w->input.stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN ? sqrt(squares) : sum;
}

static struct private_vector answer(struct world *w)
{
    struct private_vector vector;
    struct why why = {{0}};
    cr_assert_eq(task_run(&vector, &w->input, &why), STATUS_OK, "%s", why.text);
    for (size_t i = 0; i < vector.count; i++) {
        cr_assert(vector.low <= vector.value[i] && vector.value[i] <= vector.high);
    }
    return vector;
}

/* Replaces the unit: one record of the round, or all that it looks at. */
static void replace(struct world *w, struct seeded_random *seeded)
{
    struct round_rows rows = round_rows(w->input.stage, 0, M);
    if (w->job.unit == UNIT_RECORD) {
        draw_record(w, seeded, w->order[rows.first + seeded_random_below(seeded, rows.count)]);
        return;
    }
    draw_record(w, seeded, w->order[rows.first]);
    for (uint64_t i = rows.first + 1; i < rows.first + rows.count; i++) {
        size_t from = w->order[rows.first];
        size_t to = w->order[i];
        memcpy(w->x + to * D, w->x + from * D, D * sizeof *w->x);
        memcpy(w->raw + to * COLUMNS, w->raw + from * COLUMNS, COLUMNS * sizeof *w->raw);
        w->y[to] = w->y[from];
    }
}

Test(task_sensitivity, no_unit_moves_an_answer_further_than_its_bound_and_some_pair_nearly_so_far)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct seeded_random seeded;
        struct world w;
        double largest = 0;
        uint64_t bound = 0;
        seeded_random_init(&seeded, 100 + i);
        const struct words words = {ways[i].unit, ways[i].trust, ways[i].delta, ways[i].stages,
                                    true};
        world_init(&w, &words, &seeded);
        for (int trial = 0; trial < TRIALS; trial++) {
            replace(&w, &seeded); /* a unit of its own on either side */
            struct private_vector before = answer(&w);
            replace(&w, &seeded);
            struct private_vector after = answer(&w);
            bound = before.sensitivity;
            largest = fmax(largest, distance(&w, &before, &after));
            private_vector_free(&before);
            private_vector_free(&after);
        }
        cr_expect_leq(largest, (double)bound, "%s: %g of %g", ways[i].name, largest, (double)bound);
        cr_expect_geq(largest, ways[i].reached_least * (double)bound, "%s: only %g of %g",
                      ways[i].name, largest, (double)bound);
        job_free(&w.job);
    }
}
