/* select.h - picks the best of many candidates by scores that hold data, privately: the answer is
 * one index, paid for by a grant.
 *
 * Scores are losses, smaller is better. Neighbours' scores differ by at most `sensitivity` each, in
 * any direction. For all three below:
 *
 * grant        takes  *grant, whatever happens, and leaves NULL there: one grant, one pick
 * chosen       out    below count; SIZE_MAX on failure
 * scores       in     (count)  any; no difference overflows
 * count        in     > 0
 * sensitivity  in     >= 1, in units of the scores
 *
 * Fails with STATUS_NO_RANDOM, or STATUS_INVALID when the grant is for another mechanism, when
 * sensitivity is 0 or as said below; the spend stays.
 * Ensures the distribution is exactly the one stated. Control flow and memory accesses do not
 * depend on scores or on what is drawn, but with the probability given, which scores barely move;
 * the exponential mechanism's, above 2^16 candidates, on which sixty-fourth the chosen one is in.
 * Privacy: the grant's epsilon, delta 0. */

#ifndef DP_SELECT_H
#define DP_SELECT_H

#include "base/random.h"
#include "dp/ledger.h"

#include <stddef.h>
#include <stdint.h>

/**
 * The exponential mechanism: P(i) ~ exp(-eta scores[i]), eta = epsilon / (2 sensitivity).
 *
 * The grant is for MECHANISM_EXPONENTIAL: its epsilon is a bounded range, 2 eta sensitivity.
 * Privacy: besides epsilon-DP, epsilon-bounded-range: composed, it costs less than epsilon-DP does
 * (rho = epsilon^2/8 against epsilon^2/2).
 * Cost: three readings of the scores, above 2^16 candidates hardly more than two, 24 random bytes
 * in all; the exact path is taken with a probability below count * 2^-59. Allocates on the exact
 * path alone.
 * Source: McSherry and Talwar, FOCS 2007; range: Durfee and Rogers, NeurIPS 2019;
 * rho: Cesar and Rogers 2021. Deviation: none.
 */
MUST_USE enum status select_exponential(struct grant **grant, const struct random *random,
                                        size_t *chosen, const int64_t *scores, size_t count,
                                        uint64_t sensitivity);

/**
 * Permute-and-flip: in random order, the first candidate whose coin of probability
 * exp(-eta (scores[i] - best)) falls, eta as above. The expected score is never worse than the
 * exponential mechanism's.
 *
 * The grant is for MECHANISM_PURE: the mechanism is NOT bounded-range.
 * Cost: two readings of the scores, 16 random bytes a candidate; the exact path is taken with a
 * probability below count * 2^-58. Allocates on the exact path alone.
 * Source: McKenna and Sheldon, NeurIPS 2020, algorithm 1. Deviation: none in distribution;
 * select.c.
 */
MUST_USE enum status select_permute_and_flip(struct grant **grant, const struct random *random,
                                             size_t *chosen, const int64_t *scores, size_t count,
                                             uint64_t sensitivity);

/**
 * Report-noisy-max: the index of the least scores[i] + noise, the lowest one of equals; the noise
 * is discrete Laplace of scale 2 sensitivity / epsilon.
 *
 * The grant is for MECHANISM_PURE. Fails with STATUS_INVALID also when the scale is not one of
 * noise_scale_is_valid.
 * Privacy: noise comes modulo 2^64. Beyond 63 bits it has a probability below count * 2^-12000000,
 * which nobody charges.
 * Cost: one reading of the scores, the noise's time and randomness for each.
 * Source: Dwork and Roth 2014, section 3.3, claim 3.9. Deviation: minimum for maximum, integers,
 * scores that move either way (hence the 2); select.c proves it, ties included.
 */
MUST_USE enum status select_noisy_max(struct grant **grant, const struct random *random,
                                      size_t *chosen, const int64_t *scores, size_t count,
                                      uint64_t sensitivity);

#endif
