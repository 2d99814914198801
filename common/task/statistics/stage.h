/* stage.h - what only a statistics stage has. */

#ifndef TASK_STATISTICS_STAGE_H
#define TASK_STATISTICS_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "learn/moments.h"

struct statistics_stage {
    struct moments moments;
};

/** Returns it; CHECKs the task. */
static inline struct statistics_stage *statistics_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_STATISTICS);
    return stage->own;
}

#endif
