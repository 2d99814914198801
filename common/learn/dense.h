/* dense.h - the dense loops under learning: m records, d features. No allocation; shapes are the
 * caller's word. Their order of summation is fixed, so a result is the same on every run. */

#ifndef LEARN_DENSE_H
#define LEARN_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/** Returns x, or 0 when it is nearer to 0 than 2^-400. Whatever comes from outside passes through
 * here once: products and sums of such numbers do not meet the subnormal ones, whose arithmetic
 * takes a time that tells on which records it was done. */
double dense_flushed(double x);

/** Returns sum a_i b_i over count, in eight interleaved partial sums. */
double dense_dot(const double *a, const double *b, size_t count);

/* A sum that errs by two roundings of all its terms' sizes and no more, however many they are, where
 * one by one they err by as many as there are. Zeroed at its start. */
struct dense_sum {
    double value;
    double lost; /* of value, by the last addition */
};

/** Adds a term. Source: Kahan 1965. */
void dense_add(struct dense_sum *sum, double term);

/** y += factor * x, count numbers. */
void dense_axpy(double *y, double factor, const double *x, size_t count);

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

/** Writes the scores f (m, k) = <w_k, x_i> for weight (k, d) and x (m, d), all row by row: k =
 * model_count, m = record_count, d = feature_count. A dense kernel: no allocation, cost O(m k d).
 */
void dense_scores(double *f, const double *weight, size_t model_count, const double *x,
                  size_t record_count, size_t feature_count);

#endif
