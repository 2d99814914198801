/* table1.c - figures of a variable in a group, by inverting tests. */

#include "estimate/table1.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>

static const double size_over_noise = 5;
static const double mean_noise_most = 0.04;      /* of the range */
static const double variance_noise_most = 0.005; /* of its square */
static const double rank_noise_most = 0.1;       /* of the records */
static const double kurtosis_least = 1.8;        /* that of even values; noise may make it less */
static const double variance_floor = 1e-24;      /* of exact cells: weights are divided by it */
static const struct estimate unknown = {NAN, NAN, NAN, NAN, NAN};

void table1_agree(struct table1_sizes *out, const struct table1_block *block, size_t count,
                  size_t groups, double records)
{
    double excess = -records;
    CHECK(count > 0 && groups > 0 && groups <= SURVIVAL_GROUPS_MAX);
    *out = (struct table1_sizes){.groups = groups};
    for (size_t g = 0; g <= groups; g++) {
        double weights = 0;
        double weighted = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t m = g < groups ? block[i].levels + 1 : 1;
            const double *own = block[i].cell + g * (block[i].levels + 1);
            const double weight = 1 / ((double)m * fmax(block[i].variance, variance_floor));
            for (size_t k = 0; k < m; k++) {
                weighted += weight * own[k];
            }
            weights += weight;
        }
        out->size[g] = weighted / weights;
        out->variance[g] = 1 / weights;
        out->variance_sum += 1 / weights;
        excess += out->size[g];
    }
    for (size_t g = 0; g <= groups; g++) {
        out->size[g] -= out->variance[g] / out->variance_sum * excess;
        for (size_t i = 0; i < count; i++) {
            const size_t m = g < groups ? block[i].levels + 1 : 1;
            double *own = block[i].cell + g * (block[i].levels + 1);
            double lacks = out->size[g];
            for (size_t k = 0; k < m; k++) {
                lacks -= own[k];
            }
            for (size_t k = 0; k < m; k++) {
                own[k] += lacks / (double)m;
            }
        }
    }
}

/* Of one group or of all. */
static double size_variance(const struct table1_sizes *sizes, size_t group)
{
    double sum = 0;
    for (size_t g = 0; g < sizes->groups; g++) {
        sum += group == g || group == sizes->groups ? sizes->variance[g] : 0;
    }
    return fmax(0, sum - sum * sum / sizes->variance_sum);
}

void table1_column_of(struct table1_column *out, const struct table1_block *block,
                      const struct table1_sizes *sizes, size_t group)
{
    CHECK(block->levels <= TABLE1_LEVELS_MAX && group <= sizes->groups);
    *out = (struct table1_column){.levels = block->levels,
                                  .step = block->step,
                                  .variance = block->variance,
                                  .size_variance = size_variance(sizes, group)};
    for (size_t g = 0; g < sizes->groups; g++) {
        if (group == g || group == sizes->groups) {
            for (size_t k = 0; k <= block->levels; k++) {
                out->cell[k] += block->cell[g * (block->levels + 1) + k];
            }
            out->groups++;
        }
    }
}

/* A sum of a_k n_k over a column's cells: what the noise does to it. */
struct linear {
    double value;
    double variance;
    double z; /* the 97.5 % point of the noise, in standard deviations */
};

/* a: (levels + 1). Of each group's noise, what is common to its cells is that of its size. */
static struct linear linear_of(const double *a, const struct table1_column *column)
{
    const double m = (double)column->levels + 1;
    struct linear out = {0};
    double sum = 0;
    double square = 0;
    double fourth = 0;
    for (size_t k = 0; k <= column->levels; k++) {
        out.value += a[k] * column->cell[k];
        sum += a[k];
        square += a[k] * a[k];
        fourth += a[k] * a[k] * a[k] * a[k];
    }
    out.variance = (double)column->groups * column->variance * fmax(0, square - sum * sum / m) +
                   sum * sum / (m * m) * column->size_variance;
    out.z = ESTIMATE_Z;
    if (square > 0) {
        out.z += (ESTIMATE_Z_NOISE - ESTIMATE_Z) * fourth / (square * square);
    }
    return out;
}

/* The number of records whose value is there. */
static struct linear present_of(const struct table1_column *column)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = 1;
    }
    return linear_of(a, column);
}

