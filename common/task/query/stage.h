/* stage.h - what only a query stage has. */

#ifndef TASK_QUERY_STAGE_H
#define TASK_QUERY_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "query/bar.h"
#include "query/query_set.h"

struct query_stage {
    struct query_set queries; /* the last of them are a learner's; owned */
    char (*conjunction)
        [QUERY_TEXT_BYTES]; /* (conjunction_count, 2) features to learn one of, and their questions */
    size_t conjunction_count;
    double conjunction_tolerance; /* tau: how near to its probability an answer is meant to be */
};

struct terms;

/** Adds the lines of a regress: terms.h. step: of the grid; records: of all agents. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status query_terms_regress(struct terms *terms, const struct query *query,
                                         const struct query_noise *noise, double step,
                                         double records);

/** Returns it; CHECKs the task. */
static inline struct query_stage *query_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_QUERY);
    return stage->own;
}

#endif
