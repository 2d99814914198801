/* Loader's saddle-point form (Loader 2000, "Fast and accurate computation of binomial
 * probabilities"): with the deviance d(x, m) = x ln(x/m) + m - x, never negative and computed
 * without cancellation,
 *
 *   P(k of n) = exp(-d(k, np) - d(n - k, nq) + s(n) - s(k) - s(n - k)) sqrt(n/(2 pi k (n - k))),
 *
 * s the error of Stirling's formula. Chernoff's bound is exp(-d(k, np) - d(n - k, nq)). */

#include "account/law.h"

#include <float.h>
#include <math.h>

/* ln n! - (n + 1/2) ln n + n - ln(2 pi)/2 for n >= 1 */
static double stirling_error(double n)
{
    if (n < 16) {
        return lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.91893853320467274178;
    }
    double square = n * n;
    return (1.0 / 12 -
            (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) /
                square) /
           n;
}

static double deviance(double x, double mean)
{
    double ratio = (x - mean) / (x + mean);
    if (fabs(ratio) > 0.1) {
        return x > 0 ? x * log(x / mean) + mean - x : mean;
    }
    /* x ln(x/mean) = 2 x artanh(ratio), whose first term and mean - x make (x - mean) ratio */
    double sum = (x - mean) * ratio;
    double term = 2 * x * ratio;
    for (int i = 3; i < 40; i += 2) {
        term *= ratio * ratio;
        sum += term / i;
    }
    return sum;
}

double law_binomial_tail(const struct binomial *binomial, double hits)
{
    double n = binomial->trials;
    if (hits >= n) {
        return n * (binomial->p > 0.5 ? log1p(-binomial->q) : log(binomial->p));
    }
    if (hits <= 0) {
        return n * (binomial->q > 0.5 ? log1p(-binomial->p) : log(binomial->q));
    }
    return -deviance(hits, n * binomial->p) - deviance(n - hits, n * binomial->q);
}

double law_binomial_log(const struct binomial *binomial, double hits)
{
    double n = binomial->trials;
    double tail = law_binomial_tail(binomial, hits);
    if (hits >= n || hits <= 0) {
        return tail;
    }
    double misses = n - hits;
    return tail + stirling_error(n) - stirling_error(hits) - stirling_error(misses) +
           log(n / hits / misses / 6.28318530717958647692) / 2;
}

double law_binomial_error(const struct binomial *binomial, double hits)
{
    double distance = fabs(hits - binomial->trials * binomial->p);
    return 16 * DBL_EPSILON * (distance - 2 * law_binomial_tail(binomial, hits) + 32);
}

/* Where the interval is narrow, the density in its middle and two more terms of Taylor's series; else the
 * difference of two error functions on the side where both are small. */

double law_normal(double middle, double width)
{
    double d = width;
    double m = middle;
    if (d * fmax(1, fabs(m)) < 0.02) {
        double series =
            1 + d * d * (m * m - 1) / 24 + d * d * d * d * (m * m * (m * m - 6) + 3) / 1920;
        return 0.39894228040143267794 * exp(-m * m / 2) * d * series;
    }
    double near = (fabs(m) - d / 2) * 0.70710678118654752440;
    double far = (fabs(m) + d / 2) * 0.70710678118654752440;
    return near < 0 ? (erf(far) - erf(near)) / 2 : (erfc(near) - erfc(far)) / 2;
}

double law_normal_error(double middle, double width)
{
    double wide = width * fmax(1, fabs(middle)) < 0.02 ? 1 : 60;
    return wide * (8 + 8 * middle * middle) * (DBL_EPSILON / 2);
}
