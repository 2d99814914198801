#include "task/answer.h"
#include "base/check.h"
#include "task/select/stage.h"

enum status answer_select(int64_t *value, const struct task_input *input)
{
    const struct dataset *data = input->data;
    const struct round_rows rows = round_rows(input->stage, input->within, data->record_count);

    if (select_stage(input->stage)->among_experts) {
        return answer_losses(value, input);
    }
    CHECK(data->raw != NULL && rows.first + rows.count <= data->record_count);
    for (uint64_t i = rows.first; i < rows.first + rows.count; i++) {
        const struct row row = task_row(input, i);
        candidates_add(value, &select_stage(input->stage)->candidates, &row);
    }
    return STATUS_OK;
}
