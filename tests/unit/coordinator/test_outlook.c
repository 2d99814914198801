/* What released models of a series forecast: against a computation by hand, and their noise against noise on the
 * weights. */

#include "coordinator/outlook.h"
#include "task/close.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 3, GRID_BITS = 32 };

static const char SERIES[] =
    "hedgerow: 1\n"
    "job: stream\n"
    "data:\n"
    "  label: {centre: 10, half_width: 4}\n"
    "  series: {column: entries, lags: [1, 3]}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {task: online, rounds: 2, t0: 20, share: 0.5, grid_bits: 32}\n"
    "  - {task: losses, loss: absolute, rounds: 1, batch: 10, share: 0.2, grid_bits: 4,\n"
    "     forecasters: [{name: yesterday, features: [lag_1]}]}\n";

static const double release[2][WIDTH] = {{0.9, 0.3, 0.2}, {0.7, 0.4, 0.1}};

static void setup(void)
{
    history_begin(&job, &outcome, SERIES);
    for (uint32_t round = 0; round < 2; round++) {
        struct record record = history_round(round, agents, AGENTS);
        record.as.round.chosen = round;
        cr_assert_eq(
            outcome_add(&outcome, &job, &record, (struct slice){release[round], sizeof release[0]}),
            STATUS_OK);
    }
}

/* The plain vector: both lags and the constant, in 1/sqrt(3). */
static double score(const double *w, double one, double three)
{
    return (w[0] * (one - 10) / 4 + w[1] * (three - 10) / 4 + w[2]) / sqrt(3);
}

static double day_after(const double *w, double one, double three)
{
    return 10 + 4 * fmin(fmax(score(w, one, three), -1), 1);
}

static void walk(double out[static OUTLOOK_DAYS], const double *w, double start)
{
    for (size_t day = 0; day < OUTLOOK_DAYS; day++) {
        out[day] = day_after(w, day < 1 ? start : out[day - 1], day < 3 ? start : out[day - 3]);
    }
}

static double deviation(uint32_t within)
{
    const struct query_noise noise = closing_noise(&outcome, &job, &job.stage[0], within, AGENTS);
    return ldexp(query_noise_deviation(&noise), -GRID_BITS) / AGENTS;
}

TestSuite(outlook, .init = setup, .fini = teardown);

Test(outlook, forecasts_tomorrow_by_each_model_the_chosen_one_first)
{
    struct outlook outlook;
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    cr_assert_eq(outlook.model_count, 3);
    cr_assert_eq(outlook.model[0].expert, 1, "the latest release is the choice");
    cr_assert_float_eq(outlook.level[0], 6, 1e-12);
    cr_assert_float_eq(outlook.level[OUTLOOK_LEVELS - 1], 14, 1e-12);
    for (size_t m = 0; m < outlook.model_count; m++) {
        const struct outlook_model *model = &outlook.model[m];
        const double *w = outcome.weights + model->expert * WIDTH;
        for (size_t i = 0; i < OUTLOOK_LEVELS; i++) {
            const double level = outlook.level[i];
            const double u = (level - 10) / 4;
            const double length = sqrt((2 * u * u + 1) / 3);
            const double noise =
                model->expert < 2 ? 4 * deviation((uint32_t)model->expert) * length : 0;
            cr_expect_float_eq(model->value[i], day_after(w, level, level), 1e-9);
            cr_expect_float_eq(model->noise[i], noise, 1e-9 * (1 + noise));
        }
    }
}

/* A forecaster of the job is known exactly: its bars are none, not unknown. */
Test(outlook, what_the_job_writes_has_no_noise)
{
    struct outlook outlook;
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    for (size_t m = 0; m < outlook.model_count; m++) {
        const bool written = outlook.model[m].expert == 2;
        cr_expect_eq(outlook.model[m].noise[4] == 0, written);
        cr_expect(isfinite(outlook.model[m].noise[4]));
    }
    cr_assert_str_eq(outcome.expert[2].name, "yesterday");
}

Test(outlook, walks_ahead_from_its_own_forecasts)
{
    struct outlook outlook;
    double by_hand[OUTLOOK_DAYS];
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    cr_assert_eq(outlook.path_count, OUTLOOK_PATHS);
    for (size_t p = 0; p < OUTLOOK_PATHS; p++) {
        cr_assert_float_eq(outlook.path[p].start, 8 + 2 * (double)p, 1e-12);
        walk(by_hand, release[1], outlook.path[p].start);
        for (size_t day = 0; day < OUTLOOK_DAYS; day++) {
            cr_expect_float_eq(outlook.path[p].value[day], by_hand[day], 1e-9);
        }
    }
}

