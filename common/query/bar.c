/* bar.c - bars from the tails of sums of noise.
 *
 * Discrete noise lies within one step of a continuous variable, for each draw: a geometric variable
 * is an exponential one rounded down, and of the difference of two such roundings each is in [0, 1);
 * for the Gaussian P(Z >= m) <= P(N >= m - 1), and P(Z >= m) >= P(N >= m) for m >= 1, which is the
 * same on the other side (Canonne, Kamath, Steinke 2020, proposition 25; the second half is checked
 * by test_bar). Steps are what is added for it.
 *
 * Shares: n survivors of at least h make a Polya sum of index n/h. It is symmetric and unimodal, so
 * that an independent symmetric summand, up to the next whole index, can only widen its tails
 * (Anderson 1955, on the line). So are Gaussian shares, whose mass function is log-concave; h of them have the
 * probabilities of a whole Gaussian up to a factor of 1 + 1e-16 (gaussian_steps.h), which the tail's rounding covers. */

#include "query/bar.h"

#include "base/check.h"

#include <math.h>

enum { SLICES = 512, HALVINGS = 60 };

static const double reach = 4e-9; /* what the slices leave out on one side, and their rounding */

double query_noise_deviation(const struct query_noise *noise)
{
    const double noises = noise->whole_noises > 0 ? noise->whole_noises : noise->draws;
    return noise->scale * sqrt((noise->is_gaussian ? 1.0 : 2.0) * noises);
}

/* The least t with a tail of at most probability, from above. */
static double upper_inverse(const struct query_noise *noise, double probability)
{
    double low = 0;
    double high = 1;
    while (query_noise_tail(noise, high) > probability) {
        high *= 2;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        *(query_noise_tail(noise, middle) > probability ? &low : &high) = middle;
    }
    return high;
}

/* A lower bound on P(A + ratio B > t): B in slices, each at its upper end. weight (SLICES + 1) are
 * the slices' probabilities, the first one all below, and what lies above the last counts in full. */
static double mixed_upper(const struct query_noise *noise, double ratio, double end, double t,
                          const double *weight)
{
    double sum = reach;
    for (int i = 0; i <= SLICES; i++) {
        const double b = end * (2.0 * i / SLICES - 1);
        sum += weight[i] * query_noise_tail(noise, t - ratio * b);
    }
    return sum;
}

static double mixed_inverse(const struct query_noise *noise, double ratio, double probability)
{
    const double end = upper_inverse(noise, reach / 4);
    double weight[SLICES + 1];
    double above = 1;
    for (int i = 0; i <= SLICES; i++) {
        const double next = query_noise_tail(noise, end * (2.0 * i / SLICES - 1));
        weight[i] = fmax(above - next, 0) + 1e-15;
        above = next;
    }
    double low = 0;
    double high = 2 * upper_inverse(noise, probability / 4);
    while (mixed_upper(noise, ratio, end, high, weight) > probability) {
        high *= 2;
    }
    for (int i = 0; i < 20; i++) {
        const double middle = low + (high - low) / 2;
        *(mixed_upper(noise, ratio, end, middle, weight) > probability ? &low : &high) = middle;
    }
    return high;
}

double query_noise_bar(const struct query_noise *noise, double ratio, double probability)
{
    CHECK(isfinite(noise->scale) && noise->scale > 0);
    CHECK(noise->draws >= 1 && noise->draws <= QUERY_DRAWS_MAX);
    CHECK(ratio >= 0 && ratio <= 1 && probability >= (ratio > 0 ? 1e-6 : 1e-9));
    CHECK(probability <= 0.5);
    const double side = probability / 2;
    const double continuous =
        ratio > 0 ? mixed_inverse(noise, ratio, side) : upper_inverse(noise, side);
    return noise->scale * continuous + (1 + ratio) * noise->draws;
}

/* Tails of sums of continuous noise.
 *
 * n continuous Laplace variables of scale 1 have the sum X - Y, both Gamma(n): X is the time of the
 * n-th event of a Poisson process, so X > x + Y says that at most n - 1 events fell before x + Y:
 * before x a Poisson(x) number, in the Y after it a negative binomial NB(n, 1/2) one, independent.
 * Hence P(X - Y > x) = sum over k < n of P(Poisson(x) = k) P(NB <= n - 1 - k), for x >= 0; all terms
 * are positive, so nothing cancels. */

enum { SUMMED_DRAWS_MAX = 256 };

/* Rounding of at most some hundred positive terms. */
static const double rounding = 1 + 1e-9;

#define SINGULAR 0.01 /* below this many roots of the draws the formula below is not used */

/* For more draws than are summed term by term: Lugannani and Rice's saddlepoint formula (1980, Adv. Appl. Prob. 12), whose
 * error is far below a part in n here (tests/unit/common/query/test_tail.c compares it with the sum); this much is added.
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

/* How many times too large laplace_upper may be. */
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
