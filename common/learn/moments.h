/* moments.h - one-shot ridge: the second moments that an institution sums, what one record can move
 * them by, and the model that the coordinator makes of the noisy sums. */

#ifndef LEARN_MOMENTS_H
#define LEARN_MOMENTS_H

#include "base/status.h"
#include "base/why.h"

#include <stddef.h>
#include <stdint.h>

/* Public. d = feature_count, M = bound_y, g = 2^-grid_bits. The vector: x_i x_j for i <= j, row by
 * row, then x_i y. */
struct moments {
    size_t feature_count; /* 1 .. MOMENTS_FEATURES_MAX */
    unsigned grid_bits;
    double bound_y; /* labels lie within -M .. M, 0 < M <= 1; 1 for classes +1 and -1 */
};

enum { MOMENTS_FEATURES_MAX = 4096 };

/** Checks the numbers: in range, the grid within ENCODE_BITS_MAX, and the sum over row_count
 * records below 2^62. Fails with STATUS_INVALID. */
MUST_USE enum status moments_check(const struct moments *moments, size_t row_count,
                                   struct why *why);

/** Returns d (d + 3) / 2. */
size_t moments_count(const struct moments *moments);

/**
 * Bounds how far replacing one record moves the sum, in grid steps, rounded up.
 *
 * Over the reals, with t = |<x, x'>|, norms at most 1: the Frobenius norm of x x^T - x' x'^T is at
 * most sqrt(2 - 2 t^2), and ||x y - x' y'||_2 at most M sqrt(2 + 2 t). L1: the whole matrix sums to
 * at most d times its Frobenius norm, its diagonal to at most 2, the upper triangle to half of
 * both: 1 + d sqrt((1 - t^2)/2) + M sqrt(2 d (1 + t)), at the worst t. L2: the root of 2 - 2 t^2 +
 * M^2 (2 + 2 t), at t = M^2/2. The grid adds moments_count, or its root (dp/encode.h).
 *
 * Deviation: the sum of the parts' own bounds is d + 1 + 2 M sqrt(d), by a third more in L1 at d =
 * 8 (14.7 against 11.0): a record that turns x y round leaves x x^T where it is.
 */
uint64_t moments_sensitivity_l1(const struct moments *moments);
uint64_t moments_sensitivity_l2(const struct moments *moments);

/** Returns a bound on every number of the sum over row_count records. For encode_sum_fits. */
uint64_t moments_range(const struct moments *moments, size_t row_count);

/**
 * Sums the records' encoded moments.
 *
 * sum  out  (moments_count) in grid steps; zero on failure
 * x    in   (row_count, d), every norm at most 1
 * y    in   (row_count), clamped to -M .. M here
 *
 * CHECKs moments_check. Fails with STATUS_NO_MEMORY.
 * Ensures sum = sum of encode_value (dp/encode.h) of every product, to the last bit.
 * Privacy: exact; it leaves through the gate alone. Cost O(row_count d^2).
 */
MUST_USE enum status moments_sum(int64_t *sum, const struct moments *moments, const double *x,
                                 const double *y, size_t row_count);

/* What the coordinator knows of a released sum. */
struct moments_release {
    const int64_t *total; /* (moments_count) over all agents, with its noise */
    double record_count;  /* >= 1: all agents' */
    double deviation;     /* of the noise on each number of total, in grid steps; 0 for none */
    double lambda;        /* >= 0: the job's own regularisation */
};

/**
 * Solves (A + lambda_used I) w = b, A and b the decoded means: the minimiser of the mean (f - y)^2
 * + lambda_used ||w||^2, were there no noise.
 *
 * w            out  (d)
 * lambda_used  out  lambda plus the edge 2 deviation sqrt(d) g/record_count that the eigenvalues of
 *                   a symmetric matrix of noise nearly keep to (Wigner), doubled until the system
 *                   is positive definite: of pure noise one in six has to be (d = 12, Laplace)
 *
 * Fails with STATUS_NO_MEMORY.
 * Privacy: post-processing of what is released; also the doubling is.
 */
MUST_USE enum status moments_solve(double *w, double *lambda_used, const struct moments *moments,
                                   const struct moments_release *release);

#endif
