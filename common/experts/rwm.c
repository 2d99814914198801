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
