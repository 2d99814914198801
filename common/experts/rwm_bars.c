/* How far noise on the losses may have moved the weights. On the scale of ln(w/(1 - w)) a weight is the expert's own loss and
 * the log-sum of the others', g_i = a_i - ln sum_j exp(a_j) with a = -eta L. Noise of variance V on each L, independent, makes
 * of it, to the first order (the delta method), variance eta^2 V (1 + sum_j v_j^2), v_j the shares that the others have among
 * themselves. For two experts that is exact. A log-sum of noisy numbers is too large in the mean, by at most eta^2 V/2 (Jensen,
 * for normal noise) and by at most eta sqrt(2 V ln(k - 1)), as the largest of k - 1 normal numbers. So the bar is longer
 * above by the smaller of the two. A bar on the scale of w itself would be short where much noise has made a weight nearly 0
 * or 1. */

#include "experts/rwm.h"

#include "base/check.h"

#include <math.h>

static const double DEVIATIONS = 2; /* 95.4 % of a normal law, 94.1 % of a Laplace law */

/* Of all but one: the log-sum of their weights, and the sum of the squares of their shares. */
struct others {
    double log_sum;
    double squares;
};

static struct others sum_but(const double *weight, size_t count, size_t left_out)
{
    double most = 0;
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        most = i == left_out ? most : fmax(most, weight[i]);
    }
    for (size_t i = 0; i < count && most > 0; i++) {
        const double share = i == left_out ? 0 : weight[i] / most;
        sum += share;
        squares += share * share;
    }
    return most > 0 ? (struct others){log(most) + log(sum), squares / (sum * sum)}
                    : (struct others){-INFINITY, 1};
}

/* The leader is left out of none but its own sum, so that what is taken away is at most half. */
static struct others others_of(const double *weight, size_t count, const struct others *all,
                               size_t expert, size_t leader)
{
    if (expert == leader) {
        return sum_but(weight, count, leader);
    }
    const double share = weight[expert];
    const double rest = 1 - share;
    return (struct others){log1p(-share),
                           fmin(1, fmax(0, all->squares - share * share) / (rest * rest))};
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

void rwm_bars(double *low, double *high, const double *probability, size_t count, double deviation)
{
    CHECK(count >= 1 && isfinite(deviation) && deviation >= 0);
    if (count == 1) {
        low[0] = high[0] = 1;
        return;
    }
    size_t leader = 0;
    for (size_t i = 1; i < count; i++) {
        leader = probability[i] > probability[leader] ? i : leader;
    }
    const struct others all = sum_but(probability, count, count);
    for (size_t i = 0; i < count; i++) {
        const struct others others = others_of(probability, count, &all, i, leader);
        const double at = log(probability[i]) - others.log_sum;
        const double reach = DEVIATIONS * deviation * sqrt(1 + others.squares);
        const double above = deviation * fmin(deviation / 2, sqrt(2 * log((double)(count - 1))));
        low[i] = logistic(at - reach);
        high[i] = logistic(at + reach + above);
    }
}
