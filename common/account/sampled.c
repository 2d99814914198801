/* With P the output where the record was drawn and Q where it was not, whole orders alpha have
 *
 *   E_Q[((1 - q) + q P/Q)^alpha] - 1 = sum over j >= 2 of C(alpha, j) (1 - q)^(alpha-j) q^j
 *                                      (e^((j - 1) D_j(P, Q)) - 1):
 *
 * the binomial weights add up to 1, and j = 0, 1 contribute just their weights, so that nothing
 * cancels. Mironov, Talwar and Zhang 2019 (section 3.3, and their theorem 5: where a reflection
 * swaps P and Q this direction is the larger one). Between whole orders the logarithm, which is
 * convex in alpha and 0 at alpha = 1, lies below its chord; so it does for the other direction. Of
 * Gaussian noise sampled_gaussian_moment() has every order itself.
 *
 * Replacing one record is another pair, (1 - q) mu_0 + q mu_1 against (1 - q) mu_0 + q mu_1', and not
 * dominated by the one above (lab/composition/pld_run.c; tests/property/common/account/test_closed.c
 * has two runs of it that cost more than two runs of the pair above). It is dominated by the pair whose hockey-stick curve
 * is the one above, H_c, for c >= 1 in both orders, at the distance between mu_1 and mu_1', which is the
 * event's sensitivity. Any divergence is an integral over that curve:
 *
 *   E[r^alpha] - 1 = alpha (alpha - 1) [integral over c >= 1 of c^(alpha-2) H_c(P, Q)
 *                                       + integral over c >= 1 of c^(-alpha-1) H_c(Q, P)].
 *
 * With H_c in place of H_c(Q, P) both can be carried out for Gaussian noise (sampled_gaussian_moment). For
 * other noise the second integral is E_Q[psi(r)] over r = P/Q > 1, psi(r) = integral
 * from 1 to r of c^(-alpha-1) (r - c) dc <= (r - 1)^2/2. So the moment grows by at most
 * alpha (alpha - 1)/2 E_Q[(r - 1)^2], which is the moment of order 2, less 1, times alpha (alpha - 1)/2;
 * and by at most itself, less 1, because H_c(Q, P) <= H_c(P, Q) and the integral with (P, Q) in its
 * first place is the larger one. That takes curves to grow with the distance, as those of one number's
 * noise and of continuous Gaussian vectors do. Those of discrete Gaussian vectors do but for what the
 * grid makes of them: a charge for such a vector is an event of continuous noise here
 * (gaussian_steps.h). And replaced records of a sample never cost more than unsampled ones
 * (renyi.c). */

#include "account/sampled.h"

#include "account/law.h"
#include "account/rounding.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define ALPHA_MAX 1024

/* With b = e^(m s) the ratio of the unsampled outputs at s + m/2 deviations from the centre of Q, m the
 * distance in deviations, and r = 1 + q (b - 1):
 *
 *   removed:   E_Q[r^alpha] - 1 = E_Q[r^alpha - 1 - alpha (r - 1)], for E_Q[r] = 1;
 *   replaced:  E_Q[(r^alpha - 1)(1 - r^(1-alpha)); r > 1],
 *
 * the latter by carrying out both integrals of sampled.c's head with H_c(P, Q) = E_Q[(r - c)+]. Both are
 * means of functions of r that are convex, 0 at r = 1 and positive elsewhere, so no terms cancel. On a
 * cell of s such a function lies below its chord, whose mean takes no more than the cell's masses under
 * both outputs: an upper bound, too high by the order of the square of the cell's width. Beyond the last
 * cell r/b is at most what it is there, and the mean of b^alpha is known; r > 1 - q on the other side. */

#define CELL_WIDTH   0.125 /* deviations; less where r^alpha grows faster */
#define GROWTH       0.5
#define CELLS_MAX    4096
#define REST         1e-4 /* of the sum, that may be left to the tails' bounds */
#define EXPONENT_MAX 600.0
#define SMALL        1e-5
#define ROUNDING     1e-10 /* of all that is added up here, and more */
#define ROOT_HALF    0.70710678118654752440

