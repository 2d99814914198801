/* selftune.h - learns a linear model of classes from noisy sums, without settings of its own.
 *
 * The model of two classes is logistic, p = 1/(1 + exp(-f)), f = <u, V>, and that of m > 2 classes is
 * the softmax of m scores <u, V_o>, for u = ((z - mu) W, 1), which a record's features z become. The
 * first release is a look at the records: the classes' counts, and one of
 *   sums      each class's sum of z, records clipped to a norm, and what the clip keeps of each class;
 *   squares   each class's sum of z, and the sum of z_j^2;
 *   products  the sum of z z', and the sum of z, of several classes each one's.
 * From them come mu and W. W is the inverse root of z's covariance, shrunken where it is noise, or that
 * of columns' variances (squares), or of variance 1/4 (sums). So all directions of u vary alike, and
 * noise harms all of them alike. The classes' sums also give a first model: the linear discriminant of
 * such columns, each of its numbers shrunken by its noise (learn/selftune_first.c). Where there are many columns
 * and few records it is all that epsilon allows: a record adds to its class's sum once, but to the
 * gradients of all classes. Every further release is the sum of the gradients (p - y) u of all scores,
 * each record's clipped to norm C.
 *
 * After sums and squares gradients tell how columns go with one another (selftune_secant.h). Steps that took such columns to be white
 * would overshoot, so they are shorter along directions in which columns go with one another.
 *
 * Where classes have sums, the look also says which columns matter. Each number of the model has a variance of its own that is
 * still to be learned (Pv), and a column about which little is to be learned is scaled down in W: it adds less to a gradient's norm,
 * so to the clip, so to the noise on all columns.
 *
 * The coordinator replaces what else it would have to ask by made-up records u (learn/standin.h).
 * On them it computes: C; the clipped gradient that the model itself would give, which it subtracts
 * from the released one, so that clipping does not bias; and the curvature, which replaces a
 * learning rate. A step goes to the model whose labels, on the made-up records, would move today's
 * clipped gradients as far as the released ones are off. A ridge pulls it back to V by the ratio of the noise's variance to
 * that of what is still to be learned (Pv), number by number, as in a Kalman filter. The result is the mean of the
 * last iterates.
 *
 * Everything here but selftune_transform() works on releases: post-processing, without privacy. What
 * a release costs is in docs/PRIVACY.md. d = feature_count, D = d + 1, m = output_count, K classes. */

#ifndef LEARN_SELFTUNE_H
#define LEARN_SELFTUNE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/standin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SELFTUNE_FEATURES_MAX = STANDIN_FEATURES_MAX,
    SELFTUNE_BENDS_MAX = 21, /* columns whose products are tried, too */
    SELFTUNE_OUTPUTS_MAX = STANDIN_OUTPUTS_MAX,
    SELFTUNE_STEPS_MAX = 1000,
    SELFTUNE_STEPS_OF_MEAN = 3 /* from so many on the model is the mean of the last iterates */
};

/* What a look releases beside the sums of columns, of classes also their counts. */
enum selftune_sight {
    SIGHT_NONE,     /* there is no look: of labels that are numbers alone */
    SIGHT_SUMS,     /* nothing, but how much clipping keeps: of classes alone */
    SIGHT_SQUARES,  /* sums of squares: columns are scaled, each by itself */
    SIGHT_PRODUCTS, /* sums of products of all pairs: they are whitened together */
    SIGHTS
};

/* Public numbers of a stage. */
struct selftune {
    size_t feature_count; /* columns in -1 .. 1, without the constant; 1 .. SELFTUNE_FEATURES_MAX */
    size_t output_count;  /* 1 for two classes; else one a class, 3 .. SELFTUNE_OUTPUTS_MAX */
    enum selftune_sight sight; /* what its first release is */
    bool gaussian;             /* gradients are clipped in L2, else in L1 */
    uint32_t steps;  /* gradient releases; 1 .. SELFTUNE_STEPS_MAX; 0 after classes' sums */
    double quantile; /* of the clip: standin_clip(); above 0, at most 1 */
    const struct standin *
        rows; /* borrowed: standin_init() of these numbers, for a caller that steps often; NULL: made each time */
    bool bends;     /* beside products: a step tries products of white columns: selftune_bend.h */
    bool is_number; /* the labels are numbers, which keep no secants; selftune_number.h sets it */
};

/** Checks the numbers. Fails with STATUS_INVALID. All functions below CHECK it. */
MUST_USE enum status selftune_check(const struct selftune *stage, struct why *why);

/** Returns K: 2 for one output, else the outputs. */
size_t selftune_class_count(const struct selftune *stage);

/** Returns how many products or squares a look sums: d (d + 1)/2, d, or 0. */
size_t selftune_product_count(const struct selftune *stage);

/** Returns how many sums of columns a look of classes has: d of two classes beside products, else K d. */
size_t selftune_sum_count(const struct selftune *stage);

