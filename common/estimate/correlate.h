/* correlate.h - Pearson's correlations from sums of bounded columns and of their products, behind noise, with what the
 * records' number and the noise leave uncertain.
 *
 * d columns z in [-1, 1]. The cells, of the records whose columns are all there:
 *
 *   half of the records; the sum of each z_i; for i <= j, row by row, the sum of z_i z_j, of a square the half of it
 *   with fourth moments, W their weight: for each i z_i^3 / 4W, z_i^4 / 4W; for i < j, row by row, z_i^2 z_j / W,
 *   z_i z_j^2 / W, z_i^3 z_j / 2W, z_i^2 z_j^2 / W, z_i z_j^3 / 2W
 *
 * r = c_ij / sqrt(c_ii c_jj), c the covariances. The noise enters by the gradient g of r in the first cells. What the sample does
 * is the sum of psi^2 over the records, psi = g' a record's cells: a polynomial of degree 4.
 *
 *   W > 0   that sum follows from the moments, with noise of a known deviation e. 0.55 e^2/(e + v) is added, v the noise on r, and what few
 *           records may make
 *   else    a bound that holds for every distribution on the ranges. With x, y the columns in standard deviations the
 *           variance of r is E psi^2 / n, psi = x y - r (x^2 + y^2)/2, and E psi^2 <= max |psi| E |psi| <= max |psi| (1 - r^2):
 *           psi is (1 - r^2)/2 times the difference of two squares of mean 1. For two columns of two values it is known.
 *
 * The bound also serves with W > 0, where it is less. docs/STUDY.md says why this is added. Where W is at most the deviation of a
 * cell's noise, e is at most 1.24 v for columns of mean 0.
 *
 * An interval is the rho that are not rejected: the sampling error is taken to be proportional to 1 - rho^2 (its root, for the
 * bound; of two columns of two values it is that of the table with this rho), the noise as it is. Nothing is made positive definite
 * before. */

#ifndef ESTIMATE_CORRELATE_H
#define ESTIMATE_CORRELATE_H

#include "estimate/table1.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CORRELATE_COLUMNS_MAX = 16,
    CORRELATE_FOURTH_MAX = 256, /* a power of 2 */
    CORRELATE_PARTS_MAX = 32,
    CORRELATE_CELLS_MAX = 1 + CORRELATE_COLUMNS_MAX * (CORRELATE_COLUMNS_MAX + 3) / 2 +
                          2 * CORRELATE_COLUMNS_MAX +
                          5 * CORRELATE_COLUMNS_MAX * (CORRELATE_COLUMNS_MAX - 1) / 2
};

/** Returns how many cells there are without fourth moments; and how many these are. */
size_t correlate_cells(size_t columns);
size_t correlate_fourth_cells(size_t columns);

/** Returns how far the fourth moments of weight 1 of two records are apart at most, or of a record and nothing: in quarters;
 * the square of that in the L2 norm in sixteenths. */
uint64_t correlate_fourth_moves(size_t columns);
uint64_t correlate_fourth_squared(size_t columns);

struct correlate_moments {
    const double
        *cell; /* (correlate_cells, and correlate_fourth_cells where these are) unit: records */
    size_t columns;
    uint32_t fourth;    /* W, the weight of the fourth moments: a power of 2; 0: there are none */
    const bool *is_two; /* (columns) whether it has two values alone, the ends of the range */
    double variance;    /* of the noise on a cell; unit: records^2 */
    double records;     /* of all, also of those with something missing; public */
};

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
 * The correlation of two columns. Given where the records are above 5 standard deviations of their noise and above 25,
 * and the noise of neither column's variance is above 15 % of it. No more records count than there are, and no column varies more
 * than values at both ends. factor: the records' or the epsilon's.
 *
 * Near the limit of a variance (within 1.75 deviations of its noise) the interval is the hull of two, and so are the bar of the noise
 * and the p-value: of what was found, and of what there would be if the column were one that a hundredth of all noises show. Not
 * given where the interval is longer than 1.8.
 */
struct table1_figure correlate_pair(const struct correlate *all, size_t i, size_t j);

/* A question that is asked again. */
struct correlate_again {
    double variance; /* of the noise on a cell; unit: records^2 */
    double times;    /* how many times the records there are */
    uint32_t fourth;
};

/** Answers whether correlate_pair would give a pair that it has refused, where noise made the variances and the records larger
 * than they are, and makes them smaller then: by 1.2 deviations each. Never where a variance was found below 2. */
bool correlate_would_do(const struct correlate *all, size_t i, size_t j,
                        const struct correlate_again *again);

/** Answers whether a column hardly varies: no more of its variance was found than 3 deviations of its noise, and with as much more
 * it would be below a quarter of what values have that spread by a sixth of the range. Then no factor is known. */
bool correlate_is_flat(const struct correlate *all, size_t i);

/** Answers whether a column may not vary at all: no more of its variance was found than 3 deviations of its noise. */
bool correlate_is_doubtful(const struct correlate *all, size_t i);

/** Returns how large its standard deviation is at most, with 3 deviations of its noise more; unit: the public range. */
double correlate_deviation_most(const struct correlate *all, size_t i);

/** Returns the p-value of the test that the correlation is 0; NAN where correlate_pair gives none. Without fourth moments of the
 * hypothesis that the columns are independent: a sample's variance is then 1/n. With them at least 0.05 where the interval of
 * correlate_pair holds 0. */
double correlate_test(const struct correlate *all, size_t i, size_t j);

/* What is known before anything is asked. */
struct correlate_public {
    double records;
    double
        variance; /* of the noise on a cell, in correlate_plan without fourth moments; unit: records^2 */

    /* for correlate_plan alone */
    size_t columns;
    bool is_gaussian;
    double
        moves; /* how far a record moves all that is asked, without fourth moments; 0: this question alone */
};

/** Returns the weight of fourth moments: the largest power of 2 that is at most half of the deviation that a cell's noise then
 * has, 1 at least. With more, what they leave uncertain lengthens some intervals by more than 1.3 (docs/STUDY.md). 0, none:
 * where the noise exceeds the bound on the sampling error by so much that the bound lengthens an interval by 1.08 at most, of
 * values that spread by a sixth of the range and correlate by a half. most: of the weight, a power of 2; 0: there is none. */
uint32_t correlate_plan(const struct correlate_public *known, uint32_t most);

/** Returns how many parts records were dealt out to up to protocol version 6, whose sums are added up: 1, 8, 16 or 32. */
size_t correlate_plan_parts(const struct correlate_public *known);

/** Tells half of the length that correlate_pair's interval is expected to have, NAN: none; and the fewest records with which half
 * of such pairs have one. */
double correlate_expect(double *records, const struct correlate_public *known, uint32_t fourth);

/** Returns half of the interval of the number of records in which no column is missing, by the noise alone. */
double correlate_expect_count(double variance);

#endif
