/* correlate_private.h - a pair of columns behind noise, for the files of correlate alone. */

#ifndef ESTIMATE_CORRELATE_PRIVATE_H
#define ESTIMATE_CORRELATE_PRIVATE_H

#include "estimate/correlate.h"

#include <stdbool.h>
#include <stddef.h>

/* The rules of what is shown. */
static const double correlate_variance_noise_most = 0.15; /* of a column's variance */
/* Above that many deviations of its noise a variance is no longer near the least: correlate_is_near. */
static const double correlate_over_far = 1 / 0.15 + 1.75;
static const double correlate_records_least = 25;
static const double correlate_size_over_noise = 5;

/* The cells that a pair follows from, and a figure's gradient in them. */
enum pair_cell { CELL_HALF, CELL_FIRST, CELL_SECOND, CELL_SQUARE, CELL_OTHER_SQUARE, CELL_PRODUCT };
enum { PAIR_CELLS = CELL_PRODUCT + 1 };

struct correlate_gradient {
    double by[PAIR_CELLS];
};

/* A column's variance as it may be, given that it was shown. */
struct correlate_shown {
    double variance;
    double slope; /* of it, by what was found */
    double share; /* what was taken off, over the noise's variance */
};

/* Two columns and their correlation. */
struct correlate_two {
    size_t i, j;
    struct correlate_shown first, second;
    double r;       /* maybe beyond 1 */
    bool is_pinned; /* the first one's variance is set to a limit, whatever its noise is */
};

/* What a pair's interval and test are made of. */
struct correlate_ends {
    double low, high;             /* of r, by sampling and noise */
    double noise_low, noise_high; /* by the noise alone */
    double noise, sampling;       /* standard deviations */
};

/** Returns the place of the product of two columns in the cells. */
size_t correlate_place(size_t columns, size_t i, size_t j);

/** Returns the place of the sum of z_i^a z_j^b in the cells, 3 <= a + b <= 4; by how much it is multiplied in *times. */
size_t correlate_fourth_place(double *times, const struct correlate_moments *moments,
                              const size_t *pair, const unsigned *power);

/** Returns the variance of the noise on a figure of this gradient. */
double correlate_noise_by(const struct correlate *all, const struct correlate_gradient *gradient);

/** Returns the standard deviation of the noise on a column's variance, and how many of these the variance is above the least
 * that is shown. */
double correlate_noise_of_variance(const struct correlate *all, size_t i);
double correlate_over(const struct correlate *all, size_t i);

/** Returns the pair as it was found. */
struct correlate_two correlate_found(const struct correlate *all, size_t i, size_t j);

/** Returns whether a column's variance is near the least that is shown; and the pair as it would be if noise had let the first
 * column through. share: how much of what that moved the covariance has moved with it, over the mean. */
bool correlate_is_near(const struct correlate *all, size_t i);
struct correlate_two correlate_let_through(const struct correlate *all, size_t i, size_t j,
                                           double share);

/** Return the gradient of r, as if it were `at`; and that of what noise is left in it, where the first variance is pinned. */
struct correlate_gradient correlate_by_pair(const struct correlate *all,
                                            const struct correlate_two *pair, double at);
struct correlate_gradient correlate_by_pair_noise(const struct correlate *all,
                                                  const struct correlate_two *pair, double at);

/** Returns the variance that the sample makes in a figure of this gradient, by the fourth moments, which there are; 0 or more. doubt:
 * the deviation of the noise on it. */
double correlate_sampling(double *doubt, const struct correlate *all,
                          const struct correlate_gradient *gradient,
                          const struct correlate_two *pair);

/** Returns what is added to a sampling variance for its doubt, where the noise on the figure itself has a variance. */
double correlate_doubt_added(double doubt, double noise);

/** Returns the interval of a pair. */
struct correlate_ends correlate_ends_of(const struct correlate *all,
                                        const struct correlate_two *pair);

/* Two independent normal columns. */
struct correlate_like {
    double records;
    double mean[2];
    double variance[2];
};

enum { CORRELATE_CELLS_OF_TWO = 1 + 5 + 4 + 5 };

/** Writes the cells that such columns have in the mean. cell: (CORRELATE_CELLS_OF_TWO) */
void correlate_fill(double *cell, const struct correlate_like *like, uint32_t fourth);

#endif
