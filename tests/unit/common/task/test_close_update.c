/* Gradient rounds: the last weights and, with their threshold moved, their copies become experts, once; a
 * later stage begins at the model so far; only what can follow is read back. */

#include "crypto/digest.h"
#include "task/close.h"
#include "task/update/stage.h"
#include "tests/unit/coordinator/history.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3, AGENTS = 2, BATCH = 10, BITS = 10, SHIFTS = 2, RATE = 4 };

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: toy\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
    "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {task: update, loss: logistic, rounds: 2, batch: 10, clip: 1, rate: 4, share: 0.4,\n"
    "     grid_bits: 10, experts: {shifts: [-0.5, 0.25]}}\n"
    "  - {task: update, loss: logistic, rounds: 1, batch: 10, clip: 1, rate: 4, share: 0.2,\n"
    "     grid_bits: 10}\n"
    "  - {task: losses, loss: zero_one, rounds: 1, batch: 10, share: 0.4, grid_bits: 4}\n";

static struct job job;
static struct outcome outcome;
static struct peer agents[AGENTS] = {{"a"}, {"b"}};
static struct closing closing;
static struct record record;

static void setup(void)
{
    history_begin(&job, &outcome, TEXT);
}

static void teardown(void)
{
    closing_free(&closing);
    outcome_free(&outcome);
    job_free(&job);
}

/* Closes a round over gradients whose mean is (1, -2, 3) in grid steps of 1/1024; what is decided is in
 * record and closing. */
static void close_round(uint32_t round)
{
    closing_free(&closing);
    record = history_round(round, agents, AGENTS);
    uint32_t within = 0;
    const struct stage *stage = job_stage_of(&job, round, &within);
    closing = (struct closing){.job = &job,
                               .stage = stage,
                               .within = within,
                               .outcome = &outcome,
                               .sum = calloc(WIDTH, sizeof(int64_t)),
                               .count = WIDTH,
                               .record = &record};
    cr_assert_not_null(closing.sum);
    for (int j = 0; j < WIDTH; j++) {
        closing.sum[j] = (int64_t)(j % 2 == 0 ? j + 1 : -j - 1) * AGENTS * BATCH;
    }
    cr_assert_eq(task_close_update.close(&closing), STATUS_OK);
    record.as.round.blob_bytes = WIDTH * sizeof(double);
}

static enum status add_round(size_t bytes)
{
    return outcome_add(&outcome, &job, &record, (struct slice){closing.rows, bytes});
}

static void run_round(uint32_t round)
{
    close_round(round);
    cr_assert_eq(add_round(WIDTH * sizeof(double)), STATUS_OK);
}

/* Weight j after some steps of plain descent. */
static double descended(int j, int steps)
{
    return -(double)(j % 2 == 0 ? j + 1 : -j - 1) / 1024 * RATE * steps;
}

Test(close_update, the_last_weights_and_their_moved_thresholds_are_experts, .init = setup,
     .fini = teardown)
{
    static const double shift[1 + SHIFTS] = {0, -0.5, 0.25};
    run_round(0);
    cr_assert_eq(outcome.expert_count, 0, "nothing is an expert before the stage's end");
    run_round(1);
    cr_assert_eq(outcome.expert_count, 1 + SHIFTS);
    cr_assert_eq(outcome.chosen, 0, "the model as it was learned");
    for (int i = 0; i <= SHIFTS; i++) {
        for (int j = 0; j < WIDTH; j++) {
            const double moved =
                j == WIDTH - 1 ? shift[i] * sqrt(3) : 0; /* the constant: 1/sqrt(3) */
            cr_assert_float_eq(outcome.weights[i * WIDTH + j], descended(j, 2) + moved, 1e-12);
        }
    }
    cr_assert_str_eq(outcome.expert[0].name, "update, rounds: 2");
    cr_assert_str_eq(outcome.expert[1].name, "update, rounds: 2, threshold -0.5");
    cr_assert_str_eq(outcome.expert[2].name, "update, rounds: 2, threshold +0.25");
    cr_assert_eq(outcome.expert[2].weight, 1);
    cr_assert_eq(job_experts_of_stage(&job.stage[0], AGENTS), 1 + SHIFTS,
                 "as many as the job was checked for");
}

Test(close_update, a_later_stage_goes_on_from_the_model_and_all_are_judged, .init = setup,
     .fini = teardown)
{
    run_round(0);
    run_round(1);
    run_round(2);
    cr_assert_eq(outcome.expert_count, 2 + SHIFTS);
    cr_assert_eq(outcome.chosen, 1 + SHIFTS);
    for (int j = 0; j < WIDTH; j++) {
        cr_assert_float_eq(outcome.weights[(1 + SHIFTS) * WIDTH + j], descended(j, 3), 1e-12,
                           "from the weights, and not from a moved threshold");
    }
    cr_assert_eq(round_answer_count(&job, &job.stage[2], 0, outcome.expert_count), 2 + SHIFTS);
    cr_assert_eq(job_experts_at(&job, 2, AGENTS), outcome.expert_count);
}

Test(close_update, only_a_whole_state_is_read_back, .init = setup, .fini = teardown)
{
    run_round(0);
    close_round(1);
    cr_assert_eq(add_round((WIDTH - 1) * sizeof(double)), STATUS_CORRUPT);
    cr_assert_eq(add_round(0), STATUS_CORRUPT, "the last state is the model: it is kept");
    cr_assert_eq(add_round(WIDTH * sizeof(double)), STATUS_OK);
    cr_assert_eq(outcome.expert_count, 1 + SHIFTS);
}

