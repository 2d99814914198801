/* Effects of survival curves, tables and regressions by site: against R, by hand, and what is refused. */

#include "estimate/between.h"
#include "estimate/cells.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum { SITES = 3, STEPS = 5, MANY = 40, LEVELS = 3, STUDIES = 1000, HOLD_LEAST = 917 };

static void near(double got, double expected, double by, const char *what)
{
    cr_expect(fabs(got - expected) <= by, "%s: %.10g is not %.10g", what, got, expected);
}

static double cell[SURVIVAL_CELLS_MAX];
static double half_cell[SURVIVAL_CELLS_MAX];

/* The hospitals' cells at two sites, and half of them at a third. */
static void read_hospitals(struct survival_cells site[SITES], double variance)
{
    const size_t count = vector_read(cell, SURVIVAL_CELLS_MAX, vectors("flchain"), "cells");
    cr_assert(count == SURVIVAL_CELLS(2, 20));
    for (size_t i = 0; i < count; i++) {
        half_cell[i] = cell[i] / 2;
    }
    for (size_t i = 0; i < SITES; i++) {
        site[i] = (struct survival_cells){.cell = i == 2 ? half_cell : cell,
                                          .groups = 2,
                                          .intervals = 20,
                                          .end = 5000,
                                          .variance = variance};
    }
}

Test(between_kinds, hazard_ratios_are_r_s)
{
    struct survival_cells site[SITES];
    struct between_site out[SITES];
    double known[2];
    cr_assert(vector_read(known, 2, vectors("hazards"), "flchain") == 2);
    read_hospitals(site, 0);
    between_hazards(out, site, SITES, 1);
    near(out[0].value, known[0], 1e-9, "log hazard ratio");
    near(out[0].sampling, known[1], 1e-9, "its error");
    near(out[0].low, known[0] - ESTIMATE_Z * known[1], 1e-9, "low");
    near(out[2].value, known[0], 1e-9, "of half of the records");
    near(out[2].sampling, sqrt(2) * known[1], 1e-9, "its error");
    near(out[0].noise, 0, 1e-12, "noise");
    cr_assert(vector_read(cell, SURVIVAL_CELLS_MAX, vectors("toy"), "cells_of_two") == 43);
    cr_assert(vector_read(known, 2, vectors("hazards"), "toy") == 2);
    site[0] = (struct survival_cells){cell, 2, 10, 10, 0, 0};
    between_hazards(out, site, 1, 1);
    near(out[0].value, known[0], 1e-9, "toy");
    near(out[0].sampling, known[1], 1e-9, "its error");
}

/* The noise of the logarithm by its gradient, against differences of the estimate itself. */
Test(between_kinds, the_noise_of_a_hazard_ratio_is_that_of_the_cells)
{
    struct survival_cells site[SITES];
    struct between_site out[SITES];
    const size_t m = SURVIVAL_CELLS(2, 20);
    double sum = 0;
    double square = 0;
    read_hospitals(site, 4);
    between_hazards(out, site, 1, 1);
    const double noise = out[0].noise;
    for (size_t i = 0; i + 1 < m; i++) {
        double value[2];
        for (int side = 0; side < 2; side++) {
            cell[i] += side == 0 ? 0.25 : -0.5;
            between_hazards(out, site, 1, 1);
            value[side] = out[0].value;
        }
        cell[i] += 0.25;
        const double slope = (value[0] - value[1]) / 0.5;
        sum += slope;
        square += slope * slope;
    }
    near(noise / sqrt(4 * (square - sum * sum / (double)m)), 1, 1e-4, "noise");
}

Test(between_kinds, hazard_ratios_of_few_deaths_are_refused)
{
    struct survival_cells site[SITES];
    struct between_site out[SITES];
    double deaths = 0;
    read_hospitals(site, 0);
    for (size_t j = 0; j < 20; j++) {
        deaths += fmin(half_cell[j], half_cell[41 + j]) > 0 ? half_cell[41 + j] : 0;
    }
    const double most = deaths / 4 / sqrt(20); /* four deviations of their noise */
    for (size_t i = 0; i < SITES; i++) {
        site[i].variance = most * most * 1.1;
    }
    between_hazards(out, site, SITES, 1);
    cr_expect(isfinite(out[0].value) && isnan(out[2].value) && isnan(out[2].low));
}

