/* Ridge regression from released moments: the right system, the ridge that the noise calls for, scores
 * of classes, names; and that only what can follow is read back. */

#include "task/close.h"
#include "task/statistics/stage.h"

#include "tests/support/seeded_random.h"
#include "tests/unit/coordinator/history.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 3, BATCH = 50, AGENTS = 4, BITS = 20, RECORDS = AGENTS * BATCH };

static const char *const labels[] = {
    "{column: y, positive: \"1\", negative: \"0\"}",
    "{column: y, centre: 0, half_width: 1}",
    "{column: y, classes: [a, b, c]}",
};

struct fixture {
    struct job job;
    struct outcome outcome;
    struct peer agent[AGENTS];
    struct record record;
    struct closing closing;
    double x[RECORDS * D];
    double y[RECORDS];
    size_t outputs;
};

static void fixture_init(struct fixture *f, enum label_kind kind, const char *trust,
                         const char *noise)
{
    char text[2048];
    memset(f, 0, sizeof *f);
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: toy\ndata:\n  label: %s\n  features:\n"
                   "    - {column: a, centre: 0, half_width: 1}\n"
                   "    - {column: b, centre: 0, half_width: 1}\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: 2, "
                   "delta: 0.00001}\n"
                   "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
                   "  - {task: statistics, lambdas: [0.1, 0.0001], batch: %d, grid_bits: %d, %s}\n",
                   labels[kind], trust, BATCH, BITS, noise);
    history_begin(&f->job, &f->outcome, text);
    f->outputs = schema_output_count(&f->job.schema);
    for (size_t i = 0; i < AGENTS; i++) {
        (void)snprintf(f->agent[i].name, sizeof f->agent[i].name, "agent-%zu", i);
    }
    f->record = history_round(0, f->agent, AGENTS);
    const size_t count = round_answer_count(&f->job, f->job.stage, 0, 0);
    f->closing = (struct closing){.job = &f->job,
                                  .stage = f->job.stage,
                                  .outcome = &f->outcome,
                                  .sum = calloc(count, sizeof(int64_t)),
                                  .count = count,
                                  .record = &f->record};
}

static void fixture_free(struct fixture *f)
{
    closing_free(&f->closing);
    outcome_free(&f->outcome);
    job_free(&f->job);
}

/* Records whose label follows from their features, and the exact sums of all agents. */
static void fill(struct fixture *f, enum label_kind kind)
{
    struct seeded_random seeded;
    size_t next = 0;
    seeded_random_init(&seeded, 7);
    for (size_t i = 0; i < RECORDS; i++) {
        double *x = f->x + i * D;
        x[0] = (2 * seeded_random_unit(&seeded) - 1) / sqrt(3);
        x[1] = (2 * seeded_random_unit(&seeded) - 1) / sqrt(3);
        x[2] = schema_constant(&f->job.schema);
        const double f0 = 1.2 * x[0] - 0.7 * x[1] + 0.1;
        f->y[i] = kind == LABEL_NUMBER    ? f0
                  : kind == LABEL_CLASSES ? (f0 > 0.4    ? 2
                                             : f0 < -0.2 ? 0
                                                         : 1)
                                          : (f0 > 0 ? 1 : -1);
    }
    for (size_t i = 0; i < D + f->outputs; i++) {
        for (size_t j = i < D ? i : 0; j < D; j++, next++) {
            for (size_t at = 0; at < RECORDS; at++) {
                const double factor = i < D                   ? f->x[at * D + i]
                                      : kind != LABEL_CLASSES ? f->y[at]
                                                              : f->y[at] == (double)(i - D);
                f->closing.sum[next] +=
                    (int64_t)floor(ldexp(factor * f->x[at * D + j], BITS) + 0.5);
            }
        }
    }
}

