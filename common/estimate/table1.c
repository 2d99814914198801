/* table1.c - figures of a variable in a group, by inverting tests. */

#include "estimate/table1.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double size_over_noise = 5;
static const double variance_floor = 1e-24; /* of exact cells: weights are divided by it */
static const struct estimate unknown = {NAN, NAN, NAN, NAN, NAN};

void table1_agree(struct table1_sizes *out, const struct table1_block *block, size_t count,
                  size_t groups, double records)
{
    double excess = -records;
    CHECK(count > 0 && groups > 0 && groups <= SURVIVAL_GROUPS_MAX);
    *out = (struct table1_sizes){.groups = groups, .records = records};
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

/* For one group or of all. */
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
                                  .size_variance = size_variance(sizes, group),
                                  .records = sizes->records};
    for (size_t g = 0; g < sizes->groups; g++) {
        if (group == g || group == sizes->groups) {
            for (size_t k = 0; k <= block->levels; k++) {
                out->cell[k] += block->cell[g * (block->levels + 1) + k];
            }
            out->groups++;
        }
    }
}

struct linear linear_of(const double *a, const struct table1_column *column)
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

struct linear present_of(const struct table1_column *column, const bool *of)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = of[k] ? 1 : 0;
    }
    return linear_of(a, column);
}

const bool table1_every[TABLE1_LEVELS_MAX] = {
    true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
    true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
    true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
    true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true};

struct table1_figure figure_refused(double factor)
{
    return (struct table1_figure){
        .estimate = unknown, .noise_low = NAN, .noise_high = NAN, .factor = factor};
}

double size_factor(const struct linear *present)
{
    return present->value > 0 ? size_over_noise * sqrt(present->variance) / present->value : NAN;
}

double table1_factor_told(const struct table1_figure *figure)
{
    static const double chance = 1.2;
    const double found = size_over_noise / figure->factor;
    if (!figure->is_of_size) {
        return chance * figure->factor;
    }
    return found > 1 ? chance * (size_over_noise + 1) / (found - 1) : NAN;
}

struct table1_figure figure_counted(double value, double variance)
{
    const double noise = sqrt(variance);
    return (struct table1_figure){.estimate = {value, NAN, NAN, noise, NAN},
                                  .noise_low =
                                      fmin(fmax(0, value - ESTIMATE_Z_NOISE * noise), value),
                                  .noise_high = fmax(0, value + ESTIMATE_Z_NOISE * noise)};
}

struct table1_figure table1_size(const struct table1_sizes *sizes, size_t group)
{
    double sum = 0;
    for (size_t g = 0; g < sizes->groups; g++) {
        sum += group == g || group == sizes->groups ? sizes->size[g] : 0;
    }
    return figure_counted(sum, size_variance(sizes, group));
}

struct table1_figure table1_count(const struct table1_column *column, size_t level)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    CHECK(level <= column->levels);
    a[level] = 1;
    const struct linear count = linear_of(a, column);
    return figure_counted(count.value, count.variance);
}

/* A value under test: a_k = base_k - value for the levels that count, so that the test's square is quadratic in the value. */
struct tested {
    const struct table1_column *column;
    const double *base;
    const bool *of; /* (levels) that count */
    double z;
    double n;
    double
        at; /* what was found, within its range: beyond an end it would reject all values that can be */
};

static double excess_at(const struct tested *tested, double value, double sampling)
{
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    for (size_t k = 0; k < tested->column->levels; k++) {
        a[k] = tested->of[k] ? tested->base[k] - value : 0;
    }
    const struct linear t = linear_of(a, tested->column);
    const double off = tested->n * (tested->at - value);
    return off * off - ESTIMATE_Z * ESTIMATE_Z * sampling - tested->z * tested->z * t.variance;
}

/* The values in from .. to where the quadratic through three points is not above 0. */
static void invert(double *low, double *high, const double f[3], double from, double to)
{
    const double second = (f[0] + f[2]) / 2 - f[1];
    const double first = (f[2] - f[0]) / 2;
    /* Below 0 by rounding alone: the estimate itself is not rejected. */
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

struct table1_figure ratio_of(const struct table1_column *column, const struct ratio *ratio)
{
    const double *range = ratio->range;
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    double f[3];
    struct table1_figure out = {.factor = 0};
    const struct linear present = present_of(column, ratio->of);
    const double n = present.value;
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = ratio->of[k] ? ratio->base[k] : 0;
    }
    const double value = fmin(fmax(linear_of(a, column).value / n, range[0]), range[1]);
    for (size_t k = 0; k < column->levels; k++) {
        a[k] = ratio->of[k] ? ratio->base[k] - value : 0;
    }
    const struct linear own = linear_of(a, column);
    const struct tested tested = {column, ratio->base, ratio->of, own.z, n, value};
    out.estimate.value = value;
    out.estimate.noise = sqrt(own.variance) / n;
    out.estimate.sampling = sqrt(ratio->at_value / n);
    for (int i = 0; i < 3; i++) {
        f[i] = excess_at(&tested, range[0] + (range[1] - range[0]) * i / 2, n * ratio->sampling[i]);
    }
    invert(&out.estimate.low, &out.estimate.high, f, range[0], range[1]);
    for (int i = 0; i < 3; i++) {
        f[i] = excess_at(&tested, range[0] + (range[1] - range[0]) * i / 2, 0);
    }
    invert(&out.noise_low, &out.noise_high, f, range[0], range[1]);
    return out;
}

struct table1_figure table1_part(const struct table1_column *column, const bool *in, const bool *of)
{
    const struct linear present = present_of(column, of);
    const double factor = size_factor(&present);
    double base[TABLE1_LEVELS_MAX] = {0};
    double inside = 0;
    if (!(factor < 1) || !(present.value > 1)) {
        struct table1_figure out = figure_refused(factor);
        double all = 0;
        out.is_of_size = true;
        for (size_t k = 0; k < column->levels; k++) {
            all += column->cell[k];
        }
        out.needed = cells_is_hidden(present.value, present.variance, all)
                         ? fmax(size_over_noise * sqrt(present.variance), 1)
                         : 0;
        return out;
    }
    for (size_t k = 0; k < column->levels; k++) {
        base[k] = in[k] ? 1 : 0;
        inside += in[k] && of[k] ? column->cell[k] : 0;
    }
    const double share = fmin(fmax(inside / present.value, 0), 1);
    const struct ratio ratio = {of, base, {0, 1}, {0, 0.25, 0}, share * (1 - share)};
    struct table1_figure out = ratio_of(column, &ratio);
    out.factor = factor;
    return out;
}

struct table1_figure table1_share(const struct table1_column *column, size_t level)
{
    bool in[TABLE1_LEVELS_MAX] = {false};
    CHECK(level < column->levels);
    in[level] = true;
    return table1_part(column, in, table1_every);
}
