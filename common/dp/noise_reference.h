/* noise_reference.h - the plain sampler that tests and benches hold noise.h against. Its running
 * time follows the value drawn: never for an answer. */

#ifndef DP_NOISE_REFERENCE_H
#define DP_NOISE_REFERENCE_H

#include "dp/noise.h"

/**
 * Draws one discrete Laplace variable of this scale.
 *
 * Fails with STATUS_NO_RANDOM, or STATUS_INVALID when noise_scale_is_valid does not hold.
 * Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020,
 * algorithms 1 and 2. Deviation: none.
 */
MUST_USE enum status noise_reference_draw(struct noise_scale scale, const struct random *random,
                                          int64_t *value);

#endif
