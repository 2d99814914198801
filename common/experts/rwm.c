/* Littlestone and Warmuth 1994; Freund and Schapire 1997 (Hedge); Dwork and Roth, "The Algorithmic
 * Foundations of Differential Privacy", chapter 11, algorithms 15 and 16. Deviation: the smallest
 * loss is subtracted before exponentials are taken, which changes no probability and keeps them in
 * range. */

#include "experts/rwm.h"

#include "base/bytes.h"
#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

double rwm_eta_noisy(size_t count, uint64_t rounds, double sigma)
{
    CHECK(count >= 1 && rounds >= 1 && sigma >= 0);
    const double squared = 8 * log((double)count) / ((double)rounds * (1 + 4 * sigma * sigma));
    return sqrt(squared) * (1 - 8 * DBL_EPSILON);
}

double rwm_eta_free(size_t count, uint64_t rounds)
{
    return rwm_eta_noisy(count, rounds, 0);
}

enum status rwm_init(struct rwm *rwm, size_t count, double eta)
{
    CHECK(count >= 1);
    CHECK(isfinite(eta) && eta >= 0);
    *rwm = (struct rwm){.count = count, .eta = eta};
    rwm->loss = calloc(count, sizeof *rwm->loss);
    return rwm->loss != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void rwm_set_prior(struct rwm *rwm, const double *weight)
{
    CHECK(rwm->rounds == 0 && (rwm->eta > 0 || rwm->count == 1));
    for (size_t i = 0; i < rwm->count && rwm->count > 1; i++) {
        CHECK(isfinite(weight[i]) && weight[i] > 0);
        rwm->loss[i] = -log(weight[i]) / rwm->eta;
    }
}

void rwm_free(struct rwm *rwm)
{
    if (rwm != NULL) {
        free(rwm->loss);
        *rwm = (struct rwm){0};
    }
}

void rwm_observe(struct rwm *rwm, const double *loss)
{
    for (size_t i = 0; i < rwm->count; i++) {
        CHECK(isfinite(loss[i]));
        rwm->loss[i] += loss[i];
    }
    rwm->rounds++;
}

size_t rwm_leader(const struct rwm *rwm)
{
    size_t leader = 0;
    for (size_t i = 1; i < rwm->count; i++) {
        leader = rwm->loss[i] < rwm->loss[leader] ? i : leader;
    }
    return leader;
}

void rwm_probabilities(double *probability, const struct rwm *rwm)
{
    const double least = rwm->loss[rwm_leader(rwm)];
    double sum = 0;
    for (size_t i = 0; i < rwm->count; i++) {
        probability[i] = exp(-rwm->eta * (rwm->loss[i] - least));
        sum += probability[i];
    }
    CHECK(sum >= 1); /* the leader's alone is 1 */
    for (size_t i = 0; i < rwm->count; i++) {
        probability[i] /= sum;
    }
}

enum status rwm_draw(const struct rwm *rwm, const struct random *random, size_t *expert)
{
    uint8_t bytes[8] = {0};
    *expert = 0;
    const enum status status = random_fill(random, bytes, sizeof bytes);
    if (status != STATUS_OK) {
        return status;
    }
    const double least = rwm->loss[rwm_leader(rwm)];
    double sum = 0;
    for (size_t i = 0; i < rwm->count; i++) {
        sum += exp(-rwm->eta * (rwm->loss[i] - least));
    }
    const double target = ldexp((double)(load_u64(bytes) >> 11), -53) * sum;
    double below = 0;
    for (size_t i = 0; i < rwm->count; i++) {
        const double weight = exp(-rwm->eta * (rwm->loss[i] - least));
        below += weight;
        if (weight > 0) {
            *expert = i;
        }
        if (target < below) {
            break;
        }
    }
    return STATUS_OK;
}

/* How far noise on the losses may have moved the weights. On the scale of ln(w/(1 - w)) a weight is the expert's own loss and
 * the log-sum of the others', g_i = a_i - ln sum_j exp(a_j) with a = -eta L. Noise of variance V on each L, independent, makes
 * of it, to the first order (the delta method), variance eta^2 V (1 + sum_j v_j^2), v_j the shares that the others have among
 * themselves. For two experts that is exact. A log-sum of noisy numbers is too large in the mean, by at most eta^2 V/2 (Jensen,
 * for normal noise) and by at most eta sqrt(2 V ln(k - 1)), as the largest of k - 1 normal numbers. So the bar is longer
 * above by the smaller of the two. A bar on the scale of w itself would be short where much noise has made a weight nearly 0
 * or 1. */

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
