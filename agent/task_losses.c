#include "agent/task_losses.h"

#include "base/check.h"
#include "dp/encode.h"
#include "experts/experts.h"
#include "learn/loss.h"
#include "learn/sensitivity.h"

#include <stdlib.h>

enum status task_losses_check(const struct stage *stage, size_t record_count, struct why *why)
{
    if ((uint64_t)stage->rounds * stage->batch > record_count) {
        why_set(why,
                "the losses stage needs %u rounds of %u fresh records each; this site has fewer",
                stage->rounds, stage->batch);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

/* The losses of one record, encoded one by one so that the sum's sensitivity is exact. */
static void add_record(int64_t *sum, const struct task_input *input, const double *score, double y)
{
    for (size_t k = 0; k < input->expert_count; k++) {
        double loss = loss_clamped(input->stage->loss, score[k], y);
        sum[k] += encode_value(loss, input->stage->grid_bits);
    }
}

enum status task_losses(struct private_vector *out, const struct task_input *input, struct why *why)
{
    const struct stage *stage = input->stage;
    const struct dataset *data = input->data;
    size_t k = input->expert_count;
    struct task_rows rows = task_rows(stage, input->within, data->record_count);
    double *score = NULL;
    enum status status = task_losses_check(stage, data->record_count, why);

    if (status != STATUS_OK) {
        return status;
    }
    CHECK(k > 0 && rows.first + rows.count <= data->record_count);
    out->value = calloc(k, sizeof *out->value);
    score = calloc(k, sizeof *score);
    out->count = k;
    if (out->value == NULL || score == NULL) {
        status = STATUS_NO_MEMORY;
        goto done;
    }
    status = sensitivity_losses_l1(&out->sensitivity_l1, k, stage->grid_bits, why);
    if (status != STATUS_OK) {
        goto done;
    }
    for (uint64_t i = rows.first; i < rows.first + rows.count; i++) {
        size_t row = input->order[i];
        experts_scores(score, input->experts, k, data->x + row * data->feature_count, 1,
                       data->feature_count);
        add_record(out->value, input, score, data->y[row]);
    }
    out->low = 0;
    out->high = (int64_t)stage->batch << stage->grid_bits;
done:
    if (score != NULL) {
        bytes_wipe(score, k * sizeof *score);
        free(score);
    }
    return status;
}
