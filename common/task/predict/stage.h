/* stage.h - what only a predict stage has. */

#ifndef TASK_PREDICT_STAGE_H
#define TASK_PREDICT_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "learn/kernel.h"

struct predict_stage {
    struct kernel kernel; /* of the models that stay at home */
    double *point;        /* (point_count, d) the public records that they answer for; owned */
    size_t point_count;
    char (*point_name)[JOB_POINT_NAME_BYTES]; /* (point_count) their raw values; owned */
};

/** Returns it; CHECKs the task. */
static inline struct predict_stage *predict_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_PREDICT);
    return stage->own;
}

#endif
