/* stage.h - what only a learn stage has. Its rounds: the look (counts of the classes and sums of the columns, in one vector with
 * the sums of their products, or of their squares, or of what a clip keeps of each class's records), then steps (the sum of
 * clipped gradients in the columns that the look has made alike; of more than two classes one gradient for each, clipped
 * together). Every class has sums of its own, but two of them beside products.
 *
 * Of a label that is a number there are no counts: the label is one more column of the look, the first, and every step carries
 * the sum of how far the model misses, min(|f - y|, 1), after its gradient. It may do without a look. */

#ifndef TASK_LEARN_STAGE_H
#define TASK_LEARN_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "job/round.h"
#include "learn/selftune.h"
#include "learn/selftune_number.h"
#include "learn/selftune_slope.h"
#include "learn/tuned.h"

#include <math.h>

enum {
    LEARN_LOOK_BITS =
        30, /* the grid of a look: steps of 2^-30 of its sensitivity; where a unit is */
    LEARN_LOOK_BITS_LEAST = 20, /* many records fewer bits, as noise is for all of them */
    LEARN_STEP_BITS = 15,       /* of a step: gradients are clipped to 2^15 steps */
    LEARN_REACH_BITS =
        10 /* a record is clipped to 2^10 times the length that a gradient is clipped to */
};

/* One column's share of a look's vector: a number of the kind is multiplied by it before it is encoded. */
struct learn_weights {
    double count;
    double kept; /* of the share that the clip leaves of a record */
    double sum;
    double product; /* also of a square */
};

/* What else than the model is judged of the iterates. */
enum learn_iterate {
    ITERATE_NONE,
    ITERATE_LOOK, /* the look's own model, before the steps: of two classes, whose steps may overshoot, and make it worse */
    ITERATE_LAST /* the last one, where the model is the mean of several: of several classes, whose steps are shorter */
};

struct learn_stage {
    struct selftune tune;
    struct learn_weights
        weights; /* of a look; together they make its sensitivity 1 before the grid */
    int64_t
        clip_first; /* of a number's step, which carries misses, in grid steps; of others 2^LEARN_STEP_BITS */
    int64_t count_step; /* of a number: what a record adds at most to the sum of misses */
    unsigned look_bits; /* of a look: steps of 2^-look_bits of a record's sensitivity */
    bool is_number;     /* the label */
    uint32_t
        groups; /* that a look's columns are dealt out to, each to the sites of one; 1: all sites look at all columns */
    uint32_t
        groups_second; /* as many of the sites that look second, at some of the columns; 0: nobody looks second */
    bool judged;                /* a later stage judges its experts, so it makes several */
    enum learn_iterate iterate; /* that is one of them */
    double noise;               /* of a number: struct selftune_number */
    const char *unbent; /* of classes: why products of columns are not tried; NULL: they are */
};

#define LEARN_LONG                                                                                 \
    6.0 /* a model of this length is as sure as noise lets one be; steps are of 3 at most */

#define LEARN_LONG_MANY                                                                            \
    1.5 /* of several classes, whose models are shorter: where the noise is as long, half of what they gain is lost */

/** Returns how long the noise of a Newton step is, at the start and in a model's units, where each number of a gradient of
 * length 1 has noise 1; of several classes that of one. */
static inline double learn_step_length(const struct learn_stage *own)
{
    const double d = (double)own->tune.feature_count;
    const double k = (double)own->tune.output_count;
    const double slope = k == 1 ? 0.5 : 2 * (1 - 1 / k); /* of the loss where the model is 0 */
    const double curvature = k == 1 ? 0.2 : 0.8 * (1 - 1 / k) / k; /* of the loss, mean */
    const double clip = own->tune.gaussian ? slope * sqrt(d + 1) : slope * (0.8 * d + 1);
    return clip * sqrt(d + 1) / curvature;
}

/** Returns how much noisier than a mean what a loss asks for is, by the part of the records that tell of it: a median is as
 * noisy, and a quantile the more, the fewer lie beyond it. */
static inline double learn_number_noisier(struct loss loss)
{
    return loss.kind == LOSS_PINBALL ? 0.5 / fmin(loss.parameter, 1 - loss.parameter) : 1;
}

/** Returns how long the noise of a number's step is, in deviations of the label, where each number of a gradient of length 1
 * has noise 1: clips are chosen near 1.3 deviations times a record's length. */
static inline double learn_number_length(const struct learn_stage *own)
{
    const double d = (double)own->tune.feature_count;
    return 1.3 * (own->tune.gaussian ? sqrt(d + 1) : 0.8 * d + 1) * sqrt(d + 1);
}

/** Returns it; CHECKs the task. */
static inline struct learn_stage *learn_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_LEARN);
    return stage->own;
}

/** Returns the classes, whose records are counted: 0 for a number. */
static inline size_t learn_class_count(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    return own->is_number ? 0 : selftune_class_count(&own->tune);
}

/** Returns the stage as it is in one of two looks. */
static inline struct learn_stage learn_at(const struct learn_stage *own, uint32_t within)
{
    struct learn_stage at = *own;
    at.groups = own->groups_second > 0 && within > 0 ? own->groups_second : own->groups;
    return at;
}

