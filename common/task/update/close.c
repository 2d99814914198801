/* `update`: one step along the noisy mean gradient a round; the last round's model is an expert, and
 * so is it with moved thresholds. The optimiser's state is the record's blob, and of it agents see the
 * weights. Post-processing. */

#include "task/close.h"
#include "task/update/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t state_count(const struct stage *stage)
{
    return optimiser_state_count(&update_stage(stage)->optimiser);
}

/* The stage begins at the model so far, or at zero: a model of another map is zero in this one's block. */
static enum status start(struct outcome *outcome, const struct stage *stage)
{
    const size_t s = round_stage_width(stage);
    double *model = calloc(s, sizeof *model);
    double *state = malloc(state_count(stage) * sizeof *state);
    enum status status = STATUS_NO_MEMORY;
    if (model != NULL && state != NULL) {
        if (outcome->expert_count > 0) {
            block_narrow(model, schema_output_count(&stage->schema), stage->block,
                         outcome->weights + outcome->chosen * outcome->width);
        }
        optimiser_init(state, &update_stage(stage)->optimiser, model);
        status = outcome_set_state(outcome, stage, state, state_count(stage), s);
    }
    free(model);
    free(state);
    return status;
}

static enum status close(struct closing *closing)
{
    const struct stage *stage = closing->stage;
    const struct outcome *outcome = closing->outcome;
    struct record *record = closing->record;
    double sampling = (double)charge_sampling_nano(&stage->charge) / (double)SAMPLING_NANO_ONE;
    double records = (double)closing_records(stage, record) * sampling;
    const struct optimiser *optimiser = &update_stage(stage)->optimiser;
    double *mean = closing_take_means(closing, records);

    if (optimiser_is_weights(optimiser)) {
        optimiser_step_weights(mean, outcome->state, optimiser, closing->within);
        closing->rows = mean;
    } else {
        closing->rows = malloc(state_count(stage) * sizeof *closing->rows);
        if (closing->rows != NULL) {
            memcpy(closing->rows, outcome->state, state_count(stage) * sizeof *closing->rows);
            optimiser_step(closing->rows, optimiser, mean, closing->within);
        }
        free(mean);
    }
    if (closing->rows == NULL) {
        return STATUS_NO_MEMORY;
    }
    closing->row_count = 1;
    closing->row_width = state_count(stage);
    record->as.round.chosen =
        closing->within + 1 == stage->rounds ? (uint32_t)outcome->expert_count : outcome->chosen;
    return STATUS_OK;
}

/* Makes the stage's models (1 and shifts, w), wide enough for every stage's map; NULL without memory. */
static double *make_models(const struct outcome *outcome, const struct job *job,
                           const struct stage *stage)
{
    const struct closing closing = {.job = job, .stage = stage, .outcome = outcome};
    const size_t rows = 1 + stage->shift_count;
    const size_t s = round_stage_width(stage);
    const size_t w = outcome->width;
    double *model = malloc(rows * s * sizeof *model);
    if (model == NULL) {
        return NULL;
    }
    optimiser_model(model, outcome->state, &update_stage(stage)->optimiser);
    closing_shift(model, &closing);
    if (s == w) {
        return model;
    }
    double *wide = calloc(rows * w, sizeof *wide);
    for (size_t i = 0; wide != NULL && i < rows; i++) {
        block_widen(wide + i * w, schema_output_count(&stage->schema), stage->block, model + i * s);
    }
    free(model);
    return wide;
}

/* One model that is the state as it stands needs no copy beside it, however large. */
static enum status add_models(struct outcome *outcome, const struct job *job,
                              const struct stage *stage)
{
    const size_t rows = 1 + stage->shift_count;
    const bool stands = rows == 1 && round_stage_width(stage) == outcome->width &&
                        optimiser_is_weights(&update_stage(stage)->optimiser);
    struct outcome_expert *expert = NULL;
    double *made = stands ? NULL : make_models(outcome, job, stage);
    const double *models = stands ? outcome->state : made;
    enum status status =
        models == NULL ? STATUS_NO_MEMORY
                       : outcome_add_experts(&expert, outcome, rows,
                                             (struct slice){models, rows * outcome->width * 8});
    free(made);
    for (size_t i = 0; status == STATUS_OK && i < rows; i++) {
        char shift[32] = "";
        if (i > 0) {
            (void)snprintf(shift, sizeof shift, ", threshold %+g", stage->shift[i - 1]);
        }
        (void)snprintf(expert[i].name, OUTCOME_NAME_BYTES, "update, rounds: %u%s", stage->rounds,
                       shift);
    }
    return status;
}

/* Blobs of rounds that are not the latest may have been dropped: only the latest state counts. */
static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const bool last = within + 1 == stage->rounds;
    if (record->as.round.sum_count != 0 || record->as.round.blob_bytes != state_count(stage) * 8 ||
        (blob.size != record->as.round.blob_bytes && (blob.size != 0 || last))) {
        return STATUS_CORRUPT;
    }
    if (blob.size == 0) {
        outcome->state_is_old = true;
        return STATUS_OK;
    }
    enum status status =
        outcome_set_state(outcome, stage, blob.data, state_count(stage), round_stage_width(stage));
    return status == STATUS_OK && last ? add_models(outcome, job, stage) : status;
}

const struct task_close task_close_update = {
    .keeps_state = true, .start = start, .close = close, .add = add};
