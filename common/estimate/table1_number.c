/* table1_number.c - how a number's values lie: mean, standard deviation, quantiles. */

#include "estimate/table1.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double mean_noise_most = 0.04;      /* of the range */
static const double variance_noise_most = 0.005; /* of its square */
static const double rank_noise_most = 0.1;       /* of the records */
static const double kurtosis_least = 1.8;        /* that of even values; noise may make it less */

/* How a number's values spread. */
struct spread {
    double present;
    double mean;
    double mean_noise; /* standard deviations, as all below */
    double variance;   /* of the steps: that of the values and what splitting adds */
    double variance_noise;
    double variance_z;
    double variance_sampling;
    double split; /* the most that splitting adds */
};

static struct spread spread_of(const struct table1_column *column)
{
    const double *x = column->step;
    const size_t levels = column->levels;
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    struct spread out = {.present = present_of(column, table1_every).value};
    double fourth = 0;
    CHECK(x != NULL && levels >= 2);
    for (size_t k = 0; k < levels; k++) {
        a[k] = x[k];
    }
    out.mean = fmin(fmax(linear_of(a, column).value / out.present, x[0]), x[levels - 1]);
    for (size_t k = 0; k < levels; k++) {
        a[k] = x[k] - out.mean;
    }
    out.mean_noise = sqrt(linear_of(a, column).variance) / out.present;
    for (size_t k = 0; k < levels; k++) {
        a[k] = cells_square(x[k] - out.mean);
        fourth += cells_square(a[k]) * column->cell[k] / out.present;
    }
    /* The mean's own noise takes its square off. */
    out.variance = linear_of(a, column).value / out.present + cells_square(out.mean_noise);
    for (size_t k = 0; k < levels; k++) {
        a[k] -= out.variance;
    }
    const struct linear own = linear_of(a, column);
    out.variance_noise = sqrt(own.variance) / out.present;
    out.variance_z = own.z;
    const double spread = fmax(out.variance, 0);
    fourth = fmax(fourth, kurtosis_least * cells_square(spread));
    out.variance_sampling = sqrt((fourth - cells_square(spread)) / out.present);
    for (size_t k = 0; k < levels; k++) {
        const double left = k > 0 ? x[k] - x[k - 1] : 0;
        const double right = k + 1 < levels ? x[k + 1] - x[k] : 0;
        out.split += fmax(column->cell[k], 0) * cells_square(fmax(left, right)) / 4 / out.present;
    }
    return out;
}

/* Rules are measured by it, and not by an estimate of how values spread: what is shown would be what noise made larger. */
static double range_of(const struct table1_column *column)
{
    return column->step[column->levels - 1] - column->step[0];
}

static double middle_of(const struct table1_column *column)
{
    return (column->step[column->levels - 1] + column->step[0]) / 2;
}

/* The noise of a mean, or of a variance, of values in the range's middle that spread by a sixth of it, over what a rule allows. */
static double noise_factor(const struct table1_column *column, double present, bool is_variance)
{
    const double range = range_of(column);
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    for (size_t k = 0; k < column->levels; k++) {
        const double from = column->step[k] - middle_of(column);
        a[k] = is_variance ? cells_square(from) - cells_square(range / 6) : from;
    }
    const double noise = sqrt(linear_of(a, column).variance) / present;
    return is_variance ? noise / (variance_noise_most * cells_square(range))
                       : noise / (mean_noise_most * range);
}

struct table1_figure table1_mean(const struct table1_column *column)
{
    const struct linear present = present_of(column, table1_every);
    const double enough = size_factor(&present);
    if (isnan(enough)) {
        return figure_refused(NAN);
    }
    const double factor = fmax(enough, noise_factor(column, present.value, false));
    if (!(factor < 1) || !(present.value > 1)) {
        return figure_refused(factor);
    }
    const struct spread spread = spread_of(column);
    const double each = fmax(spread.variance, 0);
    const struct ratio ratio = {table1_every,
                                column->step,
                                {column->step[0], column->step[column->levels - 1]},
                                {each, each, each},
                                each};
    struct table1_figure out = ratio_of(column, &ratio);
    out.factor = factor;
    return out;
}

