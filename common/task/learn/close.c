/* `learn`: the look becomes the columns' whitening, each step a better model; the last step's is an expert. The stage's
 * state is the record's blob, and of it agents see the beginning. Post-processing. */

#include "task/close.h"
#include "base/text.h"
#include "task/learn/look.h"
#include "task/learn/said.h"
#include "task/learn/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the learner's own state. Behind it stands what the rehearsal expects. */
static size_t learner_count(const struct stage *stage)
{
    const struct selftune_number number = learn_number(stage);
    return learn_stage(stage)->is_number ? selftune_number_state_count(&number)
                                         : selftune_state_count(&number.tune);
}

/* Of the look's model, where it is an expert: it waits in the state for the last step. */
static size_t look_count(const struct stage *stage)
{
    return learn_stage(stage)->iterate == ITERATE_LOOK ? learn_gradient_count(stage) : 0;
}

static size_t look_place(const struct stage *stage)
{
    return learner_count(stage) + learn_told_count(stage);
}

/* Then what the first of two looks has told, then the look's model, then what is expected. */
size_t learn_state_count(const struct stage *stage)
{
    return look_place(stage) + look_count(stage) + LEARN_EXPECTED_NUMBERS;
}

static size_t expected_place(const struct stage *stage)
{
    return learn_state_count(stage) - LEARN_EXPECTED_NUMBERS;
}

static enum status start(struct outcome *outcome, const struct stage *stage)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    const struct selftune_number number = learn_number(stage);
    const size_t count = learn_state_count(stage);
    double *state = calloc(count, sizeof *state);
    enum status status = state == NULL                   ? STATUS_NO_MEMORY
                         : learn_stage(stage)->is_number ? selftune_number_begin(state, &number)
                                                         : selftune_begin(state, tune);
    if (status == STATUS_OK) {
        learn_expect_nothing(state + expected_place(stage));
        status = outcome_set_state(outcome, stage, state, count, selftune_shown_count(tune));
    }
    free(state);
    return status;
}

/* value: the sums as numbers of records, columns and products, from the grid. */
static enum status close_look(double *state, double *value, const struct closing *closing,
                              double records, double deviation)
{
    const struct learn_stage *own = learn_stage(closing->stage);
    const struct learn_summed summed = {.within = closing->within,
                                        .shown = state,
                                        .sum = closing->sum,
                                        .records = records,
                                        .sites = closing->record->as.round.agent_count,
                                        .deviation = deviation};
    if (own->is_number) {
        struct selftune_look look;
        learn_read_look(&look, value, closing->stage, &summed);
        const struct selftune_number number = learn_number(closing->stage);
        const struct selftune_number_look seen = {.record_count = records,
                                                  .sum = look.sum,
                                                  .product = look.product,
                                                  .sum_deviation = look.sum_deviation,
                                                  .product_deviation = look.product_deviation};
        return selftune_number_take_look(state, &number, &seen);
    }
    return learn_take_look(state, state + learner_count(closing->stage), value, closing->stage,
                           &summed);
}

/* A gradient of `clip` grid steps is one of length state[0], the clip that agents were told. */
static enum status close_step(double *state, double *value, const struct closing *closing,
                              double records, double deviation)
{
    const struct learn_stage *own = learn_stage(closing->stage);
    const size_t width = learn_gradient_count(closing->stage);
    const double unit = state[0] / (double)learn_clip(closing->stage);
    for (size_t i = 0; i < closing->count; i++) {
        value[i] = (double)closing->sum[i] * (i < width ? unit : 1 / (double)own->count_step);
    }
    if (own->is_number) {
        const struct selftune_number number = learn_number(closing->stage);
        const struct selftune_number_release step = {.record_count = records,
                                                     .gradient = value,
                                                     .deviation = deviation * unit,
                                                     .size = value[width],
                                                     .size_deviation =
                                                         deviation / (double)own->count_step};
        return selftune_number_take_gradient(state, &number, &step);
    }
    const struct selftune_release release = {.step = closing->within - 1,
                                             .record_count = records,
                                             .gradient = value,
                                             .deviation = deviation * unit};
    return selftune_take_gradient(state, &own->tune, &release);
}

