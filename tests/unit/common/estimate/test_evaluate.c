/* A score judged by an event: against R, what noise does, and what is refused. */

#include "estimate/cells.h"
#include "estimate/evaluate.h"
#include "estimate/regress.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

#define SD_OF_CELL 8.0

enum { LEVELS = 8, CELLS = 2 * LEVELS + 2, DRAWS = 4000 };

static struct table1_column column_of(double *cell, double variance)
{
    static struct table1_sizes sizes;
    struct table1_column column;
    const struct table1_block block = {cell, 2 * LEVELS, NULL, variance};
    double records = 0;
    for (size_t k = 0; k < CELLS; k++) {
        records += cell[k];
    }
    table1_agree(&sizes, &block, 1, 1, records);
    table1_column_of(&column, &block, &sizes, 0);
    return column;
}

static void near(double got, double expected, double by, const char *what)
{
    cr_expect(fabs(got - expected) <= by, "%s: %.10g is not %.10g", what, got, expected);
}

/* known: a share with its ends by Wilson's score */
static void is_share(const struct table1_figure *figure, const double *known, const char *what)
{
    near(figure->estimate.value, known[0], 1e-9, what);
    near(figure->estimate.low, known[1], 1e-7, what);
    near(figure->estimate.high, known[2], 1e-7, what);
}

static void read_cells(double *cell)
{
    memset(cell, 0, CELLS * sizeof *cell);
    cr_assert(vector_read(cell, 2 * LEVELS, vectors("evaluate"), "cells") == 2 * LEVELS);
}

Test(evaluate, without_noise_is_r_s)
{
    const json_t *known = vectors("evaluate");
    double cell[CELLS];
    double ratio[3 * EVALUATE_BANDS];
    read_cells(cell);
    const struct table1_column column = column_of(cell, 0);
    const struct table1_figure auc = evaluate_auc(&column);
    const double error = vector_one(known, "auc_error");
    near(auc.estimate.value, vector_one(known, "auc"), 1e-9, "AUC");
    near(auc.estimate.sampling, error, 1e-9, "DeLong's error");
    near(auc.estimate.high, auc.estimate.value + ESTIMATE_Z * error, 1e-8, "high");
    const struct evaluate_cut cut = evaluate_cut(&column, 4);
    cr_assert(vector_read(ratio, 3, known, "accuracy") == 3);
    is_share(&cut.accuracy, ratio, "accuracy");
    cr_assert(vector_read(ratio, 3, known, "sensitivity") == 3);
    is_share(&cut.sensitivity, ratio, "sensitivity");
    cr_assert(vector_read(ratio, 3, known, "specificity") == 3);
    is_share(&cut.specificity, ratio, "specificity");
    cr_assert(vector_read(ratio, 3 * EVALUATE_BANDS, known, "calibration") == 3 * EVALUATE_BANDS);
    for (size_t band = 0; band < EVALUATE_BANDS; band++) {
        const struct table1_figure own = evaluate_band(&column, band);
        is_share(&own, ratio + 3 * band, "calibration");
    }
}

Test(evaluate, net_benefits_without_noise_are_r_s)
{
    const json_t *known = vectors("evaluate");
    double cell[CELLS];
    double of[2][2 * (EVALUATE_BANDS - 1)];
    double large[2];
    double edge[LEVELS + 1];
    read_cells(cell);
    const struct table1_column column = column_of(cell, 0);
    cr_assert(vector_read(of[0], 14, known, "net_benefit") == 14);
    cr_assert(vector_read(of[1], 14, known, "of_all") == 14);
    for (size_t k = 1; k < LEVELS; k++) {
        for (size_t all = 0; all < 2; all++) {
            const struct table1_figure own =
                evaluate_net_benefit(&column, all == 1 ? 0 : k, (double)k / LEVELS);
            near(own.estimate.value, of[all][2 * k - 2], 1e-9, "net benefit");
            near(own.estimate.sampling, of[all][2 * k - 1], 1e-9, "its error");
            const double width = ESTIMATE_Z * of[all][2 * k - 1];
            /* Its variance moves with the value that is tested, most where few are treated. */
            near(own.estimate.high - own.estimate.low, 2 * width, 0.1 * width, "its width");
        }
    }
    for (size_t k = 0; k <= LEVELS; k++) {
        edge[k] = (double)k / LEVELS;
    }
    const struct table1_figure own = evaluate_in_the_large(&column, edge);
    cr_assert(vector_read(large, 2, known, "in_the_large") == 2);
    near(own.estimate.value, large[0], 1e-9, "in the large");
    near(own.estimate.sampling, large[1], 1e-3 * large[1], "its error");
    const double half = 0.5 / LEVELS;
    near(own.estimate.high, large[0] + half + ESTIMATE_Z * large[1], 1e-4, "high");
}