/** Returns how many columns one site looks at: those of its group, and of the last groups one that is always 0. */
static inline size_t learn_own_columns(const struct learn_stage *own)
{
    return own->groups > 1 ? (own->tune.feature_count + own->groups - 1) / own->groups
                           : own->tune.feature_count;
}

/* Of the longest norm, a column's being 1: what six in ten records of typical tables do not exceed. A clip four times as long lets
 * noise on everything: 12 points of wdbc at epsilon 1. One of a quarter is 0.3 points better there, and no worse elsewhere. */
#define REACH          TUNED(REACH, 0.3)
#define REACH_GAUSSIAN 0.35

/** Returns the norm to which a look at sums clips a record's columns, of which its site looks at that many: of some six in ten
 * records of typical tables, the longest. It grows with their number. */
static inline double learn_reach(const struct learn_stage *own, size_t columns)
{
    const double d = (double)columns;
    return own->tune.gaussian ? REACH_GAUSSIAN * sqrt(d) : REACH * d;
}

/** Returns the columns of a look: the label is one if it is a number. */
static inline size_t learn_column_count(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    return own->tune.feature_count + (own->is_number ? 1 : 0);
}

/** Returns how many products a look sums. */
static inline size_t learn_product_count(const struct stage *stage)
{
    const size_t columns = learn_column_count(stage);
    const enum selftune_sight sight = learn_stage(stage)->tune.sight;
    return sight == SIGHT_PRODUCTS  ? columns * (columns + 1) / 2
           : sight == SIGHT_SQUARES ? columns
                                    : 0;
}

static inline struct selftune_number learn_number(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    return (struct selftune_number){.tune = own->tune, .loss = stage->loss, .noise = own->noise};
}

/** Returns the numbers of a gradient. */
static inline size_t learn_gradient_count(const struct stage *stage)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    return tune->output_count * (selftune_column_count(tune) + 1);
}

static inline bool learn_is_look(const struct stage *stage, uint32_t within)
{
    const struct learn_stage *own = learn_stage(stage);
    return own->tune.sight != SIGHT_NONE && within < (own->groups_second > 0 ? ROUND_TURNS : 1);
}

/** Returns the weight of a column's sums in the second look, at that many columns: as in the first, a record moves all of a site's
 * columns by 1 at most, less what counts have. */
static inline double learn_second_sum(const struct stage *stage, size_t columns)
{
    const struct learn_stage *own = learn_stage(stage);
    const size_t groups = own->groups_second;
    const size_t each = (columns + groups - 1) / groups;
    return own->weights.sum * (learn_reach(own, learn_own_columns(own)) / learn_reach(own, 1)) /
           fmax((double)each, 1);
}

/** Returns how many sums of columns a look has. */
static inline size_t learn_sum_count(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    return own->is_number ? learn_column_count(stage) : selftune_sum_count(&own->tune);
}

/** Returns how many numbers of a look tell what the clip keeps. */
static inline size_t learn_kept_count(const struct stage *stage)
{
    return learn_stage(stage)->tune.sight == SIGHT_SUMS ? learn_class_count(stage) : 0;
}

/** Returns how many numbers a step carries after its gradient: a number's misses. */
static inline size_t learn_carried_count(const struct stage *stage)
{
    return learn_stage(stage)->is_number ? 1 : 0;
}

/** Returns the clip of a step's gradients: grid steps. */
static inline int64_t learn_clip(const struct stage *stage)
{
    return learn_stage(stage)->is_number ? learn_stage(stage)->clip_first
                                         : INT64_C(1) << LEARN_STEP_BITS;
}

/** Returns the iterate that is worth judging beside the model. Of two classes a look at products is no model. A number's steps
 * weigh all iterates, and none of them is better. */
static inline enum learn_iterate learn_iterate_of(const struct learn_stage *own)
{
    const bool two = own->tune.output_count == 1;
    const bool is_model = own->tune.sight == SIGHT_SUMS || own->tune.sight == SIGHT_SQUARES;
    return own->is_number                                      ? ITERATE_NONE
           : two && is_model && own->tune.steps > 0            ? ITERATE_LOOK
           : !two && own->tune.steps >= SELFTUNE_STEPS_OF_MEAN ? ITERATE_LAST
                                                               : ITERATE_NONE;
}

/** Returns how many experts the stage makes: its model; and where they are judged its model weakened by half, that of the
 * shares alone, of two classes its threshold moved down and up, and then the iterate. */
static inline size_t learn_expert_count(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    const size_t changed = own->is_number || own->tune.output_count > 1 ? 2 : 4;
    return !own->judged ? 1 : 1 + changed + (own->iterate != ITERATE_NONE ? 1 : 0);
}

/** Plans a stage of a number, whose features and kind of noise are set. noise: the standard deviation of a mean over all
 * records that one record moves by 1, released with all of the stage's epsilon. noisier: learn_number_noisier(). age: of the
 * programs that have begun the job. */
void learn_plan_number(struct learn_stage *own, double noise, double noisier, enum job_age age);

#endif
