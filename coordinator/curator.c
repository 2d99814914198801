#include "coordinator/curator.h"

#include "dp/mechanism.h"
#include "job/reach.h"
#include "job/trust.h"

#include <stdlib.h>

enum status curator_new(struct curator **out, const struct job *job, const struct random *random)
{
    struct curator *curator = calloc(1, sizeof *curator);
    if (curator == NULL) {
        return STATUS_NO_MEMORY;
    }
    *curator = (struct curator){.job = job, .random = random};
    curator->ledger = ledger_new((struct price){job->epsilon_micro, job->delta_atto});
    if (curator->ledger == NULL) {
        free(curator);
        return STATUS_NO_MEMORY;
    }
    *out = curator;
    return STATUS_OK;
}

void curator_free(struct curator *curator)
{
    if (curator != NULL) {
        ledger_free(curator->budget);
        ledger_free(curator->ledger);
        free(curator);
    }
}

/* As every agent's own charge: a pass is named by the round it begins with. */
static struct charge charge_of(const struct curator *curator, uint32_t round)
{
    uint32_t pass;
    struct charge charge = reach_charge(curator->job, round, 1, &pass);
    store_u32(charge.pass.byte, 1 + pass);
    return charge;
}

/* Opens a budget when a game begins. A unit is in the losses of one game of the stage: so each has a
 * budget of its own, with the job's limit, and the largest is what the ledger paid. */
static enum status take_budget(struct curator *curator, const struct hedge_run *game)
{
    const struct price limit = {curator->job->epsilon_micro, curator->job->delta_atto};
    if (curator->game == game) {
        return STATUS_OK;
    }
    ledger_free(curator->budget);
    curator->budget = ledger_new(limit);
    curator->game = curator->budget == NULL ? NULL : game;
    return curator->budget == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* In a budget there is one stage. */
static struct charge charge_of_play(const struct hedge_state *state, const struct hedge_run *game)
{
    const struct digest pass = {{1}};
    return hedge_charge(state, game, &pass);
}

/* What was due between two plays: a coin, and a draw if there is one more. */
static enum status restore_play(struct curator *curator, const struct stage *stage,
                                const struct hedge_state *before, const struct hedge_state *after)
{
    struct hedge_state state = *before;
    state.drawn = true;
    hedge_next(&state, round_game(stage, state.round));
    const struct hedge_run *game = round_game(stage, state.round);
    const enum hedge_due due = hedge_due(&state, game);
    if (due == HEDGE_DUE_START || due == HEDGE_DUE_NOTHING) {
        return STATUS_OK;
    }
    enum status status = take_budget(curator, game);
    if (status == STATUS_OK && due == HEDGE_DUE_COIN) {
        const struct charge coin = charge_of_play(&state, game);
        status = ledger_restore(curator->budget, &coin);
        state.tossed = true;
    }
    if (status == STATUS_OK && after->draws > before->draws) {
        const struct charge draw = charge_of_play(&state, game);
        status = ledger_restore(curator->budget, &draw);
    }
    return status;
}

enum status curator_restore(struct curator *curator, uint32_t round,
                            const struct hedge_state *before, const struct hedge_state *after)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(curator->job, round, &within);
    struct charge charge = charge_of(curator, round);
    if (!trust_of(curator->job)->exact_answers) {
        return STATUS_OK;
    }
    const enum status status = ledger_restore(curator->ledger, &charge);
    return status == STATUS_OK && round_plays(stage) != NULL
               ? restore_play(curator, stage, before, after)
               : status;
}

/* Pays for a round. */
static enum status curator_spend(struct curator *curator, struct grant **grant, uint32_t round,
                                 struct why *why)
{
    struct charge charge = charge_of(curator, round);
    return ledger_spend(curator->ledger, grant, &charge, why);
}

/* Pays for a round of a losses stage what every agent's own ledger pays for it, whether the play that follows looks at losses or
 * not. */
static enum status curator_open_play(struct curator *curator, uint32_t round, struct why *why)
{
    struct grant *grant = NULL;
    const enum status status = curator_spend(curator, &grant, round, why);
    grant_free(grant);
    return status;
}

/* Pays for what is due in a play (experts/hedge_play.h), out of the stage's charge: a new budget for each game, as the charge
 * covers the largest game. */
static enum status curator_spend_play(struct curator *curator, struct grant **grant,
                                      const struct hedge_state *state, const struct stage *stage,
                                      struct why *why)
{
    const struct hedge_run *game = round_game(stage, state->round);
    const struct charge charge = charge_of_play(state, game);
    *grant = NULL;
    const enum status status = take_budget(curator, game);
    return status == STATUS_OK ? ledger_spend(curator->budget, grant, &charge, why) : status;
}

enum status curator_add_noise(struct curator *curator, int64_t *sum, size_t count, uint32_t round,
                              size_t expert_count, struct why *why)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(curator->job, round, &within);
    struct round_bounds bounds;
    struct grant *grant = NULL;

    if (!trust_of(curator->job)->exact_answers || round_is_drawn(curator->job, stage)) {
        return STATUS_OK;
    }
    enum status status = round_bounds(&bounds, curator->job, stage, within, 1, expert_count, why);
    if (status == STATUS_OK) {
        status = curator_spend(curator, &grant, round, why);
    }
    if (status == STATUS_OK) {
        status = stage->charge.mechanism == MECHANISM_PURE
                     ? mechanism_laplace(&grant, curator->random, sum, count, bounds.sensitivity)
                     : mechanism_gaussian(&grant, curator->random, sum, count, bounds.sensitivity);
    }
    grant_free(grant);
    if (status != STATUS_OK) {
        bytes_wipe(sum, count * sizeof *sum);
    }
    return status;
}

struct closing_payer curator_payer(struct curator *curator)
{
    return (struct closing_payer){.curator = curator,
                                  .spend = curator_spend,
                                  .open_play = curator_open_play,
                                  .spend_play = curator_spend_play};
}
