/* What gradients say of columns that are alike, and what steps that are shorter for it buy, on the rehearsal's made-up tables. Fixed
 * seeds: every run has the same figures. */

#include "learn/features_normal.h"
#include "learn/rehearsal_table.h"
#include "learn/selftune.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 36, WIDTH = D + 1, ROWS = 1000, STATE_MOST = (7 + D) * WIDTH + 2 * D };

#define RECORDS 5000.0

static double norm_of(const double *u, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += fabs(u[j]);
    }
    return sum;
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += a[j] * b[j];
    }
    return sum;
}

/* All of epsilon for one release to the coordinator: how large its noise is, of what one record moves by 1. */
static double noise_at(double epsilon, uint32_t steps)
{
    return sqrt(2) * (1 + steps) / epsilon;
}

static void take_look(double *state, const struct selftune *stage,
                      const struct rehearsal_table *table, double noise,
                      struct public_random *random)
{
    double sum[4 + 2 * D] = {0}; /* counts, what is kept, sums of each class */
    const double deviation[3] = {noise * 40, noise * 40, noise * 2 * 0.3 * D / 0.9};
    for (size_t i = 0; i < ROWS; i++) {
        const double *z = table->z + i * WIDTH;
        const double part = fmin(1, 0.3 * D / norm_of(z, D));
        for (size_t class = 0; class < 2; class ++) {
            const double weight =
                RECORDS / ROWS * (1 + (class == 1 ? table->lean[i] : -table->lean[i])) / 2;
            sum[class] += weight;
            sum[2 + class] += weight * part;
            for (size_t j = 0; j < D; j++) {
                sum[4 + class * D + j] += weight * part * z[j];
            }
        }
    }
    for (size_t i = 0; i < 4 + 2 * D; i++) {
        sum[i] += deviation[i < 4 ? i / 2 : 2] * public_random_normal(random);
    }
    const struct selftune_look look = {.record_count = RECORDS,
                                       .count = sum,
                                       .kept = sum + 2,
                                       .sum = sum + 4,
                                       .count_deviation = deviation[0],
                                       .kept_deviation = deviation[1],
                                       .sum_deviation = deviation[2]};
    cr_assert(selftune_take_look(state, stage, &look) == STATUS_OK);
}

static void take_step(double *state, const struct selftune *stage,
                      const struct rehearsal_table *table, uint32_t step, double noise,
                      struct public_random *random)
{
    double gradient[WIDTH] = {0};
    const double clip = state[0];
    for (size_t i = 0; i < ROWS; i++) {
        double u[WIDTH];
        selftune_transform(u, table->z + i * WIDTH, state, stage);
        const double chance = rehearsal_chance(dot(u, state + 1, WIDTH));
        const double norm = norm_of(u, WIDTH);
        const double positive = (1 + table->lean[i]) / 2;
        const double slope =
            (1 - positive) * fmin(chance, clip / norm) - positive * fmin(1 - chance, clip / norm);
        for (size_t j = 0; j < WIDTH; j++) {
            gradient[j] += RECORDS / ROWS * slope * u[j];
        }
    }
    for (size_t j = 0; j < WIDTH; j++) {
        gradient[j] += clip * 2 * noise * public_random_normal(random);
    }
    const struct selftune_release release = {step, RECORDS, gradient, clip * 2 * noise};
    cr_assert(selftune_take_gradient(state, stage, &release) == STATUS_OK);
}

static double right_of(const double *state, const struct selftune *stage,
                       const struct rehearsal_table *table)
{
    double w[WIDTH];
    selftune_model(w, state, stage);
    return rehearsal_table_accuracy(w, table);
}

/* Where the noise of the last gradient stands: so large that no secant stands out of it. */
static void forget(double *state, const struct selftune *stage)
{
    const size_t end = selftune_state_count(stage);
    state[end - selftune_secant_count(stage) + 2] = 1e6;
}

/* What shorter steps gain in accuracy over steps as for white columns, and how much shorter they are: means over tables. */
struct gain {
    double mean;
    double error;
    double shortened;
};

