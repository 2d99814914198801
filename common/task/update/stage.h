/* stage.h - what only an update stage has. */

#ifndef TASK_UPDATE_STAGE_H
#define TASK_UPDATE_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "learn/gradient.h"
#include "learn/optimiser.h"

struct update_stage {
    struct gradient gradient;
    struct optimiser optimiser;
    int64_t
        clip_sum; /* of units round and agent: the norm of an agent's whole vector, in grid units; 0: not clipped */
};

/** Returns it; CHECKs the task. */
static inline struct update_stage *update_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_UPDATE);
    return stage->own;
}

#endif
