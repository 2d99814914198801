/* Faults planted in what a record adds to a question: each must move two records farther apart than is charged. */

#include "query/score.h"
#include "tests/exhaustive/query_domain.h"

/* Planted: cells that share their edges, so that a record counts in two. */
static void add_overlapping(int64_t *sum, const struct query *query, unsigned grid_bits,
                            UNUSED double threshold, const struct row *row)
{
    const double age = row->cell[0];
    for (size_t i = 0; i < query->cell_count; i++) {
        const double low = i == 0 ? query->low : query->edge[i - 1];
        const double high = i + 1 == query->cell_count ? query->high : query->edge[i];
        sum[i] += age >= low && age <= high ? INT64_C(1) << grid_bits : 0;
    }
}

/* Planted: a mean of values in [0, 1] beside its records. */
static void add_uncentred(int64_t *sum, const struct query *query, unsigned grid_bits,
                          double threshold, const struct row *row)
{
    const int64_t before = sum[1];
    query_add(sum, query, grid_bits, threshold, row);
    sum[0] += (sum[1] - before) / 2;
}

/* Planted: answers +1 or -1 in place of whether. */
static void add_doubled(int64_t *sum, const struct query *query, unsigned grid_bits,
                        double threshold, const struct row *row)
{
    query_add(sum, query, grid_bits, threshold, row);
    sum[0] *= 2;
}

/* Planted: the value as it is, without its range. */
static void add_unclamped(int64_t *sum, const struct query *query, unsigned grid_bits,
                          UNUSED double threshold, const struct row *row)
{
    sum[0] += (int64_t)(fmax(row->cell[0] - query->low, 0) / 40 * (double)(1 << grid_bits));
}

/* Planted: squares whole, and not halved. */
static void add_whole_squares(int64_t *sum, const struct query *query, unsigned grid_bits,
                              double threshold, const struct row *row)
{
    query_add(sum, query, grid_bits, threshold, row);
    sum[3] *= 2;
    sum[5] *= 2;
}

/* Planted: the product of two columns counts as both of the matrix's halves. */
static void add_whole_product(int64_t *sum, const struct query *query, unsigned grid_bits,
                              double threshold, const struct row *row)
{
    query_add(sum, query, grid_bits, threshold, row);
    sum[4] *= 2;
}

/* Planted: fourth moments of twice their weight. */
static void add_heavy_fourths(int64_t *sum, const struct query *query, unsigned grid_bits,
                              double threshold, const struct row *row)
{
    query_add(sum, query, grid_bits, threshold, row);
    for (size_t k = 6; k < query->cell_count; k++) {
        sum[k] *= 2;
    }
}

Test(query_faults, shows_fourth_moments_that_weigh_too_much)
{
    for (unsigned bits = 14; bits <= 20; bits += 6) {
        const struct query_public known = {.records = 25000, .variance = 1, .grid_bits = bits};
        struct query query;
        struct apart charged = {0, 0};
        cr_assert(query_parse(&query, slice_of("correlate: [age, kappa]"), &toy_names, NULL) ==
                  STATUS_OK);
        query_plan(&query, &known);
        cr_assert(query.fourth == 1);
        const struct apart most = farthest_of(add_heavy_fourths, &query, bits, 0, &charged);
        cr_expect(most.l1 > charged.l1 && most.squared > charged.squared, "%u bits", bits);
    }
}

/* Adds what a pca of two columns adds, of numbers up to most away from the middle, times factor. */
static void add_moments(int64_t *sum, const struct query *query, unsigned grid_bits,
                        const struct row *row, double most, double factor)
{
    const double one = (double)(INT64_C(1) << grid_bits);
    double z[2];
    for (size_t i = 0; i < 2; i++) {
        const struct query_variable *of = &query->variable[i];
        z[i] = (row->cell[of->column_index] - of->column.centre) / of->column.half_width;
    }
    if (isfinite(z[0]) && isfinite(z[1])) {
        const double x = factor * fmax(-most, fmin(most, z[0]));
        const double y = factor * fmax(-most, fmin(most, z[1]));
        const double moment[] = {0.5, x, y, x * x / 2, x * y, y * y / 2};
        for (size_t i = 0; i < sizeof moment / sizeof moment[0]; i++) {
            sum[i] += (int64_t)(moment[i] * one);
        }
    }
}

