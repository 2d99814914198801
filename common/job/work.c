/* One entry a task: what it allocates beside the records, and how often it goes through them.
 *
 * The records themselves. Arrays grow by doubling (dataset_read.c): they have room for up to twice the
 * records, and while they grow the last array stands beside the next, of half its size. A stage with a
 * map of its own works on a copy of its features. */

#include "job/work.h"

#include "base/check.h"
#include "job/round.h"
#include "learn/erm.h"
#include "learn/kernel_machine.h"

#include <math.h>

enum {
    NUMBER = sizeof(double),
    SOLVER_VECTORS = 12, /* of records or features each: newton.c, dual.c, erm_slow.c */
    SOLVER_ROWS = 128,   /* of features: newton.c's block */
    ANSWER_COPIES = 8,   /* the exact answer, its noise, what is committed, offered and sent */
    PREDICATE_FLOPS = 50 /* of one question about one record */
};

/* A stage's sizes as numbers that do not overflow. */
struct view {
    const struct job *job;
    const struct stage *stage;
    double m;     /* records */
    double rows;  /* of one round */
    double d;     /* features that the stage learns on */
    double width; /* numbers of one of the job's models */
    double outputs;
    double experts;
    struct why *why;
};

typedef enum status work_entry(struct work_need *out, const struct view *view);

/* By Gram where there are more features than records: erm.c. */
static enum status of_fit(struct work_need *out, const struct view *view)
{
    const struct stage *stage = view->stage;
    const bool by_gram = view->d > view->m;
    const double matrix = by_gram                       ? view->m * view->m
                          : loss_is_smooth(stage->loss) ? view->d * view->d
                                                        : 0;
    for (size_t i = 0; i < stage->lambda_count; i++) {
        const struct erm_problem problem = {.loss = stage->loss,
                                            .lambda = stage->lambda[i],
                                            .tolerance = stage->tolerance,
                                            .record_count = (size_t)view->m,
                                            .feature_count = (size_t)view->d};
        struct erm_plan plan;
        enum status status = erm_plan(&plan, &problem, view->why);
        if (status != STATUS_OK) {
            return status;
        }
        out->flops = fmax(out->flops, plan.flops * view->outputs);
    }
    out->bytes = NUMBER * (matrix + SOLVER_ROWS * view->d + SOLVER_VECTORS * (view->m + view->d));
    return STATUS_OK;
}

static enum status of_predict(struct work_need *out, const struct view *view)
{
    const struct stage *stage = view->stage;
    for (size_t i = 0; i < stage->lambda_count; i++) {
        const struct kernel_problem problem = {.loss = stage->loss,
                                               .kernel = stage->kernel,
                                               .lambda = stage->lambda[i],
                                               .tolerance = stage->tolerance,
                                               .record_count = (size_t)view->m,
                                               .feature_count = (size_t)view->d};
        struct erm_plan plan;
        enum status status = kernel_plan(&plan, &problem, view->why);
        if (status != STATUS_OK) {
            return status;
        }
        const double answers = 2 * (double)stage->point_count * view->m * view->d;
        out->flops = fmax(out->flops, (plan.flops + answers) * view->outputs);
    }
    out->bytes = NUMBER * (view->m * view->m + view->m * view->d + SOLVER_VECTORS * view->m);
    return STATUS_OK;
}

static enum status of_losses(struct work_need *out, const struct view *view)
{
    const double scores = view->experts * view->outputs;
    const double all = (double)schema_feature_count(&view->job->schema);
    out->flops = view->rows * scores * (2 * all + 50);
    out->bytes = NUMBER * scores;
    return STATUS_OK;
}

static enum status of_update(struct work_need *out, const struct view *view)
{
    const double width = view->d * view->outputs;
    out->flops = view->rows * width * 20;
    out->bytes = NUMBER * (3 * width + view->rows);
    return STATUS_OK;
}

static enum status of_statistics(struct work_need *out, const struct view *view)
{
    const double products = view->d * (view->d + 3) / 2 + view->d * view->outputs;
    out->flops = view->rows * products * 4;
    out->bytes = NUMBER * (products + view->rows * (view->d + 1));
    return STATUS_OK;
}

static enum status of_online(struct work_need *out, const struct view *view)
{
    out->flops = view->m * view->d * 10;
    out->bytes = NUMBER * view->d;
    return STATUS_OK;
}

