/* task_fit.h - the `fit` task: the local regularised minimiser, on the grid. */

#ifndef AGENT_TASK_FIT_H
#define AGENT_TASK_FIT_H

#include "agent/task.h"

/** One model of D weights for the stage's lambda number `within`.
 * Privacy: replace-one L1 sensitivity ceil(sqrt(D) Delta_2/g) + D (learn/sensitivity.h). */
MUST_USE enum status task_fit(struct private_vector *out, const struct task_input *input,
                              struct why *why);

/** Bounds the answer's L1 sensitivity, as task_sensitivity. */
MUST_USE enum status task_fit_sensitivity(uint64_t *sensitivity_l1, const struct stage *stage,
                                          uint32_t within, size_t record_count,
                                          size_t feature_count, struct why *why);

/** Refuses lambdas whose solver cannot reach the tolerance within its public bound. */
MUST_USE enum status task_fit_check(const struct stage *stage, size_t record_count,
                                    size_t feature_count, struct why *why);

#endif
