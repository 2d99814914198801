/* stage.h - what only a learn stage has. Its rounds: the look, where there is one (counts of the classes, sums of the
 * columns, sums of their products or squares, in one vector), then steps (the sum of clipped gradients in the columns that the look
 * has made alike; of more than two classes one gradient for each, clipped together). Without a look the first step carries
 * the counts behind its gradient. */

#ifndef TASK_LEARN_STAGE_H
#define TASK_LEARN_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "learn/selftune.h"

#include <math.h>

enum {
    LEARN_LOOK_BITS = 30, /* the grid of a look: steps of 2^-30 of its sensitivity */
    LEARN_STEP_BITS = 15, /* of a step: gradients are clipped to 2^15 steps */
    LEARN_REACH_BITS =
        10 /* a record is clipped to 2^10 times the length that a gradient is clipped to */
};

/* One column's share of a look's vector: a number of the kind is multiplied by it before it is encoded. */
struct learn_weights {
    double count;
    double sum;
    double product; /* also of a square */
};

struct learn_stage {
    struct selftune tune;
    struct learn_weights
        weights; /* of a look; together they make its sensitivity 1 before the grid */
    int64_t
        clip_first; /* of the first step where it carries counts, in grid steps; of others 2^LEARN_STEP_BITS */
    int64_t count_step; /* what a record adds to its class's count there */
};

#define LEARN_LONG                                                                                 \
    6.0 /* a model of this length is as sure as noise lets one be; steps are of 3 at most */

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

/** Returns it; CHECKs the task. */
static inline struct learn_stage *learn_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_LEARN);
    return stage->own;
}

static inline size_t learn_class_count(const struct stage *stage)
{
    return selftune_class_count(&learn_stage(stage)->tune);
}

/** Returns the numbers of a gradient. */
static inline size_t learn_gradient_count(const struct stage *stage)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    return tune->output_count * (tune->feature_count + 1);
}

static inline bool learn_is_look(const struct stage *stage, uint32_t within)
{
    return learn_stage(stage)->tune.sight != SIGHT_NONE && within == 0;
}

/** Returns whether the round is a step that carries the counts. */
static inline bool learn_counts_in_step(const struct stage *stage, uint32_t within)
{
    return learn_stage(stage)->tune.sight == SIGHT_NONE && within == 0;
}

/** Returns the clip of a step's gradients: grid steps. */
static inline int64_t learn_clip(const struct stage *stage, uint32_t within)
{
    return learn_counts_in_step(stage, within) ? learn_stage(stage)->clip_first
                                               : INT64_C(1) << LEARN_STEP_BITS;
}

#endif
