/* What an answer looks at, beside how far it moves: the rows that its charge names and no others, the
 * lambda of its own round, and the coins of the rate that is charged. Fixed seeds: no false alarms. */

#include "dp/encode.h"
#include "dp/sampling.h"
#include "experts/hedge.h"
#include "learn/erm.h"
#include "learn/kernel_machine.h"
#include "task/losses/stage.h"
#include "task/predict/stage.h"
#include "task/update/stage.h"
#include "tests/property/agent/world.h"

#include <math.h>

enum { TRIALS = 20 };

/* Which rounds' losses an answer holds: its own round's; all up to it; the last whole segment's;
 * both, first the second and then the first. */
enum looks { AT_ITS_OWN, AT_ALL_BEFORE, AT_THE_SEGMENT, AT_ALL_BEFORE_AND_ITS_OWN };

struct way {
    const char *name;
    const char *trust;
    const char *stages; /* the last one is tried */
    enum looks looks;
    bool restarts; /* all before: but for the segments before the play's */
};

static const struct way ways[] = {
    {"losses", "local",
     FIT "  - {task: losses, loss: logistic, rounds: 6, batch: 4, share: 0.5, grid_bits: 20}\n",
     AT_ITS_OWN},
    {"plays of the RWM", "central",
     FIT "  - {task: losses, strategy: rwm, loss: logistic, rounds: 6, batch: 4, share: 0.5}\n",
     AT_ALL_BEFORE},
    {"plays by epochs", "central",
     FIT "  - {task: losses, strategy: epochs, loss: logistic, rounds: 6, batch: 4, share: 0.5}\n",
     AT_THE_SEGMENT},
    {"plays of the dartboard", "central",
     FIT
     "  - {task: losses, strategy: dartboard, loss: logistic, rounds: 6, batch: 4, share: 0.5}\n",
     AT_ALL_BEFORE_AND_ITS_OWN},
    {"plays of the RWM, horizon unknown", "central",
     FIT
     "  - {task: losses, strategy: rwm, horizon: doubling, loss: logistic, rounds: 6, batch: 4,\n"
     "     share: 0.5}\n",
     AT_ALL_BEFORE, true},
    {"plays of the dartboard, horizon unknown", "central",
     FIT "  - {task: losses, strategy: dartboard, horizon: doubling, loss: logistic, rounds: 3,\n"
         "     batch: 8, share: 0.5}\n",
     AT_ALL_BEFORE_AND_ITS_OWN, true},
    {"update", "local",
     "  - {task: update, loss: logistic, rounds: 6, batch: 4, batches: 6, clip: 1, rate: 1,\n"
     "     share: 1, grid_bits: 20}\n",
     AT_ITS_OWN},
    {"query", "central",
     "  - {task: query, queries: [\"mean: a\", \"histogram: b by 0.5\"], batch: 5, share: 1,\n"
     "     grid_bits: 10}\n",
     AT_ITS_OWN},
    {"select", "central",
     "  - {task: select, candidates: {stumps: [a, b], thresholds: 5}, batch: 5, share: 1}\n",
     AT_ITS_OWN},
    {"select among experts", "central",
     FIT "  - {task: select, loss: logistic, batch: 5, share: 0.5, grid_bits: 20}\n", AT_ITS_OWN},
    {"statistics", "local",
     "  - {task: statistics, lambdas: [0.1], batch: 5, share: 1, grid_bits: 16}\n", AT_ITS_OWN},
};

static void begin(struct world *w, const char *trust, const char *stages,
                  struct seeded_random *seeded)
{
    const struct words words = {"record", trust, "0.00001", stages, false};
    world_init(w, &words, seeded);
}

