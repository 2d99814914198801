/* regress_score.c - derivatives of a record's log-likelihood, a function for each family. */

#include "estimate/regress_score.h"

#include "base/status.h"
#include "estimate/cells.h"
#include "estimate/regress.h"

#include <math.h>
#include <string.h>

enum { ETA_MOST = 30 }; /* beyond, a chance or hazard is 0 or 1 in double precision */

static const double small = 1e-5; /* below, two terms of a series have five digits */

static void set_point(struct regress_point *point, const struct regress_design *design)
{
    size_t slope = 0;
    for (size_t i = 0; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        if (predictor->is_number) {
            point->x[slope++] =
                point->placed != NULL ? point->placed[i] : predictor->value[point->level[i]];
            continue;
        }
        for (size_t k = 1; k < predictor->levels; k++) {
            point->x[slope++] = point->level[i] == k ? 1 : 0;
        }
    }
}

void regress_point_first(struct regress_point *point, const struct regress_design *design,
                         const double *placed)
{
    memset(point, 0, sizeof *point);
    point->placed = placed;
    set_point(point, design);
}

bool regress_point_next(struct regress_point *point, const struct regress_design *design)
{
    size_t i = design->predictors;
    while (i > 0 && ++point->level[i - 1] == design->predictor[i - 1].levels) {
        point->level[--i] = 0;
    }
    point->placed += point->placed != NULL && i > 0 ? design->predictors : 0;
    set_point(point, design);
    return i > 0;
}

static double held(double eta)
{
    return fmin(fmax(eta, -ETA_MOST), ETA_MOST);
}

static void logistic(struct regress_score *out, UNUSED const struct regress_asked *asked,
                     const double *eta, size_t outcome)
{
    const double p = 1 / (1 + exp(-held(eta[0])));
    out->count = 1;
    out->score[0] = (double)outcome - p;
    out->curve[0] = p * (1 - p);
}

static void linear(struct regress_score *out, const struct regress_asked *asked, const double *eta,
                   size_t outcome)
{
    out->count = 1;
    out->score[0] = asked->design->outcome[outcome] - eta[0];
    out->curve[0] = 1;
}

static void poisson(struct regress_score *out, const struct regress_asked *asked, const double *eta,
                    size_t outcome)
{
    const double mean = exp(held(eta[0]));
    out->count = 1;
    out->score[0] = asked->design->outcome[outcome] - mean;
    out->curve[0] = mean;
}

/* For an interval u = e^eta is the hazard, q the chance to leave it alive, at a time that is even over it. A record's chance to
 *
 *   pass it     (1 - q) e^-u
 *   leave in it q c, c = (1 - e^-u)/u
 *   die in it   1 - (1 - q) e^-u - q c
 *
 * These are one for every u, so that the score's mean is 0. */
static void end_in(struct regress_score *out, size_t at, double u, double q, bool dies)
{
    const double first = dies ? (1.0 / 2 - q / 3) / (1 - q / 2) : 1.0 / 2;
    const double kept = exp(-u);
    const double c = -expm1(-u) / u;
    /* The chance's part that depends on u, and its first two derivatives by eta. */
    const double chance = dies ? 1 - (1 - q) * kept - q * c : c;
    const double slope = dies ? (1 - q) * u * kept + q * (c - kept) : kept - c;
    const double bend =
        dies ? (1 - q) * u * (1 - u) * kept + q * (kept - c + u * kept) : c - kept - u * kept;
    const double score = slope / chance;
    out->score[at] = u < small ? (dies ? 1 : 0) - u * first : score;
    out->curve[at] = u < small ? u * first : score * score - bend / chance;
}

static void hazard(struct regress_score *out, const struct regress_asked *asked, const double *eta,
                   size_t outcome)
{
    const size_t k = asked->design->intervals;
    const size_t last = outcome == 2 * k ? k : outcome % k; /* its last interval */
    for (size_t i = 0; i < last; i++) {
        out->curve[i] = exp(held(eta[i]));
        out->score[i] = -out->curve[i];
    }
    out->count = last;
    if (outcome < 2 * k) {
        end_in(out, last, exp(held(eta[last])), asked->leaving[last], outcome < k);
        out->count++;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->score[i] = asked->is_out[i] ? 0 : out->score[i];
        out->curve[i] = asked->is_out[i] ? 0 : out->curve[i];
    }
}

void regress_score(struct regress_score *out, const struct regress_asked *asked, const double *eta,
                   size_t outcome)
{
    static void (*const scores[])(struct regress_score *, const struct regress_asked *,
                                  const double *, size_t) = {
        [REGRESS_LOGISTIC] = logistic,
        [REGRESS_LINEAR] = linear,
        [REGRESS_POISSON] = poisson,
        [REGRESS_HAZARD] = hazard,
    };
    scores[asked->design->family](out, asked, eta, outcome);
}

/* Whether a line fits over a number's levels, as released. */

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

void regress_set_eta(double *eta, const struct regress_design *design, const double *b,
                     const struct regress_point *point)
{
    const size_t slopes = regress_slopes(design);
    double sum = 0;
    for (size_t k = 0; k < slopes; k++) {
        sum += b[design->intervals + k] * point->x[k];
    }
    for (size_t i = 0; i < design->intervals; i++) {
        eta[i] = b[i] + sum;
    }
}