static enum status of_query(struct work_need *out, const struct view *view)
{
    out->flops = view->rows * (double)view->stage->queries.count * PREDICATE_FLOPS;
    out->bytes = NUMBER * 3 * (double)query_set_cells(&view->stage->queries, 0);
    return STATUS_OK;
}

static enum status of_select(struct work_need *out, const struct view *view)
{
    if (view->stage->among_experts) {
        return of_losses(out, view);
    }
    const double cells = (double)candidates_cells(&view->stage->candidates);
    out->flops = view->rows * cells * PREDICATE_FLOPS;
    out->bytes = NUMBER * cells;
    return STATUS_OK;
}

/* Public is the time of kernels that take no branch and read no address by a value, and only where
 * tests/property/agent/test_task_trace holds them to it. */
enum time_of { TIME_BY_RECORDS, TIME_PUBLIC };

static const struct {
    work_entry *need;
    enum time_of time;
} entry[] = {[TASK_FIT] = {of_fit, TIME_BY_RECORDS},
             [TASK_LOSSES] = {of_losses, TIME_PUBLIC},
             [TASK_ONLINE] = {of_online, TIME_PUBLIC},
             [TASK_PREDICT] = {of_predict, TIME_BY_RECORDS},
             [TASK_QUERY] = {of_query, TIME_PUBLIC},
             [TASK_SELECT] = {of_select, TIME_PUBLIC},
             [TASK_STATISTICS] = {of_statistics, TIME_PUBLIC},
             [TASK_UPDATE] = {of_update, TIME_PUBLIC}};
_Static_assert(sizeof entry / sizeof *entry == TASK_COUNT, "every task has an entry");

bool work_time_is_public(const struct stage *stage)
{
    /* How many records a coin chose is secret, and shows in the time. */
    const bool is_sampled = stage->charge.sampling_nano > 0;
    return entry[stage->task].time == TIME_PUBLIC && !is_sampled;
}

/* While the table is read, and while a round is computed beside it. */
static double bytes_of_records(const struct view *view, double *reading)
{
    const struct schema *schema = &view->job->schema;
    const double all = (double)schema_feature_count(schema);
    const double raw = schema->keeps_raw ? (double)schema->column_count : 0;
    const bool is_copied = view->stage->block.count != view->stage->block.all;
    const double widest = fmax(all, raw);
    *reading = NUMBER * view->m * (2 * (all + raw + 1) + widest) + SCHEMA_READER_BYTES;
    return NUMBER * view->m * (2 * (all + raw + 1) + 1 + (is_copied ? view->d + 1 : 0));
}

enum status work_of_stage(struct work_need *out, const struct job *job, size_t index,
                          struct work_size size, struct why *why)
{
    CHECK(index < job->stage_count && size.records > 0);
    const struct stage at = round_stage_at(&job->stage[index], size.records);
    const struct stage *stage = &at;
    const bool all_rows = stage->batch == 0 || round_is_drawn(job, stage);
    const struct view view = {.job = job,
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
    enum status status = entry[stage->task].need(out, &view);
    out->bytes = fmax(reading, records + out->bytes + NUMBER * view.experts * view.width +
                                   ANSWER_COPIES * NUMBER * (double)answers);
    return status;
}

enum status work_to_hide(double *flops, size_t *stage, const struct job *job, struct work_size size,
                         struct why *why)
{
    *flops = 0;
    *stage = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        struct work_need need;
        enum status status = work_of_stage(&need, job, i, size, why);
        if (status != STATUS_OK) {
            return status;
        }
        if (!work_time_is_public(&job->stage[i]) && need.flops > *flops) {
            *flops = need.flops;
            *stage = i;
        }
    }
    return STATUS_OK;
}

uint64_t work_slot_ms(double flops, double speed)
{
    return (uint64_t)fmin(fmax(ceil(WORK_SLOT_FACTOR * 1000 * flops / speed), 1), 1e15);
}

enum status work_memory(double *bytes, size_t *stage, const struct job *job, struct work_size size,
                        struct why *why)
{
    *bytes = 0;
    *stage = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        struct work_need need;
        enum status status = work_of_stage(&need, job, i, size, why);
        if (status != STATUS_OK) {
            return status;
        }
        if (need.bytes > *bytes) {
            *bytes = need.bytes;
            *stage = i;
        }
    }
    return STATUS_OK;
}
