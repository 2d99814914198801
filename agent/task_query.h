/* task_query.h - the sums that answer a stage's statistical questions. */

#ifndef AGENT_TASK_QUERY_H
#define AGENT_TASK_QUERY_H

#include "agent/task.h"

/** Writes the round's cells over its rows. input->experts holds the thresholds that quantiles are asked
 * at (NULL in round 0: the middles of the public ranges). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status task_query(int64_t *value, const struct task_input *input);

#endif
