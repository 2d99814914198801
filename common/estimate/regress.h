/* regress.h - regressions from counts of records by cell, behind noise: coefficients, with what the records' number and the
 * noise leave uncertain.
 *
 * A record is in one cell: a point (a level of every predictor) and an outcome. So each sum over records of a likelihood's
 * first and second derivative is a sum over cells, and linear in the noise. With n_c the cells behind noise, x_c the point's
 * predictors, and s_c and h_c the first and the negative second derivative of a record's log-likelihood in cell c:
 *
 *   U(b) = sum of n_c w_c s_c(b)        0 at the estimate; its mean at the true b is 0, whatever the noise
 *   H(b) = sum of n_c w_c h_c(b)
 *   Cov  = H^-1 (sum of n_c w_c^2 s_c s_c' + v (sum of w_c^2 s_c s_c' - S S'/m)) H^-1,  S = sum of w_c s_c, v the noise's variance
 *
 * The weight w is the point's, never the outcome's: it leaves U unbiased, and keeps the noise of points where few records are
 * out. Without noise it is 1.
 *
 * The first part is the sandwich estimator of the sampling variance: it holds too where the model does not, and the
 * coefficients are then those of the best model with these weights. The second is exact, as the noise's variance is public.
 *
 * A coefficient is a quotient of two noisy sums. So its interval is wider by 1/sqrt(1 - z^2 r^2), r the noise's deviation of
 * (H^-1)_jj over it: Fieller's, but for the distance of its middle from the estimate. For hazards and counts it is wider by the square
 * of that, as what is shown near the limit is what noise made larger; r has the noise of the sum of counts, too.
 *
 * A number is known by its level alone, and counts by the mean of its values there, as regress_place.c tells it. What levels leave
 * open of that, and the noise of the covariances that it depends on, are part of the interval. A coefficient is given where the noise
 * of H leaves it meaning: its deviation of (H^-1)_jj is below 0.3 of it. Also where that of a level's records is below 0.15 of an
 * even level's, of a category's 0.25, and of the sum of counts 0.15; where events, and records without, are above 1.5 deviations of
 * their noise; where no number's values lie within less than 0.12 of its range (their deviation); and where a number's levels are those
 * of a smooth density, or nearly.
 *
 * b = (baselines, slopes). A model's baselines: one intercept; of hazards one for each interval, log of -log(1 - h), h the
 * chance to die in it. Slopes then are logarithms of hazard ratios (the grouped Cox model). */

#ifndef ESTIMATE_REGRESS_H
#define ESTIMATE_REGRESS_H

#include "estimate/table1.h"

#include <stdbool.h>
#include <stddef.h>

enum regress_family {
    REGRESS_LOGISTIC, /* outcomes: 0 and 1 */
    REGRESS_LINEAR, /* outcomes: levels of a number; one between two counts in both, with their mean */
    REGRESS_POISSON, /* likewise; log of the mean is linear */
    REGRESS_HAZARD   /* outcomes: deaths (intervals), censorings (intervals), still there (1) */
};

enum {
    REGRESS_PREDICTORS_MAX = 8,
    REGRESS_LEVELS_MAX = 16,
    REGRESS_ATOMS_MAX = 128, /* more values than that are as good as smooth */
    REGRESS_INTERVALS_MIN = 2,
    REGRESS_INTERVALS_MAX = 12,
    REGRESS_SLOPES_MAX = 24,
    REGRESS_TERMS_MAX = REGRESS_INTERVALS_MAX + REGRESS_SLOPES_MAX,
    REGRESS_OUTCOMES_MAX = 2 * REGRESS_INTERVALS_MAX + 1,
    REGRESS_CELLS_MAX = 8192,
    REGRESS_POINTS_MAX = REGRESS_CELLS_MAX / 2
};

struct regress_predictor {
    size_t levels;
    bool is_number;                   /* one slope; else one for each level but the first */
    double value[REGRESS_LEVELS_MAX]; /* (levels) of a number, in [-1, 1] */
    size_t atoms; /* of a number: how many values it takes, such as whole numbers; 0: any */
    double atom[REGRESS_ATOMS_MAX];      /* (atoms) rising, in [-1, 1] */
    size_t atom_end[REGRESS_LEVELS_MAX]; /* (levels) how many lie in it and in those before */
};

struct regress_design {
    enum regress_family family;
    const struct regress_predictor *predictor; /* (predictors); the last one's level runs fastest */
    size_t predictors;
    size_t intervals;      /* of hazards; else 1 */
    size_t outcomes;       /* run faster than the points */
    const double *outcome; /* (outcomes) values of a number's levels; NULL of others */
    bool is_rounded;       /* numbers lie somewhere within their levels; else at value */
};

struct regress_cells {
    const struct regress_design *design;
    const double *cell; /* (points, outcomes) balanced: cells.h; unit: records */
    size_t m;           /* with the one of the records that are in none */
    double variance;    /* of the noise on a cell, before balancing; unit: records^2 */
};

/** Returns how many points and slopes a design has. */
size_t regress_points(const struct regress_design *design);
size_t regress_slopes(const struct regress_design *design);

