#include "noise/scale.h"

#include "base/check.h"
#include "base/wide.h"

bool noise_scale_is_valid(struct noise_scale scale)
{
    uint128 numerator = scale.numerator;
    uint128 denominator = scale.denominator;
    return numerator > 0 && denominator > 0 && 16 * numerator >= denominator &&
           numerator <= denominator << 40;
}

uint64_t noise_scale_ceiling(struct noise_scale scale)
{
    CHECK(noise_scale_is_valid(scale));
    return scale.numerator / scale.denominator + (scale.numerator % scale.denominator > 0 ? 1 : 0);
}
