/* `fit`: each agent's own regularised minimiser, one lambda a round. */

#include "job/kind.h"
#include "learn/erm.h"
#include "learn/sensitivity.h"

enum status stage_build_lambdas(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    if (stage_has_twice(draft->lambda, draft->lambda_count)) {
        return stage_refuse(drafting, index, "lambdas",
                            stage->task == TASK_STATISTICS
                                ? "holds one lambda twice: remove one"
                                : "holds one lambda twice: it would be paid twice");
    }
    stage->lambda_count = draft->lambda_count;
    return stage_keep(&stage->lambda, draft->lambda, draft->lambda_count);
}

enum status stage_build_experts(const struct drafting *drafting, size_t index)
{
    const struct draft_experts *draft = &drafting->draft->stage[index].experts;
    struct stage *stage = &drafting->job->stage[index];
    if (!draft->own && stage_has(drafting, index, "experts.own_weight")) {
        return stage_refuse(drafting, index, "experts.own_weight",
                            "weighs experts that `own: false` leaves out: remove it, or set own to "
                            "true");
    }
    if (draft->own && stage->task != TASK_FIT && stage->task != TASK_PREDICT) {
        return stage_refuse(drafting, index, "experts.own",
                            "is for a fit or predict stage, whose agents learn alone: remove it");
    }
    if (draft->own && drafting->job->trust != TRUST_LOCAL) {
        return stage_refuse(drafting, index, "experts.own",
                            "needs trust local: otherwise only the noisy average is released");
    }
    if (draft->shift_count > 0 && schema_output_count(&drafting->job->schema) > 1) {
        return stage_refuse(drafting, index, "experts.shifts",
                            "moves the threshold between two classes, and the label has more: "
                            "remove it");
    }
    for (size_t i = 0; i < draft->shift_count; i++) {
        if (draft->shift[i] == 0) {
            return stage_refuse(drafting, index, "experts.shifts",
                                "holds 0, which is the average itself: remove it");
        }
    }
    if (stage_has_twice(draft->shift, draft->shift_count)) {
        return stage_refuse(drafting, index, "experts.shifts", "holds one shift twice: remove it");
    }
    stage->experts_own = draft->own;
    stage->own_weight = draft->own_weight;
    stage->shift_count = draft->shift_count;
    return stage_keep(&stage->shift, draft->shift, draft->shift_count);
}

enum status stage_check_learnable(const struct drafting *drafting, size_t index)
{
    const bool number = drafting->job->schema.label.kind == LABEL_NUMBER;
    return loss_is_learnable(drafting->job->stage[index].loss)
               ? STATUS_OK
               : stage_refuse(drafting, index, "loss",
                              number ? "judges experts, and none can be learned by it: write "
                                       "squared or huber"
                                     : "judges experts, and none can be learned by it: write "
                                       "logistic or hinge");
}

enum status stage_build_fits(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    enum status status = stage_check_learnable(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->rounds = (uint32_t)draft->lambda_count;
    stage->tolerance = draft->tolerance;
    stage->charge.epsilon_micro = stage->epsilon_micro / stage->rounds; /* each is a release */
    status = stage_build_lambdas(drafting, index);
    if (status == STATUS_OK) {
        status = stage_build_experts(drafting, index);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (drafting->job->trust == TRUST_CENTRAL && !config_has(drafting->config, "cohort.records")) {
        return config_refuse(drafting->config, drafting->why, "cohort.records",
                             "is missing: under trust central the noise of a fit follows the least "
                             "number of records that an agent has");
    }
    return STATUS_OK;
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)within;
    (void)job;
    (void)expert_count;
    return round_stage_width(stage);
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    const struct erm_problem problem = {.loss = stage->loss,
                                        .lambda = stage->lambda[within],
                                        .tolerance = stage->tolerance,
                                        .record_count = (size_t)record_count,
                                        .feature_count = stage->block.count};
    uint64_t range = 0;
    (void)expert_count;
    enum status status = sensitivity_fit_l1(&out->sensitivity, &problem, stage->grid_bits, why);
    if (status == STATUS_OK) {
        status = sensitivity_fit_range(&range, &problem, stage->grid_bits, why);
    }
    out->sensitivity *= schema_output_count(&job->schema); /* one-versus-rest: that many fits */
    out->high = (int64_t)range;
    out->low = -out->high;
    return status;
}

const struct stage_kind stage_fit = {.task = TASK_FIT,
                                     .input = INPUT_NONE,
                                     .strategies = 1u << STRATEGY_AVERAGE,
                                     .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
                                     .units = 1u << UNIT_RECORD,
                                     .build = stage_build_fits,
                                     .answer_count = answer_count,
                                     .bounds = bounds};
