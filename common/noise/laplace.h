/* laplace.h - exact discrete Laplace noise of rational scale s: P(z) = tanh(1/(2s)) exp(-|z|/s). */

#ifndef NOISE_LAPLACE_H
#define NOISE_LAPLACE_H

#include "base/random.h"
#include "noise/scale.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NOISE_BASE = 16,       /* geometric variables are drawn in digits of this base */
    NOISE_DIGITS_MAX = 12, /* enough for the largest scale: 16^12 >= 42 * 2^40 */
    NOISE_LEFT = 16        /* "none of the digits": the exact path decides */
};

/* One digit's distribution in units of 2^-64: mass[d] <= 2^64 P(d) < mass[d] + 2, an integer, and
 * left = 2^64 - sum of mass goes to the exact path. The same as sixteen cells of 2^60 that hold two
 * outcomes each (Walker's alias table): a word chooses a cell by its top four bits, an outcome by
 * the rest. */
struct noise_digit {
    uint64_t mass[NOISE_BASE];
    uint64_t left;
    uint64_t threshold[NOISE_BASE]; /* for the lower 60 bits; at most 2^60 */
    uint8_t outcome[2][NOISE_BASE]; /* of each cell: below its threshold, and from it on */
};

/* Prepared for one scale; holds public parameters only. Whoever fills it is noise_laplace_init. */
struct noise_laplace {
    struct noise_scale scale;
    size_t digit_count;
    struct noise_digit digit[NOISE_DIGITS_MAX]; /* lowest first; the last one has no upper end */
};

/**
 * Prepares the tables of one scale.
 *
 * Fails with STATUS_INVALID when noise_scale_is_valid does not hold.
 * Cost: below 1 ms; memory of GMP's, which ends the program when there is none.
 */
MUST_USE enum status noise_laplace_init(struct noise_laplace *noise, struct noise_scale scale);

/**
 * Adds independent discrete Laplace noise to every value, modulo 2^64.
 *
 * values  in/out  (count); on failure all zero
 *
 * Fails with STATUS_NO_RANDOM: everything drawn so far is thrown away.
 * Ensures the distribution is exactly the discrete Laplace one modulo 2^64: no rounding anywhere.
 * Every value takes 16 * digit_count random bytes, and control flow does not depend on what is
 * drawn, but with a probability below 2^-55 per value. Table look-ups stay within 160 bytes per
 * digit, which concerns only an observer who shares the processor's cache.
 * Cost: about 7 ns per digit and value, generator included. Allocates on the exact path alone.
 * Source: Canonne, Kamath, Steinke, NeurIPS 2020 (what is exact); laplace.c (how).
 */
MUST_USE enum status noise_laplace_add(const struct noise_laplace *noise,
                                       const struct random *random, int64_t *values, size_t count);

/** Replaces every value by such noise. The same otherwise. */
MUST_USE enum status noise_laplace_draw(const struct noise_laplace *noise,
                                        const struct random *random, int64_t *values, size_t count);

#endif
