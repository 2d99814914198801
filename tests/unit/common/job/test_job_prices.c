/* The prices and bounds of a job's stages, against computations of the test's own. Every pass is charged,
 * with every record of a unit, every record that a day is in, and every class. The noise under central
 * trust is for the agent with the fewest records. */

#include "job/reach.h"
#include "job/round.h"
#include "learn/sensitivity.h"
#include "task/losses/stage.h"
#include "task/predict/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 4096 };

#define SIGNS    "{column: y, positive: \"1\", negative: \"0\"}"
#define CLASSES  "{column: y, classes: [a, b, c]}"
#define SERIES   "{column: y, centre: 0, half_width: 1}\n  series: {column: y, lags: [1, 2, 7]}"
#define FEATURES "\n  features:\n    - {column: a, centre: 0, half_width: 1}\n"
#define FORECAST                                                                                   \
    ", forecasters: [{name: one, features: [a], weights: [1]},"                                    \
    " {name: two, features: [a], weights: [-1]}]"

struct trial {
    const char *data; /* label and features */
    const char *unit;
    const char *trust;
    const char *delta;
    const char *cohort; /* after the minimum */
    const char *stages;
};

static enum status parse(struct job *job, const struct trial *trial, struct why *why)
{
    char text[TEXT_BYTES];
    const int size = snprintf(text, sizeof text,
                              "hedgerow: 1\njob: priced\ndata:\n  label: %s"
                              "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 1, "
                              "delta: %s}\ncohort: {minimum: 3, deadline_s: 30%s}\nstages:\n%s",
                              trial->data, trial->unit, trial->trust, trial->delta, trial->cohort,
                              trial->stages);
    cr_assert_lt(size, TEXT_BYTES);
    *why = (struct why){{0}};
    return job_parse(job, (struct slice){text, (size_t)size}, "job", why);
}

static void must_parse(struct job *job, const struct trial *trial)
{
    struct why why;
    cr_assert_eq(parse(job, trial, &why), STATUS_OK, "%s", why.text);
}

static uint64_t sensitivity(const struct job *job, uint64_t record_count, size_t experts)
{
    struct round_bounds bounds;
    struct why why = {{0}};
    const struct stage *stage = &job->stage[job->stage_count - 1];
    cr_assert_eq(round_bounds(&bounds, job, stage, 0, record_count, experts, &why), STATUS_OK, "%s",
                 why.text);
    return bounds.sensitivity;
}

#define ROUNDS                                                                                     \
    "  - {task: update, loss: hinge, rounds: 5, batch: 4, batches: 2, clip: 1, rate: 1,\n"         \
    "     share: 0.9, grid_bits: 10}\n"

/* Five rounds in passes of two begin three; of unit agent each is one. */
Test(job_prices, every_pass_that_is_begun_is_paid_for)
{
    static const struct {
        const char *unit;
        uint32_t passes;
        uint32_t begins[5];
    } row[] = {{"record", 3, {0, 0, 2, 2, 4}},
               {"round", 3, {0, 0, 2, 2, 4}},
               {"agent", 5, {0, 1, 2, 3, 4}}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct trial trial = {SIGNS FEATURES, row[i].unit, "local", "0", "", ROUNDS};
        struct job job;
        must_parse(&job, &trial);
        const struct stage *stage = &job.stage[0];
        const uint64_t each = 900000 / row[i].passes;
        cr_expect_eq(reach_passes(&job, stage, 5), row[i].passes, "%s", row[i].unit);
        cr_expect_eq(stage->charge.epsilon_micro, each, "%s", row[i].unit);
        cr_expect_eq(round_cost(&job, &job.filter, 5).epsilon_micro, row[i].passes * each);
        for (uint32_t within = 0; within < 5; within++) {
            const struct round_rows rows = round_rows(stage, within, 100);
            cr_expect_eq(reach_pass(&job, stage, within), row[i].begins[within], "%s", row[i].unit);
            cr_expect(rows.first == 4 * (within % 2) && rows.count == 4);
        }
        job_free(&job);
    }
}

/* Four rounds of a quarter of the records: amplified, each is paid for, and nearly all is used. */
Test(job_prices, sampled_rounds_are_all_paid_for)
{
    static const struct trial trial = {SIGNS FEATURES,
                                       "record",
                                       "local",
                                       "0",
                                       "",
                                       "  - {task: update, loss: hinge, rounds: 4, batch: 4,"
                                       " sampling: 0.25, clip: 1, rate: 1, share: 0.9,"
                                       " grid_bits: 10}\n"};
    struct job job;
    must_parse(&job, &trial);
    const struct cost whole = round_cost(&job, &job.filter, 4);
    cr_expect(whole.epsilon_micro <= 900000 && whole.epsilon_micro > 899900, "%u",
              (unsigned)whole.epsilon_micro);
    cr_expect_gt(job.stage[0].charge.epsilon_micro, 225000, "before sampling, each is more");
    job_free(&job);
}

