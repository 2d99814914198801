/* Kernels: known values, kappa, and the fast Gram matrix against the plain formula. */

#include "learn/kernel.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct kernel every[] = {
    {.kind = KERNEL_LINEAR},
    {.kind = KERNEL_GAUSSIAN, .rate = 0.5},
    {.kind = KERNEL_GAUSSIAN, .rate = 20},
    {.kind = KERNEL_LAPLACIAN, .rate = 2},
    {.kind = KERNEL_POLYNOMIAL, .offset = 0, .degree = 2},
    {.kind = KERNEL_POLYNOMIAL, .offset = 1, .degree = 3},
};
enum { EVERY = sizeof every / sizeof *every };

static void draw(double *x, size_t m, size_t d, struct seeded_random *random)
{
    for (size_t i = 0; i < m * d; i++) {
        x[i] = (2 * seeded_random_unit(random) - 1) / sqrt((double)d);
    }
}

Test(kernel, takes_known_values)
{
    const double a[] = {0.5, -0.5};
    const double b[] = {0.5, 0.25};
    cr_assert(kernel_value(every[0], a, b, 2) == 0.125);
    cr_assert(fabs(kernel_value(every[1], a, b, 2) - exp(-0.28125)) < 1e-16);
    cr_assert(fabs(kernel_value(every[3], a, b, 2) - exp(-1.5)) < 1e-16);
    cr_assert(kernel_value(every[4], a, b, 2) == 0.015625);
    cr_assert(kernel_value(every[5], a, b, 2) == 1.423828125);
}

Test(kernel, gram_is_the_plain_one_and_symmetric)
{
    static double x[70 * 13];
    static double g[70 * 70];
    struct seeded_random random;
    seeded_random_init(&random, 1);
    for (int k = 0; k < EVERY; k++) {
        for (size_t m = 1; m <= 70; m += 23) {
            draw(x, m, 13, &random);
            for (size_t j = 0; m > 1 && j < 13; j++) {
                x[13 + j] = x[j]; /* two records alike: no root of a rounding error */
            }
            kernel_gram(g, every[k], x, m, 13);
            for (size_t i = 0; i < m; i++) {
                for (size_t j = 0; j < m; j++) {
                    const double plain = kernel_value(every[k], x + i * 13, x + j * 13, 13);
                    const double kappa = kernel_kappa(every[k]);
                    const double error = kernel_rounding(every[k], 13) * 0x1p-53 * kappa * kappa;
                    cr_assert(fabs(g[i * m + j] - plain) <= 2 * error, "%d", k);
                    cr_assert(g[i * m + j] == g[j * m + i]);
                }
            }
        }
    }
}

/* Reached at a record of norm 1, never exceeded: a kappa without the offset would be caught. */
Test(kernel, kappa_is_the_largest_root_of_the_diagonal)
{
    struct seeded_random random;
    seeded_random_init(&random, 2);
    for (int k = 0; k < EVERY; k++) {
        const double unit[3] = {0.6, 0, -0.8};
        const double kappa = kernel_kappa(every[k]);
        const double reached = sqrt(kernel_value(every[k], unit, unit, 3));
        cr_assert(reached <= kappa * (1 + 1e-15) && reached > kappa * (1 - 1e-13));
        for (int i = 0; i < 100; i++) {
            double x[3];
            draw(x, 1, 3, &random);
            cr_assert(sqrt(kernel_value(every[k], x, x, 3)) <= kappa);
        }
    }
}

Test(kernel, parameters_are_checked_by_kind)
{
    for (int k = 0; k < EVERY; k++) {
        cr_assert(kernel_check(every[k], NULL) == STATUS_OK);
    }
    const struct kernel wrong[] = {
        {.kind = KERNEL_LINEAR, .rate = 1},
        {.kind = KERNEL_LINEAR, .degree = 1},
        {.kind = KERNEL_GAUSSIAN},
        {.kind = KERNEL_GAUSSIAN, .rate = NAN},
        {.kind = KERNEL_GAUSSIAN, .rate = 1, .offset = 1},
        {.kind = KERNEL_LAPLACIAN, .rate = -1},
        {.kind = KERNEL_POLYNOMIAL, .offset = -1, .degree = 2},
        {.kind = KERNEL_POLYNOMIAL, .offset = 1, .degree = 17},
        {.kind = KERNEL_POLYNOMIAL, .offset = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct why why = {{0}};
        cr_assert(kernel_check(wrong[i], &why) == STATUS_INVALID && why.text[0] != '\0', "%zu", i);
    }
}

Test(kernel, has_names)
{
    enum kernel_kind kind = KERNEL_LINEAR;
    for (int k = 0; k < KERNEL_KINDS; k++) {
        cr_assert(kernel_from_name(&kind, kernel_name((enum kernel_kind)k)) == STATUS_OK);
        cr_assert((int)kind == k);
    }
    cr_assert(kernel_from_name(&kind, "rbf") == STATUS_NOT_FOUND);
}
