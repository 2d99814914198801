/* regress_counts.h - what noise does to a logarithm of counts, and what is shown of it. Inside regress alone.
 *
 * A cell of y counts holds y times its noise, so that counts drown in noise long before records do. A figure is shown where the
 * counts that tell it are large enough, and of those near that limit noise has made more too large than too small. */

#ifndef ESTIMATE_REGRESS_COUNTS_H
#define ESTIMATE_REGRESS_COUNTS_H

#include "estimate/regress.h"

/* The noise of the sum of counts, over it, up to which a regression of counts is solved. */
#define REGRESS_MEAN_NOISE_MOST 0.15

/** Returns the noise of the sum of counts, over it; of other families 0. sum: (outcomes) records */
double regress_mean_noise(const struct regress_cells *cells, const double *sum);

/** Sets fit's lifted from its mean_noise. sum: (outcomes) records */
void regress_set_lifted(struct regress_fit *fit, const double *sum);

/** Answers whether a figure w'b is of a category; numbers' slopes are told by the records of all. weight: (terms) w */
bool regress_is_of_category(const struct regress_fit *fit, const double *weight);

/* Sums over cells of what a record more in a cell adds to counts, and of how it moves a figure. */
struct regress_counting {
    struct regress_counting_of {
        double sum, square, joint;
    } all, own; /* of every count; of each as far as it tells the figure */
};

/** Adds a cell. counts: that a record of it adds; moves: how far it moves the figure */
void regress_count(struct regress_counting_of *of, double counts, double moves);

/* What of a figure's interval comes of its being shown. */
struct regress_counted {
    double moved_by_all;      /* in the mean, either way: the sum of counts is shown just yet */
    double factor;            /* of a category, by the noise of its counts: as regress_figure's */
    double too_high, too_low; /* by how much they may have moved the figure */
};

/** Returns it of a figure w'b. weight: (terms) w; moves: the sum of the figure's moves over cells; inverse: w'H^-1 w. For other
 * families than counts all is 0. */
struct regress_counted regress_counted(const struct regress_fit *fit, const double *weight,
                                       const struct regress_counting *counting, double moves,
                                       double inverse);

#endif
