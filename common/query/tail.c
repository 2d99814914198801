/* tail.c - tails of sums of continuous noise.
 *
 * n continuous Laplace variables of scale 1 have the sum X - Y, both Gamma(n): X is the time of the
 * n-th event of a Poisson process, so X > x + Y says that at most n - 1 events fell before x + Y:
 * before x a Poisson(x) number, in the Y after it a negative binomial NB(n, 1/2) one, independent.
 * Hence P(X - Y > x) = sum over k < n of P(Poisson(x) = k) P(NB <= n - 1 - k), for x >= 0; all terms
 * are positive, so nothing cancels. */

#include "query/tail.h"

#include <math.h>

enum { SUMMED_DRAWS_MAX = 256 };

/* Rounding of at most some hundred positive terms. */
static const double rounding = 1 + 1e-9;

#define SINGULAR 0.01 /* below so many roots of the draws the formula below is not used */

/* Of more draws than are summed term by term: Lugannani and Rice's saddlepoint formula (1980, Adv. Appl. Prob. 12), whose
 * error is far below a part in n here (tests/unit/common/query/test_tail.c compares it with the sum); so much is added.
 * Where the formula is singular a half stands for it. */
static double laplace_upper_of_many(uint32_t n, double x)
{
    const double most = 1 + 1.0 / n;
    if (x < SINGULAR * sqrt(n)) {
        return 0.5 * most;
    }
    const double t = x / (sqrt((double)n * n + x * x) + n);
    const double w = sqrt(2 * (t * x + n * log1p(-t * t)));
    const double u = t * sqrt(2.0 * n * (1 + t * t)) / (1 - t * t);
    const double density = exp(-w * w / 2) * 0.39894228040143267794;
    return fmin(0.5, erfc(w * M_SQRT1_2) / 2 + density * (1 / u - 1 / w)) * most;
}

static double laplace_upper(uint32_t n, double x)
{
    if (n > SUMMED_DRAWS_MAX) {
        return laplace_upper_of_many(n, x);
    }
    double below[SUMMED_DRAWS_MAX]; /* P(NB <= j) */
    double term = ldexp(1, -(int)n);
    below[0] = term;
    for (uint32_t j = 1; j < n; j++) {
        term *= (double)(n + j - 1) / (2.0 * j);
        below[j] = below[j - 1] + term;
    }
    double poisson = exp(-x);
    double sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        sum += poisson * below[n - 1 - k];
        poisson *= x / (k + 1);
    }
    return sum * rounding;
}

/* So many times too large laplace_upper may be. */
static double slack_of(uint32_t n)
{
    const double most = 1 + 1.0 / n;
    return n > SUMMED_DRAWS_MAX ? most * most : rounding * rounding;
}

double query_noise_tail(const struct query_noise *noise, double x)
{
    const double n = noise->draws;
    if (noise->is_gaussian) {
        return rounding * erfc(x / sqrt(2.0 * n)) / 2;
    }
    if (x < 0 && noise->draws > SUMMED_DRAWS_MAX && -x < SINGULAR * sqrt(n)) {
        return 0.5 + (1 + 1 / n) * -x / sqrt(4 * M_PI * n); /* the density is largest at 0 */
    }
    return x >= 0 ? laplace_upper(noise->draws, x)
                  : fmin(1, 1 - laplace_upper(noise->draws, -x) / slack_of(noise->draws));
}
