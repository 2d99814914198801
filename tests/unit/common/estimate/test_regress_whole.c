/* Regressions on whole numbers, whose levels have few values each; and on counts of a rare category. */

#include "estimate/cells.h"
#include "estimate/regress.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { LEVELS_MOST = 8, COUNTS = 6 };

struct world {
    struct regress_design design;
    struct regress_predictor predictor[1];
    double outcome[REGRESS_OUTCOMES_MAX];
    double cell[LEVELS_MOST * COUNTS + 1];
    struct regress_cells cells;
    struct regress_fit fit;
};

static struct world world;
static struct world other;

static const double slope = 1.2;
static const double records = 40000;

/* A logistic regression on a number, nothing drawn: each value's records are in its level. share: (values) */
static void set_up(struct world *out, size_t levels, size_t values, const double *share)
{
    memset(out, 0, sizeof *out);
    struct regress_predictor *own = &out->predictor[0];
    *own = (struct regress_predictor){.levels = levels, .is_number = true, .atoms = values};
    for (size_t v = 0; v < values; v++) {
        own->atom[v] = 2 * (double)v / (double)(values - 1) - 1;
    }
    regress_set_even(own);
    out->design = (struct regress_design){.family = REGRESS_LOGISTIC,
                                          .predictor = out->predictor,
                                          .predictors = 1,
                                          .intervals = 1,
                                          .outcomes = 2,
                                          .is_rounded = true};
    for (size_t v = 0, k = 0; v < values; v++) {
        const double event = 1 / (1 + exp(1 - slope * own->atom[v]));
        k += v == own->atom_end[k] ? 1 : 0;
        out->cell[2 * k] += records * share[v] * (1 - event);
        out->cell[2 * k + 1] += records * share[v] * event;
    }
    out->cells = (struct regress_cells){&out->design, out->cell, 2 * own->levels + 1, 0};
}

static struct estimate figure_of(const struct world *of)
{
    const double weight[REGRESS_TERMS_MAX] = {0, 1};
    return regress_figure(&of->fit, weight).estimate;
}

static const double sixth = 1.0 / 6;
static const double few[] = {0.3, 0.25, 0.2, 0.12, 0.08, 0.05};
static const double poisson[] = {0.02, 0.06, 0.12, 0.16, 0.17,  0.15, 0.12,
                                 0.09, 0.05, 0.03, 0.02, 0.007, 0.003};

Test(regress_whole, a_slope_is_that_of_the_values)
{
    const double even[] = {sixth, sixth, sixth, sixth, sixth, sixth};
    const struct {
        const double *share;
        size_t values, levels, used;
    } settings[] = {{even, 6, 8, 6}, {even, 6, 6, 6}, {even, 6, 4, 4},
                    {few, 6, 5, 5},  {few, 6, 3, 3},  {poisson, 13, 8, 8}};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        set_up(&world, settings[s].levels, settings[s].values, settings[s].share);
        cr_assert(world.predictor[0].levels == settings[s].used);
        regress_solve(&world.fit, &world.cells);
        cr_expect(fabs(world.fit.b[1] / slope - 1) < 0.01, "setting %zu: %g", s, world.fit.b[1]);
    }
}

/* By even levels of a smooth column a slope on 0 to 5 would be a sixth too steep. If the job does not say which numbers these
 * are, the interval covers both. */