struct table1_figure table1_deviation(const struct table1_column *column)
{
    const struct linear present = present_of(column, table1_every);
    const double enough = size_factor(&present);
    if (isnan(enough)) {
        return figure_refused(NAN);
    }
    const double factor = fmax(enough, noise_factor(column, present.value, true));
    if (!(factor < 1) || !(present.value > 2)) {
        return figure_refused(factor);
    }
    const struct spread spread = spread_of(column);
    const double n = present.value;
    const double unbiased = n / (n - 1);
    const double noise = spread.variance_z * spread.variance_noise;
    const double both = hypot(noise, ESTIMATE_Z * spread.variance_sampling);
    const double value =
        sqrt(unbiased * fmax(spread.variance - spread.split * 2 / 3, 0)); /* of even values */
    const double least = unbiased * (spread.variance - spread.split);
    const double noise_high = sqrt(cells_square(value) + noise);
    const double noise_low = sqrt(fmax(cells_square(value) - noise, 0));
    const double doubled = 2 * fmax(value, sqrt(spread.variance_noise) / 2);
    return (struct table1_figure){
        .estimate = {.value = value,
                     .low = fmin(sqrt(fmax(least - both, 0)), noise_low),
                     .high = fmax(sqrt(fmax(unbiased * spread.variance + both, 0)), noise_high),
                     .noise = spread.variance_noise / doubled,
                     .sampling = spread.variance_sampling / doubled},
        .noise_low = noise_low,
        .noise_high = noise_high,
        .factor = factor};
}

/* Behind each of the steps but the last: how far the records up to it are above the share, and by how much noise. */
struct ranks {
    double value[TABLE1_LEVELS_MAX];
    double sd_noise[TABLE1_LEVELS_MAX]; /* times its z */
    double noise;                       /* the largest standard deviation */
};

static void rank(struct ranks *out, const struct table1_column *column, double share)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    *out = (struct ranks){.noise = 0};
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = -share;
    }
    for (size_t k = 0; k + 1 < column->levels; k++) {
        a[k] = 1 - share;
        const struct linear own = linear_of(a, column);
        out->value[k] = own.value;
        out->sd_noise[k] = own.z * sqrt(own.variance);
        out->noise = fmax(out->noise, sqrt(own.variance));
    }
}

/* The steps between which the quantile is, as far as it is not rejected: value[k] is of a mean of ranks between step k and the
 * next. Below the first that is not rejected as too low, one step back; above the last that is not rejected as too high, one on. */
static void bounds_of(double *low, double *high, const struct ranks *ranks,
                      const struct table1_column *column, double sampling)
{
    const size_t last = column->levels - 1;
    size_t from = 0;
    size_t to = last;
    while (from < last && ranks->value[from] < -hypot(ranks->sd_noise[from], sampling)) {
        from++;
    }
    while (to > 0 && ranks->value[to - 1] > hypot(ranks->sd_noise[to - 1], sampling)) {
        to--;
    }
    *low = column->step[from > 0 ? from - 1 : 0];
    *high = column->step[to < last ? to + 1 : last];
    if (*low > *high) { /* ranks that fall, by noise */
        const double swapped = *low;
        *low = *high;
        *high = swapped;
    }
}

/* Where a line through the ranks, each at the middle of its two steps, crosses the share on its way up to rank k. */
static double crossing(const struct ranks *ranks, const struct table1_column *column, size_t k,
                       double all)
{
    const double *x = column->step;
    const size_t last = column->levels - 1;
    const double at = k < last ? (x[k] + x[k + 1]) / 2 : x[last];
    const double before = k > 0 ? (x[k - 1] + x[k]) / 2 : x[0];
    const double up = k < last ? ranks->value[k] : all;
    const double down = k > 0 ? ranks->value[k - 1] : fmin(0, up);
    const double part = up > down ? -down / (up - down) : 1;
    return before + (at - before) * fmin(fmax(part, 0), 1);
}

struct table1_figure table1_quantile(const struct table1_column *column, double share)
{
    const struct linear present = present_of(column, table1_every);
    const double enough = size_factor(&present);
    const size_t last = column->levels - 1;
    struct ranks ranks;
    struct table1_figure out = {.factor = enough};
    size_t first = 0;
    size_t end = last;
    CHECK(column->step != NULL && share > 0 && share < 1);
    if (isnan(enough)) {
        return figure_refused(NAN);
    }
    rank(&ranks, column, share);
    out.factor = fmax(enough, ranks.noise / (rank_noise_most * present.value));
    if (!(out.factor < 1) || !(present.value > 1)) {
        return figure_refused(out.factor);
    }
    const double sampling = sqrt(present.value * share * (1 - share));
    bounds_of(&out.estimate.low, &out.estimate.high, &ranks, column, ESTIMATE_Z * sampling);
    bounds_of(&out.noise_low, &out.noise_high, &ranks, column, 0);
    while (first < last && ranks.value[first] < 0) {
        first++;
    }
    while (end > 0 && ranks.value[end - 1] >= 0) {
        end--;
    }
    const double all = present.value * (1 - share);
    const double value =
        (crossing(&ranks, column, first, all) + crossing(&ranks, column, end, all)) / 2;
    out.estimate.value = fmin(fmax(value, out.estimate.low), out.estimate.high);
    out.estimate.noise = NAN;
    out.estimate.sampling = NAN;
    return out;
}
