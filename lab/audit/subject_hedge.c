/* Whole plays of the private experts on exact sums, by the machine that the coordinator runs, step
 * by step; one round's losses are replaced.
 *
 * dartboard: 16 rounds, two experts. The first round's losses are (1, 0) or (0, 1), all others
 * level: the coin of the second round looks at it, and so does every draw. The score holds the
 * first expert, that coin, and how many of the draws took expert 1 more than expert 0, which is all
 * that can be told: later coins fall alike. The accountant charges K draws; some 10 happen.
 *
 * epochs: 7 rounds, picks before rounds 1 and 3 (from 0). The replaced round is among those that
 * the last pick looks at, where all experts are level, or expert 0 is 2 ahead: report-noisy-max's
 * own worst pair. Were older rounds looked at, or this one again, the audit would find more than
 * epsilon.
 *
 * linear-learner: one draw after one sample of [-1,1]^32, x = (1, -1, .., -1) or its negative: a
 * rare coordinate gains all, every other loses all. 0.96 to 0.97 of the claim.
 *
 * rwm and theorem: a whole play of private Randomized Weighted Majority under central trust: T draws of the
 * exponential mechanism, P(i) ~ exp(-eta L_i), L the sum of the losses so far. The neighbours
 * differ in the first round's loss vector: (1, 0) against (0, 1). All later rounds lose the same
 * for both experts, so the two cumulative losses stay one apart, in opposite directions: every one
 * of the T - 1 draws that follow has odds e^-eta against e^eta, the whole bounded range of 2 eta,
 * at the balance where the divergence of a draw is largest. The draws are independent, so the
 * number of plays of expert 0 holds all that can be told: it is the score.
 *
 * A single draw's Renyi divergence is nearly that of bounded range, eta^2 alpha / 2, so the sum of
 * the curves is nearly reached; the conversion to (epsilon, delta) is what is lost, 10 to 20 %: the
 * pair is not tight. The theorem's eta claims 4 to 6 times what its plays can show.
 *
 * Dwork and Roth 2014, chapter 11, theorem 11.2; rho = T eta^2/2 by Cesar and Rogers 2021. */

#include "lab/audit/harness.h"

#include "account/renyi.h"
#include "dp/mechanism.h"
#include "dp/select_private.h"
#include "experts/hedge_play.h"
#include "experts/hedge_terms.h"

#include <math.h>

enum { DART_ROUNDS = 16, EPOCH_ROUNDS = 7, EPOCH_LAST_PICK = 3, GRID_BITS = 10 };
enum { FIELD_SMALL = 16, FIELD = 32, SCORE_DRAWS = 64 };
enum { PLAY_ROUNDS = 16, PLAY_EXPERTS = 2 /* of rwm and theorem */ };

/* Does one of what is due, as hedge_play does, on a table made beforehand in place of a grant. */
static enum status step(struct audit_harness *harness, struct hedge_state *state,
                        const struct random *random, const struct hedge_losses *losses)
{
    struct grant *none = NULL;
    const struct hedge_run *game = &harness->game;
    bool refresh = false;
    size_t chosen = 0;
    enum status status = STATUS_OK;
    switch (hedge_due(state, game)) {
    case HEDGE_DUE_NOTHING:
        break;
    case HEDGE_DUE_START:
        return hedge_play(state, game, &none, random, losses);
    case HEDGE_DUE_COIN:
        status = hedge_toss(game, random, losses->latest[state->expert], &refresh);
        hedge_note_coin(state, refresh);
        break;
    case HEDGE_DUE_DRAW:
        status = select_draw_exponential(&game->decay, random, &chosen, losses->cumulative,
                                         game->experts);
        hedge_note_draw(state, chosen);
        break;
    case HEDGE_DUE_PICK:
        status =
            select_draw_noisy(&harness->noise, random, &chosen, losses->segment, game->experts);
        hedge_note_draw(state, chosen);
        break;
    case HEDGE_DUE_LAST: /* none is set: a selection of its own, audited as such */
        return STATUS_UNSUPPORTED;
    }
    return status;
}

static enum status round_of(struct audit_harness *harness, struct hedge_state *state,
                            const struct random *random, const struct hedge_losses *losses)
{
    enum status status = STATUS_OK;
    while (hedge_due(state, &harness->game) != HEDGE_DUE_NOTHING && status == STATUS_OK) {
        status = step(harness, state, random, losses);
    }
    return status;
}

