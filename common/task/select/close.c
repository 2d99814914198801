/* `select`: one candidate. Under local trust the least of the scores that the noisy sums give; under
 * central trust a private draw from the exact ones, and nothing but its result is released. */

#include "task/close.h"
#include "dp/select.h"
#include "task/select/stage.h"

#include <stdlib.h>
#include <string.h>

static enum status draw(struct closing *closing, size_t *chosen, const int64_t *score, size_t count)
{
    struct grant *grant = NULL;
    struct round_bounds bounds;
    struct why why = {{0}};
    enum status status = round_bounds(&bounds, closing->job, closing->stage, closing->within, 1,
                                      closing->outcome->expert_count, &why);

    if (status == STATUS_OK) {
        status = closing->payer.spend(closing->payer.curator, &grant,
                                      closing->record->as.round.round, &why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return closing->stage->strategy == STRATEGY_EXPONENTIAL
               ? select_exponential(&grant, closing->random, chosen, score, count,
                                    bounds.sensitivity)
               : select_permute_and_flip(&grant, closing->random, chosen, score, count,
                                         bounds.sensitivity);
}

/* Experts' scores are their summed losses; candidates', what their cells tell. */
static enum status scores(int64_t **out, size_t *count, const struct closing *closing)
{
    const struct candidates *candidates = &select_stage(closing->stage)->candidates;
    const uint64_t records = closing_records(closing->stage, closing->record);
    const bool experts = select_stage(closing->stage)->among_experts;

    *count = experts ? closing->count : candidates_count(candidates);
    *out = malloc(*count * sizeof **out);
    if (*out == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (experts) {
        memcpy(*out, closing->sum, *count * sizeof **out);
    } else {
        candidates_scores(*out, candidates, closing->sum, records);
    }
    return STATUS_OK;
}

/* The record holds what was chosen, and nothing of the sum. */
static enum status close(struct closing *closing)
{
    size_t count = 0;
    size_t chosen = 0;
    int64_t *score = NULL;
    enum status status = scores(&score, &count, closing);

    if (status == STATUS_OK && round_is_drawn(closing->job, closing->stage)) {
        status = draw(closing, &chosen, score, count);
    } else if (status == STATUS_OK) {
        chosen = candidates_best(score, count);
    }
    bytes_free(score, count * sizeof *score);
    if (status == STATUS_OK) {
        bytes_wipe(closing->sum, closing->count * sizeof *closing->sum);
        closing->sum[0] = (int64_t)chosen;
        closing->count = 1;
        closing_keep_sum(closing);
        closing->record->as.round.chosen = select_stage(closing->stage)->among_experts
                                               ? (uint32_t)chosen
                                               : closing->outcome->chosen;
    }
    return status;
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    const size_t count = select_stage(stage)->among_experts
                             ? outcome->expert_count
                             : candidates_count(&select_stage(stage)->candidates);
    (void)job;
    (void)within;
    return blob.size != 0 || record->as.round.sum_count != 1 || record->as.round.sum[0] < 0 ||
                   (uint64_t)record->as.round.sum[0] >= count
               ? STATUS_CORRUPT
               : STATUS_OK;
}

static enum status describe(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record)
{
    (void)job;
    const size_t chosen = (size_t)record->as.round.sum[0];
    if (select_stage(stage)->among_experts) {
        return closing_note(round, "", "%s", outcome->expert[chosen].name);
    }
    char name[CANDIDATES_NAME_BYTES];
    candidates_name(name, sizeof name, &select_stage(stage)->candidates, chosen);
    return closing_note(round, "", "%s", name);
}

const struct task_close task_close_select = {.close = close, .add = add, .describe = describe};
