/* How probably a choice takes the best of several candidates, beside closed forms. */

#include "experts/best.h"

#include <criterion/criterion.h>
#include <math.h>

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* With two experts the difference of their noises decides; it is normal with variance 2. */
Test(best, of_two_in_normal_noise_is_a_normal_probability)
{
    for (double gap = 0; gap < 5; gap += 0.7) {
        for (double start = 0; start < 5; start += 0.9) {
            const double expected = normal_below((gap - start) / sqrt(2));
            cr_expect_float_eq(best_of_normal(2, gap, start), expected, 1e-6, "%g %g", gap, start);
        }
    }
}

/* Without a gap all experts are equally likely. One with a far larger loss is not chosen, and changes
 * nothing for the others. */
Test(best, of_several_without_a_gap_is_one_of_them)
{
    for (size_t count = 1; count < 9; count++) {
        cr_expect_float_eq(best_of_normal(count, 0, 0), 1 / (double)count, 1e-6);
        cr_expect_float_eq(best_of_laplace(count, 0), 1 / (double)count, 1e-6);
        cr_expect_float_eq(best_exponential(count, 0), 1 / (double)count, 1e-12);
        cr_expect(count == 1 || best_of_normal(count, 1, 12) < 1e-6);
        cr_expect(count < 3 || best_of_normal(count, 1, 2) < best_of_normal(count, 1, 1));
    }
    cr_expect_float_eq(best_of_normal(1, 0.3, 4), 1, 1e-6);
}