/* Why a coefficient is left out of a fit. */
enum regress_lack {
    REGRESS_LACKS_NOTHING,
    REGRESS_LACKS_RECORDS, /* no record was found in its category */
    REGRESS_LACKS_FIRST,   /* none in the category to which it is compared */
    REGRESS_LACKS_LEVELS,  /* they were found in one of the predictor's levels alone */
    REGRESS_LACKS_EVENTS,  /* no event was found in the interval; of baselines of hazards */
    REGRESS_LACKS_RANGE,   /* a number's values lie too close together for its levels; of all */
    REGRESS_LACKS_SMOOTH   /* no smooth density has a number's released levels */
};

enum { REGRESS_SHAPE = 6 };

/* What is told of a predictor's levels; of a number's density: how it moves their means. */
struct regress_shape {
    bool
        is_hidden; /* noise leaves nothing of it to tell: values are the middles of their levels, and no slope is given */
    double by[REGRESS_LEVELS_MAX][REGRESS_SHAPE]; /* (levels, its terms) */
    double at_end[REGRESS_LEVELS_MAX]; /* (levels) by values at the range's ends, in deviations */
    double noise;                      /* of a level's records, over the most at which it is told */
    double factor[REGRESS_SHAPE *
                  REGRESS_SHAPE]; /* Cholesky's, of the inverse of the terms' covariance */
};

/* How two columns move each other's values within levels, if their covariance is a deviation of its noise nearer to 0, or
 * further away. A column is a number, or one category. */
struct regress_pair {
    size_t column[2];
    double by; /* the deviation of the covariance of levels' means, with its sign */
    double tilt
        [2][REGRESS_SLOPES_MAX]; /* (2, columns) what more a column tells of the one or the other */
    double precision[2];         /* and how much more all others tell of it */
};

struct regress_columns {
    size_t count;
    size_t of[REGRESS_SLOPES_MAX];    /* the predictor */
    size_t level[REGRESS_SLOPES_MAX]; /* of a category */
    double mean[REGRESS_SLOPES_MAX];
    double together[REGRESS_SLOPES_MAX * REGRESS_SLOPES_MAX]; /* covariances */
    double most[REGRESS_SLOPES_MAX]; /* of a number's variance, that others are taken to tell */
};

enum { REGRESS_PAIRS_MAX = REGRESS_SLOPES_MAX * (REGRESS_SLOPES_MAX - 1) / 2 };

struct regress_fit {
    const struct regress_cells *cells;
    const struct regress_fit
        *other; /* of the same cells, whose numbers may be read otherwise; NULL after
                                        regress_solve: figures are of both */
    size_t terms;
    bool is_solved;
    double mean_noise; /* of counts: the noise of their sum, over it; else 0 */
    double lifted
        [REGRESS_OUTCOMES_MAX]; /* (outcomes) of counts: what is in each cell, in the mean, as their sum is shown */
    double weight[REGRESS_POINTS_MAX]; /* of each point */
    double
        raised[REGRESS_POINTS_MAX]; /* what noise adds to each cell of a point, in the mean, as the
                                          point's weight goes with it; unit: records */
    double placed[REGRESS_POINTS_MAX *
                  REGRESS_PREDICTORS_MAX]; /* (points, predictors) of numbers: their values */
    double within[REGRESS_POINTS_MAX *
                  REGRESS_PREDICTORS_MAX]; /* likewise: the variance of the values there */
    struct regress_columns columns;
    struct regress_pair pair[REGRESS_PAIRS_MAX];
    size_t pairs;
    double leaving
        [REGRESS_INTERVALS_MAX]; /* (intervals) of hazards, the share of those who do not die that leaves, of all points */
    bool is_out[REGRESS_TERMS_MAX];            /* (terms) is 0, and moves no other */
    enum regress_lack lack[REGRESS_TERMS_MAX]; /* (terms) of a slope, or an interval */
    enum regress_lack lack_of_first; /* of the baselines, where a first category is empty */
    size_t narrow;                   /* the predictor, where REGRESS_LACKS_RANGE */
    struct regress_shape shape[REGRESS_PREDICTORS_MAX];   /* (predictors) of numbers */
    double b[REGRESS_TERMS_MAX];                          /* (terms) */
    double factor[REGRESS_TERMS_MAX * REGRESS_TERMS_MAX]; /* (terms, terms) Cholesky's, of H */
};

/**
 * Solves U(b) = 0 by Newton's steps. is_solved is false where noise leaves H without an inverse, or the steps do not end.
 *
 * Two things are left out, and their records count for nothing: a category whose records are not above 2 deviations of their noise,
 * where a third of an even one would be; and of a predictor of which one level alone has records above 3 deviations, the others.
 * For hazards an interval is left out likewise whose events are not above 3 deviations, where a third of the largest's would be.
 * The other coefficients are those of the other records.
 *
 * Keeps cells. Sources: McCullagh and Nelder 1989; Prentice and Gloeckler 1978 (grouped hazards). Deviation: as many leave
 * an interval alive as did of all records, at times that are even over it, while they count a censored record for half of it.
 */
