/* Learns the stream anew from its beginning at each release: the same weights as if it had been kept
 * (learn/online.h), a few steps a record, and nothing private held between rounds. */

#include "task/answer.h"
#include "base/bytes.h"
#include "base/check.h"
#include "dp/encode.h"
#include "task/online/stage.h"

#include <stdlib.h>

enum status answer_online(int64_t *value, const struct task_input *input)
{
    const struct online_problem *problem = &online_stage(input->stage)->stream;
    const struct dataset *data = input->data;
    const size_t d = data->feature_count;
    const struct round_rows rows = round_rows(input->stage, input->within, data->record_count);
    double *w = calloc(d, sizeof *w);

    CHECK(d == problem->feature_count && rows.first + rows.count <= data->record_count);
    if (w == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t i = 0; i < rows.first + rows.count; i++) {
        const size_t row = input->order[i];
        online_run(w, problem, data->x + row * d, data->y + row, i, 1);
    }
    encode_vector(value, w, d, input->stage->grid_bits);
    bytes_free(w, d * sizeof *w);
    return STATUS_OK;
}
