/* The records themselves. Arrays grow by doubling (dataset_read.c): they have room for up to twice the
 * records, and while they grow the last array stands beside the next, of half its size. A stage with a
 * map of its own works on a copy of its features. */

#include "job/work.h"

#include "base/check.h"
#include "job/round.h"
#include "task/task.h"

#include <math.h>

enum { ANSWER_COPIES = 8 }; /* the exact answer, its noise, what is committed, offered and sent */

bool work_time_is_public(const struct stage *stage)
{
    /* How many records a coin chose is secret, and shows in the time. */
    const bool is_sampled = stage->charge.sampling_nano > 0;
    return task_bounds(stage->task)->time_is_public && !is_sampled;
}

/* While the table is read, and while a round is computed beside it. */
static double bytes_of_records(const struct work_view *view, double *reading)
{
    const struct schema *schema = &view->job->schema;
    const double all = (double)schema_feature_count(schema);
    const double raw = schema->keeps_raw ? (double)schema->column_count : 0;
    const bool is_copied = view->stage->block.count != view->stage->block.all;
    const double widest = fmax(all, raw);
    *reading = WORK_NUMBER * view->m * (2 * (all + raw + 1) + widest) + SCHEMA_READER_BYTES;
    return WORK_NUMBER * view->m * (2 * (all + raw + 1) + 1 + (is_copied ? view->d + 1 : 0));
}

enum status work_of_stage(struct work_need *out, const struct job *job, size_t index,
                          struct work_size size, struct why *why)
{
    CHECK(index < job->stage_count && size.records > 0);
    const struct stage at = round_stage_at(&job->stage[index], size.records);
    const struct stage *stage = &at;
    const bool all_rows = stage->batch == 0 || round_is_drawn(job, stage);
    const struct work_view view = {.job = job,
                                   .stage = stage,
                                   .m = (double)size.records,
                                   .rows = all_rows ? (double)size.records
                                                    : fmin(stage->batch, (double)size.records),
                                   .d = (double)stage->block.count,
                                   .width = (double)round_width(job),
                                   .outputs = (double)schema_output_count(&job->schema),
                                   .experts = (double)job_experts_at(job, index, size.agents),
                                   .why = why};
    const size_t answers = round_answer_count(job, stage, 0, (size_t)view.experts);
    double reading = 0;
    *out = (struct work_need){0};
    const double records = bytes_of_records(&view, &reading);
    enum status status = task_bounds(stage->task)->need(out, &view);
    out->bytes = fmax(reading, records + out->bytes + WORK_NUMBER * view.experts * view.width +
                                   ANSWER_COPIES * WORK_NUMBER * (double)answers);
    return status;
}

double work_fetched_bytes(const struct job *job, size_t agents)
{
    double experts = 0;
    double state = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage *stage = &job->stage[i];
        experts += (double)job_experts_of_stage(stage, agents);
        const uint32_t last = stage->rounds - 1; /* the first round of `query` has no input */
        if (round_input(stage, 0) == INPUT_STATE || round_input(stage, last) == INPUT_STATE) {
            state = fmax(state, round_input_bytes(stage, last) * (double)round_state_count(stage));
        }
    }
    return fmax(state, WORK_NUMBER * experts * (double)round_width(job));
}

double work_of_connections(size_t connected)
{
    enum { BASE_BYTES = 16 << 20, CONNECTION_BYTES = 85000 };
    return BASE_BYTES + CONNECTION_BYTES * (double)connected;
}

double work_of_fetching(const struct job *job, struct work_fleet fleet)
{
    const double each = fmin(work_fetched_bytes(job, fleet.agents), (double)fleet.window_bytes);
    return fmin(each * (double)fleet.agents, (double)fleet.waiting_bytes);
}

double work_of_coordinator(const struct job *job, struct work_fleet fleet)
{
    enum { VECTORS = 4 };
    return work_of_connections(fleet.connected) + VECTORS * WORK_NUMBER * (double)round_width(job) +
           work_of_fetching(job, fleet);
}

/* The stage that needs the most: of memory, or of computing that a slot is to hide. */
static enum status largest(double *most, size_t *stage, bool of_memory, const struct job *job,
                           struct work_size size, struct why *why)
{
    *most = 0;
    *stage = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        struct work_need need;
        const enum status status = work_of_stage(&need, job, i, size, why);
        if (status != STATUS_OK) {
            return status;
        }
        const double own = of_memory                             ? need.bytes
                           : work_time_is_public(&job->stage[i]) ? 0
                                                                 : need.flops;
        if (own > *most) {
            *most = own;
            *stage = i;
        }
    }
    return STATUS_OK;
}

enum status work_to_hide(double *flops, size_t *stage, const struct job *job, struct work_size size,
                         struct why *why)
{
    return largest(flops, stage, false, job, size, why);
}

uint64_t work_slot_ms(double flops, double speed)
{
    return (uint64_t)fmin(fmax(ceil(WORK_SLOT_FACTOR * 1000 * flops / speed), 1), 1e15);
}

enum status work_memory(double *bytes, size_t *stage, const struct job *job, struct work_size size,
                        struct why *why)
{
    return largest(bytes, stage, true, job, size, why);
}
