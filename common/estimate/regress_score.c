/* regress_score.c - derivatives of a record's log-likelihood, a function for each family. */

#include "estimate/regress_score.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

enum { ETA_MOST = 30 }; /* beyond, a chance or hazard is 0 or 1 in double precision */

static const double small = 1e-5; /* below, a death's curvature is u/2 to five digits */

static void set_point(struct regress_point *point, const struct regress_design *design)
{
    size_t slope = 0;
    for (size_t i = 0; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        if (predictor->is_number) {
            point->x[slope++] = predictor->value[point->level[i]];
            continue;
        }
        for (size_t k = 1; k < predictor->levels; k++) {
            point->x[slope++] = point->level[i] == k ? 1 : 0;
        }
    }
}

void regress_point_first(struct regress_point *point, const struct regress_design *design)
{
    memset(point, 0, sizeof *point);
    set_point(point, design);
}

bool regress_point_next(struct regress_point *point, const struct regress_design *design)
{
    size_t i = design->predictors;
    while (i > 0 && ++point->level[i - 1] == design->predictor[i - 1].levels) {
        point->level[--i] = 0;
    }
    set_point(point, design);
    return i > 0;
}

static double held(double eta)
{
    return fmin(fmax(eta, -ETA_MOST), ETA_MOST);
}

static void logistic(struct regress_score *out, UNUSED const struct regress_design *design,
                     const double *eta, size_t outcome)
{
    const double p = 1 / (1 + exp(-held(eta[0])));
    out->count = 1;
    out->score[0] = (double)outcome - p;
    out->curve[0] = p * (1 - p);
}

static void linear(struct regress_score *out, const struct regress_design *design,
                   const double *eta, size_t outcome)
{
    out->count = 1;
    out->score[0] = design->outcome[outcome] - eta[0];
    out->curve[0] = 1;
}

static void poisson(struct regress_score *out, const struct regress_design *design,
                    const double *eta, size_t outcome)
{
    const double mean = exp(held(eta[0]));
    out->count = 1;
    out->score[0] = design->outcome[outcome] - mean;
    out->curve[0] = mean;
}

/* A record survives interval i with exp(-u_i), u_i = e^eta_i; a censored one survives half of its last. A death in j:
 * d log(1 - e^-u)/d eta = u/(e^u - 1). */
static void hazard(struct regress_score *out, const struct regress_design *design,
                   const double *eta, size_t outcome)
{
    const size_t k = design->intervals;
    const size_t last = outcome == 2 * k ? k : outcome % k; /* its last interval */
    for (size_t i = 0; i < last; i++) {
        out->curve[i] = exp(held(eta[i]));
        out->score[i] = -out->curve[i];
    }
    out->count = last;
    if (outcome == 2 * k) {
        return;
    }
    const double u = exp(held(eta[last]));
    const double grown = expm1(fmin(u, 2 * ETA_MOST));
    const bool dies = outcome < k;
    out->score[last] = dies ? u / grown : -u / 2;
    out->curve[last] = dies && u > small ? u * (u + grown * (u - 1)) / (grown * grown) : u / 2;
    out->count++;
}

void regress_score(struct regress_score *out, const struct regress_design *design,
                   const double *eta, size_t outcome)
{
    static void (*const scores[])(struct regress_score *, const struct regress_design *,
                                  const double *, size_t) = {
        [REGRESS_LOGISTIC] = logistic,
        [REGRESS_LINEAR] = linear,
        [REGRESS_POISSON] = poisson,
        [REGRESS_HAZARD] = hazard,
    };
    scores[design->family](out, design, eta, outcome);
}
