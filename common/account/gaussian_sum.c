/* gaussian_sum.c - Poisson's summation formula, once for every part that is added.
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

#include "account/gaussian_sum.h"

#include <float.h>
#include <math.h>

static const double sigma_least = 0.5;
static const double two_pi_squared = 19.739208802178716; /* rounded down: 19.7392088021787172.. */

double gaussian_sum_distance(double sigma, uint64_t parts)
{
    double sum = 0;
    if (!(sigma >= sigma_least)) {
        return INFINITY;
    }
    for (uint64_t k = 1; k < parts; k++) {
        const double exponent = two_pi_squared * sigma * sigma * ((double)k / ((double)k + 1));
        sum += exp(-exponent * (1 - 8 * DBL_EPSILON));
    }
    return 10 * sum * (1 + (8 + (double)parts) * DBL_EPSILON);
}
