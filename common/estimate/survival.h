/* survival.h - survival curves from counts of deaths and censorings by interval and group: the actuarial form of Kaplan
 * and Meier's estimate, with what the records' number and the noise leave uncertain.
 *
 * K = intervals, G = groups, w = end / K. Cells, one group behind the other: deaths (K), censorings (K), those still
 * under observation at the end (1); and after all groups one of the records that are in none of these.
 *
 * Y_j = later cells + d_j + c_j / 2                at risk in interval j
 * L_J = sum over j <= J of log((Y_j - d_j) / Y_j)  log of the share that survives interval J
 *
 * Var L_J is Greenwood's, for the records as a sample, and the noise's by the gradient (delta method). An interval is
 * L +- 1.96 sd. A figure is given where the noise leaves it meaning:
 *   a curve's point: Y > 5 sd(Y) up to it, sd(L) < 0.35, deaths so far > 10 and > 2 of their noise's sd;
 *   a mean: Y > 5 sd(Y) up to the end;
 *   where Y is hardly so large, chance is often why, and the end of the interval that it has moved away from the truth lies further
 *   out by what it moves where a tenth of such answers are shown;
 *   a curve, and what follows from it: half of its points, and as many records in the group as survival_expect says. */

#ifndef ESTIMATE_SURVIVAL_H
#define ESTIMATE_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SURVIVAL_INTERVALS_MIN = 4,
    SURVIVAL_INTERVALS_MAX = 40,
    SURVIVAL_GROUPS_MAX = 8,
    SURVIVAL_RATIO_MOST = 64, /* that a plan looks for */
    SURVIVAL_GROUP_CELLS_MAX = 2 * SURVIVAL_INTERVALS_MAX + 1,
    SURVIVAL_CELLS_MAX = SURVIVAL_GROUPS_MAX * SURVIVAL_GROUP_CELLS_MAX + 1,
    SURVIVAL_RELEASED_MAX = SURVIVAL_CELLS_MAX + SURVIVAL_GROUPS_MAX * (SURVIVAL_INTERVALS_MAX + 1)
};

/* For a point: more deaths so far, and more of their noise's deviations. */
#define SURVIVAL_DEATHS_LEAST             10.0
#define SURVIVAL_DEATHS_OVER_NOISE        2.0

#define SURVIVAL_CELLS(groups, intervals) ((groups) * (2 * (intervals) + 1) + 1)

struct survival_cells {
    const double *cell; /* (SURVIVAL_CELLS) by survival_balance */
    size_t groups;
    size_t intervals;
    double end;      /* unit: of time */
    double variance; /* of the noise on a number as it was released; unit: records^2 */
    size_t block;    /* cells of a block whose sum was released, too; 0: none was */
};

/** Returns how many numbers are released: all cells, and after them of each group the sums of blocks of its deaths, and of
 * blocks of its censorings and those still there. block: at least 2; 0: no sums. */
size_t survival_released(size_t groups, size_t intervals, size_t block);

/**
 * Makes cells of what was released, by least squares, and takes off what their total has above the public one.
 *
 * cell   in/out  (survival_released), of which the first SURVIVAL_CELLS are written
 * cells  in      its cell is not read
 * total  in      records
 */
void survival_balance(double *cell, const struct survival_cells *cells, double total);

/* A figure; all NAN when it is not given. */
struct estimate {
    double value;
    double low; /* of sampling and noise together, 95 % */
    double high;
    double noise;    /* standard deviation that the noise makes */
    double sampling; /* that the records' number makes */
};

struct survival_point {
    double time;    /* the interval's end */
    double at_risk; /* at the interval's begin, at least 0 */
    struct estimate survival;
    double noise_low; /* of the noise alone */
    double noise_high;
    double band_low; /* 95 % for all of the curve's points together */
    double band_high;
};

struct survival_curve {
    struct survival_point point[SURVIVAL_INTERVALS_MAX]; /* survival is NAN where it is not given */
    size_t shown;                                        /* how many are given */
    struct estimate median;                              /* high NAN: beyond the end */
    bool median_beyond;                                  /* the curve stays above one half */
    struct estimate mean;                                /* restricted to the end */
};

struct survival {
    struct survival_curve curve[SURVIVAL_GROUPS_MAX];
    struct estimate mean_difference[SURVIVAL_GROUPS_MAX];   /* to the first group's; [0]: NAN */
    struct estimate median_difference[SURVIVAL_GROUPS_MAX]; /* likewise; an end NAN: beyond */
    double log_rank; /* chi-squared with tested - 1 degrees of freedom; NAN when not given */
    double log_rank_p;
    bool
        log_rank_is_biased; /* not given: of one hazard U would have a mean above 0.3 of its deviation, as
                                groups are not lost alike and many leave in one interval */
    size_t tested; /* groups: more than 10 records, and 5 standard deviations of their noise */
    bool is_tested[SURVIVAL_GROUPS_MAX];
};

/**
 * Estimates all curves.
 *
 * Sources: Kaplan and Meier 1958; Greenwood 1926; Brookmeyer and Crowley 1982 (median: where the pointwise interval
 * holds one half); Zou, Donner 2008 (a difference: its interval from those of two); Mantel 1966. Bands are of equal precision on the arcsine-root scale (Nair 1984).
 * Deviation: noise enters every variance, by gradients in the cells; nothing is made non-negative before.
 */