/* Eight records are treated at a high threshold: too few for an interval. */
Test(evaluate, a_net_benefit_of_few_who_are_treated_is_refused)
{
    double cell[CELLS] = {0};
    cell[0] = 500;
    cell[LEVELS] = 100;
    cell[6] = 4;
    cell[LEVELS + 6] = 4;
    const struct table1_column column = column_of(cell, 0);
    const struct table1_figure few = evaluate_net_benefit(&column, 6, 0.75);
    cr_expect(isnan(few.estimate.value) && fabs(few.factor - 10.0 / 8) < 1e-9, "%g", few.factor);
    cr_expect(!isnan(evaluate_net_benefit(&column, 0, 0.75).estimate.value));
    const struct table1_column noisy = column_of(cell, 400);
    cr_expect(isnan(evaluate_net_benefit(&noisy, 0, 0.75).estimate.value));
    cr_expect(evaluate_net_benefit(&noisy, 0, 0.75).factor > 1);
}

/* Mean and deviation of the noise of an AUC over 4,000 draws: the deviation errs by 1.1 %, the mean by 1.6 % of it; 6 % and 8 % have
 * false alarms below 1e-6. */
Test(evaluate, knows_the_noise_of_the_auc_and_is_not_biased_by_it)
{
    struct seeded_random seeded;
    double exact[CELLS] = {0};
    double sum = 0;
    double square = 0;
    double told = 0;
    seeded_random_init(&seeded, 9);
    for (size_t k = 0; k < LEVELS; k++) {
        exact[k] = 100 - 10 * (double)k;
        exact[LEVELS + k] = 5 + 10 * (double)k;
    }
    double records = 0;
    for (size_t k = 0; k < CELLS; k++) {
        records += exact[k];
    }
    const struct table1_column without = column_of(exact, 0);
    const double truth = evaluate_auc(&without).estimate.value;
    for (int draw = 0; draw < DRAWS; draw++) {
        double cell[CELLS];
        struct table1_sizes sizes;
        struct table1_column column;
        for (size_t k = 0; k < CELLS; k++) {
            cell[k] = exact[k] + 12 * seeded_random_normal(&seeded);
        }
        const struct table1_block block = {cell, 2 * LEVELS, NULL, 144};
        table1_agree(&sizes, &block, 1, 1, records);
        table1_column_of(&column, &block, &sizes, 0);
        const struct estimate auc = evaluate_auc(&column).estimate;
        sum += auc.value / DRAWS;
        square += auc.value * auc.value / DRAWS;
        told += auc.noise / DRAWS;
    }
    const double found = sqrt(square - sum * sum);
    cr_expect(fabs(found / told - 1) < 0.06, "%g, told %g", found, told);
    cr_expect(fabs(sum - truth) < 0.08 * found + 0.001, "mean %g of %g", sum, truth);
}

Test(evaluate, noise_widens_and_refuses_and_says_what_is_enough)
{
    double cell[CELLS];
    double before = 0;
    for (double variance = 0; variance < 3000; variance += 500) {
        read_cells(cell);
        const struct table1_column column = column_of(cell, variance);
        const struct table1_figure auc = evaluate_auc(&column);
        const double width = auc.estimate.high - auc.estimate.low;
        cr_expect(width > before && auc.factor < 1, "%g: %g after %g", variance, width, before);
        before = width;
    }
    for (double variance = 1e5; variance < 1e7; variance *= 10) {
        read_cells(cell);
        const struct table1_column column = column_of(cell, variance);
        const double factor = evaluate_auc(&column).factor;
        cr_expect(factor > 1 && isnan(evaluate_auc(&column).estimate.value));
        const struct table1_column enough = column_of(cell, variance / factor / factor * 0.98);
        const struct table1_column less = column_of(cell, variance / factor / factor * 1.02);
        cr_expect(!isnan(evaluate_auc(&enough).estimate.value));
        cr_expect(isnan(evaluate_auc(&less).estimate.value));
    }
    memset(cell, 0, sizeof cell);
    cell[1] = 500; /* nobody has the event */
    const struct table1_column none = column_of(cell, 1);
    cr_expect(isnan(evaluate_auc(&none).estimate.value));
}

/* 44 records are treated, 33 of them with the event. With noise, some 70 are needed to be shown: what is shown in 4 of 100 draws is
 * more than there are. Without the further ends intervals hold in 0.88 of these. */
