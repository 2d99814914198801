/* `losses`: the experts judged on fresh records, round by round. */

#include "dp/encode.h"
#include "job/kind.h"
#include "learn/sensitivity.h"

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct stage *stage = &drafting->job->stage[index];
    bool fitted = false;
    for (size_t i = 0; i < index; i++) {
        fitted = fitted || job_makes_experts(&drafting->job->stage[i]);
    }
    if (!fitted) {
        return stage_refuse(drafting, index, "task",
                            "has no experts to judge: put a fit stage before this one");
    }
    stage->rounds = draft->rounds;
    stage->batch = draft->batch;
    stage->batches = draft->rounds; /* every round looks at other records: one pass, paid once */
    stage->charge.epsilon_micro = stage->epsilon_micro;
    return STATUS_OK;
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)within;
    (void)job;
    (void)stage;
    return expert_count;
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    (void)job;
    (void)within;
    (void)record_count;
    if (stage->batch > ENCODE_MAX >> stage->grid_bits) {
        why_set(why, "a batch's losses overflow: lower batch or grid_bits");
        return STATUS_INVALID;
    }
    out->low = 0;
    out->high = (int64_t)stage->batch << stage->grid_bits;
    return sensitivity_losses_l1(&out->sensitivity, expert_count, stage->grid_bits, why);
}

const struct stage_kind stage_losses = {.task = TASK_LOSSES,
                                        .input = INPUT_EXPERTS,
                                        .is_drawn = true,
                                        .strategies = 1u << STRATEGY_RWM,
                                        .trusts = 1u << TRUST_LOCAL,
                                        .build = build,
                                        .answer_count = answer_count,
                                        .bounds = bounds};
