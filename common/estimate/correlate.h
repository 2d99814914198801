/* correlate.h - Pearson's correlations from sums of bounded columns and of their products, behind noise, with what the
 * records' number and the noise leave uncertain.
 *
 * d columns z in [-1, 1], P parts: public places of a site's records, dealt out by place and not by content, so that the
 * parts are samples alike. A part's cells, of the records whose columns are all there:
 *
 *   half of the records; the sum of each z_i; for i <= j, row by row, the sum of z_i z_j, of a square the half of it
 *
 * r = c_ij / sqrt(c_ii c_jj), c the covariances. The noise enters by the gradient g of r in the cells. What the sample does:
 *
 *   P > 1   the spread of g'cells over the parts, which has the noise in it too; the t distribution with P - 1 degrees
 *   P = 1   a bound that holds for every distribution on the ranges. With x, y the columns in standard deviations the
 *           variance of r is E psi^2 / n, psi = x y - r (x^2 + y^2)/2, and E psi^2 <= max |psi| E |psi| <= max |psi| (1 - r^2):
 *           psi is (1 - r^2)/2 times the difference of two squares of mean 1. Of two columns of two values it is known.
 *
 * Beyond 0.95 (two values: 0.9), of either sign, the bound serves with P > 1, too: few records differ there, in few of the parts.
 *
 * An interval is the rho that are not rejected: the sampling error is taken to be proportional to 1 - rho^2 (its root, for the
 * bound), the noise as it is, and no less than is known of it. Nothing is made positive definite before. */

#ifndef ESTIMATE_CORRELATE_H
#define ESTIMATE_CORRELATE_H

#include "estimate/table1.h"

#include <stdbool.h>

enum {
    CORRELATE_COLUMNS_MAX = 16,
    CORRELATE_PARTS_MAX = 32,
    CORRELATE_CELLS_MAX =
        CORRELATE_PARTS_MAX * (1 + CORRELATE_COLUMNS_MAX * (CORRELATE_COLUMNS_MAX + 3) / 2)
};

/** Returns how many cells a part has. */
size_t correlate_cells(size_t columns);

struct correlate_moments {
    const double *cell; /* (parts, correlate_cells) unit: records */
    size_t columns;
    size_t parts;
    const bool *is_two; /* (columns) whether it has two values alone, the ends of the range */
    double variance;    /* of the noise on a cell; unit: records^2 */
    double records;     /* of all, also of those with something missing; public */
};

/* All parts together. */
struct correlate {
    const struct correlate_moments *moments;
    double records; /* complete ones; noisy */
    double mean[CORRELATE_COLUMNS_MAX];
    double covariance[CORRELATE_COLUMNS_MAX][CORRELATE_COLUMNS_MAX];
};

/** Keeps moments. */
void correlate_init(struct correlate *out, const struct correlate_moments *moments);

/** The number of records whose columns are all there. */
struct table1_figure correlate_size(const struct correlate *all);

/**
 * The correlation of two columns. Given where the records are above 5 standard deviations of their noise and above 25 a part,
 * and the noise of neither column's variance is above 15 % of it. No more records count than there are, and no column varies more
 * than values at both ends. factor: the records' or the epsilon's.
 *
 * Near the limit of a variance (within 2.5 deviations of its noise) the interval is the hull of two, and so are the bar of the noise
 * and the p-value: of what was found, and of what there would be if the column were one that a hundredth of all noises show. Not
 * given where the interval is longer than 1.8.
 */
struct table1_figure correlate_pair(const struct correlate *all, size_t i, size_t j);

/* A question that is asked again. */
struct correlate_again {
    double variance; /* of the noise on a cell; unit: records^2 */
    double times;    /* how many times the records there are */
    size_t parts;
};

/** Answers whether correlate_pair would give a pair that it has refused, where noise made the variances and the records larger than they
 * are, and makes them smaller then: by 1.2 deviations each. Never where a variance was found below 2. */
bool correlate_would_do(const struct correlate *all, size_t i, size_t j,
                        const struct correlate_again *again);

/** Answers whether a column hardly varies: no more of its variance was found than 3 deviations of its noise, and with as much more
 * it would be below a quarter of what values have that spread by a sixth of the range. Then no factor is known. */
bool correlate_is_flat(const struct correlate *all, size_t i);

/** Answers whether a column may not vary at all: no more of its variance was found than 3 deviations of its noise. */
bool correlate_is_doubtful(const struct correlate *all, size_t i);

/** Returns how large its standard deviation is at most, with 3 deviations of its noise more; unit: the public range. */
double correlate_deviation_most(const struct correlate *all, size_t i);

/** Returns the p-value of the test that the correlation is 0; NAN where correlate_pair gives none. With one part of the
 * hypothesis that the columns are independent: a sample's variance is then 1/n. With more at least 0.05 where the interval of
 * correlate_pair holds 0. */
double correlate_test(const struct correlate *all, size_t i, size_t j);

/* What is known before anything is asked. */
struct correlate_public {
    double records;
    double variance; /* of the noise on a cell; unit: records^2 */
};

/** Returns the number of parts, 1 where the noise exceeds the sampling error: of values that spread by a sixth of the range,
 * and are not correlated, as in correlate_expect. */
size_t correlate_plan(const struct correlate_public *known);

/** Tells half of the length that correlate_pair's interval is expected to have, NAN: none; and the fewest records of which half of
 * such pairs have one. */
double correlate_expect(double *records, const struct correlate_public *known, size_t parts);

/** Returns half of the interval of the number of records in which no column is missing, by the noise alone. */
double correlate_expect_count(double variance, size_t parts);

#endif
