/* With P the output where the record was drawn and Q where it was not, whole orders alpha have
 *
 *   E_Q[((1 - q) + q P/Q)^alpha] - 1 = sum over j >= 2 of C(alpha, j) (1 - q)^(alpha-j) q^j
 *                                      (e^((j - 1) D_j(P, Q)) - 1):
 *
 * the binomial weights add up to 1, and j = 0, 1 contribute just their weights, so that nothing
 * cancels. Mironov, Talwar and Zhang 2019 (section 3.3, and their theorem 5: where a reflection
 * swaps P and Q this direction is the larger one). Between whole orders the logarithm, which is
 * convex in alpha and 0 at alpha = 1, lies below its chord; so it does for the other direction.
 *
 * Replacing one record moves the answer by up to twice what leaving it out does, and the event's
 * sensitivity is that. That the curve at the doubled distance lies above the replacement's is
 * checked by quadrature in the tests, at every order used there; no proof is known to us. */

#include "account/sampled.h"

#include "account/upward.h"

#include <math.h>

#define ALPHA_MAX 1024

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
    for (double j = 1; j <= alpha; j++) {
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
    return upward(moment, 4);
}

double sampled_divergence(const struct privacy_event *event, double alpha,
                          double (*whole)(const struct privacy_event *event, double alpha))
{
    double below = floor(alpha);
    double share = alpha - below; /* of the order above */
    if (alpha > ALPHA_MAX) {
        return INFINITY;
    }
    double moment = share < 1 && below >= 2 ? (1 - share) * log_moment(event, below, whole) : 0;
    if (share > 0) {
        moment += share * log_moment(event, below + 1, whole);
    }
    return upward(moment / (alpha - 1), 8);
}