Test(regress_whole, an_interval_covers_both_readings)
{
    const double even[] = {sixth, sixth, sixth, sixth, sixth, sixth};
    set_up(&world, 6, 6, even);
    other = world;
    other.design.predictor = other.predictor;
    other.cells.design = &other.design;
    other.cells.cell = other.cell;
    world.predictor[0].atoms = 0;
    regress_set_even(&world.predictor[0]);
    world.cells.variance = other.cells.variance = 1;
    regress_solve(&world.fit, &world.cells);
    regress_solve(&other.fit, &other.cells);
    const struct estimate smooth = figure_of(&world);
    const struct estimate whole = figure_of(&other);
    cr_expect(smooth.low > slope && whole.low < slope && slope < whole.high, "%g", smooth.low);
    cr_expect(!regress_covers_both(&world.fit, (double[REGRESS_TERMS_MAX]){0, 1}));
    world.fit.other = &other.fit;
    const struct estimate both = figure_of(&world);
    cr_expect(both.value == smooth.value && both.low == whole.low && both.high == smooth.high);
    cr_expect(regress_covers_both(&world.fit, (double[REGRESS_TERMS_MAX]){0, 1}));
    other.fit.lack[1] = REGRESS_LACKS_RANGE;
    cr_expect(isnan(figure_of(&world).value), "nobody knows which reading is right");
    other.fit.lack[1] = REGRESS_LACKS_SMOOTH;
    cr_expect(figure_of(&world).low == smooth.low, "it is not the other one");
    other.fit.lack[1] = REGRESS_LACKS_NOTHING;
    world.fit.lack[1] = REGRESS_LACKS_SMOOTH; /* values by levels of their own rule out nothing */
    cr_expect(isnan(figure_of(&world).value), "nobody says that numbers are whole");
    world.fit.lack[1] = REGRESS_LACKS_NOTHING;
    world.fit.is_solved = false;
    cr_expect(isnan(figure_of(&world).value) && isnan(figure_of(&world).low));
}

/* Values may lie at any distance, and a level may have none: its records are noise. */
Test(regress_whole, a_level_without_a_value_counts_for_nothing)
{
    const double even[] = {sixth, sixth, sixth, sixth, sixth, sixth};
    set_up(&world, 6, 6, even);
    regress_solve(&world.fit, &world.cells);
    const double without = world.fit.b[1];
    struct regress_predictor *own = &world.predictor[0];
    own->levels = 7; /* the fifth is empty */
    memmove(&own->atom_end[5], &own->atom_end[4], 2 * sizeof own->atom_end[0]);
    own->atom_end[4] = own->atom_end[3];
    memmove(&world.cell[10], &world.cell[8], 4 * sizeof world.cell[0]);
    world.cell[8] = 500;
    world.cell[9] = 3000;
    world.cells.m = 15;
    regress_solve(&world.fit, &world.cells);
    cr_assert(world.fit.is_solved);
    cr_expect(fabs(world.fit.b[1] - without) < 1e-3, "%g, %g", world.fit.b[1], without);
}

/* A faulty collector or agent may release any number of records. */
Test(regress_whole, any_number_of_records_in_one_level_is_fitted)
{
    const double first[] = {1, 0, 0};
    for (size_t values = 2; values <= 3; values++) {
        for (double times = 1; times < 1e9; times *= 10) {
            for (int has_values = 0; has_values < 2; has_values++) {
                set_up(&world, values, values, first);
                world.predictor[0].atoms = has_values ? values : 0;
                world.cell[0] *= times;
                world.cell[1] *= times;
                world.cells.variance = 1;
                regress_solve(&world.fit, &world.cells);
                cr_expect(world.fit.lack[1] == REGRESS_LACKS_LEVELS, "%zu, %g", values, times);
            }
        }
    }
}

/* Counts 0 to 5 in three categories; 15 of 1,415 records have the last one. Nothing is drawn. */
static void set_up_counts(double variance)
{
    static const double size[] = {1000, 400, 15};
    static const double rate[] = {0.5, 0.7, 0.6};
    memset(&world, 0, sizeof world);
    world.predictor[0] = (struct regress_predictor){.levels = 3};
    world.design = (struct regress_design){.family = REGRESS_POISSON,
                                           .predictor = world.predictor,
                                           .predictors = 1,
                                           .intervals = 1,
                                           .outcomes = COUNTS,
                                           .outcome = world.outcome,
                                           .is_rounded = true};
    for (size_t k = 0; k < 3; k++) {
        double share = exp(-rate[k]);
        for (size_t y = 0; y < COUNTS; y++) {
            world.outcome[y] = (double)y;
            world.cell[k * COUNTS + y] = size[k] * share;
            share *= rate[k] / (double)(y + 1);
        }
    }
    world.cells = (struct regress_cells){&world.design, world.cell, 3 * COUNTS + 1, variance};
    regress_solve(&world.fit, &world.cells);
    cr_assert(world.fit.is_solved);
}

