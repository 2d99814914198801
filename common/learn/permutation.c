/* xoshiro256** takes the seed's 32 bytes as its state; the all-zero state, its fixed point, is
 * replaced by a constant. */

#include "learn/permutation.h"

#include <stdint.h>

enum { WARM_UP = 16 };

struct generator {
    uint64_t s[4];
};

static uint64_t rotate_left(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

static uint64_t generator_next(struct generator *generator)
{
    uint64_t *s = generator->s;
    const uint64_t out = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return out;
}

/* The finaliser of splitmix64: a bijection that spreads every bit of a word over all of it. */
static uint64_t mixed(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

static struct generator generator_from(const struct digest *seed)
{
    struct generator generator;
    uint64_t any = 0;
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t distinct = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        generator.s[i] = mixed(load_u64(seed->byte + 8 * i) + distinct);
        any |= generator.s[i];
    }
    if (any == 0) {
        generator.s[0] = 1;
    }
    for (int i = 0; i < WARM_UP; i++) {
        (void)generator_next(&generator);
    }
    return generator;
}

/* 64 x 64 -> 128 bits by halves: ISO C has no 128-bit type. Returns the upper word. */
static uint64_t multiply_high(uint64_t *low, uint64_t a, uint64_t b)
{
    const uint64_t mask = UINT32_MAX;
    const uint64_t ll = (a & mask) * (b & mask);
    const uint64_t lh = (a & mask) * (b >> 32);
    const uint64_t hl = (a >> 32) * (b & mask);
    const uint64_t middle = (ll >> 32) + (lh & mask) + (hl & mask);
    *low = a * b;
    return (a >> 32) * (b >> 32) + (lh >> 32) + (hl >> 32) + (middle >> 32);
}

/* Uniform on 0 .. bound-1: the upper word of word * bound, unless the lower word falls into the
 * part that would favour some values. */
static uint64_t generator_below(struct generator *generator, uint64_t bound)
{
    const uint64_t unfair = (0 - bound) % bound;
    uint64_t low = 0;
    uint64_t high = 0;
    do {
        high = multiply_high(&low, generator_next(generator), bound);
    } while (low < unfair);
    return high;
}

void permutation_draw(size_t *order, size_t count, const struct digest *seed)
{
    struct generator generator = generator_from(seed);
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t left = count; left > 1; left--) {
        const size_t pick = (size_t)generator_below(&generator, left);
        const size_t moved = order[left - 1];
        order[left - 1] = order[pick];
        order[pick] = moved;
    }
}
