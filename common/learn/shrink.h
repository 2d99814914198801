/* shrink.h - estimates of noisy numbers, most of which may be 0. The prior is a spike and a slab: a
 * number is 0, or else normal with mean 0. How many are 0 and how large the others are is not known:
 * the posterior is averaged over a grid of both. Source: Johnstone, Silverman 2004, with a grid in
 * place of their likelihood's largest value. Post-processing of releases. */

#ifndef LEARN_SHRINK_H
#define LEARN_SHRINK_H

#include <stddef.h>

/**
 * Computes the posterior's means and variances.
 *
 * x         in/out  (count) numbers with normal noise, each at most 1e100; their posterior means
 * variance  in/out  (count) that of each number's noise, 1e-30 .. 1e200, or HUGE_VAL: nothing is known of the
 *                   number, and its mean is 0; of the posterior
 *
 * Every mean is between 0 and x. Cost: 98 exponentials a number.
 */
void shrink(double *x, double *variance, size_t count);

#endif
