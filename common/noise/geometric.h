/* geometric.h - exact geometric noise of rational scale s: P(k) = (1 - p) p^k with p = exp(-1/s),
 * on k = 0, 1, 2, ... It is the magnitude behind laplace.h and prepared the same way. */

#ifndef NOISE_GEOMETRIC_H
#define NOISE_GEOMETRIC_H

#include "base/random.h"
#include "noise/scale.h"

#include <stddef.h>
#include <stdint.h>

enum {
    NOISE_DIGITS = 2, /* a trial's upper part is drawn in this many digits of this base */
    NOISE_BASE = 32,
    NOISE_LEFT = 32 /* "none of the digits": the exact path decides */
};

/* One digit's distribution in units of 2^-51: mass[d] <= 2^51 P(d) < mass[d] + 2, an integer, and
 * left = 2^51 - sum of mass goes to the exact path. The same as 32 cells of 2^46 that hold two
 * outcomes each (Walker's alias table): the top five bits of a word choose a cell, the next 46 an
 * outcome. A cell is threshold * 2^18 + outcome below it * 2^6 + outcome from it on. */
struct noise_digit {
    uint64_t mass[NOISE_BASE];
    uint64_t left;
    uint64_t cell[NOISE_BASE];
};

struct noise_kernel;

/* Prepared for one scale; holds public parameters only. noise_geometric_init fills it. */
struct noise_geometric {
    struct noise_scale scale;
    unsigned low_bits; /* of a variable drawn uniformly: 16 * 2^low_bits <= scale, or 0 */
    uint64_t factor;   /* 2^52 * 16 * 2^low_bits / scale rounded down, at most 2^52 - 1 */
    struct noise_digit digit[NOISE_DIGITS]; /* lowest first; the last one has no upper end */
    const struct noise_kernel *kernel;      /* the fastest that this processor has */
};

/**
 * Prepares the tables of one scale.
 *
 * Fails with STATUS_INVALID when noise_scale_is_valid does not hold.
 * Cost: below 1 ms; memory of GMP's, which ends the program when there is none.
 */
MUST_USE enum status noise_geometric_init(struct noise_geometric *noise, struct noise_scale scale);

#endif
