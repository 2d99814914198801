/* Answers of models that stay at their sites: linear experts that follow them, names, a report of
 * every point. Only what can follow is read back. */

#include "coordinator/cohort.h"
#include "learn/distil.h"
#include "learn/sensitivity.h"
#include "task/close.h"
#include "task/predict/stage.h"
#include "tests/unit/coordinator/history.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 2, Q = 4, AGENTS = 3, BITS = 16, RECORDS = 400 };

struct fixture {
    struct job job;
    struct outcome outcome;
    struct peer agent[AGENTS];
    struct cohort cohort;
    struct closing_own *own;
    struct record record;
    struct closing closing;
    size_t outputs;
};

static void fixture_init(struct fixture *f, const char *label, const char *trust,
                         const char *experts)
{
    char text[2048];
    memset(f, 0, sizeof *f);
    (void)snprintf(text, sizeof text,
                   "hedgerow: 1\njob: toy\ndata:\n  label: %s\n"
                   "  features: [{column: a, centre: 50, half_width: 50}]\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: 400, "
                   "delta: 0}\n"
                   "cohort: {minimum: 2, records: %d, join_deadline_s: 1, deadline_s: 1}\n"
                   "stages:\n"
                   "  - {task: predict, loss: squared, lambdas: [0.5, 1], share: 1, "
                   "tolerance: 0.000001, grid_bits: %d,\n     kernel: {kind: gaussian, gamma: 1}, "
                   "points: [[0], [50], [75], [100]], experts: {%s}}\n",
                   label, trust, RECORDS, BITS, experts);
    history_begin(&f->job, &f->outcome, text);
    f->outputs = schema_output_count(&f->job.schema);
    for (size_t i = 0; i < AGENTS; i++) {
        (void)snprintf(f->agent[i].name, sizeof f->agent[i].name, "agent-%zu", i);
    }
    cr_assert_eq(cohort_set_roster(&f->cohort, &f->job, f->agent, AGENTS), STATUS_OK);
    f->record = history_round(0, f->agent, AGENTS);
    f->closing = (struct closing){.job = &f->job,
                                  .stage = f->job.stage,
                                  .outcome = &f->outcome,
                                  .sum = calloc(f->outputs * Q, sizeof(int64_t)),
                                  .count = f->outputs * Q,
                                  .record = &f->record};
}

static void fixture_free(struct fixture *f)
{
    free(f->record.as.round.sum);
    closing_own_free(f->own, f->closing.own_count);
    cohort_free(&f->cohort);
    closing_free(&f->closing);
    outcome_free(&f->outcome);
    job_free(&f->job);
}

/* Agent a's answer at point q, on the grid: a + 1 quarters of a rising line. */
static int64_t answer_of(size_t agent, size_t q)
{
    static const int64_t at[Q] = {-4, 0, 2, 4};
    return (int64_t)(agent + 1) * at[q] * ((INT64_C(1) << BITS) / 16);
}

static void fill(struct fixture *f, bool own)
{
    for (size_t agent = 0; agent < AGENTS; agent++) {
        f->cohort.member[agent].standing = STANDING_ANSWERED;
        f->cohort.member[agent].own = own ? calloc(Q, sizeof(int64_t)) : NULL;
        for (size_t q = 0; q < Q; q++) {
            f->closing.sum[q] += answer_of(agent, q);
            if (own) {
                f->cohort.member[agent].own[q] = answer_of(agent, q);
            }
        }
    }
    closing_own_free(f->own, f->closing.own_count);
    cr_assert_eq(cohort_take_own_answers(&f->own, &f->closing.own_count, &f->cohort), STATUS_OK);
    f->closing.own = f->own;
}

/* The score of a linear model at the job's point q. */
static double score(const struct fixture *f, const double *w, size_t q)
{
    const double *x = predict_stage(f->job.stage)->point + q * D;
    return w[0] * x[0] + w[1] * x[1];
}

Test(close_predict, experts_follow_the_average_its_thresholds_and_the_agents_own)
{
    static const char *const names[] = {
        "average, distilled, lambda 0.5", "average, distilled, lambda 0.5, threshold +0.25",
        "agent-0, distilled, lambda 0.5", "agent-1, distilled, lambda 0.5",
        "agent-2, distilled, lambda 0.5"};
    struct fixture f;
    fixture_init(&f, "{column: y, positive: \"1\", negative: \"0\"}", "local",
                 "own: true, own_weight: 0.5, shifts: [0.25]");
    fill(&f, true);
    cr_assert_eq(task_close_predict.close(&f.closing), STATUS_OK);
    cr_assert_eq(f.closing.row_count, 5);
    for (size_t q = 0; q < Q; q++) {
        const double at = ldexp((double)answer_of(0, q), -BITS);
        cr_assert_float_eq(score(&f, f.closing.rows, q), 2 * at, 2e-3);
        cr_assert_float_eq(score(&f, f.closing.rows + D, q), 2 * at + 0.25, 2e-3);
        cr_assert_float_eq(score(&f, f.closing.rows + 2 * D, q), at, 2e-3);
        cr_assert_float_eq(score(&f, f.closing.rows + 4 * D, q), 3 * at, 2e-3);
    }
    cr_assert_eq(
        outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, 5 * D * 8}),
        STATUS_OK);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_str_eq(f.outcome.expert[i].name, names[i]);
        cr_assert_eq(f.outcome.expert[i].weight, i < 2 ? 1 : 0.5);
    }
    fixture_free(&f);
}

