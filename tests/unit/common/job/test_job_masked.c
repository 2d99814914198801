/* A job of masked sums: how many sites it counts on, and its refusals with their remedies. */

#include "dp/mechanism.h"
#include "job/job.h"
#include "job/round.h"
#include "job/trust.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    "hedgerow: 1\n"
    "job: masked\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: 1, %s}\n"
    "cohort: {%s, deadline_s: 10}\n"
    "stages:\n"
    "  - {%s}\n";

#define QUERY "task: query, queries: [\"count: a >= 0.5\"], batch: 4, share: 1, grid_bits: 10"
static struct job job;
static struct why why;

static enum status parse(const char *trust, const char *delta, const char *cohort,
                         const char *stage)
{
    char whole[1024];
    const int size = snprintf(whole, sizeof whole, text, trust, delta, cohort, stage);
    cr_assert(size > 0 && size < (int)sizeof whole);
    why.text[0] = '\0';
    job_free(&job);
    return job_parse(&job, (struct slice){whole, (size_t)size}, "job.yml", &why);
}

Test(job_masked, counts_on_as_many_honest_sites_as_its_text_says)
{
    cr_assert_eq(parse("distributed", "delta: 0", "minimum: 21, dishonest: 8, honest: 13", QUERY),
                 STATUS_OK, "%s", why.text);
    cr_expect(trust_of(&job)->masked);
    cr_expect_eq(job.dishonest, 8);
    cr_expect_eq(job.honest, 13);
    cr_assert_eq(parse("distributed", "delta: 0", "minimum: 21, dishonest: 8", QUERY), STATUS_OK,
                 "%s", why.text);
    cr_expect_eq(job.honest, 13, "as many as the smallest cohort has");
    cr_assert_eq(parse("local", "delta: 0", "minimum: 21", QUERY), STATUS_OK, "%s", why.text);
    cr_expect_eq(job.honest, 0);
    job_free(&job);
}