/* factor: of the noise over what a figure's own rule allows. */
static struct table1_figure refused(double factor)
{
    return (struct table1_figure){
        .estimate = unknown, .noise_low = NAN, .noise_high = NAN, .factor = factor};
}

static double size_factor(const struct linear *present)
{
    return present->value > 0 ? size_over_noise * sqrt(present->variance) / present->value : NAN;
}

static struct table1_figure counted(double value, double variance)
{
    const double noise = sqrt(variance);
    return (struct table1_figure){.estimate = {value, NAN, NAN, noise, NAN},
                                  .noise_low = fmax(0, value - ESTIMATE_Z_NOISE * noise),
                                  .noise_high = fmax(0, value + ESTIMATE_Z_NOISE * noise)};
}

struct table1_figure table1_size(const struct table1_sizes *sizes, size_t group)
{
    double sum = 0;
    for (size_t g = 0; g < sizes->groups; g++) {
        sum += group == g || group == sizes->groups ? sizes->size[g] : 0;
    }
    return counted(sum, size_variance(sizes, group));
}

struct table1_figure table1_count(const struct table1_column *column, size_t level)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    CHECK(level <= column->levels);
    a[level] = 1;
    const struct linear count = linear_of(a, column);
    return counted(count.value, count.variance);
}

/* A value under test: a_k = base_k - value for the levels, so that the test's square is quadratic in the value. */
struct tested {
    const struct table1_column *column;
    const double *base;
    double z;
};

static double excess_at(const struct tested *tested, double value, double sampling)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    for (size_t k = 0; k < tested->column->levels; k++) {
        a[k] = tested->base[k] - value;
    }
    const struct linear t = linear_of(a, tested->column);
    return t.value * t.value - ESTIMATE_Z * ESTIMATE_Z * sampling -
           tested->z * tested->z * t.variance;
}

/* The values in from .. to where the quadratic through three points is not above 0. */
static void invert(double *low, double *high, const double f[3], double from, double to)
{
    const double second = (f[0] + f[2]) / 2 - f[1];
    const double first = (f[2] - f[0]) / 2;
    /* Below 0 by rounding alone: the estimate itself is not rejected. It may lie beyond an end, and all of the range is. */
    const double inside = fmax(0, first * first - 4 * second * f[1]);
    *low = from;
    *high = to;
    if (second > 0) {
        const double middle = (from + to) / 2;
        const double half = (to - from) / 2;
        const double least = middle + half * (-first - sqrt(inside)) / (2 * second);
        const double most = middle + half * (-first + sqrt(inside)) / (2 * second);
        *low = fmin(fmax(from, least), to);
        *high = fmax(fmin(to, most), from);
    }
}

/* The mean of base_k over the levels. sampling: of a record at the range's begin, middle and end, as the value under test. */
static struct table1_figure ratio_of(const struct table1_column *column, const double *base,
                                     const double range[2], const double sampling[3],
                                     double sampling_at_value)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    double f[3];
    struct table1_figure out = {.factor = 0};
    const struct linear present = present_of(column);
    const double n = present.value;
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = base[k];
    }
    const double value = fmin(fmax(linear_of(a, column).value / n, range[0]), range[1]);
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = base[k] - value;
    }
    const struct linear own = linear_of(a, column);
    const struct tested tested = {column, base, own.z};
    out.estimate.value = value;
    out.estimate.noise = sqrt(own.variance) / n;
    out.estimate.sampling = sqrt(sampling_at_value / n);
    for (int i = 0; i < 3; i++) {
        f[i] = excess_at(&tested, range[0] + (range[1] - range[0]) * i / 2, n * sampling[i]);
    }
    invert(&out.estimate.low, &out.estimate.high, f, range[0], range[1]);
    for (int i = 0; i < 3; i++) {
        f[i] = excess_at(&tested, range[0] + (range[1] - range[0]) * i / 2, 0);
    }
    invert(&out.noise_low, &out.noise_high, f, range[0], range[1]);
    return out;
}

struct table1_figure table1_share(const struct table1_column *column, size_t level)
{
    const struct linear present = present_of(column);
    const double factor = size_factor(&present);
    const double range[2] = {0, 1};
    const double sampling[3] = {0, 0.25, 0};
    double base[TABLE1_LEVELS_MAX] = {0};
    CHECK(level < column->levels);
    if (!(factor < 1) || !(present.value > 1)) {
        return refused(factor);
    }
    base[level] = 1;
    const double share = fmin(fmax(column->cell[level] / present.value, 0), 1);
    struct table1_figure out = ratio_of(column, base, range, sampling, share * (1 - share));
    out.factor = factor;
    return out;
}

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