/* Noise makes the ridge: an own answer has sqrt(3) of the average's, with a third of the records. */
Test(close_predict, the_ridge_follows_the_noise_of_what_is_followed)
{
    struct fixture f;
    struct distil problem = {.point_count = Q, .feature_count = D};
    struct round_bounds bounds;
    double expected[D];
    double mean[Q];
    fixture_init(&f, "{column: y, positive: \"1\", negative: \"0\"}", "local", "own: true");
    f.job.stage->charge.epsilon_micro = 500000;
    fill(&f, true);
    cr_assert_eq(task_close_predict.close(&f.closing), STATUS_OK);
    cr_assert_eq(round_bounds(&bounds, &f.job, f.job.stage, 0, RECORDS, 0, NULL), STATUS_OK);
    problem.point = predict_stage(f.job.stage)->point;
    const double one = sqrt(2) * ldexp((double)bounds.sensitivity / 0.5, -BITS);
    cr_assert(one > 0.05 && one < 1);
    for (size_t row = 0; row < 2; row++) {
        for (size_t q = 0; q < Q; q++) {
            mean[q] = ldexp((double)answer_of(0, q), -BITS) * (row == 0 ? 2 : 1);
        }
        problem.deviation = row == 0 ? one / sqrt(3) : one;
        cr_assert_eq(distil(expected, &problem, mean), STATUS_OK);
        for (size_t j = 0; j < D; j++) {
            cr_assert_float_eq(f.closing.rows[row * D + j], expected[j], 1e-9);
        }
    }
    fixture_free(&f);
}

Test(close_predict, the_report_has_every_point_in_the_unit_of_the_label)
{
    for (int central = 0; central < 2; central++) {
        struct fixture f;
        struct round_bounds bounds;
        fixture_init(&f, "{column: days, centre: 100, half_width: 40}",
                     central ? "central" : "local", "own: false");
        fill(&f, false);
        cr_assert_eq(task_close_predict.close(&f.closing), STATUS_OK);
        cr_assert_eq(f.record.as.round.sum_count, Q);
        cr_assert_eq(
            outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, D * 8}),
            STATUS_OK);
        const struct outcome_round *round = &f.outcome.round[0];
        cr_assert_eq(round->answer_count, Q);
        cr_assert_str_eq(round->answer[2].name, "lambda 0.5, days: 75");
        cr_assert_str_eq(round->answer[2].unit, "days");
        cr_assert_float_eq(round->answer[0].value, 100 - 40 * 0.5, 1e-9);
        cr_assert_float_eq(round->answer[2].value, 100 + 40 * 0.25, 1e-9);
        /* One draw of scale sensitivity/epsilon for every agent, or one for all; over 3 agents. */
        cr_assert_eq(round_bounds(&bounds, &f.job, f.job.stage, 0, RECORDS, 0, NULL), STATUS_OK);
        const double one = 40 * sqrt(2) * ldexp((double)bounds.sensitivity / 200, -BITS) / 3;
        cr_assert_float_eq(round->answer[2].error, one * (central ? 1 : sqrt(3)), 1e-9);
        cr_assert(round->answer[2].low < round->answer[2].value - round->answer[2].error &&
                  round->answer[2].high > round->answer[2].value + round->answer[2].error);
        cr_assert(isnan(round->answer[2].sampling));
        fixture_free(&f);
    }
}

Test(close_predict, what_is_impossible_is_not_reported)
{
    struct fixture f;
    fixture_init(&f, "{column: y, positive: dead, negative: alive}", "local", "own: false");
    for (size_t q = 0; q < Q; q++) {
        f.closing.sum[q] = (q % 2 == 0 ? 50 : -50) * (INT64_C(1) << BITS);
    }
    cr_assert_eq(task_close_predict.close(&f.closing), STATUS_OK);
    cr_assert_eq(outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, D * 8}),
                 STATUS_OK);
    const struct query_answer *answer = f.outcome.round[0].answer;
    cr_assert_str_eq(answer[0].name, "lambda 0.5, y dead: 0");
    cr_assert_str_eq(answer[0].unit, "score");
    cr_assert(answer[0].value == 1 && answer[0].high == 1 && answer[1].value == -1 &&
              answer[1].low == -1);
    fixture_free(&f);
}

