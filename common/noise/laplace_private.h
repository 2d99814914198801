/* laplace_private.h - what laplace.c, geometric.c and laplace_exact.c share; tests may look in too.
 */

#ifndef NOISE_LAPLACE_PRIVATE_H
#define NOISE_LAPLACE_PRIVATE_H

#include "noise/laplace.h"
#include "noise/laplace_kernel.h"

#include <mpfr.h>

/** Encloses 2^51 P(digit at this position <= digit), at any precision. Uses scale and low_bits
 * alone. */
void noise_exact_distribution(mpfr_t low, mpfr_t high, const struct noise_geometric *noise,
                              size_t position, uint64_t digit);

/** Fills mass and left of one digit: mass[d] <= 2^51 P(d), less than 2 below. `position` counts
 * from 0, the lowest; scale and low_bits of noise are set. */
void noise_exact_mass(struct noise_digit *digit, const struct noise_geometric *noise,
                      size_t position);

/** Returns 2^52 * 16 * 2^low_bits / scale, rounded down, at most 2^52 - 1. Uses these two alone. */
uint64_t noise_exact_factor(const struct noise_geometric *noise);

/** Fills the cells from mass and left, which add up to 2^51. */
void noise_digit_cells(struct noise_digit *digit);

/**
 * Draws one digit given that a word fell into `left`: exactly what of the digit's distribution the
 * masses leave over.
 *
 * digit  out  0 .. 31; any number at the last position
 *
 * Fails with STATUS_NO_RANDOM.
 */
MUST_USE enum status noise_exact_draw(const struct noise_geometric *noise,
                                      const struct random *random, size_t position,
                                      uint64_t *digit);

/**
 * Tells whether a uniform real that begins with the 52 bits u lies below exp(-low/s); draws more
 * bits of it as long as that is open.
 *
 * Fails with STATUS_NO_RANDOM.
 */
MUST_USE enum status noise_exact_accept(const struct noise_geometric *noise,
                                        const struct random *random, uint64_t low, uint64_t u,
                                        bool *accept);

/**
 * Goes through trials one by one, with the exact path for whatever the words leave open. The
 * arguments are a kernel's (laplace_kernel.h).
 *
 * Fails with STATUS_NO_RANDOM; the values are then to be thrown away.
 */
MUST_USE enum status noise_trial_careful(const struct noise_geometric *noise,
                                         const struct random *random, enum trial_kind kind,
                                         int64_t *values, size_t *accepted, const uint64_t *word,
                                         size_t trials);

/** Adds what accepted trials give to every value, modulo 2^64: noise_laplace_add is this, and so is geometric noise, whose
 * magnitudes alone tests draw. On failure all values are zero. */
MUST_USE enum status noise_trial_add(const struct noise_geometric *noise,
                                     const struct random *random, enum trial_kind kind,
                                     int64_t *values, size_t count);

#endif
