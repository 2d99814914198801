/* The C-index of binned scores and times against R's `survival`, what the noise does to it, and when it is refused. */

#include "estimate/concordance.h"

#include "estimate/cells.h"
#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { BINS = 8, GROUPS = 2, CELLS = CONCORDANCE_CELLS(GROUPS, BINS), DRAWS = 4000 };

static struct concordance_cells known(double *cell, double variance)
{
    cr_assert(vector_read(cell, CELLS, vectors("concordance"), "cells") == CELLS);
    return (struct concordance_cells){cell, GROUPS, BINS, variance};
}

Test(concordance, without_noise_is_r_s_with_its_error)
{
    static const char *const name[] = {"women", "men", "all"};
    double cell[CELLS];
    const struct concordance_cells cells = known(cell, 0);
    for (size_t g = 0; g <= GROUPS; g++) {
        double of[4];
        cr_assert(vector_read(of, 4, vectors("concordance"), name[g]) == 4);
        const struct estimate index = concordance_index(&cells, g).estimate;
        cr_expect(fabs(index.value - of[0]) < 1e-12, "%s: %.15g", name[g], index.value);
        cr_expect(fabs(index.sampling / of[1] - 1) < 1e-9, "%s: %.15g", name[g], index.sampling);
        cr_expect(index.noise == 0);
        cr_expect(fabs(index.high - of[0] - ESTIMATE_Z * of[1]) < 1e-9);
        cr_expect(concordance_events(&cells, g).estimate.value == of[2]);
        cr_expect(concordance_size(&cells, g).estimate.value == of[3]);
    }
}

/* Each of one record, so that each kind of pair can be seen. */
Test(concordance, compares_the_pairs_that_can_be)
{
    const struct {
        size_t death; /* its row */
        size_t other;
        bool is_compared;
    } pair[] = {
        {2, 3, true},         /* a later death */
        {2, 1, true},         /* an earlier one: then that is the first */
        {2, 2, false},        /* the same interval */
        {2, BINS + 2, true},  /* last seen in it */
        {2, BINS + 1, false}, /* last seen before */
        {2, 2 * BINS, true},  /* there at the end */
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        double cell[CONCORDANCE_CELLS(1, BINS)] = {0};
        const struct concordance_cells cells = {cell, 1, BINS, 0};
        cell[pair[i].death * BINS + 5] += 2;
        cell[pair[i].other * BINS + 3] += 1;
        const double value = concordance_index(&cells, 0).estimate.value;
        const bool is_first = pair[i].other >= BINS || pair[i].death < pair[i].other;
        cr_expect(pair[i].is_compared ? value == (is_first ? 1 : 0) : isnan(value), "%zu: %g", i,
                  value);
    }
}

/* Mean and deviation of the noise over 4,000 draws, of the second group: the deviation errs by 1.1 %, the mean by 1.6 % of it; 6 %
 * and 8 % have false alarms below 1e-6. */
Test(concordance, knows_its_noise_and_is_not_biased_by_it)
{
    static const double sd[] = {6, 14};
    for (size_t i = 0; i < 2; i++) {
        struct seeded_random seeded;
        double exact[CELLS];
        double sum = 0;
        double square = 0;
        double told = 0;
        const struct concordance_cells without = known(exact, 0);
        const double truth = concordance_index(&without, 1).estimate.value;
        seeded_random_init(&seeded, 9 + i);
        for (int draw = 0; draw < DRAWS; draw++) {
            double cell[CELLS];
            for (size_t k = 0; k < CELLS; k++) {
                cell[k] = exact[k] + sd[i] * seeded_random_normal(&seeded);
            }
            cells_balance(cell, CELLS, 7874);
            const struct concordance_cells cells = {cell, GROUPS, BINS, sd[i] * sd[i]};
            const struct estimate index = concordance_index(&cells, 1).estimate;
            cr_assert(!isnan(index.value));
            sum += index.value / DRAWS;
            square += index.value * index.value / DRAWS;
            told += index.noise / DRAWS;
        }
        const double found = sqrt(square - sum * sum);
        cr_log_info("found %g, told %g; mean %g of %g", found, told, sum, truth);
        cr_expect(fabs(found / told - 1) < 0.06, "%g, told %g", found, told);
        cr_expect(fabs(sum - truth) < 0.08 * found + 0.001, "mean %g of %g", sum, truth);
    }
}

static double laplace(struct seeded_random *seeded)
{
    return log((1 - seeded_random_unit(seeded)) / (1 - seeded_random_unit(seeded))) / sqrt(2);
}

/* 80 of 1,000 records have the event, all with a score in the upper of four bins; the others' scores are even. 80 events are
 * about two deviations of the noise below the limit. So in the answers that are shown noise has added events and moved the index
 * towards 1/2. If intervals hold in 93.5 %, fewer than 91 % of 3,000 hold with a probability of 10^-7. Planted: the bar of the
 * noisy counts alone. */
