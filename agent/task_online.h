/* task_online.h - the stream's model at a release, from all records up to it. */

#ifndef AGENT_TASK_ONLINE_H
#define AGENT_TASK_ONLINE_H

#include "agent/task.h"

/** Writes w_t (width) on the grid, t the records that the stream has seen at this round's release.
 * Fails with STATUS_NO_MEMORY. */
MUST_USE enum status task_online(int64_t *value, const struct task_input *input);

#endif
