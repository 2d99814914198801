/* Cross tables against R, and what is refused. */

#include "estimate/cells.h"
#include "estimate/crosstab.h"

#include "vectors.h"

#include <math.h>

static double cell[CROSSTAB_CELLS_MAX];

static struct crosstab_cells read_cells(const char *key, size_t rows, double variance)
{
    const size_t count = vector_read(cell, CROSSTAB_CELLS_MAX, vectors("crosstab"), key);
    cr_assert(count == 2 * rows);
    return (struct crosstab_cells){
        .cell = cell, .rows = rows, .columns = 2, .m = 2 * rows + 1, .variance = variance};
}

static void near(double got, double expected, double by, const char *what)
{
    cr_expect(fabs(got - expected) <= by, "%s: %.10g is not %.10g", what, got, expected);
}

Test(crosstab, without_noise_is_r_s)
{
    const json_t *known = vectors("crosstab");
    double p = NAN;
    struct crosstab_cells cells = read_cells("cells", 2, 0);
    const struct estimate odds = crosstab_odds_ratio(&cells);
    near(crosstab_test(&p, &cells), vector_one(known, "chi_squared"), 1e-9, "chi-squared");
    near(p, vector_one(known, "p"), 1e-9, "p");
    near(odds.value, vector_one(known, "odds_ratio"), 1e-12, "odds ratio");
    /* Cornfield's, but for the square of the deviation, which the product has and the score has not. */
    near(odds.low, vector_one(known, "odds_low"), 1e-3, "its low end");
    near(odds.high, vector_one(known, "odds_high"), 1e-3, "its high end");
    const struct estimate share = crosstab_share(&cells, 0);
    const struct estimate difference = crosstab_difference(&cells);
    double ends[3];
    cr_assert(vector_read(ends, 3, known, "share") == 3);
    near(share.value, ends[0], 1e-12, "share");
    near(share.low, ends[1], 1e-9, "its low end");
    near(share.high, ends[2], 1e-9, "its high end");
    cr_assert(vector_read(ends, 3, known, "difference") == 3);
    near(difference.value, ends[0], 1e-12, "difference");
    /* Mee's, but for the shares under a given difference, which have the greatest likelihood there and are pooled here. */
    near(difference.low, ends[1], 2e-5, "its low end");
    near(difference.high, ends[2], 2e-5, "its high end");
    cr_assert(vector_read(ends, 3, known, "difference_pooled") == 2);
    near(difference.low, ends[0], 1e-9, "its low end, pooled");
    near(difference.high, ends[1], 1e-9, "its high end, pooled");
    cells = read_cells("cells_of_ten", 10, 0);
    near(crosstab_test(&p, &cells), vector_one(known, "chi_squared_of_ten"), 1e-7, "ten rows");
}

/* R: prop.test(30, 100, correct = FALSE)$conf.int, Wilson's interval. */
Test(crosstab, share_has_wilson_s_interval)
{
    const double counts[4] = {70, 30, 50, 50};
    const struct crosstab_cells cells = {.cell = counts, .rows = 2, .columns = 2, .m = 5};
    const struct estimate share = crosstab_share(&cells, 0);
    near(share.value, 0.3, 1e-12, "share");
    near(share.low, 0.2189489, 1e-7, "low");
    near(share.high, 0.3958485, 1e-7, "high");
    near(share.sampling, sqrt(0.3 * 0.7 / 100), 1e-12, "sampling");
    const struct estimate difference = crosstab_difference(&cells);
    near(difference.value, 0.2, 1e-12, "difference");
    cr_expect(difference.low > 0.05 && difference.low < 0.08 && difference.high < 0.34);
}

Test(crosstab, noise_widens_every_interval_and_weakens_the_test)
{
    const double counts[4] = {400, 200, 300, 300};
    struct crosstab_cells cells = {.cell = counts, .rows = 2, .columns = 2, .m = 5};
    double p = NAN;
    double before[4] = {0};
    for (int noise = 0; noise < 3; noise++) {
        cells.variance = 300.0 * noise;
        const struct estimate share = crosstab_share(&cells, 0);
        const struct estimate difference = crosstab_difference(&cells);
        const struct estimate odds = crosstab_odds_ratio(&cells);
        (void)crosstab_test(&p, &cells);
        const double now[4] = {share.high - share.low, difference.high - difference.low,
                               log(odds.high / odds.low), p};
        for (size_t i = 0; i < 4; i++) {
            cr_expect(now[i] > before[i], "figure %zu at noise %d: %g after %g", i, noise, now[i],
                      before[i]);
            before[i] = now[i];
        }
        cr_expect(odds.low < 2 && 2 < odds.high && difference.low < 1.0 / 6);
    }
}

