/* `fit`: each agent's own regularised minimiser, one lambda a round. */

#include "task/task.h"

const struct task_text task_text_fit = {.strategies = 1u << STRATEGY_AVERAGE,
                                        .units = 1u << UNIT_RECORD,
                                        .reads = SHARED_LOSS | SHARED_LAMBDAS | SHARED_TOLERANCE |
                                                 SHARED_EXPERTS | SHARED_MAP | SHARED_OWN_EXPERTS,
                                        .needs = SHARED_LOSS | SHARED_LAMBDAS,
                                        .build = stage_build_fits};
