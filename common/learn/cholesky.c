/* LAPACK stores columns: our lower triangle, row by row, is its upper one. */

#include "learn/cholesky.h"

#include "base/check.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>

bool cholesky_factor(double *a, size_t n)
{
    CHECK(n <= INT_MAX);
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)n) == 0;
}

void cholesky_solve(const double *a, double *b, size_t n)
{
    CHECK(n <= INT_MAX);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)n, a, (int)n, b, 1);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, a, (int)n, b, 1);
}