void survival_estimate(struct survival *out, const struct survival_cells *cells);

/** Returns the records of a group, noise included. */
double survival_records(const struct survival_cells *cells, size_t group);

/* How many of a group were found at risk, and how many the noise asks for; NAN: enough were found. */
struct survival_lack {
    bool is_at_end; /* else in the middle of the time, up to which a curve needs them */
    double found;
    double needed;
};

/** Tells what a group without a curve or a mean has too few of. */
struct survival_lack survival_lacks(const struct survival_cells *cells, size_t group);

/** Answers whether the curves and means of some groups are given. of: (groups) whether it is of this group */
bool survival_is_whole(const struct survival_cells *cells, const bool *of);

/* A question that is asked again. */
struct survival_again {
    size_t intervals;
    size_t block;
    double variance; /* of the noise on a number as it is released; unit: records^2 */
    double times;    /* how many times the records there are */
};

/** Answers whether they would be given, in seven of eight trials: from what was found, with the noise that it may have and what
 * is drawn then. */
bool survival_would_do(const struct survival_cells *cells, const bool *of,
                       const struct survival_again *again);

/** Answers whether nobody was found in a group: cells_is_hidden. */
bool survival_is_hidden(const struct survival_cells *cells, size_t group);

/* What is known before anything is asked. */
struct survival_public {
    double records; /* of all sites */
    size_t groups;
    double variance; /* of the noise on a number that is released; unit: records^2 */
    size_t block;    /* as in survival_cells */
};

/* In what counts are released. */
struct survival_release {
    size_t intervals;
    size_t block;
};

/**
 * Returns the least number of intervals with which the actuarial estimate is biased by less than a fifth of its standard
 * deviation, in each of the cases of survival_plan.c (hazards constant, early and late; censoring rare, even and
 * early; groups of equal size); SURVIVAL_INTERVALS_MAX where none is. With it what survival_choose says of that number.
 *
 * known  in  its block is not read; variance: of plain cells
 */
struct survival_release survival_plan(const struct survival_public *known, bool is_gaussian);

/* How much more variance the noise on a released number has where blocks' sums are released, too: a record is in twice as many. */
#define SURVIVAL_TREE_PRICE(is_gaussian) ((is_gaussian) ? 2.0 : 4.0)

/**
 * Returns the block for which the noise on a curve's logarithm has the least variance, in the mean over the intervals, where half of
 * each group dies and half of the others are censored; 0, plain cells, unless it is a fifth less than that of plain cells. At the
 * first intervals a tree has more, so that less is not worth it. With Laplace noise it is never so much: at 40 intervals an eighth.
 *
 * ratio  out  that least variance over plain cells'; NAN: no point is given
 * known  in   as survival_plan
 *
 * Source: Hay, Rastogi, Miklau and Suciu 2010 (least squares over a tree). Deviation: two levels, and blocks of any size.
 */
size_t survival_choose(double *ratio, const struct survival_public *known, size_t intervals,
                       bool is_gaussian);

struct survival_expected {
    double survival; /* half of the width of the 95 % interval at the end; NAN: not given */
    double band;     /* the same of the band for the whole curve */
    double mean;     /* half of the restricted mean's, as a share of `end` */
    double
        median; /* half of the median's where three of four die, likewise; NAN: not given, or its end is beyond */
    double
        ratio; /* the least hazard ratio, the second group's to the first one's, that the log-rank test finds in four of five
                     studies at 5 %; NAN: none below SURVIVAL_RATIO_MOST, or no two groups */
    double censored_survival; /* as survival and mean, where half are censored before the end, at a
                                 constant rate */
    double censored_mean;
    double
        group; /* the fewest records of a group whose curve is given, if half of those that do not die are
                        censored; NAN: above 10^9 */
    double
        median_group; /* the fewest of a group that has a median's interval, if three of four die; likewise */
    double
        test_group; /* and of groups that have a log-rank test, if half die; NAN, too: of one group */
};

/** Return group of survival_expect alone, and median_group. */
double survival_smallest(const struct survival_public *known, size_t intervals);
double survival_smallest_median(const struct survival_public *known, size_t intervals);

/** Tells the widths to expect where half of each group dies by the end, at a constant hazard and with no other censoring, but for
 * those of censored ones. */
struct survival_expected survival_expect(const struct survival_public *known, size_t intervals);

/* For a group that is smaller than the others, as survival_expected has them; NAN: not given. */
struct survival_small {
    double survival;
    double band;
    double mean;
    double censored_survival;
    double censored_mean;
    double median;
    double mean_difference; /* to the first group's; half of the width, as a share of `end` */
    double median_difference;
    double ratio; /* of two groups, the small one's hazard to the other's */
    bool is_tested;
};

/** Tells the widths to expect where the second group has this share of all records and the others are alike; of two groups or
 * more. */
struct survival_small survival_expect_small(const struct survival_public *known, size_t intervals,
                                            double share);

#endif