static enum status close(struct closing *closing)
{
    const struct stage *stage = closing->stage;
    const struct outcome *outcome = closing->outcome;
    struct record *record = closing->record;
    const size_t count = learn_state_count(stage);
    const double records = (double)closing_records(stage, record);
    const struct query_noise noise =
        closing_noise(outcome, closing->job, stage, closing->within, record->as.round.agent_count);
    const double deviation = query_noise_deviation(&noise);
    const size_t numbers = learn_look_numbers(stage);
    double *value = malloc((closing->count > numbers ? closing->count : numbers) * sizeof *value);
    closing->rows = malloc(count * sizeof *closing->rows);
    enum status status = value == NULL || closing->rows == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        memcpy(closing->rows, outcome->state, count * sizeof *closing->rows);
        status = learn_is_look(stage, closing->within)
                     ? close_look(closing->rows, value, closing, records, deviation)
                     : close_step(closing->rows, value, closing, records, deviation);
    }
    free(value);
    if (status == STATUS_OK && look_count(stage) > 0 && learn_is_look(stage, closing->within)) {
        selftune_model(closing->rows + look_place(stage), closing->rows, &learn_stage(stage)->tune);
    }
    if (status == STATUS_OK && closing->within == 0) {
        status = learn_expect(closing->rows + expected_place(stage), closing);
    }
    if (status != STATUS_OK) {
        return status;
    }
    closing->row_count = 1;
    closing->row_width = count;
    record->as.round.chosen =
        closing->within + 1 == stage->rounds ? (uint32_t)outcome->expert_count : outcome->chosen;
    return STATUS_OK;
}

enum { EXPERTS_MOST = 6 };
#define MODEL_MOST 1e100 /* of a number that a journal has */

/* The experts, in this order, and then the iterate: learn_expert_count() of them. */
static const struct variant {
    double part;  /* of the model, about the records' mean */
    double shift; /* of f, between two classes */
    const char *name;
} variants[] = {{1, 0, ""},
                {0.5, 0, ", halved"},
                {0, 0, ", shares alone"},
                {1, -0.5, ", threshold -0.5"},
                {1, 0.5, ", threshold +0.5"}};

/* The model of an expert in columns. */
static const char *take_expert(double *model, const struct outcome *outcome,
                               const struct stage *stage, size_t expert)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    const enum learn_iterate iterate = learn_stage(stage)->iterate;
    if (iterate == ITERATE_LAST && expert + 1 == learn_expert_count(stage)) {
        selftune_last_iterate(model, outcome->state, tune);
        return ", last iterate";
    }
    if (iterate == ITERATE_LOOK && expert + 1 == learn_expert_count(stage)) {
        const double *look = outcome->state + look_place(stage);
        for (size_t i = 0; i < look_count(stage); i++) {
            model[i] = fmin(fmax(look[i], -MODEL_MOST), MODEL_MOST);
        }
        return ", look alone";
    }
    CHECK(expert < sizeof variants / sizeof variants[0]);
    selftune_model(model, outcome->state, tune);
    selftune_weaken(model, outcome->state, tune, variants[expert].part);
    model[round_stage_width(stage) - 1] += variants[expert].shift;
    return variants[expert].name;
}

/* Columns are features divided by their scale. */
static void widen(double *wide, double *model, const struct stage *stage)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    const double constant = schema_constant(&stage->schema);
    const double scale = schema_column_scale(&stage->schema);
    const size_t s = round_stage_width(stage);
    for (size_t j = 0; j < s; j++) {
        model[j] /= (j + 1) % (s / tune->output_count) == 0 ? constant : scale;
    }
    block_widen(wide, tune->output_count, stage->block, model);
}

