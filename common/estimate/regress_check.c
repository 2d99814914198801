/* regress_check.c - whether a line fits over a number's levels, as released. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_score.h"

#include <math.h>

/* The sum of a level's scores is about 0 where the model holds, over the same cells that b is solved from. Its variance is taken as if b were known, which is more. */
static double misfit_of(const struct regress_fit *fit, size_t predictor)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_asked asked = {design, fit->leaving, fit->is_out};
    const double *cell = fit->cells->cell;
    const double *weight = fit->weight;
    const double *raised = fit->raised;
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
            sum[k] += (*cell - fit->lifted[y] - *raised) * score;
            variance[k] += (*cell + fit->cells->variance) * score * score;
        }
        weight++;
        raised++;
    } while (regress_point_next(&point, design));
    for (size_t k = 0; k < design->predictor[predictor].levels; k++) {
        square += variance[k] > 0 ? sum[k] * sum[k] / variance[k] : 0;
        count += variance[k] > 0 ? 1 : 0;
    }
    return fit->is_solved && count > 2 ? chi_squared_above(square, count) : NAN;
}

double regress_misfit(const struct regress_fit *fit, size_t predictor)
{
    const double own = misfit_of(fit, predictor);
    return fit->other != NULL ? fmax(own, misfit_of(fit->other, predictor)) : own; /* not a NAN */
}
