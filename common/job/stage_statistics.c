/* `statistics`: second moments, one release for every lambda. The labels of several classes are told
 * apart in c blocks, x in the block of the record's own class and nothing in the others: at most two
 * blocks differ between neighbours, however many classes there are. */

#include "job/kind.h"

#include <math.h>

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
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
    stage->moments = (struct moments){
        .feature_count = schema_feature_count(schema), .grid_bits = stage->grid_bits, .bound_y = 1};
    if (moments_check(&stage->moments, stage->batch, &why) != STATUS_OK) {
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

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    const size_t more = schema_output_count(&job->schema) - 1;
    (void)within;
    (void)expert_count;
    return moments_count(&stage->moments) + more * stage->moments.feature_count;
}

/* Of several classes. With one class in common the blocks differ by x - x', as for a label of 1 on
 * both sides, which moments_sensitivity has. With two, by x and by x': at most 2 sqrt(d) in L1, and
 * the root of 2 in L2, whatever t = <x, x'>. The rest of the vector adds 1 + d sqrt((1 - t^2)/2), and
 * 2 - 2 t^2 to the square: the worst t is 0. In L2 that is 4, below the 4.5 of two classes. The grid:
 * a number that is 0 on one side is off by half a step at most, so that two blocks weigh as one. */
static uint64_t sensitivity(const struct stage *stage, size_t outputs)
{
    const double d = (double)stage->moments.feature_count;
    if (stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
        return moments_sensitivity_l2(&stage->moments);
    }
    const double classes = (1 + d / sqrt(2) + 2 * sqrt(d)) * (1 + 0x1p-40);
    return outputs == 1 ? moments_sensitivity_l1(&stage->moments)
                        : (uint64_t)ceil(ldexp(classes, (int)stage->grid_bits)) +
                              moments_count(&stage->moments);
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    (void)within;
    (void)record_count;
    (void)expert_count;
    if (moments_check(&stage->moments, stage->batch, why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    out->sensitivity = sensitivity(stage, schema_output_count(&job->schema));
    out->high = (int64_t)moments_range(&stage->moments, stage->batch);
    out->low = -out->high;
    return STATUS_OK;
}

const struct stage_kind stage_statistics = {.task = TASK_STATISTICS,
                                            .input = INPUT_NONE,
                                            .strategies = 1u << STRATEGY_AVERAGE,
                                            .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
                                            .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND |
                                                     1u << UNIT_AGENT,
                                            .build = build,
                                            .answer_count = answer_count,
                                            .bounds = bounds};