/* The sigma that stands beside another stage is less than the one that stands alone for as many rounds,
 * and the whole is what a fresh ledger admits. */
Test(job_prices, gaussian_rounds_are_paid_for_beside_the_others_passes)
{
    static const struct trial alone = {
        SIGNS FEATURES,
        "record",
        "central",
        "0.00001",
        "",
        "  - {task: update, loss: hinge, rounds: 6, batch: 4, clip: 1,"
        " rate: 1, noise: gaussian, grid_bits: 10}\n"};
    static const struct trial beside = {
        SIGNS FEATURES,
        "record",
        "central",
        "0.00001",
        "",
        "  - {task: update, loss: hinge, rounds: 4, batch: 4,"
        " clip: 1, rate: 1, share: 0.5, grid_bits: 10}\n"
        "  - {task: update, loss: hinge, rounds: 6, batch: 4, clip: 1,"
        " rate: 1, noise: gaussian, grid_bits: 10}\n"};
    const struct trial *const trials[] = {&alone, &beside};
    uint64_t sigma[2];
    for (size_t i = 0; i < 2; i++) {
        struct job job;
        must_parse(&job, trials[i]);
        struct charge *charge = &job.stage[i].charge;
        struct cost whole = round_cost(&job, &job.filter, job_round_count(&job));
        sigma[i] = charge->sigma_micro;
        cr_expect(filter_admits(&job.filter, &whole), "%zu", i);
        charge->sigma_micro -= 1 + charge->sigma_micro / 1000; /* planted: a thousandth less */
        whole = round_cost(&job, &job.filter, job_round_count(&job));
        cr_expect_not(filter_admits(&job.filter, &whole), "%zu: no more than is needed", i);
        job_free(&job);
    }
    cr_expect_gt(sigma[1], sigma[0]);
}

/* A day with three lags is a part of four records. */
Test(job_prices, a_day_pays_for_all_records_that_it_is_in)
{
    static const struct trial trial = {SERIES FEATURES,
                                       "record",
                                       "local",
                                       "0",
                                       "",
                                       "  - {task: losses, loss: absolute, rounds: 3, batch: 4,"
                                       " share: 1, grid_bits: 10" FORECAST "}\n"};
    struct job job;
    must_parse(&job, &trial);
    cr_expect_eq(sensitivity(&job, 100, 2), 4 * 2 * 1024);
    job_free(&job);
}

Test(job_prices, each_class_is_a_fit_and_a_fit_looks_at_all_rows)
{
    static const struct trial trial = {
        CLASSES FEATURES,
        "record",
        "local",
        "0",
        "",
        "  - {task: fit, loss: logistic, lambdas: [0.5, 0.05], share: 1, grid_bits: 20}\n"};
    struct job job;
    must_parse(&job, &trial);
    const struct stage *stage = &job.stage[0];
    const struct erm_problem problem = {.loss = stage->loss,
                                        .lambda = 0.5,
                                        .tolerance = stage->tolerance,
                                        .record_count = 100,
                                        .feature_count = 2};
    uint64_t one = 0;
    cr_assert_eq(sensitivity_fit_l1(&one, &problem, 20, NULL), STATUS_OK);
    cr_expect_eq(sensitivity(&job, 100, 0), 3 * one);
    cr_expect_eq(stage->charge.epsilon_micro, 500000, "each lambda is a release");
    const struct round_rows rows = round_rows(stage, 1, 100);
    cr_expect(rows.first == 0 && rows.count == 100);
    job_free(&job);
}

/* With an offset a polynomial's kappa is not 1. */
Test(job_prices, each_class_and_each_point_is_answered_by_the_kernel_of_the_job)
{
    static const struct trial trial = {
        CLASSES FEATURES,
        "record",
        "local",
        "0",
        "",
        "  - {task: predict, loss: hinge, lambdas: [2], share: 1, points: [[0.5], [1]],"
        " kernel: {kind: polynomial, degree: 2, offset: 1}, grid_bits: 20}\n"};
    struct job job;
    must_parse(&job, &trial);
    const struct stage *stage = &job.stage[0];
    const struct kernel_problem problem = {.loss = stage->loss,
                                           .kernel = {.kind = KERNEL_POLYNOMIAL,
                                                      .degree = 2,
                                                      .offset = 1,
                                                      .rate = predict_stage(stage)->kernel.rate},
                                           .lambda = 2,
                                           .tolerance = stage->tolerance,
                                           .record_count = 1000,
                                           .feature_count = 2};
    uint64_t all = 0;
    cr_assert_eq(sensitivity_predict_l1(&all, &problem, 3 * 2, 20, NULL), STATUS_OK);
    cr_expect_eq(sensitivity(&job, 1000, 0), all);
    job_free(&job);
}