/* The largest residual of (A + ridge I) w = b, from the records themselves. targets: y of each. */
static double residual(const struct fixture *f, const double *w, const double *target, double ridge)
{
    double largest = 0;
    for (size_t j = 0; j < D; j++) {
        double sum = ridge * w[j];
        for (size_t at = 0; at < RECORDS; at++) {
            const double *x = f->x + at * D;
            sum += (x[0] * w[0] + x[1] * w[1] + x[2] * w[2] - target[at]) * x[j] / RECORDS;
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

/* Twice the deviation of the mean's noise times sqrt(d), from the formulas on paper. */
static double edge(const struct fixture *f, bool gaussian, double draws)
{
    const struct stage *stage = f->job.stage;
    const double deviation =
        gaussian ? (double)moments_sensitivity_l2(&statistics_stage(stage)->moments) *
                       (double)stage->charge.sigma_micro * 1e-6
                 : sqrt(2) * (double)moments_sensitivity_l1(&statistics_stage(stage)->moments) /
                       2; /* epsilon 2 */
    return 2 * sqrt(D) * ldexp(deviation * sqrt(draws), -BITS) / RECORDS;
}

Test(close_statistics, every_lambda_solves_its_own_system_with_what_the_noise_adds)
{
    static const struct {
        const char *trust;
        const char *noise;
        bool gaussian;
        double draws;
    } way[] = {{"local", "share: 1", false, AGENTS},
               {"central", "share: 1", false, 1},
               {"local", "noise: gaussian", true, AGENTS},
               {"central", "noise: gaussian", true, 1}};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct fixture f;
        fixture_init(&f, LABEL_NUMBER, way[i].trust, way[i].noise);
        fill(&f, LABEL_NUMBER);
        const double more = edge(&f, way[i].gaussian, way[i].draws);
        cr_assert_eq(task_close_statistics.close(&f.closing), STATUS_OK);
        cr_assert_eq(f.closing.row_count, 2);
        cr_assert_lt(residual(&f, f.closing.rows, f.y, 0.1 + more), 1e-5);
        cr_assert_lt(residual(&f, f.closing.rows + D, f.y, 0.0001 + more), 1e-5);
        cr_assert_gt(residual(&f, f.closing.rows, f.y, 0.1 + 2 * more), 1e-4,
                     "other noise would be noticed: %g", more);
        fixture_free(&f);
    }
}

Test(close_statistics, the_largest_score_is_the_class)
{
    struct fixture f;
    size_t right = 0;
    double target[RECORDS];
    fixture_init(&f, LABEL_CLASSES, "central", "share: 1");
    fill(&f, LABEL_CLASSES);
    cr_assert_eq(task_close_statistics.close(&f.closing), STATUS_OK);
    const double *w = f.closing.rows + f.outcome.width; /* of the smaller lambda */
    for (size_t at = 0; at < RECORDS; at++) {
        const double *x = f.x + at * D;
        size_t best = 0;
        double score[3];
        for (size_t own = 0; own < 3; own++) {
            score[own] = w[own * D] * x[0] + w[own * D + 1] * x[1] + w[own * D + 2] * x[2];
            best = score[own] > score[best] ? own : best;
        }
        cr_assert_float_eq(score[0] + score[1] + score[2], -1, 0.5);
        right += best == (size_t)f.y[at];
    }
    cr_assert_gt(right, RECORDS * 3 / 4);
    /* Back to the labels 1 and 0, each class has its own system. */
    double half[D] = {w[2 * D] / 2, w[2 * D + 1] / 2,
                      (w[2 * D + 2] + 1 / schema_constant(&f.job.schema)) / 2};
    for (size_t at = 0; at < RECORDS; at++) {
        target[at] = f.y[at] == 2;
    }
    struct round_bounds bounds;
    cr_assert_eq(round_bounds(&bounds, &f.job, f.job.stage, 0, BATCH, 0, NULL), STATUS_OK);
    const double ridge =
        0.0001 + 2 * sqrt(D) * ldexp(sqrt(2) * (double)bounds.sensitivity / 2, -BITS) / RECORDS;
    cr_assert_lt(residual(&f, half, target, ridge), 1e-5);
    fixture_free(&f);
}

Test(close_statistics, what_was_decided_is_read_back_and_nothing_else)
{
    struct fixture f;
    fixture_init(&f, LABEL_SIGN, "local", "share: 1, experts: {shifts: [-0.5]}");
    fill(&f, LABEL_SIGN);
    cr_assert_eq(task_close_statistics.close(&f.closing), STATUS_OK);
    const size_t bytes = f.closing.row_count * f.outcome.width * 8;
    const struct slice blob = {f.closing.rows, bytes};
    const struct slice cut = {f.closing.rows, bytes - 8};
    int64_t more = 0;

    cr_assert_eq(outcome_add(&f.outcome, &f.job, &f.record, cut), STATUS_CORRUPT);
    f.record.as.round.sum = &more;
    f.record.as.round.sum_count = 1;
    cr_assert_eq(outcome_add(&f.outcome, &f.job, &f.record, blob), STATUS_CORRUPT);
    f.record.as.round.sum_count = 0;
    cr_assert_eq(outcome_add(&f.outcome, &f.job, &f.record, blob), STATUS_OK);
    cr_assert(f.outcome.finished && f.outcome.expert_count == 4 && f.outcome.chosen == 0);
    cr_assert_str_eq(f.outcome.expert[0].name, "statistics, lambda 0.1");
    cr_assert_str_eq(f.outcome.expert[1].name, "statistics, lambda 0.1, threshold -0.5");
    cr_assert_str_eq(f.outcome.expert[2].name, "statistics, lambda 0.0001");
    cr_assert_str_eq(f.outcome.expert[3].name, "statistics, lambda 0.0001, threshold -0.5");
    cr_assert_eq(f.outcome.expert[3].lambda, 0.0001);
    for (size_t j = 0; j < D; j++) {
        const double moved = j == D - 1 ? -0.5 * sqrt(3) : 0;
        cr_assert_float_eq(f.outcome.weights[3 * D + j] - f.outcome.weights[2 * D + j], moved,
                           1e-12);
    }
    cr_assert_arr_eq(f.outcome.weights, f.closing.rows, bytes);
    fixture_free(&f);
}

/* Pure noise of the largest size: still a model, and a finite one. */
Test(close_statistics, noise_alone_gives_a_model_too)
{
    struct fixture f;
    struct seeded_random seeded;
    seeded_random_init(&seeded, 9);
    fixture_init(&f, LABEL_SIGN, "local", "share: 1");
    for (int trial = 0; trial < 200; trial++) {
        for (size_t j = 0; j < f.closing.count; j++) {
            f.closing.sum[j] = (int64_t)(seeded_random_word(&seeded) >> 8) - (INT64_C(1) << 55);
        }
        cr_assert_eq(task_close_statistics.close(&f.closing), STATUS_OK);
        for (size_t j = 0; j < 2 * D; j++) {
            cr_assert(isfinite(f.closing.rows[j]));
        }
        free(f.closing.rows);
        f.closing.rows = NULL;
    }
    fixture_free(&f);
}