static struct private_vector answer(struct world *w, uint32_t within)
{
    struct private_vector vector;
    struct why why = {{0}};
    w->input.within = within;
    seeded_random_init(&w->coins, 77);
    cr_assert_eq(task_run(&vector, &w->input, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(vector.count,
                 round_answer_count(&w->job, w->input.stage, within, w->input.expert_count),
                 "its length says nothing of the records");
    return vector;
}

static struct round_rows joined(struct round_rows first, struct round_rows last)
{
    return (struct round_rows){first.first, last.first + last.count - first.first};
}

/* The rows that the answer's first part (or its second) may look at: none, where the play after this
 * round begins anew. After the last round nothing does. */
static struct round_rows rows_of(const struct world *w, const struct way *way, bool second)
{
    const struct stage *stage = w->input.stage;
    const enum looks looks = way->looks;
    const uint32_t within = w->input.within;
    const struct round_rows own = round_rows(stage, within, M);
    if (way->restarts && within + 1 < stage->rounds && hedge_segment_begins(within + 1)) {
        return (struct round_rows){0};
    }
    if (looks == AT_ITS_OWN || second) {
        return own;
    }
    if (looks == AT_THE_SEGMENT) {
        const uint32_t first = (UINT32_C(1) << (hedge_segment((uint64_t)within + 1) - 1)) - 1;
        return joined(round_rows(stage, first, M), round_rows(stage, 2 * first, M));
    }
    const uint32_t first = way->restarts ? (UINT32_C(1) << hedge_segment(within)) - 1 : 0;
    return joined(round_rows(stage, first, M), own);
}

/* Draws all records anew, but for the rows at hand. */
static void replace_others(struct world *w, struct round_rows rows, struct seeded_random *seeded)
{
    for (uint64_t i = 0; i < M; i++) {
        if (i < rows.first || i >= rows.first + rows.count) {
            draw_record(w, seeded, w->order[i]);
        }
    }
}

static void expect_blind(struct world *w, const struct way *way, bool second,
                         struct seeded_random *seeded)
{
    const uint32_t within = w->input.within;
    const struct round_rows rows = rows_of(w, way, second);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct private_vector before = answer(w, within);
        replace_others(w, rows, seeded);
        struct private_vector after = answer(w, within);
        const size_t half = way->looks == AT_ALL_BEFORE_AND_ITS_OWN ? before.count / 2 : 0;
        const size_t begin = second ? half : 0;
        const size_t count = half > 0 ? half : before.count;
        cr_expect_arr_eq(before.value + begin, after.value + begin, count * sizeof *before.value,
                         "%s, round %u: rows are seen that it does not look at", way->name, within);
        private_vector_free(&before);
        private_vector_free(&after);
    }
    /* And it does look: each of its own rows, drawn anew, shows in some trial. */
    for (uint64_t i = rows.first; i < rows.first + rows.count; i++) {
        bool seen = false;
        for (int trial = 0; trial < TRIALS && !seen; trial++) {
            struct private_vector before = answer(w, within);
            draw_record(w, seeded, w->order[i]);
            struct private_vector after = answer(w, within);
            seen = memcmp(before.value, after.value, before.count * sizeof *before.value) != 0;
            private_vector_free(&before);
            private_vector_free(&after);
        }
        cr_expect(seen, "%s, round %u: row %u does not count", way->name, within, (unsigned)i);
    }
}

Test(task_rows, an_answer_looks_at_the_rows_that_it_is_charged_for_and_at_each_of_them)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct seeded_random seeded;
        struct world w;
        seeded_random_init(&seeded, 300 + i);
        begin(&w, ways[i].trust, ways[i].stages, &seeded);
        for (uint32_t within = 0; within < w.input.stage->rounds; within++) {
            w.input.within = within;
            expect_blind(&w, &ways[i], false, &seeded);
            if (ways[i].looks == AT_ALL_BEFORE_AND_ITS_OWN) {
                w.input.within = within;
                expect_blind(&w, &ways[i], true, &seeded);
            }
        }
        job_free(&w.job);
    }
}

/* Planted: sums that do not restart, as those of a known horizon do not, show a record in the plays of
 * two segments, and it would pay twice. */
Test(task_rows, sums_that_do_not_restart_are_caught)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct seeded_random seeded;
        struct world w;
        bool seen[2] = {false};
        seeded_random_init(&seeded, 400 + i);
        begin(&w, ways[i].trust, ways[i].stages, &seeded);
        for (int planted = 0; planted < 2 && ways[i].restarts; planted++) {
            struct stage *stage = &w.job.stage[w.job.stage_count - 1];
            losses_stage(stage)->plays.game_count =
                planted == 1 ? 1 : losses_stage(stage)->plays.game_count;
            const uint32_t last = stage->rounds - 1;
            struct private_vector before = answer(&w, last);
            draw_record(&w, &seeded, w.order[0]); /* of the first round, a segment by itself */
            struct private_vector after = answer(&w, last);
            seen[planted] =
                memcmp(before.value, after.value, before.count * sizeof *before.value) != 0;
            private_vector_free(&before);
            private_vector_free(&after);
        }
        cr_expect(!seen[0] && seen[1] == ways[i].restarts, "%s", ways[i].name);
        job_free(&w.job);
    }
}

/* Noise under central trust is for a number of records. A site with fewer takes no part, whatever its
 * stages need. */
Test(task_rows, a_site_has_as_many_records_as_the_job_says)
{
    struct seeded_random seeded;
    struct world w;
    seeded_random_init(&seeded, 8);
    begin(&w, "central", "  - {task: fit, loss: logistic, lambdas: [0.5], share: 1}\n", &seeded);
    cr_expect_eq(task_check(&w.job, w.input.stage, M, NULL), STATUS_OK);
    cr_expect_eq(task_check(&w.job, w.input.stage, M - 1, NULL), STATUS_INVALID);
    job_free(&w.job);
}

