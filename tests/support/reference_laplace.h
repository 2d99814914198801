/* reference_laplace.h - the plain sampler that tests and benches hold noise/laplace.h against: Canonne, Kamath,
 * Steinke, NeurIPS 2020, algorithms 1 and 2. Its time follows the value drawn: never for an answer. */

#ifndef SUPPORT_REFERENCE_LAPLACE_H
#define SUPPORT_REFERENCE_LAPLACE_H

#include "base/random.h"
#include "base/wide.h"
#include "noise/laplace.h"

#include <stdbool.h>

/* A source that keeps its failure, so that the algorithm below can be written as in the paper. */
struct draws {
    const struct random *random;
    enum status status;
};

/* Uniform on 0 .. end - 1; 0 once the source has failed. */
static inline uint128 draw_uniform(struct draws *draws, uint128 end)
{
    uint128 mask = end - 1;
    for (unsigned shift = 1; shift < 128; shift *= 2) {
        mask |= mask >> shift;
    }
    uint128 value = 0;
    do {
        if (draws->status == STATUS_OK) {
            draws->status = random_fill(draws->random, &value, sizeof value);
        }
        if (draws->status != STATUS_OK) {
            return 0;
        }
        value &= mask;
    } while (value >= end);
    return value;
}

/* 1 with probability exp(-a/b), for a <= b: algorithm 1. */
static inline bool draw_exp(struct draws *draws, uint64_t a, uint64_t b)
{
    unsigned k = 1;
    while (draws->status == STATUS_OK && draw_uniform(draws, (uint128)b * k) < a) {
        k++;
    }
    return k % 2 == 1;
}

/* Algorithm 2, where the scale is called t/s. */
static inline enum status noise_reference_draw(struct noise_scale scale,
                                               const struct random *random, int64_t *value)
{
    struct draws draws = {.random = random, .status = STATUS_OK};
    uint64_t t = scale.numerator;
    uint64_t s = scale.denominator;

    *value = 0;
    if (!noise_scale_is_valid(scale)) {
        return STATUS_INVALID;
    }
    while (draws.status == STATUS_OK) {
        uint64_t u = (uint64_t)draw_uniform(&draws, t);
        if (!draw_exp(&draws, u, t)) {
            continue;
        }
        uint128 v = 0;
        while (draws.status == STATUS_OK && draw_exp(&draws, 1, 1)) {
            v++;
        }
        uint64_t magnitude = (uint64_t)((u + t * v) / s);
        bool negative = draw_uniform(&draws, 2) == 1;
        if (draws.status == STATUS_OK && !(negative && magnitude == 0)) {
            *value = (int64_t)(negative ? 0 - magnitude : magnitude);
            return STATUS_OK;
        }
    }
    return draws.status;
}

#endif
