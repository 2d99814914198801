/* `fit`: each agent's own regularised minimiser, one lambda a round. */

#include "learn/erm.h"
#include "learn/sensitivity.h"
#include "task/task.h"

const struct task_text task_text_fit = {.strategies = 1u << STRATEGY_AVERAGE,
                                        .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
                                        .units = 1u << UNIT_RECORD,
                                        .has_map = true,
                                        .build = stage_build_fits};
