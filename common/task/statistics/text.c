/* `statistics`: second moments, one release for every lambda. The labels of several classes are told
 * apart in c blocks, x in the block of the record's own class and nothing in the others: at most two
 * blocks differ between neighbours, however many classes there are. */

#include "task/statistics/stage.h"
#include "task/task.h"

#include <math.h>

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    const struct schema *schema = &stage->schema;
    const double d = (double)schema_feature_count(schema);
    struct why why = {{0}};

    enum status status = stage_build_lambdas(drafting, index);
    if (status == STATUS_OK) {
        status = stage_build_experts(drafting, index);
    }
    if (status == STATUS_OK) {
        status = stage_take_batch(drafting, index);
    }
    if (status != STATUS_OK) {
        return status;
    }
    stage->loss = (struct loss){.kind = LOSS_SQUARED};
    stage->rounds = 1;
    stage->charge.epsilon_micro = stage->epsilon_micro;
    statistics_stage(stage)->moments = (struct moments){
        .feature_count = schema_feature_count(schema), .grid_bits = stage->grid_bits, .bound_y = 1};
    if (moments_check(&statistics_stage(stage)->moments, stage->batch, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "batch", why.text);
    }
    if ((double)stage->lambda_count * (double)schema_output_count(schema) * d * d * d >
        ldexp(1, STAGE_FLOPS_MAX_LOG2)) {
        return stage_refuse(drafting, index, "lambdas",
                            "makes more than 2^36 operations of lambdas * outputs * features^3: "
                            "list fewer, or take fewer features");
    }
    return draft->noise == JOB_NOISE_GAUSSIAN ? stage_take_gaussian(drafting, index) : STATUS_OK;
}

const struct task_text task_text_statistics = {
    .strategies = 1u << STRATEGY_AVERAGE,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .reads = SHARED_LAMBDAS | SHARED_EXPERTS | SHARED_BATCH | SHARED_MAP | SHARED_NOISE,
    .needs = SHARED_LAMBDAS | SHARED_BATCH,
    .stage_bytes = sizeof(struct statistics_stage),
    .build = build};
