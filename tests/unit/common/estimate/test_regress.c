/* Regressions on cells: against R, what noise does, and what is refused. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_density.h"

#include "tests/support/seeded_random.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum {
    LEVELS = 3,
    POINTS = 2 * LEVELS,
    INTERVALS = 3,
    CELLS = POINTS * (2 * INTERVALS + 1),
    DRAWS = 2000
};

/* A number of three levels and two categories, as studies.R has them. */
struct fixture {
    struct regress_design design;
    struct regress_predictor predictor[2];
    double outcome[REGRESS_OUTCOMES_MAX];
    double cell[CELLS];
    size_t count;
    struct regress_cells cells;
    struct regress_fit fit;
};

static struct fixture fixture;

static const char *const names[] = {"regress_logistic", "regress_linear", "regress_poisson",
                                    "regress_hazard"};

static void set_up(enum regress_family family)
{
    static const size_t outcomes[] = {2, 4, 4, 2 * INTERVALS + 1};
    struct fixture *f = &fixture;
    memset(f, 0, sizeof *f);
    f->predictor[0] = (struct regress_predictor){.levels = LEVELS, .is_number = true};
    regress_set_even(&f->predictor[0]);
    f->predictor[1].levels = 2;
    f->design = (struct regress_design){.family = family,
                                        .predictor = f->predictor,
                                        .predictors = 2,
                                        .intervals = family == REGRESS_HAZARD ? INTERVALS : 1,
                                        .outcomes = outcomes[family],
                                        .outcome = f->outcome};
    for (size_t y = 0; y < 4; y++) {
        f->outcome[y] = family == REGRESS_POISSON ? (double)y : 2 * (double)y / 3 - 1;
    }
    f->count = vector_read(f->cell, CELLS, vectors(names[family]), "cells");
    cr_assert(f->count == regress_points(&f->design) * f->design.outcomes);
    f->cells = (struct regress_cells){&f->design, f->cell, f->count + 1, 0};
}

static struct table1_figure figure_of(size_t term)
{
    double weight[REGRESS_TERMS_MAX] = {0};
    weight[term] = 1;
    return regress_figure(&fixture.fit, weight);
}

Test(regress, without_noise_is_r_s)
{
    for (enum regress_family family = REGRESS_LOGISTIC; family <= REGRESS_HAZARD; family++) {
        double coefficient[REGRESS_TERMS_MAX];
        double error[REGRESS_TERMS_MAX];
        set_up(family);
        const size_t terms =
            vector_read(coefficient, REGRESS_TERMS_MAX, vectors(names[family]), "coefficients");
        cr_assert(vector_read(error, REGRESS_TERMS_MAX, vectors(names[family]), "errors") == terms);
        regress_solve(&fixture.fit, &fixture.cells);
        cr_assert(fixture.fit.is_solved && fixture.fit.terms == terms);
        for (size_t i = 0; i < terms; i++) {
            const struct table1_figure figure = figure_of(i);
            double weight[REGRESS_TERMS_MAX] = {0};
            weight[i] = 1;
            const double reach = error[i] * regress_by_few(&fixture.fit, weight);
            cr_expect(fabs(figure.estimate.value - coefficient[i]) < 1e-8,
                      "%s %zu: %.12g is not %.12g", names[family], i, figure.estimate.value,
                      coefficient[i]);
            cr_expect(fabs(figure.estimate.sampling - error[i]) < 1e-8,
                      "%s %zu: error %.12g is not %.12g", names[family], i,
                      figure.estimate.sampling, error[i]);
            cr_expect(figure.estimate.noise == 0 && figure.factor == 0);
            cr_expect(fabs(figure.estimate.high - coefficient[i] - ESTIMATE_Z * reach) < 1e-7);
            cr_expect(fabs(regress_test(&figure) - erfc(fabs(coefficient[i] / reach) / sqrt(2))) <
                      1e-6);
        }
    }
}

/* The deviation that is told is that of many draws: the mean of 2,000 squares is within 5.3 of its standard errors, which are
 * sqrt(2/2000) of it, but with a probability of 1e-7 each (normal noise; 20 figures); Newton's curvature adds the 4 %. */