struct curve {
    double m;
    double q;
    double alpha;
    bool replaced;
};

/* The convex function at r = 1 + y, perhaps a few roundings less. */
static double value_at(const struct curve *curve, double y)
{
    double alpha = curve->alpha;
    double loss = log1p(y);
    if (alpha * loss > EXPONENT_MAX) {
        return INFINITY;
    }
    if (curve->replaced) {
        return expm1(alpha * loss) * -expm1((1 - alpha) * loss);
    }
    if (fabs(y) * (1 + alpha) < SMALL) { /* the second derivative is within e^SMALL of that at 1 */
        return alpha * (alpha - 1) / 2 * y * y * (1 + 2 * SMALL);
    }
    double grown = (1 + y) * expm1((alpha - 1) * loss);
    double taken = (alpha - 1) * y;
    return grown - taken + 8 * DBL_EPSILON * (fabs(grown) + fabs(taken));
}

/* What a cell contributes whose ends lie at s = near and far, near the one closer to 0. */
static double cell(const struct curve *curve, double near, double far)
{
    double width = fabs(far - near);
    double middle = curve->m / 2 + (near + far) / 2;
    double without = law_normal(middle, width);
    double with = law_normal(middle - curve->m, width);
    double error = law_normal_error(middle, width) + law_normal_error(middle - curve->m, width);
    double from = expm1(curve->m * near);
    double to = expm1(curve->m * far);
    if (!(without > 0 && with > 0)) {
        return INFINITY;
    }
    double size = with / without;
    double slack = (error + 8 * DBL_EPSILON * (1 + fabs(curve->m * far))) * (size + 1 + fabs(to));
    double share = (size - 1 - from) / (to - from) + slack / fabs(to - from);
    double low = value_at(curve, curve->q * from);
    double high = value_at(curve, curve->q * to);
    return without * (1 + error) * (low + fmin(1, fmax(0, share)) * fmax(0, high - low));
}

static double normal_tail(double x)
{
    return erfc(x * ROOT_HALF) / 2;
}

/* The outcomes of r > 1; the caller rounds up. Cells are narrower where r^alpha grows faster. */
static double upper_side(const struct curve *curve)
{
    double centre = curve->alpha * curve->m; /* of b^alpha Q */
    double whole = curve->alpha * (curve->alpha - 1) / 2 * curve->m * curve->m;
    double sum = 0;
    double start = 0;
    for (unsigned i = 0; i < CELLS_MAX; i++) {
        double b = exp(curve->m * start);
        double slope = centre * curve->q * b / (1 - curve->q + curve->q * b);
        double end = start + fmin(CELL_WIDTH, GROWTH / slope);
        double beyond = end + curve->m / 2 - centre;
        sum += cell(curve, start, end);
        if (!isfinite(sum)) {
            return INFINITY;
        }
        double share = log1p(curve->q * expm1(curve->m * end)) - curve->m * end;
        double rest = exp(whole + curve->alpha * share) * normal_tail(beyond);
        if (rest <= REST * sum) {
            return sum + rest;
        }
        start = end;
    }
    return INFINITY;
}

/* The outcomes of r < 1. */
static double lower_side(const struct curve *curve)
{
    double most = value_at(curve, -curve->q);
    double sum = 0;
    for (unsigned i = 0; i < CELLS_MAX; i++) {
        double end = -CELL_WIDTH * (i + 1);
        sum += cell(curve, end + CELL_WIDTH, end);
        double rest = most * normal_tail(-end - curve->m / 2);
        if (!isfinite(sum) || rest <= REST * sum) {
            return sum + rest;
        }
    }
    return INFINITY;
}

/* Bounds ln E_Q[(P/Q)^alpha] from above, for a ratio > 0 of sensitivity over sigma, at any finite alpha > 1. replaced: the pair is that of
 * the head of this file, no better than a record replaced, in either order; else a record removed. INFINITY where the moment is so large
 * that the unsampled one will do. At most 3 % above the truth for ratios up to 2, mostly 0.5 %. Cost: some hundred cells, two error
 * functions each. */
