/* reference.h - the plain sampler that tests and benches hold laplace.h against. Its running
 * time follows the value drawn: never for an answer. */

#ifndef NOISE_REFERENCE_H
#define NOISE_REFERENCE_H

#include "noise/laplace.h"

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