Test(close_predict, every_class_has_its_own_model)
{
    struct fixture f;
    fixture_init(&f, "{column: y, classes: [a, b, c]}", "local", "own: false");
    cr_assert_eq(f.closing.count, 3 * Q);
    for (size_t q = 0; q < Q; q++) {
        f.closing.sum[Q + q] = AGENTS * (INT64_C(1) << (BITS - 1));
    }
    cr_assert_eq(task_close_predict.close(&f.closing), STATUS_OK);
    for (size_t q = 0; q < Q; q++) {
        cr_assert_float_eq(score(&f, f.closing.rows, q), 0, 1e-9);
        cr_assert_float_eq(score(&f, f.closing.rows + D, q), 0.5, 1e-3);
    }
    cr_assert_eq(
        outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, 3 * D * 8}),
        STATUS_OK);
    cr_assert_str_eq(f.outcome.round[0].answer[Q + 1].name, "lambda 0.5, y b: 50");
    fixture_free(&f);
}

Test(close_predict, records_that_cannot_follow_are_refused)
{
    struct fixture f;
    fixture_init(&f, "{column: y, positive: \"1\", negative: \"0\"}", "local", "own: false");
    fill(&f, false);
    cr_assert_eq(task_close_predict.close(&f.closing), STATUS_OK);
    f.record.as.round.sum_count = Q - 1;
    cr_assert_eq(outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, D * 8}),
                 STATUS_CORRUPT);
    f.record.as.round.sum_count = Q;
    cr_assert_eq(
        outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, D * 8 - 8}),
        STATUS_CORRUPT);
    f.record.as.round.agent_count = 0;
    cr_assert_eq(outcome_add(&f.outcome, &f.job, &f.record, (struct slice){f.closing.rows, D * 8}),
                 STATUS_CORRUPT);
    fixture_free(&f);
}

/* For a page: the answers of the latest such round stay during later rounds, however many, and only as many as a page shows. */
Test(close_predict, the_latest_answers_stay_in_what_is_shown)
{
    enum { POINTS = OUTCOME_SHOWN_ANSWERS + 6, LOSSES = 300 };
    char text[4096];
    size_t used = 0;
    struct job job;
    struct outcome outcome;
    struct peer agents[2] = {{"a"}, {"b"}};
    used += (size_t)snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, centre: 0, half_width: 1}\n"
        "  features: [{column: a, centre: 50, half_width: 50}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 400}\n"
        "cohort: {minimum: 2, records: 400, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
        "  - {task: predict, loss: squared, lambdas: [0.5, 1], share: 0.5, grid_bits: 16,\n"
        "     kernel: {kind: gaussian, gamma: 1}, points: [[0]");
    for (size_t i = 1; i < POINTS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", [%zu]", i);
    }
    (void)snprintf(text + used, sizeof text - used,
                   "]}\n  - {task: losses, loss: absolute, rounds: %d, batch: 1, share: 0.5, "
                   "grid_bits: 4}\n",
                   LOSSES);
    history_begin(&job, &outcome, text);
    outcome_free(&outcome);
    outcome_init(&outcome, &job, OUTCOME_SHOWS);
    struct record begin = {.kind = RECORD_JOB};
    begin.as.job.job.id.byte[0] = 1;
    cr_assert_eq(outcome_add(&outcome, &job, &begin, (struct slice){0}), STATUS_OK);
    for (uint32_t round = 0; round < 2 + LOSSES; round++) {
        const double row[D] = {1, 2};
        int64_t sum[POINTS] = {0};
        struct record record = history_round(round, agents, 2);
        sum[0] = 2 * (1 + (int64_t)round) << 10;
        record.as.round.sum = sum;
        record.as.round.sum_count = round < 2 ? POINTS : 2;
        const struct slice blob = {row, round < 2 ? sizeof row : 0};
        cr_assert_eq(outcome_add(&outcome, &job, &record, blob), STATUS_OK);
        size_t with = 0;
        for (size_t i = 0; i < outcome.round_count; i++) {
            const struct outcome_round *one = &outcome.round[i];
            with += one->answer_count > 0;
            cr_assert(one->answer_count == 0 || one->round == (round == 0 ? 0U : 1U));
            cr_assert(one->answer_count == 0 || one->answer_count == OUTCOME_SHOWN_ANSWERS);
            cr_assert(one->answer_count == 0 ||
                      one->answer[0].value == (1 + one->round) * ldexp(1, -6));
        }
        cr_assert_eq(with, 1, "%zu after round %u", with, round);
        cr_assert_leq(outcome.round_count, OUTCOME_SHOWN_ROUNDS);
    }
    outcome_free(&outcome);
    job_free(&job);
}
