/* `statistics`: ridge regression from the released second moments, an expert for every lambda, and for
 * each of its moved thresholds. */

#include "task/close.h"
#include "task/statistics/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a system for one class is made of. d = feature_count */
struct system {
    const struct moments *moments;
    struct moments_release release;
    int64_t *total; /* (moments_count) the matrix, then one class's vector; owned */
    double constant;
};

/* Labels of 1 and 0 become scores about -1 and +1: 2 f - 1, and the last feature is the constant. That
 * is exact, where twice the vector less the matrix's last column would bring its noise along. */
static void spread(double *w, const struct system *system)
{
    const size_t d = system->moments->feature_count;
    for (size_t j = 0; j < d; j++) {
        w[j] *= 2;
    }
    w[d - 1] -= 1 / system->constant;
}

/* One expert w (outputs, d). */
static enum status solve(double *w, struct system *system, const struct closing *closing,
                         double lambda)
{
    const size_t outputs = schema_output_count(&closing->job->schema);
    const size_t d = system->moments->feature_count;
    const size_t vector = moments_count(system->moments) - d;
    enum status status = STATUS_OK;

    system->release.lambda = lambda;
    for (size_t output = 0; status == STATUS_OK && output < outputs; output++) {
        double lambda_used;
        memcpy(system->total + vector, closing->sum + vector + output * d,
               d * sizeof *system->total);
        status = moments_solve(w + output * d, &lambda_used, system->moments, &system->release);
        if (status == STATUS_OK && outputs > 1) {
            spread(w + output * d, system);
        }
    }
    return status;
}

static enum status close(struct closing *closing)
{
    const struct stage *stage = closing->stage;
    const uint32_t agent_count = closing->record->as.round.agent_count;
    const struct query_noise noise =
        closing_noise(closing->outcome, closing->job, stage, closing->within, agent_count);
    const size_t count = moments_count(&statistics_stage(stage)->moments);
    const size_t row_count = job_experts_of_round(stage, agent_count);
    const size_t per_lambda = row_count / stage->lambda_count * round_stage_width(stage);
    struct system system = {.moments = &statistics_stage(stage)->moments,
                            .total = malloc(count * sizeof *system.total),
                            .constant = schema_constant(&stage->schema)};
    double *rows = malloc(row_count * round_stage_width(stage) * sizeof *rows);
    enum status status = system.total == NULL || rows == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        memcpy(system.total, closing->sum, count * sizeof *system.total);
        system.release = (struct moments_release){
            .total = system.total,
            .record_count = (double)closing_records(stage, closing->record),
            .deviation = query_noise_deviation(&noise)};
    }
    for (size_t i = 0; status == STATUS_OK && i < stage->lambda_count; i++) {
        status = solve(rows + i * per_lambda, &system, closing, stage->lambda[i]);
        if (status == STATUS_OK) {
            closing_shift(rows + i * per_lambda, closing);
        }
    }
    free(system.total);
    if (status != STATUS_OK) {
        free(rows);
        return status;
    }
    closing->record->as.round.chosen = (uint32_t)closing->outcome->expert_count;
    return closing_keep_rows(closing, rows, row_count);
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const size_t each = 1 + stage->shift_count;
    struct outcome_expert *expert = NULL;
    (void)job;
    (void)within;
    if (record->as.round.sum_count != 0) {
        return STATUS_CORRUPT;
    }
    enum status status = outcome_add_experts(&expert, outcome, stage->lambda_count * each, blob);
    for (size_t i = 0; status == STATUS_OK && i < stage->lambda_count * each; i++) {
        char shift[32] = "";
        if (i % each > 0) {
            (void)snprintf(shift, sizeof shift, ", threshold %+g", stage->shift[i % each - 1]);
        }
        expert[i].lambda = stage->lambda[i / each];
        (void)snprintf(expert[i].name, OUTCOME_NAME_BYTES, "statistics, lambda %g%s",
                       expert[i].lambda, shift);
    }
    return status;
}

const struct task_close task_close_statistics = {.close = close, .add = add};