Test(crosstab, is_refused_where_noise_leaves_no_meaning)
{
    double p = 0;
    struct crosstab_cells cells = read_cells("cells", 2, 1e6);
    cr_expect(isnan(crosstab_test(&p, &cells)) && isnan(p));
    cr_expect(isnan(crosstab_odds_ratio(&cells).low) && isnan(crosstab_share(&cells, 0).value));
    cr_expect(isnan(crosstab_difference(&cells).value));
    const double rare[4] = {900, 4, 880, 6};
    cells = (struct crosstab_cells){.cell = rare, .rows = 2, .columns = 2, .m = 5};
    cr_expect(isnan(crosstab_test(&p, &cells)), "an expected cell below 5");
    const double none[4] = {900, -3, 880, 40};
    cells = (struct crosstab_cells){.cell = none, .rows = 2, .columns = 2, .m = 5, .variance = 16};
    const struct estimate odds = crosstab_odds_ratio(&cells);
    cr_expect(isnan(odds.value) && odds.low > 1 && isnan(odds.high), "endless, and not refused");
}

/* Rows that are as large as they must be, and a little smaller. */
Test(crosstab, expects_what_a_table_of_equal_cells_gives)
{
    const struct crosstab_expected few = crosstab_expect(1000, 2, 5, 100);
    const struct crosstab_expected many = crosstab_expect(100000, 2, 5, 100);
    cr_expect(many.share < few.share && many.difference < few.difference);
    cr_expect(many.log_odds < few.log_odds && many.log_odds > 0);
    for (int more = 0; more < 2; more++) {
        const double by = more == 1 ? 1.001 : 0.999;
        cr_expect(isnan(crosstab_expect(2 * by * few.row, 2, 5, 100).share) == (more == 0));
        cr_expect(isnan(crosstab_expect(2 * by * few.row, 2, 5, 100).difference) == (more == 0));
        cr_expect(isnan(crosstab_expect(2 * by * few.row_of_odds, 2, 5, 100).log_odds) ||
                  more == 1);
    }
    cr_expect(isnan(crosstab_expect(1000, 3, 7, 100).difference), "of 2 x 2 alone");
}

/* The margins and the odds ratio of what is fitted are those that were asked for. */
Test(crosstab, fits_margins_and_odds)
{
    for (double theta = 1e-5; theta < 2e5; theta *= theta == 1e-5 ? 1e5 : 10) {
        for (double row = 0.5; row < 100; row += 19.9) {
            for (double column = 0.5; column < 100; column += 19.9) {
                const double a = crosstab_fitted(theta, row, column, 100);
                const double d = 100 - row - column + a;
                cr_assert(a >= 0 && d >= -1e-12 && a <= row && a <= column);
                cr_expect(fabs(a * d - theta * (row - a) * (column - a)) <
                              1e-10 * fmax(a * d, 1) * fmax(theta, 1),
                          "%g: %g of %g and %g", theta, a, row, column);
            }
        }
    }
}

/* For 3 x C equal cells: by the expected counts without noise, by the noise otherwise. */
Test(crosstab, tells_the_smallest_row_that_is_tested)
{
    for (size_t columns = 2; columns < 4; columns++) {
        for (double variance = 0.01; variance < 1000; variance *= 100) {
            for (int more = 0; more < 2; more++) {
                const double by = more == 1 ? 1.01 : 0.99;
                const double row = by * crosstab_row_of_test(columns, variance);
                double cell[9];
                double p = 0;
                for (size_t i = 0; i < 3 * columns; i++) {
                    cell[i] = row / (double)columns;
                }
                (void)crosstab_test(
                    &p, &(struct crosstab_cells){cell, 3, columns, 3 * columns + 1, variance});
                cr_expect(isnan(p) == (more == 0), "%zu columns, variance %g: %g", columns,
                          variance, p);
            }
        }
    }
}

/* Cohen's tables have 7.85, 9.63, 11.94 and 15.02 for 1, 2, 4 and 8 degrees of freedom, at 5 % and a power of 0.8. */
Test(crosstab, finds_what_is_tabulated)
{
    const struct {
        size_t freedom;
        double noncentrality;
    } cases[] = {{1, 7.85}, {2, 9.63}, {4, 11.94}, {8, 15.02}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double found = chi_squared_found(cases[i].freedom);
        cr_expect(fabs(found - cases[i].noncentrality) < 0.01, "%zu: %g", cases[i].freedom, found);
    }
    cr_expect(chi_squared_found(CROSSTAB_BLOCK_MAX) < 60);
}

