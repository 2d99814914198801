/* Let P and Q be the pair and l the privacy loss ln(P/Q). The divergence is ln(1 + X)/(alpha - 1)
 * with X = E_Q[(P/Q)^alpha] - 1 = E_Q[g(l)], g(l) = e^(alpha l) - 1 - alpha (e^l - 1) >= 0, because
 * E_Q[P/Q] = 1. Written so, all terms are positive and none cancels, however small epsilon and
 * alpha - 1 are. Where e^(alpha l) would overflow, the largest factor is taken out, and X is large.
 *
 * Rounding: an exponent x < LARGE that errs by x units moves e^x by as many, the other operations
 * add less than 100: SLACK units cover every sum of positive terms below. */

#include "account/curve.h"

#include "account/rounding.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLACK 1024
#define LARGE 300
/* Shifts of discrete Laplace noise up to here are summed term by term. */
#define SHORT_SHIFT 64

/* e^x - 1 - x >= 0 without cancellation */
static double excess(double x)
{
    if (fabs(x) > 0.5) {
        return expm1(x) - x;
    }
    double sum = 0;
    double term = x;
    for (int i = 2; i < 24; i++) {
        term *= x / i;
        sum += term; /* alternates for x < 0, but falls so fast that 2 units are lost at most */
    }
    return sum;
}

/* ln(1 + x)/(alpha - 1), rounded up: above 0 also where x > 0 underflowed */
static double divergence(double x, double alpha)
{
    return rounding_up(log1p(rounding_up(fmax(x, 0), SLACK)) / (alpha - 1), 8);
}

/* (log of something > 1, its terms of the size `size`)/(alpha - 1), rounded up */
static double large_divergence(double logarithm, double size, double alpha)
{
    return (logarithm + SLACK * DBL_EPSILON * (size + 1)) / (alpha - 1) * (1 + 4 * DBL_EPSILON);
}

double curve_pure(double epsilon, double alpha)
{
    if (!(epsilon > 0)) {
        return 0;
    }
    double gap = (alpha - 1) * epsilon;
    double x = alpha * epsilon;
    /* cosh((alpha - 1/2) epsilon)/cosh(epsilon/2) - 1 by the difference of two cosh */
    double bound =
        x < LARGE ? divergence(2 * sinh(x / 2) * sinh(gap / 2) / cosh(epsilon / 2), alpha)
                  : large_divergence(gap + log1p(exp(-gap - x)) - log1p(exp(-epsilon)), gap, alpha);
    return fmin(bound, epsilon);
}

double curve_laplace(double epsilon, double alpha)
{
    if (!(epsilon > 0)) {
        return 0;
    }
    double gap = (alpha - 1) * epsilon;
    double x = alpha * epsilon;
    double width = alpha + (alpha - 1);
    double bound = INFINITY;
    if (x < LARGE) {
        double sum = alpha * excess(gap) + (alpha - 1) * excess(-x);
        bound = divergence(sum / width, alpha);
    } else {
        double rest = log1p((alpha - 1) / alpha * exp(-gap - x));
        bound = large_divergence(gap - log1p((alpha - 1) / alpha) + rest, gap, alpha);
    }
    return fmin(bound, curve_pure(epsilon, alpha));
}

/* g(l) of the head of this file, and what the difference in it may have lost */
static double weight_of_loss(double loss, double alpha)
{
    double x = alpha * loss;
    bool small = fabs(x) <= 1;
    double first = small ? excess(x) : expm1(x);
    double second = alpha * (small ? excess(loss) : expm1(loss));
    return first - second + 16 * DBL_EPSILON * (fabs(first) + fabs(second));
}

/* Losses are rate (shift - 2 z) between 0 and shift, +-rate shift beyond. */
static double short_shift(double rate, double shift, double alpha)
{
    double outside = 1 / (1 + exp(-rate));
    double reach = rate * shift;
    double sum =
        outside * (weight_of_loss(-reach, alpha) + exp(-reach) * weight_of_loss(reach, alpha));
    for (uint64_t i = 1; i < (uint64_t)shift; i++) { /* Q is centred on shift */
        double z = (double)i;
        double mass = tanh(rate / 2) * exp(-rate * (shift - z));
        sum += mass * weight_of_loss(rate * (shift - 2 * z), alpha);
    }
    return divergence(sum, alpha);
}

/* The same sum as a geometric series: ln of e^gap [outside (1 + e^-(gap + x)) + the middle], in
 * which 1 cancels; what that loses is added. */
static double long_shift(double rate, double shift, double alpha)
{
    double reach = rate * shift;
    double gap = (alpha - 1) * reach;
    double slope = (alpha + (alpha - 1)) * rate;
    double outside = (1 + exp(-gap - alpha * reach)) / (1 + exp(-rate));
    double middle = tanh(rate / 2) * exp(-slope) * expm1(-slope * (shift - 1)) / expm1(-slope);
    return large_divergence(gap + log(outside + middle), gap + 1, alpha);
}

