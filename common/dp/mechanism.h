/* mechanism.h - adds the noise that a grant has paid for. The scale follows from the grant's own
 * epsilon, so that charge and noise cannot disagree. */

#ifndef DP_MECHANISM_H
#define DP_MECHANISM_H

#include "base/random.h"
#include "base/why.h"
#include "dp/ledger.h"
#include "noise/laplace.h"

#include <stddef.h>
#include <stdint.h>

struct noise_share; /* noise/share.h */

/**
 * The scale sensitivity_l1 / epsilon of the noise that mechanism_laplace would add, in lowest
 * terms. Call it before spending: by parameters alone it tells whether the mechanism will run.
 *
 * Fails with STATUS_INVALID when sensitivity or epsilon is 0 or noise_scale_is_valid does not hold;
 * why (may be NULL) then says which to change.
 */
MUST_USE enum status mechanism_scale(struct noise_scale *scale, uint64_t sensitivity_l1,
                                     uint64_t epsilon_micro, struct why *why);

/**
 * Makes an integer vector private: adds independent discrete Laplace noise of scale
 * sensitivity_l1 * 10^6 / epsilon_micro to every coordinate.
 *
 * grant           takes  *grant, whatever happens, and leaves NULL there: one grant, one run
 * values          in/out (count)  unit: grid steps; on failure all zero
 * sensitivity_l1  in     >= 1, grid steps: the largest L1 distance between neighbours' vectors
 *
 * Fails with STATUS_NO_RANDOM, or with STATUS_INVALID where mechanism_scale does or when the grant
 * is not for MECHANISM_PURE; the spend stays.
 * Ensures: sums wrap modulo 2^64. Wrapping is a function of value + noise, hence post-processing,
 * takes the same time always, and agrees with masks modulo 2^32 and 2^64. encode_sum_fits, at the
 * job's start, and round_masked_bytes make a wrap of any coordinate a matter of less than 2^-90.
 * Privacy: epsilon of the grant, delta 0, for neighbours within sensitivity_l1. How much is drawn
 * and the control flow do not depend on values.
 * Source: Dwork, McSherry, Nissim, Smith, TCC 2006; discrete: Ghosh, Roughgarden, Sundararajan,
 * STOC 2009. Deviation: none.
 */
MUST_USE enum status mechanism_laplace(struct grant **grant, const struct random *random,
                                       int64_t *values, size_t count, uint64_t sensitivity_l1);

/**
 * Adds this site's share of the noise that mechanism_laplace would add: the sum of `shares` of them has the whole.
 *
 * prepared  in/out  zeroed, or what an earlier call left: its table, of public numbers alone, serves again where it
 *                   fits. The caller frees it by noise_share_free and does not move it
 * shares    in      h: how many honest sites are in the sum that is opened
 *
 * Fails as mechanism_laplace does, and with STATUS_INVALID for a number of shares that noise_share_init refuses,
 * STATUS_NO_MEMORY; the spend stays.
 * Privacy: none by itself. Epsilon of the grant for a sum that is opened with `shares` honest sites in it, and of which
 * nothing else is seen: masks/site.h.
 * Source: noise/share.h.
 */
MUST_USE enum status mechanism_share(struct grant **grant, struct noise_share *prepared,
                                     const struct random *random, int64_t *values, size_t count,
                                     uint64_t sensitivity_l1, uint64_t shares);

/**
 * The sigma sensitivity_l2 * sigma_micro / 10^6 of the noise that mechanism_gaussian would add, in
 * lowest terms. Call it before spending.
 *
 * sigma_micro  in  millionths of sigma per unit of sensitivity, as in a charge
 *
 * Fails with STATUS_INVALID when sensitivity_l2 or sigma_micro is 0 or noise_scale_is_valid does
 * not hold; why (may be NULL) then says which to change.
 */
MUST_USE enum status mechanism_sigma(struct noise_scale *sigma, uint64_t sensitivity_l2,
                                     uint64_t sigma_micro, struct why *why);

