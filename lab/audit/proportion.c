/* The tail of a binomial distribution is an incomplete beta function, P(B >= h) = I_p(h, n - h +
 * 1). Its continued fraction converges in O(sqrt(n)) steps on the side of the mean where the tail
 * is at most about one half; on the other side the complement is taken, which is then not small.
 *
 * Where the error comes from: the factor in front is exp of a difference of terms up to n ln n,
 * each with the rounding of a double. At n = 2^28 they reach 5e9, so the exponent is off by some
 * 1e-6. A bound is therefore accepted only if the tail, 1e-4 larger, still fits. */

#include "lab/audit/proportion.h"

#include "base/check.h"

#include <float.h>
#include <math.h>

#define TAIL_SLACK     1e-4
#define BISECTION_STOP 1e-10

enum { FRACTION_STEPS = 1000000, BISECTION_STEPS = 2000 };

static double away_from_zero(double x)
{
    return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* The continued fraction of I_x(a, b) without its factor; x below (a + 1) / (a + b + 2). */
static double fraction(double a, double b, double x)
{
    double numerator = 1;
    double denominator = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double value = denominator;
    double change = 0;
    for (int step = 1; fabs(change - 1) >= 4 * DBL_EPSILON; step++) {
        CHECK(step <= FRACTION_STEPS); /* it has long converged */
        double m = step;
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        denominator = 1 / away_from_zero(1 + even * denominator);
        numerator = away_from_zero(1 + even / numerator);
        value *= denominator * numerator;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        denominator = 1 / away_from_zero(1 + odd * denominator);
        numerator = away_from_zero(1 + odd / numerator);
        change = denominator * numerator;
        value *= change;
    }
    return value;
}

/* I_x(a, b), y = 1 - x. */
static double beta_share(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0) {
        return x <= 0 ? 0 : 1;
    }
    double factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) {
        return fmin(1, factor * fraction(a, b, x) / a);
    }
    return fmax(0, 1 - factor * fraction(b, a, y) / b);
}

double proportion_tail(uint64_t hits, uint64_t trials, double p)
{
    CHECK(trials >= 1 && trials <= PROPORTION_TRIALS_MAX && hits <= trials && p >= 0 && p <= 1);
    if (hits == 0) {
        return 1;
    }
    return beta_share((double)hits, (double)(trials - hits + 1), p, 1 - p);
}

double proportion_head(uint64_t hits, uint64_t trials, double p)
{
    CHECK(trials >= 1 && trials <= PROPORTION_TRIALS_MAX && hits <= trials && p >= 0 && p <= 1);
    if (hits == trials) {
        return 1;
    }
    return beta_share((double)(trials - hits), (double)(hits + 1), 1 - p, p);
}

static void check_miss(double miss)
{
    CHECK(miss >= 1e-200 && miss < 0.5);
}

/* Between two probabilities of which the first surely fits: the tail there is at most miss. */
static double bisect(double (*tail)(uint64_t, uint64_t, double), uint64_t hits, uint64_t trials,
                     double miss, double fits, double fails)
{
    for (int step = 0; step < BISECTION_STEPS; step++) {
        double middle = fits + (fails - fits) / 2;
        if (fabs(fails - fits) <= BISECTION_STOP * fmax(fits, fails)) {
            break;
        }
        if (tail(hits, trials, middle) * (1 + TAIL_SLACK) <= miss) {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    return fits;
}

double proportion_low(uint64_t hits, uint64_t trials, double miss)
{
    check_miss(miss);
    if (hits == 0) {
        return 0;
    }
    return bisect(proportion_tail, hits, trials, miss, 0, (double)hits / (double)trials);
}

double proportion_high(uint64_t hits, uint64_t trials, double miss)
{
    check_miss(miss);
    if (hits == trials) {
        return 1;
    }
    return bisect(proportion_head, hits, trials, miss, 1, (double)hits / (double)trials);
}
