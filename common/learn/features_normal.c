/* Karney's algorithm N. The magnitude is k + x: k >= 0 whole with probability proportional to
 * exp(-k^2/2), x in [0, 1) with density proportional to exp(-x(2k + x)/2). Both come from coins of
 * probability exp(-1/2) and exp(-x(2k + x)/(2k + 2)), which von Neumann's falling runs of uniform
 * numbers give without an exponential. */

#include "learn/features_normal.h"

#include <math.h>
#include <stdbool.h>

enum { UNIFORM_BITS = 48 };

struct public_random public_random_from(uint64_t seed)
{
    return (struct public_random){.state = seed};
}

uint64_t public_random_next(struct public_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A uniform number of [0, 1) in units of 2^-48. */
static uint64_t uniform(struct public_random *random)
{
    return public_random_next(random) >> (64 - UNIFORM_BITS);
}

/* True with probability exp(-1/2): a falling run from 1/2 has length n or more with probability
 * 2^-n/n!, and it is even with probability sum (-1/2)^n/n!. */
static bool coin_half(struct public_random *random)
{
    uint64_t last = UINT64_C(1) << (UNIFORM_BITS - 1);
    bool even = true;
    for (;;) {
        const uint64_t next = uniform(random);
        if (next >= last) {
            return even;
        }
        last = next;
        even = !even;
    }
}

/* True with probability exp(-x q), q = (2k + x)/(2k + 2): a falling run from x each of whose
 * members survives with probability q. */
static bool coin_part(struct public_random *random, uint64_t k, uint64_t x)
{
    uint64_t last = x;
    bool even = true;
    for (;;) {
        const uint64_t next = uniform(random);
        if (next >= last || uniform(random) * (2 * k + 2) >= ((2 * k) << UNIFORM_BITS) + x) {
            return even;
        }
        last = next;
        even = !even;
    }
}

/* True when count coins of exp(-1/2) are. */
static bool coins_half(struct public_random *random, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!coin_half(random)) {
            return false;
        }
    }
    return true;
}

static bool coins_part(struct public_random *random, uint64_t k, uint64_t x)
{
    for (uint64_t i = 0; i <= k; i++) {
        if (!coin_part(random, k, x)) {
            return false;
        }
    }
    return true;
}

double public_random_normal(struct public_random *random)
{
    for (;;) {
        uint64_t k = 0;
        while (coin_half(random)) {
            k++;
        }
        if (k > 1 && !coins_half(random, k * (k - 1))) {
            continue;
        }
        const uint64_t x = uniform(random);
        if (!coins_part(random, k, x)) {
            continue;
        }
        /* The middle of the uniform number's cell, so that zero never comes. */
        const uint64_t doubled = (((k << UNIFORM_BITS) + x) << 1) + 1;
        const double magnitude = ldexp((double)doubled, -(UNIFORM_BITS + 1));
        return (public_random_next(random) >> 63) != 0 ? -magnitude : magnitude;
    }
}