Test(regress, noise_moves_coefficients_as_it_says)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    for (enum regress_family family = REGRESS_LOGISTIC; family <= REGRESS_HAZARD; family++) {
        double exact[CELLS];
        double square[REGRESS_TERMS_MAX] = {0};
        double noise[REGRESS_TERMS_MAX];
        double value[REGRESS_TERMS_MAX];
        set_up(family);
        struct fixture *f = &fixture;
        memcpy(exact, f->cell, sizeof exact);
        f->cells.variance = 1;
        regress_solve(&f->fit, &f->cells);
        for (size_t i = 0; i < f->fit.terms; i++) {
            noise[i] = figure_of(i).estimate.noise;
            value[i] = f->fit.b[i];
        }
        for (size_t draw = 0; draw < DRAWS; draw++) {
            double all[CELLS + 1];
            double records = 0;
            for (size_t c = 0; c <= f->count; c++) {
                const double radius = sqrt(-2 * log(1 - seeded_random_unit(&seeded)));
                records += c < f->count ? exact[c] : 0;
                all[c] = (c < f->count ? exact[c] : 0) +
                         radius * cos(2 * 3.14159265358979323846 * seeded_random_unit(&seeded));
            }
            cells_balance(all, f->count + 1, records);
            memcpy(f->cell, all, f->count * sizeof *all);
            regress_solve(&f->fit, &f->cells);
            cr_assert(f->fit.is_solved);
            for (size_t i = 0; i < f->fit.terms; i++) {
                square[i] += (f->fit.b[i] - value[i]) * (f->fit.b[i] - value[i]) / DRAWS;
            }
        }
        for (size_t i = 0; i < f->fit.terms; i++) {
            const double ratio = square[i] / noise[i] / noise[i];
            cr_expect(fabs(ratio - 1) < 5.3 * sqrt(2.0 / DRAWS) + 0.04, "%s %zu: %.3f",
                      names[family], i, ratio);
        }
    }
}

/* The mean cells of hazards of up to 1.1 an interval; many records are censored. If a censored record counted half of its
 * interval, the first slope would move by 0.03. */
Test(regress, hazards_of_mean_cells_are_the_truth)
{
    static const double truth[] = {-1.4, -1.2, -0.9, 0.8, 0.5};
    static const double leaves[INTERVALS] = {0.5, 0.3, 0.4};
    set_up(REGRESS_HAZARD);
    struct fixture *f = &fixture;
    for (size_t point = 0; point < POINTS; point++) {
        double *cell = f->cell + point * (2 * INTERVALS + 1);
        double here = 1000;
        for (size_t j = 0; j < INTERVALS; j++) {
            const double u = exp(truth[j] + truth[3] * f->predictor[0].value[point / 2] +
                                 truth[4] * (double)(point % 2));
            const double lost = here * leaves[j] * -expm1(-u) / u;
            const double next = here * (1 - leaves[j]) * exp(-u);
            cell[INTERVALS + j] = lost;
            cell[j] = here - lost - next;
            here = next;
        }
        cell[2 * INTERVALS] = here;
    }
    regress_solve(&f->fit, &f->cells);
    cr_assert(f->fit.is_solved);
    for (size_t i = 0; i < f->fit.terms; i++) {
        cr_expect(fabs(f->fit.b[i] - truth[i]) < 2e-3, "%zu: %.6f is not %g", i, f->fit.b[i],
                  truth[i]);
    }
}

/* Where the noise of the sum of counts is nearly what is allowed, intervals are wider by Fieller's 1/(1 - z^2 0.15^2), and a little
 * more, as only what noise made larger is shown. */
Test(regress, counts_that_are_shown_just_yet_have_wider_intervals)
{
    set_up(REGRESS_POISSON);
    struct fixture *f = &fixture;
    f->cells.variance = 1;
    regress_solve(&f->fit, &f->cells);
    cr_assert(f->fit.mean_noise > 0);
    for (double share = 0.2; share < 1.1; share += 0.795) {
        f->cells.variance *= share * share * 0.15 * 0.15 / f->fit.mean_noise / f->fit.mean_noise;
        regress_solve(&f->fit, &f->cells);
        const struct estimate own = figure_of(1).estimate;
        const double wider = (own.high - own.low) / 2 / ESTIMATE_Z / hypot(own.noise, own.sampling);
        cr_expect(share < 1 ? wider > (share < 0.5 ? 1 : 1.1) : isnan(wider));
        cr_expect(isnan(wider) || wider < (share < 0.5 ? 1.02 : 1.5), "%g: %g", share, wider);
    }
    f->cells.variance *= 1.02;
    regress_solve(&f->fit, &f->cells);
    cr_expect(!f->fit.is_solved);
}

Test(regress, refuses_where_noise_drowns_the_curvature)
{
    for (enum regress_family family = REGRESS_LOGISTIC; family <= REGRESS_HAZARD; family++) {
        set_up(family);
        fixture.cells.variance = 1;
        regress_solve(&fixture.fit, &fixture.cells);
        const struct table1_figure few = figure_of(fixture.fit.terms - 1);
        fixture.cells.variance = 1 / few.factor / few.factor * 1.01;
        const struct table1_figure refused = figure_of(fixture.fit.terms - 1);
        cr_expect(isnan(refused.estimate.value) && isnan(regress_test(&refused)));
        cr_expect(refused.factor > 1 && refused.factor < 1.01);
        fixture.cells.variance *= 0.98;
        cr_expect(!isnan(figure_of(fixture.fit.terms - 1).estimate.value));
    }
}

