/* mask.h - decisions about secrets without branches. Compilers turn a plain choice back into a
 * branch when they expect to gain from it (clang 14 did so with a minimum), hence the barrier. */

#ifndef BASE_MASK_H
#define BASE_MASK_H

#include <stdint.h>

/** Returns all ones when the condition (0 or 1) holds, else 0; the compiler cannot see which. */
static inline uint64_t mask_of(uint64_t condition)
{
    uint64_t mask = 0 - condition;
#if defined(__GNUC__)
    __asm__("" : "+r"(mask));
#endif
    return mask;
}

/** Returns yes where the mask is all ones, no where it is 0. */
static inline uint64_t mask_choose(uint64_t mask, uint64_t yes, uint64_t no)
{
    return no ^ ((yes ^ no) & mask);
}

#endif
