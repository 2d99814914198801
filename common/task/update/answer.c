/* Differentially private gradient descent (Abadi et al. 2016), in integers: each record's gradient is
 * encoded and clipped before the sum. Deviation: batches by index, or Poisson-sampled by exact
 * coins. */

#include "task/answer.h"
#include "base/bytes.h"
#include "base/check.h"
#include "dp/encode.h"
#include "dp/sampling.h"
#include "task/update/stage.h"

#include <stdlib.h>

enum status answer_update(int64_t *value, const struct task_input *input)
{
    const struct stage *stage = input->stage;
    const struct dataset *data = input->data;
    const struct round_rows at = round_rows(stage, input->within, data->record_count);
    struct gradient_rows rows = {
        .x = data->x, .y = data->y, .row = input->order + at.first, .row_count = (size_t)at.count};
    enum status status = STATUS_OK;
    uint8_t *coin = NULL;

    CHECK(input->experts != NULL && at.first + at.count <= data->record_count);
    if (stage->charge.sampling_nano > 0) {
        coin = calloc(rows.row_count, sizeof *coin);
        status = coin == NULL ? STATUS_NO_MEMORY
                              : sampling_draw(input->random, coin, rows.row_count,
                                              stage->charge.sampling_nano);
        rows.taking = coin;
    }
    if (status == STATUS_OK) {
        status = gradient_sum(value, &update_stage(stage)->gradient, input->experts, &rows);
    }
    if (status == STATUS_OK && update_stage(stage)->clip_sum > 0) {
        size_t width = round_stage_width(stage);
        if (update_stage(stage)->gradient.norm == GRADIENT_L2) {
            clip_l2(value, width, update_stage(stage)->clip_sum);
        } else {
            clip_l1(value, width, update_stage(stage)->clip_sum);
        }
    }
    bytes_free(coin, rows.row_count * sizeof *coin);
    return status;
}
