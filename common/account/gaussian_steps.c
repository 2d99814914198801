/* Let Z have discrete Gaussian coordinates of deviation t (in steps) and d = x - y, so that P_x/P_y
 * at y + z is r_d(z) = exp((<z, d> - |d|^2/2)/t^2): whole shifts leave the normaliser alone. Then
 *
 *     H_c(d) = E max(0, r_d(Z) - c)
 *
 * is the mean of a convex function of <Z, d>, which added noise of mean 0 can only raise (Jensen).
 * Add W, continuous, N(0, s^2) each, s = 2: at a point p the density of Z + W is that of
 * N(0, t^2 + s^2) times, for each coordinate, a sum of exp(-(z - a)^2/(2 b^2)) over the whole z, over
 * b sqrt(2 pi), b^2 = t^2 s^2/(t^2 + s^2), a where p falls; over what the same sum is for Z's
 * normaliser, at least 1. By Poisson's summation formula each is at most 1 + 2.1 exp(-2 pi^2 b^2),
 * below 1 + 2^-105 for t >= 8; all 2^26 coordinates together make less than 1 + 2^-78. Hence, with
 * m = |d|/t and e = s^2/t^2,
 *
 *     H_c(d) <= (1 + 2^-78) C(k, v),  C(k, v) = E max(0, k exp(v N - v^2/2) - c),
 *     v = m sqrt(1 + e),  k = exp(m^2 e/2),
 *
 * N a standard normal. C grows with k and with v, and so with m: the longest d is the worst. C(1, v)
 * is the curve of two continuous Gaussians v deviations apart. It remains to pay for k > 1 with a
 * larger v. With h = ln(k/c)/v + v/2, dC/dk = Phi(h) <= 1 and dC/dv = k phi(h). For c >= 1 it is
 * h <= ln(k)/v + v/2. As long as that is at most D, for 0 <= D, and h < 0 included, where Phi/phi
 * is below its value at 0,
 *
 *     C(k, v) <= C(1, v + (k - 1) sqrt(2 pi) exp(D^2/2)),
 *
 * and the factor 1 + 2^-78 is paid likewise, for d ln C/dv >= phi(h)/Phi(h), by far less than the
 * slack below. */

#include "account/gaussian_steps.h"

#include <float.h>
#include <math.h>

static const double blur = 2;           /* s */
static const double sigma_least = 0.25; /* D stays small */
static const double steps_least = 8;    /* t */
static const double root_two_pi = 2.50662827463101;
static const double spare = 0.25;  /* of D beyond half the distance */
static const double slack = 1e-12; /* roundings, and the factor of Poisson's formula */

double gaussian_steps_sigma(double sigma, double steps)
{
    if (!(sigma >= sigma_least) || !(sigma * steps >= steps_least)) {
        return 0;
    }
    const double m = 1 / sigma;
    const double e = blur / (sigma * steps) * (blur / (sigma * steps));
    const double v = m * sqrt(1 + e);
    const double log_k = m * m * e / 2;
    const double d = m / 2 + spare;
    const double widened = v + expm1(log_k) * root_two_pi * exp(d * d / 2);
    if (log_k / v + widened / 2 > d) {
        return 0;
    }
    return (1 - slack) / widened;
}

/* Poisson's summation formula, once for every part that is added.
 *
 * X and Y are discrete Gaussians of parameters a and b. With s^2 = a^2 b^2/(a^2 + b^2), completing the square gives
 *
 *     P(X + Y = z) ~ exp(-z^2/(2 (a^2 + b^2))) T(c),   T(c) = sum over whole x of exp(-(x - c)^2/(2 s^2)),
 *
 * where c = z a^2/(a^2 + b^2). So the ratio to the discrete Gaussian W of a^2 + b^2 is T(c) over the mean of T under W.
 * By Poisson's formula T(c) = s sqrt(2 pi) (1 + 2 sum over j >= 1 of q^(j^2) cos(2 pi j c)), q = exp(-2 pi^2 s^2). All
 * values of T are within factors 1 - e and 1 + e of s sqrt(2 pi), for e = 2 q/(1 - q). Hence the logarithm of the ratio
 * is at most ln((1 + e)/(1 - e)) <= 2 e/(1 - e^2), below 5 q where s^2 >= 1/8.
 *
 * Z(k), the sum of k parts, is within d of the discrete Gaussian of k sigma^2. Adding an independent part keeps a bound
 * on ratios of probabilities. So Z(k + 1) is within d of the sum of that Gaussian and a part, and this sum is within
 * 5 exp(-2 pi^2 sigma^2 k/(k + 1)) of the next Gaussian. s^2 is sigma^2 k/(k + 1) >= 1/8 for sigma >= 1/2. */

static const double part_least = 0.5;
static const double two_pi_squared = 19.739208802178716; /* rounded down: 19.7392088021787172.. */

double gaussian_sum_distance(double sigma, uint64_t parts)
{
    double sum = 0;
    if (!(sigma >= part_least)) {
        return INFINITY;
    }
    for (uint64_t k = 1; k < parts; k++) {
        const double exponent = two_pi_squared * sigma * sigma * ((double)k / ((double)k + 1));
        sum += exp(-exponent * (1 - 8 * DBL_EPSILON));
    }
    return 10 * sum * (1 + (8 + (double)parts) * DBL_EPSILON);
}
