/* eigen.h - eigenvalues and vectors of a symmetric matrix. */

#ifndef LEARN_EIGEN_H
#define LEARN_EIGEN_H

#include "base/status.h"

#include <stddef.h>

/**
 * Replaces a symmetric matrix by its eigenvectors.
 *
 * a in/out (n, n); one vector after another value out (n) their eigenvalues, in ascending order
 *
 * Returns STATUS_INVALID where n is 0, where the matrix holds what is no number, or where the search does not end; STATUS_NO_MEMORY.
 */
enum status eigen_symmetric(double *a, double *value, size_t n);

#endif