static enum status add_models(struct outcome *outcome, const struct job *job,
                              const struct stage *stage)
{
    static const char *const seen[SIGHTS] = {"", "after sums, ", "after sums and squares, ",
                                             "after products, "};
    const struct selftune *tune = &learn_stage(stage)->tune;
    char loss[OUTCOME_NAME_BYTES] = "";
    const char *name[EXPERTS_MOST] = {""};
    const size_t rows = learn_expert_count(stage);
    const size_t w = outcome->width;
    struct outcome_expert *expert = NULL;
    double *model = calloc(round_stage_width(stage), sizeof *model);
    double *wide = calloc(rows * w, sizeof *wide);
    enum status status = STATUS_NO_MEMORY;
    CHECK(rows <= EXPERTS_MOST);
    if (model != NULL && wide != NULL) {
        for (size_t i = 0; i < rows; i++) {
            name[i] = take_expert(model, outcome, stage, i);
            widen(wide + i * w, model, stage);
        }
        status = outcome_add_experts(&expert, outcome, rows,
                                     (struct slice){wide, rows * w * sizeof *wide});
    }
    if (loss_has_parameter(stage->loss.kind)) {
        (void)snprintf(loss, sizeof loss, "%s %g, ", loss_name(stage->loss.kind),
                       stage->loss.parameter);
    }
    for (size_t i = 0; status == STATUS_OK && i < rows; i++) {
        (void)snprintf(expert[i].name, OUTCOME_NAME_BYTES, "learn, %s%ssteps: %u%s", loss,
                       seen[tune->sight], tune->steps, name[i]);
        expert[i].weight = i == 0 ? 1 : task_doubt(job, stage);
    }
    free(model);
    free(wide);
    return status;
}

/* What a state that an earlier build wrote lacks: what gradients told of the columns; all behind the learner's own; and how much
 * shorter steps are, which was 1. */
struct lack {
    bool secants;
    bool behind;
    bool steep;
};

static size_t secant_count(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    return own->is_number ? 0 : selftune_secant_count(&own->tune);
}

/* Finds what a state of so many bytes lacks; false if it is no state. No build that lacks what is behind made two looks, nor an
 * expert of one. */
static bool find_lack(struct lack *lack, const struct stage *stage, uint64_t bytes)
{
    const size_t count = learn_state_count(stage);
    const size_t behind = count - learner_count(stage);
    const bool may = stage->turns == 0 && learn_stage(stage)->iterate == ITERATE_NONE;
    for (int i = 0; i < 6; i++) {
        *lack = (struct lack){.secants = i % 2 == 1, .behind = i >= 2, .steep = i >= 4};
        const size_t lacks = (lack->secants ? secant_count(stage) : 0) +
                             (lack->behind ? behind : 0) + (lack->steep ? 1 : 0);
        const bool exists = (may || !lack->behind) &&
                            !(lack->steep && learn_stage(stage)->is_number) &&
                            !(lack->secants && secant_count(stage) == 0);
        if (exists && bytes == (count - lacks) * sizeof(double)) {
            return true;
        }
    }
    return false;
}

static enum status set_state(struct outcome *outcome, const struct stage *stage, struct slice blob)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    const size_t count = learn_state_count(stage);
    const size_t own = learner_count(stage);
    const uint8_t *old = blob.data; /* maybe not aligned */
    struct lack lack;
    double *whole = calloc(count, sizeof *whole);
    if (whole == NULL) {
        return STATUS_NO_MEMORY;
    }
    CHECK(find_lack(&lack, stage, blob.size));
    const size_t known = own - (lack.secants ? secant_count(stage) : 0);
    const size_t at = lack.steep ? selftune_steep_place(tune) : known;
    memcpy(whole, old, at * sizeof *whole);
    if (lack.steep) {
        whole[at] = 1;
        memcpy(whole + at + 1, old + at * sizeof *whole, (known - 1 - at) * sizeof *whole);
    }
    if (lack.behind) {
        learn_expect_nothing(whole + own);
    } else {
        memcpy(whole + own, old + known * sizeof *whole, (count - own) * sizeof *whole);
    }
    const enum status status =
        outcome_set_state(outcome, stage, whole, count, selftune_shown_count(tune));
    free(whole);
    return status;
}

/* Blobs of rounds that are not the latest may have been dropped: only the latest state counts. */
static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const bool last = within + 1 == stage->rounds;
    struct lack lack;
    if (record->as.round.sum_count != 0 || !find_lack(&lack, stage, record->as.round.blob_bytes) ||
        (blob.size != record->as.round.blob_bytes && (blob.size != 0 || last))) {
        return STATUS_CORRUPT;
    }
    if (blob.size == 0) {
        outcome->state_is_old = true;
        return STATUS_OK;
    }
    const enum status status = set_state(outcome, stage, blob);
    return status == STATUS_OK && last ? add_models(outcome, job, stage) : status;
}

const struct task_close task_close_learn = {
    .keeps_state = true, .start = start, .close = close, .add = add, .describe = learn_describe};
