/* Correlations: against R, what noise does, and what is refused. */

#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 4, CELLS = 1 + COLUMNS + COLUMNS * (COLUMNS + 1) / 2, PAIRS = 6 };
enum { FOURTH_CELLS = 2 * COLUMNS + 5 * PAIRS };
enum { DRAWS = 4000, TWO_CELLS = 6, FOUR_CELLS = CORRELATE_CELLS_OF_TWO, LENGTHS = 801 };

static const bool is_two[COLUMNS] = {[3] = true};
static const size_t pair[PAIRS][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static void near(double got, double expected, double by, const char *what)
{
    cr_expect(fabs(got - expected) <= by, "%s: %.10g is not %.10g", what, got, expected);
}

Test(correlate, without_noise_is_r_s)
{
    const json_t *known = vectors("correlate");
    double cell[CELLS];
    double correlation[PAIRS];
    double p[PAIRS];
    struct correlate all;
    cr_assert(vector_read(cell, CELLS, known, "cells") == CELLS);
    cr_assert(vector_read(correlation, PAIRS, known, "correlations") == PAIRS);
    cr_assert(vector_read(p, PAIRS, known, "p_normal") == PAIRS);
    const struct correlate_moments moments = {cell, COLUMNS, 0, is_two, 0, 7874};
    correlate_init(&all, &moments);
    near(correlate_size(&all).estimate.value, 2 * cell[0], 1e-9, "records");
    for (size_t k = 0; k < PAIRS; k++) {
        const struct table1_figure figure = correlate_pair(&all, pair[k][0], pair[k][1]);
        const double width = figure.estimate.high - figure.estimate.low;
        near(figure.estimate.value, correlation[k], 1e-9, "correlation");
        near(log(correlate_test(&all, pair[k][0], pair[k][1])), log(p[k]), 1e-6, "p");
        cr_expect(figure.noise_low == figure.noise_high && figure.estimate.noise == 0);
        cr_expect(width >
                      2 * ESTIMATE_Z * (1 - correlation[k] * correlation[k]) / sqrt(2 * cell[0]),
                  "as for normal columns at least");
    }
}

Test(correlate, with_fourth_moments_is_r_s)
{
    const json_t *known = vectors("correlate");
    double cell[CELLS + FOURTH_CELLS];
    double correlation[PAIRS];
    double error[PAIRS];
    double log_p[PAIRS];
    struct correlate all;
    cr_assert(vector_read(cell, CELLS, known, "cells") == CELLS);
    cr_assert(vector_read(cell + CELLS, FOURTH_CELLS, known, "fourth") == FOURTH_CELLS);
    cr_assert(correlate_fourth_cells(COLUMNS) == FOURTH_CELLS);
    cr_assert(vector_read(correlation, PAIRS, known, "correlations") == PAIRS);
    cr_assert(vector_read(error, PAIRS, known, "errors") == PAIRS);
    cr_assert(vector_read(log_p, PAIRS, known, "log_p_robust") == PAIRS);
    const struct correlate_moments moments = {cell, COLUMNS, 1, is_two, 0, 7874};
    correlate_init(&all, &moments);
    for (size_t k = 0; k < PAIRS; k++) {
        const size_t i = pair[k][k % 2]; /* either order */
        const size_t j = pair[k][1 - k % 2];
        const struct table1_figure figure = correlate_pair(&all, i, j);
        near(figure.estimate.value, correlation[k], 1e-9, "correlation");
        near(figure.estimate.sampling, error[k], 1e-9, "error");
        near(fmax(log(correlate_test(&all, i, j)), -700), fmax(log_p[k], -700), 1e-6, "p");
        /* An end of the interval has the error at that end. A little is added for the chance of few records. */
        const double end = figure.estimate.high;
        const double own = error[k] * (1 - end * end) / (1 - correlation[k] * correlation[k]);
        const double longer = (end - correlation[k]) / ESTIMATE_Z / own;
        cr_expect(longer >= 1 && longer < 1.1, "%zu: end %g, %g times", k, end, longer);
    }
}

/* (6) of two columns of mean `mean`, variance `variance`, correlation r */
static void cells_of_two(double *cell, double records, double mean, double variance, double r)
{
    const double square = records * (variance + mean * mean) / 2;
    cell[0] = records / 2;
    cell[1] = cell[2] = records * mean;
    cell[3] = cell[5] = square;
    cell[4] = records * (r * variance + mean * mean);
}

static struct table1_figure pair_of(const double *cell, double variance, bool two)
{
    const bool both[] = {two, two};
    const struct correlate_moments moments = {cell, 2, 0, both, variance, 2 * cell[0]};
    struct correlate all;
    correlate_init(&all, &moments);
    return correlate_pair(&all, 0, 1);
}

/* For two fair coins the variance of r is (1 - r^2)/n. Other values in [-1, 1] may vary more. */
Test(correlate, knows_the_table_of_two_values_and_bounds_all_else)
{
    double cell[TWO_CELLS];
    cells_of_two(cell, 1000, 0, 1, 0.5);
    near(pair_of(cell, 0, true).estimate.sampling, sqrt(0.75 / 1000), 1e-12, "coins");
    cr_expect(pair_of(cell, 0, false).estimate.sampling >= sqrt(0.75 / 1000));
    cells_of_two(cell, 1000, 0, 0.1, 0);
    /* Half of the records at 0, the others at the ends at once with independent signs: psi is +-1/variance. */
    near(pair_of(cell, 0, false).estimate.sampling, sqrt(1 / 0.1 / 1000), 1e-12, "the worst");
}

/* Mean and deviation of the noise of r over 4,000 draws: the deviation errs by 1.1 %, the mean by 1.6 % of it; 6 % and 8 % have
 * false alarms below 1e-6. */
Test(correlate, knows_its_noise_and_is_not_biased_by_it)
{
    struct seeded_random seeded;
    double exact[TWO_CELLS];
    double sum = 0;
    double square = 0;
    double told = 0;
    seeded_random_init(&seeded, 4);
    cells_of_two(exact, 20000, -0.3, 0.12, 0.6);
    for (int draw = 0; draw < DRAWS; draw++) {
        double cell[TWO_CELLS];
        for (size_t k = 0; k < TWO_CELLS; k++) {
            cell[k] = exact[k] + 30 * seeded_random_normal(&seeded);
        }
        const struct estimate own = pair_of(cell, 900, false).estimate;
        sum += own.value / DRAWS;
        square += own.value * own.value / DRAWS;
        told += own.noise / DRAWS;
    }
    const double found = sqrt(square - sum * sum);
    cr_expect(fabs(found / told - 1) < 0.06, "%g, told %g", found, told);
    cr_expect(fabs(sum - 0.6) < 0.08 * found + 0.0005, "mean %g", sum);
}

/* If half are shown, they are those whose variances noise has made larger. Planted: r from these variances. */
Test(correlate, does_not_shrink_what_noise_has_let_through)
{
    struct seeded_random seeded;
    double exact[TWO_CELLS];
    double sum = 0;
    double plain = 0;
    double shown = 0;
    const double sd = 0.15 * 0.1 / 2 * 20000; /* the noise of a variance is 15 % of it */
    seeded_random_init(&seeded, 5);
    cells_of_two(exact, 20000, 0, 0.1, 0.9);
    for (int draw = 0; draw < 4 * DRAWS; draw++) {
        double cell[TWO_CELLS];
        for (size_t k = 0; k < TWO_CELLS; k++) {
            cell[k] = exact[k] + sd * seeded_random_normal(&seeded);
        }
        const struct table1_figure figure = pair_of(cell, sd * sd, false);
        if (!isnan(figure.estimate.value)) {
            sum += figure.estimate.value;
            plain += cell[4] / 2 / sqrt(cell[3] * cell[5]);
            shown++;
        }
    }
    cr_assert(shown > DRAWS / 2 && shown < 2 * DRAWS);
    cr_expect(fabs(sum / shown - 0.9) < 0.05, "%g", sum / shown);
    cr_expect(plain / shown < 0.83, "planted: %g", plain / shown);
}

/* Independent columns whose correlation is barely shown. The sampling error at a correlation of 0 is too small for these, the
 * interval's ends are not. So a p-value is raised to 0.05 if it would be less and the interval holds 0. This happens in some
 * draws. */
Test(correlate, tests_by_fourth_moments_reject_only_where_the_interval_leaves_0_out)
{
    struct seeded_random seeded;
    double exact[FOUR_CELLS];
    double shown = 0;
    double rejected = 0;
    double mended = 0;
    const bool both[] = {false, false};
    const double sd = 0.15 * 0.1 / 2 * 20000; /* the noise of a variance is 15 % of it */
    const struct correlate_like like = {20000, {0, 0}, {0.1, 0.1}};
    seeded_random_init(&seeded, 6);
    correlate_fill(exact, &like, 64);
    for (int draw = 0; draw < 4 * DRAWS; draw++) {
        double cell[FOUR_CELLS];
        struct correlate all;
        for (size_t k = 0; k < FOUR_CELLS; k++) {
            cell[k] = exact[k] + sd * seeded_random_normal(&seeded);
        }
        const struct correlate_moments moments = {cell, 2, 64, both, sd * sd, 20000};
        correlate_init(&all, &moments);
        const struct estimate own = correlate_pair(&all, 0, 1).estimate;
        const double p = correlate_test(&all, 0, 1);
        cr_assert(isnan(own.value) == isnan(p));
        if (isnan(p)) {
            continue;
        }
        const bool holds = own.low <= 0 && own.high >= 0;
        cr_expect(p >= 0.05 || !holds, "p %g, %g to %g", p, own.low, own.high);
        shown++;
        rejected += p < 0.05;
        mended += holds && p <= 0.05;
    }
    cr_log_info("of %g shown %g are rejected, and %g would be", shown, rejected, rejected + mended);
    cr_assert(shown > DRAWS / 2);
    cr_expect(rejected / shown < 0.06 && mended > 0, "%g and %g", rejected, mended);
}

Test(correlate, noise_widens_and_refuses_and_says_what_is_enough)
{
    double cell[TWO_CELLS];
    double before = 0;
    cells_of_two(cell, 5000, 0.1, 0.11, -0.4);
    for (double variance = 0; variance < 1600; variance += 300) {
        const struct table1_figure figure = pair_of(cell, variance, false);
        const double width = figure.estimate.high - figure.estimate.low;
        cr_expect(width > before && figure.factor < 1, "%g: %g after %g", variance, width, before);
        before = width;
    }
    for (double variance = 1e4; variance < 1e6; variance *= 10) {
        const double factor = pair_of(cell, variance, false).factor;
        cr_expect(factor > 1 && isnan(pair_of(cell, variance, false).estimate.value));
        cr_expect(!isnan(pair_of(cell, variance / factor / factor * 0.98, false).estimate.value));
        cr_expect(isnan(pair_of(cell, variance / factor / factor * 1.02, false).estimate.value));
    }
    cells_of_two(cell, 5000, 0.1, 0, 0); /* nothing varies */
    cr_expect(isnan(pair_of(cell, 1, false).estimate.value));
    cells_of_two(cell, 20, 0, 0.1, 0.5);
    cr_expect(isnan(pair_of(cell, 0, false).estimate.value), "too few");
}

Test(correlate, stays_between_its_ends_when_noise_takes_it_beyond)
{
    double cell[TWO_CELLS];
    cells_of_two(cell, 20000, 0, 0.1, 0.99);
    cell[4] *= 1.03;
    const struct table1_figure figure = pair_of(cell, 900, false);
    cr_expect(figure.estimate.value == 1 && figure.estimate.high <= 1);
    cr_expect(figure.estimate.low > 0.8 && figure.estimate.low < 1);
}

/* The weight by the noise: none if the bound is enough, else at most half of its deviation. */
Test(correlate, plans_fourth_moments_by_the_noise)
{
    const struct correlate_public much = {.records = 25000, .variance = 300000, .columns = 2};
    const struct correlate_public some = {.records = 25000, .variance = 400, .columns = 2};
    const struct correlate_public little = {.records = 25000, .variance = 5, .columns = 2};
    const struct correlate_public of_eight = {.records = 25000, .variance = 100, .columns = 8};
    const struct correlate_public of_others = {
        .records = 25000, .variance = 100, .columns = 8, .moves = 400};
    const struct correlate_public gaussian = {
        .records = 25000, .variance = 100, .columns = 8, .is_gaussian = true};
    double few = 0;
    double many = 0;
    cr_expect(correlate_plan(&much, 256) == 0);
    cr_expect(correlate_plan(&some, 256) == 8); /* 20 times 1.21 is the noise then */
    cr_expect(correlate_plan(&little, 256) == 2);
    cr_expect(correlate_plan(&of_eight, 256) == 4 && correlate_plan(&of_others, 256) == 4);
    cr_expect(correlate_plan(&gaussian, 256) == 4);
    cr_expect(correlate_plan(&some, 4) == 4 && correlate_plan(&some, 0) == 0);
    const double wide = correlate_expect(&many, &much, 0);
    const double narrow = correlate_expect(&few, &little, 1);
    cr_expect(isnan(wide) || wide > narrow);
    cr_expect(narrow < 0.02 && few < many, "%g; %g and %g records", narrow, few, many);
}

static int by_size(const void *a, const void *b)
{
    const double first = *(const double *)a;
    const double second = *(const double *)b;
    return (first > second) - (first < second);
}

/* The length of the interval of two independent normal columns, in the middle of 801 studies. Almost all are given. */
static double middle_length(const struct correlate_public *known, uint32_t fourth)
{
    struct seeded_random seeded;
    double length[LENGTHS];
    double exact[FOUR_CELLS] = {0};
    size_t given = 0;
    const bool are_two[] = {false, false};
    const struct correlate_like like = {known->records, {0, 0}, {1.0 / 9, 1.0 / 9}};
    seeded_random_init(&seeded, 7);
    correlate_fill(exact, &like, fourth);
    for (size_t study = 0; study < LENGTHS; study++) {
        double cell[FOUR_CELLS];
        for (size_t k = 0; k < FOUR_CELLS; k++) {
            cell[k] = exact[k] + sqrt(known->variance) * seeded_random_normal(&seeded);
        }
        cell[4] += sqrt(known->records) / 9 * seeded_random_normal(&seeded);
        const struct correlate_moments moments = {
            cell, 2, fourth, are_two, known->variance, known->records};
        struct correlate all;
        correlate_init(&all, &moments);
        const struct estimate own = correlate_pair(&all, 0, 1).estimate;
        length[given] = own.high - own.low;
        given += !isnan(own.value);
    }
    cr_assert(given > LENGTHS * 9 / 10, "%zu", given);
    qsort(length, given, sizeof *length, by_size);
    return length[given / 2];
}

/* The middle length errs by 1 % at most, as single ones vary by less than a fifth; 6 % has false alarms below 1e-6. */
Test(correlate, is_expected_to_be_as_long_as_it_becomes)
{
    static const struct {
        struct correlate_public known;
        uint32_t fourth;
    } cases[] = {
        {{.records = 20000, .variance = 16000}, 0}, {{.records = 20000, .variance = 10000}, 0},
        {{.records = 20000, .variance = 100}, 0},   {{.records = 20000, .variance = 500}, 8},
        {{.records = 20000, .variance = 100}, 4},   {{.records = 20000, .variance = 1}, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double least = 0;
        const double half = correlate_expect(&least, &cases[i].known, cases[i].fourth);
        const double found = middle_length(&cases[i].known, cases[i].fourth);
        cr_expect(fabs(2 * half / found - 1) < 0.06, "%zu: %g, found %g", i, 2 * half, found);
        const struct correlate_public fewer = {.records = least * 0.98,
                                               .variance = cases[i].known.variance};
        const struct correlate_public enough = {.records = least * 1.02,
                                                .variance = cases[i].known.variance};
        double again = 0;
        cr_expect(isnan(correlate_expect(&again, &fewer, cases[i].fourth)));
        cr_expect(!isnan(correlate_expect(&again, &enough, cases[i].fourth)));
    }
}

Test(correlate, expects_the_interval_of_the_number_of_records)
{
    const double cell[TWO_CELLS] = {500};
    const bool both[2] = {false};
    const struct correlate_moments moments = {cell, 2, 0, both, 9, 5000};
    struct correlate all;
    correlate_init(&all, &moments);
    const struct table1_figure size = correlate_size(&all);
    cr_expect(fabs((size.noise_high - size.noise_low) / 2 - correlate_expect_count(9)) < 1e-9);
}
