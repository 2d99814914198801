/* task_fit.h - the local regularised minimiser: every agent learns alone, and only its weights, with
 * noise, leave. */

#ifndef AGENT_TASK_FIT_H
#define AGENT_TASK_FIT_H

#include "agent/task.h"

/** Writes the round's weights (width) on the grid. Fails with STATUS_INVALID, STATUS_NO_MEMORY. */
MUST_USE enum status task_fit(int64_t *value, const struct task_input *input, struct why *why);

#endif
