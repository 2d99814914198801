/* `losses`: the experts judged on fresh records, round by round. Under local trust the noisy sums
 * feed the RWM; under central trust the coordinator plays on exact ones, and the draws are what is
 * paid for (stage_draws.c). */

#include "dp/encode.h"
#include "job/kind.h"
#include "job/reach.h"
#include "learn/sensitivity.h"

#include <stdlib.h>

/* Makes room for the games: there is something to choose, and eta is not free. */
static enum status prepare_games(const struct drafting *drafting, size_t index)
{
    struct stage *stage = &drafting->job->stage[index];
    if (job_experts_at(drafting->job, index, 1) < 2) {
        return stage_refuse(drafting, index, "task",
                            "has one expert, and nothing to choose: add lambdas or shifts");
    }
    if (stage->doubling && stage->strategy == STRATEGY_EPOCHS) {
        return stage_refuse(drafting, index, "horizon",
                            "is for strategies whose eta follows from the number of rounds; epochs "
                            "picks anew when they have doubled, and never knows it: remove it");
    }
    stage->game_count = stage->doubling ? hedge_segment_count(stage->rounds) : 1;
    stage->game = calloc(stage->game_count, sizeof *stage->game);
    return stage->game == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = &drafting->draft->stage[index];
    struct job *job = drafting->job;
    struct stage *stage = &job->stage[index];

    if (job_experts_at(job, index, 1) == 0) {
        return stage_refuse(drafting, index, "task",
                            "has no experts to judge: put a fit stage before this one, or write "
                            "forecasters into it");
    }
    if (job->trust == TRUST_LOCAL && stage->strategy != STRATEGY_RWM) {
        return stage_refuse(drafting, index, "strategy",
                            "draws from exact losses, which needs trust central: write rwm, whose "
                            "eta is free on noisy ones");
    }
    if (job->trust == TRUST_CENTRAL && schema_is_series(&job->schema)) {
        return stage_refuse(drafting, index, "task",
                            "of a series needs trust local: one day is in several records, and the "
                            "coins of a play are priced for one");
    }
    stage->rounds = draft->rounds;
    stage->first = draft->first;
    stage->batches = draft->rounds; /* every round looks at other records: one pass, paid once */
    const enum status status = stage_take_batch(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->charge.epsilon_micro = stage->epsilon_micro / reach_passes(job, stage, stage->rounds);
    stage->doubling = draft->horizon != 0;
    /* Games are planned when all stages are known: stage_set_draws. */
    return job->trust == TRUST_LOCAL ? STATUS_OK : prepare_games(drafting, index);
}

static size_t answer_count(const struct job *job, const struct stage *stage, uint32_t within,
                           size_t expert_count)
{
    (void)within;
    return job->trust == TRUST_CENTRAL && stage->strategy == STRATEGY_DARTBOARD ? 2 * expert_count
                                                                                : expert_count;
}

static enum status bounds(struct round_bounds *out, const struct job *job,
                          const struct stage *stage, uint32_t within, uint64_t record_count,
                          size_t expert_count, struct why *why)
{
    const bool drawn = job->trust == TRUST_CENTRAL;
    const uint64_t records = (uint64_t)stage->batch * (drawn ? stage->rounds : 1);
    (void)within;
    (void)record_count;
    if (records > (uint64_t)ENCODE_MAX >> stage->grid_bits) {
        why_set(why, "a batch's losses overflow: lower batch or grid_bits");
        return STATUS_INVALID;
    }
    out->low = 0;
    out->high = (int64_t)(records << stage->grid_bits);
    return sensitivity_losses_l1(&out->sensitivity, drawn ? 1 : expert_count, stage->grid_bits,
                                 why);
}

const struct stage_kind stage_losses = {
    .task = TASK_LOSSES,
    .input = INPUT_EXPERTS,
    .is_drawn = true,
    .strategies = 1u << STRATEGY_RWM | 1u << STRATEGY_THEOREM | 1u << STRATEGY_DARTBOARD |
                  1u << STRATEGY_EPOCHS,
    .trusts = 1u << TRUST_LOCAL | 1u << TRUST_CENTRAL,
    .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND | 1u << UNIT_AGENT,
    .build = build,
    .answer_count = answer_count,
    .bounds = bounds};
