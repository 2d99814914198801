#include "estimate/cells.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static void near(double got, double expected, double by)
{
    cr_expect(fabs(got - expected) <= by, "%.12g is not %.12g", got, expected);
}

/* R: pchisq(x, df, lower.tail = FALSE) */
Test(cells, tail_of_chi_squared_is_r_s)
{
    near(chi_squared_above(3.841458820694124, 1), 0.05, 1e-12);
    near(chi_squared_above(5.991464547107979, 2), 0.05, 1e-12);
    near(chi_squared_above(7.814727903251178, 3), 0.05, 1e-12);
    near(chi_squared_above(14.06714044934017, 7), 0.05, 1e-12);
    near(chi_squared_above(15.50731305586545, 8), 0.05, 1e-12);
    near(chi_squared_above(43.77297182574219, 30), 0.05, 1e-12);
    cr_expect(chi_squared_above(0, 3) == 1 && chi_squared_above(-1, 1) == 1);
}

Test(cells, balanced_ones_have_the_public_total)
{
    double cell[3] = {10.5, -2, 4.5};
    cells_balance(cell, 3, 10);
    near(cell[0] + cell[1] + cell[2], 10, 1e-12);
    near(cell[0], 9.5, 1e-12);
    /* The total itself is then without noise, and a cell has a third less. */
    near(cells_covariance(3, 3, 3, 3, 2), 0, 1e-12);
    near(cells_covariance(1, 1, 1, 3, 2), 2.0 * 2 / 3, 1e-12);
}

Test(cells, quadratic_form_is_that_of_the_inverse)
{
    double a[4] = {4, 0, 2, 3};
    double x[2] = {1, 2};
    cr_assert(cholesky(a, 2) == 0);
    near(cholesky_form(a, x, 2), (3.0 * 1 - 2 * 2 * 1 * 2 + 4 * 4) / 8, 1e-12);
    double b[4] = {1, 0, 2, 1};
    cr_expect(cholesky(b, 2) == 2);
}

/* Independent ones: P(max <= c) = (2 Phi(c) - 1)^n = 0.96; one: 2.05. */
Test(cells, band_of_independent_points_is_that_of_their_product)
{
    double factor[100] = {0};
    for (size_t i = 0; i < 10; i++) {
        factor[i * 10 + i] = 1 + (double)i;
    }
    near(band_width(factor, 10), 2.872, 0.1); /* 2,000 draws: a standard error of 0.025 */
    near(band_width(factor, 1), 2.054, 0.12);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* One draw after another, each with normals of its own, and all of them sorted: the same number to the last bit. */
Test(cells, band_is_that_of_draws_one_after_another)
{
    enum { DRAWS = 2000, POINTS_MAX = 40 };
    static double most[DRAWS];
    for (size_t n = 1; n <= POINTS_MAX; n += n < 5 ? 1 : 7) {
        double factor[POINTS_MAX * POINTS_MAX] = {0};
        uint64_t state = 7;
        double z[2];
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++) {
                cells_normals(z, &state);
                factor[i * n + j] = j < i ? z[0] / 4 : 1 + fabs(z[1]);
            }
        }
        state = 1;
        for (size_t draw = 0; draw < DRAWS; draw++) {
            double sum[POINTS_MAX] = {0};
            most[draw] = 0;
            for (size_t k = 0; k < n; k++) {
                double square = 0;
                if (k % 2 == 0) {
                    cells_normals(z, &state);
                }
                for (size_t i = k; i < n; i++) {
                    sum[i] += factor[i * n + k] * z[k % 2];
                }
                for (size_t j = 0; j <= k; j++) {
                    square += factor[k * n + j] * factor[k * n + j];
                }
                most[draw] = fmax(most[draw], fabs(sum[k]) / sqrt(square));
            }
        }
        qsort(most, DRAWS, sizeof most[0], compare);
        cr_expect(band_width(factor, n) == fmax(most[DRAWS / 100 * 96], 2.0), "%zu points", n);
    }
}
