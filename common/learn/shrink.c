#include "learn/shrink.h"

#include <math.h>

enum { SHARES = 7, SIZES = 14 };

#define FORGOTTEN                                                                                  \
    1e-12 /* a point of the grid that is less likely than the likeliest by this is left out */

/* How many numbers are not 0. */
static const double shares[SHARES] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95};

/* A number as one point of the grid sees it. */
struct view {
    double log_likelihood;
    double chance; /* that it is not 0 */
    double mean;   /* if it is not */
    double variance;
};

static struct view view_of(double x, double noise, double share, double size)
{
    const double whole = size + noise;
    const double slab = log(share) - 0.5 * log(whole) - 0.5 * x * x / whole;
    const double spike = log(1 - share) - 0.5 * log(noise) - 0.5 * x * x / noise;
    const double more = fmax(slab, spike);
    return (struct view){.log_likelihood = more + log1p(exp(-fabs(slab - spike))),
                         .chance = 1 / (1 + exp(fmin(spike - slab, 700))),
                         .mean = x * (size / whole),
                         .variance = noise * (size / whole)};
}

/* The slab's variance: from a quarter of the noise's, in powers of two. */
static double size_of(double noise, size_t step)
{
    return ldexp(noise, (int)step - 2);
}

void shrink(double *x, double *variance, size_t count)
{
    double weight[SHARES * SIZES] = {0};
    double most = -HUGE_VAL;
    double total = 0;
    double noise = 0;
    double told = 0;
    for (size_t i = 0; i < count; i++) {
        noise += isinf(variance[i]) ? 0 : variance[i];
        told += isinf(variance[i]) ? 0 : 1;
    }
    noise = told > 0 ? noise / told : 1;
    for (size_t g = 0; g < SHARES * SIZES; g++) {
        for (size_t i = 0; i < count; i++) {
            weight[g] += isinf(variance[i]) ? 0
                                            : view_of(x[i], variance[i], shares[g / SIZES],
                                                      size_of(noise, g % SIZES))
                                                  .log_likelihood;
        }
        most = fmax(most, weight[g]);
    }
    for (size_t g = 0; g < SHARES * SIZES; g++) {
        weight[g] = exp(weight[g] - most);
        total += weight[g];
    }
    for (size_t i = 0; i < count; i++) {
        double mean = 0;
        double square = 0;
        for (size_t g = 0; g < SHARES * SIZES; g++) {
            if (weight[g] < FORGOTTEN) {
                continue;
            }
            const double size = size_of(noise, g % SIZES);
            if (isinf(variance[i])) { /* it may be what the others are */
                square += weight[g] / total * shares[g / SIZES] * size;
                continue;
            }
            const struct view view = view_of(x[i], variance[i], shares[g / SIZES], size);
            const double chance = weight[g] / total * view.chance;
            mean += chance * view.mean;
            square += chance * (view.mean * view.mean + view.variance);
        }
        x[i] = mean;
        variance[i] = fmax(square - mean * mean, 0);
    }
}