double curve_discrete_laplace(double rate, double shift, double alpha)
{
    double epsilon = rounding_up(rate * shift, 1);
    double bound = curve_pure(epsilon, alpha);
    if (!(epsilon > 0) || shift < 2) {
        return bound;
    }
    bound = fmin(bound, long_shift(rate, shift, alpha));
    if (shift <= SHORT_SHIFT && alpha * epsilon < LARGE) {
        bound = fmin(bound, short_shift(rate, shift, alpha));
    }
    return bound;
}

double curve_gaussian(double ratio, double alpha)
{
    return ratio > 0 ? rounding_up(ratio / 2 * alpha * ratio, 3) : 0;
}

/* ln(sinh(y)/y) for y > 0 */
static double log_shape(double y)
{
    if (y > 20) {
        return y - log(2 * y);
    }
    double term = y * y / 6;
    double sum = term;
    for (int i = 4; i < 20 && y < 1; i += 2) {
        term *= y * y / (i * (i + 1));
        sum += term;
    }
    return y < 1 ? log1p(sum) : log(sinh(y) / y);
}

/* The pair of shift t has losses t and t - epsilon; Q gives the first one the mass
 * (e^(epsilon - t) - 1)/(e^epsilon - 1). With w = e^-t, E_Q[(P/Q)^alpha] is w^-alpha (A w - B) up
 * to a factor, A = e^epsilon - e^(epsilon (1 - alpha)), B = 1 - e^((1 - alpha) epsilon): greatest
 * at w = alpha B/((alpha - 1) A). Nearby its logarithm falls by at most alpha (alpha - 1)/2 times
 * the square of the distance in t: that is what an inexact t may cost, and it is added.
 * Returns epsilon - t. */
static double worst_shift(double epsilon, double alpha)
{
    double gap = (alpha - 1) * epsilon;
    double x = alpha * epsilon;
    if (gap > 1) {
        return log1p(1 / (alpha - 1)) + log1p(-exp(-gap)) - log1p(-exp(-x));
    }
    return epsilon / 2 - (log_shape(x / 2) - log_shape(gap / 2));
}

double curve_bounded_range(double epsilon, double alpha)
{
    if (!(epsilon > 0)) {
        return 0;
    }
    double bound = fmin(curve_pure(epsilon, alpha), rounding_up(epsilon / 8 * alpha * epsilon, 4));
    double back = fmin(fmax(worst_shift(epsilon, alpha), 0), epsilon);
    double shift = epsilon - back;
    double x = alpha * epsilon;
    double inexact = 16 * DBL_EPSILON * fmin(1 + epsilon, epsilon + x);
    double missed = alpha * (alpha - 1) * inexact * inexact;
    double mass = exp(-shift) * (expm1(-back) / expm1(-epsilon));
    double other = expm1(-shift) / expm1(-epsilon);
    if (x < 1e-3) {
        return bound; /* alpha epsilon^2/8 is within a factor of 1 + alpha^2 epsilon^2/96 */
    }
    if (x < LARGE) {
        double sum = mass * weight_of_loss(shift, alpha) + other * weight_of_loss(-back, alpha);
        return fmin(bound, divergence(sum + 2 * missed * (1 + sum), alpha));
    }
    /* (alpha - 1) shift + ln of what the two losses share, both terms divided by e^(alpha shift) */
    double share = expm1(-back) / expm1(-epsilon) + exp(shift - x) * other;
    double logarithm = (alpha - 1) * shift + log(share);
    return fmin(bound, large_divergence(logarithm + missed, (alpha - 1) * epsilon, alpha));
}

/* ln(alpha - 1) from 10^-10 to 10^14 */
#define FIRST    (-23.0)
#define STEP     0.92
#define POINTS   61
#define SECTIONS 32
#define FEWER    26 /* of values that are not cheap: to 10^-10 of the best */

double minimise_order(double (*value)(double alpha, const void *context),
                      double (*least)(double alpha, const void *context), const void *context)
{
    const double golden = 0.6180339887498949;
    double best = INFINITY;
    double at = FIRST;
    for (int i = POINTS;
         i-- > 0;) { /* from the top: there bounds of sums are mostly INFINITY, and cheap */
        double alpha = 1 + exp(FIRST + STEP * i);
        if (least != NULL && least(alpha, context) >= best) {
            continue;
        }
        double here = value(alpha, context);
        if (here < best) {
            best = here;
            at = FIRST + STEP * i;
        }
    }
    double low = at - STEP;
    double high = at + STEP;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double left_value = value(1 + exp(left), context);
    double right_value = value(1 + exp(right), context);
    for (int i = 0; i < (least != NULL ? FEWER : SECTIONS); i++) {
        best = fmin(best, fmin(left_value, right_value));
        if (left_value <= right_value) {
            high = right;
            right = left;
            right_value = left_value;
            left = high - golden * (high - low);
            left_value = value(1 + exp(left), context);
        } else {
            low = left;
            left = right;
            left_value = right_value;
            right = low + golden * (high - low);
            right_value = value(1 + exp(right), context);
        }
    }
    return best;
}
