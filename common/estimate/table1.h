/* table1.h - the table that opens a paper, from counts behind noise: sizes, counts and shares, means and standard
 * deviations, quantiles, by group, with what the records' number and the noise leave uncertain.
 *
 * L = levels of a variable: its categories, or the steps x_k of a number. Cells of a variable: each group's L levels and
 * one of missing values; after all groups one of the records that are in none. A number counts in the two steps
 * around it, split so that the mean of the steps is the number:
 *   sum of x_k n_k        is the sum of the values, whatever they are
 *   sum of x_k^2 n_k      is above the sum of their squares, by 0 to 1/4 of the square of the steps' distance each
 *   n_0 + .. + n_k        lies between the numbers of values up to x_k and up to x_(k+1)
 * So intervals hold without a word on how values lie between two steps: a deviation's is wider by the second line, a
 * quantile's ends at steps by the third.
 *
 * An interval is of the values that a test does not reject; its statistic is linear in the cells. The noise enters by its
 * variance and, where few cells carry it, by its heavier tail. Nothing is made non-negative before. */

#ifndef ESTIMATE_TABLE1_H
#define ESTIMATE_TABLE1_H

#include "estimate/survival.h"

#include <stdbool.h>
#include <stddef.h>

enum { TABLE1_STEPS_MIN = 8, TABLE1_LEVELS_MAX = 64, TABLE1_VARIABLES_MAX = 16 };

/* A variable: (groups, levels + 1) cells and one. */
struct table1_block {
    double *cell;
    size_t levels;
    const double *step; /* (levels), rising; NULL of categories */
    double variance;    /* of the noise on a cell; unit: records^2 */
};

/* The groups, after them the records in none. */
struct table1_sizes {
    size_t groups;
    double size[SURVIVAL_GROUPS_MAX + 1];
    double variance[SURVIVAL_GROUPS_MAX +
                    1]; /* of the noise, before the total is made the public one */
    double variance_sum;
    double records; /* the public number */
};

/**
 * Makes all variables agree on the sizes of the groups, and these on the public number of records, by least squares: the
 * cells of a group move by the same.
 *
 * block  in/out  (count)
 */
void table1_agree(struct table1_sizes *out, const struct table1_block *block, size_t count,
                  size_t groups, double records);

/* A variable in one group, or in all together. */
struct table1_column {
    double cell[TABLE1_LEVELS_MAX + 1]; /* (levels + 1) */
    size_t levels;
    const double *step;
    size_t groups; /* that are summed */
    double variance;
    double size_variance; /* of the noise on the size */
    double records;       /* the public number, of all groups and those in none; 0: not known */
};

/** Takes it from a block that table1_agree has seen. group: sizes->groups for all. */
void table1_column_of(struct table1_column *out, const struct table1_block *block,
                      const struct table1_sizes *sizes, size_t group);

/** Writes the cells of a column that is asked again: how many its classes have at the least (advice_least), evenly over their levels. A
 * class is one of that many equal parts of the levels. Returns false where there may be nobody in one.
 *
 * out    in/out  its cells are written
 * found  in      as it was
 * times  in      how many times the records there are
 */
bool table1_column_again(struct table1_column *out, const struct table1_column *found, double times,
                         size_t classes);

struct table1_figure {
    struct estimate
        estimate;     /* all NAN when it is not given; a count has no interval of sampling */
    double noise_low; /* of the noise alone, 95 % */
    double noise_high;
    double
        factor; /* how many times the epsilon, or the records, would be enough; 1 or less: it is given */
    double
        needed; /* of a share of records of whom nobody was found (cells_is_hidden): how many would be enough; 0: of all else */
    bool is_of_size; /* the factor is of a number of records that was found */
};

/** Returns a factor that should do in nine of ten cases; at `factor` itself chance shows every other figure. NAN: none is known. A
 * number of records that was found too small may have been made larger by noise, so that it counts a deviation less, and needs one
 * more. */
double table1_factor_told(const struct table1_figure *figure);

/** The number of records of a group; of all for group == sizes->groups. */
struct table1_figure table1_size(const struct table1_sizes *sizes, size_t group);

/** The number of records of a category, or of missing values: level == levels. */
struct table1_figure table1_count(const struct table1_column *column, size_t level);

/** The category's share of the records whose value is there. Given where their number is above 5 standard deviations of its
 * noise, as for all figures below. */
struct table1_figure table1_share(const struct table1_column *column, size_t level);

/** The share of the records in the levels `of` that are in the levels `in`: (levels) each. */
struct table1_figure table1_part(const struct table1_column *column, const bool *in,
                                 const bool *of);

/** The mean. Given where the noise's deviation is below 4 % of the steps' range, if values are as table1_plan's: by a rule of
 * what was estimated, those would be shown that noise made larger. */
struct table1_figure table1_mean(const struct table1_column *column);

/** The standard deviation. Given where the noise of the variance is below 0.5 % of the range's square, likewise. The value assumes
 * that values lie evenly between steps, the interval does not. */
struct table1_figure table1_deviation(const struct table1_column *column);

/** A quantile, share in (0, 1). Given where the rank's noise is below a tenth of the records. */
struct table1_figure table1_quantile(const struct table1_column *column, double share);

/* What is known before anything is asked. */
struct table1_public {
    double records;
    size_t groups;
    double variance; /* of the noise on a cell; unit: records^2 */
};

/** Returns what the noise does to a variable's answers, beside a share's of two categories: of a number to the rank of its
 * median. */
double table1_need(bool is_number, size_t levels);

/** Returns the number of steps for which the intervals of a median and a mean are shortest, of normal values whose deviation
 * is a sixth of the range. */
size_t table1_plan(const struct table1_public *known);

struct table1_half {
    double half;  /* of an interval; NAN: not given */
    double group; /* the fewest records of a group that has one */
};

/** Returns what a figure of an expected group of that many records says of its interval. */
struct table1_half table1_half_of(struct table1_figure figure, double records);

struct table1_expected {
    struct table1_half share;     /* of categories alike */
    struct table1_half mean;      /* of values as table1_plan's; unit of half: the range */
    struct table1_half median;    /* likewise */
    struct table1_half quartile;  /* the upper one's; likewise */
    struct table1_half deviation; /* a standard deviation's; likewise */
};

/** Tells the widths to expect in groups that are alike; NAN: not given. */
struct table1_expected table1_expect(const struct table1_public *known, bool is_number,
                                     size_t levels);

/** Tells the same of all groups together. */
struct table1_expected table1_expect_all(const struct table1_public *known, bool is_number,
                                         size_t levels);

/* Half of the interval of a number of records, by the noise alone: as many as cannot be none. */
struct table1_counted {
    double group; /* in a group */
    double all;   /* in all groups together */
};

/** Tells it of a category, or of missing values, of the variable `at`; of the sizes of groups for at == count. block: (count) whose
 * cells are not read; count at most TABLE1_VARIABLES_MAX. */
struct table1_counted table1_expect_count(const struct table1_block *block, size_t count,
                                          size_t groups, size_t at);

#endif