/* A table with the effect that is told has the statistic that is found in four of five studies, noise included. */
Test(crosstab, tells_the_effect_that_the_test_finds)
{
    for (double variance = 0; variance < 2000; variance = 10 * variance + 1) {
        const double records = 3000;
        const double two = crosstab_expect_test(records, 2, 2, variance);
        const double three = crosstab_expect_test(records, 3, 3, variance);
        double fourfold[4];
        double ninefold[9];
        double p = 0;
        for (size_t i = 0; i < 4; i++) {
            fourfold[i] = records / 4 * (1 + (i == 0 || i == 3 ? two : -two));
        }
        for (size_t i = 0; i < 9; i++) {
            const double row = 1 - (double)(i / 3);
            const double column = 1 - (double)(i % 3);
            ninefold[i] = records / 9 * (1 + 1.5 * three * row * column);
        }
        const double of_two =
            crosstab_test(&p, &(struct crosstab_cells){fourfold, 2, 2, 5, variance});
        const double of_three =
            crosstab_test(&p, &(struct crosstab_cells){ninefold, 3, 3, 10, variance});
        cr_expect(fabs(of_two - chi_squared_found(1)) < 1e-6, "%g: %g", variance, of_two);
        cr_expect(fabs(of_three - chi_squared_found(4)) < 1e-6, "%g: %g", variance, of_three);
    }
    cr_expect(isnan(crosstab_expect_test(100, 2, 2, 400)));
}

/* Without noise the normal approximation's widths, and with it no more of a row than it has. */
Test(crosstab, expects_wider_intervals_of_a_small_row)
{
    const struct crosstab_cells quiet = {NULL, 2, 2, 5, 1e-6};
    const struct crosstab_cells noisy = {NULL, 2, 2, 5, 400};
    const struct crosstab_expected told = crosstab_expect_small(20000, 0.1, &quiet);
    const double share = 1.96 * sqrt(0.25 / 2000);
    const double difference = 1.96 * sqrt(0.25 / 2000 + 0.25 / 18000);
    const double odds = 1.96 * sqrt(4.0 / 2000 + 4.0 / 18000);
    cr_expect(fabs(told.share / share - 1) < 0.01, "%g", told.share);
    cr_expect(fabs(told.difference / difference - 1) < 0.01, "%g", told.difference);
    cr_expect(fabs(told.log_odds / odds - 1) < 0.01, "%g", told.log_odds);
    for (int more = 0; more < 2; more++) {
        const struct crosstab_expected own = crosstab_expect_small(20000, 0.1, &noisy);
        const double enough = (more == 1 ? 1.01 : 0.99) * own.row / 0.1;
        const struct crosstab_expected again = crosstab_expect_small(enough, 0.1, &noisy);
        cr_expect(isnan(again.share) == (more == 0) && isnan(again.difference) == (more == 0));
    }
    cr_expect(fabs(crosstab_expect_count(1, 17, 100) / (2.1183 * sqrt(100 * 16.0 / 17)) - 1) <
              1e-9);
    cr_expect(fabs(crosstab_expect_count(4, 17, 100) / (2.1183 * sqrt(100 * 4 * 13.0 / 17)) - 1) <
              1e-9);
}

/* Noise has left more than all in the second column: whatever the share is, its interval is Wilson's of a share of 1 at least. */
Test(crosstab, a_share_that_noise_lifts_above_one_keeps_its_interval)
{
    const double z = ESTIMATE_Z;
    for (double over = 0; over <= 100; over += 10) {
        for (int turned = 0; turned < 2; turned++) {
            const double cell[4] = {-over, 1000 + over, 1000 + over, -over};
            const struct crosstab_cells cells = {cell, 2, 2, 5, 16};
            const struct estimate own = crosstab_share(&cells, turned == 0 ? 0 : 1);
            const double wilson = z * z / (1000 + z * z);
            cr_expect(own.high - own.low >= wilson, "%g: %g .. %g", over, own.low, own.high);
            cr_expect(own.value == (turned == 0 ? 1 : 0));
        }
    }
}

/* Independent columns of 3,000 and 400 records, three quarters in the first category, and noise that adds 50 to both cells of the small
 * row, as it does on average where it makes the least expected cell large enough to be shown. Near that limit this is no evidence; where
 * the noise could not have done it, it is. */
Test(crosstab, does_not_take_for_evidence_what_let_the_test_be_shown)
{
    const double cell[4] = {2250, 750, 350, 150};
    struct crosstab_cells cells = {cell, 2, 2, 5, 640};
    double p = NAN;
    (void)crosstab_test(&p, &cells);
    cr_expect(p > 0.9, "%g", p);
    cells.variance = 64;
    (void)crosstab_test(&p, &cells);
    cr_expect(p < 0.1, "%g", p);
}
