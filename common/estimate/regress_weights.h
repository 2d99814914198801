/* regress_weights.h - how much a point of a regression counts, and what is left out of it. Inside regress alone. */

#ifndef ESTIMATE_REGRESS_WEIGHTS_H
#define ESTIMATE_REGRESS_WEIGHTS_H

#include "estimate/regress.h"

/** Writes how many records have each outcome: sum (outcomes). */
void regress_sum_outcomes(double *sum, const struct regress_cells *cells);

/* For a regression on events: how many there are, and how many records without. */
struct regress_events {
    double with, without; /* unit: records */
    double noise;         /* the deviation of each */
    bool is_hidden;       /* the fewer of them are not above their noise */
};

/** Sums it over the outcomes' sums. Returns false where the family has no events. */
bool regress_sum_events(struct regress_events *out, const struct regress_cells *cells,
                        const double *sum);

/** What is released of a predictor's levels. */
struct regress_levels {
    double sum[REGRESS_LEVELS_MAX];    /* (levels) unit: records */
    double noise;                      /* the deviation of each */
    bool is_found[REGRESS_LEVELS_MAX]; /* whether its records are above what noise alone may show */
    bool
        is_alone; /* one level alone is found, and the others are empty as far as noise lets it be told */
    bool is_told; /* whether it can be said of a level that it is empty */
};

/** Writes it of each predictor: level (predictors). */
void regress_sum_levels(struct regress_levels *level, const struct regress_cells *cells);

/** Sets fit's weights from cells and the outcomes' sums, and what is left out. */
void regress_set_weights(struct regress_fit *fit, const double *outcomes);

/** Leaves the intervals of hazards out in which no event was found: from their noisy sum over all points, by the outcomes' sums. */
void regress_leave_intervals_out(struct regress_fit *fit, const double *outcomes);

/** Sets the values of numbers at each point, and what their columns' shapes leave of doubt. */
void regress_place(struct regress_fit *fit);

/* The noise of H's inverse over it, up to which a coefficient is given. */
#define REGRESS_NOISE_MOST 0.3

/* The fewest records of a category that is given. */
#define REGRESS_RECORDS_LEAST 3

/** Writes the fit in which all slopes are 0: H, and the baselines that go with them. Returns false where H has no inverse. */
bool regress_make_plain(struct regress_fit *out, const struct regress_fit *fit);

#endif
