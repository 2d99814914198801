/* crosstab.h - tables of two columns of categories: shares, odds ratio, risk difference and the chi-squared test, with what
 * the records' number and the noise leave uncertain.
 *
 * R rows, C columns, x (R, C) balanced cells, m all cells. For 2 x 2: a = x[1][1], b = x[1][0], c = x[0][1], d = x[0][0].
 *
 * Intervals are the values that a test does not reject. Its statistic is linear in the noise, or nearly so:
 *   share p     (1 - p) a - p b
 *   odds ratio  a d - theta b c; the noise's own product adds (1 + theta^2) v^2, and a bias by balancing is taken off
 *   difference  a/(a + b) - c/(c + d), its gradient at shares that differ by what is tested
 * The sampling variance is that of the table fitted under what is tested. Nothing is made non-negative before. */

#ifndef ESTIMATE_CROSSTAB_H
#define ESTIMATE_CROSSTAB_H

#include "estimate/survival.h"

enum { CROSSTAB_CELLS_MAX = 256, CROSSTAB_BLOCK_MAX = 64 };

struct crosstab_cells {
    const double *cell; /* (rows, columns) */
    size_t rows;
    size_t columns;
    size_t m;        /* with the one of the records that are in none */
    double variance; /* of the noise on a cell, before balancing; unit: records^2 */
};

/** Returns the share of a row's records that are in its second column; for 2 columns. Not given below 5 standard deviations
 * of the row's noise. Its noise and sampling are standard deviations at the estimate. */
struct estimate crosstab_share(const struct crosstab_cells *cells, size_t row);

/** Returns the second row's share less the first's; for 2 x 2. Not given where a share is not. */
struct estimate crosstab_difference(const struct crosstab_cells *cells);

/** Returns the odds ratio of the second row to the first; for 2 x 2. An end that is not bounded is 0 or NAN. Not given
 * where the least expected cell is below 2 standard deviations of the noise. noise and sampling: NAN; value too, where a
 * cell is not above 0. */
struct estimate crosstab_odds_ratio(const struct crosstab_cells *cells);

/* For a table whose cells are alike: halves of intervals, NAN where not given, and the fewest records of a row that has them. */
struct crosstab_expected {
    double share;
    double row;
    double difference; /* of 2 x 2; its rows as a share's */
    double log_odds;   /* of 2 x 2: of the logarithm */
    double row_of_odds;
};
struct crosstab_expected crosstab_expect(double records, size_t rows, size_t m, double variance);

/** Tells the same where the first row has this share of the records, and the others are alike. */
struct crosstab_expected crosstab_expect_small(double records, double share,
                                               const struct crosstab_cells *shape);

/** Returns half of the interval of a sum of that many cells, by the noise alone. */
double crosstab_expect_count(size_t summed, size_t m, double variance);

/** Returns the fewest records of a row of R x C cells that are alike with which they are tested. */
double crosstab_row_of_test(size_t columns, double variance);

/** Returns Cohen's w, the root of the sum of (p - q)^2 / q over cells, q what margins make, that the test finds in four of five
 * studies at 5 %, where margins are alike; of 2 x 2 the difference of the shares. NAN: too few records are tested. */
double crosstab_expect_test(double records, size_t rows, size_t columns, double variance);

/** Returns the noncentrality that a chi-squared test at 5 % finds in four of five studies. */
double chi_squared_found(size_t freedom);

/** Returns the variance that the noise gives a figure with this gradient (count) in the first cells. */
double crosstab_noise(const struct crosstab_cells *cells, const double *gradient, size_t count);

/** Returns the a of the 2 x 2 table with these margins, of a's row and column, and this odds ratio. */
double crosstab_fitted(double theta, double row, double column, double total);

/* The categories that a test is of: each with more records than expected cells of the least size hold, and than noise may show. */
struct crosstab_kept {
    size_t rows;
    size_t columns;
    bool row[CROSSTAB_CELLS_MAX];
    bool column[CROSSTAB_CELLS_MAX];
};
void crosstab_keep(struct crosstab_kept *out, const struct crosstab_cells *cells);

/* The cell of the kept categories that is expected to hold the fewest records, and what the test wants of it. */
struct crosstab_least {
    size_t row;
    size_t column;
    double expected; /* records; NAN: fewer than two rows or columns are kept */
    double wanted;
};
struct crosstab_least crosstab_least_of(const struct crosstab_cells *cells);

/**
 * Tests that the rows and columns which crosstab_keep keeps are independent: (R - 1)(C - 1) at most CROSSTAB_BLOCK_MAX, R C at most
 * CROSSTAB_CELLS_MAX. By margins alone a category is left out, and one of the least size that a test allows never is.
 *
 * D = x - row total x column total / total, on the block without the last row and column; D' (V + P Cov P')^-1 D, V its
 * covariance as a sample, P its gradient in the cells. The least expected cell chooses which tests are shown. Within three deviations of
 * its limit D is taken to have moved with it as far as makes D' .. D least, at most as far as where a hundredth are shown.
 *
 * p  out  NAN, and NAN is returned, where the least expected cell is below 5, or below 5 standard deviations of the noise, or fewer than
 *         two rows or two columns are kept
 */
double crosstab_test(double *p, const struct crosstab_cells *cells);

/** Returns the same as it was found, before D is taken to have moved: larger where it was lowered. */
double crosstab_test_found(const struct crosstab_cells *cells);

#endif
