/* main_acts_private.h - what the files of the acts share. */

#ifndef COORDINATOR_MAIN_ACTS_PRIVATE_H
#define COORDINATOR_MAIN_ACTS_PRIVATE_H

#include "coordinator/main_acts.h"

/** Returns a job as the answers have it, which the caller owns; NULL without memory. */
json_t *acts_job_json(const struct acts *acts, const struct queue_job *job);

/** Lists the files of a result, with their digests. Fails with STATUS_INVALID (the job is not over), STATUS_NOT_FOUND (it
 * left none), STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status acts_result(json_t **out, const struct acts *acts, const struct ask *ask,
                                 struct why *why);

/** Reads a piece of one of them. Fails likewise. */
MUST_USE enum status acts_read(struct desk_answer *answer, const struct acts *acts,
                               const struct ask *ask, struct why *why);

#endif