void regress_solve(struct regress_fit *out, const struct regress_cells *cells);

/** Returns why a sum of weight (terms) and b is left out. */
enum regress_lack regress_lacks(const struct regress_fit *fit, const double *weight);

/** Returns the sum of weight (terms) and b: value, interval, deviations. With another reading the interval covers both. If the
 * released levels rule the other reading out, the interval is fit's own; if either reading is refused for another reason,
 * nothing is given. There is no interval of the noise alone: without noise the weights are others, and the coefficients a
 * little, too. Not given where the fit is not solved, or by the rule above. */
struct table1_figure regress_figure(const struct regress_fit *fit, const double *weight);

/** Answers whether a figure that is given is of both readings: there is another one that the released levels do not rule out. */
bool regress_covers_both(const struct regress_fit *fit, const double *weight);

/** What a sum would be given by if all slopes were 0, the records and their outcomes being what they are: a choice by it hardly
 * looks at the slopes. NAN: not given. The information, 1 / (w'H^-1 w), moves with the cells by sampling and noise, and so does
 * the sum. */
struct regress_choice {
    double factor;    /* as regress_figure's */
    double deviation; /* of the information's logarithm, and so of the factor's */
    double moves; /* how far the sum is moved where the information is one deviation too large */
};
struct regress_choice regress_choice(const struct regress_fit *fit, const double *weight);

/** Returns the p-value of the test that a figure of regress_figure is 0; NAN: not given. */
double regress_test(const struct table1_figure *figure);

/** Returns the p-value of the test that outcomes follow the model over a predictor's levels; NAN: none. It takes b as known,
 * and rejects less often than it says. With another reading: the larger of both. Source: a score test of one more term for each
 * level, with the sandwich's variance. */
double regress_misfit(const struct regress_fit *fit, size_t predictor);

enum { REGRESS_REPLAY_MOST = 100 };

/** With how much less noise coefficients that are not given would be. */
struct regress_replay {
    double factor
        [REGRESS_TERMS_MAX]; /* (count) times the epsilon, or the records; NAN: none is found up to the most;
                                             1: it is not the noise that is missing */
    bool is_even; /* the levels of a predictor are hidden, and records taken as even over them */
    bool is_event_assumed; /* events are hidden, and a fifth taken to have it */
    bool has_no_records;   /* none is found in which nothing is missing */
    bool has_few_events;   /* fewer than a fifth, and not above their noise: nothing is found */
    bool has_all_events;   /* fewer than a fifth have none, and not above their noise */
    double events_most;    /* at most this many events, 97.5 %; of a regression on events */
};

/** Finds it of each sum of weight (count, REGRESS_TERMS_MAX) and b, by solving the design again on cells like those released. A
 * factor is one with which they are given in each of 8 draws of the noise. Cost: of a coefficient that is not found some 30 times
 * regress_solve's. */
void regress_replay(struct regress_replay *out, const struct regress_fit *fit, const double *weight,
                    size_t count);

/** Writes the shares of the outcomes that a plan assumes: share (outcomes). */
void regress_expect_outcomes(double *share, const struct regress_design *design);

/** What is expected where records lie evenly over the points, slopes are 0, and a fifth have the event; a number's
 * outcomes spread by a sixth of their range. */
struct regress_expected {
    double
        half; /* of the interval of the predictor's first slope, as of its others; NAN: not given */
    double factor; /* how many times the records would be enough; below 1: it is given */
};
struct regress_expected regress_expect(const struct regress_design *design, size_t predictor,
                                       double records, double variance);

/** The same of the sum of weight (terms) and b. */
struct regress_expected regress_expect_sum(const struct regress_design *design,
                                           const double *weight, double records, double variance);

/** Return the fewest records with which the predictor's first slope, or the sum, is given, and its factor is below `doubt`, 1 for a
 * regression alone; as cells_fewest_records. */
double regress_fewest(const struct regress_design *design, size_t predictor, double variance,
                      double doubt);
double regress_fewest_of_sum(const struct regress_design *design, const double *weight,
                             double variance, double doubt);

/** Sets a number's values: the middles of levels that are even over [-1, 1]. For one that takes few values, levels become as
 * many as these at most, have about as many each, and their values are these values' means. */
void regress_set_even(struct regress_predictor *predictor);

enum { REGRESS_PLAN_MOST = 8, REGRESS_PLAN_LEAST = 3 };

/** Returns the number of levels of all numbers for which a slope errs least by sampling, noise and rounding together, if the
 * factor of regress_expect is at most a half and the cells are not above REGRESS_CELLS_MAX; else REGRESS_PLAN_LEAST. A slope of 1
 * is taken to lose 1/levels^2 by rounding: on the hospitals' columns it is 0.11, 0.05, 0.05, 0.03 and 0.01 at 3, 4, 5, 6 and 8.
 * Changes predictor, which is design's. */
size_t regress_plan(const struct regress_design *design, struct regress_predictor *predictor,
                    double records, double variance);

#endif
