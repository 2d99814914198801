/* `select`: one candidate. Under local trust the least of the scores that the noisy sums give; under
 * central trust a private draw from the exact ones, and nothing but its result is released. */

#include "coordinator/strategy.h"
#include "dp/select.h"

#include <stdlib.h>
#include <string.h>

static enum status draw(struct closing *closing, size_t *chosen, const int64_t *score, size_t count)
{
    struct grant *grant = NULL;
    struct why why = {{0}};
    enum status status =
        curator_spend(closing->curator, &grant, closing->record->as.round.round, &why);

    if (status != STATUS_OK) {
        return status;
    }
    return closing->stage->strategy == STRATEGY_EXPONENTIAL
               ? select_exponential(&grant, closing->random, chosen, score, count,
                                    CANDIDATES_SCORE_SENSITIVITY)
               : select_permute_and_flip(&grant, closing->random, chosen, score, count,
                                         CANDIDATES_SCORE_SENSITIVITY);
}

/* The record holds the candidate's number. */
static enum status close(struct closing *closing)
{
    const struct candidates *candidates = &closing->stage->candidates;
    const bool drawn = round_is_drawn(closing->job, closing->stage);
    const size_t count = candidates_count(candidates);
    const uint64_t records =
        (uint64_t)closing->record->as.round.agent_count * closing->stage->batch;
    int64_t *score = malloc(count * sizeof *score);
    size_t chosen = 0;
    enum status status = score == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        candidates_scores(score, candidates, closing->sum, records);
        if (drawn) {
            status = draw(closing, &chosen, score, count);
            bytes_wipe(score, count * sizeof *score);
        } else {
            chosen = candidates_best(score, count);
        }
    }
    free(score);
    if (status == STATUS_OK) {
        bytes_wipe(closing->sum, closing->count * sizeof *closing->sum);
        closing->sum[0] = (int64_t)chosen;
        closing->count = 1;
        closing_keep_sum(closing);
        closing->record->as.round.chosen = closing->outcome->chosen;
    }
    return status;
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    (void)outcome;
    (void)job;
    (void)within;
    if (blob.size != 0 || record->as.round.sum_count != 1 || record->as.round.sum[0] < 0 ||
        (uint64_t)record->as.round.sum[0] >= candidates_count(&stage->candidates)) {
        return STATUS_CORRUPT;
    }
    return STATUS_OK;
}

static enum status tell(struct outcome_round *round, const struct outcome *outcome,
                        const struct job *job, const struct stage *stage,
                        const struct record *record)
{
    (void)job;
    (void)outcome;
    round->said = calloc(1, CANDIDATES_NAME_BYTES);
    if (round->said == NULL) {
        return STATUS_NO_MEMORY;
    }
    candidates_name(round->said, CANDIDATES_NAME_BYTES, &stage->candidates,
                    (size_t)record->as.round.sum[0]);
    return STATUS_OK;
}

const struct strategy_kind strategy_select = {.close = close, .add = add, .tell = tell};
