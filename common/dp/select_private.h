/* select_private.h - the draws under select.h, without a grant: for the experts, whose accounts are
 * kept elsewhere, and for tests. Arguments, failures and guarantees are those of select.h. */

#ifndef DP_SELECT_PRIVATE_H
#define DP_SELECT_PRIVATE_H

#include "base/random.h"
#include "noise/exponential.h"
#include "noise/laplace.h"

#include <stddef.h>
#include <stdint.h>

/**
 * Draws i with P(i) ~ exp(-eta scores[i]), eta that of `decay`.
 *
 * Cost: below 30 ns a candidate, and no memory, also for 10^6 of them.
 */
MUST_USE enum status select_draw_exponential(const struct noise_exponential *decay,
                                             const struct random *random, size_t *chosen,
                                             const int64_t *scores, size_t count);

/** Draws by permute-and-flip with coins exp(-eta (scores[i] - best)). */
MUST_USE enum status select_draw_flip(const struct noise_exponential *decay,
                                      const struct random *random, size_t *chosen,
                                      const int64_t *scores, size_t count);

/** Draws the index of the least scores[i] + noise, the lowest one of equals. */
MUST_USE enum status select_draw_noisy(const struct noise_laplace *noise,
                                       const struct random *random, size_t *chosen,
                                       const int64_t *scores, size_t count);

/* How an integer below `end` is drawn from 192 random bits: their product with end has its upper
 * part for the result, its lower part tells whether the bits must be drawn again. */
struct select_point {
    uint128 below_end;
    uint64_t low[3]; /* lowest first */
};

/** Multiplies word (lowest first) by end. */
struct select_point select_point_of(const uint64_t word[3], uint128 end);

/** Returns 2^192 modulo end (> 0, below 2^127): a lower part below it means "again". */
uint128 select_point_excess(uint128 end);

/** Draws an integer uniform below end (likewise), exactly. Fails with STATUS_NO_RANDOM; *below_end
 * is 0 then. The caller wipes the stack. */
MUST_USE enum status select_draw_below(const struct random *random, uint128 end,
                                       uint128 *below_end);

#endif