Test(job_masked, what_cannot_work_is_refused_with_what_to_change)
{
    static const struct {
        const char *trust;
        const char *delta;
        const char *cohort;
        const char *stage;
        const char *says;
    } row[] = {
        {"distributed", "delta: 0", "minimum: 5", QUERY,
         "cohort.dishonest: is missing: say how many sites may help the coordinator"},
        {"distributed", "delta: 0", "minimum: 5, dishonest: 0", QUERY,
         "cohort.dishonest: is missing: say how many sites may help the coordinator"},
        {"distributed", "delta: 0", "minimum: 5, dishonest: 5", QUERY,
         "cohort.dishonest: leaves no honest site of the smallest cohort"},
        {"distributed", "delta: 0", "minimum: 5, dishonest: 2, honest: 4", QUERY,
         "cohort.honest: 4 honest survivors and 2 that may be dishonest are more than 5 sites"},
        {"distributed", "delta: 0", "minimum: 256, dishonest: 2", QUERY, "at most 255 sites"},
        {"local", "delta: 0", "minimum: 5, dishonest: 1", QUERY,
         "cohort.dishonest: is for trust distributed alone: remove it"},
        {"central", "delta: 0", "minimum: 5, honest: 1", QUERY,
         "cohort.honest: is for trust distributed alone: remove it"},
        {"distributed", "delta: 0", "minimum: 5, dishonest: 1, records: 10",
         "task: fit, loss: logistic, lambdas: [0.5], share: 1, tolerance: 0.01, grid_bits: 10, "
         "experts: {own: true}",
         "needs trust local: otherwise only the noisy average is released"},
        {"distributed", "delta: 0", "minimum: 5, dishonest: 1",
         "task: fit, loss: logistic, lambdas: [0.5], share: 1, tolerance: 0.01, grid_bits: 10",
         "cohort.records: is missing: under this trust"},
        {"distributed", "delta: 0.000001", "minimum: 50, dishonest: 1",
         "task: query, queries: [\"count: a >= 0.5\"], batch: 4, noise: gaussian, grid_bits: 1",
         "is too little for 49 sites to share out, each needs a sigma of 2: choose a finer grid"},
        {"distributed", "delta: 0", "minimum: 5, dishonest: 1",
         "task: select, candidates: {stumps: [a], thresholds: 4}, batch: 4, share: 1, strategy: "
         "permute_and_flip",
         "draws from exact scores, which needs trust central: write noisy_min"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_expect_eq(parse(row[i].trust, row[i].delta, row[i].cohort, row[i].stage), STATUS_INVALID,
                     "row %zu", i);
        cr_expect_not_null(strstr(why.text, row[i].says), "row %zu: %s", i, why.text);
    }
}

/* The sum of h sites has one noise; of more, as much more: rounded up for bars, as it is for deviations. And each site's sensitivity is that of the
 * fewest records that the job allows, as one noise is for all. */
Test(job_masked, the_noise_of_a_sum_is_one_for_every_h_sites)
{
    struct round_bounds bounds;
    struct round_bounds many;
    cr_assert_eq(parse("distributed", "delta: 0",
                       "minimum: 4, dishonest: 1, honest: 3, records: 10",
                       "task: fit, loss: logistic, lambdas: [0.5], share: 1, tolerance: 0.01, "
                       "grid_bits: 10"),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(round_bounds(&bounds, &job, &job.stage[0], 0, 10, 0, &why), STATUS_OK);
    cr_assert_eq(round_bounds(&many, &job, &job.stage[0], 0, 10000, 0, &why), STATUS_OK);
    cr_expect_eq(bounds.sensitivity, many.sensitivity);
    static const uint32_t noises[] = {1, 1, 1, 1, 2, 2, 2, 3};
    for (size_t agents = 1; agents < sizeof noises / sizeof noises[0] + 0; agents++) {
        const struct query_noise noise = round_noise(&job, &job.stage[0], &bounds, agents);
        const double whole = agents < 3 ? 1 : (double)agents / 3;
        cr_expect_eq(noise.draws, noises[agents], "%zu agents", agents);
        cr_expect_float_eq(query_noise_deviation(&noise), noise.scale * sqrt(2 * whole),
                           1e-9 * noise.scale, "%zu agents", agents);
    }
    job_free(&job);
}

/* Each charge has a delta of its own: what the sum of h shares lacks of a Gaussian, over an answer's numbers, or over
 * all that a unit moves in a pass. */
Test(job_masked, gaussian_noise_is_shared_out_at_the_price_of_the_sums_delta)
{
    static const struct {
        const char *stage;
        size_t numbers; /* that a unit moves, of one pass */
    } row[] = {
        {"task: update, loss: logistic, rounds: 4, batch: 3, clip: 1, rate: 1, noise: gaussian", 2},
        {"task: update, loss: logistic, rounds: 4, batch: 3, batches: 2, clip: 1, rate: 1, "
         "noise: gaussian",
         2},
        {"task: statistics, lambdas: [0.1], batch: 12, noise: gaussian", 5},
        {"task: query, queries: [\"count: a >= 0.5\", \"mean: a\"], batch: 4, noise: gaussian, "
         "grid_bits: 10",
         2},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_assert_eq(
            parse("distributed", "delta: 0.000001", "minimum: 5, dishonest: 1", row[i].stage),
            STATUS_OK, "row %zu: %s", i, why.text);
        const struct charge charge = job.stage[0].charge;
        const uint64_t sigma_micro = charge.sigma_micro;
        cr_expect_eq(charge.mechanism, MECHANISM_DISCRETE_GAUSSIAN, "row %zu", i);
        cr_expect_eq(charge.delta_atto, mechanism_sigma_delta(4, row[i].numbers), "row %zu: %lu", i,
                     (unsigned long)charge.delta_atto);
        cr_expect(charge.delta_atto > 0);
        cr_assert_eq(parse("local", "delta: 0.000001", "minimum: 5", row[i].stage), STATUS_OK);
        cr_expect_eq(job.stage[0].charge.delta_atto, 0, "row %zu: no sum, no delta", i);
        cr_expect_eq(job.stage[0].charge.sigma_micro, sigma_micro, "row %zu", i);
    }
    job_free(&job);
}

/* How many numbers a planned question has depends on sigma. The delta is that of the answer as it was planned: an agent sends
 * none that it does not pay for. */
Test(job_masked, a_planned_answer_is_paid_for_whole)
{
    static const char *const question[] = {"table1: [a]", "survival: time a event y, to 1",
                                           "evaluate: a for y, cut at 0.5", "count: a >= 0"};
    size_t longer = 0;
    for (size_t i = 0; i < sizeof question / sizeof question[0]; i++) {
        char stage[160];
        (void)snprintf(
            stage, sizeof stage,
            "task: query, queries: [\"%s\"], batch: 5000, noise: gaussian, grid_bits: 10",
            question[i]);
        cr_assert_eq(parse("distributed", "delta: 0.00001", "minimum: 5, dishonest: 2", stage),
                     STATUS_OK, "%s: %s", question[i], why.text);
        const size_t count = round_answer_count(&job, &job.stage[0], 0, 0);
        cr_expect_geq(job.stage[0].charge.delta_atto, mechanism_sigma_delta(3, count), "%s: %zu",
                      question[i], count);
        longer += count > 20;
    }
    cr_expect_geq(longer, 2);
    job_free(&job);
}
