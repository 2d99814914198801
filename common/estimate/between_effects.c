/* between_effects.c - each site's effect from its noisy cells, and its variance within the site. */

#include "estimate/between.h"

#include "estimate/cells.h"

#include <math.h>

static const double noise_most = 0.2; /* of a share */
static const double expected_least = 5;
static const double expected_over_noise = 4;
static const struct between_site unknown = {NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};

/* The p that differ from the share by no more than sampling, of n records of p, and noise account for (Wilson 1927). A share beyond an
 * end would differ from all that can be. */
static void invert_share(struct between_site *site, double records)
{
    const double value = cells_within(site->value, 0, 1);
    const double z2 = ESTIMATE_Z * ESTIMATE_Z / records;
    const double far = ESTIMATE_Z_NOISE * site->noise;
    const double middle = value + z2 / 2;
    const double inside = middle * middle - (1 + z2) * (value * value - far * far);
    const double reach = sqrt(fmax(inside, 0));
    site->low = cells_within((middle - reach) / (1 + z2), 0, 1);
    site->high = cells_within((middle + reach) / (1 + z2), 0, 1);
}

void between_shares(struct between_site *out, const struct between_sum *site, size_t count,
                    double variance)
{
    struct between_sum all = {0, 0};
    for (size_t i = 0; i < count; i++) {
        all.sum += site[i].sum;
        all.records += site[i].records;
    }
    const double p = cells_within(all.sum, 0.5, all.records - 0.5) / all.records;
    for (size_t i = 0; i < count; i++) {
        const double n = site[i].records;
        out[i] = unknown;
        if (n >= 1 && sqrt(variance) / n <= noise_most) {
            out[i].value = site[i].sum / n;
            out[i].sampling = sqrt(p * (1 - p) / n);
            out[i].noise = sqrt(variance) / n;
            invert_share(&out[i], n);
            out[i].to = 1;
        }
    }
}

/* What the noise of a share's denominator adds to it, second order. */
static double bias_of_share(const struct crosstab_cells *cells, double p, double n)
{
    const double of_row = cells_covariance(2, 2, 2, cells->m, cells->variance);
    const double of_both = cells_covariance(1, 1, 2, cells->m, cells->variance);
    return (p * of_row - of_both) / (n * n);
}

void between_differences(struct between_site *out, const struct crosstab_cells *site, size_t count)
{
    double all[4] = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 4; j++) {
            all[j] += site[i].cell[j];
        }
    }
    const double first = fmax(all[0] + all[1], 1);
    const double second = fmax(all[2] + all[3], 1);
    const double p = cells_within(all[1], 0.5, first - 0.5) / first;
    const double q = cells_within(all[3], 0.5, second - 0.5) / second;
    for (size_t i = 0; i < count; i++) {
        const double *x = site[i].cell;
        const struct estimate alone = crosstab_difference(&site[i]);
        out[i] = unknown;
        if (!isnan(alone.value)) {
            const double n = x[0] + x[1];
            const double m = x[2] + x[3];
            const double gradient[4] = {p / n, -(1 - p) / n, -q / m, (1 - q) / m};
            out[i].value =
                x[3] / m - x[1] / n - bias_of_share(&site[i], q, m) + bias_of_share(&site[i], p, n);
            out[i].sampling = sqrt(p * (1 - p) / n + q * (1 - q) / m);
            out[i].noise = sqrt(crosstab_noise(&site[i], gradient, 4));
            out[i].low = alone.low;
            out[i].high = alone.high;
            out[i].from = -1;
            out[i].to = 1;
        }
    }
}

/* The cells of a table with a site's margins and an odds ratio. */
static void fit(double cell[4], const double *x, double odds)
{
    const double total = fmax(x[0] + x[1] + x[2] + x[3], 2);
    const double row = cells_within(x[2] + x[3], 0.5, total - 0.5);
    const double column = cells_within(x[1] + x[3], 0.5, total - 0.5);
    cell[3] = crosstab_fitted(odds, row, column, total);
    cell[2] = row - cell[3];
    cell[1] = column - cell[3];
    cell[0] = total - row - column + cell[3];
}

/* Of all sites (Mantel, Haenszel 1959): products of two cells, whose noise is apart but for balancing. */
static double odds_of_all(const struct crosstab_cells *site, size_t count)
{
    double up = 0;
    double down = 0;
    for (size_t i = 0; i < count; i++) {
        const double *x = site[i].cell;
        const double total = fmax(x[0] + x[1] + x[2] + x[3], 2);
        const double bias = -site[i].variance / (double)site[i].m;
        up += (x[3] * x[0] - bias) / total;
        down += (x[2] * x[1] - bias) / total;
    }
    return up > 0 && down > 0 ? cells_within(up / down, 0.001, 1000) : 1;
}

void between_odds(struct between_site *out, const struct crosstab_cells *site, size_t count)
{
    static const double sign[4] = {1, -1, -1, 1};
    const double odds = odds_of_all(site, count);
    for (size_t i = 0; i < count; i++) {
        const double v = site[i].variance * (1 - 1 / (double)site[i].m);
        double expected[4];
        double gradient[4];
        double least = INFINITY;
        double sampling = 0;
        double value = 0;
        fit(expected, site[i].cell, odds);
        for (size_t j = 0; j < 4; j++) {
            /* log(x + 1/2) has no bias by sampling to second order; by noise it has -v / (2 x^2). */
            value += sign[j] *
                     (log(fmax(site[i].cell[j] + 0.5, 0.5)) + v / (2 * expected[j] * expected[j]));
            sampling += 1 / expected[j];
            gradient[j] = sign[j] / expected[j];
            least = fmin(least, expected[j]);
        }
        out[i] = unknown;
        if (least >= fmax(expected_least, expected_over_noise * sqrt(site[i].variance))) {
            const struct estimate alone = crosstab_odds_ratio(&site[i]);
            out[i].value = value;
            out[i].sampling = sqrt(sampling);
            out[i].noise = sqrt(crosstab_noise(&site[i], gradient, 4));
            out[i].low = alone.low > 0 ? log(alone.low) : NAN;
            out[i].high = log(alone.high);
        }
    }
}

double between_expect_odds(double records, size_t m, double variance)
{
    const double cell[] = {records / 4, records / 4, records / 4, records / 4};
    const struct crosstab_cells cells = {cell, 2, 2, m, variance};
    struct between_site site;
    between_odds(&site, &cells, 1);
    return (site.high - site.low) / 2;
}

double between_need_share(double variance)
{
    return fmax(sqrt(variance) / noise_most, 1);
}

/* Of rows of equal size. */
double between_need_difference(double variance)
{
    const size_t m = 5; /* with the records that are in none */
    return fmax(2 * crosstab_expect(2, 2, m, variance).row, 1);
}

double between_need_odds(double variance)
{
    return 4 * fmax(expected_least, expected_over_noise * sqrt(variance));
}
