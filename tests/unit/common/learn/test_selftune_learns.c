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

enum { NUMBERS_MOST = 4 + 2 * FEATURES + FEATURES * FEATURES };

/* All agents' sums, behind one another: counts, of sums alone what is kept, z (but beside products by class), products or
 * squares; or clipped gradients in L1. */
static size_t sum_look(double *sum, const struct selftune *stage, const double *z, const double *y)
{
    const bool clips = stage->sight == SIGHT_SUMS;
    const bool products = stage->sight == SIGHT_PRODUCTS;
    const size_t first = clips ? 4 : 2;
    const size_t past = first + selftune_sum_count(stage);
    for (size_t i = 0; i < RECORDS; i++, z += FEATURES) {
        const size_t label = (size_t)y[i];
        size_t at = past;
        double size = 0;
        for (size_t j = 0; j < FEATURES; j++) {
            size += fabs(z[j]);
        }
        const double kept = clips ? fmin(1, 0.3 * FEATURES / size) : 1;
        sum[label]++;
        sum[2 + label] += clips ? kept : 0;
        for (size_t j = 0; j < FEATURES; j++) {
            sum[first + (products ? 0 : label * FEATURES) + j] += kept * z[j];
            for (size_t k = j; k < (clips ? 0 : products ? FEATURES : j + 1); k++) {
                sum[at++] += z[j] * z[k];
            }
        }
    }
    return past + selftune_product_count(stage);
}

static void add_noise(double *x, size_t count, double deviation, struct public_random *random)
{
    for (size_t i = 0; i < count; i++) {
        x[i] += deviation * public_random_normal(random);
    }
}

/* Takes a look with the noise that `part` of epsilon needs centrally in L1; its parts need a bit more together than one. */
static void look(double *state, const struct selftune *stage, const double *z, const double *y,
                 double part, struct public_random *random)
{
    double sum[NUMBERS_MOST] = {0};
    const bool clips = stage->sight == SIGHT_SUMS;
    const size_t first = clips ? 4 : 2;
    const size_t past = first + selftune_sum_count(stage);
    const size_t count = sum_look(sum, stage, z, y);
    const double root = sqrt(2) / part;
    const double counts = root * 2 / 0.05;
    const double kept = counts;
    const double sums = root * (clips ? 0.6 : 2) * FEATURES / (clips ? 0.9 : 0.25);
    const double products = stage->sight == SIGHT_PRODUCTS
                                ? root * (FEATURES * FEATURES + FEATURES) / 2 / 0.7
                                : 2 * sums;
    add_noise(sum, 2, counts, random);
    add_noise(sum + 2, first - 2, kept, random);
    add_noise(sum + first, past - first, sums, random);
    add_noise(sum + past, count - past, products, random);
    const struct selftune_look release = {.record_count = RECORDS,
                                          .count = sum,
                                          .kept = clips ? sum + 2 : NULL,
                                          .sum = sum + first,
                                          .product = sum + past,
                                          .count_deviation = counts,
                                          .kept_deviation = kept,
                                          .sum_deviation = sums,
                                          .product_deviation = products};
    cr_assert(selftune_take_look(state, stage, &release) == STATUS_OK);
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

/* Learns with the noise that a central epsilon needs in L1. Returns how much accuracy is lost to
 * the true model, in expectation over labels. */
static double learn(double epsilon, enum selftune_sight sight, uint64_t seed)
{
    const bool correlated = sight == SIGHT_PRODUCTS;
    const uint32_t steps = 3;
    const struct selftune stage = {.feature_count = FEATURES,
                                   .output_count = 1,
                                   .sight = sight,
                                   .steps = steps,
                                   .quantile = 0.3};
    const double part = epsilon / 4; /* epsilon of a release */
    struct public_random random = public_random_from(seed);
    double *z = calloc(RECORDS * (FEATURES + 1), sizeof *z);
    double *y = z + RECORDS * FEATURES;
    double state[STATE_MOST];
    double w[FEATURES + 1];
    for (size_t i = 0; i < RECORDS; i++) {
        record(z + i * FEATURES, y + i, correlated, &random);
    }
    cr_assert(selftune_begin(state, &stage) == STATUS_OK);
    look(state, &stage, z, y, part, &random);
    for (uint32_t step = 0; step < steps; step++) {
        double gradient[FEATURES + 1] = {0};
        const double deviation = sqrt(2) * 2 * state[0] / part;
        sum_gradient(gradient, state, &stage, z, y);
        add_noise(gradient, FEATURES + 1, deviation, &random);
        const struct selftune_release release = {step, RECORDS, gradient, deviation};
        cr_assert(selftune_take_gradient(state, &stage, &release) == STATUS_OK);
    }
    selftune_model(w, state, &stage);
    double lost = 0;
    for (size_t i = 0; i < FRESH; i++) {
        double fresh[FEATURES];
        double label;
        record(fresh, &label, correlated, &random);
        const double f = score_of(true_model, fresh);
        lost += (f > 0) != (score_of(w, fresh) > 0) ? fabs(tanh(f / 2)) : 0;
    }
    free(z);
    return lost / FRESH;
}

/* The mean over four runs. */
static double lost_at(double epsilon, enum selftune_sight sight)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        sum += learn(epsilon, sight, 100 + seed);
    }
    return sum / 4;
}

/* Over 100 seeds a run at epsilon 4 loses 0.0014 after sums, 0.0020 after squares and 0.0031 after products, with
 * deviations of 0.0010, 0.0019 and 0.0016: as sixths of a chi-squared number of 6 degrees of freedom, one for each weight. The
 * mean of four is then above 0.01 in one of 10^6 choices of the seeds. At epsilon 0.05 noise
 * outweighs the records, and a test that passes there would see nothing. */
Test(selftune, reaches_the_true_model_within_a_point)
{
    for (int sight = SIGHT_SUMS; sight < SIGHTS; sight++) {
        const double lost = lost_at(4, (enum selftune_sight)sight);
        cr_assert(lost < 0.01, "sight %d: %g", sight, lost);
        cr_assert(lost_at(0.05, (enum selftune_sight)sight) > 0.03, "sight %d", sight);
    }
}
