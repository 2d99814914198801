/* cholesky.h - positive definite systems, by LAPACK. */

#ifndef LEARN_CHOLESKY_H
#define LEARN_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Factors A = L L^T in place.
 *
 * a  in/out  (n, n) row by row; only the lower triangle (j <= i) is read and written
 *
 * Returns false when A is not positive definite in floating point. Cost n^3/3.
 */
bool cholesky_factor(double *a, size_t n);

/** Solves A x = b in place, from cholesky_factor's result. b  in/out  (n) */
void cholesky_solve(const double *a, double *b, size_t n);

#endif
