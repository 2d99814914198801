/* Valid statistics, predict and Gaussian query stages, and the whole message for invalid ones. */

#include "job/round.h"
#include "learn/kernel_machine.h"
#include "task/predict/stage.h"
#include "task/query/stage.h"
#include "task/statistics/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const head = "hedgerow: 1\n"
                                "job: trial\n"
                                "data:\n"
                                "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                                "  features:\n"
                                "    - {column: age, centre: 74, half_width: 24}\n"
                                "    - {column: sex, categories: [F, M]}\n";
static const char *const foot = "cohort: {minimum: 3, records: 500, join_deadline_s: 60, "
                                "deadline_s: 30}\nstages:\n  - ";
static const char *const local =
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n";
static const char *const central = "privacy: {unit: record, neighbours: replace_one, trust: "
                                   "central, epsilon: 1, delta: 0.00001}\n";

static enum status parse(struct job *job, struct why *why, const char *privacy, const char *stage)
{
    char text[4096];
    (void)snprintf(text, sizeof text, "%s%s%s%s\n", head, privacy, foot, stage);
    return job_parse(job, (struct slice){text, strlen(text)}, "job.yml", why);
}

static void expect(const char *privacy, const char *stage, const char *message)
{
    struct job job;
    struct why why = {{0}};
    cr_expect_eq(parse(&job, &why, privacy, stage), STATUS_INVALID, "%s", stage);
    cr_expect_str_eq(why.text, message);
}

Test(job_answers, statistics_pays_once_for_every_lambda)
{
    struct job job;
    struct why why = {{0}};
    struct round_bounds bounds;
    cr_assert_eq(
        parse(&job, &why, local,
              "{task: statistics, lambdas: [0.1, 0.2, 0.3], batch: 500, share: 0.5, experts: "
              "{shifts: [0.5]}}"),
        STATUS_OK, "%s", why.text);
    cr_assert_eq(job.stage->rounds, 1);
    cr_assert_eq(job.stage->charge.epsilon_micro, 500000);
    cr_assert_eq(job_experts_of_stage(job.stage, 5), 6);
    cr_assert_eq(job_records_min(&job), 500);
    cr_assert_eq(job_loss(&job).kind, LOSS_SQUARED);
    cr_assert_eq(round_answer_count(&job, job.stage, 0, 0), 3 * 6 / 2);
    cr_assert_eq(round_bounds(&bounds, &job, job.stage, 0, 500, 0, NULL), STATUS_OK);
    cr_assert_eq(bounds.sensitivity, moments_sensitivity_l1(&statistics_stage(job.stage)->moments));
    job_free(&job);
}

