/* Streams in a job: their price for one row, whatever day it is, never exceeds the charge, and would
 * with each factor of the noise forgotten; rows, records and refusals; experts written in a job. */

#include "job/reach.h"
#include "job/round.h"
#include "task/losses/stage.h"
#include "task/online/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RELEASES = 4, OVERLAP = 3, TEXT_BYTES = 4096 };

static const char head[] =
    "hedgerow: 1\n"
    "job: stream\n"
    "data:\n"
    "  label: {centre: 0.75, half_width: 0.75}\n"
    "  series: {column: entries, lags: [1, 7]}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 2, delta: 0}\n"
    "cohort: {minimum: 2, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n";

static const char online[] = "  - {task: online, rounds: 4, t0: 20, theta: 0.75, share: 0.5, "
                             "grid_bits: 32}\n";
static const char losses[] =
    "  - task: losses\n    loss: absolute\n    first: 101\n    rounds: 5\n    batch: 14\n"
    "    share: 0.5\n    grid_bits: 16\n    forecasters:\n"
    "      - {name: same as yesterday, features: [lag_1]}\n"
    "      - {name: mixture, features: [lag_1, lag_7], weights: [0.25, 0.5]}\n"
    "      - {name: their mean, features: [lag_1, lag_7]}\n";

static enum status parse(struct job *job, const char *first, const char *second, struct why *why)
{
    char text[TEXT_BYTES];
    int size = snprintf(text, sizeof text, "%s%s%s", head, first, second);
    return job_parse(job, (struct slice){text, (size_t)size}, "job.yml", why);
}

static void read_job(struct job *job)
{
    struct why why = {{0}};
    cr_assert_eq(parse(job, online, losses, &why), STATUS_OK, "%s", why.text);
}

/* What one row at stream position s pays, in epsilons: every release is Laplace of scale
 * sensitivity/epsilon, and moves by the bound of learn/online.h for each record the row is in. */
static double price_of(const struct stage *stage, uint64_t s, const uint64_t *sensitivity,
                       const uint64_t *times)
{
    const double d = (double)online_stage(stage)->stream.feature_count;
    double price = 0;
    for (size_t j = 0; j < RELEASES; j++) {
        if (times[j] > s) {
            double real = sqrt(d) * online_influence_l2(&online_stage(stage)->stream, s, times[j]);
            price += OVERLAP * (ldexp(real, (int)stage->grid_bits) + d) / (double)sensitivity[j];
        }
    }
    return price;
}

enum fault { NO_FAULT, FACTOR_FORGOTTEN, OVERLAP_FORGOTTEN, FIRST_SCALE_FOR_ALL, FAULTS };

Test(job_online, no_row_pays_more_than_the_charge_and_every_fault_shows)
{
    struct job job;
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    read_job(&job);
    const struct stage *stage = &job.stage[0];
    online_release_times(&online_stage(stage)->stream, 1000, times, &count);
    cr_assert_geq(count, RELEASES);
    for (enum fault fault = NO_FAULT; fault < FAULTS; fault++) {
        uint64_t sensitivity[RELEASES];
        double most = 0;
        for (uint32_t j = 0; j < RELEASES; j++) {
            struct round_bounds bounds;
            struct why why = {{0}};
            cr_assert_eq(round_bounds(&bounds, &job, stage, j, 400, 0, &why), STATUS_OK, "%s",
                         why.text);
            sensitivity[j] = bounds.sensitivity;
            if (fault == FACTOR_FORGOTTEN) {
                cr_assert_eq(online_sensitivity_l1(&online_stage(stage)->stream, times[j],
                                                   &sensitivity[j], NULL),
                             STATUS_OK);
                sensitivity[j] *= OVERLAP;
            } else if (fault == OVERLAP_FORGOTTEN) {
                sensitivity[j] /= OVERLAP;
            } else if (fault == FIRST_SCALE_FOR_ALL) {
                sensitivity[j] = sensitivity[0] >> j; /* as if influence halved with each release */
            }
        }
        for (uint64_t s = 0; s < times[RELEASES - 1]; s++) {
            most = fmax(most, price_of(stage, s, sensitivity, times));
        }
        if (fault == NO_FAULT) {
            cr_assert_leq(most, 1);
            cr_assert_gt(most, 0.999, "the whole charge is used: %g", most);
        } else {
            cr_assert_gt(most, 1.3, "fault %d goes unseen: %g", (int)fault, most);
        }
    }
    job_free(&job);
}

Test(job_online, releases_are_charged_for_the_rows_that_entered_since_the_one_before)
{
    struct job job;
    read_job(&job);
    const struct stage *stage = &job.stage[0];
    uint64_t next = 0;
    uint64_t age = 20;
    for (uint32_t within = 0; within < RELEASES; within++, age *= 2) {
        struct round_rows rows = round_rows(stage, within, 400);
        cr_assert_eq(rows.first, next, "rows are disjoint and none is left out");
        next = rows.first + rows.count;
        cr_assert_eq(next, 2 * age - 20 + 1, "the schedule of learn/online.h");
    }
    cr_assert_eq(round_records(stage), 301);
    cr_assert_eq(reach_passes(&job, stage, RELEASES), 1, "the whole stream is one pass");
    cr_assert_eq(stage->charge.epsilon_micro, 1000000, "and each release is all of its epsilon");
    struct cost cost = round_cost(&job, &job.filter, RELEASES);
    cr_assert_eq(round_epsilon_micro(&job, &cost), 1000000);
    cost = round_cost(&job, &job.filter, job_round_count(&job));
    cr_assert_eq(round_epsilon_micro(&job, &cost), 2000000);
    job_free(&job);
}