/**
 * Makes an integer vector private: adds independent discrete Gaussian noise of
 * sigma = sensitivity_l2 * sigma_micro / 10^6 to every coordinate.
 *
 * grant           takes  *grant, whatever happens, and leaves NULL there: one grant, one run
 * values          in/out (count)  unit: grid steps; on failure all zero
 * sensitivity_l2  in     >= 1, grid steps: the largest L2 distance between neighbours' vectors,
 *                        rounded up to a whole number
 *
 * Fails with STATUS_NO_RANDOM, STATUS_NO_MEMORY, or with STATUS_INVALID where mechanism_sigma does
 * or when the grant is not for MECHANISM_DISCRETE_GAUSSIAN, or for a sample and sensitivity_l2 below
 * SAMPLED_STEPS_MIN; the spend stays.
 * Ensures: sums wrap modulo 2^64, as in mechanism_laplace.
 * Privacy: rho = 10^12 / (2 sigma_micro^2) of zero-concentrated differential privacy for neighbours
 * within sensitivity_l2 (replace-one: twice the clip), hence the tight (epsilon, delta) conversions
 * of that rho and of the Renyi curve alpha rho. The exact (epsilon, delta) profile of ONE step of
 * ONE coordinate is no bound for a vector or for several steps, at the same ratio of sigma to
 * sensitivity. How much is drawn and the control flow do not depend on values.
 * Source: Canonne, Kamath, Steinke, NeurIPS 2020, theorem 14. Deviation: none.
 */
MUST_USE enum status mechanism_gaussian(struct grant **grant, const struct random *random,
                                        int64_t *values, size_t count, uint64_t sensitivity_l2);

/**
 * The sigma of one site's share, where `shares` of them make up the noise of mechanism_sigma: that over
 * sqrt(shares), rounded up.
 *
 * shares  in  1 .. MECHANISM_SHARES_MAX
 *
 * Fails as mechanism_sigma does, and with STATUS_INVALID for a share below MECHANISM_SHARE_SIGMA grid steps or a number
 * of shares out of its range; why then says what to change.
 */
MUST_USE enum status mechanism_sigma_of_share(struct noise_scale *sigma, uint64_t sensitivity_l2,
                                              uint64_t sigma_micro, uint64_t shares,
                                              struct why *why);

enum { MECHANISM_SHARE_SIGMA = 2, MECHANISM_SHARES_MAX = 1000000 };

/**
 * The charge's own delta of an answer of `count` numbers whose noise is a sum of `shares` Gaussian shares, in 10^-18ths,
 * rounded up: the sum is a discrete Gaussian but for this. 0 for one share, which is one.
 *
 * Privacy: let P be the distribution of the vector of sums and Q that of discrete Gaussians. By gaussian_sum_distance
 * P >= (1 - x) Q at every point, x = the distance times count. So P is a mixture: with probability 1 - x it is Q, and
 * else something else. It is the same mixture for all exact vectors. That is a run that may fail altogether with
 * probability x, as a charge's delta says (filter.h). The distance is that of the smallest share that there may be.
 */
uint64_t mechanism_sigma_delta(uint64_t shares, uint64_t count);

/**
 * Adds this site's share of the noise that mechanism_gaussian would add: the sum of `shares` of them has the whole, but
 * for the delta that the charge pays.
 *
 * shares  in  h: how many honest sites are in the sum that is opened. More of them add noise of their own
 *
 * Fails as mechanism_gaussian does, and with STATUS_INVALID where mechanism_sigma_of_share does or where the charge's own
 * delta is below mechanism_sigma_delta(shares, count); the spend stays.
 * Privacy: none by itself; as mechanism_share.
 * Source: account/gaussian_steps.h.
 */
MUST_USE enum status mechanism_gaussian_share(struct grant **grant, const struct random *random,
                                              int64_t *values, size_t count,
                                              uint64_t sensitivity_l2, uint64_t shares);

#endif