/* As statistics/bounds.c proves it: two blocks differ, and each of d (d + 3)/2 numbers by a step. */
Test(job_prices, moments_of_classes_differ_in_two_blocks)
{
    static const struct trial trial = {CLASSES FEATURES,
                                       "record",
                                       "local",
                                       "0",
                                       "",
                                       "  - {task: statistics, lambdas: [0.1], batch: 4, share: 1,"
                                       " grid_bits: 30}\n"};
    struct job job;
    must_parse(&job, &trial);
    const double exact = ldexp(1 + 2 / sqrt(2) + 2 * sqrt(2), 30);
    const double found = (double)sensitivity(&job, 100, 0);
    cr_expect(found >= exact + 5 && found <= exact * (1 + 1e-9) + 6, "%.17g", found - exact);
    job_free(&job);
}

Test(job_prices, a_selection_among_experts_is_paid_for_as_what_it_is)
{
    static const char *const strategy[] = {"noisy_min", "permute_and_flip", "exponential"};
    for (size_t i = 0; i < 3; i++) {
        char stages[1024];
        const struct trial trial = {SIGNS FEATURES,  "record", i == 0 ? "local" : "central", "0",
                                    ", records: 50", stages};
        struct job job;
        (void)snprintf(stages, sizeof stages,
                       "  - {task: fit, loss: logistic, lambdas: [0.5, 0.6], share: 0.5}\n"
                       "  - {task: select, strategy: %s, loss: zero_one, batch: 4, share: 0.5,"
                       " grid_bits: 10}\n",
                       strategy[i]);
        must_parse(&job, &trial);
        cr_expect_eq(sensitivity(&job, 100, 5), i == 0 ? 5 * 1024 : 1024, "%s", strategy[i]);
        cr_expect_eq(job.stage[1].charge.mechanism, i == 2 ? MECHANISM_EXPONENTIAL : MECHANISM_PURE,
                     "%s", strategy[i]);
        job_free(&job);
    }
}

Test(job_prices, central_noise_covers_the_agent_with_the_fewest_records)
{
    struct trial trial = {
        SIGNS FEATURES,  "record",
        "central",       "0",
        ", records: 50", "  - {task: fit, loss: logistic, lambdas: [0.5], share: 1}\n"};
    struct job job;
    struct why why;
    must_parse(&job, &trial);
    cr_expect_eq(sensitivity(&job, 50, 0), sensitivity(&job, 1000000, 0));
    job_free(&job);
    trial.cohort = "";
    cr_expect_eq(parse(&job, &trial, &why), STATUS_INVALID);
    cr_expect(strstr(why.text, "cohort.records") != NULL, "%s", why.text);
    job_free(&job);
    trial.trust = "local";
    must_parse(&job, &trial);
    cr_expect_gt(sensitivity(&job, 50, 0), sensitivity(&job, 1000000, 0));
    job_free(&job);
}

/* A ledger with a low order has the stage's one charge cost what its events do, but for each event's
 * rounding to a billionth. */
static void check_order(const struct charge *charge, const struct charge *event, size_t count)
{
    const struct filter filter = filter_new((struct price){30000000, DELTA_ATTO_ONE / 20});
    struct charge one = *charge;
    uint64_t parts = 0;
    uint64_t roundings = 0;
    one.pass.byte[0] = 1;
    one.row_count = 1;
    const uint64_t whole = filter_cost(&filter, &one).renyi_nano;
    for (size_t i = 0; i < count; i++) {
        one = event[i];
        one.pass.byte[0] = 1;
        one.row_count = 1;
        parts += filter_cost(&filter, &one).renyi_nano;
        roundings += charge_count(&one);
    }
    cr_expect_leq(parts, whole + roundings);
}

/* Twelve rounds of four records, at least three agents: of unit record one of twelve, once; of unit
 * round one of three, once; of unit agent one of three, in every round. */
