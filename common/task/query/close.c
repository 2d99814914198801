/* `query`: the released sums are the answers. Quantiles ask on where these lead. */

#include "task/close.h"
#include "query/conjunction.h"
#include "task/query/stage.h"

#include <stdlib.h>

/* Where the next round of quantiles asks goes to the agents as it is; all else follows from the
 * sums in the journal. */
static enum status close(struct closing *closing)
{
    closing_keep_sum(closing);
    closing->record->as.round.chosen = closing->outcome->chosen;
    return STATUS_OK;
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const uint32_t agent_count = record->as.round.agent_count;
    enum status status = STATUS_OK;

    if (blob.size != 0 || agent_count == 0 ||
        record->as.round.sum_count != query_set_cells(&query_stage(stage)->queries, within)) {
        return STATUS_CORRUPT;
    }
    if (within == 0) {
        query_run_free(&outcome->queries);
        status = query_run_init(&outcome->queries, &query_stage(stage)->queries);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct query_noise noise = closing_noise(outcome, job, stage, within, agent_count);
    query_run_observe(&outcome->queries, record->as.round.sum, &noise,
                      closing_records(stage, record));
    return outcome_set_state(outcome, outcome->queries.threshold, query_stage(stage)->queries.count,
                             query_stage(stage)->queries.count);
}

/* What the learner keeps: the last answers are its own, each a count in one cell. */
static enum status describe_conjunction(struct outcome_round *round, const struct outcome *outcome,
                                        const struct stage *stage)
{
    const size_t count = query_stage(stage)->conjunction_count;
    const struct query_answer *answer = round->answer + (round->answer_count - count);
    double share[QUERY_SET_MAX] = {0};
    bool kept[QUERY_SET_MAX] = {false};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count; i++) {
        share[i] = answer[i].value / (double)outcome->queries.record_count;
    }
    if (conjunction_learn(kept, share, count, query_stage(stage)->conjunction_tolerance) == 0) {
        return closing_note(round, "", "none of the features: any record may be positive");
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (kept[i]) {
            status = closing_note(round, " and ", "(%s)", query_stage(stage)->conjunction[i]);
        }
    }
    return status;
}

static enum status describe(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record)
{
    (void)job;
    (void)record;
    if (outcome->queries.round < stage->rounds) {
        return STATUS_OK;
    }
    round->answer_count = query_run_answer_count(&query_stage(stage)->queries);
    round->answer = calloc(round->answer_count, sizeof *round->answer);
    if (round->answer == NULL) {
        round->answer_count = 0;
        return STATUS_NO_MEMORY;
    }
    query_run_answers(round->answer, &outcome->queries);
    round->point_count = query_run_point_count(&query_stage(stage)->queries);
    round->point = calloc(round->point_count + 1, sizeof *round->point);
    if (round->point == NULL) {
        round->point_count = 0;
        return STATUS_NO_MEMORY;
    }
    query_run_points(round->point, &outcome->queries);
    return query_stage(stage)->conjunction_count > 0 ? describe_conjunction(round, outcome, stage)
                                                     : STATUS_OK;
}

const struct task_close task_close_query = {.close = close, .add = add, .describe = describe};