Test(regress, is_not_solved_where_cells_say_nothing)
{
    set_up(REGRESS_LOGISTIC);
    for (size_t c = 0; c < fixture.count; c++) {
        fixture.cell[c] = c % 2 == 0 ? 10 : 0; /* nobody has the event */
    }
    regress_solve(&fixture.fit, &fixture.cells);
    cr_expect(!fixture.fit.is_solved && isnan(figure_of(1).estimate.value));
    /* Noise: every level and category has records, and their cells are not those of a curvature. */
    static const double records[POINTS] = {-30, 50, 50, -30, 10, 10};
    for (size_t c = 0; c < fixture.count; c++) {
        fixture.cell[c] = records[c / 2] / 2;
    }
    regress_solve(&fixture.fit, &fixture.cells);
    cr_expect(!fixture.fit.is_solved && isnan(figure_of(1).factor));
    memset(fixture.cell, 0, sizeof fixture.cell);
    regress_solve(&fixture.fit, &fixture.cells);
    cr_expect(!fixture.fit.is_solved);
}

/* Nobody has the event, and noise makes some events: a ratio of them means nothing. Of 200 draws of the noise few are above
 * 1.5 of its deviations, and some are of those without that rule. The seed is fixed. */
Test(regress, gives_hardly_anything_where_the_noise_hides_all_events)
{
    struct seeded_random seeded;
    double cell[CELLS];
    size_t given = 0;
    seeded_random_init(&seeded, 8);
    set_up(REGRESS_LOGISTIC);
    fixture.cells.cell = cell;
    fixture.cells.variance = 32;
    for (size_t draw = 0; draw < 200; draw++) {
        for (size_t c = 0; c <= fixture.count; c++) {
            const double unit = seeded_random_unit(&seeded) - 0.5;
            const double noise = (unit < 0 ? 4 : -4) * log(1 - 2 * fabs(unit));
            cell[c] = (c % 2 == 0 && c < fixture.count ? 1000 : 0) + noise;
        }
        cells_balance(cell, fixture.count + 1, 1000 * POINTS);
        regress_solve(&fixture.fit, &fixture.cells);
        given += isnan(figure_of(1).estimate.value) ? 0 : 1;
    }
    cr_expect(given <= 6, "%zu", given);
}

/* More records or less noise: finer levels, never coarser ones; a shorter interval. */
Test(regress, plans_by_public_numbers)
{
    size_t before = REGRESS_PLAN_LEAST;
    double half = INFINITY;
    set_up(REGRESS_LOGISTIC);
    for (double variance = 4096; variance > 0.01; variance /= 4) {
        const size_t levels = regress_plan(&fixture.design, fixture.predictor, 5000, variance);
        const struct regress_expected expected = regress_expect(&fixture.design, 0, 5000, variance);
        cr_expect(levels >= before && levels <= REGRESS_PLAN_MOST &&
                  fixture.predictor[0].levels == levels);
        cr_expect(isnan(expected.half) ? expected.factor >= 1 : expected.factor < 1);
        if (levels == before && !isnan(expected.half)) {
            cr_expect(expected.half < half);
        }
        half = isnan(expected.half) || levels != before ? INFINITY : expected.half;
        before = levels;
    }
    cr_expect(before == REGRESS_PLAN_MOST);
    cr_expect(fixture.predictor[1].levels == 2);
}

/* With a tenth more records than what is told a figure is given, with a tenth less it is not; counts need enough of their sum, too. */
Test(regress, tells_the_fewest_records_of_each_coefficient)
{
    static const enum regress_family family[] = {REGRESS_LOGISTIC, REGRESS_LINEAR, REGRESS_POISSON,
                                                 REGRESS_HAZARD};
    for (size_t f = 0; f < sizeof family / sizeof family[0]; f++) {
        set_up(family[f]);
        for (size_t i = 0; i < fixture.design.predictors; i++) {
            const double alone = regress_fewest(&fixture.design, i, 100, 1);
            const double by_site = regress_fewest(&fixture.design, i, 100, 0.35);
            cr_assert(alone > 0 && by_site >= alone, "%g, %g", alone, by_site);
            cr_expect(!isnan(regress_expect(&fixture.design, i, 1.1 * alone, 100).half));
            cr_expect(isnan(regress_expect(&fixture.design, i, 0.9 * alone, 100).half));
            cr_expect(regress_expect(&fixture.design, i, 1.1 * by_site, 100).factor < 0.35);
        }
        double first[REGRESS_TERMS_MAX] = {0};
        first[fixture.design.intervals] = 1;
        cr_expect(regress_fewest_of_sum(&fixture.design, first, 100, 1) ==
                  regress_fewest(&fixture.design, 0, 100, 1));
    }
}

