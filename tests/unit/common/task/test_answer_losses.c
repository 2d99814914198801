/* The losses task: what it computes, and that one replaced record moves it by at most k/g in L1. */

#include "task/answer.h"

#include "dp/encode.h"
#include "task/losses/stage.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 12, D = 3, K = 5, BATCH = 4, ROUNDS = 3, BITS = 10 };

struct fixture {
    double x[M * D];
    double y[M];
    size_t order[M];
    double experts[K * D];
    struct dataset data;
    struct job job;
    struct stage stage;
    struct losses_stage own;
    struct task_input input;
};

static void fixture_init(struct fixture *f, struct seeded_random *seeded, enum loss_kind loss)
{
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < D; j++) {
            f->x[i * D + j] = (2 * seeded_random_unit(seeded) - 1) / sqrt(D);
        }
        f->y[i] = seeded_random_below(seeded, 2) == 0 ? -1 : 1;
        f->order[i] = (i * 5) % M;
    }
    for (size_t i = 0; i < K * D; i++) {
        f->experts[i] = 20 * (2 * seeded_random_unit(seeded) - 1);
    }
    f->data = (struct dataset){.record_count = M, .feature_count = D, .x = f->x, .y = f->y};
    f->stage = (struct stage){.task = TASK_LOSSES,
                              .own = &f->own,
                              .epsilon_micro = 1000000,
                              .grid_bits = BITS,
                              .loss = {.kind = loss},
                              .rounds = ROUNDS,
                              .batch = BATCH,
                              .batches = ROUNDS};
    f->input = (struct task_input){.job = &f->job,
                                   .stage = &f->stage,
                                   .data = &f->data,
                                   .order = f->order,
                                   .experts = f->experts,
                                   .expert_count = K};
}

static struct private_vector run(struct fixture *f, uint32_t within)
{
    struct private_vector vector = {0};
    f->input.within = within;
    cr_assert_eq(task_run(&vector, &f->input, NULL), STATUS_OK);
    return vector;
}

Test(answer_losses, sums_encoded_clamped_losses_of_its_own_batch)
{
    struct seeded_random seeded;
    struct fixture f;
    seeded_random_init(&seeded, 1);
    fixture_init(&f, &seeded, LOSS_HINGE);
    for (uint32_t within = 0; within < ROUNDS; within++) {
        struct private_vector vector = run(&f, within);
        cr_assert_eq(vector.sensitivity, (uint64_t)K << BITS);
        for (size_t k = 0; k < K; k++) {
            int64_t expected = 0;
            for (size_t i = within * BATCH; i < (within + 1) * BATCH; i++) {
                const double *x = f.x + f.order[i] * D;
                double score = 0;
                for (size_t j = 0; j < D; j++) {
                    score += f.experts[k * D + j] * x[j];
                }
                double loss = fmin(1, fmax(0, 1 - f.y[f.order[i]] * score));
                expected += (int64_t)floor(loss * (1 << BITS) + 0.5);
            }
            cr_assert_eq(vector.value[k], expected);
            cr_assert(vector.low <= expected && expected <= vector.high);
        }
        private_vector_free(&vector);
    }
}

/* The largest L1 distance seen between neighbours' vectors, over random and extreme replacements.
 */
static uint64_t largest_distance(enum loss_kind loss)
{
    struct seeded_random seeded;
    uint64_t largest = 0;
    seeded_random_init(&seeded, 2);
    for (int trial = 0; trial < 500; trial++) {
        struct fixture f;
        uint64_t distance = 0;
        fixture_init(&f, &seeded, loss);
        struct private_vector before = run(&f, 0);
        size_t row = f.order[seeded_random_below(&seeded, BATCH)];
        for (size_t k = 0; k < K && trial % 2 == 0; k++) {
            memcpy(f.experts + k * D, f.experts, D * sizeof *f.experts); /* all alike: the worst */
        }
        private_vector_free(&before);
        before = run(&f, 0);
        f.y[row] = -f.y[row];
        struct private_vector after = run(&f, 0);
        for (size_t k = 0; k < K; k++) {
            distance += (uint64_t)llabs(before.value[k] - after.value[k]);
        }
        largest = distance > largest ? distance : largest;
        cr_assert_leq(distance, before.sensitivity);
        private_vector_free(&before);
        private_vector_free(&after);
    }
    return largest;
}

