/* table1_plan.c - what a Table 1 may be expected to tell, by public numbers. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/table1.h"

#include <math.h>

static const double planned_deviation = 1.0 / 6; /* of values, over the range */
static const double cells_of_an_end =
    1.25; /* that a quantile's interval is widened by, either side */

double table1_need(bool is_number, size_t levels)
{
    return is_number ? sqrt((double)levels) / 2 : 1;
}

size_t table1_plan(const struct table1_public *known)
{
    static const size_t steps[] = {8, 12, 16, 24, 32, 48, 64};
    const double n = known->records / (double)known->groups;
    const double density = 1 / (planned_deviation * sqrt(2 * 3.14159265358979323846));
    size_t best = steps[0];
    double least = INFINITY;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const double k = (double)steps[i];
        const double noise = known->variance / (n * n);
        const double rank = ESTIMATE_Z * sqrt(0.25 / n + k / 4 * noise);
        const double mean =
            ESTIMATE_Z * sqrt(planned_deviation * planned_deviation / n + k / 12 * noise);
        const double width = rank / density + cells_of_an_end / k + mean;
        best = width < least ? steps[i] : best;
        least = fmin(width, least);
    }
    return best;
}

struct table1_half table1_half_of(struct table1_figure figure, double records)
{
    return (struct table1_half){(figure.estimate.high - figure.estimate.low) / 2,
                                records * figure.factor};
}

static const struct table1_half not_asked = {NAN, NAN};

/* For a group, or of all of them together: group as table1_column_of's. */
static struct table1_expected expect_of(const struct table1_public *known, bool is_number,
                                        size_t levels, size_t group)
{
    const double own = known->records / (double)known->groups;
    const double n = group < known->groups ? own : known->records;
    double cell[SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1] = {0};
    double step[TABLE1_LEVELS_MAX];
    double sum = 0;
    struct table1_sizes sizes;
    struct table1_column column;
    CHECK(known->groups <= SURVIVAL_GROUPS_MAX && levels <= TABLE1_LEVELS_MAX && levels > 0);
    for (size_t k = 0; k < levels; k++) {
        step[k] = (double)k / fmax((double)levels - 1, 1);
        const double z = (step[k] - 0.5) / planned_deviation;
        cell[k] = is_number ? exp(-z * z / 2) : 1;
        sum += cell[k];
    }
    for (size_t g = known->groups; g-- > 0;) {
        for (size_t k = 0; k < levels; k++) {
            cell[g * (levels + 1) + k] = cell[k] * own / sum;
        }
    }
    const struct table1_block block = {cell, levels, is_number ? step : NULL, known->variance};
    table1_agree(&sizes, &block, 1, known->groups, known->records);
    table1_column_of(&column, &block, &sizes, group);
    if (!is_number) {
        return (struct table1_expected){table1_half_of(table1_share(&column, 0), n), not_asked,
                                        not_asked, not_asked, not_asked};
    }
    return (struct table1_expected){.share = not_asked,
                                    .mean = table1_half_of(table1_mean(&column), n),
                                    .median = table1_half_of(table1_quantile(&column, 0.5), n),
                                    .quartile = table1_half_of(table1_quantile(&column, 0.75), n),
                                    .deviation = table1_half_of(table1_deviation(&column), n)};
}

struct table1_expected table1_expect(const struct table1_public *known, bool is_number,
                                     size_t levels)
{
    return expect_of(known, is_number, levels, 0);
}

struct table1_expected table1_expect_all(const struct table1_public *known, bool is_number,
                                         size_t levels)
{
    return expect_of(known, is_number, levels, known->groups);
}

/* A number of records has the same noise however many there are. */
struct table1_counted table1_expect_count(const struct table1_block *block, size_t count,
                                          size_t groups, size_t at)
{
    double none[SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1] = {0};
    struct table1_block empty[TABLE1_VARIABLES_MAX];
    struct table1_sizes sizes;
    double half[2];
    CHECK(count <= TABLE1_VARIABLES_MAX && at <= count);
    for (size_t i = 0; i < count; i++) {
        empty[i] = block[i];
        empty[i].cell = none;
    }
    table1_agree(&sizes, empty, count, groups, 0);
    for (size_t i = 0; i < 2; i++) {
        const size_t group = i == 0 ? 0 : groups;
        struct table1_column column;
        table1_column_of(&column, &empty[at < count ? at : 0], &sizes, group);
        const struct table1_figure figure =
            at < count ? table1_count(&column, 0) : table1_size(&sizes, group);
        half[i] = ESTIMATE_Z_NOISE * figure.estimate.noise;
    }
    return (struct table1_counted){half[0], half[1]};
}
