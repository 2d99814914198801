/* even.h - choices between private numbers at even pace: the same instructions and addresses whatever
 * the numbers are. Comparisons of doubles that may come straight from a file are made as integers, so
 * that subnormal numbers take no longer than others. */

#ifndef BASE_EVEN_H
#define BASE_EVEN_H

#include "base/mask.h"

#include <stdint.h>
#include <string.h>

#define EVEN_SIGN     (UINT64_C(1) << 63)
#define EVEN_INFINITY UINT64_C(0x7ff0000000000000) /* the bits of +infinity */

static inline uint64_t even_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double even_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** Returns yes where the mask is all ones, no where it is 0. */
static inline double even_choose(uint64_t mask, double yes, double no)
{
    return even_double(mask_choose(mask, even_bits(yes), even_bits(no)));
}

/** Returns x where the mask is all ones, else 0. */
static inline double even_keep(uint64_t mask, double x)
{
    return even_double(even_bits(x) & mask);
}

/** Returns the larger (smaller) number; b where one is none. One instruction where there is one. */
static inline double even_max(double a, double b)
{
#if defined(__GNUC__) && defined(__SSE2__)
    __asm__("maxsd %1, %0" : "+x"(a) : "x"(b));
    return a;
#else
    return even_choose(mask_of(a > b), a, b);
#endif
}

static inline double even_min(double a, double b)
{
#if defined(__GNUC__) && defined(__SSE2__)
    __asm__("minsd %1, %0" : "+x"(a) : "x"(b));
    return a;
#else
    return even_choose(mask_of(a < b), a, b);
#endif
}

/** Returns all ones when x is no number. */
static inline uint64_t even_is_nan(double x)
{
    return mask_of((even_bits(x) & ~EVEN_SIGN) > EVEN_INFINITY);
}

/** Returns an integer that is ordered as the numbers are; -0 and 0 have the same. */
static inline int64_t even_key(double x)
{
    const uint64_t bits = even_bits(x);
    const uint64_t negative = mask_of(bits >> 63);
    return (int64_t)(((bits & ~EVEN_SIGN) ^ negative) - negative);
}

/** Returns all ones when |x| < limit; limit >= 0. */
static inline uint64_t even_is_below(double x, double limit)
{
    return mask_of((even_bits(x) & ~EVEN_SIGN) < even_bits(limit));
}

/** Returns x, or 0 when it is nearer to 0 than 2^-100: squares and products of what is left are not
 * subnormal. */
static inline double even_flushed(double x)
{
    return even_keep(~even_is_below(x, 0x1p-100), x);
}

/** Returns n / d, rounded down; n <= 2^62, 0 < d <= 2^62. A processor's own division takes the longer the
 * larger the quotient. The doubles' quotient errs by at most 2^11 + 1, that of what it leaves by 1. */
static inline uint64_t even_divide(uint64_t n, uint64_t d)
{
    const double by = (double)(int64_t)d;
    uint64_t quotient = (uint64_t)(int64_t)((double)(int64_t)n / by);
    const int64_t left = (int64_t)(n - quotient * d);
    const uint64_t more = (uint64_t)(int64_t)((double)left / by);
    quotient += more;
    const int64_t rest = left - (int64_t)(more * d);
    quotient -= mask_of(rest < 0) & 1;
    return quotient + (mask_of(rest >= (int64_t)d) & 1);
}

#endif