Test(between_kinds, means_of_sites_are_their_curves_own_with_the_sampling_of_all)
{
    struct survival_cells site[SITES];
    struct between_site out[SITES];
    struct survival alone;
    read_hospitals(site, 0);
    survival_estimate(&alone, &site[0]);
    between_means(out, site, SITES, 1, false);
    near(out[0].value, alone.curve[1].mean.value, 1e-9, "mean");
    near(out[0].low, alone.curve[1].mean.low, 1e-9, "low");
    near(out[0].sampling, alone.curve[1].mean.sampling, 1e-6, "sampling");
    near(out[2].sampling, sqrt(2) * alone.curve[1].mean.sampling, 1e-6, "of half the records");
    between_means(out, site, SITES, 1, true);
    near(out[0].value, alone.mean_difference[1].value, 1e-9, "difference");
    near(out[0].sampling, alone.mean_difference[1].sampling, 1e-6, "its sampling");
    read_hospitals(site, 40000); /* a cell's noise is 200 records */
    between_means(out, site, SITES, 1, false);
    cr_expect(isnan(out[0].value) && isnan(out[2].value));
}

/* Values 0 .. 4 with counts 10, 20, 40, 20, 10: mean 2, variance 1.2; the second site has twice the records. */
Test(between_kinds, means_and_shares_of_tables)
{
    static const double step[STEPS] = {0, 1, 2, 3, 4};
    struct table1_column site[2] = {
        {.cell = {10, 20, 40, 20, 10, 5}, .levels = STEPS, .step = step, .groups = 1},
        {.cell = {20, 40, 80, 40, 20, 0}, .levels = STEPS, .step = step, .groups = 1}};
    struct between_site out[2];
    between_columns(out, site, 2, 0);
    near(out[0].value, 2, 1e-12, "mean");
    near(out[0].sampling, sqrt(1.2 / 100), 1e-9, "its sampling");
    near(out[1].sampling, sqrt(1.2 / 200), 1e-9, "of twice the records");
    site[0].step = site[1].step = NULL;
    site[0].cell[2] = 60; /* half of its 120; of all 140 of 320 */
    between_columns(out, site, 2, 2);
    near(out[0].value, 0.5, 1e-12, "share");
    near(out[0].sampling, sqrt(140. / 320 * 180 / 320 / 120), 1e-3, "by the share of all");
    site[0].variance = site[0].size_variance = 1e4;
    between_columns(out, site, 2, 2);
    cr_expect(isnan(out[0].value) && isfinite(out[1].value));
}

/* Forty sites of 160 records, hardly any of them in the last level; noise of epsilon 0.25. */
static void draw_sites(struct table1_column site[MANY], const double share[LEVELS],
                       const double *step, struct seeded_random *seeded)
{
    const double records = 160;
    const double scale = 8;
    for (size_t i = 0; i < MANY; i++) {
        double cells[LEVELS + 2] = {0};
        struct table1_sizes sizes;
        const struct table1_block block = {cells, LEVELS, step, 2 * scale * scale};
        for (size_t j = 0; j < (size_t)records; j++) {
            const double unit = seeded_random_unit(seeded);
            cells[unit < share[0] ? 0 : unit < share[0] + share[1] ? 1 : 2]++;
        }
        for (size_t k = 0; k < LEVELS + 2; k++) {
            cells[k] += seeded_random_laplace(seeded, scale);
        }
        cells_balance(cells, LEVELS + 2, records);
        table1_agree(&sizes, &block, 1, 1, records);
        table1_column_of(&site[i], &block, &sizes, 1);
    }
}

/* How often the mean over sites holds: of the last level's share, or of a mean whose values are nearly all at the range's begin. An
 * interval that holds in 95 % does so in fewer than HOLD_LEAST of the STUDIES in one of 10^6 tests. */
