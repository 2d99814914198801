#include "agent/task_losses.h"

#include "base/bytes.h"
#include "base/check.h"
#include "dp/encode.h"
#include "experts/experts.h"
#include "learn/loss.h"

#include <stdlib.h>

/* The losses of one record, encoded one by one so that the sum's sensitivity is exact. */
static void add_record(int64_t *sum, const struct task_input *input, const double *score, double y)
{
    for (size_t k = 0; k < input->expert_count; k++) {
        double loss = loss_clamped(input->stage->loss, score[k], y);
        sum[k] += encode_value(loss, input->stage->grid_bits);
    }
}

enum status task_losses(int64_t *value, const struct task_input *input)
{
    const struct dataset *data = input->data;
    const size_t k = input->expert_count;
    const struct round_rows rows = round_rows(input->stage, input->within, data->record_count);
    double *score = calloc(k, sizeof *score);

    CHECK(k > 0 && rows.first + rows.count <= data->record_count);
    if (score == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t i = rows.first; i < rows.first + rows.count; i++) {
        size_t row = input->order[i];
        experts_scores(score, input->experts, k, data->x + row * data->feature_count, 1,
                       data->feature_count);
        add_record(value, input, score, data->y[row]);
    }
    bytes_wipe(score, k * sizeof *score);
    free(score);
    return STATUS_OK;
}
