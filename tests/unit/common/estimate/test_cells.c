#include "estimate/cells.h"

#include <criterion/criterion.h>
#include <math.h>

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
