/* evaluate.c - the AUC from binned counts, and shares of sets of cells. */

#include "estimate/evaluate.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double auc_noise_most = 0.1;
static const double planned_share = 0.2; /* of the records, with the event */

static size_t levels_of(const struct table1_column *column)
{
    CHECK(column->levels % (2 * EVALUATE_BANDS) == 0 && column->levels <= TABLE1_LEVELS_MAX);
    return column->levels / 2;
}

/* The records of one class: from .. from + n. */
static struct linear class_of(const struct table1_column *column, size_t from)
{
    bool of[TABLE1_LEVELS_MAX] = {false};
    for (size_t k = from; k < from + levels_of(column); k++) {
        of[k] = true;
    }
    return present_of(column, of);
}

/* The AUC's noise where levels are even and the score tells nothing: its gradient is (k/n - 1/2) over the class. */
static double reference_noise(double variance, size_t n, double without, double with)
{
    return sqrt(variance * (double)n / 12 * (1 / (without * without) + 1 / (with * with)));
}

/* What follows from the cells: for a record of one class, the mean of its comparisons with the other. */
struct comparison {
    double auc;
    double with
        [EVALUATE_LEVELS_MAX]; /* of z_k: the share of the others below it, half of those beside it */
    double without[EVALUATE_LEVELS_MAX]; /* of x_j: the share above it */
};

static void compare(struct comparison *out, const struct table1_column *column, double without,
                    double with)
{
    const size_t n = levels_of(column);
    const double *x = column->cell;
    const double *z = column->cell + n;
    double below = 0;
    double above = with;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        out->with[k] = (below + x[k] / 2) / without;
        out->without[k] = (above - z[k] / 2) / with;
        below += x[k];
        above -= z[k];
        sum += z[k] * out->with[k] * without;
    }
    /* Two cells of a group have this covariance, so that products have a mean: of the pairs that count, a half each. */
    const double m = (double)column->levels + 1;
    const double shared =
        column->size_variance / (m * m) - (double)column->groups * column->variance / m;
    const double pairs = (double)(n * n) * shared;
    out->auc = fmin(fmax((sum - pairs / 2) / (without * with - pairs), 0), 1);
}

struct table1_figure evaluate_auc(const struct table1_column *column)
{
    const size_t n = levels_of(column);
    const struct linear without = class_of(column, 0);
    const struct linear with = class_of(column, n);
    const double enough = fmax(size_factor(&without), size_factor(&with));
    struct comparison comparison;
    double a[TABLE1_LEVELS_MAX + 1] = {0};
    double sampling = 0;
    double products = 0;
    if (isnan(size_factor(&without)) || isnan(size_factor(&with))) {
        return figure_refused(NAN);
    }
    const double variance = (double)column->groups * column->variance;
    const double factor =
        fmax(enough, reference_noise(variance, n, without.value, with.value) / auc_noise_most);
    if (!(factor < 1) || !(without.value > 1) || !(with.value > 1)) {
        return figure_refused(factor);
    }
    compare(&comparison, column, without.value, with.value);
    for (size_t k = 0; k < n; k++) {
        const double of_without = comparison.without[k] - comparison.auc;
        const double of_with = comparison.with[k] - comparison.auc;
        a[k] = of_without / without.value;
        a[n + k] = of_with / with.value;
        sampling += column->cell[k] * a[k] * a[k] + column->cell[n + k] * a[n + k] * a[n + k];
        for (size_t j = 0; j < n; j++) {
            const double wins = j < k ? 1 : j == k ? 0.5 : 0;
            products += (wins - comparison.auc) * (wins - comparison.auc);
        }
    }
    const struct linear own = linear_of(a, column);
    const double pairs = without.value * with.value;
    const double noise = sqrt(own.variance + variance * variance * products / (pairs * pairs));
    const double spread = sqrt(fmax(sampling, 0));
    const double both = hypot(own.z * noise, ESTIMATE_Z * spread);
    return (struct table1_figure){.estimate = {.value = comparison.auc,
                                               .low = fmax(comparison.auc - both, 0),
                                               .high = fmin(comparison.auc + both, 1),
                                               .noise = noise,
                                               .sampling = spread},
                                  .noise_low = fmax(comparison.auc - own.z * noise, 0),
                                  .noise_high = fmin(comparison.auc + own.z * noise, 1),
                                  .factor = factor};
}

/* The share with the event of those in levels from .. to. */
static struct table1_figure events_of(const struct table1_column *column, size_t from, size_t to)
{
    const size_t n = levels_of(column);
    bool in[TABLE1_LEVELS_MAX] = {false};
    bool of[TABLE1_LEVELS_MAX] = {false};
    for (size_t k = from; k < to; k++) {
        of[k] = of[n + k] = in[n + k] = true;
    }
    return table1_part(column, in, of);
}

