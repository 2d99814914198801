/* The self-tuning learner from beginning to end, on made-up records with noise. Fixed seeds. */

#include "learn/features_normal.h"
#include "learn/selftune.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { STATE_MOST = 200, RECORDS = 2000, FEATURES = 5, FRESH = 20000 };

static double true_model[FEATURES + 1] = {2.5, -3, 1.5, 0, 2, -0.5};

static double score_of(const double *w, const double *z)
{
    double f = w[FEATURES];
    for (size_t j = 0; j < FEATURES; j++) {
        f += w[j] * z[j];
    }
    return f;
}

/* The columns have a variance near 1/4; if they are correlated, a part of it is common to all. */
static void record(double *z, double *y, bool correlated, struct public_random *random)
{
    const double common = correlated ? 0.4 * public_random_normal(random) : 0;
    for (size_t j = 0; j < FEATURES; j++) {
        z[j] = fmax(-1, fmin(1, common + (correlated ? 0.3 : 0.5) * public_random_normal(random)));
    }
    const double p = 1 / (1 + exp(-score_of(true_model, z)));
    *y = ldexp((double)(public_random_next(random) >> 11), -53) < p;
}

/* All agents' sums: counts, z, triangle; or clipped gradients in L1. */
static void sum_look(double *count, double *mean, double *triangle, const double *z,
                     const double *y)
{
    for (size_t i = 0; i < RECORDS; i++, z += FEATURES) {
        size_t at = 0;
        count[(int)y[i]]++;
        for (size_t j = 0; j < FEATURES; j++) {
            mean[j] += z[j];
            for (size_t k = j; k < FEATURES; k++) {
                triangle[at++] += z[j] * z[k];
            }
        }
    }
}

static void sum_gradient(double *sum, const double *state, const struct selftune *stage,
                         const double *z, const double *y)
{
    for (size_t i = 0; i < RECORDS; i++, z += FEATURES) {
        double u[FEATURES + 1];
        double norm = 0;
        selftune_transform(u, z, state, stage);
        const double slope = 1 / (1 + exp(-score_of(state + 1, u))) - y[i];
        for (size_t j = 0; j <= FEATURES; j++) {
            norm += fabs(slope * u[j]);
        }
        for (size_t j = 0; j <= FEATURES; j++) {
            sum[j] += slope * u[j] * fmin(1, state[0] / norm);
        }
    }
}

static void add_noise(double *x, size_t count, double deviation, struct public_random *random)
{
    for (size_t i = 0; i < count; i++) {
        x[i] += deviation * public_random_normal(random);
    }
}

/* Learns with the noise that a central epsilon needs in L1. Returns how much accuracy is lost to
 * the true model, in expectation over labels. */
static double learn(double epsilon, bool looks, uint64_t seed)
{
    const struct selftune stage = {.feature_count = FEATURES,
                                   .output_count = 1,
                                   .sight = looks ? SIGHT_PRODUCTS : SIGHT_NONE,
                                   .steps = 3,
                                   .quantile = 0.3};
    const double part = epsilon / (looks ? 4 : 3); /* epsilon of a release */
    const double root = sqrt(2);
    struct public_random random = public_random_from(seed);
    double *z = calloc(RECORDS * (FEATURES + 1), sizeof *z);
    double *y = z + RECORDS * FEATURES;
    double state[STATE_MOST];
    double count[2] = {0};
    double mean[FEATURES] = {0};
    double triangle[FEATURES * FEATURES] = {0};
    double w[FEATURES + 1];
    for (size_t i = 0; i < RECORDS; i++) {
        record(z + i * FEATURES, y + i, looks, &random);
    }
    sum_look(count, mean, triangle, z, y);
    const double moments = root * (FEATURES * FEATURES + FEATURES) / 2 / (0.7 * part);
    add_noise(count, 2, root * 2 / (0.05 * part), &random);
    add_noise(mean, FEATURES, root * 2 * FEATURES / (0.25 * part), &random);
    add_noise(triangle, FEATURES * (FEATURES + 1) / 2, moments, &random);
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    if (looks) {
        const struct selftune_look release = {
            RECORDS, count, mean, triangle, root * 2 / (0.05 * part), moments};
        cr_assert(selftune_take_look(state, &stage, &release) == STATUS_OK);
    }
    for (uint32_t step = 0; step < 3; step++) {
        double gradient[FEATURES + 1] = {0};
        const bool counts = !looks && step == 0;
        const double deviation = root * 2 * state[0] / (part * (counts ? 0.95 : 1));
        sum_gradient(gradient, state, &stage, z, y);
        add_noise(gradient, FEATURES + 1, deviation, &random);
        const struct selftune_release release = {
            step, RECORDS, gradient, deviation, counts ? count : NULL, root * 2 / (0.05 * part)};
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
    }
    selftune_model(w, state, &stage);
    double lost = 0;
    for (size_t i = 0; i < FRESH; i++) {
        double fresh[FEATURES];
        double label;
        record(fresh, &label, looks, &random);
        const double f = score_of(true_model, fresh);
        lost += (f > 0) != (score_of(w, fresh) > 0) ? fabs(tanh(f / 2)) : 0;
    }
    free(z);
    return lost / FRESH;
}

/* The mean over four runs. */
static double lost_at(double epsilon, bool looks)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        sum += learn(epsilon, looks, 100 + seed);
    }
    return sum / 4;
}

/* Over 200 seeds a run at epsilon 4 loses 0.0029 with a look and 0.0012 without, with deviations of
 * 0.0017 and 0.0008: as sixths of a chi-squared number of 6 degrees of freedom, one for each weight.
 * The mean of four is then above 0.01 in one of 10^7 choices of the seeds. At epsilon 0.05 noise
 * outweighs the records, and a test that passes there would see nothing. */
Test(selftune, reaches_the_true_model_within_a_point)
{
    for (int looks = 0; looks <= 1; looks++) {
        const double lost = lost_at(4, looks == 1);
        cr_assert(lost < 0.01, "%g", lost);
        cr_assert(lost_at(0.05, looks == 1) > 0.03);
    }
}