/* The noise of a day is that of all weights together: each moved a little, days forecast anew, by hand. */
Test(outlook, later_days_have_the_noise_of_the_days_before)
{
    struct outlook outlook;
    const double step = 1e-6;
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    for (size_t p = 0; p < OUTLOOK_PATHS; p++) {
        double square[OUTLOOK_DAYS] = {0};
        for (size_t j = 0; j < WIDTH; j++) {
            double moved[WIDTH];
            double above[OUTLOOK_DAYS];
            double below[OUTLOOK_DAYS];
            memcpy(moved, release[1], sizeof moved);
            moved[j] += step;
            walk(above, moved, outlook.path[p].start);
            moved[j] -= 2 * step;
            walk(below, moved, outlook.path[p].start);
            for (size_t day = 0; day < OUTLOOK_DAYS; day++) {
                square[day] += pow((above[day] - below[day]) / (2 * step), 2);
            }
        }
        for (size_t day = 0; day < OUTLOOK_DAYS; day++) {
            const double noise = deviation(1) * sqrt(square[day]);
            cr_expect_float_eq(outlook.path[p].noise[day], noise, 1e-5 * noise, "%zu %zu: %g, %g",
                               p, day, outlook.path[p].noise[day], noise);
        }
        cr_expect_gt(outlook.path[p].noise[OUTLOOK_DAYS - 1], outlook.path[p].noise[0]);
    }
}

Test(outlook, a_model_whose_noise_is_not_known_says_so)
{
    struct outlook outlook;
    outcome.expert[1].draws = 0;
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    cr_assert(isnan(outlook.model[0].noise[4]) && isnan(outlook.path[0].noise[0]));
    cr_assert(isfinite(outlook.model[0].value[4]));
}

Test(outlook, of_a_table_without_days_there_is_none)
{
    static const char TABLE[] =
        "hedgerow: 1\n"
        "job: table\n"
        "data:\n"
        "  label: {column: y, centre: 0, half_width: 1}\n"
        "  features: [{column: x, centre: 0, half_width: 1}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
        "cohort: {minimum: 1, join_deadline_s: 1, deadline_s: 1}\n"
        "stages: [{task: online, rounds: 2, t0: 20, share: 0.5, grid_bits: 32}]\n";
    struct outlook outlook;
    const double row[] = {1, 2};
    struct record record = history_round(0, agents, AGENTS);
    teardown();
    history_begin(&job, &outcome, TABLE);
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){row, sizeof row}), STATUS_OK);
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    cr_assert_eq(outlook.model_count, 0);
}

/* Maps: a job's experts of different maps, a Nystrom map as in compose/sensors; forecasts are what hedgerow predict would say. */
Test(outlook, each_model_forecasts_by_its_own_map)
{
    char text[2048];
    struct outlook outlook;
    double row[6] = {0.5, -0.25, 0.3, 0, 0, 0};
    struct record record = history_round(0, agents, AGENTS);
    teardown();
    (void)snprintf(text, sizeof text, "%s", SERIES);
    char *at = strstr(text, "t0: 20,");
    cr_assert_not_null(at);
    const size_t behind = (size_t)(strstr(SERIES, "t0: 20,") - SERIES);
    (void)snprintf(
        at, sizeof text - behind, "%s%s",
        "map: {kind: nystrom, kernel: gaussian, gamma: 2.5, landmarks: [[12, 13], [8, 7]]}, ",
        SERIES + behind);
    history_begin(&job, &outcome, text);
    cr_assert_eq(outcome.width, 6);
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){row, sizeof row}), STATUS_OK);
    cr_assert_eq(outlook_make(&outlook, &outcome, &job), STATUS_OK);
    cr_assert_eq(outlook.model_count, 1);
    cr_assert_eq(outlook.path_count, OUTLOOK_PATHS);
    for (size_t i = 1; i < OUTLOOK_LEVELS; i++) {
        cr_expect_neq(outlook.model[0].value[i], outlook.model[0].value[0]);
        cr_expect_leq(outlook.model[0].noise[i], 4 * deviation(0) * (1 + 1e-9), "|x| is at most 1");
        cr_expect_gt(outlook.model[0].noise[i], 4 * deviation(0) * 0.7,
                     "the constant is in it: %g of %g", outlook.model[0].noise[i],
                     4 * deviation(0));
    }
}
