/* task_predict.h - a kernel model, which contains the records, answers for public points; it is wiped
 * before anything leaves. */

#ifndef AGENT_TASK_PREDICT_H
#define AGENT_TASK_PREDICT_H

#include "agent/task.h"

/** Writes the round's answers (outputs, point_count) on the grid, each brought to -1 .. 1. Fails with
 * STATUS_INVALID, STATUS_NO_MEMORY. */
MUST_USE enum status task_predict(int64_t *value, const struct task_input *input, struct why *why);

#endif
