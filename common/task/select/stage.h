/* stage.h - what only a select stage has. */

#ifndef TASK_SELECT_STAGE_H
#define TASK_SELECT_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "query/candidates.h"

struct select_stage {
    bool among_experts;           /* the candidates are the experts there are */
    struct candidates candidates; /* borrows the job's schema */
};

/** Returns it; CHECKs the task. */
static inline struct select_stage *select_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_SELECT);
    return stage->own;
}

#endif
