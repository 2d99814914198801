/* survival_plan.c - what is decided and promised from public numbers: the number of intervals, the width to expect, the
 * smallest group. Expected cells come from hazards in closed form, by small steps. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/survival_private.h"

#include <math.h>

enum { STEPS = 48 /* of an interval */ };

static const double bias_over_deviation = 0.2;
static const double tree_most = 0.8; /* of plain cells' variance */

/* Time runs from 0 to 1; a hazard is total * shape, whose integral is 1. */
struct hazard {
    double total;
    double early; /* falls as e^(-early t); below 0 it rises */
};

struct setting {
    struct hazard death;
    struct hazard censoring;
};

/* From few deaths, where the sampling error is large, to most; censoring heavy and early is the hard case. */
static const struct setting settings[] = {
    {{0.35, 0}, {0.05, 0}}, {{1.2, 0}, {0.05, 0}}, {{1.2, 3}, {0.05, 0}},
    {{1.2, -2}, {0.05, 0}}, {{0.35, 3}, {1, 0}},   {{0.35, -2}, {1, 4}},
    {{1.2, 0}, {1.5, 0}},   {{1.2, 3}, {1, 4}},    {{1.2, -2}, {1, 4}},
};

static double hazard_at(const struct hazard *hazard, double t)
{
    const double fall = hazard->early;
    return fall == 0 ? hazard->total : hazard->total * fall * exp(-fall * t) / (1 - exp(-fall));
}

/* Expected cells of one group, and the log of its true survival at each interval's end. */
static void expect_group(double *cell, double *truth, const struct setting *setting, size_t k,
                         double records)
{
    double left = records;
    double log_true = 0;
    const double step = 1 / (double)(k * STEPS);
    for (size_t j = 0; j < k; j++) {
        cell[j] = 0;
        cell[k + j] = 0;
        for (size_t i = 0; i < STEPS; i++) {
            const double t = ((double)(j * STEPS + i) + 0.5) * step;
            const double dies = hazard_at(&setting->death, t) * step;
            const double goes = hazard_at(&setting->censoring, t) * step;
            const double lost = left * -expm1(-dies - goes);
            cell[j] += lost * dies / (dies + goes);
            cell[k + j] += lost * goes / (dies + goes);
            left -= lost;
            log_true -= dies;
        }
        truth[j] = log_true;
    }
    cell[2 * k] = left;
}

/* Each group alike; no record is in none of the cells. */
static void expect_all(double *cell, double *truth, const struct setting *setting,
                       const struct survival_public *known, size_t k)
{
    for (size_t g = 0; g < known->groups; g++) {
        expect_group(cell + g * (2 * k + 1), truth, setting, k,
                     known->records / (double)known->groups);
    }
    cell[known->groups * (2 * k + 1)] = 0;
}

static struct survival_cells cells_like(const double *cell, const struct survival_public *known,
                                        size_t k)
{
    return (struct survival_cells){.cell = cell,
                                   .groups = known->groups,
                                   .intervals = k,
                                   .end = 1,
                                   .variance = known->variance,
                                   .block = known->block};
}

static bool is_unbiased(const struct survival_public *known, size_t k)
{
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        double cell[SURVIVAL_CELLS_MAX];
        double truth[SURVIVAL_INTERVALS_MAX];
        struct survival_group group;
        expect_all(cell, truth, &settings[s], known, k);
        const struct survival_cells cells = cells_like(cell, known, k);
        survival_group_fill(&group, &cells, 0);
        for (size_t j = 0; j < k; j++) {
            if (group.given[j] && fabs(group.log_survival[j] - truth[j]) >=
                                      bias_over_deviation * survival_deviation(&group, j)) {
                return false;
            }
        }
    }
    return true;
}

static const struct setting half_dies = {{0.6931471805599453, 0}, {0, 0}};
static const struct setting most_die = {{1.3862943611198906, 0}, {0, 0}};
static const struct setting half_is_censored = {{0.6931471805599453, 0}, {0.6931471805599453, 0}};

/* What a group of some number of records is asked for. */
struct asked_of_group {
    const struct survival_public *known;
    size_t intervals;
};

/* As known, with groups of that many. */
static struct survival_public with_groups_of(double records, const struct survival_public *known)
{
    struct survival_public with = *known;
    with.records = records * (double)known->groups;
    return with;
}

bool survival_suffices(double records, const struct survival_public *known, size_t k)
{
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    expect_group(cell, truth, &half_is_censored, k, records); /* the first, and no other is read */
    const struct survival_cells cells = cells_like(cell, known, k);
    return survival_has_whole(&cells, 0);
}

static bool has_curve(double records, const void *of)
{
    const struct asked_of_group *asked = of;
    return survival_suffices(records, asked->known, asked->intervals);
}

