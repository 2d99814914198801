/* task_select.h - the sums that tell every candidate's errors. */

#ifndef AGENT_TASK_SELECT_H
#define AGENT_TASK_SELECT_H

#include "agent/task.h"

/** Writes the candidates' cells over the round's rows. */
MUST_USE enum status task_select(int64_t *value, const struct task_input *input);

#endif