Test(evaluate, a_net_benefit_that_is_shown_just_yet_holds)
{
    struct seeded_random seeded;
    int shown = 0;
    int held = 0;
    int before = 0;
    seeded_random_init(&seeded, 12);
    for (int draw = 0; draw < 10 * DRAWS; draw++) {
        double cell[CELLS] = {0};
        double sums[2] = {0};
        struct table1_sizes sizes;
        struct table1_column column;
        for (size_t i = 0; i < 2; i++) { /* without the event, with it */
            const double treated = i == 0 ? 11 : 33;
            sums[i] = treated + sqrt(treated) * seeded_random_normal(&seeded);
            cell[i * LEVELS + 6] = sums[i];
            cell[i * LEVELS] = (i == 0 ? 2800 : 700) - sums[i];
        }
        for (size_t k = 0; k < CELLS; k++) {
            cell[k] += SD_OF_CELL * seeded_random_normal(&seeded);
        }
        const struct table1_block block = {cell, 2 * LEVELS, NULL, SD_OF_CELL * SD_OF_CELL};
        table1_agree(&sizes, &block, 1, 1, 3500);
        table1_column_of(&column, &block, &sizes, 0);
        const struct table1_figure own = evaluate_net_benefit(&column, 6, 0.875);
        const double truth = (33 - 7 * 11) / 3500.;
        if (!isnan(own.estimate.value)) {
            const double half = ESTIMATE_Z * hypot(own.estimate.noise, own.estimate.sampling);
            shown++;
            held += own.estimate.low <= truth && truth <= own.estimate.high;
            before += fabs(own.estimate.value - truth) <= half;
        }
    }
    cr_expect(shown > 1000 && held > 0.945 * shown, "%d of %d, %d", held, shown, before);
    cr_expect(before < 0.93 * shown, "%d of %d", before, shown);
}

/* The slope of a logistic model of the event on the log-odds of the levels' middles, of a risk that is right for everybody: beta
 * distributed with parameters a and b. */
static double slope_of_right_risks(size_t levels, double a, double b)
{
    enum { FINE = 40000 };
    struct regress_predictor predictor = {.levels = levels, .is_number = true};
    const struct regress_design design = {REGRESS_LOGISTIC, &predictor, 1, 1, 2, NULL};
    double cell[2 * REGRESS_LEVELS_MAX] = {0};
    double all = 0;
    static struct regress_fit fit;
    for (size_t i = 0; i < FINE; i++) {
        const double risk = ((double)i + 0.5) / FINE;
        const double density = pow(risk, a - 1) * pow(1 - risk, b - 1);
        const size_t k = (size_t)(risk * (double)levels);
        cell[2 * k] += density * (1 - risk);
        cell[2 * k + 1] += density * risk;
        all += density;
    }
    for (size_t k = 0; k < levels; k++) {
        const double middle = ((double)k + 0.5) / (double)levels;
        predictor.value[k] = log(middle / (1 - middle)) / 4; /* within -1 .. 1 */
        cell[2 * k] *= 1e6 / all;
        cell[2 * k + 1] *= 1e6 / all;
    }
    const struct regress_cells cells = {&design, cell, 2 * levels + 1, 0};
    regress_solve(&fit, &cells);
    cr_assert(fit.is_solved);
    return fit.b[1] / 4;
}

/* Why released levels have no calibration slope: rounding alone moves it away from 1 by more than its interval's length. */
Test(evaluate, levels_of_right_risks_have_no_slope_of_one)
{
    const struct {
        double a, b, of_8, of_16;
    } known[] = {
        {4, 16, 0.79, 0.94}, {2, 8, 0.90, 0.96}, {0.5, 4.5, 1.22, 1.12}, {0.3, 5, 1.43, 1.26}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const double of_8 = slope_of_right_risks(8, known[i].a, known[i].b);
        const double of_16 = slope_of_right_risks(16, known[i].a, known[i].b);
        cr_expect(fabs(of_8 - known[i].of_8) < 0.006, "%zu: %g", i, of_8);
        cr_expect(fabs(of_16 - known[i].of_16) < 0.006, "%zu: %g", i, of_16);
    }
}

