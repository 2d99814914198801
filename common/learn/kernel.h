/* kernel.h - reproducing kernels on records whose Euclidean norm is at most 1. A kernel expansion
 * sum alpha_i K(x_i, .) contains the records x_i: it stays at home and is never released. */

#ifndef LEARN_KERNEL_H
#define LEARN_KERNEL_H

#include "base/status.h"
#include "base/why.h"

#include <stddef.h>

enum kernel_kind {
    KERNEL_LINEAR,    /* <x, x'> */
    KERNEL_GAUSSIAN,  /* exp(-rate ||x - x'||_2^2) */
    KERNEL_LAPLACIAN, /* exp(-rate ||x - x'||_2): the Euclidean norm, not its square, nor L1 */
    KERNEL_POLYNOMIAL /* (<x, x'> + offset)^degree */
};
enum { KERNEL_KINDS = KERNEL_POLYNOMIAL + 1, KERNEL_DEGREE_MAX = 16 };

struct kernel {
    enum kernel_kind kind;
    unsigned degree; /* polynomial: 1 to KERNEL_DEGREE_MAX */
    double rate;     /* gaussian, laplacian: > 0 */
    double offset;   /* polynomial: >= 0 */
};

/** Checks the parameters against the kind: finite, in range, 0 where the kind does not read them.
 * Fails with STATUS_INVALID. */
MUST_USE enum status kernel_check(struct kernel kernel, struct why *why);

/** Returns kappa = sup sqrt(K(x, x)) over ||x|| <= 1, rounded up: 1, but (1 + offset)^(degree/2)
 * for the polynomial. */
double kernel_kappa(struct kernel kernel);

/** Returns K(a, b). a, b  in  (d) */
double kernel_value(struct kernel kernel, const double *a, const double *b, size_t d);

/**
 * Writes G (m, m), G_ij = K(x_i, x_j), both triangles, symmetric to the last bit.
 *
 * g  out  (m, m)
 * x  in   (m, d) row by row
 *
 * Ensures every entry is within kernel_rounding of the true value. Cost O(m^2 d).
 */
void kernel_gram(double *g, struct kernel kernel, const double *x, size_t m, size_t d);

/** Returns a bound on the rounding error of kernel_value and kernel_gram, in units of 2^-53
 * kappa^2: an inner product of d terms, carried on degree times by a power, 4 rate times by an
 * exponential. */
double kernel_rounding(struct kernel kernel, size_t d);

/** The same as kernel_gram, but for the triangle below the diagonal, which is left as it is. */
void kernel_gram_upper(double *g, struct kernel kernel, const double *x, size_t m, size_t d);

/** Returns "linear", "gaussian", "laplacian" or "polynomial". */
const char *kernel_name(enum kernel_kind kind);

/** Finds a kernel by its name. Fails with STATUS_NOT_FOUND. */
MUST_USE enum status kernel_from_name(enum kernel_kind *kind, const char *name);

#endif
