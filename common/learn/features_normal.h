/* features_normal.h - public random numbers, the same on every machine. They follow from the seed
 * alone. For random features and the order of a descent, never for noise. */

#ifndef LEARN_FEATURES_NORMAL_H
#define LEARN_FEATURES_NORMAL_H

#include <stdint.h>

struct public_random {
    uint64_t state;
};

/** Starts the sequence of a seed. */
struct public_random public_random_from(uint64_t seed);

/** Returns 64 bits: a mixed counter. Source: Steele, Lea and Flood 2014 (SplitMix64). */
uint64_t public_random_next(struct public_random *random);

/**
 * Returns a standard normal number by integer comparisons alone: no function of a mathematical
 * library, so no two machines differ. The only rounding is the last conversion to double.
 *
 * Exactly normal but for the uniform numbers' 48 bits: each comparison errs by less than 2^-47.
 * Source: Karney, "Sampling exactly from the normal distribution", ACM TOMS 42, 2016, algorithm N.
 * Deviation: 48 bits per uniform number in place of bits on demand.
 */
double public_random_normal(struct public_random *random);

#endif
