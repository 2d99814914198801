/* Stages of different maps: what each makes has weights on its own map's features and none on the
 * others, a threshold moves by that map's constant, descent goes on from a model of the same map and
 * from zero after another, and the file that is published has the one map. */

#include "coordinator/cohort.h"
#include "coordinator/publish.h"
#include "task/close.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <math.h>
#include <stdlib.h>

/* The blocks in the order of the stages: landmarks' (3), plain (4), frequencies' (5). */
enum { BATCH = 10, WIDTH = 12, ANSWER_MAX = 32 };

#define NYSTROM "{kind: nystrom, kernel: gaussian, gamma: 2, landmarks: [[0, 0, 1], [1, 0.5, -1]]}"
#define FOURIER "{kind: fourier, kernel: gaussian, gamma: 1, features: 4, seed: 42}"

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: toy\n"
    "data:\n"
    "  label: {column: y, centre: 0, half_width: 1}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "    - {column: c, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 10}\n"
    "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {task: fit, loss: squared, lambdas: [0.1], share: 0.1, grid_bits: 10,\n"
    "     experts: {own: true, shifts: [0.5]}, map: " NYSTROM "}\n"
    "  - {task: update, loss: squared, rounds: 1, batch: 10, clip: 1, rate: 1, share: 0.1,\n"
    "     grid_bits: 10}\n"
    "  - {task: update, loss: squared, rounds: 1, batch: 10, clip: 1, rate: 1, share: 0.1,\n"
    "     grid_bits: 10, experts: {shifts: [0.5]}}\n"
    "  - {task: statistics, lambdas: [0.1, 0.2], batch: 10, share: 0.1, grid_bits: 10,\n"
    "     experts: {shifts: [0.5]}, map: " FOURIER "}\n"
    "  - {task: predict, loss: squared, lambdas: [0.1], share: 0.1, grid_bits: 10, map: " NYSTROM
    ",\n"
    "     kernel: {kind: gaussian, gamma: 1}, points: [[0, 0, 0], [1, 1, 1], [-1, 1, 0]],\n"
    "     experts: {shifts: [0.5]}}\n"
    "  - {task: online, rounds: 1, t0: 5, share: 0.1, grid_bits: 32, map: " FOURIER "}\n"
    "  - {task: losses, loss: absolute, rounds: 1, batch: 10, share: 0.1, grid_bits: 4,\n"
    "     forecasters: [{name: b, features: [b]}]}\n";

static void setup(void)
{
    history_begin(&job, &outcome, TEXT);
    cr_assert(outcome.width == WIDTH && block_count(&job.schema) == 3);
}

/* Closes the round over answers of 1, 2, 3, .. grid steps a record or an agent, and adds it. */
static void run_round(uint32_t round)
{
    static int64_t own[AGENTS][ANSWER_MAX];
    struct closing_own *models = NULL;
    struct member member[AGENTS];
    struct cohort cohort = {.member = member, .count = AGENTS};
    uint32_t within = 0;
    struct record record = history_round(round, agents, AGENTS);
    const struct stage *stage = job_stage_of(&job, round, &within);
    const size_t count = round_answer_count(&job, stage, within, outcome.expert_count);
    struct closing closing = {.job = &job,
                              .stage = stage,
                              .within = within,
                              .outcome = &outcome,
                              .sum = calloc(count, sizeof(int64_t)),
                              .count = count,
                              .record = &record};
    cr_assert(closing.sum != NULL && count <= ANSWER_MAX);
    memset(member, 0, sizeof member);
    for (size_t i = 0; i < AGENTS; i++) {
        member[i].standing = STANDING_ANSWERED;
        for (size_t j = 0; j < count; j++) {
            own[i][j] = (int64_t)(j + 1) * 8;
            closing.sum[j] += own[i][j];
        }
        member[i].own = malloc(count * sizeof own[i][0]);
        cr_assert_not_null(member[i].own);
        memcpy(member[i].own, own[i], count * sizeof own[i][0]);
    }
    cr_assert_eq(cohort_take_own_answers(&models, &closing.own_count, &cohort), STATUS_OK);
    closing.own = models;
    cr_assert_eq(task_close(&job, stage)->close(&closing), STATUS_OK);
    closing_own_free(models, closing.own_count);
    const size_t bytes = closing.row_count * closing.row_width * sizeof(double);
    record.as.round.blob_bytes = bytes;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){closing.rows, bytes}),
                 STATUS_OK);
    free(record.as.round.sum);
    closing_free(&closing);
}

/* Experts [from, to) have weights in the block alone, some. */
static void expect_block(size_t from, size_t to, struct block block)
{
    for (size_t i = from; i < to; i++) {
        double inside = 0;
        for (size_t j = 0; j < WIDTH; j++) {
            const double weight = outcome.weights[i * WIDTH + j];
            const bool own = j >= block.first && j < block.first + block.count;
            cr_assert(own || weight == 0, "%s, weight %zu", outcome.expert[i].name, j);
            inside += fabs(weight);
        }
        cr_assert(inside > 0, "%s", outcome.expert[i].name);
    }
}

