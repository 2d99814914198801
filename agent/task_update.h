/* task_update.h - the clipped gradients of a round's records, summed. */

#ifndef AGENT_TASK_UPDATE_H
#define AGENT_TASK_UPDATE_H

#include "agent/task.h"

/** Writes the sum (width) at the weights in input->experts, over the round's rows or over those of them
 * that Poisson sampling takes. Fails with STATUS_NO_MEMORY, STATUS_NO_RANDOM. */
MUST_USE enum status task_update(int64_t *value, const struct task_input *input);

#endif
