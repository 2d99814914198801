/* crosstab.c - shares, differences and odds ratios by inverting tests. */

#include "estimate/crosstab.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>

enum { GRID = 480, HALVINGS = 50 };

static const double row_over_noise = 5;
static const double expected_over_noise = 2;
static const double log_odds_end = 12;
static const struct estimate unknown = {NAN, NAN, NAN, NAN, NAN};

/* A value under test. */
struct test {
    /** Returns the squared statistic less z^2 times its variance: above 0 where the value is rejected. */
    double (*excess)(const struct test *test, double value);
    const struct crosstab_cells *cells;
    size_t row;
};

/* Between a value that is not rejected and one that is. */
static double boundary(const struct test *test, double inside, double outside)
{
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (inside + outside) / 2;
        *(test->excess(test, middle) > 0 ? &outside : &inside) = middle;
    }
    return inside;
}

/* The least and the largest value in from .. to that are not rejected. A narrow set may lie between two points of the grid, so
 * that the estimate, which is never rejected, is one too (NAN: none). Returns false when there is no such value. */
static bool invert(double *low, double *high, const struct test *test, double from, double to,
                   double estimate)
{
    const double step = (to - from) / GRID;
    double first = estimate;
    double last = estimate;
    for (int i = 0; i <= GRID; i++) {
        const double value = from + step * i;
        if (!(test->excess(test, value) > 0)) {
            first = first <= value ? first : value;
            last = last >= value ? last : value;
        }
    }
    if (isnan(first)) {
        return false;
    }
    *low = first <= from ? from : boundary(test, first, fmax(from, first - step));
    *high = last >= to ? to : boundary(test, last, fmin(to, last + step));
    return true;
}

double crosstab_noise(const struct crosstab_cells *cells, const double *gradient, size_t count)
{
    double product = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        product += gradient[i] * gradient[i];
        sum += gradient[i];
    }
    return fmax(0, cells_covariance(product, sum, sum, cells->m, cells->variance));
}

static double excess_of_share(const struct test *test, double p)
{
    const double *own = test->cells->cell + 2 * test->row;
    const double gradient[2] = {-p, 1 - p};
    const double n = own[0] + own[1];
    /* Noise may leave more than all in a cell, or less than none: no value would be left that such a share does not reject. */
    const double t = fmin(fmax(own[1], 0), n) - p * n;
    const double sampling = fmax(n, 0) * p * (1 - p);
    const double noise = crosstab_noise(test->cells, gradient, 2);
    return t * t - ESTIMATE_Z * ESTIMATE_Z * (sampling + noise);
}

struct estimate crosstab_share(const struct crosstab_cells *cells, size_t row)
{
    const struct test test = {excess_of_share, cells, row};
    const double *own = cells->cell + 2 * row;
    const double n = own[0] + own[1];
    const double both[2] = {1, 1};
    CHECK(cells->columns == 2 && row < cells->rows);
    if (!(n > row_over_noise * sqrt(crosstab_noise(cells, both, 2))) || !(n > 1)) {
        return unknown;
    }
    const double p = fmin(fmax(own[1] / n, 0), 1);
    const double gradient[2] = {-p / n, (1 - p) / n};
    struct estimate share = {.value = p,
                             .noise = sqrt(crosstab_noise(cells, gradient, 2)),
                             .sampling = sqrt(p * (1 - p) / n)};
    return invert(&share.low, &share.high, &test, 0, 1, p) ? share : unknown;
}

/* Shares that differ by what is tested, of all records together as many as there are. */
static double excess_of_difference(const struct test *test, double difference)
{
    const double *x = test->cells->cell;
    const double first = x[0] + x[1];
    const double second = x[2] + x[3];
    const double pooled = (x[1] + x[3] - second * difference) / (first + second);
    const double p = fmin(fmax(pooled, fmax(0, -difference)), fmin(1, 1 - difference));
    const double q = fmin(fmax(p + difference, 0), 1);
    const double t = x[3] / second - x[1] / first - difference;
    const double gradient[4] = {p / first, -(1 - p) / first, -q / second, (1 - q) / second};
    const double sampling = p * (1 - p) / first + q * (1 - q) / second;
    return t * t - ESTIMATE_Z * ESTIMATE_Z * (sampling + crosstab_noise(test->cells, gradient, 4));
}

struct estimate crosstab_difference(const struct crosstab_cells *cells)
{
    const struct test test = {excess_of_difference, cells, 0};
    const struct estimate first = crosstab_share(cells, 0);
    const struct estimate second = crosstab_share(cells, 1);
    CHECK(cells->rows == 2);
    if (isnan(first.value) || isnan(second.value)) {
        return unknown;
    }
    /* The noise of the two is joined by balancing alone. */
    struct estimate difference = {.value = second.value - first.value,
                                  .noise = hypot(first.noise, second.noise),
                                  .sampling = hypot(first.sampling, second.sampling)};
    return invert(&difference.low, &difference.high, &test, -1, 1, difference.value) ? difference
                                                                                     : unknown;
}

