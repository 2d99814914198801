/* regress_doubt.c - what levels leave open of a coefficient. */

#include "estimate/cells.h"
#include "estimate/regress_columns.h"
#include "estimate/regress_density.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>

/* A slope as far as its own variance lets it be told: what noise makes of a slope of 0 is no doubt of values. */
static double told_slope(const struct regress_fit *fit, const double *weight, size_t term,
                         double variance)
{
    const double square = fit->b[term] * fit->b[term];
    bool is_alone = weight[term] == 1;
    for (size_t i = 0; i < fit->terms; i++) {
        is_alone = is_alone && (i == term || weight[i] == 0);
    }
    return is_alone ? copysign(sqrt(fmax(square - variance, 0)), fit->b[term]) : fit->b[term];
}

/* By how much a figure falls with a point's sum of slopes and values. a: H^-1 w; at: the point's index */
static double bend_at(const struct regress_fit *fit, const double *a,
                      const struct regress_point *point, size_t at)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_asked asked = {design, fit->leaving, fit->is_out};
    const double *cell = fit->cells->cell + at * design->outcomes;
    double eta[REGRESS_INTERVALS_MAX];
    double along[REGRESS_INTERVALS_MAX] = {0};
    double bend = 0;
    regress_set_eta(eta, design, fit->b, point);
    regress_set_eta(along, design, a, point);
    for (size_t y = 0; y < design->outcomes; y++) {
        struct regress_score one;
        regress_score(&one, &asked, eta, y);
        for (size_t i = 0; i < one.count; i++) {
            bend += fit->weight[at] * (cell[y] - fit->lifted[y]) * one.curve[i] * along[i];
        }
    }
    return bend;
}

double regress_by_shape(const struct regress_fit *fit, const double *weight, const double *a,
                        double variance)
{
    const struct regress_design *design = fit->cells->design;
    double by_value[REGRESS_PREDICTORS_MAX][REGRESS_LEVELS_MAX] = {{0}};
    double slope[REGRESS_PREDICTORS_MAX] = {0}; /* of numbers */
    double sum = 0;
    size_t at = 0;
    for (size_t i = 0, term = design->intervals; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        slope[i] = predictor->is_number ? told_slope(fit, weight, term, variance) : 0;
        term += predictor->is_number ? 1 : predictor->levels - 1;
    }
    struct regress_point point;
    regress_point_first(&point, design, fit->placed);
    do {
        const double bend = bend_at(fit, a, &point, at++);
        for (size_t i = 0; i < design->predictors; i++) {
            by_value[i][point.level[i]] -= bend * slope[i];
        }
    } while (regress_point_next(&point, design));
    for (size_t i = 0; i < design->predictors; i++) {
        double by[REGRESS_SHAPE] = {0};
        if (!design->predictor[i].is_number || !design->is_rounded || fit->shape[i].is_hidden) {
            continue;
        }
        for (size_t k = 0; k < design->predictor[i].levels; k++) {
            const double at_end = by_value[i][k] * fit->shape[i].at_end[k];
            sum += at_end * at_end;
            for (size_t d = 0; d < REGRESS_SHAPE; d++) {
                by[d] += by_value[i][k] * fit->shape[i].by[k][d];
            }
        }
        sum += cholesky_form(fit->shape[i].factor, by, REGRESS_SHAPE);
    }
    return sum;
}

/* A column's distance from its mean. */
static double away_of(const struct regress_fit *fit, size_t column,
                      const struct regress_point *point)
{
    const struct regress_columns *columns = &fit->columns;
    return regress_column_at(columns, column, fit->cells->design, point->level, point->placed) -
           columns->mean[column];
}

/* How far a pair moves the sum of slopes and values at a point: by dt - (x - mu) dq of each number times the variance within its
 * level, as regress_place.c has t and q. slope: (predictors) of numbers, else 0; at: the point's index */
