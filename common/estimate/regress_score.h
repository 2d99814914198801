/* regress_score.h - derivatives of a record's log-likelihood, by cell. Inside regress alone. */

#ifndef ESTIMATE_REGRESS_SCORE_H
#define ESTIMATE_REGRESS_SCORE_H

#include "estimate/regress.h"

/* A point's predictors, as slopes see them. */
struct regress_point {
    size_t level[REGRESS_PREDICTORS_MAX];
    double x[REGRESS_SLOPES_MAX];
    const double *placed; /* (predictors) of numbers, or NULL: the middles of their levels */
};

/** Goes to the first point, and to the next. The next returns false after the last. */
void regress_point_first(struct regress_point *point, const struct regress_design *design,
                         const double *placed);
bool regress_point_next(struct regress_point *point, const struct regress_design *design);

/** Writes the baselines and x'slopes together: eta (intervals). */
void regress_set_eta(double *eta, const struct regress_design *design, const double *b,
                     const struct regress_point *point);

/* With z_i = (unit vector of baseline i, x): s = sum of score[i] z_i, h = sum of curve[i] z_i z_i'. */
struct regress_score {
    size_t count; /* baselines that the cell moves: the first ones */
    double score[REGRESS_INTERVALS_MAX];
    double curve[REGRESS_INTERVALS_MAX];
};

struct regress_asked {
    const struct regress_design *design;
    const double *leaving; /* (intervals) of hazards: regress.h */
    const bool *is_out;    /* (intervals) of hazards: the interval tells nothing */
};

/** Writes the derivatives of a point's cell. eta: (intervals) the baselines and x'slopes together */
void regress_score(struct regress_score *out, const struct regress_asked *asked, const double *eta,
                   size_t outcome);

#endif
