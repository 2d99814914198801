/* encode.c - floor(x / g + 1/2) without ever rounding: scaling by a power of two is exact, so is
 * the fraction y - floor(y), and comparing it with 1/2 replaces the addition that would round
 * (adding 1/2 to the largest double below 1/2 gives 1). */

#include "dp/encode.h"

#include "base/check.h"
#include "base/even.h"
#include "base/wide.h"

#include <inttypes.h>
#include <math.h>

/* What is nearer to 0 than 2^-100 is encoded as 0 is, and multiplying it would take longer. The
 * conversion truncates: one is taken away where that went up. */
int64_t encode_value(double x, unsigned bits)
{
    CHECK(bits <= ENCODE_BITS_MAX);
    const double most = (double)ENCODE_MAX;
    const double y = even_flushed(x) * even_double((uint64_t)(1023 + bits) << 52);
    const double inside = even_max(even_min(y, most), -most); /* NaN: the most */
    int64_t whole = (int64_t)inside;
    whole -= (int64_t)(mask_of((double)whole > inside) & 1);
    return whole + (int64_t)(mask_of(inside - (double)whole >= 0.5) & 1);
}

void encode_vector(int64_t *out, const double *x, size_t count, unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = encode_value(x[i], bits);
    }
}

double decode_value(int64_t value, unsigned bits)
{
    CHECK(bits <= ENCODE_BITS_MAX);
    return ldexp((double)value, -(int)bits);
}

void clip_box(int64_t *values, size_t count, int64_t low, int64_t high)
{
    CHECK(low <= high);
    for (size_t i = 0; i < count; i++) {
        const uint64_t raised =
            mask_choose(mask_of(values[i] < low), (uint64_t)low, (uint64_t)values[i]);
        values[i] = (int64_t)mask_choose(mask_of((int64_t)raised > high), (uint64_t)high, raised);
    }
}

/* What every number of a vector is multiplied with and divided by, at even pace. */
struct ratio {
    uint64_t times; /* below 2^63 */
    uint128 by;     /* 1 .. 2^127 - 1 */
    double
        inverse; /* 1/by, less 2^-48 of it: whatever is rounded on the way, quotients are too small */
};

/* x below 2^127. Conversions of unsigned numbers branch. */
static double to_double(uint128 x)
{
    const uint64_t low = (uint64_t)x;
    return (double)(int64_t)(x >> 64) * 0x1p64 +
           ((double)(int64_t)(low >> 32) * 0x1p32 + (double)(int64_t)(low & UINT32_MAX));
}

static struct ratio ratio_of(int64_t times, uint128 by)
{
    struct ratio ratio = {.times = (uint64_t)times, .by = by + (mask_of(by == 0) & 1)};
    ratio.inverse = (1 - 0x1p-48) / to_double(ratio.by);
    return ratio;
}

/* size times/by, rounded down; size at most by, and 2^63. The first quotient leaves a remainder of n
 * 2^-47 at most, the second one of less than two divisors. */
static uint64_t scaled(uint64_t size, const struct ratio *ratio)
{
    uint128 rest = (uint128)size * ratio->times;
    uint64_t quotient = (uint64_t)(int64_t)(to_double(rest) * ratio->inverse);
    rest -= quotient * ratio->by;
    const uint64_t more = (uint64_t)(int64_t)(to_double(rest) * ratio->inverse);
    quotient += more;
    rest -= more * ratio->by;
    for (int i = 0; i < 2; i++) {
        const uint64_t again = mask_of(rest >= ratio->by);
        rest -= ratio->by & ((uint128)again << 64 | again);
        quotient += again & 1;
    }
    return quotient;
}

static uint64_t size_of(int64_t value)
{
    const uint64_t negative = mask_of((uint64_t)value >> 63);
    return ((uint64_t)value ^ negative) - negative;
}

/* Keeps the values where the mask is all ones, else shrinks them towards 0. */
static void shrink(int64_t *values, size_t count, const struct ratio *ratio, uint64_t keep)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t negative = mask_of((uint64_t)values[i] >> 63);
        const uint64_t shrunk = (scaled(size_of(values[i]), ratio) ^ negative) - negative;
        values[i] = (int64_t)mask_choose(keep, (uint64_t)values[i], shrunk);
    }
}

