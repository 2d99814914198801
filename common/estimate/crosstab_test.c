/* crosstab_test.c - the chi-squared test of independence, with the noise in its reference distribution. Categories about which
 * the counts say nothing are left out. Otherwise an empty one would take the test from all others. */

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

/* Of the kept rows and columns; kept: NULL: of all. */
static void add_up(struct margins *out, const struct crosstab_cells *cells,
                   const struct crosstab_kept *kept)
{
    *out = (struct margins){.total = 0};
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            const bool is_kept = kept == NULL || (kept->row[i] && kept->column[j]);
            const double x = is_kept ? cells->cell[i * cells->columns + j] : 0;
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

/* Writes D_ij's gradient in the cells. */
static void gradient_of(double *out, const struct margins *margins,
                        const struct crosstab_cells *cells, const size_t at[2])
{
    const double p = margins->row[at[0]] / margins->total;
    const double q = margins->column[at[1]] / margins->total;
    for (size_t k = 0; k < cells->rows; k++) {
        for (size_t l = 0; l < cells->columns; l++) {
            const bool in_row = at[0] == k;
            const bool in_column = at[1] == l;
            *out++ = (in_row && in_column ? 1 : 0) - (in_row ? q : 0) - (in_column ? p : 0) + p * q;
        }
    }
}

/* By noise, of two figures of which these are the gradients. */
static double noise_covariance(const double *one, const double *other,
                               const struct crosstab_cells *cells)
{
    double product = 0;
    double sum = 0;
    double sum_other = 0;
    for (size_t i = 0; i < cells->rows * cells->columns; i++) {
        product += one[i] * other[i];
        sum += one[i];
        sum_other += other[i];
    }
    return cells_covariance(product, sum, sum_other, cells->m, cells->variance);
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
    double gradient[2][CROSSTAB_CELLS_MAX];
    gradient_of(gradient[0], margins, cells, at);
    gradient_of(gradient[1], margins, cells, other);
    return sampling + noise_covariance(gradient[0], gradient[1], cells);
}

/* What a sum of that many cells must be above. A smaller one expects too few records in some cell, whatever the others hold. */
static double least_of(size_t count, const struct crosstab_cells *cells)
{
    const double k = (double)count;
    const double noise = sqrt(fmax(0, cells_covariance(k, k, k, cells->m, cells->variance)));
    return fmax(expected_least, expected_over_noise * noise);
}

void crosstab_keep(struct crosstab_kept *out, const struct crosstab_cells *cells)
{
    struct margins margins;
    CHECK(cells->rows * cells->columns <= CROSSTAB_CELLS_MAX);
    add_up(&margins, cells, NULL);
    *out = (struct crosstab_kept){.rows = 0};
    for (size_t i = 0; i < cells->rows; i++) {
        out->row[i] = margins.row[i] > least_of(cells->columns, cells);
        out->rows += out->row[i];
    }
    for (size_t j = 0; j < cells->columns; j++) {
        out->column[j] = margins.column[j] > least_of(cells->rows, cells);
        out->columns += out->column[j];
    }
}

/* The least expected cell. The test is shown if it is large enough. Where it is near its limit, noise or chance made it so large,
 * and the noise moved D with it: noise is alike in all cells of a margin, and what is expected is not. */
struct least {
    double value;
    double deviation;                    /* by noise and sampling */
    double gradient[CROSSTAB_CELLS_MAX]; /* in the cells */
};

static void find_least(struct least *out, const struct margins *margins,
                       const struct crosstab_cells *cells)
{
    size_t row = 0;
    size_t column = 0;
    for (size_t i = 1; i < cells->rows; i++) {
        row = margins->row[i] < margins->row[row] ? i : row;
    }
    for (size_t j = 1; j < cells->columns; j++) {
        column = margins->column[j] < margins->column[column] ? j : column;
    }
    const double r = margins->row[row];
    const double c = margins->column[column];
    out->value = r * c / margins->total;
    for (size_t k = 0; k < cells->rows; k++) {
        for (size_t l = 0; l < cells->columns; l++) {
            out->gradient[k * cells->columns + l] =
                out->value *
                ((k == row ? 1 / r : 0) + (l == column ? 1 / c : 0) - 1 / margins->total);
        }
    }
    const double sampling =
        out->value * out->value * ((1 - r / margins->total) / r + (1 - c / margins->total) / c);
    out->deviation =
        sqrt(sampling + crosstab_noise(cells, out->gradient, cells->rows * cells->columns));
}

/* How far noise moves D_ij where a least cell is found one deviation too large. */
static double moved(const struct least *least, const struct margins *margins,
                    const struct crosstab_cells *cells, const size_t at[2])
{
    double gradient[CROSSTAB_CELLS_MAX];
    gradient_of(gradient, margins, cells, at);
    return noise_covariance(gradient, least->gradient, cells) / least->deviation;
}

/* As many deviations as what is shown may have been moved if a hundredth is; none from three deviations above the limit on. */
static double moved_most(const struct least *least, const struct crosstab_cells *cells)
{
    static const double upper_hundredth = 2.6652142;
    const double limit = fmax(expected_least, expected_over_noise * sqrt(cells->variance));
    const double over = (least->value - limit) / least->deviation;
    return upper_hundredth * fmin(fmax((3 - over) / 2, 0), 1);
}

/* The least statistic of all that D may have been moved by. by: of one deviation; both are (block), divided by the factor */
static double least_statistic(const double *d, const double *by, size_t block, double most)
{
    double own = 0;
    double both = 0;
    double square = 0;
    for (size_t i = 0; i < block; i++) {
        own += d[i] * d[i];
        both += d[i] * by[i];
        square += by[i] * by[i];
    }
    const double times = square > 0 ? fmin(fmax(both / square, 0), most) : 0;
    return fmax(own - 2 * times * both + times * times * square, 0);
}

struct crosstab_least crosstab_least_of(const struct crosstab_cells *cells)
{
    struct crosstab_least least = {
        .expected = NAN,
        .wanted = fmax(expected_least, expected_over_noise * sqrt(cells->variance))};
    struct crosstab_kept kept;
    struct margins margins;
    crosstab_keep(&kept, cells);
    add_up(&margins, cells, &kept);
    for (size_t i = 0; i < cells->rows && kept.rows > 1 && kept.columns > 1; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            const double expected = margins.row[i] * margins.column[j] / margins.total;
            if (kept.row[i] && kept.column[j] && !(expected >= least.expected)) {
                least.row = i;
                least.column = j;
                least.expected = expected;
            }
        }
    }
    return least;
}