/* What the noise on a released number is multiplied with; balancing takes no account of the block. */
static double inner_of_all(const struct survival_group *group, const struct survival_cells *cells)
{
    double sum = 0;
    for (size_t j = 0; j < group->valid; j++) {
        sum += survival_inner(cells, group->gradient[j], group->gradient[j]);
    }
    return sum;
}

size_t survival_choose(double *ratio, const struct survival_public *known, size_t intervals,
                       bool is_gaussian)
{
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    struct survival_group group;
    struct survival_public plain = *known;
    size_t best = 0;
    double least = HUGE_VAL;

    plain.block = 0;
    expect_all(cell, truth, &half_is_censored, &plain, intervals);
    struct survival_cells cells = cells_like(cell, &plain, intervals);
    survival_group_fill(&group, &cells, 0);
    const double without = inner_of_all(&group, &cells);
    for (size_t block = 2; block <= intervals + 1; block++) {
        cells.block = block;
        const double with = SURVIVAL_TREE_PRICE(is_gaussian) * inner_of_all(&group, &cells);
        best = with < least ? block : best;
        least = fmin(least, with);
    }
    *ratio = without > 0 ? least / without : NAN;
    return *ratio < tree_most ? best : 0;
}

struct survival_release survival_plan(const struct survival_public *known, bool is_gaussian)
{
    struct survival_release out = {.intervals = SURVIVAL_INTERVALS_MIN};
    while (true) {
        struct survival_public with = *known;
        double ratio = 0;
        out.block = survival_choose(&ratio, known, out.intervals, is_gaussian);
        with.block = out.block;
        with.variance *= out.block > 0 ? SURVIVAL_TREE_PRICE(is_gaussian) : 1;
        if (out.intervals == SURVIVAL_INTERVALS_MAX || is_unbiased(&with, out.intervals)) {
            return out;
        }
        out.intervals++;
    }
}

void survival_expect_cells(double *cell, const struct survival_public *known, size_t intervals)
{
    double truth[SURVIVAL_INTERVALS_MAX];
    expect_all(cell, truth, &half_dies, known, intervals);
}

static double expect_median(const struct survival_public *known, size_t k)
{
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    struct survival survival;
    expect_all(cell, truth, &most_die, known, k);
    const struct survival_cells cells = cells_like(cell, known, k);
    survival_estimate(&survival, &cells);
    const struct estimate *median = &survival.curve[0].median;
    return (median->high - median->low) / 2;
}

static bool has_median(double records, const void *of)
{
    const struct asked_of_group *asked = of;
    const struct survival_public with = with_groups_of(records, asked->known);
    return !isnan(expect_median(&with, asked->intervals));
}

/* The log-rank test of groups that are alike. */
static bool has_test(double records, const void *of)
{
    const struct asked_of_group *asked = of;
    const struct survival_public with = with_groups_of(records, asked->known);
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    struct survival out = {.log_rank = NAN};
    expect_all(cell, truth, &half_dies, &with, asked->intervals);
    const struct survival_cells cells = cells_like(cell, &with, asked->intervals);
    survival_log_rank(&out, &cells);
    return !isnan(out.log_rank);
}

/* The second group has this share of all records; the others are alike. */
static double records_in(size_t group, double share, const struct survival_public *known)
{
    const double others = fmax((double)known->groups - 1, 1);
    return known->records * (group == 1 ? share : (1 - share) / others);
}

static void expect_uneven(double *cell, const struct setting *setting, double share,
                          const struct survival_public *known, size_t k)
{
    double truth[SURVIVAL_INTERVALS_MAX];
    for (size_t g = 0; g < known->groups; g++) {
        expect_group(cell + g * (2 * k + 1), truth, setting, k, records_in(g, share, known));
    }
    cell[known->groups * (2 * k + 1)] = 0;
}

/* The log-rank statistic that is expected of two groups whose hazards have this ratio; NAN: not given. */
static double expected_rank(double ratio, double share, const struct survival_public *known,
                            size_t k)
{
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    struct setting other = half_dies;
    struct survival out = {.log_rank = NAN};
    expect_uneven(cell, &half_dies, share, known, k);
    other.death.total *= ratio;
    expect_group(cell + 2 * k + 1, truth, &other, k, records_in(1, share, known));
    const struct survival_cells cells = cells_like(cell, known, k);
    survival_log_rank(&out, &cells);
    return out.log_rank;
}

/* Whether it is as far out as the test's end and its power are, together. */
static bool is_found(double ratio, double share, const struct survival_public *known, size_t k)
{
    const double far =
        cells_square(ESTIMATE_Z + 0.8416212335729143); /* the normal distribution's 80 % */
    return known->groups == 2 && expected_rank(ratio, share, known, k) >= far;
}