/* Three categories, half of whose records have the event, and noise `more` in both cells of the first one, balanced over all cells.
 * Returns the first category's weight. */
static double weight_with(double more)
{
    static const double half[] = {300, 200, 120};
    const double balanced = 2 * more / 7;
    memset(&world, 0, sizeof world);
    world.predictor[0] = (struct regress_predictor){.levels = 3};
    world.design = (struct regress_design){.family = REGRESS_LOGISTIC,
                                           .predictor = world.predictor,
                                           .predictors = 1,
                                           .intervals = 1,
                                           .outcomes = 2,
                                           .is_rounded = true};
    for (size_t c = 0; c < 6; c++) {
        world.cell[c] = half[c / 2] + (c < 2 ? more : 0) - balanced;
    }
    world.cells = (struct regress_cells){&world.design, world.cell, 7, 400};
    regress_solve(&world.fit, &world.cells);
    cr_assert(world.fit.is_solved);
    return world.fit.weight[0];
}

/* What is taken off a cell is the covariance of its noise with its weight, which a small change of the noise tells; the cell of records
 * that are left out is neglected, one of seven. */
Test(regress_whole, what_is_taken_off_is_the_covariance_of_noise_and_weight)
{
    const double grows = (weight_with(1e-3) - weight_with(-1e-3)) / 2e-3 / 2; /* by each cell */
    const double weight = weight_with(0);
    const double covariance = world.cells.variance * grows;
    cr_assert(weight > 0.2 && weight < 0.8, "%g", weight);
    cr_expect(fabs(weight * world.fit.raised[0] / covariance - 1) < 0.1, "%g, %g",
              weight * world.fit.raised[0], covariance);
}

/* Each category has a slope of its own, so that the model holds whatever the counts are. */
Test(regress_whole, misfit_is_of_the_cells_that_are_fitted)
{
    set_up_counts(0.14);
    cr_assert(world.fit.raised[2] > 0);
    cr_expect(regress_misfit(&world.fit, 0) > 1 - 1e-9, "%g", regress_misfit(&world.fit, 0));
}

static struct table1_figure category(size_t level)
{
    double weight[REGRESS_TERMS_MAX] = {0};
    weight[level] = 1;
    return regress_figure(&world.fit, weight);
}

/* A category's counts sum to 9, and their noise is sqrt(55) times a cell's: 0.3 of them at a variance of 0.17. Near this value
 * noise may have raised the sum enough to move the interval's lower end. The common category's end does not move. */
Test(regress_whole, a_rare_category_of_counts_has_a_lower_end_that_allows_for_its_being_shown)
{
    set_up_counts(0.005);
    const struct estimate quiet = category(2).estimate;
    cr_expect(fabs((quiet.value - quiet.low) / (quiet.high - quiet.value) - 1) < 1e-9);
    set_up_counts(0.14);
    const struct estimate loud = category(2).estimate;
    const struct estimate common = category(1).estimate;
    cr_expect((loud.value - loud.low) / (loud.high - loud.value) > 2, "%g %g %g", loud.low,
              loud.value, loud.high);
    cr_expect(fabs((common.value - common.low) / (common.high - common.value) - 1) < 1e-9);
    cr_expect(regress_test(&(struct table1_figure){.estimate = loud}) > 0.5);
    set_up_counts(0.2);
    const struct table1_figure refused = category(2);
    cr_expect(isnan(refused.estimate.value) && refused.factor > 1, "%g", refused.factor);
    cr_expect(category(1).estimate.low > 0.1);
}