/** Returns e, how many columns a step has: d, or with the products of white columns d + d (d + 1)/2. */
size_t selftune_column_count(const struct selftune *stage);

/** Returns how many numbers the state has. */
size_t selftune_state_count(const struct selftune *stage);

/** Returns where in the state stands how steep the loss is along columns that are alike. States of earlier builds lack it. */
size_t selftune_steep_place(const struct selftune *stage);

/** Returns how many numbers at the state's end say what gradients told of the columns: 0 where columns are whitened together, and
 * where no step follows. States of earlier builds lack them. */
size_t selftune_secant_count(const struct selftune *stage);

/** Returns how many numbers at the state's front agents see: C (1), V (m, D), and, if the stage looks,
 * mu (d) and W: (d, d), or its diagonal (d) where there are no products. */
size_t selftune_shown_count(const struct selftune *stage);

/**
 * Checks what an agent was shown.
 *
 * shown  in  (selftune_shown_count) any bits
 *
 * Fails with STATUS_INVALID unless 2^-10 <= C <= 16 D, each number of V is at most 1e100, of mu at
 * most 1, of W at most 32, and no number of W is nearer to 0 than 2^-400 without being 0.
 */
MUST_USE enum status selftune_check_shown(const double *shown, const struct selftune *stage);

/**
 * Starts: V = 0, the clip for it, and no look.
 *
 * state  out  (selftune_state_count)
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status selftune_begin(double *state, const struct selftune *stage);

/* What a look releases: sums over all records, with noise. */
struct selftune_look {
    double record_count; /* >= 1 */
    const double *count; /* (K) records of each class */
    const double *kept;  /* (K) with SIGHT_SUMS, else NULL: of each record, by its class, the share
                             that its clip leaves of it */
    const double
        *sum; /* (K, d) each class's sum of clipped z; of two beside products (d) that of all z */
    const double
        *product; /* (selftune_product_count) sums of z_i z_j, i <= j, row by row; or of z_i^2 */
    double count_deviation; /* >= 0: the standard deviation of the noise on each number of count */
    double kept_deviation;  /* the same for each of the others */
    double sum_deviation;
    double product_deviation;
    /* For classes, whose columns may be told of by some of the records alone, and are scaled to all; NULL: 1. */
    const double *
        factor; /* (d) of how many times the deviation the noise on its sums is; HUGE_VAL: none has told of it */
    const double *part; /* (d) the share of the records that have */
};

/**
 * Takes the look: mu, W, V, Pv, the clip. For two classes beside products V has but the intercept.
 *
 * state  in/out  (selftune_state_count) of finite numbers
 *
 * Fails with STATUS_NO_MEMORY, and with STATUS_INVALID for releases out of range. Then state is as it
 * was. CHECKs that the stage looks. Ensures that selftune_check_shown() holds, whatever the state.
 */
MUST_USE enum status selftune_take_look(double *state, const struct selftune *stage,
                                        const struct selftune_look *look);

/* What a step releases. */
struct selftune_release {
    uint32_t step;          /* 0 .. steps - 1 */
    double record_count;    /* >= 1 */
    const double *gradient; /* (m, D) sum of the clipped (p - y) u, with noise */
    double deviation;       /* >= 0: the standard deviation of the noise on each of its numbers */
};

/** Takes a step: V, the clip for it. As selftune_take_look(). Cost: that of standin_init() and
 * standin_move(). */
MUST_USE enum status selftune_take_gradient(double *state, const struct selftune *stage,
                                            const struct selftune_release *release);

/**
 * Computes the model in z: f_o = <w_o, (z, 1)>, from the mean of the last iterates: 3 from 5 steps on, 2
 * from 3 steps on, else 1; before the last step of those so far.
 *
 * w  out  (m, D) finite
 */
void selftune_model(double *w, const double *state, const struct selftune *stage);

/** Computes the model of the last iterate alone, likewise. */
void selftune_last_iterate(double *w, const double *state, const struct selftune *stage);

/**
 * Weakens a model about the records' mean mu: its columns count `part` as much, and its score there stays. Without any part it
 * is a constant: what the classes' shares say.
 *
 * w     in/out  (m, D) of selftune_model()
 * part  in      0 .. 1
 */
void selftune_weaken(double *w, const double *state, const struct selftune *stage, double part);

/** Returns how many products of white columns have stayed, after the step that tries them all. */
size_t selftune_bent_count(const double *state, const struct selftune *stage);

/** Returns how many times shorter the steps are at most because gradients say that columns are alike: 1 if none does. */
double selftune_shortened(const double *state, const struct selftune *stage);

/**
 * Computes u = ((z - mu) W, 1).
 *
 * u      out  (D)
 * z      in   (d) within -1 .. 1
 * shown  in   (selftune_shown_count) of which selftune_check_shown() holds
 *
 * Privacy: the same instructions and addresses whatever z is; subnormal numbers count as 0.
 */
void selftune_transform(double *u, const double *z, const double *shown,
                        const struct selftune *stage);

#endif