/* What agents see of the state, by its digest. */
static struct slice shown(void)
{
    const struct slice bytes = outcome_shown(&outcome);
    struct digest digest;
    digest_sha256(&digest, &bytes, 1);
    cr_assert(digest_equal(&digest, &outcome.state_artifact.digest));
    cr_assert_eq(bytes.size, outcome.state_artifact.bytes);
    return bytes;
}

Test(close_update, agents_see_the_weights_as_they_are, .init = setup, .fini = teardown)
{
    run_round(0);
    cr_assert_eq(shown().size, WIDTH * sizeof(double));
    cr_expect_eq(shown().data, (const void *)outcome.state);
}

/* A state that is short on the wire is whole in the journal, and the steps go on from there. */
Test(close_update, or_in_4_bytes_a_number_where_the_job_says_so, .init = setup, .fini = teardown)
{
    enum { PARTS = 10 }; /* a tenth of the rate: weights that 4 bytes do not hold */
    update_stage(&job.stage[0])->optimiser.rate = (double)RATE / PARTS;
    job.stage[0].state_is_short = true;
    run_round(0);
    cr_assert_eq(shown().size, WIDTH * sizeof(float));
    for (int j = 0; j < WIDTH; j++) {
        float number = 0;
        memcpy(&number, (const uint8_t *)shown().data + 4 * (size_t)j, sizeof number);
        cr_expect_eq(number, (float)outcome.state[j]);
        cr_expect_neq((double)number, outcome.state[j]);
    }
    run_round(1);
    for (int j = 0; j < WIDTH; j++) {
        cr_expect_float_eq(outcome.weights[j], descended(j, 2) / PARTS, 1e-15);
    }
    cr_expect_eq(shown().size, WIDTH * sizeof(double), "the next stage says nothing of it");
}

/* Memory is scarce during a step, and agents do not need a closed round's state. */
Test(close_update, what_agents_fetched_goes_before_the_step_and_the_state_stays, .init = setup,
     .fini = teardown)
{
    run_round(0);
    outcome_forget_shown(&outcome);
    cr_expect_eq(shown().size, WIDTH * sizeof(double), "it is the state itself");
    job.stage[0].state_is_short = true;
    cr_assert_eq(outcome_set_state(&outcome, &job.stage[0], (double[WIDTH]){1, 2, 3}, WIDTH, WIDTH),
                 STATUS_OK);
    outcome_forget_shown(&outcome);
    cr_expect_null(outcome.shown);
    cr_expect_eq(outcome.state_artifact.bytes, 0, "nobody is told of it");
    cr_expect_eq(outcome.state[1], 2);
    cr_assert_eq(outcome_set_state(&outcome, &job.stage[0], (double[WIDTH]){4, 5, 6}, WIDTH, WIDTH),
                 STATUS_OK);
    cr_expect_eq(shown().size, WIDTH * sizeof(float));
}

/* A large state is not copied: what the journal was given becomes the outcome's. */
Test(close_update, rows_that_are_offered_become_the_state, .init = setup, .fini = teardown)
{
    close_round(0);
    double *rows = closing.rows;
    const double *mine = rows;
    closing.rows = NULL;
    record.as.round.blob_bytes = WIDTH * sizeof *rows;
    cr_assert_eq(outcome_add_own(&outcome, &job, &record, &rows, WIDTH * sizeof *rows), STATUS_OK);
    cr_expect_null(rows);
    cr_expect_eq(outcome.state, mine);
    for (int j = 0; j < WIDTH; j++) {
        cr_expect_float_eq(outcome.state[j], descended(j, 1), 1e-15);
    }
}

/* Agents take finite numbers alone, and would decline what is too large for 4 bytes. */
Test(close_update, what_is_too_large_for_4_bytes_becomes_the_largest, .init = setup,
     .fini = teardown)
{
    const double state[WIDTH] = {1e300, -1e300, 1e-300};
    const float expected[WIDTH] = {FLT_MAX, -FLT_MAX, 0};
    job.stage[0].state_is_short = true;
    cr_assert_eq(outcome_set_state(&outcome, &job.stage[0], state, WIDTH, WIDTH), STATUS_OK);
    for (int j = 0; j < WIDTH; j++) {
        float number = 0;
        memcpy(&number, (const uint8_t *)shown().data + 4 * (size_t)j, sizeof number);
        cr_expect_eq(number, expected[j]);
    }
}

/* Agents that answered an open round before an upgrade have its input's digest in their journals. */
Test(close_update, a_large_state_has_its_trees_digest_and_in_a_job_of_before_its_sha256,
     .init = setup, .fini = teardown)
{
    enum { LARGE = DIGEST_LEAF_BYTES / 8 + 1 };
    static double state[LARGE];
    const struct slice bytes = {state, sizeof state};
    const struct record job_of_before = {.kind = RECORD_JOB};
    const struct record job_of_now = {.kind = RECORD_JOB, .as.job.trees = true};
    struct digest tree;
    struct digest plain;
    state[LARGE - 1] = 1;
    digest_tree(&tree, bytes);
    digest_sha256(&plain, &bytes, 1);
    for (int now = 0; now <= 1; now++) {
        outcome.begun = false;
        cr_assert_eq(
            outcome_add(&outcome, &job, now == 1 ? &job_of_now : &job_of_before, (struct slice){0}),
            STATUS_OK);
        cr_assert_eq(outcome_set_state(&outcome, &job.stage[0], state, LARGE, LARGE), STATUS_OK);
        cr_expect(digest_equal(&outcome.state_artifact.digest, now == 1 ? &tree : &plain));
    }
}
