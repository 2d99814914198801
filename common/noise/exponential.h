/* exponential.h - 2^62 exp(-eta d) for many whole d at once, from below and certified, in a time
 * that says nothing about d; and what a draw that falls between the bounds needs to be exact after
 * all. */

#ifndef NOISE_EXPONENTIAL_H
#define NOISE_EXPONENTIAL_H

#include "base/random.h"
#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOISE_EXPONENTIAL_BITS = 62, NOISE_EXPONENTIAL_SLACK = 8 };

/* Prepared for one eta = numerator / denominator; public parameters only. noise_exponential_init fills it. */
struct noise_exponential {
    uint64_t numerator;
    uint128 denominator;
    uint64_t rate; /* eta / ln 2 = rate * 2^(up - down - 64), rounded up; above 64 taken as 64 */
    unsigned up;
    unsigned down;
    uint64_t distance_max; /* from here on exp(-eta d) is far below 2^-64, or no d is larger */
};

/**
 * Prepares one eta.
 *
 * Fails with STATUS_INVALID when numerator or denominator is 0.
 * Cost: some microseconds; memory of GMP's, which ends the program when there is none.
 */
MUST_USE enum status noise_exponential_init(struct noise_exponential *exponential,
                                            uint64_t numerator, uint128 denominator);

/**
 * Bounds 2^62 exp(-eta d) from below.
 *
 * weight    out  (count)
 * distance  in   (count)  any; may be the same memory as weight
 *
 * Ensures weight <= 2^62 exp(-eta distance) < weight + NOISE_EXPONENTIAL_SLACK, whatever the
 * distance: there is no overflow, and what is too small is 0. Multiplications, additions and shifts
 * only: no branch and no address depends on a distance.
 * Cost: 13 multiplications each. Allocates nothing.
 */
void noise_exponential_floor(const struct noise_exponential *exponential, uint64_t *weight,
                             const uint64_t *distance, size_t count);

/**
 * Draws whether 2^62 exp(-eta distance) > whole + U for a uniform real U in [0, 1): exactly.
 *
 * Fails with STATUS_NO_RANDOM; *above is then false.
 * Cost: some microseconds and GMP's memory; time depends on everything. Call it only when
 * weight <= whole < weight + NOISE_EXPONENTIAL_SLACK and whole is random, which is very rare.
 */
MUST_USE enum status noise_exponential_above(const struct noise_exponential *exponential,
                                             const struct random *random, uint64_t distance,
                                             uint64_t whole, bool *above);

#endif
