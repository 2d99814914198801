/* One-shot ridge regression: the sums that it needs leave once, and serve every lambda. */

#include "task/answer.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "task/statistics/stage.h"

#include <stdlib.h>
#include <string.h>

/* The records of the round one after another, with the labels that the moments want. */
struct batch {
    double *x; /* (count, d), owned */
    double *y; /* (count), owned */
    size_t count;
    size_t feature_count;
};

static enum status batch_init(struct batch *batch, const struct task_input *input)
{
    const struct dataset *data = input->data;
    const struct round_rows rows = round_rows(input->stage, input->within, data->record_count);
    const size_t d = data->feature_count;

    CHECK(rows.first + rows.count <= data->record_count);
    *batch = (struct batch){.count = (size_t)rows.count, .feature_count = d};
    batch->x = malloc(batch->count * d * sizeof *batch->x);
    batch->y = malloc(batch->count * sizeof *batch->y);
    if (batch->x == NULL || batch->y == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < batch->count; i++) {
        size_t row = input->order[rows.first + i];
        memcpy(batch->x + i * d, data->x + row * d, d * sizeof *batch->x);
        batch->y[i] = data->y[row];
    }
    return STATUS_OK;
}

static void batch_free(struct batch *batch)
{
    bytes_free(batch->x, batch->count * batch->feature_count * sizeof *batch->x);
    bytes_free(batch->y, batch->count * sizeof *batch->y);
}

/* Every class takes the same time: the sum of x y with y = 1 for its own records, 0 for others. */
static void add_class(int64_t *sum, const struct batch *batch, size_t own, unsigned grid_bits)
{
    const size_t d = batch->feature_count;
    for (size_t i = 0; i < batch->count; i++) {
        const double y = even_keep(mask_of(batch->y[i] == (double)own), 1);
        for (size_t j = 0; j < d; j++) {
            sum[j] += encode_value(batch->x[i * d + j] * y, grid_bits);
        }
    }
}

enum status answer_statistics(int64_t *value, const struct task_input *input)
{
    const struct moments *moments = &statistics_stage(input->stage)->moments;
    const size_t outputs = schema_output_count(&input->job->schema);
    struct batch batch;
    enum status status = batch_init(&batch, input);

    for (size_t own = 1; status == STATUS_OK && own < outputs; own++) {
        add_class(value + moments_count(moments) + (own - 1) * batch.feature_count, &batch, own,
                  moments->grid_bits);
    }
    for (size_t i = 0; status == STATUS_OK && outputs > 1 && i < batch.count; i++) {
        batch.y[i] = even_keep(mask_of(batch.y[i] == 0), 1);
    }
    if (status == STATUS_OK) {
        status = moments_sum(value, moments, batch.x, batch.y, batch.count);
    }
    batch_free(&batch);
    return status;
}