/* A rate that is charged and not kept, or coins that are tossed and not looked at, give another sum. */
Test(task_rows, sampled_records_are_those_of_coins_at_the_charged_rate)
{
    struct seeded_random seeded;
    struct seeded_random stream;
    struct world w;
    const size_t half = M / 2;
    size_t taken = 0;
    seeded_random_init(&seeded, 5);
    begin(&w, "local",
          "  - {task: update, loss: logistic, rounds: 3, batch: 24, sampling: 0.25, clip: 1,\n"
          "     rate: 1, noise: gaussian, grid_bits: 20}\n",
          &seeded);
    cr_assert_eq(w.input.stage->charge.sampling_nano, 250000000);
    for (int trial = 0; trial < TRIALS; trial++) {
        uint8_t coin[M];
        int64_t sum[D];
        draw_record(&w, &seeded, 0);
        struct private_vector vector = answer(&w, 1);
        seeded_random_init(&stream, 77);
        struct random random = seeded_random_interface(&stream);
        cr_assert_eq(sampling_draw(&random, coin, M, w.input.stage->charge.sampling_nano),
                     STATUS_OK);
        const struct gradient_rows rows = {
            .x = w.x, .y = w.y, .row = w.order, .row_count = M, .taking = coin};
        cr_assert_eq(gradient_sum(sum, &update_stage(w.input.stage)->gradient, w.experts, &rows),
                     STATUS_OK);
        cr_assert_arr_eq(vector.value, sum, sizeof sum);
        taken = 0;
        for (size_t i = 0; i < M; i++) {
            taken += coin[i];
        }
        private_vector_free(&vector);
    }
    cr_assert(taken > 0 && taken < half, "%zu: the stream shows a sample, not all", taken);
    job_free(&w.job);
}

/* The bound is that of the round's lambda, and of the tolerance that the job says. */
Test(task_rows, a_fit_has_the_lambda_of_its_round_and_the_tolerance_of_its_job)
{
    struct seeded_random seeded;
    struct world w;
    seeded_random_init(&seeded, 6);
    begin(&w, "local",
          "  - {task: fit, loss: hinge, lambdas: [0.5, 0.05], tolerance: 0.001, share: 1,\n"
          "     grid_bits: 24}\n",
          &seeded);
    for (uint32_t within = 0; within < 2; within++) {
        const struct stage *stage = w.input.stage;
        const struct erm_problem problem = {.loss = stage->loss,
                                            .lambda = stage->lambda[within],
                                            .tolerance = stage->tolerance,
                                            .record_count = M,
                                            .feature_count = D};
        double weights[D];
        int64_t steps[D];
        struct private_vector vector = answer(&w, within);
        cr_assert_eq(erm_solve(weights, &problem, &w.data, NULL), STATUS_OK);
        encode_vector(steps, weights, D, stage->grid_bits);
        cr_expect_arr_eq(vector.value, steps, sizeof steps, "round %u", within);
        private_vector_free(&vector);
    }
    job_free(&w.job);
}

Test(task_rows, a_kernel_model_has_the_lambda_of_its_round_and_the_tolerance_of_its_job)
{
    struct seeded_random seeded;
    struct world w;
    seeded_random_init(&seeded, 7);
    begin(&w, "local",
          "  - {task: predict, loss: hinge, lambdas: [0.5, 0.05], tolerance: 0.0001, share: 1,\n"
          "     points: [[1, 1], [0.1, -0.3]], kernel: {kind: gaussian, gamma: 2},\n"
          "     grid_bits: 24}\n",
          &seeded);
    for (uint32_t within = 0; within < 2; within++) {
        const struct stage *stage = w.input.stage;
        const struct kernel_problem problem = {.loss = stage->loss,
                                               .kernel = predict_stage(stage)->kernel,
                                               .lambda = stage->lambda[within],
                                               .tolerance = stage->tolerance,
                                               .record_count = M,
                                               .feature_count = D};
        double f[2];
        struct kernel_model model;
        struct private_vector vector = answer(&w, within);
        cr_assert_eq(kernel_fit(&model, &problem, &w.data, NULL), STATUS_OK);
        kernel_predict(f, &model, predict_stage(stage)->point, 2);
        for (size_t i = 0; i < 2; i++) {
            f[i] = fmin(fmax(f[i], -1), 1);
            cr_expect_eq(vector.value[i], encode_value(f[i], stage->grid_bits), "round %u", within);
        }
        kernel_model_free(&model);
        private_vector_free(&vector);
    }
    job_free(&w.job);
}
