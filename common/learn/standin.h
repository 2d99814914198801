/* standin.h - made-up records in place of the private ones: normal features of mean 0 and covariance
 * I, a constant, and labels drawn from the model itself. The self-tuning learner (learn/selftune.h)
 * computes on them whatever it needs to know about clipped gradients. They are public and the same
 * on every machine, up to the rounding of the linear algebra.
 *
 * N = count, d = features, D = d + 1 numbers a row, m outputs: 1 for labels 0 and 1, where p is the
 * probability of 1; else one for each of m classes, with p the softmax of the scores. Row i is
 * u_i = (x_i, 1). A gradient is (p - y) u, (m, D), y the label as 0 and 1. */

#ifndef LEARN_STANDIN_H
#define LEARN_STANDIN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { STANDIN_FEATURES_MAX = 256, STANDIN_OUTPUTS_MAX = 32 };

#define STANDIN_CLIP_LEAST 0x1p-10

/* Zeroed at its start; owns its arrays. */
struct standin {
    size_t count;
    size_t width;   /* D */
    size_t outputs; /* m */
    bool gaussian;
    double *
        row; /* (N, D) means of x are 0, means of x x' are I, to rounding, before standin_scale(); the last is 1 */
    double *norm;  /* (N) of u: L2 or L1, at least 1 */
    double *p;     /* (N, m) under the model of standin_set() */
    double *spare; /* (N (2 m + 4)) */
};

/**
 * Computes (B + added I)^(-1/2), where B is the matrix with its eigenvalues below `floor` raised to
 * it.
 *
 * root    out  (n, n) symmetric
 * matrix  in   (n, n) symmetric; each number at most 1e100
 * floor   in   > 0
 * added   in   >= 0
 *
 * Fails with STATUS_NO_MEMORY, and with STATUS_INVALID when LAPACK finds no eigenvalues (of finite
 * numbers it does).
 */
MUST_USE enum status standin_root(double *root, const double *matrix, size_t n, double floor,
                                  double added);

/** Returns N: 40 d, at least 800 and at most 2560. With more than 64 features there are fewer than
 * 40 rows a feature, so that a step of the learner stays below a second; with 256 features and
 * 32 classes, without noise, it takes two. */
size_t standin_count(size_t feature_count);

/**
 * Makes the rows of a fixed seed.
 *
 * outputs   in  1, or 3 .. STANDIN_OUTPUTS_MAX
 * gaussian  in  norms are L2, else L1
 *
 * Fails with STATUS_NO_MEMORY; then there is nothing to free, and freeing does no harm.
 * Cost O(N d^2).
 */
MUST_USE enum status standin_init(struct standin *standin, size_t feature_count, size_t outputs,
                                  bool gaussian);

/** Makes that many rows in place of standin_count(): more than feature_count (CHECKed). Fails likewise. */
MUST_USE enum status standin_init_rows(struct standin *standin, size_t count, size_t feature_count,
                                       size_t outputs, bool gaussian);

/** Makes a copy of one: the rows and their norms. Fails with STATUS_NO_MEMORY; then as standin_init(). Cost O(N d). */
MUST_USE enum status standin_copy(struct standin *copy, const struct standin *standin);

/** Multiplies each column but the constant by a factor, in the rows and so in their norms. scale  in  (d) each above 0, at
 * most 1. Cost O(N d). */
void standin_scale(struct standin *standin, const double *scale);

void standin_free(struct standin *standin);

/** Computes p from the scores <u, v_o>; differences of scores are held to 40. v  in  (m, D) finite */
void standin_set(struct standin *standin, const double *v);

/** Computes the means of p (1 - p), each at least 1e-12: the curvature of the loss. h  out  (m) */
void standin_curvature(double *h, const struct standin *standin);

/** Computes the same of clipped gradients: how much a change of the labels' chances moves them. h  out  (m) at least 1e-12 */
void standin_kept_curvature(double *h, const struct standin *standin, double clip);

/** Computes the mean of p_o u. moment  out  (m, D) */
void standin_moment(double *moment, const struct standin *standin);

/**
 * Returns the norm C of which gradients of norm at most C have, in expectation over y,
 * the share `quantile` of the total norm of all gradients. At least 2^-10.
 *
 * quantile  in  above 0, at most 1
 */
double standin_clip(struct standin *standin, double quantile);

/** Computes the mean of the clipped gradient (p - y) u min(1, clip/|(p - y) u|) over rows and
 * labels: what a federation releases in expectation when the model is right. mean  out  (m, D) */
void standin_gradient(double *mean, struct standin *standin, double clip);

/**
 * Moves v to the model whose labels would move the mean of today's clipped gradients by g. With w_i how much of a change of
 * row i's probabilities they show (exact for one output), solves by Newton's method
 *     mean w u (p_new - p) + g + ridge (v_new - v) + mean w p (1 - p) more (v_new - v) = 0, number by number.
 * The ridges of an output are tripled until |v_new - v|_2 <= 3 for it, the smallest at most to 3e6.
 *
 * v      in/out  (m, D) that of standin_set()
 * g      in      (m, D) each number at most 1e100
 * ridge  in/out  (m, D) each 1e-4 or more; as it was raised
 * more   in      (d, d) positive semidefinite: what columns' second moments have beyond those of the rows; NULL: nothing
 *
 * Fails with STATUS_NO_MEMORY. Cost O(N m D) for each of some 100 steps of conjugate gradients, and of
 * 400 for each ridge that is tried at most: 7 s for 32 outputs and 256 features without noise.
 */
MUST_USE enum status standin_move(double *v, struct standin *standin, const double *g, double clip,
                                  double *ridge, const double *more);

#endif