/* The root of (1 - theta) a^2 + b a - theta row column that is possible, without cancellation. */
double crosstab_fitted(double theta, double row, double column, double total)
{
    const double b = total + (theta - 1) * (row + column);
    const double product = theta * row * column;
    const double root = sqrt(fmax(b * b + 4 * (1 - theta) * product, 0));
    const double a = b >= 0 ? 2 * product / (b + root) : (root - b) / (2 * (1 - theta));
    return fmin(fmax(a, fmax(0, row + column - total)), fmin(row, column));
}

static double excess_of_odds(const struct test *test, double log_theta)
{
    const struct crosstab_cells *cells = test->cells;
    const double *x = cells->cell;
    const double v = cells->variance;
    const double theta = exp(log_theta);
    const double total = fmax(x[0] + x[1] + x[2] + x[3], 2);
    const double row = cells_within(x[2] + x[3], 0.5, total - 0.5);
    const double column = cells_within(x[1] + x[3], 0.5, total - 0.5);
    const double a = crosstab_fitted(theta, row, column, total);
    const double b = row - a;
    const double c = column - a;
    const double d = total - row - column + a;
    const double bias = -v / (double)cells->m * (1 - theta); /* of the products, by balancing */
    const double t = x[3] * x[0] - theta * x[2] * x[1] - bias;
    const double sampling = a * d * d + theta * theta * (b * c * c + c * b * b) + d * a * a;
    const double gradient[4] = {a, -theta * b, -theta * c, d};
    const double noise = crosstab_noise(cells, gradient, 4) + (1 + theta * theta) * v * v;
    return t * t - ESTIMATE_Z * ESTIMATE_Z * (sampling + noise);
}

/* By the margins, whose noise is small beside them. To refuse wherever an interval has no end would keep the lucky tables
 * and lose the others, so that the ones that are shown would miss. */
static bool has_expected(const struct crosstab_cells *cells)
{
    const double *x = cells->cell;
    const double total = x[0] + x[1] + x[2] + x[3];
    const double row = fmin(x[0] + x[1], x[2] + x[3]);
    const double column = fmin(x[0] + x[2], x[1] + x[3]);
    return row > 0 && column > 0 &&
           row * column / total > expected_over_noise * sqrt(cells->variance);
}

struct estimate crosstab_odds_ratio(const struct crosstab_cells *cells)
{
    const struct test test = {excess_of_odds, cells, 0};
    const double *x = cells->cell;
    double low = 0;
    double high = 0;
    CHECK(cells->rows == 2 && cells->columns == 2);
    if (!has_expected(cells)) {
        return unknown;
    }
    const bool is_inside = x[0] > 0 && x[1] > 0 && x[2] > 0 && x[3] > 0;
    const double value = is_inside ? x[3] * x[0] / (x[2] * x[1]) : NAN;
    /* Where the noise is large, the estimate itself may be rejected by a hair: the bias. */
    const double start = is_inside && !(excess_of_odds(&test, log(value)) > 0) ? log(value) : NAN;
    if (!invert(&low, &high, &test, -log_odds_end, log_odds_end, start)) {
        return unknown;
    }
    return (struct estimate){.value = value,
                             .low = low <= -log_odds_end ? 0 : exp(low),
                             .high = high >= log_odds_end ? NAN : exp(high),
                             .noise = NAN,
                             .sampling = NAN};
}

struct crosstab_expected crosstab_expect_small(double records, double share,
                                               const struct crosstab_cells *shape)
{
    double cell[CROSSTAB_CELLS_MAX] = {0};
    const double both[2] = {1, 1};
    const size_t rows = shape->rows;
    struct crosstab_cells cells = *shape;
    struct crosstab_expected out = {NAN, NAN, NAN, NAN, NAN};
    CHECK(rows > 0 && 2 * rows <= CROSSTAB_CELLS_MAX && shape->columns == 2);
    for (size_t i = 0; i < 2 * rows; i++) {
        const double of_row = i < 2 ? share : (1 - share) / (double)(rows - 1);
        cell[i] = records * of_row / 2;
    }
    cells.cell = cell;
    const struct estimate first = crosstab_share(&cells, 0);
    out.share = (first.high - first.low) / 2;
    out.row = row_over_noise * sqrt(crosstab_noise(&cells, both, 2));
    if (rows == 2) {
        const struct estimate difference = crosstab_difference(&cells);
        const struct estimate odds = crosstab_odds_ratio(&cells);
        out.difference = (difference.high - difference.low) / 2;
        out.log_odds = odds.low > 0 ? log(odds.high / odds.low) / 2 : NAN;
        out.row_of_odds = 2 * expected_over_noise * sqrt(cells.variance);
    }
    return out;
}

struct crosstab_expected crosstab_expect(double records, size_t rows, size_t m, double variance)
{
    const struct crosstab_cells shape = {NULL, rows, 2, m, variance};
    return crosstab_expect_small(records, 1 / (double)rows, &shape);
}

double crosstab_expect_count(size_t summed, size_t m, double variance)
{
    const double k = (double)summed;
    return ESTIMATE_Z_NOISE * sqrt(fmax(0, cells_covariance(k, k, k, m, variance)));
}