Test(answer_losses, one_replaced_record_moves_it_by_at_most_its_sensitivity_and_can_reach_it)
{
    uint64_t zero_one = largest_distance(LOSS_ZERO_ONE);
    cr_assert_eq(zero_one, (uint64_t)K << BITS, "half the sensitivity would be caught here");
    cr_assert_gt(largest_distance(LOSS_HINGE), ((uint64_t)K << BITS) * 9 / 10);
}

/* For scores at any distance every class costs an equal part, and all together cost 1. */
Test(answer_losses, of_several_classes_a_record_costs_at_most_one)
{
    static const enum loss_kind kinds[] = {LOSS_LOGISTIC, LOSS_HINGE, LOSS_ZERO_ONE};
    enum { CLASSES = 3, OWN = K / CLASSES };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct seeded_random seeded;
        struct fixture f;
        int64_t most = 0;
        seeded_random_init(&seeded, 40 + i);
        fixture_init(&f, &seeded, kinds[i]);
        f.job.schema.label.kind = LABEL_CLASSES;
        f.job.schema.label.class_count = CLASSES;
        f.input.expert_count = OWN; /* of CLASSES models each */
        for (size_t j = 0; j < K * D; j++) {
            f.experts[j] *= 50;
        }
        for (size_t j = 0; j < M; j++) {
            f.y[j] = (double)seeded_random_below(&seeded, CLASSES);
        }
        for (uint32_t within = 0; within < ROUNDS; within++) {
            int64_t value[OWN] = {0};
            f.input.within = within;
            cr_assert_eq(answer_losses(value, &f.input), STATUS_OK);
            for (size_t k = 0; k < OWN; k++) {
                cr_expect(value[k] >= 0 && value[k] <= (int64_t)BATCH << BITS, "loss %zu", i);
                most = value[k] > most ? value[k] : most;
            }
        }
        cr_expect_gt(2 * most, (int64_t)BATCH << BITS, "so that twice of it would be seen");
    }
}

Test(answer_losses, rounds_look_at_disjoint_rows)
{
    struct seeded_random seeded;
    struct fixture f;
    seeded_random_init(&seeded, 3);
    fixture_init(&f, &seeded, LOSS_ZERO_ONE);
    for (size_t changed = 0; changed < M; changed++) {
        unsigned moved = 0;
        for (uint32_t within = 0; within < ROUNDS; within++) {
            struct private_vector before = run(&f, within);
            f.y[changed] = -f.y[changed];
            struct private_vector after = run(&f, within);
            f.y[changed] = -f.y[changed];
            moved += memcmp(before.value, after.value, K * sizeof *before.value) != 0;
            struct round_rows rows = round_rows(&f.stage, within, M);
            cr_assert(rows.first == within * BATCH && rows.count == BATCH);
            private_vector_free(&before);
            private_vector_free(&after);
        }
        cr_assert_eq(moved, 1, "record %zu counts in %u rounds", changed, moved);
    }
}

Test(answer_losses, too_few_records_are_refused_by_their_number_alone)
{
    struct why why = {{0}};
    struct job job = {.trust = TRUST_LOCAL};
    struct losses_stage own = {.doubling = false};
    struct stage stage = {.task = TASK_LOSSES, .own = &own, .rounds = 3, .batch = 5, .batches = 3};
    cr_assert_eq(task_check(&job, &stage, 15, &why), STATUS_OK);
    cr_assert_eq(task_check(&job, &stage, 14, &why), STATUS_INVALID);
}

/* A hostile coordinator's experts: infinite scores and NaN cost exactly 1, like any wrong answer.
 */
Test(answer_losses, overflowing_scores_stay_within_the_clamp)
{
    struct seeded_random seeded;
    struct fixture f;
    seeded_random_init(&seeded, 4);
    fixture_init(&f, &seeded, LOSS_LOGISTIC);
    for (size_t j = 0; j < K * D; j++) {
        f.experts[j] = j % 2 == 0 ? 1.7e308 : -1.7e308;
    }
    struct private_vector vector = run(&f, 0);
    for (size_t k = 0; k < K; k++) {
        cr_assert(vector.value[k] >= 0 && vector.value[k] <= vector.high);
    }
    private_vector_free(&vector);
}
