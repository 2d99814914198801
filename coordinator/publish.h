/* publish.h - what a job's history says to the world: result.json and model.json, from released
 * values alone. */

#ifndef COORDINATOR_PUBLISH_H
#define COORDINATOR_PUBLISH_H

#include "base/status.h"
#include "job/job.h"
#include "learn/model.h"
#include "report/result.h"
#include "task/outcome.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PUBLISH_MODEL_NUMBERS_MAX = 1 << 20
}; /* larger sets of experts are left out of result.json */

struct publish_options {
    const struct job *job;
    bool seeded; /* the noise can be drawn again: nothing of this is private */
    uint64_t seed;
    double seconds; /* of the whole job; NAN when not known */
};

/**
 * Tells the history.
 *
 * result   out  result_free; accuracy, AUC and baseline unknown: they need exact records
 * outcome  in   with its history
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID (over a limit of report/result.h).
 */
MUST_USE enum status publish_result(struct result *result, const struct outcome *outcome,
                                    const struct publish_options *options);

/**
 * Makes the model that the job ends with.
 *
 * model  out  model_free
 *
 * Fails with STATUS_NO_MEMORY, STATUS_NOT_FOUND (the job has no expert yet).
 */
MUST_USE enum status publish_model(struct model *model, const struct outcome *outcome,
                                   const struct publish_options *options);

/* The parts of result.json that tell what was released and at what price. Within
 * this folder. */

/**
 * Tells the questions' answers, the noise and price of every stage (job/terms.h), what the agents
 * have spent by the answers that counted, and the regret. Under central trust nobody may know the
 * regret that was reached, so only the promised bound is told.
 *
 * result  in/out  reserved, with its agents; no answers and no releases yet
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID (over a limit of report/result.h).
 */
MUST_USE enum status publish_terms(struct result *result, const struct outcome *outcome,
                                   const struct job *job);

#endif