static size_t holding(const double share[LEVELS], const double *step, double truth)
{
    struct seeded_random seeded;
    struct between_site site[MANY];
    struct table1_column column[MANY];
    struct between all;
    size_t held = 0;
    seeded_random_init(&seeded, 30);
    for (size_t i = 0; i < STUDIES; i++) {
        draw_sites(column, share, step, &seeded);
        between_columns(site, column, MANY, LEVELS - 1);
        between_sites(&all, site, MANY, false);
        cr_assert(all.sites == MANY && all.low >= 0 && all.next_low >= 0 && all.value >= 0);
        cr_assert(all.low < all.high && all.next_low < all.next_high);
        cr_assert(site[0].value >= 0 && site[0].value <= 1);
        held += all.low <= truth && truth <= all.high ? 1 : 0;
    }
    return held;
}

Test(between_kinds, what_noise_makes_less_than_nothing_is_joined_as_it_is)
{
    static const double nobody[LEVELS] = {0.7, 0.3, 0};
    static const double few[LEVELS] = {0.7, 0.28, 0.02};
    static const double most[LEVELS] = {0.02, 0.03, 0.95};
    size_t held = holding(nobody, NULL, 0);
    cr_expect(held >= HOLD_LEAST, "a category without records: %zu", held);
    held = holding(few, NULL, 0.02);
    cr_expect(held >= HOLD_LEAST, "a category of few: %zu", held);
    held = holding(most, NULL, 0.95);
    cr_expect(held >= HOLD_LEAST, "a category of most: %zu", held);
}

Test(between_kinds, shares_of_sums_are_joined_as_they_are_and_told_within_their_range)
{
    const double scale = 20; /* of 100 records */
    struct between_sum sum[MANY];
    struct between_site site[MANY];
    struct between all;
    struct seeded_random seeded;
    size_t held = 0;
    seeded_random_init(&seeded, 31);
    for (size_t i = 0; i < STUDIES; i++) {
        for (size_t j = 0; j < MANY; j++) {
            sum[j] = (struct between_sum){seeded_random_laplace(&seeded, scale / 2), 100};
        }
        between_shares(site, sum, MANY, scale * scale / 2);
        between_sites(&all, site, MANY, false);
        cr_assert(all.sites == MANY && all.low >= 0 && all.value >= 0 && all.high > 0.01);
        cr_assert(site[0].value >= 0 && site[0].low <= site[0].value &&
                  site[0].value <= site[0].high && site[0].high > 0);
        held += all.low <= 0 ? 1 : 0;
    }
    cr_expect(held >= HOLD_LEAST, "%zu", held);
}

/* Two groups of 100; 20 and 50 of them have the event. */
static const double group_counts[5] = {80, 20, 50, 50, 0};
static const struct regress_predictor of_group = {.levels = 2, .is_number = false};
static const struct regress_design by_group = {.family = REGRESS_LOGISTIC,
                                               .predictor = &of_group,
                                               .predictors = 1,
                                               .intervals = 1,
                                               .outcomes = 2};
static const double second_group[REGRESS_TERMS_MAX] = {0, 1};

/* The logarithm of the odds ratio is log 4. */
Test(between_kinds, a_slope_is_the_regression_s_and_its_width_is_whole)
{
    static struct regress_fit fit;
    struct between_site out;
    struct regress_cells cells = {&by_group, group_counts, 5, 0};
    regress_solve(&fit, &cells);
    between_slope(&out, &fit, second_group);
    near(out.value, log(4), 1e-9, "log odds ratio");
    const double few = 1.984217 / ESTIMATE_Z * sqrt(100. / 99); /* t of 99 */
    near(out.sampling, few * sqrt(1. / 80 + 1. / 20 + 2. / 50), 1e-6, "its sampling");
    near(out.noise, 0, 1e-6, "no noise");
    cells.variance = 4;
    regress_solve(&fit, &cells);
    between_slope(&out, &fit, second_group);
    near(hypot(out.sampling, out.noise), (out.high - out.low) / 2 / ESTIMATE_Z, 1e-12, "width");
    cells.variance = 250000; /* a deviation of 500 records on each of the cells */
    regress_solve(&fit, &cells);
    between_slope(&out, &fit, second_group);
    cr_expect(isnan(out.value) && isnan(out.low));
}

