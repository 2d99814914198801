/* share.h - exact shares of discrete Laplace noise: X - Y for X, Y negative binomial NB(1/h, p)
 * with p = exp(-1/s), P(X = k) ~ Gamma(k + 1/h)/k! p^k. The sum of h of them is discrete Laplace
 * noise of scale s; with fewer it is less. */

#ifndef NOISE_SHARE_H
#define NOISE_SHARE_H

#include "noise/scale.h"
#include "noise/table.h"

#define NOISE_SHARES_MAX UINT64_C(1000000)

/* Prepared for one scale and number of shares; public parameters only. noise_share_init
 * fills it; it is not to be copied or moved. */
struct noise_share {
    struct noise_scale scale;
    uint64_t shares;
    const struct share_series *series; /* while init runs */
    struct noise_table table;
};

/**
 * Prepares the table of one scale and h.
 *
 * noise   out  caller owns; noise_share_free, also after a failure
 * shares  in   h, 1 .. NOISE_SHARES_MAX: how many make up the whole noise
 *
 * Fails with STATUS_INVALID when noise_scale_is_valid does not hold or shares is out of range,
 * STATUS_NO_MEMORY.
 * Cost: up to 10 ms and 200 KiB.
 */
MUST_USE enum status noise_share_init(struct noise_share *noise, struct noise_scale scale,
                                      uint64_t shares);
void noise_share_free(struct noise_share *noise);

/** The same, but keeps the table that an earlier call made if it is for this scale and h. A zeroed
 * *noise is fine. After a failure it is zeroed. */
MUST_USE enum status noise_share_prepare(struct noise_share *noise, struct noise_scale scale,
                                         uint64_t shares);

/**
 * Adds an independent share to every value, modulo 2^64.
 *
 * values  in/out  (count); on failure all zero
 *
 * Fails with STATUS_NO_RANDOM: everything drawn so far is thrown away.
 * Ensures the distribution is exactly the Polya one modulo 2^64, and hence the sum of h such shares
 * is exactly discrete Laplace noise: negative binomials of one p add in their first parameter.
 * Timing as for noise_gaussian_add; the exact path has a probability below 2^-42 per share
 * (that of 32 scales and more included, which it draws).
 * Privacy: none by itself. The sum over at least h honest institutions has the noise of one; a sum
 * with h' < h of them does not.
 * Cost: 48 random bytes per pair of trials, at most 1.11 pairs a value in a long vector. Allocates
 * on the exact path alone.
 * Source: Goryczka and Xiong, IEEE TDSC 2017, for shares; table.c (how). Deviation: exact.
 */
MUST_USE enum status noise_share_add(const struct noise_share *noise, const struct random *random,
                                     int64_t *values, size_t count);

#endif
