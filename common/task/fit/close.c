/* `fit`: the average over the answers, its moved thresholds, then the agents' own models by name,
 * become experts. */

#include "task/close.h"
#include "base/check.h"
#include "dp/encode.h"

#include <stdio.h>
#include <stdlib.h>

/* Not of a single agent: that is the average. */
static bool has_own(const struct stage *stage, size_t row_count)
{
    return row_count > 1 + stage->shift_count;
}

static enum status close(struct closing *closing)
{
    const struct stage *stage = closing->stage;
    const size_t w = closing->count;
    const size_t row_count = job_experts_of_round(stage, closing->record->as.round.agent_count);
    double *out = closing_take_means(closing, (double)closing->record->as.round.agent_count);
    size_t row = 1 + stage->shift_count;

    if (row_count > 1) {
        double *grown = realloc(out, row_count * w * sizeof *grown);
        if (grown == NULL) {
            free(out);
            return STATUS_NO_MEMORY;
        }
        out = grown;
    }
    closing_shift(out, closing);
    for (size_t i = 0; has_own(stage, row_count) && i < closing->own_count; i++, row++) {
        for (size_t j = 0; j < w; j++) {
            out[row * w + j] = decode_value(closing->own[i].step[j], stage->grid_bits);
        }
    }
    CHECK(row == row_count);
    closing->record->as.round.chosen =
        (uint32_t)closing->outcome->expert_count; /* the new average */
    return closing_keep_rows(closing, out, row_count);
}

/* In the order of the rows above. */
void closing_name_fits(struct outcome_expert *expert, const struct stage *stage, uint32_t within,
                       const struct record *record, const char *made)
{
    double lambda = stage->lambda[within];
    size_t rows = job_experts_of_round(stage, record->as.round.agent_count);
    size_t row = 0;

    (void)snprintf(expert[row++].name, OUTCOME_NAME_BYTES, "average, %slambda %g", made, lambda);
    for (size_t i = 0; i < stage->shift_count; i++) {
        (void)snprintf(expert[row++].name, OUTCOME_NAME_BYTES,
                       "average, %slambda %g, threshold %+g", made, lambda, stage->shift[i]);
    }
    for (size_t i = 0; has_own(stage, rows) && i < record->as.round.agent_count; i++, row++) {
        (void)snprintf(expert[row].name, OUTCOME_NAME_BYTES, "%s, %slambda %g",
                       record->as.round.agent[i].name, made, lambda);
        expert[row].weight = stage->own_weight;
    }
    for (size_t i = 0; i < rows; i++) {
        const bool is_own = i > stage->shift_count; /* made of one answer */
        expert[i].lambda = lambda;
        expert[i].draws = stage->task != TASK_FIT ? 0 : is_own ? 1 : record->as.round.agent_count;
    }
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const size_t rows = job_experts_of_round(stage, record->as.round.agent_count);
    struct outcome_expert *expert = NULL;

    (void)job;
    if (record->as.round.sum_count != 0) {
        return STATUS_CORRUPT;
    }
    enum status status = outcome_add_experts(&expert, outcome, rows, blob);
    if (status == STATUS_OK) {
        closing_name_fits(expert, stage, within, record, "");
    }
    return status;
}

const struct task_close task_close_fit = {.close = close, .add = add};