Test(job_prices, a_play_is_planned_for_the_unit)
{
    static const struct {
        const char *unit;
        uint64_t records;
        uint32_t participations;
    } row[] = {{"record", 12, 1}, {"round", 3, 1}, {"agent", 3, 12}};
    static const char *const strategy[] = {
        [HEDGE_THEOREM] = "theorem", [HEDGE_RWM] = "rwm", [HEDGE_DARTBOARD] = "dartboard"};
    static const enum hedge_strategy kinds[] = {HEDGE_THEOREM, HEDGE_RWM, HEDGE_DARTBOARD};
    for (size_t i = 0; i < 9; i++) {
        char stages[1024];
        const enum hedge_strategy kind = kinds[i / 3];
        const struct trial trial = {SIGNS FEATURES, row[i % 3].unit, "central", "0.00001", "",
                                    stages};
        const struct hedge_problem problem = {.experts = 2,
                                              .rounds = 13, /* one more to choose what is left */
                                              .epsilon = 0.5,
                                              .delta = 1e-5,
                                              .records = (double)row[i % 3].records,
                                              .participations = row[i % 3].participations};
        struct hedge_plan plan;
        struct hedge_run game;
        struct charge expected[HEDGE_CHARGES_MAX];
        struct charge found[HEDGE_CHARGES_MAX];
        struct job job;
        (void)snprintf(stages, sizeof stages,
                       "  - {task: losses, strategy: %s, loss: zero_one, rounds: 12, batch: 4,"
                       " share: 0.5, grid_bits: 10" FORECAST "}\n",
                       strategy[kind]);
        must_parse(&job, &trial);
        cr_assert_eq(hedge_plan(&plan, kind, &problem, NULL), STATUS_OK);
        cr_assert_eq(hedge_run_init(&game, &plan, kind, &problem,
                                    (struct hedge_grid){row[i % 3].records, 10}, NULL),
                     STATUS_OK);
        const struct hedge_run *made = losses_stage(&job.stage[0])->plays.game;
        if (made->last_micro > 0) { /* how much that is: test_job_last */
            hedge_run_set_last(&game, made->last_mechanism, made->last_micro);
        }
        const size_t count = hedge_charges(expected, &game);
        cr_assert_eq(hedge_charges(found, losses_stage(&job.stage[0])->plays.game), count);
        cr_expect_eq(losses_stage(&job.stage[0])->plays.plan.eta, plan.eta, "%s, unit %s",
                     strategy[kind], row[i % 3].unit);
        for (size_t j = 0; j < count; j++) {
            cr_expect(charge_same_event(&expected[j], &found[j]), "%s, unit %s, event %zu",
                      strategy[kind], row[i % 3].unit, j);
        }
        check_order(&job.stage[0].charge, expected, count);
        const struct cost whole = round_cost(&job, &job.filter, 12);
        cr_expect(filter_admits(&job.filter, &whole), "%s, unit %s", strategy[kind],
                  row[i % 3].unit);
        job_free(&job);
    }
}

/* A stage that would be charged less than it reveals is refused. */
Test(job_prices, what_has_no_price_is_refused)
{
    static const struct {
        struct trial trial;
        const char *said;
    } row[] = {
        {{SERIES FEATURES, "record", "central", "0.00001", "",
          "  - {task: losses, loss: absolute, rounds: 3, batch: 4, share: 1" FORECAST "}\n"},
         "one day is in several records"},
        {{SIGNS FEATURES, "record", "local", "0.00001", "",
          "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 3, batch: 4,"
          " share: 1" FORECAST "}\n"},
         "draws from exact losses"},
        {{SIGNS FEATURES, "record", "local", "0", "",
          "  - {task: select, strategy: exponential, candidates: {stumps: [a], thresholds: 3},"
          " batch: 4, share: 1}\n"},
         "draws from exact scores"},
        {{SIGNS FEATURES, "record", "local", "0.00001", "",
          "  - {task: update, loss: hinge, rounds: 2, batch: 4, clip: 1, rate: 1,"
          " noise: gaussian}\n"
          "  - {task: update, loss: hinge, rounds: 2, batch: 4, clip: 1, rate: 2,"
          " noise: gaussian}\n"},
         "gaussian in two stages"},
        {{SIGNS FEATURES, "record", "local", "0.00001", "",
          "  - {task: update, loss: hinge, rounds: 2, batch: 4, batches: 2, sampling: 0.5, clip: 1,"
          " rate: 1, noise: gaussian}\n"},
         "draws each round's records from all"},
        {{SIGNS FEATURES, "record", "local", "0", "",
          "  - {task: update, loss: hinge, rounds: 2, batch: 4, clip: 1, clip_all: 0.5, rate: 1,"
          " share: 1}\n"},
         "clips an agent's whole vector"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct job job;
        struct why why;
        cr_expect_eq(parse(&job, &row[i].trial, &why), STATUS_INVALID, "%zu", i);
        cr_expect(strstr(why.text, row[i].said) != NULL, "%zu: %s", i, why.text);
        job_free(&job);
    }
}
