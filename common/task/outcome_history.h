/* outcome_history.h - what an outcome keeps of what is past: for who reads the result, or looks while a job runs. */

#ifndef TASK_OUTCOME_HISTORY_H
#define TASK_OUTCOME_HISTORY_H

#include "task/outcome.h"

/** Adds a closed round, which the outcome's other parts know of. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status history_add_round(struct outcome *outcome, const struct job *job,
                                       const struct stage *stage, const struct record *record);

/** Adds what it cost those who answered. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status history_add_agents(struct outcome *outcome, const struct job *job,
                                        const struct stage *stage, uint32_t within,
                                        const struct record *record);

#endif