Test(evaluate, plans_more_levels_where_there_is_less_noise)
{
    const struct table1_public little = {1000, 2, 500};
    const struct table1_public much = {25000, 2, 8};
    cr_expect(evaluate_plan(&little) == EVALUATE_BANDS);
    cr_expect(evaluate_plan(&much) == EVALUATE_LEVELS_MAX);
    double edge[EVALUATE_LEVELS_MAX + 1];
    double wide_edge[EVALUATE_BANDS + 1];
    for (size_t k = 0; k <= EVALUATE_LEVELS_MAX; k++) {
        edge[k] = (double)k / EVALUATE_LEVELS_MAX;
    }
    for (size_t k = 0; k <= EVALUATE_BANDS; k++) {
        wide_edge[k] = (double)k / EVALUATE_BANDS;
    }
    const struct evaluate_expected wide =
        evaluate_expect(&little, &(struct evaluate_asked){EVALUATE_BANDS, wide_edge, 0});
    const struct evaluate_expected narrow = evaluate_expect(
        &much, &(struct evaluate_asked){EVALUATE_LEVELS_MAX, edge, EVALUATE_LEVELS_MAX / 2});
    cr_expect(isnan(wide.auc.half) || wide.auc.half > narrow.auc.half);
    cr_expect(narrow.auc.half < 0.02 && narrow.auc.group < wide.auc.group, "%g; %g and %g records",
              narrow.auc.half, narrow.auc.group, wide.auc.group);
    cr_expect(narrow.benefit[1].half < 0.02 && narrow.benefit[1].group < wide.benefit[1].group,
              "%g; %g and %g records", narrow.benefit[1].half, narrow.benefit[1].group,
              wide.benefit[1].group);
    const struct evaluate_expected no_risk =
        evaluate_expect(&much, &(struct evaluate_asked){EVALUATE_LEVELS_MAX, NULL, 0});
    cr_expect(isnan(no_risk.benefit[1].half) && isnan(no_risk.large.half), "not a risk");
    cr_expect(isnan(wide.accuracy.half) && isnan(no_risk.sensitivity.half), "no cut");
    /* 12,500 records of a group, half foretold: of all, of a fifth and of four fifths. Noise adds a little. */
    const double of_all = 1.96 * sqrt(0.25 / 12500);
    cr_expect(narrow.accuracy.half > of_all && narrow.accuracy.half < 1.1 * of_all, "%g",
              narrow.accuracy.half);
    cr_expect(narrow.sensitivity.half > of_all * sqrt(5) &&
                  narrow.sensitivity.half < 1.1 * of_all * sqrt(5),
              "%g", narrow.sensitivity.half);
    cr_expect(narrow.specificity.half > of_all * sqrt(1.25) &&
                  narrow.specificity.half < 1.1 * of_all * sqrt(1.25),
              "%g", narrow.specificity.half);
    const double share = 1.96 * sqrt(0.16 / 12500);
    cr_expect(narrow.share.half > share && narrow.share.half < 1.1 * share, "%g",
              narrow.share.half);
    cr_expect(narrow.band.half > sqrt(8) * share && narrow.band.half < 1.2 * sqrt(8) * share, "%g",
              narrow.band.half);
    cr_expect(narrow.large.half > share, "%g", narrow.large.half);
}

/* Every threshold that is shown has a width, which is larger where errors weigh more; a fifth have the event. */
Test(evaluate, expects_a_net_benefit_at_every_threshold)
{
    enum { LEVELS = 16, THRESHOLDS = EVALUATE_BANDS - 1 };
    const struct table1_public known = {20000, 2, 1e-6};
    const double n = 10000;
    double edge[LEVELS + 1];
    for (size_t k = 0; k <= LEVELS; k++) {
        edge[k] = (double)k / LEVELS;
    }
    const struct evaluate_asked asked = {LEVELS, edge, 0};
    const struct evaluate_expected told = evaluate_expect(&known, &asked);
    const struct evaluate_expected all = evaluate_expect_all(&known, &asked);
    for (size_t i = 0; i < THRESHOLDS; i++) {
        const double threshold = (double)(i + 1) / EVALUATE_BANDS;
        const double odds = threshold / (1 - threshold);
        /* A record's value: 1 with the event, -odds without, 0 if it is not treated. */
        const double treated[] = {1 - threshold, 1};
        const struct table1_half *own[] = {&told.benefit[i], &told.all_treated[i]};
        const struct table1_half *both[] = {&all.benefit[i], &all.all_treated[i]};
        for (size_t j = 0; j < 2; j++) {
            const double mean = treated[j] * (0.2 - 0.8 * odds);
            const double square = treated[j] * (0.2 + 0.8 * odds * odds);
            const double half = 1.96 * sqrt((square - mean * mean) / n);
            cr_expect(fabs(own[j]->half / half - 1) < 0.03, "%g, %zu: %g is not %g", threshold, j,
                      own[j]->half, half);
            cr_expect(fabs(both[j]->half * sqrt(2) / half - 1) < 0.03, "%g, %zu: %g", threshold, j,
                      both[j]->half);
        }
    }
    const struct evaluate_expected no_risk =
        evaluate_expect(&known, &(struct evaluate_asked){LEVELS, NULL, 0});
    cr_expect(isnan(no_risk.benefit[0].half) && isnan(no_risk.all_treated[6].half));
}
