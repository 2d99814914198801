/* regress_check.c - what the released cells say of a number's levels: where records are, and whether a line fits. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most = 0.9;

static int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x > y ? -1 : x < y ? 1 : 0;
}

size_t regress_levels_of_most(const struct regress_cells *cells, size_t predictor)
{
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    const size_t levels = cells->design->predictor[predictor].levels;
    double all = 0;
    double sum = 0;
    size_t count = 0;
    regress_sum_levels(level, cells);
    double *own = level[predictor].sum;
    for (size_t k = 0; k < levels; k++) {
        own[k] = fmax(own[k], 0);
        all += own[k];
    }
    qsort(own, levels, sizeof *own, larger_first);
    while (count < levels && sum < most * all) {
        sum += own[count++];
    }
    return count;
}

/* The sum of a level's scores is about 0 where the model holds. Its variance is taken as if b were known, which is more. */
double regress_misfit(const struct regress_fit *fit, size_t predictor)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_asked asked = {design, fit->leaving, fit->is_out};
    const double *cell = fit->cells->cell;
    const double *weight = fit->weight;
    double sum[REGRESS_LEVELS_MAX] = {0};
    double variance[REGRESS_LEVELS_MAX] = {0};
    double square = 0;
    size_t count = 0;
    struct regress_point point;
    regress_point_first(&point, design, fit->placed);
    do {
        const size_t k = point.level[predictor];
        double eta[REGRESS_INTERVALS_MAX];
        regress_set_eta(eta, design, fit->b, &point);
        for (size_t y = 0; y < design->outcomes; y++, cell++) {
            struct regress_score one;
            double score = 0;
            regress_score(&one, &asked, eta, y);
            for (size_t i = 0; i < one.count; i++) {
                score += *weight * one.score[i];
            }
            sum[k] += *cell * score;
            variance[k] += (*cell + fit->cells->variance) * score * score;
        }
        weight++;
    } while (regress_point_next(&point, design));
    for (size_t k = 0; k < design->predictor[predictor].levels; k++) {
        square += variance[k] > 0 ? sum[k] * sum[k] / variance[k] : 0;
        count += variance[k] > 0 ? 1 : 0;
    }
    return fit->is_solved && count > 2 ? chi_squared_above(square, count) : NAN;
}
