/* bernoulli_private.h - a coin of any probability that can be enclosed as closely as one likes. */

#ifndef NOISE_BERNOULLI_PRIVATE_H
#define NOISE_BERNOULLI_PRIVATE_H

#include "base/random.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

/* A real number, as closely as wanted. */
struct real {
    /** Sets low <= the number <= high, both of the precision of low. The distance goes to 0 as the
     * precision grows. */
    void (*enclose)(const void *self, mpfr_t low, mpfr_t high);
    const void *self;
};

/**
 * Tells whether a uniform real U in [0, 1), of which the first `bits` bits are `first`, lies below
 * a probability; draws more bits of U as long as that is open.
 *
 * bits  in  1 .. 64; first < 2^bits
 *
 * Fails with STATUS_NO_RANDOM; *below is then false.
 * Cost: microseconds and GMP's memory; time depends on everything. Call it next to never.
 */
MUST_USE enum status noise_bernoulli_decide(const struct random *random, uint64_t first,
                                            unsigned bits, const struct real *probability,
                                            bool *below);

/** Sets out (at least 64 bits of precision, else rounded as told) to value. */
void noise_set_u64(mpfr_t out, uint64_t value, mpfr_rnd_t toward);

#endif