Test(job_answers, gaussian_statistics_take_all_that_is_left_in_the_other_norm)
{
    struct job job;
    struct why why = {{0}};
    struct round_bounds bounds;
    cr_assert_eq(parse(&job, &why, central,
                       "{task: statistics, lambdas: [0.1], batch: 500, noise: gaussian}\n"
                       "  - {task: predict, loss: squared, lambdas: [1], share: 0.4, grid_bits: "
                       "16,\n     kernel: {kind: gaussian, gamma: 1}, points: [[70, F]]}"),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(job.stage->charge.mechanism, MECHANISM_DISCRETE_GAUSSIAN);
    cr_assert_gt(job.stage->charge.sigma_micro, 1000000);
    cr_assert_eq(round_bounds(&bounds, &job, job.stage, 0, 500, 0, NULL), STATUS_OK);
    cr_assert_eq(bounds.sensitivity, moments_sensitivity_l2(&statistics_stage(job.stage)->moments));
    struct cost cost = round_cost(&job, &job.filter, 2);
    cr_assert(filter_admits(&job.filter, &cost));
    job_free(&job);
}

/* A count and a cross table: the root of 1 + 2, in steps of 2^-10. */
Test(job_answers, gaussian_questions_take_all_that_is_left_in_the_other_norm)
{
    struct job job;
    struct why why = {{0}};
    struct round_bounds bounds;
    cr_assert_eq(parse(&job, &why, central,
                       "{task: query, batch: 500, noise: gaussian, grid_bits: 10,\n"
                       "     queries: [\"count: age > 70\", \"crosstab: sex x y\"]}\n"
                       "  - {task: query, batch: 500, share: 0.4, queries: [\"mean: age\"]}"),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(job.stage->charge.mechanism, MECHANISM_DISCRETE_GAUSSIAN);
    cr_assert_gt(job.stage->charge.sigma_micro, 1000000);
    cr_assert_eq(round_bounds(&bounds, &job, job.stage, 0, 500, 0, NULL), STATUS_OK);
    cr_assert_eq(bounds.sensitivity, (uint64_t)ceil(sqrt(3) * 1024));
    struct cost cost = round_cost(&job, &job.filter, 2);
    cr_assert(filter_admits(&job.filter, &cost));
    job_free(&job);
}

/* Rounds of a quantile are charges each. Their noise is what the job leaves for three of them. */
Test(job_answers, gaussian_quantiles_share_what_is_left_among_their_rounds)
{
    struct job job;
    struct why why = {{0}};
    uint64_t sigma[2] = {0, 0};
    static const char *const stage[] = {
        "{task: query, batch: 500, noise: gaussian, grid_bits: 10, queries: [\"count: age > 70\"]}",
        "{task: query, batch: 500, noise: gaussian, grid_bits: 10,\n"
        "     queries: [\"quantile: 0.5 of age in 3 rounds\"]}"};
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(parse(&job, &why, central, stage[i]), STATUS_OK, "%s", why.text);
        struct cost cost = round_cost(&job, &job.filter, job.stage->rounds);
        cr_assert(filter_admits(&job.filter, &cost));
        sigma[i] = job.stage->charge.sigma_micro;
        job_free(&job);
    }
    const double ratio = (double)sigma[1] / (double)sigma[0];
    cr_expect(fabs(ratio - sqrt(3)) < 1e-3, "%g", ratio);
}

/* The planner knows which noise there is: a number has more steps where there is less of it. */
Test(job_answers, gaussian_questions_are_planned_by_their_own_noise)
{
    static const char *const privacy[] = {
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n",
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0.01}\n"};
    static const char *const noise[] = {"share: 1", "noise: gaussian"};
    size_t steps[2] = {0, 0};
    uint32_t weight[2] = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        struct job job;
        struct why why = {{0}};
        char stage[512];
        (void)snprintf(stage, sizeof stage,
                       "{task: query, batch: 500, %s, grid_bits: 10,\n"
                       "     queries: [\"table1: [age, sex] by y\", \"crosstab: sex x y\",\n"
                       "     \"histogram: sex\", \"histogram: age by 4\", \"count: age > 70\"]}",
                       noise[i]);
        cr_assert_eq(parse(&job, &why, privacy[i], stage), STATUS_OK, "%s", why.text);
        const struct query *query = &query_stage(job.stage)->queries.query[0];
        steps[i] = query->variable[0].levels;
        weight[i] = query->variable[1].weight;
        job_free(&job);
    }
    cr_expect(steps[1] > steps[0], "%zu, %zu", steps[0], steps[1]);
    const double need[] = {sqrt((double)steps[0]) / 2, sqrt((double)steps[1]) / 2};
    cr_expect(weight[0] == lrint(65536 / sqrt(need[0])), "%u", weight[0]);
    cr_expect(weight[1] == lrint(65536 / cbrt(need[1])), "%u", weight[1]);
}

/* Draws under central trust are charged as a Gaussian, too: theirs stays what the draws are. */
Test(job_answers, the_charge_of_draws_is_not_taken_for_noise_to_be_found)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(parse(&job, &why, central,
                       "{task: statistics, lambdas: [0.1, 1], batch: 500, noise: gaussian}\n"
                       "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 5, batch: "
                       "100, share: 0.2}"),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(job.stage->charge.mechanism, MECHANISM_DISCRETE_GAUSSIAN);
    struct cost cost = round_cost(&job, &job.filter, 6);
    cr_assert(filter_admits(&job.filter, &cost));
    job_free(&job);
}

