/* Which code carries out which task; what all tasks share. */

#include "task/answer.h"

#include "base/bytes.h"
#include "dp/encode.h"
#include "learn/blocks.h"

#include <stdlib.h>
#include <string.h>

/* Fills out->value (count), zero before. A stage that learns sees the features of its own map alone. */
static enum status compute(struct private_vector *out, const struct task_input *input,
                           struct why *why)
{
#define ANSWER_ENTRY(NAME, name) answer_##name,
    static enum status (*const answer[])(int64_t *,
                                         const struct task_input *) = {TASK_LIST(ANSWER_ENTRY)};
#undef ANSWER_ENTRY
    const struct block block = input->stage->block;
    struct task_input own = *input;
    struct dataset data;
    own.why = why;
    if (block.count == block.all) {
        return answer[own.stage->task](out->value, &own);
    }
    enum status status = block_dataset(&data, input->data, block);
    if (status == STATUS_OK) {
        own.data = &data;
        status = answer[own.stage->task](out->value, &own);
        dataset_free(&data);
    }
    return status;
}

enum status task_run(struct private_vector *out, const struct task_input *input, struct why *why)
{
    const struct stage *stage = input->stage;
    struct round_bounds bounds;

    memset(out, 0, sizeof *out);
    enum status status = task_check(input->job, stage, input->data->record_count, why);
    if (status == STATUS_OK) {
        status = round_bounds(&bounds, input->job, stage, input->within, input->data->record_count,
                              input->expert_count, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    out->groups = round_groups(stage, input->within);
    out->group = round_group(stage, input->within, input->slot);
    out->away = input->away;
    CHECK(!out->away || (stage->turns > 0 && out->groups.count > 1));
    out->count = out->groups.count > 1
                     ? out->groups.own
                     : round_answer_count(input->job, stage, input->within, input->expert_count);
    out->low = bounds.low;
    out->high = bounds.high;
    out->sensitivity = bounds.sensitivity;
    out->value = calloc(out->count, sizeof *out->value);
    return out->value == NULL ? STATUS_NO_MEMORY : out->away ? STATUS_OK : compute(out, input, why);
}

enum status task_check(const struct job *job, const struct stage *stage, size_t record_count,
                       struct why *why)
{
    const uint32_t distinct = round_distinct(stage);
    enum status status = STATUS_OK;

    if (round_records(stage) > record_count || job->records_least > record_count) {
        return why_refuse(why, "the job needs %llu records, its %s stage %llu; this site has fewer",
                          (unsigned long long)job_records_min(job), task_name(stage->task),
                          (unsigned long long)round_records(stage));
    }
    for (uint32_t within = 0; within < distinct && status == STATUS_OK; within++) {
        struct round_bounds ignored;
        status = round_bounds(&ignored, job, stage, within, record_count, 1, why);
    }
    return status;
}

enum status task_answer_outputs(int64_t *value, const struct task_input *input, size_t width,
                                task_solve *solve)
{
    const struct dataset *data = input->data;
    const size_t outputs = schema_output_count(&input->job->schema);
    struct dataset one = *data; /* with the labels of one class against the rest */
    double *out = calloc(width, sizeof *out);
    double *y = outputs > 1 ? malloc(data->record_count * sizeof *y) : NULL;
    enum status status = out == NULL || (outputs > 1 && y == NULL) ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t output = 0; output < outputs && status == STATUS_OK; output++) {
        for (size_t i = 0; outputs > 1 && i < data->record_count; i++) {
            y[i] = data->y[i] == (double)output ? 1 : -1;
        }
        one.y = outputs > 1 ? y : data->y;
        status = solve(out, input, &one);
        if (status == STATUS_OK) {
            encode_vector(value + output * width, out, width, input->stage->grid_bits);
        }
    }
    bytes_free(out, width * sizeof *out);
    bytes_free(y, data->record_count * sizeof *y);
    return status;
}

void private_vector_free(struct private_vector *vector)
{
    if (vector != NULL) {
        bytes_free(vector->value, vector->count * sizeof *vector->value);
        memset(vector, 0, sizeof *vector);
    }
}
