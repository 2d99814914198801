/* Which code carries out which task; what all tasks share. */

#include "agent/task.h"

#include "agent/task_fit.h"
#include "agent/task_losses.h"
#include "base/bytes.h"
#include "learn/sensitivity.h"

#include <stdlib.h>
#include <string.h>

enum status task_run(struct private_vector *out, const struct task_input *input, struct why *why)
{
    memset(out, 0, sizeof *out);
    switch (input->stage->task) {
    case TASK_FIT:
        return task_fit(out, input, why);
    case TASK_LOSSES:
        return task_losses(out, input, why);
    }
    return STATUS_UNSUPPORTED;
}

enum status task_check(const struct stage *stage, size_t record_count, size_t feature_count,
                       struct why *why)
{
    switch (stage->task) {
    case TASK_FIT:
        return task_fit_check(stage, record_count, feature_count, why);
    case TASK_LOSSES:
        return task_losses_check(stage, record_count, why);
    }
    return STATUS_UNSUPPORTED;
}

enum status task_sensitivity(uint64_t *sensitivity_l1, const struct stage *stage, uint32_t within,
                             size_t record_count, size_t feature_count, size_t expert_count,
                             struct why *why)
{
    switch (stage->task) {
    case TASK_FIT:
        return task_fit_sensitivity(sensitivity_l1, stage, within, record_count, feature_count,
                                    why);
    case TASK_LOSSES:
        return sensitivity_losses_l1(sensitivity_l1, expert_count, stage->grid_bits, why);
    }
    return STATUS_UNSUPPORTED;
}

struct task_rows task_rows(const struct stage *stage, uint32_t within, size_t record_count)
{
    if (stage->task == TASK_LOSSES) {
        return (struct task_rows){(uint64_t)within * stage->batch, stage->batch};
    }
    return (struct task_rows){0, record_count};
}

void private_vector_free(struct private_vector *vector)
{
    if (vector != NULL) {
        if (vector->value != NULL) {
            bytes_wipe(vector->value, vector->count * sizeof *vector->value);
            free(vector->value);
        }
        memset(vector, 0, sizeof *vector);
    }
}
