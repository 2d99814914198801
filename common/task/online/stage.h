/* stage.h - what only an online stage has. */

#ifndef TASK_ONLINE_STAGE_H
#define TASK_ONLINE_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "learn/online.h"

struct online_stage {
    struct online_problem stream;
};

/** Returns it; CHECKs the task. */
static inline struct online_stage *online_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_ONLINE);
    return stage->own;
}

#endif
