/* regress_place.c - where the values of numbers lie within their levels, told by the released cells.
 *
 * A slope over the middles of levels is not that of the column: values lie towards where records are many. So a number counts by
 * the mean of its level, by the density that fits its released levels (regress_density.h). Columns that go together move each
 * other's means within a level: with x_i a number, z the other columns, and their covariances as released
 *
 *   f(x_i | z) ~ f(x_i) exp(t x_i - q (x_i - mu_i)^2/2),  t = p_i b_i'(z - mu),  q = p_i - 1/var(x_i)
 *
 * b_i the regression of x_i on z, and 1/p_i what it leaves of its variance (regress_columns.h): exact for normal columns.
 *
 * Replacing a value by its mean given what is released of the record is regression calibration (Carroll, Ruppert, Stefanski and
 * Crainiceanu 2006, chapter 4): exact in linear models. */

#include "estimate/regress.h"
#include "estimate/regress_columns.h"
#include "estimate/regress_density.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>

enum { ROUNDS = 3 }; /* of means that move each other */

static const double noise_most = 0.15; /* of a level's records, over an even level's, of numbers */
static const double noise_most_of_categories = 0.25;
static const double deviation_least = 0.24; /* of a number's values; its range is 2 */
static const double jump_deviations = 5;    /* of a level from the density that fits best */
static const double jump_times = 1.5;       /* and this many times more, or less */
static const double hole_times = 4;

static double tilt(const struct regress_told *told, const struct regress_columns *columns,
                   const struct regress_design *design, const struct regress_point *point,
                   const double *placed)
{
    double t = 0;
    for (size_t e = 0; e < columns->count; e++) {
        if (told->slope[e] != 0) {
            t += told->slope[e] *
                 (regress_column_at(columns, e, design, point->level, placed) - columns->mean[e]);
        }
    }
    return told->precision * t;
}

static void place_points(struct regress_fit *fit, const struct regress_columns *columns,
                         const struct regress_told *told, const struct regress_density *density)
{
    const struct regress_design *design = fit->cells->design;
    double *placed = fit->placed;
    double *within = fit->within;
    struct regress_point point;
    regress_point_first(&point, design, NULL);
    do {
        for (size_t i = 0; i < design->predictors; i++) {
            placed[i] = design->predictor[i].value[point.level[i]];
            within[i] = 0;
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (size_t c = 0; c < columns->count; c++) {
                const size_t i = columns->of[c];
                if (design->predictor[i].is_number && !fit->shape[i].is_hidden) {
                    placed[i] =
                        regress_density_mean(&within[i], &density[i], point.level[i],
                                             tilt(&told[c], columns, design, &point, placed));
                }
            }
        }
        placed += design->predictors;
        within += design->predictors;
    } while (regress_point_next(&point, design));
}

static void place_at_values(struct regress_fit *fit)
{
    const struct regress_design *design = fit->cells->design;
    double *placed = fit->placed;
    struct regress_point point;
    regress_point_first(&point, design, NULL);
    do {
        for (size_t i = 0; i < design->predictors; i++) {
            *placed++ = design->predictor[i].value[point.level[i]];
        }
    } while (regress_point_next(&point, design));
}

static void set_noise(struct regress_shape *shape, const struct regress_predictor *predictor,
                      const struct regress_levels *level)
{
    double all = 0;
    for (size_t k = 0; k < predictor->levels; k++) {
        all += level->sum[k];
    }
    shape->noise = level->noise * (double)predictor->levels / fmax(all, 1) /
                   (predictor->is_number ? noise_most : noise_most_of_categories);
    shape->is_hidden = predictor->is_number && !(shape->noise < 1);
}

/* Levels do not tell how far apart values are that lie so close together, and the other slopes depend on it. */
static void leave_all_out(struct regress_fit *fit, size_t narrow)
{
    fit->narrow = narrow;
    for (size_t i = fit->cells->design->intervals; i < fit->terms; i++) {
        fit->lack[i] = fit->lack[i] == REGRESS_LACKS_NOTHING ? REGRESS_LACKS_RANGE : fit->lack[i];
    }
    fit->lack_of_first =
        fit->lack_of_first == REGRESS_LACKS_NOTHING ? REGRESS_LACKS_RANGE : fit->lack_of_first;
}

