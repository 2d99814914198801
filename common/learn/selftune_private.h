/* selftune_private.h - what the files of the self-tuning learner share: learn/selftune_state.c (the state),
 * learn/selftune.c (its steps), learn/selftune_look.c (what a look makes of it) and learn/selftune_number.c (labels that are
 * numbers). Numbers from outside are held to 1e100, so that no sum or product there is infinite. */

#ifndef LEARN_SELFTUNE_PRIVATE_H
#define LEARN_SELFTUNE_PRIVATE_H

#include "base/status.h"
#include "learn/selftune.h"
#include "learn/tuned.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define SELFTUNE_MOST 1e100

/* Of a feature of which nothing is known: one that fills half of its range evenly, about. */
#define SELFTUNE_VARIANCE_PLAIN TUNED(SELFTUNE_VARIANCE_PLAIN, 0.25)

/* What a model is expected to be before a class is summed: its squared length. No made-up or real table tells 0.75 from 12. */
#define SELFTUNE_PRIOR 3.0

/* Of Pv: what a step of classes leaves to be learned, over d, and what all columns have of it alike; the rest is each one's own.
 * A column of which little is to be learned keeps that part of its scale: without it a column that the look took for noise would
 * never come back. */
#define SELFTUNE_DRIFT        TUNED(SELFTUNE_DRIFT, 0.3)
#define SELFTUNE_SHARED       TUNED(SELFTUNE_SHARED, 0.1)
#define SELFTUNE_SCALE_LEAST  0.05

#define SELFTUNE_CLIP_MOST(d) (16 * ((d) + 1)) /* no gradient of a made-up record is as long */

/* The state of classes, part by part. */
struct selftune_parts {
    size_t d;
    size_t e;     /* columns of a step; e = d where nothing bends; D = e + 1 */
    size_t width; /* m D */
    double *clip; /* (1) */
    double *v;    /* (m, D) */
    double *mu;   /* (d) NULL without a look */
    double *w;    /* (d, d) after products, else (d); NULL without a look */
    double *bend; /* (e - d) the scales of products of white columns, as agents see them */
    double *
        prior; /* (m, D) Pv: variance of what is still to be learned of each number of V, if scale were 1 */
    double *scale; /* (e) of W: what whitens a column is multiplied by it */
    double *
        steep; /* (1) of two classes, and with products of columns: the loss is taken to be that much steeper than in white columns */
    double *done;
    double *past;   /* (window - 1, m, D) */
    double *secant; /* selftune_secant.c */
};

/* What a step knows of what was released. */
struct selftune_news {
    uint32_t step;
    double record_count;
    double noise;            /* variance of the noise on a number of the mean gradient */
    const double *curvature; /* (m) of the loss, mean */
};

static inline double selftune_between(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

static inline double selftune_held(double x)
{
    return selftune_between(x, -SELFTUNE_MOST, SELFTUNE_MOST);
}

static inline bool selftune_all_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static inline bool selftune_is_deviation(double x)
{
    return isfinite(x) && x >= 0;
}

/* What columns are whitened by: releases over the records' number. */
struct selftune_columns {
    const double *mean; /* (d) each within -1 .. 1 */
    const double *
        product; /* (selftune_product_count) NULL without: W is that of columns of which nothing is known */
    double deviation; /* of the noise on each product, >= 0 */
};

/** Returns how many times as large a column's noise is. */
static inline double selftune_factor(const double *factor, size_t column)
{
    return factor == NULL ? 1 : factor[column];
}

/** Fills W, of which no number is subnormal. Fails with STATUS_NO_MEMORY, or STATUS_INVALID as standin_root(). */
MUST_USE enum status selftune_whiten(double *w, const struct selftune *stage,
                                     const struct selftune_columns *columns);

/* How unsure a look leaves a first model. */
struct selftune_unsure {
    double *column; /* (d) out: of each column's numbers the variance, together, in white columns */
    double contrast; /* out: what a variance of the noise on a column's mean adds to that */
};

/* What a look says of the classes, over all records. */
struct selftune_classes {
    size_t count; /* K */
    double share[SELFTUNE_OUTPUTS_MAX];
    double kept[SELFTUNE_OUTPUTS_MAX]; /* of a record of the class, by its clip: mean, above 0 */
    double deviation;                  /* of the noise on each of sum, at the mean of kept */
    const double *factor;              /* as of a look */
    const double *part;
    double records;
    struct selftune_unsure *unsure; /* NULL: nobody asks */
};

/**
 * Fills V and Pv with the first model, from the look's classes and each class's sum over all records (K, d), where mu and W are
 * set. sum: NULL where classes have no sums of their own.
 *
 * Fails with STATUS_NO_MEMORY, or STATUS_INVALID as standin_root().
 */
MUST_USE enum status selftune_first_model(struct selftune_parts *parts,
                                          const struct selftune *stage,
                                          const struct selftune_classes *classes,
                                          const double *sum);

/** Takes a look and tells how unsure it leaves the model. unsure: NULL where nobody asks. */
MUST_USE enum status selftune_take_look_unsure(double *state, const struct selftune *stage,
                                               const struct selftune_look *look,
                                               struct selftune_unsure *unsure);

/** Returns whether a look's numbers are in range. */
bool selftune_look_is_good(const struct selftune_look *look, const struct selftune *stage);

/** Returns the mean share of a record that the clip leaves, drawn to what is likely by its noise. Of look kept, its deviation and the
 * records' number are read. */
double selftune_mean_kept(const struct selftune_look *look, size_t classes);

/** Draws columns' means mu (d), whose noise has that variance, to 0 by what noise makes of them, and holds them to -1 .. 1.
 * factor: as of a look. */
void selftune_draw_means(double *mu, size_t d, double noise, const double *factor);

/** Returns how many numbers W has. */
size_t selftune_white_count(const struct selftune *stage);

/** Returns how many of the last iterates the model is the mean of. */
size_t selftune_window(const struct selftune *stage);

struct selftune_parts selftune_parts_of(double *state, const struct selftune *stage);

/** Shows the clip for V. Cost: that of making the stand-in. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status selftune_show_clip(struct selftune_parts *parts, const struct selftune *stage);

#endif