Test(job_online, judging_begins_where_the_job_says)
{
    struct job job;
    read_job(&job);
    const struct stage *stage = &job.stage[1];
    struct round_rows rows = round_rows(stage, 2, 400);
    cr_assert(rows.first == 101 + 2 * 14 && rows.count == 14);
    cr_assert_eq(round_records(stage), 101 + 5 * 14);
    cr_assert_eq(job_records_min(&job), 301, "what the stream needs is more");
    job_free(&job);
}

Test(job_online, forecasters_are_mixtures_of_features)
{
    struct job job;
    read_job(&job);
    const struct stage *stage = &job.stage[1];
    const double x[] = {0.3, -0.8, 1}; /* lag 1, lag 7 and the constant, before scaling */
    const double wanted[] = {0.3, 0.25 * 0.3 + 0.5 * -0.8, (0.3 - 0.8) / 2};
    cr_assert_eq(losses_stage(stage)->forecaster_count, 3);
    cr_assert_str_eq(losses_stage(stage)->forecaster[1], "mixture");
    for (size_t i = 0; i < 3; i++) {
        double f = 0;
        for (size_t j = 0; j < 3; j++) {
            f += losses_stage(stage)->forecaster_weights[3 * i + j] * (x[j] * schema_scale(3));
        }
        cr_assert_float_eq(f, wanted[i], 1e-12);
    }
    cr_assert_eq(job_experts_of_stage(&job.stage[0], 2), RELEASES);
    cr_assert_eq(job_experts_at(&job, 0, 2), 0);
    cr_assert_eq(job_experts_at(&job, 1, 2), RELEASES + 3);
    cr_assert_eq(job_experts_of_stage(stage, 2), 3);
    cr_assert_eq(round_answer_count(&job, stage, 0, RELEASES + 3), RELEASES + 3);
    job_free(&job);
}

Test(job_online, forecasters_alone_can_be_judged)
{
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(parse(&job, "", losses, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(job_experts_at(&job, 0, 2), 3);
    job_free(&job);
}

Test(job_online, refuses_with_a_remedy)
{
    static const struct {
        const char *first;
        const char *second;
        const char *said;
    } wrong[] = {
        {"  - {task: online, rounds: 4, t0: 2, share: 0.5, grid_bits: 32}\n", "",
         "stages[0].t0: t0 = 2 is too small"},
        {"  - {task: online, rounds: 40, t0: 20, share: 0.5, grid_bits: 32}\n", "",
         "stages[0].rounds: puts the last release behind 1000000000 records"},
        {"  - {task: online, rounds: 4, t0: 20, share: 0.5, grid_bits: 16}\n", "",
         "grid of 2^-16 is too coarse for a stream"},
        {"  - {task: online, rounds: 4, share: 0.5, grid_bits: 32}\n", "",
         "stages[0].t0: is missing"},
        {"  - {task: online, rounds: 4, t0: 20, theta: 0.5, share: 0.5, grid_bits: 32}\n", "",
         "theta must lie above 1/2"},
        {"  - {task: online, rounds: 4, t0: 20, batch: 7, share: 0.5, grid_bits: 32}\n", "",
         "stages[0].batch: is for tasks that read"},
        {online, "  - {task: losses, loss: absolute, rounds: 1, batch: 1, share: 0.5, t0: 3}\n",
         "stages[1].t0: is for an online stage"},
        {"", "  - {task: losses, loss: absolute, rounds: 1, batch: 1, share: 0.5}\n",
         "has no experts to judge"},
        {"",
         "  - {task: losses, loss: absolute, rounds: 1, batch: 1, share: 0.5, forecasters: [{name: "
         "a, features: [lag_2]}]}\n",
         "stages[0].forecasters: names something that is no feature"},
        {"",
         "  - {task: losses, loss: absolute, rounds: 1, batch: 1, share: 0.5, forecasters: [{name: "
         "a, features: [lag_1]}, {name: a, features: [lag_7]}]}\n",
         "stages[0].forecasters: holds one name twice"},
        {"",
         "  - {task: losses, loss: absolute, rounds: 1, batch: 1, share: 0.5, forecasters: [{name: "
         "a, features: [lag_1], weights: [1, 2]}]}\n",
         "a weight for each feature"},
        {"  - {task: fit, loss: absolute, lambdas: [1], share: 0.5, forecasters: [{name: a, "
         "features: [lag_1]}]}\n",
         "", "stages[0].forecasters: is for a losses stage"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct job job;
        struct why why = {{0}};
        cr_assert_eq(parse(&job, wrong[i].first, wrong[i].second, &why), STATUS_INVALID, "%zu", i);
        cr_assert_not_null(strstr(why.text, wrong[i].said), "%s\nlacks: %s", why.text,
                           wrong[i].said);
        cr_assert_null(job.stage);
    }
}
