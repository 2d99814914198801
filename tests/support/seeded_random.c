/* seeded_random.c - xoshiro256** (Blackman and Vigna 2018), its state filled by SplitMix64 (Steele,
 * Lea, Flood 2014) as its authors advise. */

#include "tests/support/seeded_random.h"

#include "base/bytes.h"

#include <math.h>

static uint64_t rotate_left(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

static uint64_t next_word(uint64_t state[4])
{
    uint64_t result = rotate_left(state[1] * 5, 7) * 9;
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return result;
}

static enum status seeded_fill(void *self, void *out, size_t bytes)
{
    struct seeded_random *seeded = self;
    uint8_t *byte = out;
    if (seeded->failing_after != 0 && seeded->drawn_bytes + bytes > seeded->failing_after) {
        return STATUS_NO_RANDOM;
    }
    seeded->drawn_bytes += bytes;
    while (bytes >= 8 && seeded->rest_bytes == 0) {
        store_u64(byte, next_word(seeded->state));
        byte += 8;
        bytes -= 8;
    }
    while (bytes > 0) {
        if (seeded->rest_bytes == 0) {
            seeded->rest = next_word(seeded->state);
            seeded->rest_bytes = 8;
        }
        *byte++ = (uint8_t)seeded->rest;
        seeded->rest >>= 8;
        seeded->rest_bytes--;
        bytes--;
    }
    return STATUS_OK;
}

void seeded_random_init(struct seeded_random *seeded, uint64_t seed)
{
    *seeded = (struct seeded_random){.rest = 0};
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
        seeded->state[i] = mixed ^ (mixed >> 31);
    }
}

struct random seeded_random_interface(struct seeded_random *seeded)
{
    return (struct random){.fill = seeded_fill, .self = seeded};
}

struct random seeded_random_of_program(uint64_t seed)
{
    static struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    return seeded_random_interface(&seeded);
}

uint64_t seeded_random_word(struct seeded_random *seeded)
{
    return next_word(seeded->state);
}

uint64_t seeded_random_below(struct seeded_random *seeded, uint64_t end)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % end; /* a multiple of end: below it all results are
                                                     * equally likely */
    uint64_t word = next_word(seeded->state);
    while (word >= limit) {
        word = next_word(seeded->state);
    }
    return word % end;
}

double seeded_random_unit(struct seeded_random *seeded)
{
    return (double)(next_word(seeded->state) >> 11) * 0x1p-53;
}

double seeded_random_laplace(struct seeded_random *seeded, double scale)
{
    const double unit = seeded_random_unit(seeded) - 0.5;
    return (unit < 0 ? 1 : -1) * scale * log(1 - 2 * fabs(unit));
}

double seeded_random_normal(struct seeded_random *seeded)
{
    const double radius = sqrt(-2 * log(1 - seeded_random_unit(seeded)));
    return radius * cos(2 * 3.14159265358979323846 * seeded_random_unit(seeded));
}
