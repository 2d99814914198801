/* crosstab_test.c - the chi-squared test of independence, with the noise in its reference distribution. */

#include "estimate/crosstab.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>

static const double expected_least = 5;
static const double expected_over_noise = 5;

struct margins {
    double row[CROSSTAB_CELLS_MAX];
    double column[CROSSTAB_CELLS_MAX];
    double total;
};

static void add_up(struct margins *out, const struct crosstab_cells *cells)
{
    *out = (struct margins){.total = 0};
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            const double x = cells->cell[i * cells->columns + j];
            out->row[i] += x;
            out->column[j] += x;
            out->total += x;
        }
    }
}

static bool is_enough(const struct margins *margins, const struct crosstab_cells *cells)
{
    const double least = fmax(expected_least, expected_over_noise * sqrt(cells->variance));
    bool enough = margins->total > 0;
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            enough = enough && margins->row[i] > 0 && margins->column[j] > 0 &&
                     margins->row[i] * margins->column[j] / margins->total >= least;
        }
    }
    return enough;
}

/* dD_ij / dx_kl */
static double slope(const struct margins *margins, size_t i, size_t j, size_t k, size_t l)
{
    const double p = margins->row[i] / margins->total;
    const double q = margins->column[j] / margins->total;
    return (i == k && j == l ? 1 : 0) - (i == k ? q : 0) - (j == l ? p : 0) + p * q;
}

/* Of D_ij and D_kl, by sampling and noise. */
static double covariance(const struct margins *margins, const struct crosstab_cells *cells,
                         const size_t at[2], const size_t other[2])
{
    const double p = margins->row[at[0]] / margins->total;
    const double q = margins->column[at[1]] / margins->total;
    const double r = margins->row[other[0]] / margins->total;
    const double s = margins->column[other[1]] / margins->total;
    const double sampling = margins->total * ((at[0] == other[0] ? p : 0) - p * r) *
                            ((at[1] == other[1] ? q : 0) - q * s);
    double product = 0;
    double sum = 0;
    double sum_other = 0;
    for (size_t k = 0; k < cells->rows; k++) {
        for (size_t l = 0; l < cells->columns; l++) {
            const double one = slope(margins, at[0], at[1], k, l);
            const double two = slope(margins, other[0], other[1], k, l);
            product += one * two;
            sum += one;
            sum_other += two;
        }
    }
    return sampling + cells_covariance(product, sum, sum_other, cells->m, cells->variance);
}

double crosstab_test(double *p, const struct crosstab_cells *cells)
{
    const size_t wide = cells->columns - 1;
    const size_t block = (cells->rows - 1) * wide;
    double matrix[CROSSTAB_BLOCK_MAX * CROSSTAB_BLOCK_MAX];
    double d[CROSSTAB_BLOCK_MAX];
    struct margins margins;

    CHECK(cells->rows >= 2 && cells->columns >= 2 && block <= CROSSTAB_BLOCK_MAX);
    CHECK(cells->rows * cells->columns <= CROSSTAB_CELLS_MAX);
    *p = NAN;
    add_up(&margins, cells);
    if (!is_enough(&margins, cells)) {
        return NAN;
    }
    for (size_t i = 0; i < block; i++) {
        const size_t at[2] = {i / wide, i % wide};
        d[i] = cells->cell[at[0] * cells->columns + at[1]] -
               margins.row[at[0]] * margins.column[at[1]] / margins.total;
        for (size_t j = 0; j <= i; j++) {
            const size_t other[2] = {j / wide, j % wide};
            matrix[i * block + j] = covariance(&margins, cells, at, other);
        }
    }
    if (cholesky(matrix, block) != 0) {
        return NAN;
    }
    const double statistic = cholesky_form(matrix, d, block);
    *p = chi_squared_above(statistic, block);
    return statistic;
}

double crosstab_row_of_test(size_t columns, double variance)
{
    return (double)columns * fmax(expected_least, expected_over_noise * sqrt(variance));
}
