/* task_losses.h - the `losses` task: how the experts do on the next batch of records. */

#ifndef AGENT_TASK_LOSSES_H
#define AGENT_TASK_LOSSES_H

#include "agent/task.h"

/** The k experts' losses, each record's clamped to [0,1] and encoded before they are summed over
 * batch number `within`: rows [within * batch, (within + 1) * batch) of the job's order.
 * Privacy: replace-one L1 sensitivity k/g. Batches are disjoint: one charge covers the pass. */
MUST_USE enum status task_losses(struct private_vector *out, const struct task_input *input,
                                 struct why *why);

/** Refuses when there are fewer records than the stage's batches need. */
MUST_USE enum status task_losses_check(const struct stage *stage, size_t record_count,
                                       struct why *why);

#endif
