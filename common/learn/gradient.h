/* gradient.h - what one `update` round asks of an institution: the sum over its records of the
 * gradient of each record's loss at the public weights, every record's gradient a bounded vector of
 * whole grid steps before anything is added. */

#ifndef LEARN_GRADIENT_H
#define LEARN_GRADIENT_H

#include "base/status.h"
#include "base/why.h"
#include "learn/loss.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The norm that bounds a record, and in which the sum is sensitive. */
enum gradient_norm {
    GRADIENT_L1, /* for Laplace noise */
    GRADIENT_L2  /* for Gaussian noise */
};

/* Public. k = output_count, d = feature_count; the vector has k d numbers, output by output. */
struct gradient {
    struct loss loss;    /* not the zero-one loss */
    size_t output_count; /* 1; more: one model for each class against the rest, or softmax */
    size_t feature_count;
    unsigned grid_bits; /* the grid's step is 2^-grid_bits */
    enum gradient_norm norm;
    int64_t
        clip; /* C, in grid steps: each record's whole gradient, of all outputs, has at most this
                     norm */
    bool softmax; /* of all outputs: slopes p - y, p their softmax, in place of the loss's */
};

/* A round's records, and the coins. n = row_count */
struct gradient_rows {
    const double *x;   /* (record count of the data, d), every norm at most 1 */
    const double *y;   /* (record count of the data): labels; with k > 1 the class, 0 .. k-1 */
    const size_t *row; /* (n) which records; NULL: the first n */
    const uint8_t
        *taking; /* (n) 1 or 0, whether the record takes part (dp/sampling.h); NULL: all */
    size_t row_count;
};

/** Checks the numbers against each other: 1 <= clip, grid_bits within ENCODE_BITS_MAX,
 * row_count * clip at most 2^62, a loss that has a gradient. Fails with STATUS_INVALID. */
MUST_USE enum status gradient_check(const struct gradient *gradient, size_t row_count,
                                    struct why *why);

/** Returns 2 C, in grid steps: how far replacing one record moves the sum, in the gradient's norm;
 * its L2 distance too, under either norm. */
uint64_t gradient_sensitivity(const struct gradient *gradient);

/** Returns a bound on every number of the sum over row_count records: row_count * C. For
 * encode_sum_fits. */
uint64_t gradient_range(const struct gradient *gradient, size_t row_count);

/**
 * Sums the records' clipped gradients.
 *
 * sum       out  (k, d) in grid steps; zero on failure
 * gradient  in   gradient_check holds (CHECKed)
 * weights   in   (k, d) public; from dense_flushed; whatever they are, nothing fails
 *
 * Fails with STATUS_NO_MEMORY.
 * Ensures sum = sum over the rows taking part of clip(encode(L'(<w_o, x>, y_o) x, all o)), with
 * encode_vector, and clip_l1 or clip_l2 of dp/encode.h, to the last bit, on every machine where
 * the loss's derivative is the same.
 * Privacy: this is exact; it leaves through the gate alone. Replace-one neighbours: whatever the
 * weights, one record moves the sum by at most 2 C (and one left out by C). Every row is computed
 * and multiplied by its coin. The same instructions and addresses whatever the records are; which way
 * is taken, of two that give the same, depends on the weights, the loss, the grid and C.
 * Cost: O(n k d); no allocation but two vectors of k d.
 */
MUST_USE enum status gradient_sum(int64_t *sum, const struct gradient *gradient,
                                  const double *weights, const struct gradient_rows *rows);

/** Writes mean (count) = total / (2^grid_bits record_count): the released sum over all agents, with
 * its noise, as a mean gradient. record_count is public: the agents' counts, times the sampling
 * rate, > 0. */
void gradient_mean(double *mean, const int64_t *total, size_t count, unsigned grid_bits,
                   double record_count);

#endif