/* Within a hundredth. */
static double least_ratio(const struct survival_public *known, size_t k, double share)
{
    double low = 1;
    double high = 1;
    while (!is_found(high, share, known, k)) {
        low = high;
        high *= 2;
        if (high > SURVIVAL_RATIO_MOST) {
            return NAN;
        }
    }
    while (high > 1.01 * low) {
        const double middle = (low + high) / 2;
        *(is_found(middle, share, known, k) ? &high : &low) = middle;
    }
    return high;
}

static double half_of(const struct estimate *estimate)
{
    return isnan(estimate->value) ? NAN : (estimate->high - estimate->low) / 2;
}

struct survival_small survival_expect_small(const struct survival_public *known, size_t intervals,
                                            double share)
{
    double cell[SURVIVAL_CELLS_MAX];
    struct survival half;
    struct survival most;
    struct survival censored;
    CHECK(known->groups > 1 && share > 0 && share < 1);
    expect_uneven(cell, &half_is_censored, share, known, intervals);
    struct survival_cells cells = cells_like(cell, known, intervals);
    survival_estimate(&censored, &cells);
    expect_uneven(cell, &most_die, share, known, intervals);
    cells = cells_like(cell, known, intervals);
    survival_estimate(&most, &cells);
    expect_uneven(cell, &half_dies, share, known, intervals);
    cells = cells_like(cell, known, intervals);
    survival_estimate(&half, &cells);
    const struct survival_point *last = &half.curve[1].point[intervals - 1];
    const bool is_pair = known->groups == 2;
    return (struct survival_small){
        .survival = half_of(&last->survival),
        .band = (last->band_high - last->band_low) / 2,
        .mean = half_of(&half.curve[1].mean),
        .censored_survival = half_of(&censored.curve[1].point[intervals - 1].survival),
        .censored_mean = half_of(&censored.curve[1].mean),
        .median = half_of(&most.curve[1].median),
        .mean_difference = half_of(&half.mean_difference[1]),
        .median_difference = half_of(&most.median_difference[1]),
        .ratio = is_pair ? least_ratio(known, intervals, share) : NAN,
        .is_tested = is_pair && !isnan(expected_rank(1, share, known, intervals))};
}

double survival_smallest(const struct survival_public *known, size_t intervals)
{
    const struct asked_of_group asked = {known, intervals};
    return cells_fewest_records(has_curve, &asked);
}

double survival_smallest_median(const struct survival_public *known, size_t intervals)
{
    const struct asked_of_group asked = {known, intervals};
    return cells_fewest_records(has_median, &asked);
}

/* Half would die, and half would be censored. */
static struct survival expect_censored(const struct survival_public *known, size_t intervals)
{
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    struct survival out;
    expect_all(cell, truth, &half_is_censored, known, intervals);
    const struct survival_cells cells = cells_like(cell, known, intervals);
    survival_estimate(&out, &cells);
    return out;
}

struct survival_expected survival_expect(const struct survival_public *known, size_t intervals)
{
    const struct asked_of_group asked = {known, intervals};
    double cell[SURVIVAL_CELLS_MAX];
    double truth[SURVIVAL_INTERVALS_MAX];
    struct survival_group group;
    struct survival survival;
    double sum = 0;

    expect_all(cell, truth, &half_dies, known, intervals);
    const struct survival_cells cells = cells_like(cell, known, intervals);
    survival_group_fill(&group, &cells, 0);
    survival_estimate(&survival, &cells);
    const struct survival_point *last = &survival.curve[0].point[intervals - 1];
    const struct estimate mean = survival_mean(&sum, &group, &cells);
    const double fewest = cells_fewest_records(has_curve, &asked);
    const bool is_large = known->records / (double)known->groups >= fewest;
    const bool is_given = is_large && group.given[intervals - 1];
    const struct survival censored = expect_censored(known, intervals);
    return (struct survival_expected){
        .survival = is_given ? 0.5 * survival_reach(
                                         sqrt(fmax(group.noise[intervals - 1][intervals - 1], 0)),
                                         sqrt(group.greenwood[intervals - 1]))
                             : NAN,
        .band = (last->band_high - last->band_low) / 2,
        .median = expect_median(known, intervals),
        .ratio = least_ratio(known, intervals, 1 / (double)known->groups),
        .mean = !is_large || isnan(mean.value) ? NAN : (mean.high - mean.low) / 2,
        .censored_survival = half_of(&censored.curve[0].point[intervals - 1].survival),
        .censored_mean = half_of(&censored.curve[0].mean),
        .group = fewest,
        .median_group = survival_smallest_median(known, intervals),
        .test_group = known->groups > 1 ? cells_fewest_records(has_test, &asked) : NAN};
}