struct table1_figure evaluate_prevalence(const struct table1_column *column)
{
    return events_of(column, 0, levels_of(column));
}

struct table1_figure evaluate_band(const struct table1_column *column, size_t band)
{
    const size_t wide = levels_of(column) / EVALUATE_BANDS;
    CHECK(band < EVALUATE_BANDS);
    return events_of(column, band * wide, (band + 1) * wide);
}

struct evaluate_cut evaluate_cut(const struct table1_column *column, size_t level)
{
    const size_t n = levels_of(column);
    bool right[TABLE1_LEVELS_MAX] = {false};
    bool with[TABLE1_LEVELS_MAX] = {false};
    bool without[TABLE1_LEVELS_MAX] = {false};
    bool all[TABLE1_LEVELS_MAX] = {false};
    for (size_t k = 0; k < n; k++) {
        right[k] = k < level;
        right[n + k] = k >= level;
        without[k] = with[n + k] = all[k] = all[n + k] = true;
    }
    return (struct evaluate_cut){.accuracy = table1_part(column, right, all),
                                 .sensitivity = table1_part(column, right, with),
                                 .specificity = table1_part(column, right, without)};
}

size_t evaluate_plan(const struct table1_public *known)
{
    const double n = known->records / (double)known->groups;
    const double with = planned_share * n;
    const double sampling = sqrt((1 / with + 1 / (n - with)) / 12);
    size_t levels = EVALUATE_LEVELS_MAX;
    while (levels > EVALUATE_BANDS &&
           reference_noise(known->variance, levels, n - with, with) > sampling) {
        levels -= EVALUATE_BANDS;
    }
    return levels;
}

static void expect_benefits(struct evaluate_expected *out, const struct table1_column *column,
                            const struct evaluate_asked *asked, double n)
{
    const size_t wide = asked->levels / EVALUATE_BANDS;
    for (size_t i = 0; i < EVALUATE_BANDS - 1; i++) {
        const struct table1_half none = {NAN, NAN};
        const size_t level = (i + 1) * wide;
        out->benefit[i] = none;
        out->all_treated[i] = none;
        if (asked->edge != NULL) {
            const double threshold = asked->edge[level];
            out->benefit[i] = table1_half_of(evaluate_net_benefit(column, level, threshold), n);
            out->all_treated[i] = table1_half_of(evaluate_net_benefit(column, 0, threshold), n);
        }
    }
}

/* For a group, or of all of them together: group as table1_column_of's. */
static struct evaluate_expected expect_of(const struct table1_public *known,
                                          const struct evaluate_asked *asked, size_t group)
{
    const double each = known->records / (double)known->groups;
    const double n = group < known->groups ? each : known->records;
    const size_t levels = asked->levels;
    double cell[SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1] = {0};
    struct table1_sizes sizes;
    struct table1_column column;
    CHECK(known->groups <= SURVIVAL_GROUPS_MAX && levels <= EVALUATE_LEVELS_MAX);
    for (size_t g = 0; g < known->groups; g++) {
        double *own = cell + g * (2 * levels + 1);
        for (size_t k = 0; k < levels; k++) {
            own[k] = (1 - planned_share) * each / (double)levels;
            own[levels + k] = planned_share * each / (double)levels;
        }
    }
    const struct table1_block block = {cell, 2 * levels, NULL, known->variance};
    table1_agree(&sizes, &block, 1, known->groups, known->records);
    table1_column_of(&column, &block, &sizes, group);
    const struct table1_half none = {NAN, NAN};
    struct evaluate_expected out = {.auc = table1_half_of(evaluate_auc(&column), n),
                                    .share = table1_half_of(evaluate_prevalence(&column), n),
                                    .band = table1_half_of(evaluate_band(&column, 0), n),
                                    .large = none,
                                    .accuracy = none,
                                    .sensitivity = none,
                                    .specificity = none};
    expect_benefits(&out, &column, asked, n);
    if (asked->edge != NULL) {
        out.large = table1_half_of(evaluate_in_the_large(&column, asked->edge), n);
    }
    if (asked->cut > 0) {
        const struct evaluate_cut cut = evaluate_cut(&column, asked->cut);
        out.accuracy = table1_half_of(cut.accuracy, n);
        out.sensitivity = table1_half_of(cut.sensitivity, n);
        out.specificity = table1_half_of(cut.specificity, n);
    }
    return out;
}

struct evaluate_expected evaluate_expect(const struct table1_public *known,
                                         const struct evaluate_asked *asked)
{
    return expect_of(known, asked, 0);
}

struct evaluate_expected evaluate_expect_all(const struct table1_public *known,
                                             const struct evaluate_asked *asked)
{
    return expect_of(known, asked, known->groups);
}