/* Of a table without empty categories. found: the statistic before D is taken to have moved */
static double test_kept(double *p, double *found, const struct crosstab_cells *cells)
{
    const size_t wide = cells->columns - 1;
    const size_t block = (cells->rows - 1) * wide;
    double matrix[CROSSTAB_BLOCK_MAX * CROSSTAB_BLOCK_MAX];
    double d[CROSSTAB_BLOCK_MAX];
    double by[CROSSTAB_BLOCK_MAX];
    struct margins margins;
    struct least least;

    CHECK(wide > 0);
    add_up(&margins, cells, NULL);
    if (!is_enough(&margins, cells)) {
        return NAN;
    }
    find_least(&least, &margins, cells);
    for (size_t i = 0; i < block; i++) {
        const size_t at[2] = {i / wide, i % wide};
        d[i] = cells->cell[at[0] * cells->columns + at[1]] -
               margins.row[at[0]] * margins.column[at[1]] / margins.total;
        by[i] = moved(&least, &margins, cells, at);
        for (size_t j = 0; j <= i; j++) {
            const size_t other[2] = {j / wide, j % wide};
            matrix[i * block + j] = covariance(&margins, cells, at, other);
        }
    }
    if (cholesky(matrix, block) != 0) {
        return NAN;
    }
    (void)cholesky_form(matrix, d, block);
    (void)cholesky_form(matrix, by, block);
    *found = least_statistic(d, by, block, 0);
    const double statistic = least_statistic(d, by, block, moved_most(&least, cells));
    *p = chi_squared_above(statistic, block);
    return statistic;
}

static double test_of(double *p, double *found, const struct crosstab_cells *cells)
{
    double cell[CROSSTAB_CELLS_MAX];
    struct crosstab_cells with = *cells;
    struct crosstab_kept kept;
    size_t count = 0;

    CHECK(cells->rows >= 2 && cells->columns >= 2);
    CHECK((cells->rows - 1) * (cells->columns - 1) <= CROSSTAB_BLOCK_MAX);
    *p = NAN;
    *found = NAN;
    crosstab_keep(&kept, cells);
    if (kept.rows < 2 || kept.columns < 2) {
        return NAN;
    }
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            if (kept.row[i] && kept.column[j]) {
                cell[count++] = cells->cell[i * cells->columns + j];
            }
        }
    }
    with.cell = cell;
    with.rows = kept.rows;
    with.columns = kept.columns;
    return test_kept(p, found, &with);
}

double crosstab_test(double *p, const struct crosstab_cells *cells)
{
    double found = NAN;
    return test_of(p, &found, cells);
}

double crosstab_test_found(const struct crosstab_cells *cells)
{
    double p = NAN;
    double found = NAN;
    (void)test_of(&p, &found, cells);
    return found;
}

double crosstab_row_of_test(size_t columns, double variance)
{
    return (double)columns * fmax(expected_least, expected_over_noise * sqrt(variance));
}

/* How likely a non-central chi-squared variable is above its central one's 5 % point: a Poisson mixture of central ones. */
static double power_of(double noncentrality, size_t freedom, double point)
{
    enum { TERMS = 200 };
    double weight = exp(-noncentrality / 2);
    double above = chi_squared_above(point, freedom);
    double power = 0;
    for (size_t i = 0; i < TERMS; i++) {
        const double a = (double)freedom / 2 + (double)i;
        power += weight * above;
        weight *= noncentrality / 2 / (double)(i + 1);
        above += exp(a * log(point / 2) - point / 2 - lgamma(a + 1));
    }
    return power;
}

double chi_squared_found(size_t freedom)
{
    enum { HALVINGS = 50 };
    double point[2] = {0, 4 * (double)freedom + 40};
    double noncentrality[2] = {0, 100};
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (point[0] + point[1]) / 2;
        point[chi_squared_above(middle, freedom) < 0.05] = middle;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (noncentrality[0] + noncentrality[1]) / 2;
        noncentrality[power_of(middle, freedom, point[1]) >= 0.8] = middle;
    }
    return noncentrality[1];
}

/* D of cells that are alike has a sampling variance of their mean, and the noise's, in each direction. */
double crosstab_expect_test(double records, size_t rows, size_t columns, double variance)
{
    const double cells = (double)(rows * columns);
    return records / (double)rows < crosstab_row_of_test(columns, variance)
               ? NAN
               : sqrt(chi_squared_found((rows - 1) * (columns - 1)) *
                      (1 + variance * cells / records) / records);
}
