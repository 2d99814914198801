/* distil.h - a linear model that follows what is already released: the answers of models that stay
 * at home, at public points. Post-processing, from public numbers alone. */

#ifndef LEARN_DISTIL_H
#define LEARN_DISTIL_H

#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

/* q = point_count, d = feature_count */
struct distil {
    const double *point; /* (q, d) public, every norm at most 1 */
    size_t point_count;
    size_t feature_count;
    double deviation; /* of the noise on each answer, unit: the answer's; 0 for none */
};

/** Checks the sizes. Fails with STATUS_INVALID. */
MUST_USE enum status distil_check(const struct distil *problem, struct why *why);

/** Returns about how many operations distil takes. */
double distil_flops(const struct distil *problem);

/**
 * Fits w = argmin (1/q) sum (<w, x_j> - y_j)^2 + lambda ||w||^2, y_j the answer brought back to -1
 * .. 1, where the exact one was, and lambda = min(deviation^2, 1)/q, but at least 10^-4: the
 * posterior mean of weights with a standard normal prior, were the noise normal.
 *
 * w       out  (d)
 * answer  in   (q) released; may lie outside of -1 .. 1
 *
 * CHECKs distil_check. Fails with STATUS_NO_MEMORY. Privacy: post-processing of released answers.
 * Cost O(min(q, d)^2 max(q, d)).
 */
MUST_USE enum status distil(double *w, const struct distil *problem, const double *answer);

#endif
