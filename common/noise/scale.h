/* scale.h - the rational scales that noise can have. */

#ifndef NOISE_SCALE_H
#define NOISE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* The scale numerator/denominator, within 1/16 .. 2^40. */
struct noise_scale {
    uint64_t numerator;
    uint64_t denominator;
};

/** Returns whether 1/16 <= scale <= 2^40 and neither part is 0. */
bool noise_scale_is_valid(struct noise_scale scale);

/** Returns the scale rounded up to a whole number. CHECKs noise_scale_is_valid. */
uint64_t noise_scale_ceiling(struct noise_scale scale);

#endif
