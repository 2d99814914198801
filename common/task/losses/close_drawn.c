/* `losses` under central trust: the coordinator plays experts/hedge_play.h on the exact sums that the
 * agents send anew each round, and releases nothing but the expert it plays. What it remembers from
 * one round to the next - which round, which expert, how many draws - is in the journal. */

#include "task/close.h"

#include "base/check.h"
#include "base/wide.h"
#include "task/losses/stage.h"

#include <stdlib.h>

enum { STATE_COUNT = 3 };

static struct hedge_state state_of(const int64_t *sum)
{
    return (struct hedge_state){.round = (uint64_t)sum[0],
                                .expert = (uint64_t)sum[1],
                                .draws = (uint64_t)sum[2],
                                .drawn = true};
}

/* The sums are those of the agents that answered; the game is for cohort_min of them, each with the fewest
 * records. Scaled down they move no further than before: floor(a c) - floor(b c) <= ceil((a - b) c) for
 * c <= 1, and the coordinator counts no answer about fewer records. For units above the record each agent
 * sends a mean. */
static void scale(const struct closing *closing)
{
    const struct stage *stage = closing->stage;
    const bool by_record = closing->job->unit == UNIT_RECORD;
    const uint64_t least = (uint64_t)closing->job->cohort_min * (by_record ? stage->batch : 1);
    const uint64_t count =
        by_record ? closing_records(stage, closing->record) : closing->record->as.round.agent_count;
    CHECK(least <= count);
    for (size_t i = 0; i < closing->count; i++) {
        uint64_t sum = closing->sum[i] > 0 ? (uint64_t)closing->sum[i] : 0;
        closing->sum[i] = (int64_t)((uint128)sum * least / count);
    }
}

static enum status play(struct hedge_state *state, struct closing *closing)
{
    const struct hedge_run *game = round_game(closing->stage, state->round);
    const size_t k = closing->outcome->expert_count;
    const struct hedge_losses losses = {.cumulative = closing->sum,
                                        .latest = closing->sum + (closing->count - k),
                                        .segment = closing->sum};
    enum hedge_due due;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && (due = hedge_due(state, game)) != HEDGE_DUE_NOTHING) {
        struct grant *grant = NULL;
        struct why why = {{0}};
        if (due != HEDGE_DUE_START) {
            status = closing->payer.spend_play(closing->payer.curator, &grant, state,
                                               closing->stage, &why);
        }
        if (status == STATUS_OK) {
            status = hedge_play(state, game, &grant, closing->random, &losses);
        }
    }
    return status;
}

static enum status close(struct closing *closing)
{
    struct hedge_state state = {0};
    struct why why = {{0}};
    if (closing->within > 0) {
        state = closing->outcome->hedge;
    }
    CHECK(closing->outcome->expert_count == losses_stage(closing->stage)->plays.game->experts);
    scale(closing);
    enum status status =
        closing->payer.open_play(closing->payer.curator, closing->record->as.round.round, &why);
    if (status == STATUS_OK) {
        status = play(&state, closing); /* the first round's, before any loss */
    }
    if (status == STATUS_OK) {
        hedge_next(&state, round_game(closing->stage, state.round));
        status = play(&state, closing);
    }
    bytes_wipe(closing->sum, closing->count * sizeof *closing->sum);
    if (status != STATUS_OK) {
        return status;
    }
    int64_t *kept = malloc(STATE_COUNT * sizeof *kept);
    if (kept == NULL) {
        return STATUS_NO_MEMORY;
    }
    kept[0] = (int64_t)state.round;
    kept[1] = (int64_t)state.expert;
    kept[2] = (int64_t)state.draws;
    closing->record->as.round.sum = kept;
    closing->record->as.round.sum_count = STATE_COUNT;
    closing->record->as.round.chosen = (uint32_t)state.expert;
    return STATUS_OK;
}

/* One play later: at most one draw, where one may be due, and another expert only by a draw or as the
 * one to begin with. */
static bool can_follow(const struct hedge_state *before, const struct hedge_state *after,
                       const struct stage *stage)
{
    struct hedge_state next = *before;
    next.drawn = true;
    hedge_next(&next, round_game(stage, before->round));
    const struct hedge_run *game = round_game(stage, next.round);
    if (hedge_due(&next, game) == HEDGE_DUE_START) {
        return after->draws == 0;
    }
    if (after->draws == before->draws) {
        return before->round == 0 || after->expert == before->expert;
    }
    return after->draws == before->draws + 1 && hedge_due(&next, game) != HEDGE_DUE_NOTHING;
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    (void)job;
    if (blob.size != 0 || record->as.round.sum_count != STATE_COUNT) {
        return STATUS_CORRUPT;
    }
    struct hedge_state state = state_of(record->as.round.sum);
    if (within == 0) {
        outcome_forget_stage(outcome);
    }
    if (state.round != (uint64_t)within + 1 || state.expert != record->as.round.chosen ||
        !hedge_state_is_valid(&state, round_game(stage, state.round)) ||
        !can_follow(&outcome->hedge, &state, stage)) {
        return STATUS_CORRUPT;
    }
    outcome->hedge_before = outcome->hedge;
    outcome->hedge = state;
    return STATUS_OK;
}

static enum status describe(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record)
{
    round->regret_bound = losses_stage(stage)->plays.plan.regret_bound +
                          losses_stage(stage)->plays.plan.cap_probability;
    return closing_tell_plays(round, outcome, job, record);
}

const struct task_close task_close_losses_drawn = {.start = closing_add_forecasters,
                                                   .close = close,
                                                   .add = add,
                                                   .describe = describe,
                                                   .is_shown = true};