static void add_right_moments(int64_t *sum, const struct query *query, unsigned grid_bits,
                              UNUSED double threshold, const struct row *row)
{
    add_moments(sum, query, grid_bits, row, 1, 1);
}

/* Planted: a column counts as it is, also beyond its public range. */
static void add_unclamped_columns(int64_t *sum, const struct query *query, unsigned grid_bits,
                                  UNUSED double threshold, const struct row *row)
{
    add_moments(sum, query, grid_bits, row, INFINITY, 1);
}

/* Planted: columns are divided by a standard deviation, for components of correlations, and not by half of the public range. */
static void add_divided_columns(int64_t *sum, const struct query *query, unsigned grid_bits,
                                UNUSED double threshold, const struct row *row)
{
    add_moments(sum, query, grid_bits, row, 1, 1.25);
}

/* Planted: a number counts whole in both of the steps around it. */
static void add_unsplit(int64_t *sum, const struct query *query, unsigned grid_bits,
                        double threshold, const struct row *row)
{
    query_add(sum, query, grid_bits, threshold, row);
    for (size_t i = 0; i < query->cell_count; i++) {
        sum[i] = sum[i] > 0 ? INT64_C(1) << grid_bits : 0;
    }
}

/* Planted: a person counts in every interval that they live through, as in a table with one line for each
 * interval. */
static void add_each_interval(int64_t *sum, const struct query *query, unsigned grid_bits,
                              double threshold, const struct row *row)
{
    const size_t outcomes = query->cell_count;
    int64_t own[CELLS_MAX] = {0};
    query_add(own, query, grid_bits, threshold, row);
    for (size_t i = outcomes; i-- > 0;) {
        own[i] += i + 1 < outcomes ? own[i + 1] : 0;
        sum[i] += own[i];
    }
}

/* Planted: a record's outcome weighs its point by what the model expects, which differs from record to record. */
static void add_weighted(int64_t *sum, const struct query *query, unsigned grid_bits,
                         double threshold, const struct row *row)
{
    int64_t own[CELLS_MAX] = {0};
    query_add(own, query, grid_bits, threshold, row);
    for (size_t i = 0; i < query->cell_count; i++) {
        sum[i] += own[i] + (row->label > 0 ? own[i] / 2 : 0);
    }
}

/* Planted: the score itself, and not its level. */
static void add_score(int64_t *sum, const struct query *query, unsigned grid_bits, double threshold,
                      const struct row *row)
{
    query_add(sum, query, grid_bits, threshold, row);
    sum[0] += (int64_t)(query_score_value(query->score, row) * (double)(1 << grid_bits));
}

