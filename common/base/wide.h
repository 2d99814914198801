/* wide.h - the 128-bit integers that products of two 64-bit quantities need. */

#ifndef BASE_WIDE_H
#define BASE_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

/** Returns a + b, or UINT64_MAX when that does not fit. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
