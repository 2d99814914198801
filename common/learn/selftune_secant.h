/* selftune_secant.h - what gradients tell of how columns go with one another, after a look at sums or squares, which tells
 * nothing of it.
 *
 * Between two models the gradient changes by the columns' second moments times the way between them, times the curvature. In
 * white columns it would change as it does on the made-up records. What it changes by beyond that is a secant of the second
 * moments, up to noise: one for each output and step. The look is the first gradient, at the model 0. The secants are put together
 * by the rule of Broyden, Fletcher, Goldfarb and Shanno (Nocedal and Wright, Numerical Optimization, 2006, ch. 6). A step is
 * shorter along directions in which columns vary more than white ones. It is no longer in others.
 *
 * Part of learn/selftune.h: post-processing of what is released anyway. d, D, m as there. */

#ifndef LEARN_SELFTUNE_SECANT_H
#define LEARN_SELFTUNE_SECANT_H

#include "learn/selftune_private.h"
#include "learn/standin.h"

/** Returns how many times as steep as in white columns the loss is along the steepest direction, as far as gradients told; at least 1
 * where a gradient was seen. */
double selftune_secant_steepest(const double *state, const struct selftune *stage);

/** Brings what a journal may hold into its range. */
void selftune_secant_hold(struct selftune_parts *parts, const struct selftune *stage);

/**
 * Begins after a look, whose first model, Pv and scale are in parts.
 *
 * covariance  in  (m, d) of each output's label with the columns that W makes
 * curvature   in  (m) of the loss at the model 0
 */
void selftune_secant_begin(struct selftune_parts *parts, const struct selftune *stage,
                           const double *covariance, const double *curvature);

/**
 * Learns from a gradient at V, at which the made-up records are set, and computes how much more than these the columns vary.
 *
 * more  out  (d, d) positive semidefinite
 * g     in   (m, D) the mean gradient, clipped, less what the model would give
 *
 * Fails with STATUS_NO_MEMORY, or STATUS_INVALID as eigen_symmetric().
 */
MUST_USE enum status selftune_secant_learn(double *more, struct selftune_parts *parts,
                                           const struct selftune *stage,
                                           const struct standin *standin, const double *g,
                                           const struct selftune_news *news);

#endif
