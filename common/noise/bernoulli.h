/* bernoulli.h - coins that fall with probability exp(-x) for a rational x: exactly. */

#ifndef NOISE_BERNOULLI_H
#define NOISE_BERNOULLI_H

#include "base/random.h"

#include <stddef.h>
#include <stdint.h>

/* Prepared for one x = numerator / denominator; public parameters only. Whoever fills it is
 * noise_bernoulli_init. */
struct noise_bernoulli {
    uint64_t numerator;
    uint64_t denominator;
    uint64_t threshold; /* floor(2^64 exp(-x)), or 0 for x = 0 */
};

/**
 * Prepares one x.
 *
 * numerator    in  any: x may be 0, and as large as 2^64
 * denominator  in  > 0
 *
 * Fails with STATUS_INVALID when the denominator is 0.
 * Cost: some microseconds; memory of GMP's, which ends the program when there is none.
 */
MUST_USE enum status noise_bernoulli_init(struct noise_bernoulli *bernoulli, uint64_t numerator,
                                          uint64_t denominator);

/**
 * Draws coins, independent of each other, each 1 with probability exp(-x) and 0 otherwise.
 *
 * coins  out  (count); on failure all 0
 *
 * Fails with STATUS_NO_RANDOM: everything drawn so far is thrown away.
 * Ensures the probability is exactly exp(-x): one 64-bit word decides against the threshold, and
 * the one word that cannot (a tie, probability 2^-64) is extended until it does.
 * Cost: 8 random bytes and one comparison a coin, the same whatever falls, but for a tie.
 * Source: Canonne, Kamath, Steinke, NeurIPS 2020, algorithm 1. Deviation: theirs loops as often as
 * the outcome says; the distribution is the same.
 */
MUST_USE enum status noise_bernoulli_draw(const struct noise_bernoulli *bernoulli,
                                          const struct random *random, uint8_t *coins,
                                          size_t count);

#endif
