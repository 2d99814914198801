/* stage.h - what only a losses stage has. */

#ifndef TASK_LOSSES_STAGE_H
#define TASK_LOSSES_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "job/round.h"

struct losses_stage {
    bool doubling;            /* the play forgets and starts anew after 1, 2, 4, .. rounds */
    struct round_plays plays; /* where answers are exact; owned */

    /* Experts written in the job, from public knowledge alone, that join at the stage's start. width:
     * round_width */
    char (*forecaster)[JOB_NAME_BYTES]; /* (forecaster_count) owned */
    double *forecaster_weights;         /* (forecaster_count, width) owned */
    size_t forecaster_count;
};

/** Returns it; CHECKs the task. */
static inline struct losses_stage *losses_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_LOSSES);
    return stage->own;
}

#endif
