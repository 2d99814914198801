/* scale.h - the rational scales that noise can have. */

#ifndef NOISE_SCALE_H
#define NOISE_SCALE_H

#include "base/check.h"
#include "base/wide.h"

#include <stdbool.h>
#include <stdint.h>

/* The scale numerator/denominator, within 1/16 .. 2^40. */
struct noise_scale {
    uint64_t numerator;
    uint64_t denominator;
};

/** Returns whether 1/16 <= scale <= 2^40 and neither part is 0. */
static inline bool noise_scale_is_valid(struct noise_scale scale)
{
    const uint128 numerator = scale.numerator;
    const uint128 denominator = scale.denominator;
    return numerator > 0 && denominator > 0 && 16 * numerator >= denominator &&
           numerator <= denominator << 40;
}

/** Returns the scale rounded up to a whole number. CHECKs noise_scale_is_valid. */
static inline uint64_t noise_scale_ceiling(struct noise_scale scale)
{
    CHECK(noise_scale_is_valid(scale));
    return scale.numerator / scale.denominator + (scale.numerator % scale.denominator > 0 ? 1 : 0);
}

#endif