static double square(double x)
{
    return x * x;
}

static struct spread spread_of(const struct table1_column *column)
{
    const double *x = column->step;
    const size_t levels = column->levels;
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    struct spread out = {.present = present_of(column).value};
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
        a[k] = square(x[k] - out.mean);
        fourth += square(a[k]) * column->cell[k] / out.present;
    }
    /* The mean's own noise takes its square off. */
    out.variance = linear_of(a, column).value / out.present + square(out.mean_noise);
    for (size_t k = 0; k < levels; k++) {
        a[k] -= out.variance;
    }
    const struct linear own = linear_of(a, column);
    out.variance_noise = sqrt(own.variance) / out.present;
    out.variance_z = own.z;
    const double spread = fmax(out.variance, 0);
    fourth = fmax(fourth, kurtosis_least * square(spread));
    out.variance_sampling = sqrt((fourth - square(spread)) / out.present);
    for (size_t k = 0; k < levels; k++) {
        const double left = k > 0 ? x[k] - x[k - 1] : 0;
        const double right = k + 1 < levels ? x[k + 1] - x[k] : 0;
        out.split += fmax(column->cell[k], 0) * square(fmax(left, right)) / 4 / out.present;
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
        a[k] = is_variance ? square(from) - square(range / 6) : from;
    }
    const double noise = sqrt(linear_of(a, column).variance) / present;
    return is_variance ? noise / (variance_noise_most * square(range))
                       : noise / (mean_noise_most * range);
}

struct table1_figure table1_mean(const struct table1_column *column)
{
    const struct linear present = present_of(column);
    const double enough = size_factor(&present);
    if (isnan(enough)) {
        return refused(NAN);
    }
    const double factor = fmax(enough, noise_factor(column, present.value, false));
    if (!(factor < 1) || !(present.value > 1)) {
        return refused(factor);
    }
    const struct spread spread = spread_of(column);
    const double range[2] = {column->step[0], column->step[column->levels - 1]};
    const double each = fmax(spread.variance, 0);
    const double sampling[3] = {each, each, each};
    struct table1_figure out = ratio_of(column, column->step, range, sampling, each);
    out.factor = factor;
    return out;
}

struct table1_figure table1_deviation(const struct table1_column *column)
{
    const struct linear present = present_of(column);
    const double enough = size_factor(&present);
    if (isnan(enough)) {
        return refused(NAN);
    }
    const double factor = fmax(enough, noise_factor(column, present.value, true));
    if (!(factor < 1) || !(present.value > 2)) {
        return refused(factor);
    }
    const struct spread spread = spread_of(column);
    const double n = present.value;
    const double unbiased = n / (n - 1);
    const double noise = spread.variance_z * spread.variance_noise;
    const double both = hypot(noise, ESTIMATE_Z * spread.variance_sampling);
    const double value =
        sqrt(unbiased * fmax(spread.variance - spread.split * 2 / 3, 0)); /* of even values */
    const double least = unbiased * (spread.variance - spread.split);
    const double doubled = 2 * fmax(value, sqrt(spread.variance_noise) / 2);
    return (struct table1_figure){
        .estimate = {.value = value,
                     .low = sqrt(fmax(least - both, 0)),
                     .high = sqrt(fmax(unbiased * spread.variance + both, 0)),
                     .noise = spread.variance_noise / doubled,
                     .sampling = spread.variance_sampling / doubled},
        .noise_low = sqrt(fmax(square(value) - noise, 0)),
        .noise_high = sqrt(square(value) + noise),
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
    const struct linear present = present_of(column);
    const double enough = size_factor(&present);
    const size_t last = column->levels - 1;
    struct ranks ranks;
    struct table1_figure out = {.factor = enough};
    size_t first = 0;
    size_t end = last;
    CHECK(column->step != NULL && share > 0 && share < 1);
    if (isnan(enough)) {
        return refused(NAN);
    }
    rank(&ranks, column, share);
    out.factor = fmax(enough, ranks.noise / (rank_noise_most * present.value));
    if (!(out.factor < 1) || !(present.value > 1)) {
        return refused(out.factor);
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