/* Expert `index` is the one before with its last weight moved by half a constant feature. */
static void expect_shift(size_t index, struct block block, double constant)
{
    const double *before = outcome.weights + (index - 1) * WIDTH;
    const double *moved = outcome.weights + index * WIDTH;
    for (size_t j = 0; j < WIDTH; j++) {
        const double by = j == block.first + block.count - 1 ? 0.5 / constant : 0;
        cr_assert_float_eq(moved[j], before[j] + by, 1e-12, "%s", outcome.expert[index].name);
    }
}

Test(close_maps, every_expert_is_about_the_features_of_its_stages_map, .init = setup,
     .fini = teardown)
{
    const double mapped = sqrt(0.5);
    const double plain = 0.5; /* 1/sqrt(4) */
    const struct block block[] = {block_at(&job.schema, 0), block_at(&job.schema, 1),
                                  block_at(&job.schema, 2)};
    cr_assert(block[0].count == 3 && block[1].count == 4 && block[2].count == 5);

    run_round(0); /* the average, its threshold moved, the agents' own */
    cr_assert_eq(outcome.expert_count, 4);
    expect_block(0, 4, block[0]);
    expect_shift(1, block[0], mapped);
    cr_assert_eq(outcome.weights[2], 3 * 8 / 1024.0);

    for (size_t j = 0; j < 4; j++) {
        cr_assert_eq(outcome.state[j], 0, "the model so far is of another map");
    }
    run_round(1);
    expect_block(4, 5, block[1]);
    for (size_t j = 0; j < 4; j++) {
        cr_assert_eq(outcome.state[j], outcome.weights[4 * WIDTH + block[1].first + j],
                     "of the same map");
    }
    run_round(2);
    cr_assert_float_eq(outcome.weights[5 * WIDTH + block[1].first],
                       2 * outcome.weights[4 * WIDTH + block[1].first], 1e-12, "a second step");
    expect_block(5, 7, block[1]);
    expect_shift(6, block[1], plain);

    run_round(3);
    cr_assert_eq(outcome.expert_count, 11);
    expect_block(7, 11, block[2]);
    expect_shift(8, block[2], mapped);
    expect_shift(10, block[2], mapped);

    run_round(4);
    expect_block(11, 13, block[0]);
    expect_shift(12, block[0], mapped);

    run_round(5); /* and the forecaster that the next stage brings along */
    cr_assert_eq(outcome.expert_count, 15);
    expect_block(13, 14, block[2]);
    expect_block(14, 15, block[1]);
    cr_assert_float_eq(outcome.weights[14 * WIDTH + block[1].first + 1], 2, 1e-12);
}

#define CLASSES                                                                                    \
    "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, classes: [a, b, c]}\n"                     \
    "  features: [{column: a, centre: 0, half_width: 1}, {column: b, centre: 0, half_width: 1}]\n" \
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 10}\n"                \
    "cohort: {minimum: 2, join_deadline_s: 1, deadline_s: 1}\nstages:\n"
#define SUMS   "  - {task: statistics, lambdas: [0.1], batch: 10, share: 0.1, grid_bits: 10"
#define MAPPED ", map: {kind: nystrom, kernel: gaussian, gamma: 2, landmarks: [[0, 0], [1, 1]]}}\n"

/* The weights of the expert that the job's last round makes, on its stage's own features. */
static void learn_classes(double weight[static 9], const char *text)
{
    history_begin(&job, &outcome, text);
    const uint32_t rounds = job_round_count(&job);
    for (uint32_t round = 0; round < rounds; round++) {
        run_round(round);
    }
    const struct stage *last = &job.stage[job.stage_count - 1];
    cr_assert_eq(round_stage_width(last), 9);
    block_narrow(weight, 3, last->block,
                 outcome.weights + (outcome.expert_count - 1) * outcome.width);
    teardown();
}

/* Scores of classes are spread by the constant feature, too: of this stage's map, not of the first. */
Test(close_maps, scores_of_classes_are_those_of_a_job_with_this_map_alone)
{
    double alone[9];
    double behind[9];
    learn_classes(alone, CLASSES SUMS MAPPED);
    learn_classes(behind, CLASSES SUMS "}\n" SUMS MAPPED);
    cr_assert_arr_eq(alone, behind, sizeof alone);
}

Test(close_maps, the_published_file_has_the_chosen_models_map, .init = setup, .fini = teardown)
{
    static const enum map_kind kind[] = {MAP_NYSTROM, MAP_NONE,    MAP_NONE,
                                         MAP_FOURIER, MAP_NYSTROM, MAP_FOURIER};
    static const size_t weights[] = {3, 4, 4, 5, 3, 5};
    for (uint32_t round = 0; round < 6; round++) {
        struct model model;
        run_round(round);
        const struct publish_options options = {.job = &job};
        cr_assert_eq(publish_model(&model, &outcome, &options), STATUS_OK);
        cr_assert(model.schema.map.kind == kind[round] && model.schema.more_count == 0 &&
                      model.weight_count == weights[round],
                  "%s", model.expert);
        cr_assert_eq(model.weight[0],
                     outcome.weights[outcome.chosen * WIDTH + job.stage[round].block.first]);
        model_free(&model);
    }
}
