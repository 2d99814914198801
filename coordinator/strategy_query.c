/* `query`: the released sums are the answers. Quantiles ask on where these lead. */

#include "coordinator/strategy.h"

#include <stdlib.h>

/* Where the next round of quantiles asks goes to the agents as it is; all else follows from the
 * sums in the journal. */
static enum status close(struct closing *closing)
{
    closing_keep_sum(closing);
    closing->record->as.round.chosen = closing->outcome->chosen;
    return STATUS_OK;
}

static struct query_noise noise_of(const struct job *job, const struct stage *stage,
                                   uint32_t within, uint32_t agent_count)
{
    const double epsilon = (double)stage->charge.epsilon_micro * 1e-6;
    const uint64_t sensitivity =
        query_set_sensitivity_l1(&stage->queries, within) * schema_overlap(&job->schema);
    return (struct query_noise){.scale = (double)sensitivity / epsilon,
                                .draws = job->trust == TRUST_LOCAL ? agent_count : 1};
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const uint32_t agent_count = record->as.round.agent_count;
    enum status status = STATUS_OK;

    if (blob.size != 0 || agent_count == 0 ||
        record->as.round.sum_count != query_set_cells(&stage->queries, within)) {
        return STATUS_CORRUPT;
    }
    if (within == 0) {
        query_run_free(&outcome->queries);
        status = query_run_init(&outcome->queries, &stage->queries);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct query_noise noise = noise_of(job, stage, within, agent_count);
    query_run_observe(&outcome->queries, record->as.round.sum, &noise,
                      (uint64_t)agent_count * stage->batch);
    return outcome_set_state(outcome, outcome->queries.threshold, stage->queries.count,
                             stage->queries.count);
}

static enum status tell(struct outcome_round *round, const struct outcome *outcome,
                        const struct job *job, const struct stage *stage,
                        const struct record *record)
{
    (void)job;
    (void)record;
    if (outcome->queries.round < stage->rounds) {
        return STATUS_OK;
    }
    round->answer_count = query_run_answer_count(&stage->queries);
    round->answer = calloc(round->answer_count, sizeof *round->answer);
    if (round->answer == NULL) {
        round->answer_count = 0;
        return STATUS_NO_MEMORY;
    }
    query_run_answers(round->answer, &outcome->queries);
    return STATUS_OK;
}

const struct strategy_kind strategy_query = {.close = close, .add = add, .tell = tell};