/* The same groups. If the slope were 0, 0.35 of each would have the event: w'H^-1 w = 2 / 22.75, and a record of any cell adds to the
 * information's logarithm 1 / 200. With the slope the sum moves by 0.0125, -0.05, -0.02 and 0.02. */
Test(between_kinds, a_slope_is_chosen_as_if_it_were_0_and_what_that_moves_is_counted)
{
    static struct regress_fit fit;
    struct between_site out;
    struct regress_cells cells = {&by_group, group_counts, 5, 4};
    for (int is_near = 0; is_near < 2; is_near++) {
        cells.variance = is_near ? 490 : 4;
        regress_solve(&fit, &cells);
        const struct regress_choice choice = regress_choice(&fit, second_group);
        const double n = 100 - 2 * fit.raised[0]; /* of 100 records at each point */
        const double p = (20 - fit.raised[0]) / n;
        const double noise = 0.8 * cells.variance / (4 * n * n);
        const double deviation = sqrt(noise + 200 / (4 * n * n));
        const double joint = (1 - 2 * p) / 5 * cells.variance + 20 - 100 * p;
        near(choice.factor, sqrt(noise) / 0.3, 1e-9, "factor");
        near(choice.deviation, deviation, 1e-9, "of the information");
        near(choice.moves, -joint / (2 * n * n * p * (1 - p)) / deviation, 1e-9, "moves");
        between_slope(&out, &fit, second_group);
        const struct estimate own = regress_figure(&fit, second_group).estimate;
        near(out.low, own.low, 1e-12, "low");
        near(out.high - own.high, is_near ? -2.6652142 * choice.moves : 0, 1e-9, "high");
        near(hypot(out.sampling, out.noise), (out.high - out.value) / ESTIMATE_Z, 1e-9, "width");
    }
    cells.variance = 560; /* a factor of 0.353 */
    regress_solve(&fit, &cells);
    between_slope(&out, &fit, second_group);
    cr_expect(isnan(out.value) && regress_choice(&fit, second_group).factor > BETWEEN_DOUBT_MOST);
}

/* R: qt(0.975, 4) * 2 / qnorm(0.975) / sqrt(5) */
Test(between_kinds, the_width_to_expect_of_sites_that_are_alike)
{
    near(between_expect(2, 5), 2.776445 * 2 / 1.959964 / sqrt(5), 1e-6, "half");
    cr_expect(isnan(between_expect(2, 2)));
    cr_expect(isnan(between_expect_next(2, 2)) && isnan(between_expect_next(NAN, 5)));
    near(between_expect_next(4, 5), 2 * between_expect_next(2, 5), 1e-6, "another's scale");
    cr_expect(between_expect_next(2, 5) > between_expect(2, 5));
    cr_expect(between_expect_next(2, 200) < between_expect_next(2, 5));
    cr_expect(between_expect_next(2, 5000) > 0, "no more than 256 are compared");
}

Test(between_kinds, the_fewest_records_of_a_site_that_is_given)
{
    const struct survival_public known = {.groups = 2, .variance = 100};
    const double hazards = between_need_hazards(&known, 8);
    struct survival_public with = known;
    cr_assert(hazards > 0);
    for (int more = 0; more < 2; more++) {
        const double by = more == 1 ? 1.1 : 0.9;
        with.records = by * hazards;
        cr_expect(isnan(between_expect_hazards(&with, 8)) == (more == 0), "of %g records",
                  with.records);
        for (double variance = 1; variance < 1000; variance *= 10) {
            const double shared = by * between_need_share(variance);
            const double row = by * between_need_difference(variance) / 2;
            const double cell[] = {row / 2, row / 2, row / 2, row / 2, 0};
            struct between_site site;
            between_shares(&site, &(struct between_sum){shared / 2, shared}, 1, variance);
            cr_expect(isnan(site.value) == (more == 0), "a share, variance %g", variance);
            between_differences(&site, &(struct crosstab_cells){cell, 2, 2, 5, variance}, 1);
            cr_expect(isnan(site.value) == (more == 0), "a difference, variance %g", variance);
        }
        for (double variance = 0.01; variance < 1000; variance *= 1000) {
            cr_expect(isnan(between_expect_odds(by * between_need_odds(variance), 5, variance)) ==
                      (more == 0));
        }
    }
}
