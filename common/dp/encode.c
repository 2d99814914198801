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

void clip_l1(int64_t *values, size_t count, int64_t bound)
{
    CHECK(bound >= 0);
    int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i] < 0 ? -(int128)values[i] : (int128)values[i];
    }
    if (sum <= bound) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = (int64_t)((int128)values[i] * bound / sum); /* division truncates towards 0 */
    }
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
        uint64_t size = values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
        uint128 square = (uint128)size * size;
        sum.low += square;
        sum.high += sum.low < square ? 1 : 0;
    }
    return sum;
}

/* The root rounded up, bit by bit. square <= 2^126 */
static uint64_t root_ceiling(uint128 square)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit > 0; bit >>= 1) {
        uint64_t larger = root | bit;
        root = (uint128)larger * larger <= square ? larger : root;
    }
    return root + ((uint128)root * root < square ? 1 : 0);
}

/* At least the root of the sum, and less than 1 + 2^-61 times it where it is above 2^63. */
static uint128 norm_ceiling(struct wide_sum sum)
{
    unsigned shift = 0;
    while (sum.high > 0 || sum.low >= (uint128)1 << 126) {
        uint64_t lost = (uint64_t)sum.low & 3;
        sum.low = sum.low >> 2 | (uint128)(sum.high & 3) << 126;
        sum.high >>= 2;
        sum.low += lost > 0 ? 1 : 0;
        sum.high += lost > 0 && sum.low == 0 ? 1 : 0;
        shift++;
    }
    return (uint128)root_ceiling(sum.low) << shift;
}

void clip_l2(int64_t *values, size_t count, int64_t bound)
{
    CHECK(bound >= 0);
    struct wide_sum sum = sum_of_squares(values, count);
    if (sum.high == 0 && sum.low <= (uint128)bound * (uint128)bound) {
        return;
    }
    int128 norm = (int128)norm_ceiling(sum); /* below 2^96 */
    for (size_t i = 0; i < count; i++) {
        values[i] = (int64_t)((int128)values[i] * bound / norm); /* truncates towards 0 */
    }
}

enum status encode_sum_fits(uint64_t agents, uint64_t bound, struct noise_scale scale,
                            struct why *why)
{
    if (!noise_scale_is_valid(scale)) {
        why_set(why, "the noise scale lies outside 1/16 .. 2^40: choose another grid or epsilon");
        return STATUS_INVALID;
    }
    uint128 one = (uint128)bound + 64 * (uint128)noise_scale_ceiling(scale);
    if (one > INT64_MAX || agents > (uint64_t)INT64_MAX / (uint64_t)one) {
        why_set(why,
                "the sum over %" PRIu64
                " agents may not fit into 64 bits: choose a coarser grid, a "
                "smaller bound or fewer agents",
                agents);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}
