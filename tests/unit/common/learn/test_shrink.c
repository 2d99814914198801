/* Posterior means of noisy numbers: against numbers drawn from the prior, with fixed seeds, and at the edges. The known answers of
 * test_selftune hold it against numpy. */

#include "learn/features_normal.h"
#include "learn/shrink.h"

#include <criterion/criterion.h>
#include <math.h>

enum { COUNT = 400 };

/* One number in twenty is of deviation 3, the others are 0; noise of deviation 1. */
static void draw(double *truth, double *x, struct public_random *random)
{
    for (size_t i = 0; i < COUNT; i++) {
        truth[i] = i % 20 == 0 ? 3 * public_random_normal(random) : 0;
        x[i] = truth[i] + public_random_normal(random);
    }
}

static double error_of(const double *x, const double *truth)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        sum += (x[i] - truth[i]) * (x[i] - truth[i]) / COUNT;
    }
    return sum;
}

/* Noise is removed, true numbers stay, and the variances tell the error. The best single factor for all numbers leaves an error
 * of 0.31 = 1/(1 + 1/0.45); over 200 seeds ours is 0.122 with deviation 0.033, and the mean variance differs from it by 0.001
 * with deviation 0.045. */
Test(shrink, keeps_the_few_that_are_not_noise)
{
    struct public_random random = public_random_from(3);
    double truth[COUNT];
    double x[COUNT];
    double variance[COUNT];
    double expected = 0;
    draw(truth, x, &random);
    for (size_t i = 0; i < COUNT; i++) {
        variance[i] = 1;
    }
    double before[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        before[i] = x[i];
    }
    shrink(x, variance, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert(x[i] * before[i] >= 0 && fabs(x[i]) <= fabs(before[i]),
                  "between 0 and the number");
        cr_assert(variance[i] >= 0 && variance[i] < 3);
        expected += variance[i] / COUNT;
    }
    cr_assert(error_of(before, truth) > 0.8);
    cr_assert(error_of(x, truth) < 0.29, "%g", error_of(x, truth));
    cr_assert(fabs(expected - error_of(x, truth)) < 0.24, "%g", expected);
}

Test(shrink, leaves_numbers_without_noise_and_drops_noise_alone)
{
    double sure[3] = {2, -1, 0.5};
    double unsure[3] = {2e-8, -1e-8, 0.5e-8};
    double variance[3] = {1e-12, 1e-12, 1e-12};
    shrink(sure, variance, 3);
    cr_assert(fabs(sure[0] - 2) < 2e-3 && fabs(sure[1] + 1) < 1e-3 && fabs(sure[2] - 0.5) < 5e-4);
    variance[0] = variance[1] = variance[2] = 1;
    shrink(unsure, variance, 3);
    cr_assert(fabs(unsure[0]) < 1e-8 && variance[0] < 1);
}

Test(shrink, stays_finite)
{
    double x[4] = {1e100, -1e100, 0, 1};
    double variance[4] = {1e-30, 1e200, 1, 1e-30};
    shrink(x, variance, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_assert(isfinite(x[i]) && isfinite(variance[i]), "%zu: %g %g", i, x[i], variance[i]);
    }
}
