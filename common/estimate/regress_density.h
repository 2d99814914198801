/* regress_density.h - the density of a number that is known by its levels alone, and the doubt of it. Inside regress alone.
 *
 * It is e^(sum of a_d P_d(x)) over [-1, 1], P_d Legendre's polynomials, at some nodes in each level. The a_d are taken to be normal
 * about 0, which only binds where levels tell little. The nodes of a number that takes few values are these values. */

#ifndef ESTIMATE_REGRESS_DENSITY_H
#define ESTIMATE_REGRESS_DENSITY_H

#include "estimate/regress.h"
#include "estimate/regress_weights.h"

enum {
    REGRESS_NODES = 12, /* of a level of a number that takes any value */
    REGRESS_NODES_MAX = REGRESS_LEVELS_MAX * REGRESS_NODES
};

_Static_assert(REGRESS_ATOMS_MAX <= (int)REGRESS_NODES_MAX, "atoms are nodes");

struct regress_density {
    size_t levels;
    size_t end[REGRESS_LEVELS_MAX]; /* (levels) how many nodes lie in it and in those before */
    double x[REGRESS_NODES_MAX];    /* (nodes) rising */
    double width;                   /* from node to node, where all are as far apart; else 0 */
    double p[REGRESS_NODES_MAX][REGRESS_SHAPE]; /* polynomials at each node */
    double at[REGRESS_NODES_MAX];     /* of each node; their sum is 1, or a level's most is */
    double log_at[REGRESS_NODES_MAX]; /* once narrowed, its logarithm */
    double mean[REGRESS_LEVELS_MAX];  /* of each level; its middle, where it has no node */
    double centre, variance;
    double kept; /* the variance of levels' means, over it */
};

/** Fits it to what is released of the levels, and sets the doubt of it in shape. No level is taken to have fewer records than
 * its noise. */
void regress_density_fit(struct regress_density *out, struct regress_shape *shape,
                         const struct regress_levels *level,
                         const struct regress_predictor *predictor);

/** Returns the first node of a level. */
size_t regress_density_first(const struct regress_density *density, size_t level);

/** Answers whether each level has one value alone, so that its mean is known whatever the density. */
bool regress_density_is_known(const struct regress_density *density);

/** Multiplies it by exp(-q (x - centre)^2/2), each level over its most: far from the centre it is below what a double can hold. */
void regress_density_narrow(struct regress_density *density, double q);

/** Returns a level's mean under f(x) exp(t x), of one that is narrowed, and the variance there. */
double regress_density_mean(double *variance, const struct regress_density *density, size_t level,
                            double t);

/** Returns the variance of a figure w'b that the numbers' values have. Where values lie further apart, slopes are nearer to 0
 * by as much; scores, whose mean is 0, move none in the mean. weight: (terms) w; a: (terms) H^-1 w; variance: the figure's own */
double regress_by_shape(const struct regress_fit *fit, const double *weight, const double *a,
                        double variance);

/** Writes how far a figure w'b is moved by a record more at each point, as it moves the covariances that values depend on: by
 * (points). a: as above */
void regress_by_covariance(double *by, const struct regress_fit *fit, const double *a);

/** Returns how many times sampling's deviation of a category's coefficient is longer, as the few records of the category, or of
 * the one that it is compared to, tell that deviation themselves: by Student's t and n/(n - 1). 1 where none is a category's. */
double regress_by_few(const struct regress_fit *fit, const double *weight);

/** Returns the largest noise of the predictors whose slopes have a weight: 1 is the most at which they are given. */
double regress_level_noise(const struct regress_fit *fit, const double *weight);

#endif
