/* lapack.h - the two functions of LAPACK that learning calls, as OpenBLAS exports them. LAPACKE, the interface for C, would
 * load three more libraries of some 3,000 symbols into every program, and that was a third of a program's start.
 *
 * gfortran's rules: every argument is an address, matrices lie column by column, and the lengths of texts follow at the end. */

#ifndef LEARN_LAPACK_H
#define LEARN_LAPACK_H

#include <stddef.h>

/** Factors a positive definite matrix; *info is 0 where it is one. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length);

/** Eigenvalues, in ascending order, and vectors of a symmetric matrix, by divide and conquer. A length of -1 asks for the
 * best ones of work and iwork, in their first elements. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t uplo_length);

#endif
