/* dice.h - the choices a test makes: splitmix64 (Steele, Lea, Flood 2014). For events around a
 * program, never for the randomness inside one. */

#ifndef TESTS_SUPPORT_DICE_H
#define TESTS_SUPPORT_DICE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_word(struct dice *dice)
{
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** Returns a number below bound, which is > 0; the bias is below bound / 2^64. */
static inline uint64_t dice_below(struct dice *dice, uint64_t bound)
{
    return dice_word(dice) % bound;
}

/** Returns true once in `times` times, on average. */
static inline bool dice_one_in(struct dice *dice, uint64_t times)
{
    return dice_below(dice, times) == 0;
}

static inline void dice_fill(struct dice *dice, void *out, size_t bytes)
{
    uint8_t *byte = out;
    for (size_t i = 0; i < bytes; i++) {
        byte[i] = (uint8_t)dice_word(dice);
    }
}

#endif
