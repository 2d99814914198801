/* task_losses.h - how the experts do on fresh records of this site. */

#ifndef AGENT_TASK_LOSSES_H
#define AGENT_TASK_LOSSES_H

#include "agent/task.h"

/** Writes the summed losses (expert_count) over the round's rows, each record's loss a whole number of
 * grid steps; under central trust over all rounds so far (and behind them the latest one's) or over
 * the segment before, as the strategy needs; with an unknown horizon over those of the play's own
 * segment so far, zeroes where it begins one. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status task_losses(int64_t *value, const struct task_input *input);

#endif
