/* chi_square.h - Pearson's goodness-of-fit test. */

#ifndef SUPPORT_CHI_SQUARE_H
#define SUPPORT_CHI_SQUARE_H

#include <stddef.h>
#include <stdint.h>

/**
 * The probability that counts at least this far from what was expected come from the right
 * distribution.
 *
 * count     in  (bins)  observed
 * expected  in  (bins)  > 0; both sum up to the number of observations; 10 or more each for the
 *                       chi-square approximation to hold
 * bins      in          > 1
 */
double chi_square_p(const uint64_t *count, const double *expected, size_t bins);

/** P(X >= statistic) for X chi-square with this many degrees of freedom. */
double chi_square_tail(double statistic, size_t freedom);

#endif