static double sampled_gaussian_moment(double ratio, double sampling, double alpha, bool replaced)
{
    struct curve curve = {ratio, sampling, alpha, replaced};
    double sum = upper_side(&curve);
    if (!replaced) {
        sum += lower_side(&curve);
    }
    return rounding_up(log1p(sum * (1 + ROUNDING)), 4);
}

/* ln(e^x - 1), x > 0 */
static double log_expm1(double x)
{
    return x > 30 ? x + log1p(-exp(-x)) : log(expm1(x));
}

/* ln E_Q[..] of a whole order, rounded up */
static double log_moment(const struct privacy_event *event, double alpha,
                         double (*whole)(const struct privacy_event *event, double alpha))
{
    double odds = log(event->sampling) - log1p(-event->sampling);
    double weight = alpha * log1p(-event->sampling);
    double size = fabs(weight);
    double top = -INFINITY;
    double sum = 0; /* of e^(term - top) */
    for (int i = 1; i <= (int)alpha; i++) {
        double j = i;
        weight += log((alpha - j + 1) / j) + odds;
        size = fmax(size, fabs(weight));
        double log_ratio = j < 2 ? 0 : (j - 1) * whole(event, j);
        if (!(log_ratio > 0)) {
            continue;
        }
        double term = weight + log_expm1(log_ratio);
        size = fmax(size, fabs(log_ratio));
        sum = term > top ? sum * exp(top - term) + 1 : sum + exp(term - top);
        top = fmax(top, term);
    }
    if (!(sum > 0)) {
        return 0;
    }
    double logarithm = top + log(sum) + 4 * DBL_EPSILON * (alpha + 4) * (size + fabs(odds) + 8);
    double moment = logarithm > 30 ? logarithm + exp(-logarithm) : log1p(exp(logarithm));
    return rounding_up(moment, 4);
}

/* ln E_Q[..] of any order up to ALPHA_MAX, rounded up */
static double log_moment_between(const struct privacy_event *event, double alpha,
                                 double (*whole)(const struct privacy_event *event, double alpha))
{
    double below = floor(alpha);
    double share = alpha - below; /* of the order above */
    double moment = share < 1 && below >= 2 ? (1 - share) * log_moment(event, below, whole) : 0;
    if (share > 0) {
        moment += share * log_moment(event, below + 1, whole);
    }
    return rounding_up(moment, 8);
}

/* ln(e^moment + growth), where the growth is the smaller of the two that the head of this file
 * proves; rounded up. */
static double log_moment_replaced(const struct privacy_event *event, double alpha, double moment,
                                  double (*whole)(const struct privacy_event *event, double alpha))
{
    double least = -expm1(-moment); /* e^-moment times the growth */
    double second = log_moment(event, 2, whole);
    if (second < 600 && moment < 600) {
        double growth = alpha * (alpha - 1) / 2 * expm1(second) * exp(-moment);
        least = fmin(least, growth);
    }
    return rounding_up(moment + log1p(rounding_up(least, 16)), 8);
}

double sampled_divergence(const struct privacy_event *event, double alpha, bool close,
                          double (*whole)(const struct privacy_event *event, double alpha))
{
    bool replaced = event->neighbours == NEIGHBOURS_REPLACE_ONE;
    double moment = INFINITY;
    if (alpha > ALPHA_MAX) {
        return INFINITY;
    }
    bool cells = close && event->mechanism == MECHANISM_GAUSSIAN;
    if (cells && (replaced || floor(alpha) < alpha)) {
        double ratio = rounding_quotient_up(event->sensitivity, event->parameter);
        moment = sampled_gaussian_moment(ratio, event->sampling, alpha, replaced);
    }
    if (!cells || !replaced) {
        double between = log_moment_between(event, alpha, whole);
        if (replaced && isfinite(between)) {
            between = log_moment_replaced(event, alpha, between, whole);
        }
        moment = fmin(moment, between);
    }
    return rounding_up(moment / (alpha - 1), 8);
}
