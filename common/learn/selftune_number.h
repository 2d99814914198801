/* selftune_number.h - learns a linear model of a number from noisy sums, without settings of its own: what
 * learn/selftune.h does for classes, of the squared loss, of Huber's or of pinball. The label y and all columns are in -1 .. 1.
 *
 * If the stage looks, the label is one more column of its look, the first. From the products come mu, W and a first
 * model, the least squares of the released moments; from the squares mu, W and the label's mean and deviation. Every
 * further release is the sum of the gradients L'(f - y) u (of the squared loss (f - y) u), each record's clipped to norm C,
 * and the sum of min(|f - y|, 1), which tells how large residuals are.
 *
 * A clipped gradient answers to the model's error by a known slope in each direction (learn/selftune_slope.h). Divided by it,
 * the released mean gradient is how far the model is from the best one, as far as the columns are white. A step goes that way
 * as far as the noise lets one trust it (a Kalman gain), divided by the curvature that the last two gradients show.
 * The clip is the one with the least sum of noise and of what clipping may bias.
 *
 * The state begins as that of learn/selftune.h with one output. All here is post-processing of releases. d =
 * feature_count, D = d + 1. */

#ifndef LEARN_SELFTUNE_NUMBER_H
#define LEARN_SELFTUNE_NUMBER_H

#include "learn/loss.h"
#include "learn/selftune.h"

/* Public numbers of a stage. */
struct selftune_number {
    struct selftune tune; /* of one output */
    struct loss loss;     /* selftune_serves() */
    double
        noise; /* > 0: the standard deviation that the plan expects of a step's mean gradient with a clip of 1 */
};

/** Returns how many numbers the state has. */
size_t selftune_number_state_count(const struct selftune_number *stage);

/** Starts: a model of 0, its clip, and no look. Fails with STATUS_NO_MEMORY. state  out  (state_count) */
MUST_USE enum status selftune_number_begin(double *state, const struct selftune_number *stage);

/* What a look releases: sums over all records, with noise. The label is column 0. */
struct selftune_number_look {
    double record_count;      /* >= 1 */
    const double *sum;        /* (D) */
    const double *product;    /* (D (D + 1)/2) of all pairs i <= j, row by row; or (D) squares */
    double sum_deviation;     /* >= 0: the standard deviation of the noise on each number of sum */
    double product_deviation; /* >= 0: the same for product */
};

/** Takes the look: mu, W, the model so far, the clip. Fails, leaves the state and ensures as
 * selftune_take_look() does. */
MUST_USE enum status selftune_number_take_look(double *state, const struct selftune_number *stage,
                                               const struct selftune_number_look *look);

/* What a step releases. */
struct selftune_number_release {
    double record_count;    /* >= 1 */
    const double *gradient; /* (D) sum of the clipped L'(f - y) u, with noise */
    double deviation;       /* >= 0: the standard deviation of the noise on each of its numbers */
    double size;            /* sum of min(|f - y|, 1), with noise */
    double size_deviation;  /* >= 0 */
};

/** Takes a step: the model, the clip for it. Fails as selftune_take_gradient() does. selftune_model() tells the model. */
MUST_USE enum status selftune_number_take_gradient(double *state,
                                                   const struct selftune_number *stage,
                                                   const struct selftune_number_release *release);

#endif