Test(job_answers, predict_pays_for_every_lambda_and_once_for_all_points)
{
    struct job job;
    struct why why = {{0}};
    struct round_bounds bounds;
    cr_assert_eq(parse(&job, &why, local,
                       "{task: predict, loss: hinge, lambdas: [0.1, 1], share: 1, grid_bits: 10,\n"
                       "     experts: {own: true, own_weight: 0.5, shifts: [0.25]},\n"
                       "     kernel: {kind: polynomial, degree: 2}, points: [[70, F], [50, M]]}"),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(job.stage->rounds, 2);
    cr_assert_eq(job.stage->charge.epsilon_micro, 500000);
    cr_assert_eq(job_experts_of_stage(job.stage, 5), 2 * (1 + 1 + 5));
    cr_assert_eq(predict_stage(job.stage)->kernel.degree, 2);
    cr_assert_eq(predict_stage(job.stage)->point_count, 2);
    cr_assert_str_eq(predict_stage(job.stage)->point_name[1], "50, M");
    cr_assert_eq(round_answer_count(&job, job.stage, 1, 0), 2);
    cr_assert_eq(round_bounds(&bounds, &job, job.stage, 0, 500, 0, &why), STATUS_OK);
    cr_assert(bounds.high == 1024 && bounds.low == -1024);
    const uint64_t near = bounds.sensitivity;
    cr_assert_eq(round_bounds(&bounds, &job, job.stage, 0, 5, 0, &why), STATUS_OK);
    cr_assert_gt(bounds.sensitivity, near);
    cr_assert_leq(bounds.sensitivity, 2 * 2048, "never more than the whole range");
    job_free(&job);
}

Test(job_answers, refusals_of_statistics_name_place_and_remedy)
{
    expect(local, "{task: statistics, lambdas: [0.1, 0.1], batch: 5, share: 1}",
           "job.yml:11:33: stages[0].lambdas: holds one lambda twice: remove one");
    expect(local, "{task: statistics, batch: 5, share: 1}",
           "job.yml:11:5: stages[0].lambdas: is missing: add it, for example `lambdas: [0.003]`");
    expect(local, "{task: statistics, lambdas: [1], share: 1}",
           "job.yml:11:5: stages[0].batch: is missing: add it, for example `batch: 100`");
    expect(local, "{task: statistics, lambdas: [1], batch: 5, share: 1, loss: squared}",
           "job.yml:11:64: stages[0].loss: is for tasks that learn or judge by one: remove it");
    expect(local, "{task: statistics, lambdas: [1], batch: 5, share: 1, tolerance: 0.1}",
           "job.yml:11:69: stages[0].tolerance: is for a fit or predict stage: remove it");
    expect(
        local, "{task: statistics, lambdas: [1], batch: 5, share: 1, experts: {own: true}}",
        "job.yml:11:73: stages[0].experts.own: is for a fit or predict stage, whose agents learn "
        "alone: remove it");
    expect(local, "{task: statistics, lambdas: [1], batch: 5, share: 1, experts: {shifts: [0]}}",
           "job.yml:11:76: stages[0].experts.shifts: holds 0, which is the average itself: remove "
           "it");
    expect(local, "{task: statistics, lambdas: [1], batch: 5, noise: gaussian}",
           "job.yml:11:55: stages[0].noise: gaussian needs a privacy.delta above 0: add one, or "
           "write laplace");
    expect(
        central, "{task: statistics, lambdas: [1], batch: 5, noise: gaussian, share: 1}",
        "job.yml:11:72: stages[0].share: is not read with gaussian noise, which gets the epsilon "
        "and delta that the other stages leave: remove it");
    expect(local, "{task: query, queries: [\"mean: age\"], batch: 5, noise: gaussian}",
           "job.yml:11:60: stages[0].noise: gaussian needs a privacy.delta above 0: add one, or "
           "write laplace");
    expect(
        central, "{task: query, queries: [\"mean: age\"], batch: 5, noise: gaussian, share: 1}",
        "job.yml:11:77: stages[0].share: is not read with gaussian noise, which gets the epsilon "
        "and delta that the other stages leave: remove it");
    expect(local, "{task: statistics, lambdas: [1], batch: 1000000000, share: 1, grid_bits: 40}",
           "job.yml:11:45: stages[0].batch: the sum over 1000000000 records may not fit into 64 "
           "bits: choose a coarser grid");
}

#define PREDICT "{task: predict, loss: squared, lambdas: [1], share: 1, "
#define KERNEL  "kernel: {kind: gaussian, gamma: 1}"

Test(job_answers, refusals_of_predict_name_place_and_remedy)
{
    expect(local, PREDICT "points: [[70, F]]}",
           "job.yml:11:5: stages[0].kernel: is missing: add it, for example `kernel: {kind: "
           "gaussian, gamma: 1}`");
    expect(local, PREDICT KERNEL "}",
           "job.yml:11:5: stages[0].points: is missing: add PUBLIC records, for example `points: "
           "[[70, F], [50, M]]`");
    expect(local, PREDICT "kernel: {kind: laplacian}, points: [[70, F]]}",
           "job.yml:11:68: stages[0].kernel.gamma: is missing: add it, for example `gamma: 1`");
    expect(local, PREDICT "kernel: {kind: polynomial, offset: 1}, points: [[70, F]]}",
           "job.yml:11:68: stages[0].kernel.degree: is missing: add it, for example `degree: 2`");
    expect(local, PREDICT "kernel: {gamma: 1, degree: 2}, points: [[70, F]]}",
           "job.yml:11:87: stages[0].kernel.degree: is not read by this kind of kernel: remove it");
    expect(local, PREDICT "kernel: {kind: linear, gamma: 1}, points: [[70, F]]}",
           "job.yml:11:75: stages[0].kernel.kind: \"linear\" is not a choice; known here: "
           "gaussian, laplacian, polynomial");
    expect(local, PREDICT KERNEL ", points: [[70, F], [70]]}",
           "job.yml:11:114: stages[0].points[1]: has 1 values: write 2, one per lag if there are "
           "any, then one per feature, in their order");
    expect(local, PREDICT KERNEL ", points: [[seventy, F]]}",
           "job.yml:11:106: stages[0].points[0][0]: is not a number, as this column's values are");
    expect(local, PREDICT KERNEL ", points: [[70, X]]}",
           "job.yml:11:110: stages[0].points[0][1]: is none of this column's categories");
    expect(local, PREDICT KERNEL ", points: [[70, F]], batch: 5}",
           "job.yml:11:122: stages[0].batch: is for tasks that read one batch a round: remove it");
    expect(central, PREDICT KERNEL ", points: [[70, F]], experts: {own: true}}",
           "job.yml:11:130: stages[0].experts.own: needs trust local: otherwise only the noisy "
           "average is released");
    expect(
        local,
        "{task: predict, loss: zero_one, lambdas: [1], share: 1, " KERNEL ", points: [[70, F]]}",
        "job.yml:11:27: stages[0].loss: judges experts, and none can be learned by it: write logistic or hinge");
}

/* A kernel machine's Gram matrix has a largest size. */
Test(job_answers, more_records_than_a_kernel_machine_takes_are_refused_before_anything_runs)
{
    struct job job;
    struct why why = {{0}};
    struct round_bounds bounds;
    cr_assert_eq(parse(&job, &why, local, PREDICT KERNEL ", points: [[70, F]]}"), STATUS_OK, "%s",
                 why.text);
    cr_assert_eq(round_bounds(&bounds, &job, job.stage, 0, KERNEL_RECORDS_MAX + 1, 0, &why),
                 STATUS_INVALID);
    job_free(&job);
}
