/* `online`: each release's average over the agents is a new expert, named by the day it was made. */

#include "task/close.h"

#include <inttypes.h>
#include <stdio.h>

static enum status close(struct closing *closing)
{
    closing->record->as.round.chosen = (uint32_t)closing->outcome->expert_count;
    return closing_keep_rows(
        closing, closing_take_means(closing, (double)closing->record->as.round.agent_count), 1);
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const struct round_rows rows = round_rows(stage, within, 0);
    struct outcome_expert *expert = NULL;

    if (record->as.round.sum_count != 0) {
        return STATUS_CORRUPT;
    }
    enum status status = outcome_add_experts(&expert, outcome, 1, blob);
    if (status == STATUS_OK) {
        expert->draws = record->as.round.agent_count;
        (void)snprintf(expert->name, OUTCOME_NAME_BYTES, "online, %s %" PRIu64,
                       schema_is_series(&job->schema) ? "day" : "record", rows.first + rows.count);
    }
    return status;
}

const struct task_close task_close_online = {.close = close, .add = add};