static enum status dartboard_run(struct audit_harness *harness, const struct random *random,
                                 unsigned side, int64_t *score)
{
    static const int64_t level[2] = {0};
    struct hedge_state state = {0};
    int64_t lead = 0;
    enum status status = STATUS_OK;
    *score = 0;
    for (int round = 0; round < DART_ROUNDS && status == STATUS_OK; round++) {
        const struct hedge_losses losses = {.cumulative = harness->value[side],
                                            .latest = round == 1 ? harness->value[side] : level};
        const uint64_t draws = state.draws;
        status = round_of(harness, &state, random, &losses);
        lead += state.draws == draws ? 0 : state.expert == 1 ? 1 : -1;
        *score += round == 0 ? 2 * (int64_t)state.expert : round == 1 ? (int64_t)state.draws : 0;
        hedge_next(&state, &harness->game);
    }
    *score = SCORE_DRAWS * *score + lead;
    return status;
}

static enum status epochs_run(struct audit_harness *harness, const struct random *random,
                              unsigned side, int64_t *score)
{
    static const int64_t level[FIELD] = {0};
    struct hedge_state state = {0};
    enum status status = STATUS_OK;
    for (int round = 0; round < EPOCH_ROUNDS && status == STATUS_OK; round++) {
        const struct hedge_losses losses = {
            .cumulative = level,
            .latest = level,
            .segment = round == EPOCH_LAST_PICK ? harness->value[side] : level};
        status = round_of(harness, &state, random, &losses);
        hedge_next(&state, &harness->game);
    }
    *score = (int64_t)state.expert;
    return status;
}

static enum status linear_run(struct audit_harness *harness, const struct random *random,
                              unsigned side, int64_t *score)
{
    size_t chosen = 0;
    enum status status = select_draw_exponential(&harness->game.decay, random, &chosen,
                                                 harness->value[side], harness->width);
    *score = (int64_t)chosen;
    return status;
}

/* Plans and makes the game; the claim is what its charges cost. */
static enum status prepare(struct audit_harness *harness, enum hedge_strategy strategy,
                           size_t experts, uint64_t rounds, struct why *why)
{
    const struct hedge_problem problem = {
        .experts = experts, .rounds = rounds, .epsilon = harness->epsilon, .delta = harness->delta};
    struct hedge_plan plan;
    struct charge charge[HEDGE_CHARGES_MAX];
    struct privacy_event event[HEDGE_CHARGES_MAX];
    harness->width = experts;
    enum status status = hedge_plan(&plan, strategy, &problem, why);
    if (status == STATUS_OK) {
        status = hedge_run_init(&harness->game, &plan, strategy, &problem,
                                (struct hedge_grid){1, GRID_BITS}, why);
    }
    if (status == STATUS_OK) {
        const size_t count = hedge_charges(charge, &harness->game);
        for (size_t i = 0; i < count; i++) {
            event[i] = charge_event(&charge[i]);
        }
        harness->epsilon = hedge_cost(event, count, harness->delta);
    }
    return status;
}

static enum status dartboard_prepare(struct audit_harness *harness, struct why *why)
{
    enum status status = prepare(harness, HEDGE_DARTBOARD, 2, DART_ROUNDS, why);
    harness->value[0][0] = (int64_t)harness->game.one;
    harness->value[1][1] = (int64_t)harness->game.one;
    return status;
}

static enum status epochs_prepare(struct audit_harness *harness, struct why *why)
{
    struct noise_scale scale;
    const size_t experts =
        harness->epsilon < 0.75 ? FIELD_SMALL : FIELD; /* the more, the rarer, too */
    enum status status = prepare(harness, HEDGE_EPOCHS, experts, EPOCH_ROUNDS, why);
    const int64_t one = (int64_t)harness->game.one;
    for (size_t i = 0; i < experts; i++) {
        harness->value[0][i] = one;
        harness->value[1][i] = i == 0 ? 0 : 2 * one;
    }
    if (status == STATUS_OK) {
        status =
            mechanism_scale(&scale, 2 * harness->game.sensitivity, harness->game.draw_micro, why);
    }
    return status != STATUS_OK ? status : noise_laplace_init(&harness->noise, scale);
}

