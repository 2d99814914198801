/* table1_private.h - sums over a column's cells, for the files of table1, evaluate, concordance and
 * between_columns alone. */

#ifndef ESTIMATE_TABLE1_PRIVATE_H
#define ESTIMATE_TABLE1_PRIVATE_H

#include "estimate/table1.h"

/* A sum of a_k n_k over a column's cells: what the noise does to it. */
struct linear {
    double value;
    double variance;
    double z; /* the 97.5 % point of the noise, in standard deviations */
};

/** a: (levels + 1). For each group's noise, what is common to its cells is that of its size. */
struct linear linear_of(const double *a, const struct table1_column *column);

/** Returns how many times the epsilon or the records a figure needs that divides by this number; NAN: nobody is there. */
double size_factor(const struct linear *present);

/** A figure that is not given. factor: of the noise over what a figure's own rule allows. */
struct table1_figure figure_refused(double factor);

/** A count, with the noise's variance. */
struct table1_figure figure_counted(double value, double variance);

/** The number of records in the levels of a set. of: (levels) */
struct linear present_of(const struct table1_column *column, const bool *of);

extern const bool table1_every[TABLE1_LEVELS_MAX]; /* all levels */

/* A mean of base_k over the records of some levels. */
struct ratio {
    const bool *of;     /* (levels) that count */
    const double *base; /* (levels) */
    double range[2];    /* of the mean of base_k */
    double sampling[3]; /* of a record, where the mean is at the range's begin, middle, end */
    double at_value;    /* and at what it is */
};

/** Returns it with the values that a test of it does not reject. factor: 0. */
struct table1_figure ratio_of(const struct table1_column *column, const struct ratio *ratio);

#endif