void clip_l1(int64_t *values, size_t count, int64_t bound)
{
    CHECK(bound >= 0);
    uint128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += size_of(values[i]);
    }
    const struct ratio ratio = ratio_of(bound, sum);
    shrink(values, count, &ratio, mask_of(sum <= (uint128)bound));
}

/* A sum of squares: high * 2^128 + low. Fewer than 2^64 squares of at most 2^126 each fit. */
struct wide_sum {
    uint128 low;
    uint64_t high;
};

static struct wide_sum sum_of_squares(const int64_t *values, size_t count)
{
    struct wide_sum sum = {.low = 0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t size = size_of(values[i]);
        const uint128 square = (uint128)size * size;
        sum.low += square;
        sum.high += mask_of(sum.low < square) & 1;
    }
    return sum;
}

/* The root rounded up, bit by bit. square <= 2^126 */
static uint64_t root_ceiling(uint128 square)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit > 0; bit >>= 1) {
        const uint64_t larger = root | bit;
        root = mask_choose(mask_of((uint128)larger * larger <= square), larger, root);
    }
    return root + (mask_of((uint128)root * root < square) & 1);
}

static uint128 wide_choose(uint64_t mask, uint128 yes, uint128 no)
{
    return no ^ ((yes ^ no) & ((uint128)mask << 64 | mask));
}

/* At least the root of the sum, and less than 1 + 2^-61 times it where it is above 2^63. Quarters the
 * sum as often as it needs, in as many steps as any sum would need. */
static uint128 norm_ceiling(struct wide_sum sum)
{
    uint64_t factor = 1;
    for (int i = 0; i < 33; i++) {
        const uint64_t is_large = mask_of(sum.high > 0) | mask_of(sum.low >= (uint128)1 << 126);
        const uint64_t lost = mask_of(((uint64_t)sum.low & 3) > 0) & 1;
        const uint128 low = sum.low >> 2 | (uint128)(sum.high & 3) << 126;
        const uint64_t high = (sum.high >> 2) + (mask_of(low + lost < lost) & 1);
        sum.low = wide_choose(is_large, low + lost, sum.low);
        sum.high = mask_choose(is_large, high, sum.high);
        factor <<= is_large & 1;
    }
    return (uint128)root_ceiling(sum.low) * factor;
}

void clip_l2(int64_t *values, size_t count, int64_t bound)
{
    CHECK(bound >= 0);
    const struct wide_sum sum = sum_of_squares(values, count);
    const uint128 most = (uint128)bound * (uint128)bound;
    const struct ratio ratio = ratio_of(bound, norm_ceiling(sum)); /* the norm is below 2^96 */
    shrink(values, count, &ratio, mask_of(sum.high == 0) & mask_of(sum.low <= most));
}

uint64_t encode_reach(uint64_t bound, struct noise_scale scale)
{
    const bool has_noise = scale.numerator > 0;
    const uint128 reach =
        (uint128)bound + (has_noise ? 64 * (uint128)noise_scale_ceiling(scale) : 0);
    return reach > UINT64_MAX ? UINT64_MAX : (uint64_t)reach;
}

uint64_t encode_sum_reach(uint64_t agents, uint64_t bound, uint64_t shares,
                          struct noise_scale scale)
{
    CHECK(shares >= 1);
    const uint128 wholes = ((uint128)agents + shares - 1) / shares;
    const uint128 reach =
        (uint128)agents * bound + (128 + wholes) * (uint128)noise_scale_ceiling(scale);
    return reach > UINT64_MAX ? UINT64_MAX : (uint64_t)reach;
}

enum status encode_sum_fits(uint64_t agents, uint64_t bound, struct noise_scale scale,
                            struct why *why)
{
    if (!noise_scale_is_valid(scale)) {
        return why_refuse(
            why, "the noise scale lies outside 1/16 .. 2^40: choose another grid or epsilon");
    }
    const uint64_t one = encode_reach(bound, scale);
    if (one > INT64_MAX || agents > (uint64_t)INT64_MAX / one) {
        return why_refuse(why,
                          "the sum over %" PRIu64
                          " agents may not fit into 64 bits: choose a coarser grid, a "
                          "smaller bound or fewer agents",
                          agents);
    }
    return STATUS_OK;
}