static enum status linear_prepare(struct audit_harness *harness, struct why *why)
{
    double x[FIELD];
    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < FIELD; i++) {
            x[i] = (i == 0) == (side == 0) ? 1 : -1;
        }
        hedge_linear_losses(harness->value[side], x, FIELD, GRID_BITS);
    }
    return prepare(harness, HEDGE_RWM, FIELD, 1, why);
}

const struct subject_code subject_dartboard = {
    .subject = {.name = "dartboard",
                .summary = "16 rounds of the lazy play (keep or refresh), exact sums",
                .worst =
                    "the first round's losses of two experts swapped, level ever after; the cap "
                    "on draws and the conversion keep the claim above what can be shown",
                .has_delta = true},
    .prepare = dartboard_prepare,
    .run = dartboard_run};

const struct subject_code subject_epochs = {
    .subject = {.name = "epochs",
                .summary = "7 rounds in doubling epochs, picks by report-noisy-max",
                .worst =
                    "one of 16 or 32 level experts gains and all the others lose, in one round",
                .tight = true},
    .prepare = epochs_prepare,
    .run = epochs_run};

const struct subject_code subject_linear_learner = {
    .subject = {.name = "linear-learner",
                .summary = "one draw of LinearLearner in 32 dimensions, losses mapped to [0,1]",
                .worst = "a sample replaced by its negative: a rare coordinate gains and all the "
                         "others lose; 0.96 of the claim"},
    .prepare = linear_prepare,
    .run = linear_run};

#define ETA_UNIT UINT64_C(1000000000)

/* The first round is played before any loss is known: expert 0 or 1, whatever the records. */
static enum status play_run(struct audit_harness *harness, const struct random *random,
                            unsigned side, int64_t *score)
{
    static const int64_t nothing[PLAY_EXPERTS] = {0};
    enum status status = STATUS_OK;
    *score = 0;
    for (unsigned round = 0; round < PLAY_ROUNDS && status == STATUS_OK; round++) {
        size_t expert = 0;
        status = select_draw_exponential(&harness->decay, random, &expert,
                                         round == 0 ? nothing : harness->value[side], PLAY_EXPERTS);
        *score += expert == 0;
    }
    return status;
}

static enum status prepare_play(struct audit_harness *harness, double eta, struct why *why)
{
    double rounded = floor(eta * (double)ETA_UNIT);
    if (!(rounded >= 1 && rounded <= 0x1p53)) {
        return why_refuse(why, "there is no eta for this epsilon and delta");
    }
    harness->width = PLAY_EXPERTS;
    harness->value[0][0] = 1; /* losses in whole ones lose nothing: the draw is exact */
    harness->value[1][1] = 1;
    return noise_exponential_init(&harness->decay, (uint64_t)rounded, ETA_UNIT);
}

static enum status rwm_prepare(struct audit_harness *harness, struct why *why)
{
    double rho = zcdp_from_epsilon(harness->epsilon, harness->delta);
    double eta = sqrt(2 * rho / PLAY_ROUNDS);
    struct privacy_event event = {.mechanism = MECHANISM_EXPONENTIAL,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .parameter = 2 * eta,
                                  .sensitivity = 1,
                                  .count = PLAY_ROUNDS,
                                  .sampling = 1};
    harness->epsilon =
        fmin(zcdp_epsilon(&event, 1, harness->delta), renyi_epsilon(&event, 1, harness->delta));
    return prepare_play(harness, eta, why);
}

static enum status theorem_prepare(struct audit_harness *harness, struct why *why)
{
    if (harness->epsilon > 1) {
        return why_refuse(why, "theorem 11.2 holds for epsilon up to 1");
    }
    return prepare_play(harness,
                        harness->epsilon / sqrt(32 * PLAY_ROUNDS * log(1 / harness->delta)), why);
}

const struct subject_code subject_rwm = {
    .subject = {.name = "rwm",
                .summary = "16 rounds of Randomized Weighted Majority, exact sums (central trust)",
                .worst = "the first round's losses of two experts swapped, level ever after; the "
                         "conversion from zCDP keeps the claim above what can be shown",
                .has_delta = true},
    .prepare = rwm_prepare,
    .run = play_run};

const struct subject_code subject_theorem = {
    .subject = {.name = "theorem",
                .summary = "the same with the eta of Dwork and Roth, theorem 11.2; epsilon up to 1",
                .worst = "as rwm; the theorem claims several times what its plays can show",
                .has_delta = true},
    .prepare = theorem_prepare,
    .run = play_run};
