/* sampling.h - which records take part in a round: Poisson sampling, exactly at the rate that is
 * charged. */

#ifndef DP_SAMPLING_H
#define DP_SAMPLING_H

#include "base/random.h"

#include <stddef.h>
#include <stdint.h>

/**
 * Draws independent coins, each 1 with probability exactly rate_nano / 10^9, and 0 otherwise.
 *
 * coins      out  (count); on failure all 0
 * rate_nano  in   0 .. 10^9, CHECKed
 *
 * Fails with STATUS_NO_RANDOM.
 * Privacy: a charge with sampling_nano = rate_nano is about exactly these coins, as long as nobody
 * learns them: they stay at the agent, and every record's part is computed whatever its coin.
 * Cost: 8 random bytes a coin, the same whatever falls, but for a tie (probability 2^-64 a coin).
 */
MUST_USE enum status sampling_draw(const struct random *random, uint8_t *coins, size_t count,
                                   uint64_t rate_nano);

#endif
