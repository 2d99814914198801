/* survival_private.h - one group's curve in numbers, for the files of survival alone. */

#ifndef ESTIMATE_SURVIVAL_PRIVATE_H
#define ESTIMATE_SURVIVAL_PRIVATE_H

#include "estimate/survival.h"

#define SURVIVAL_RISK_OVER_NOISE                                                                   \
    5 /* that those at risk need, in standard deviations of their noise */

/* K = intervals; the gradient's row J is of L_J, by the group's own cells. */
struct survival_group {
    double at_risk[SURVIVAL_INTERVALS_MAX];       /* Y */
    double at_risk_noise[SURVIVAL_INTERVALS_MAX]; /* its noise's standard deviation */
    double log_survival[SURVIVAL_INTERVALS_MAX];
    double greenwood[SURVIVAL_INTERVALS_MAX];
    double gradient[SURVIVAL_INTERVALS_MAX][SURVIVAL_GROUP_CELLS_MAX];
    double gradient_sum[SURVIVAL_INTERVALS_MAX];                  /* what it weighs */
    double noise[SURVIVAL_INTERVALS_MAX][SURVIVAL_INTERVALS_MAX]; /* covariance of L */
    bool given[SURVIVAL_INTERVALS_MAX];
    size_t valid; /* the first intervals with Y > 5 sd(Y) and survivors */
    double
        size_over; /* how far the group's records are above the fewest that suffice, in their deviations; INFINITY: far */
    double size_deviation; /* by noise and sampling */
};

/** Returns what the noise's covariance of two figures of a group's own cells is made of, and what balancing takes off it: a, b:
 * (2K + 1) gradients in the group's cells; inner is summed over groups, as is what each figure weighs. */
double survival_inner(const struct survival_cells *cells, const double *a, const double *b);
double survival_weigh(const struct survival_cells *cells, const double *a);
double survival_covariance(const struct survival_cells *cells, double inner, double weighed_a,
                           double weighed_b);

/** Writes after cells the sums that are released with them. cell: (survival_released) */
void survival_put_sums(double *cell, const struct survival_cells *cells);

void survival_group_fill(struct survival_group *out, const struct survival_cells *cells,
                         size_t group);

/** Returns the standard deviation of L_J by sampling and noise. */
double survival_deviation(const struct survival_group *group, size_t interval);

/** Returns how far the ends of a 95 % interval are from the middle; of deviations by noise and sampling. No interval of the
 * noise alone reaches further. */
double survival_reach(double noise, double sampling);

/** Tells a group that is shown how far its records are above the limit. */
void survival_set_size_over(struct survival_group *out, const struct survival_cells *cells,
                            size_t group);

/* How far a figure was moved by what had to be large for it to be shown; all at least 0. An interval's lower end lies further
 * down by what is up, its upper end further up by what is down. */
struct survival_choice {
    double up; /* by noise and sampling */
    double down;
    double noise_up; /* by noise alone */
    double noise_down;
};

/** Return it of L_J, and of the mean. weight: (K) of each L. */
struct survival_choice survival_point_moves(const struct survival_group *group,
                                            const struct survival_cells *cells, size_t point);
struct survival_choice survival_mean_moves(const double *weight, const struct survival_group *group,
                                           const struct survival_cells *cells);

/** The restricted mean, with its gradient's sum for covariances between groups; NAN where some interval is not valid. */
struct estimate survival_mean(double *gradient_sum, const struct survival_group *group,
                              const struct survival_cells *cells);

/** The restricted mean of a group as survival_estimate gives it; and what one group's is above another's, by the noise's
 * covariance of the two. */
struct estimate survival_alone(double *gradient_sum, const struct survival_cells *cells,
                               size_t group);
struct estimate survival_difference(const struct estimate *a, const struct estimate *b,
                                    double noise_covariance);

/** Answers whether a group has enough records for a curve. */
bool survival_is_large(const struct survival_cells *cells, size_t group);

/** Answers whether half of the points of a group's curve are given, and its mean. */
bool survival_has_whole(const struct survival_cells *cells, size_t group);

/** Says whether they are shown for the expected cells of a group of that many records: half die by the end, and half of the
 * others are censored. */
bool survival_suffices(double records, const struct survival_public *known, size_t intervals);

/** Writes the cells that survival_expect takes the means from. */
void survival_expect_cells(double *cell, const struct survival_public *known, size_t intervals);

/** Sets out's log-rank test. */
void survival_log_rank(struct survival *out, const struct survival_cells *cells);

#endif