Test(concordance, holds_where_few_are_shown_and_what_was_found_alone_does_not)
{
    enum { FEW = 4, FEW_CELLS = CONCORDANCE_CELLS(1, FEW), RARE_DRAWS = 200000 };
    const double sd = 8;
    struct seeded_random seeded;
    double exact[FEW_CELLS] = {0};
    double shown = 0;
    double holds = 0;
    double planted = 0;
    for (size_t k = 0; k < FEW; k++) {
        exact[k * FEW + FEW - 1] = 20;
        exact[2 * FEW * FEW + k] = 230;
    }
    const struct concordance_cells without = {exact, 1, FEW, 0};
    const double truth = concordance_index(&without, 0).estimate.value;
    seeded_random_init(&seeded, 12);
    for (int draw = 0; draw < RARE_DRAWS; draw++) {
        double cell[FEW_CELLS];
        for (size_t k = 0; k < FEW_CELLS; k++) {
            cell[k] = exact[k] + sd * laplace(&seeded);
        }
        cells_balance(cell, FEW_CELLS, 1000);
        const struct concordance_cells cells = {cell, 1, FEW, sd * sd};
        const struct table1_figure index = concordance_index(&cells, 0);
        if (isnan(index.estimate.value)) {
            continue;
        }
        shown++;
        holds += index.noise_low <= truth && truth <= index.noise_high;
        planted += fabs(index.estimate.value - truth) <= ESTIMATE_Z_NOISE * index.estimate.noise;
    }
    cr_log_info("%g shown; %g hold, planted %g", shown, holds / shown, planted / shown);
    cr_assert(shown > 0.01 * RARE_DRAWS && shown < 0.1 * RARE_DRAWS);
    cr_expect(holds / shown > 0.91, "%g", holds / shown);
    cr_expect(planted / shown < 0.85, "planted: %g", planted / shown);
}

Test(concordance, noise_widens_and_refuses_and_says_what_is_enough)
{
    double cell[CELLS];
    double before = 0;
    for (double variance = 0; variance < 300; variance += 50) {
        const struct concordance_cells cells = known(cell, variance);
        const struct table1_figure index = concordance_index(&cells, 0);
        const double width = index.estimate.high - index.estimate.low;
        cr_expect(width > before && index.factor < 1, "%g: %g after %g", variance, width, before);
        before = width;
    }
    for (double variance = 1e5; variance < 1e8; variance *= 10) {
        struct concordance_cells cells = known(cell, variance);
        const double factor = concordance_index(&cells, 0).factor;
        cr_expect(factor > 1 && isnan(concordance_index(&cells, 0).estimate.value));
        /* Products of noises fall faster than the noise. */
        cells.variance = variance / factor / factor * 0.98;
        cr_expect(!isnan(concordance_index(&cells, 0).estimate.value), "%g", factor);
    }
    memset(cell, 0, sizeof cell);
    cell[2 * BINS * BINS] = 500; /* nobody has the event */
    const struct concordance_cells none = {cell, GROUPS, BINS, 1};
    cr_expect(isnan(concordance_index(&none, 0).estimate.value));
}

Test(concordance, plans_more_bins_where_there_is_less_noise)
{
    const struct table1_public little = {1000, 2, 500};
    const struct table1_public much = {25000, 2, 2};
    double few = 0;
    double many = 0;
    cr_expect(concordance_plan(&little) == CONCORDANCE_BINS_MIN);
    cr_expect(concordance_plan(&much) == CONCORDANCE_BINS_MAX);
    const double wide = concordance_expect(&many, &little, CONCORDANCE_BINS_MIN);
    const double narrow = concordance_expect(&few, &much, CONCORDANCE_BINS_MAX);
    cr_expect(isnan(wide) || wide > narrow);
    cr_expect(narrow < 0.03 && few < many, "%g; %g and %g records", narrow, few, many);
}

Test(concordance, expects_more_of_all_groups_together_and_the_noise_of_numbers_of_records)
{
    const struct table1_public known = {20000, 2, 16};
    const struct table1_public one = {20000, 1, 16};
    double of_group = 0;
    double of_all = 0;
    double alone = 0;
    const double group = concordance_expect(&of_group, &known, 6);
    const double all = concordance_expect_all(&of_all, &known, 6);
    const double single = concordance_expect(&alone, &one, 6);
    cr_expect(all < group && all > single, "%g, %g, %g", all, group, single);
    cr_expect(of_all > of_group && of_all > alone, "%g, %g, %g", of_all, of_group, alone);
    /* A sum of k of m cells has the variance k (1 - k/m), each cell one of 16. */
    const struct concordance_cells shape = {.groups = 2, .bins = 6, .variance = 16};
    const double m = CONCORDANCE_CELLS(2, 6);
    const double k[2][2] = {{(m - 1) / 2, m - 1}, {36, 72}};
    for (int with = 0; with < 2; with++) {
        const struct table1_counted told = concordance_expect_count(&shape, with == 1);
        const double own[] = {told.group, told.all};
        for (size_t i = 0; i < 2; i++) {
            const double bar = ESTIMATE_Z_NOISE * 4 * sqrt(k[with][i] * (1 - k[with][i] / m));
            cr_expect(fabs(own[i] / bar - 1) < 1e-9, "%d, %zu: %g is not %g", with, i, own[i], bar);
        }
    }
}