static struct gain gain_of(double epsilon, enum selftune_sight sight, size_t tables)
{
    struct column column[D];
    memset(column, 0, sizeof column);
    const struct schema schema = {.column = column, .column_count = D};
    const struct selftune stage = {
        .feature_count = D, .output_count = 1, .sight = sight, .steps = 2, .quantile = 0.3};
    struct rehearsal_table table = {
        .outputs = 1, .d = D, .rows = ROWS, .labels = (size_t)(RECORDS / ROWS)};
    struct gain gain = {0};
    double squares = 0;
    cr_assert(rehearsal_table_init(&table) == STATUS_OK);
    cr_assert(selftune_state_count(&stage) <= STATE_MOST);
    for (uint64_t t = 0; t < tables; t++) {
        struct public_random random = public_random_from(1000 + t);
        struct public_random again;
        double state[STATE_MOST];
        double white[STATE_MOST];
        const double noise = noise_at(epsilon, stage.steps);
        /* Of every eight, the first: columns come before the label, in ranges that suit them. */
        cr_assert(rehearsal_table_draw(&table, &schema, 8 * t, 8 * tables, &random) == STATUS_OK);
        cr_assert(selftune_begin(state, &stage) == STATUS_OK);
        take_look(state, &stage, &table, noise, &random);
        cr_assert(selftune_shortened(state, &stage) == 1);
        memcpy(white, state, sizeof state);
        again = random;
        for (uint32_t step = 0; step < stage.steps; step++) {
            take_step(state, &stage, &table, step, noise, &random);
            forget(white, &stage);
            take_step(white, &stage, &table, step, noise, &again);
        }
        cr_assert(selftune_shortened(white, &stage) == 1);
        gain.shortened += selftune_shortened(state, &stage) / (double)tables;
        const double more = right_of(state, &stage, &table) - right_of(white, &stage, &table);
        gain.mean += more / (double)tables;
        squares += more * more / (double)tables;
    }
    rehearsal_table_free(&table);
    gain.error = sqrt((squares - gain.mean * gain.mean) / (double)(tables - 1));
    return gain;
}

/* By 0.055 (0.010) at these seeds. Shorter steps that bought nothing would be ahead by 5 standard errors in one of 3 10^6 choices of seeds. */
Test(selftune_secant, shorter_steps_pay)
{
    const struct gain gain = gain_of(4, SIGHT_SUMS, 60);
    cr_assert(gain.shortened > 2, "%g", gain.shortened);
    cr_assert(gain.mean > 5 * gain.error, "%g (%g)", gain.mean, gain.error);
}

/* A state of an earlier build has zeros in place of secants: one gradient tells nothing, two do. */
Test(selftune_secant, a_state_that_lacked_secants_learns_from_its_second_gradient)
{
    struct column column[D];
    memset(column, 0, sizeof column);
    const struct schema schema = {.column = column, .column_count = D};
    const struct selftune stage = {
        .feature_count = D, .output_count = 1, .sight = SIGHT_SUMS, .steps = 2, .quantile = 0.3};
    struct public_random random = public_random_from(1000);
    struct rehearsal_table table = {
        .outputs = 1, .d = D, .rows = ROWS, .labels = (size_t)(RECORDS / ROWS)};
    double state[STATE_MOST];
    const size_t secants = selftune_secant_count(&stage);
    cr_assert(rehearsal_table_init(&table) == STATUS_OK);
    cr_assert(rehearsal_table_draw(&table, &schema, 0, 8, &random) == STATUS_OK);
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    take_look(state, &stage, &table, 0.1, &random);
    memset(state + selftune_state_count(&stage) - secants, 0, secants * sizeof *state);
    take_step(state, &stage, &table, 0, 0.1, &random);
    cr_expect_eq(selftune_shortened(state, &stage), 1);
    take_step(state, &stage, &table, 1, 0.1, &random);
    cr_expect_gt(selftune_shortened(state, &stage), 1.5, "%g", selftune_shortened(state, &stage));
    rehearsal_table_free(&table);
}

/* Columns that are independent and normal, and a label that follows the first: secants say so. */
Test(selftune_secant, white_columns_are_not_taken_to_be_alike)
{
    const struct selftune stage = {
        .feature_count = D, .output_count = 1, .sight = SIGHT_SUMS, .steps = 2, .quantile = 0.3};
    struct public_random random = public_random_from(4);
    struct rehearsal_table table = {
        .outputs = 1, .d = D, .rows = ROWS, .labels = (size_t)(RECORDS / ROWS)};
    double state[STATE_MOST];
    cr_assert(rehearsal_table_init(&table) == STATUS_OK);
    for (size_t i = 0; i < ROWS; i++) {
        double *z = table.z + i * WIDTH;
        for (size_t j = 0; j < D; j++) {
            z[j] = 0.5 * fmin(fmax(public_random_normal(&random), -2), 2);
        }
        table.lean[i] = z[0];
    }
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    take_look(state, &stage, &table, 0.1, &random);
    for (uint32_t step = 0; step < stage.steps; step++) {
        take_step(state, &stage, &table, step, 0.1, &random);
        cr_expect(selftune_shortened(state, &stage) < 1.5, "%g", selftune_shortened(state, &stage));
    }
    rehearsal_table_free(&table);
}
