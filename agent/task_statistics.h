/* task_statistics.h - second moments, from which the coordinator solves ridge regression. */

#ifndef AGENT_TASK_STATISTICS_H
#define AGENT_TASK_STATISTICS_H

#include "agent/task.h"

/** Writes the moments (learn/moments.h) summed over the round's rows: of two classes with labels of -1
 * and +1; of several with the first one's label of 1 or 0, and behind them the others' vectors x y
 * (outputs - 1, d). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status task_statistics(int64_t *value, const struct task_input *input);

#endif