Test(query_faults, shows_every_planted_fault)
{
    uint64_t charged = 0;
    cr_expect(farthest_by(query_add, "histogram: age by 10", 8, 0, &charged) > charged / 2,
              "a histogram charged as one count");
    cr_expect(farthest_by(add_overlapping, "histogram: age at 60, 80", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_uncentred, "mean: age where age >= 60", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_doubled, "quantile: 0.5 of age", 8, 74, &charged) > charged);
    cr_expect(farthest_by(add_unclamped, "mean: age", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_unsplit, "table1: [age] by sex in 8 steps", 8, 0, &charged) >
              charged);
    cr_expect(farthest_by(add_whole_squares, "correlate: [age, sex]", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_whole_squares, "pca: [age, sex]", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_right_moments, "pca: [age, kappa]", 8, 0, &charged) <= charged);
    cr_expect(farthest_by(add_unclamped_columns, "pca: [age, kappa]", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_divided_columns, "pca: [age, kappa]", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_doubled, "survival: time kappa event sex, to 2 in 4 intervals", 8, 0,
                          &charged) > charged);
    cr_expect(farthest_by(add_doubled, "crosstab: sex x death", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_doubled, "evaluate: age for death in 8 levels", 8, 0, &charged) >
              charged);
    cr_expect(farthest_by(add_score, "evaluate: risk for death in 8 levels", 8, 0, &charged) >
              charged);
    cr_expect(farthest_by(add_each_interval,
                          "regress: time age event death ~ sex, to 80 in 3 intervals", 8, 0,
                          &charged) > charged);
    cr_expect(farthest_by(add_weighted, "regress: death ~ age + sex in 3 levels", 8, 0, &charged) >
              charged);
    cr_expect(farthest_by(add_weighted, "regress: death ~ factor(kappa)", 8, 0, &charged) >
              charged);
    cr_expect(farthest_by(add_unsplit, "regress: age ~ sex", 8, 0, &charged) > charged);
    cr_expect(farthest_by(add_unsplit, "regress: counts age ~ kappa in 2 levels", 8, 0, &charged) >
              charged);
    cr_expect(farthest_by(query_add, "table1: [age, sex] by death in 8 steps", 8, 0, &charged) >
                  2 << 8,
              "a table charged as one variable");
}

Test(query_faults, in_l2_shows_every_planted_fault)
{
    struct apart charged;
    cr_expect(farthest_by_two(query_add, "histogram: age by 10", 8, 0, &charged).squared >
                  charged.squared / 2,
              "a histogram charged as one count");
    cr_expect(is_seen_in_l2(add_overlapping, "histogram: age at 60, 80", 0));
    cr_expect(is_seen_in_l2(add_uncentred, "mean: age where age >= 60", 0));
    cr_expect(is_seen_in_l2(add_doubled, "quantile: 0.5 of age", 74));
    cr_expect(is_seen_in_l2(add_unclamped, "mean: age", 0));
    cr_expect(is_seen_in_l2(add_unsplit, "table1: [age] by sex in 8 steps", 0));
    cr_expect(is_seen_in_l2(add_doubled, "survival: time kappa event sex, to 2 in 4 intervals", 0));
    cr_expect(is_seen_in_l2(add_doubled, "crosstab: sex x death", 0));
    cr_expect(is_seen_in_l2(add_doubled, "evaluate: age for death in 8 levels", 0));
    cr_expect(
        is_seen_in_l2(add_doubled, "evaluate: age for time kappa event death, to 2 in 4 bins", 0));
    cr_expect(is_seen_in_l2(add_whole_product, "correlate: [age, sex]", 0));
    cr_expect(is_seen_in_l2(add_whole_product, "pca: [age, sex]", 0));
    cr_expect(!is_seen_in_l2(add_right_moments, "pca: [age, kappa]", 0));
    cr_expect(is_seen_in_l2(add_unclamped_columns, "pca: [age, kappa]", 0));
    cr_expect(is_seen_in_l2(add_divided_columns, "pca: [age, kappa]", 0));
    cr_expect(is_seen_in_l2(add_score, "evaluate: risk for death in 8 levels", 0));
    cr_expect(is_seen_in_l2(add_each_interval,
                            "regress: time age event death ~ sex, to 80 in 3 intervals", 0));
    cr_expect(is_seen_in_l2(add_weighted, "regress: death ~ age + sex in 3 levels", 0));
    cr_expect(is_seen_in_l2(add_unsplit, "regress: age ~ sex", 0));
    cr_expect(farthest_by_two(query_add, "table1: [age, sex] by death in 8 steps", 8, 0, &charged)
                      .squared > 2 << 16,
              "a table charged as one variable");
}
