/* Releases of a stream become experts by their day; experts that a job writes down are there when
 * their stage begins, after every restart alike; the published history knows which were there when. */

#include "coordinator/publish.h"
#include "task/close.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3, EXPERTS = 5 };

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: stream\n"
    "data:\n"
    "  label: {centre: 0, half_width: 1}\n"
    "  series: {column: entries, lags: [1, 7]}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {task: online, rounds: 2, t0: 20, share: 0.5, grid_bits: 32}\n"
    "  - {task: losses, loss: absolute, rounds: 1, batch: 10, share: 0.2, grid_bits: 4,\n"
    "     forecasters: [{name: yesterday, features: [lag_1]}, {name: last week, features: [lag_7]}]}\n"
    "  - {task: losses, loss: absolute, rounds: 1, batch: 10, share: 0.2, grid_bits: 4,\n"
    "     forecasters: [{name: both, features: [lag_1, lag_7]}]}\n";

static void setup(void)
{
    history_begin(&job, &outcome, TEXT);
}

static enum status add_release(uint32_t round, size_t rows)
{
    const double row[2 * WIDTH] = {1 + round, 2, 3, 4, 5, 6};
    struct record record = history_round(round, agents, 2);
    record.as.round.chosen = round;
    return outcome_add(&outcome, &job, &record, (struct slice){row, rows * WIDTH * 8});
}

static enum status add_losses(uint32_t round, size_t count)
{
    const int64_t all[EXPERTS] = {160, 128, 96, 64, 32};
    int64_t sum[EXPERTS];
    struct record record = history_round(round, agents, 2);
    memcpy(sum, all, sizeof sum);
    record.as.round.sum = sum;
    record.as.round.sum_count = (uint32_t)count;
    record.as.round.chosen = 3;
    return outcome_add(&outcome, &job, &record, (struct slice){0});
}

TestSuite(close_online, .init = setup, .fini = teardown);

Test(close_online, releases_and_written_experts_add_up)
{
    cr_assert_eq(outcome.expert_count, 0);
    cr_assert_eq(add_release(0, 1), STATUS_OK);
    cr_assert_eq(outcome.expert_count, 1);
    cr_assert_str_eq(outcome.expert[0].name, "online, day 21");
    cr_assert_eq(add_release(1, 1), STATUS_OK);
    cr_assert_str_eq(outcome.expert[1].name, "online, day 61");
    cr_assert_eq(outcome.weights[WIDTH], 2.0);
    cr_assert_eq(outcome.expert_count, 4, "the stage that judges has begun");
    cr_assert_str_eq(outcome.expert[3].name, "last week");
    cr_assert_eq(outcome.expert[3].weight, 1);
    cr_assert_eq(outcome.weights[3 * WIDTH], 0);
    cr_assert_gt(outcome.weights[3 * WIDTH + 1], 1);
    cr_assert_eq(outcome.artifact.bytes, 4 * WIDTH * 8, "agents fetch all of them");
    cr_assert_eq(outcome.chosen, 1, "none of them is chosen by being written down");
    cr_assert_eq(add_losses(2, 4), STATUS_OK);
    cr_assert_eq(outcome.expert_count, EXPERTS);
    cr_assert_eq(add_losses(3, EXPERTS), STATUS_OK);
    cr_assert(outcome.finished && outcome.expert_count == EXPERTS);
}

Test(close_online, the_history_knows_which_experts_there_were)
{
    struct result result;
    const struct publish_options options = {.job = &job, .seconds = 1};
    cr_assert_eq(add_release(0, 1), STATUS_OK);
    cr_assert_eq(add_release(1, 1), STATUS_OK);
    cr_assert_eq(add_losses(2, 4), STATUS_OK);
    cr_assert_eq(add_losses(3, EXPERTS), STATUS_OK);
    cr_assert_eq(publish_result(&result, &outcome, &options), STATUS_OK);
    cr_assert_eq(result.expert_count, EXPERTS);
    for (size_t i = 0; i < EXPERTS; i++) {
        const double loss = (double)(160 - 32 * i) / 16 / 20; /* two agents, ten records each */
        cr_expect(i < 4 ? result.round[2].loss[i] == loss : isnan(result.round[2].loss[i]));
        cr_expect_eq(result.round[3].loss[i], loss);
        cr_expect_eq(isnan(result.round[2].weight[i]), i == 4);
    }
    result_free(&result);
}

Test(close_online, a_model_without_a_fit_is_one_of_squares)
{
    struct model model;
    const struct publish_options options = {.job = &job, .seconds = 1};
    cr_assert_eq(add_release(0, 1), STATUS_OK);
    cr_assert_eq(publish_model(&model, &outcome, &options), STATUS_OK);
    cr_assert_eq(model.loss.kind, LOSS_SQUARED);
    cr_assert_eq(model.weight[0], 1.0);
    model_free(&model);
}

Test(close_online, closes_with_the_average)
{
    int64_t *sum = malloc(WIDTH * sizeof *sum);
    struct record record = history_round(0, agents, 2);
    for (int64_t j = 0; j < WIDTH; j++) {
        sum[j] = (j + 1) * (INT64_C(1) << 32);
    }
    struct closing closing = {.job = &job,
                              .stage = &job.stage[0],
                              .outcome = &outcome,
                              .sum = sum,
                              .count = WIDTH,
                              .record = &record};
    cr_assert_eq(task_close(&job, &job.stage[0])->close(&closing), STATUS_OK);
    cr_assert_eq(closing.row_count, 1);
    for (size_t j = 0; j < WIDTH; j++) {
        cr_assert_eq(closing.rows[j], (double)(j + 1) / 2);
    }
    cr_assert_eq(record.as.round.chosen, 0);
    closing_free(&closing);
}

Test(close_online, records_that_cannot_follow_are_refused)
{
    struct record record = history_round(0, agents, 2);
    int64_t sum[WIDTH] = {0};
    const double row[WIDTH] = {0};
    cr_assert_eq(add_release(0, 0), STATUS_CORRUPT, "no model");
    cr_assert_eq(add_release(0, 2), STATUS_CORRUPT, "two");
    record.as.round.sum = sum;
    record.as.round.sum_count = WIDTH;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){row, sizeof row}),
                 STATUS_CORRUPT, "a sum that is not released");
    cr_assert_eq(add_release(0, 1), STATUS_OK);
    cr_assert_eq(add_release(1, 1), STATUS_OK);
    cr_assert_eq(add_losses(2, 2), STATUS_CORRUPT, "losses of the learned experts alone");
}