/* A linear regression on three categories; 20 of 1,420 records have the last one. Their outcomes have a mean of 0.7, all others a
 * mean of 0. */
static struct estimate rare_mean(double variance)
{
    static const double cell[] = {300, 400, 300, 120, 160, 120, 0, 6, 14};
    memset(&world, 0, sizeof world);
    world.predictor[0] = (struct regress_predictor){.levels = 3};
    world.design = (struct regress_design){.family = REGRESS_LINEAR,
                                           .predictor = world.predictor,
                                           .predictors = 1,
                                           .intervals = 1,
                                           .outcomes = 3,
                                           .outcome = world.outcome,
                                           .is_rounded = true};
    for (size_t y = 0; y < 3; y++) {
        world.outcome[y] = (double)y - 1;
    }
    memcpy(world.cell, cell, sizeof cell);
    world.cells = (struct regress_cells){&world.design, world.cell, 10, variance};
    regress_solve(&world.fit, &world.cells);
    return category(2).estimate;
}

/* Noise that raises the category's records lowers its mean. If the mean is barely shown, the upper end is further out: by the
 * mean with fewer records, and by their sampling and noise. */
Test(regress_whole, a_rare_category_of_a_linear_regression_has_an_upper_end_that_allows_for_it)
{
    const struct estimate quiet = rare_mean(0.2);
    cr_expect(fabs((quiet.high - quiet.value) / (quiet.value - quiet.low) - 1) < 1e-9);
    const struct estimate loud = rare_mean(6);
    cr_expect((loud.high - loud.value) / (loud.value - loud.low) > 1.2, "%g %g %g", loud.low,
              loud.value, loud.high);
    const struct estimate louder = rare_mean(8);
    const double alone = ESTIMATE_Z * hypot(louder.sampling, louder.noise);
    cr_expect(louder.high - louder.value > 2.5 * alone, "%g of %g", louder.high - louder.value,
              alone);
}

/* A hundred records of the first category, half of them with each outcome, and some of the second. */
static struct table1_figure few_records(enum regress_family family, double records)
{
    memset(&world, 0, sizeof world);
    world.predictor[0] = (struct regress_predictor){.levels = 2};
    world.design = (struct regress_design){.family = family,
                                           .predictor = world.predictor,
                                           .predictors = 1,
                                           .intervals = 1,
                                           .outcomes = 2,
                                           .outcome = world.outcome,
                                           .is_rounded = true};
    world.outcome[1] = 1;
    world.cell[0] = world.cell[1] = 50;
    world.cell[2] = records / 3;
    world.cell[3] = records * 2 / 3;
    world.cells = (struct regress_cells){&world.design, world.cell, 5, 0};
    regress_solve(&world.fit, &world.cells);
    return category(1);
}

/* Student's t of tables, 2 to 29 degrees of freedom, is met within 3.1 %. Planted: with two records a category's own values
 * measured its error. Nothing is told of two records. */
Test(regress_whole, few_records_of_a_category_are_told_by_students_t)
{
    static const struct {
        double records, t;
    } cases[] = {{3, 4.303}, {6, 2.571}, {12, 2.201}, {30, 2.045}};
    for (enum regress_family family = REGRESS_LOGISTIC; family <= REGRESS_POISSON; family++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const double n = cases[i].records;
            const struct estimate own = few_records(family, n).estimate;
            const double ratio =
                (own.high - own.value) / (own.sampling * cases[i].t * sqrt(n / (n - 1)));
            cr_expect(ratio > 0.969 && ratio < 1.001, "%g records: %.4f", n, ratio);
        }
        cr_expect(isnan(few_records(family, 2).estimate.value));
        cr_expect(world.fit.lack[1] == REGRESS_LACKS_RECORDS);
    }
}