/* 300 records at each point, a third with the event; where a category or all levels but one are empty. */
static void set_empty(size_t empty_category, size_t only_level)
{
    set_up(REGRESS_LOGISTIC);
    for (size_t c = 0; c < fixture.count; c++) {
        const size_t level = c / 4;
        const size_t category = c / 2 % 2;
        const bool is_empty =
            category == empty_category || (only_level < LEVELS && level != only_level);
        fixture.cell[c] = is_empty ? 0 : c % 2 == 0 ? 200 : 100 + 10 * (double)(level + category);
    }
    fixture.cells.variance = 4;
    regress_solve(&fixture.fit, &fixture.cells);
}

static bool is_given(size_t term)
{
    return !isnan(figure_of(term).estimate.value);
}

Test(regress, leaves_out_what_has_no_records_and_tells_the_rest)
{
    enum { INTERCEPT, NUMBER, SECOND, NONE = LEVELS };
    set_empty(NONE, NONE);
    cr_expect(is_given(INTERCEPT) && is_given(NUMBER) && is_given(SECOND));
    set_empty(1, NONE);
    cr_expect(is_given(INTERCEPT) && is_given(NUMBER) && !is_given(SECOND));
    cr_expect(fixture.fit.lack[SECOND] == REGRESS_LACKS_LEVELS);
    set_empty(0, NONE);
    cr_expect(!is_given(INTERCEPT) && is_given(NUMBER) && !is_given(SECOND));
    set_empty(NONE, 1);
    cr_expect(!is_given(INTERCEPT) && !is_given(NUMBER) && is_given(SECOND));
    cr_expect(fixture.fit.lack[NUMBER] == REGRESS_LACKS_LEVELS);
    const double *raised = &fixture.fit.raised[2]; /* of this level's two points */
    const double odds =
        log((120 - raised[1]) / (200 - raised[1])) - log((110 - raised[0]) / (200 - raised[0]));
    cr_assert(raised[0] > 0 && raised[1] < 0.1);
    cr_expect(fabs(figure_of(SECOND).estimate.value - odds) < 1e-8, "of the only level alone");
}

/* The factor that is named, where what it assumes is so; NAN: none. */
static double replayed(size_t term, bool is_as_assumed)
{
    struct regress_replay replay;
    double weight[REGRESS_TERMS_MAX] = {0};
    weight[term] = 1;
    regress_replay(&replay, &fixture.fit, weight, 1);
    const bool counts = is_as_assumed || !(replay.is_even || replay.is_event_assumed);
    return counts && replay.factor[0] > 1 ? replay.factor[0] : NAN;
}

static void release(const double *exact, double scale, struct seeded_random *seeded)
{
    double all[CELLS + 1];
    double records = 0;
    for (size_t c = 0; c <= fixture.count; c++) {
        const double own = c < fixture.count ? exact[c] : 0;
        records += own;
        all[c] = own + seeded_random_laplace(seeded, scale);
    }
    cells_balance(all, fixture.count + 1, records);
    memcpy(fixture.cell, all, fixture.count * sizeof *all);
    fixture.cells.variance = 2 * scale * scale;
    regress_solve(&fixture.fit, &fixture.cells);
}

/* A refused figure is released again with the noise divided by the refusal's factor. Nine times in ten it is given. Of
 * 1,000 releases each; the seed is fixed, so that the result does not vary. */
Test(regress, names_a_factor_that_is_enough)
{
    static const struct {
        double records[LEVELS]; /* at each of a level's points */
        double event;
        double least, most; /* scales of the noise */
    } truths[] = {
        {{100, 100, 100}, 0.2, 5, 60}, /* as a plan assumes */
        {{20, 400, 20}, 0.4, 5, 30},
    };
    struct seeded_random seeded;
    seeded_random_init(&seeded, 11);
    for (size_t t = 0; t < sizeof truths / sizeof truths[0]; t++) {
        double exact[CELLS];
        size_t named = 0;
        size_t given = 0;
        set_up(REGRESS_LOGISTIC);
        for (size_t c = 0; c < fixture.count; c++) {
            const double event = truths[t].event;
            exact[c] = truths[t].records[c / 4] * (c % 2 == 0 ? 1 - event : event);
        }
        for (size_t draw = 0; draw < 1000; draw++) {
            const double scale =
                truths[t].least + (truths[t].most - truths[t].least) * (double)draw / 1000;
            release(exact, scale, &seeded);
            const size_t term = 1 + draw % 2;
            const double factor = is_given(term) ? NAN : replayed(term, t == 0);
            if (isnan(factor)) {
                continue;
            }
            named++;
            release(exact, scale / factor, &seeded);
            given += is_given(term) ? 1 : 0;
        }
        cr_expect(named >= 20 && given >= 9 * named / 10, "%zu of %zu", given, named);
    }
}
