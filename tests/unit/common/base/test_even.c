/* Choices and a division that take no branch. */

#include "base/even.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

Test(even, keys_are_ordered_as_the_numbers_are)
{
    const double sorted[] = {-INFINITY, -1e308, -2, -1, -5e-324, 0, 5e-324, 1e-310, 1, 2, INFINITY};
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        for (size_t j = 0; j < sizeof sorted / sizeof *sorted; j++) {
            cr_expect_eq(even_key(sorted[i]) < even_key(sorted[j]), i < j);
            cr_expect(even_max(sorted[i], sorted[j]) == sorted[i > j ? i : j]);
            cr_expect(even_min(sorted[i], sorted[j]) == sorted[i < j ? i : j]);
        }
        cr_expect(even_is_nan(sorted[i]) == 0);
    }
    cr_expect(even_key(-0.0) == 0 && even_is_nan(NAN) == UINT64_MAX);
    cr_expect(even_max(NAN, 3) == 3 && even_min(NAN, 3) == 3);
    cr_expect(even_flushed(1e-31) == 0 && even_flushed(-1e-310) == 0);
    cr_expect(even_flushed(-1e-30) == -1e-30 && isnan(even_flushed(NAN)));
    cr_expect(even_is_below(-0.5, 1) == UINT64_MAX && even_is_below(-1, 1) == 0);
}

Test(even, divide_is_the_quotient_rounded_down)
{
    struct seeded_random seeded;
    const uint64_t most = UINT64_C(1) << 62;
    seeded_random_init(&seeded, 4);
    for (int i = 0; i < 200000; i++) {
        const uint64_t n = seeded_random_below(&seeded, most) >> seeded_random_below(&seeded, 62);
        const uint64_t d =
            1 + (seeded_random_below(&seeded, most) >> seeded_random_below(&seeded, 62));
        cr_assert_eq(even_divide(n, d), n / d);
        const uint64_t near = n / d * d; /* where rounding could go wrong */
        cr_assert_eq(even_divide(near, d), near / d);
        cr_assert_eq(even_divide(near == 0 ? 0 : near - 1, d), (near == 0 ? 0 : near - 1) / d);
    }
    cr_assert(even_divide(most, 1) == most && even_divide(most, most) == 1);
    cr_assert(even_divide(most - 1, most) == 0 && even_divide(0, 7) == 0);
}
