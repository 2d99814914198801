/* best.h - how probably a choice takes the best of several candidates, when every other is worse by the
 * same gap: the hardest case for that gap. From public numbers alone. */

#ifndef EXPERTS_BEST_H
#define EXPERTS_BEST_H

#include <stddef.h>

/* count >= 1 candidates. eta_gap: eta times the gap, >= 0, where a score's weight is exp(-eta score). */

/** Returns the chance of the exponential mechanism, 1/(1 + (count - 1) exp(-eta_gap)). */
double best_exponential(size_t count, double eta_gap);

/** Returns the chance of permute-and-flip: the best one is taken unless one before it in the random order
 * is, each with probability p = exp(-eta_gap); the mean of (1 - p)^j over places j = 0 .. count - 1. */
double best_permute_and_flip(size_t count, double eta_gap);

/** Return the chance that the best has the least score with noise: gap in units of the noise's standard
 * deviation, noise normal, as sums over many rounds nearly are; and gap in units of the scale of
 * Laplace noise. start: by how much the score of one of the others begins lower, in the gap's units.
 * By Simpson's rule, to 1e-6. */
double best_of_normal(size_t count, double gap, double start);
double best_of_laplace(size_t count, double gap);

#endif
