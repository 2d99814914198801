/* laplace_private.h - what laplace.c and laplace_exact.c share; tests may look in too. */

#ifndef NOISE_LAPLACE_PRIVATE_H
#define NOISE_LAPLACE_PRIVATE_H

#include "noise/laplace.h"

#include <mpfr.h>

/* A real number known to lie between two. */
struct bounds {
    mpfr_t low;
    mpfr_t high;
};

void bounds_init(struct bounds *bounds, mpfr_prec_t precision);
void bounds_clear(struct bounds *bounds);

/** Bounds 2^64 P(digit at this position <= digit), below and above the truth at any precision. Uses
 * scale and digit_count alone. */
void noise_exact_distribution(struct bounds *out, const struct noise_laplace *noise,
                              size_t position, uint64_t digit);

/** Fills mass and left of one digit: mass[d] <= 2^64 P(d), less than 2 below. `position` counts
 * from 0, the lowest; scale and digit_count of noise are set. */
void noise_exact_mass(struct noise_digit *digit, const struct noise_laplace *noise,
                      size_t position);

/** Fills the cells from mass and left, which add up to 2^64. */
void noise_digit_cells(struct noise_digit *digit);

/**
 * Draws one digit given that a word fell into `left`: exactly what of the digit's distribution the
 * masses leave over.
 *
 * digit  out  0 .. 15; any number at the last position
 *
 * Fails with STATUS_NO_RANDOM.
 */
MUST_USE enum status noise_exact_draw(const struct noise_laplace *noise,
                                      const struct random *random, size_t position,
                                      uint64_t *digit);

#endif
