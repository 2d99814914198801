/* Whether acceptance refuses low parts as often as it should. Their distribution falls by a
 * sixteenth at most from end to end, which a fit by size (test_laplace_fit.c) hardly sees.
 *
 * Every comparison is chi-square with more than 10,000 expected counts a bin and rejects below p =
 * 1e-9; four must pass, so a false alarm has a probability below 4e-9 for a fresh seed, and the
 * seeds are fixed. Each has two twins that must be rejected. */

#include "noise/laplace_private.h"
#include "tests/support/chi_square.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define REJECT_BELOW 1e-9

enum { VALUES = 4000000 };

/* p-value of the top six bits of the low part, of geometric noise whose acceptance is told
 * `factor_part` of its factor: P(j) ~ exp(-j 2^k/s). */
static double fit_low_part(struct noise_scale scale, double factor_part, size_t count,
                           uint64_t seed)
{
    enum { PARTS = 64 };
    struct noise_geometric noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint64_t seen[PARTS] = {0};
    double expected[PARTS];
    int64_t *values = calloc(count, sizeof *values);
    cr_assert_not_null(values);
    cr_assert_eq(noise_geometric_init(&noise, scale), STATUS_OK);
    cr_assert_geq(noise.low_bits, 6);
    double step =
        ldexp((double)scale.denominator / (double)scale.numerator, (int)noise.low_bits - 6);
    noise.factor = (uint64_t)((double)noise.factor * factor_part);
    seeded_random_init(&seeded, seed);
    cr_assert_eq(noise_geometric_draw(&noise, &random, values, count), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        seen[(uint64_t)values[i] >> (noise.low_bits - 6) & (PARTS - 1)]++;
    }
    for (size_t j = 0; j < PARTS; j++) {
        expected[j] =
            (double)count * exp(-(double)j * step) * -expm1(-step) / -expm1(-PARTS * step);
    }
    free(values);
    return chi_square_p(seen, expected, PARTS);
}

Test(noise_low, low_parts_fall_as_steeply_as_the_scale_says)
{
    static const struct noise_scale wide[] = {
        {1024, 1}, {1000000, 7}, {UINT64_C(1) << 20, 1}, {UINT64_C(1) << 40, 1}};
    for (size_t i = 0; i < 4; i++) {
        size_t count = VALUES;
        cr_expect_geq(fit_low_part(wide[i], 1, count, 800 + i), REJECT_BELOW, "scale %zu", i);
        cr_expect_lt(fit_low_part(wide[i], 0, count, 810 + i), REJECT_BELOW, "none refused");
        cr_expect_lt(fit_low_part(wide[i], 0.5, count, 820 + i), REJECT_BELOW, "too few refused");
    }
}
