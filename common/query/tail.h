/* tail.h - how often a sum of noise is beyond a point, at most. */

#ifndef QUERY_TAIL_H
#define QUERY_TAIL_H

#include "query/bar.h"

/**
 * Returns at least P(sum > x), sum the noise's draws as continuous variables of scale 1.
 *
 * x  in  finite, of either sign
 *
 * Ensures the bound. Of more than 256 Laplace draws it is too large by a part in `draws`, and by at most 2 % close to 0.
 * Cost: 2 `draws` additions up to 256 draws, then none that grows.
 */
double query_noise_tail(const struct query_noise *noise, double x);

#endif