/* Where values are few, or jump, a level has many more records than the smooth density that fits best, or many fewer. Five
 * deviations are seen by chance in fewer than 1 of 10^6 levels. What is smooth, or in whole numbers of which each level has
 * several, differs by less than half. */
static bool jumps(const struct regress_density *density, const struct regress_levels *level)
{
    double all = 0;
    bool does = false;
    for (size_t k = 0; k < density->levels; k++) {
        all += level->sum[k];
    }
    for (size_t k = 0; k < density->levels; k++) {
        double fitted = 0;
        for (size_t i = regress_density_first(density, k); i < density->end[k]; i++) {
            fitted += all * density->at[i];
        }
        const double deviation = sqrt(fmax(fitted, 1) + level->noise * level->noise);
        const double away = fabs(level->sum[k] - fitted);
        const double least = fmax(fitted, all / (double)density->levels / 4);
        does = does || (away > jump_deviations * deviation && away > (jump_times - 1) * least);
    }
    return does;
}

static double largest_of(const struct regress_levels *level, size_t first, size_t end)
{
    double largest = 0;
    for (size_t k = first; k < end; k++) {
        largest = fmax(largest, level->sum[k]);
    }
    return largest;
}

/* A density of degree 6 may also fit a level that is empty between two that are not, as few values leave it: one that has less
 * than a quarter of the largest on either side, by five deviations of that difference. */
static bool has_hole(const struct regress_levels *level, size_t levels)
{
    const double noise = level->noise * level->noise;
    bool has = false;
    for (size_t k = 1; k + 1 < levels; k++) {
        const double sides =
            fmin(largest_of(level, 0, k), largest_of(level, k + 1, levels)) / hole_times;
        const double variance = noise / hole_times / hole_times + fmax(sides, 1) / hole_times +
                                noise + fmax(level->sum[k], 1);
        has = has || sides - level->sum[k] > jump_deviations * sqrt(variance);
    }
    return has;
}

/* The others' slopes hardly depend on where this one's values lie: beside such a column they held in 0.92 or more
 * (docs/STUDY.md). */
static void leave_jumping_out(struct regress_fit *fit, size_t predictor)
{
    const struct regress_design *design = fit->cells->design;
    size_t term = design->intervals;
    for (size_t i = 0; i < predictor; i++) {
        term += design->predictor[i].is_number ? 1 : design->predictor[i].levels - 1;
    }
    if (fit->lack[term] == REGRESS_LACKS_NOTHING) {
        fit->lack[term] = REGRESS_LACKS_SMOOTH;
    }
}

/* Where the density has to tell how values lie within levels: whether it can. */
static void judge(struct regress_fit *fit, size_t predictor, const struct regress_density *density,
                  const struct regress_levels *level)
{
    if (density->variance < deviation_least * deviation_least) {
        leave_all_out(fit, predictor);
    }
    if (jumps(density, level) || has_hole(level, density->levels)) {
        leave_jumping_out(fit, predictor);
    }
}

void regress_place(struct regress_fit *fit)
{
    const struct regress_cells *cells = fit->cells;
    const struct regress_design *design = cells->design;
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    struct regress_density density[REGRESS_PREDICTORS_MAX];
    struct regress_columns *columns = &fit->columns;
    double noise[REGRESS_SLOPES_MAX * REGRESS_SLOPES_MAX];
    struct regress_told told[REGRESS_SLOPES_MAX];
    fit->pairs = 0;
    if (!design->is_rounded) {
        place_at_values(fit);
        return;
    }
    regress_sum_levels(level, cells);
    for (size_t i = 0; i < design->predictors; i++) {
        set_noise(&fit->shape[i], &design->predictor[i], &level[i]);
        if (design->predictor[i].is_number) {
            regress_density_fit(&density[i], &fit->shape[i], &level[i], &design->predictor[i]);
            if (!fit->shape[i].is_hidden && !level[i].is_alone &&
                !regress_density_is_known(&density[i])) {
                judge(fit, i, &density[i], &level[i]);
            }
        }
    }
    regress_set_columns(fit, noise, density);
    for (size_t c = 0; c < columns->count; c++) {
        const size_t i = columns->of[c];
        regress_tell_by_others(&told[c], columns, c);
        if (design->predictor[i].is_number) {
            regress_density_narrow(&density[i], told[c].precision - 1 / density[i].variance);
        }
    }
    place_points(fit, columns, told, density);
    regress_set_pairs(fit, told, noise, density);
}