static double moved_by_pair(const struct regress_fit *fit, const struct regress_pair *pair,
                            const struct regress_point *point, const double *slope, size_t at)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_columns *columns = &fit->columns;
    double sum = 0;
    for (size_t k = 0; k < 2; k++) {
        const size_t i = columns->of[pair->column[k]];
        double t = 0;
        if (slope[i] == 0) {
            continue;
        }
        for (size_t c = 0; c < columns->count; c++) {
            t += (pair->tilt[k][c] - (columns->of[c] == i ? pair->precision[k] : 0)) *
                 away_of(fit, c, point);
        }
        sum += slope[i] * fit->within[at * design->predictors + i] * t;
    }
    return sum;
}

/* How far each pair's deviation moves the figure: (pairs) */
static void sum_pairs(double *by_pair, const struct regress_fit *fit, const double *a)
{
    const struct regress_design *design = fit->cells->design;
    double slope[REGRESS_PREDICTORS_MAX] = {0};
    struct regress_point point;
    size_t at = 0;
    for (size_t i = 0, term = design->intervals; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        slope[i] = predictor->is_number ? fit->b[term] : 0;
        term += predictor->is_number ? 1 : predictor->levels - 1;
    }
    regress_point_first(&point, design, fit->placed);
    do {
        const double bend = bend_at(fit, a, &point, at);
        for (size_t i = 0; i < fit->pairs; i++) {
            by_pair[i] -= bend * moved_by_pair(fit, &fit->pair[i], &point, slope, at);
        }
        at++;
    } while (regress_point_next(&point, design));
}

void regress_by_covariance(double *by, const struct regress_fit *fit, const double *a)
{
    const struct regress_design *design = fit->cells->design;
    double by_pair[REGRESS_PAIRS_MAX] = {0};
    double all = 0;
    struct regress_point point;
    for (size_t c = 0; c + 1 < fit->cells->m; c++) {
        all += fit->cells->cell[c];
    }
    if (fit->pairs > 0) {
        sum_pairs(by_pair, fit, a);
    }
    regress_point_first(&point, design, fit->placed);
    do {
        *by = 0;
        for (size_t i = 0; i < fit->pairs; i++) {
            const struct regress_pair *pair = &fit->pair[i];
            *by += by_pair[i] / pair->by * away_of(fit, pair->column[0], &point) *
                   away_of(fit, pair->column[1], &point) / fmax(all, 1);
        }
        by++;
    } while (regress_point_next(&point, design));
}

double regress_level_noise(const struct regress_fit *fit, const double *weight)
{
    const struct regress_design *design = fit->cells->design;
    double most = 0;
    for (size_t i = 0, term = design->intervals; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        const size_t slopes = predictor->is_number ? 1 : predictor->levels - 1;
        for (size_t k = 0; k < slopes; k++, term++) {
            most = weight[term] != 0 ? fmax(most, fit->shape[i].noise) : most;
        }
    }
    return most;
}

/* The 97.5 % point of Student's t over that of the normal distribution, by its expansion in 1/freedom (Abramowitz, Stegun 26.7.5):
 * from 2 degrees of freedom on it is 3.1 % too small at most. */
static double student_times(double freedom)
{
    const double z = ESTIMATE_Z;
    const double square = z * z;
    const double first = (square + 1) / 4;
    const double second = ((5 * square + 16) * square + 3) / 96;
    const double third = (((3 * square + 19) * square + 17) * square - 15) / 384;
    return 1 + (first + (second + third / freedom) / freedom) / freedom;
}

double regress_by_few(const struct regress_fit *fit, const double *weight)
{
    const struct regress_design *design = fit->cells->design;
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    double fewest = INFINITY;
    regress_sum_levels(level, fit->cells);
    for (size_t i = 0, term = design->intervals; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        const size_t slopes = predictor->is_number ? 1 : predictor->levels - 1;
        for (size_t k = 1; k <= slopes; k++, term++) {
            if (weight[term] != 0 && !predictor->is_number) {
                fewest = fmin(fewest, fmin(level[i].sum[0], level[i].sum[k]));
            }
        }
    }
    const double records = fmax(fewest, REGRESS_RECORDS_LEAST);
    return isinf(records) ? 1 : student_times(records - 1) * sqrt(records / (records - 1));
}
