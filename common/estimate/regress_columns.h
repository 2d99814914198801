/* regress_columns.h - how the columns of a regression go together, as released. Inside regress alone.
 *
 * A column is a number, or whether a record is in one category. Covariances of levels' means are those of values times
 * var(mean)/var(x) of each number. What noise may have made of one is taken off (James and Stein). */

#ifndef ESTIMATE_REGRESS_COLUMNS_H
#define ESTIMATE_REGRESS_COLUMNS_H

#include "estimate/regress.h"
#include "estimate/regress_density.h"
#include "estimate/regress_score.h"

/** Returns a column's value at levels and values (predictors) of numbers. */
double regress_column_at(const struct regress_columns *columns, size_t c,
                         const struct regress_design *design, const size_t *level,
                         const double *value);

/** Sets fit's columns from its cells. noise: (columns, columns) out, the variance of each covariance of levels' means, below the
 * diagonal; density: (predictors) of numbers */
void regress_set_columns(struct regress_fit *fit, double *noise,
                         const struct regress_density *density);

/* What the other columns tell of a number: slope (columns), and the precision of what is left. */
struct regress_told {
    double slope[REGRESS_SLOPES_MAX];
    double precision;
};

void regress_tell_by_others(struct regress_told *out, const struct regress_columns *columns,
                            size_t c);

/** Sets fit's pairs: what the noise of each covariance leaves open of both columns' values. told: (columns) */
void regress_set_pairs(struct regress_fit *fit, const struct regress_told *told,
                       const double *noise, const struct regress_density *density);

#endif
