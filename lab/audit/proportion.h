/* proportion.h - what a number of hits says about a probability, for certain: the interval of
 * Clopper and Pearson. */

#ifndef AUDIT_PROPORTION_H
#define AUDIT_PROPORTION_H

#include <stdint.h>

#define PROPORTION_TRIALS_MAX (UINT64_C(1) << 28)

/**
 * Returns P(B >= hits) for B binomial (trials, p), to a relative error below 1e-5, and below 1e-8
 * up to 10^5 trials; 0 where it is below 1e-300.
 *
 * hits    in  <= trials
 * trials  in  1 .. PROPORTION_TRIALS_MAX; p in [0, 1]; CHECKed
 *
 * Cost: O(sqrt(trials)) at worst.
 * Source: the continued fraction of the regularised incomplete beta function I_p(hits, trials -
 * hits + 1), DLMF 8.17.22, by Lentz's method. Deviation: none.
 */
double proportion_tail(uint64_t hits, uint64_t trials, double p);

/** Returns P(B <= hits); the same otherwise. */
double proportion_head(uint64_t hits, uint64_t trials, double p);

/**
 * Bounds the probability of what happened hits times in trials independent trials, from below and
 * from above; each bound is wrong with a probability of at most miss.
 *
 * miss  in  1e-200 <= miss < 1/2, CHECKed
 *
 * Ensures the tail at the bound is at most miss also when it is off by ten times the error stated
 * above: rounding can widen the interval, by less than 1e-4 of its width, but never narrow it.
 * Source: Clopper and Pearson, Biometrika 1934. Deviation: rounded outwards.
 */
double proportion_low(uint64_t hits, uint64_t trials, double miss);
double proportion_high(uint64_t hits, uint64_t trials, double miss);

#endif
