/* geometric.c - the tables of a scale, and vectors of magnitudes. Walker's alias method: Walker,
 * "New fast method for generating discrete random numbers with arbitrary frequency distributions",
 * Electronics Letters 10(8), 1974. Deviation: a 33rd outcome, "none of them", takes what whole
 * numbers of words leave over. */

#include "noise/geometric.h"

#include "base/check.h"
#include "base/wide.h"
#include "noise/laplace_private.h"

#include <string.h>

enum { OUTCOMES = NOISE_BASE + 1 };

#define CELL (UINT64_C(1) << (DIGIT_BITS - CELL_BITS))

/* The largest number with 16 * 2^bits <= scale; 0 when there is none. */
static unsigned low_bits_of(struct noise_scale scale)
{
    uint128 weight = (uint128)scale.denominator * 32;
    unsigned bits = 0;
    while (weight <= scale.numerator) {
        weight *= 2;
        bits++;
    }
    return bits;
}

static const struct noise_kernel *fastest_kernel(void)
{
    const struct noise_kernel *kernel = &noise_kernel_plain;
    for (size_t i = 0; noise_kernel_at(i) != NULL; i++) {
        kernel = noise_kernel_at(i);
    }
    return kernel;
}

enum status noise_geometric_init(struct noise_geometric *noise, struct noise_scale scale)
{
    memset(noise, 0, sizeof *noise);
    if (!noise_scale_is_valid(scale)) {
        return STATUS_INVALID;
    }
    noise->scale = scale;
    noise->low_bits = low_bits_of(scale);
    CHECK(noise->low_bits <= LOW_BITS_MAX);
    noise->factor = noise_exact_factor(noise);
    noise->kernel = fastest_kernel();
    for (size_t i = 0; i < NOISE_DIGITS; i++) {
        noise_exact_mass(&noise->digit[i], noise, i);
        noise_digit_cells(&noise->digit[i]);
    }
    return STATUS_OK;
}

/* n outcomes with n - 1 cells' worth of mass: the smallest has less than a cell, and the largest at
 * least what it lacks (else all n together would have less than n - 1 cells). The two fill a cell,
 * the smallest is gone, and n - 1 outcomes with n - 2 cells' worth remain. */
void noise_digit_cells(struct noise_digit *digit)
{
    uint64_t rest[OUTCOMES];
    bool gone[OUTCOMES] = {false};
    memcpy(rest, digit->mass, sizeof digit->mass);
    rest[NOISE_LEFT] = digit->left;

    for (size_t cell = 0; cell < NOISE_BASE; cell++) {
        size_t small = OUTCOMES;
        size_t large = OUTCOMES;
        for (size_t i = 0; i < OUTCOMES; i++) {
            if (!gone[i] && (small == OUTCOMES || rest[i] < rest[small])) {
                small = i;
            }
        }
        for (size_t i = 0; i < OUTCOMES; i++) {
            if (!gone[i] && i != small && (large == OUTCOMES || rest[i] > rest[large])) {
                large = i;
            }
        }
        CHECK(rest[small] < CELL && rest[large] >= CELL - rest[small]);
        digit->cell[cell] = rest[small] << THRESHOLD_SHIFT | small << OUTCOME_BITS | large;
        rest[large] -= CELL - rest[small];
        gone[small] = true;
    }
}
