#include "task/answer.h"
#include "base/check.h"
#include "query/query_run.h"
#include "task/query/stage.h"

enum status answer_query(int64_t *value, const struct task_input *input)
{
    const struct query_set *set = &query_stage(input->stage)->queries;
    const struct dataset *data = input->data;
    const struct round_rows rows = round_rows(input->stage, input->within, data->record_count);
    const bool wants_model = query_set_wants_model(set);
    struct query_run start;
    enum status status = query_run_init(&start, set);

    CHECK(data->raw != NULL && rows.first + rows.count <= data->record_count);
    for (uint64_t i = rows.first; status == STATUS_OK && i < rows.first + rows.count; i++) {
        struct row row = task_row(input, i);
        row.model = wants_model ? input->experts : NULL;
        query_set_add(value, set, input->within,
                      input->experts != NULL && !wants_model ? input->experts : start.threshold,
                      &row);
    }
    query_run_free(&start);
    return status;
}
