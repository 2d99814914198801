/* Dwork and Roth 2014, algorithm 16, with exact draws; Asi, Feldman, Koren, Talwar 2023 for the
 * dartboard: if x is distributed as w_{t-1} and is kept with probability exp(-eta l_{t-1}(x)), else
 * drawn from w_t, then it is distributed as w_t; a refresh with probability p whatever happens
 * changes nothing of that, and bounds what a refresh can tell of a loss. Deviation: exact coins and
 * draws; the state is the expert and the number of draws alone, so that a journal can hold it. */

#include "experts/hedge_play.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/mask.h"
#include "dp/select.h"
#include "experts/hedge_terms.h"

#include <math.h>

enum { COIN_SHIFT = 64 - NOISE_EXPONENTIAL_BITS, REFRESH_SHIFT = 11 };

/* Byte of a pass's name that tells draws from what is on the stage's own pass. */
enum { DRAW_BYTE = 8 };

static bool is_last(const struct hedge_run *game, uint64_t round)
{
    return game->last_micro > 0 && round - game->first + 1 == game->rounds;
}

enum hedge_due hedge_due(const struct hedge_state *state, const struct hedge_run *game)
{
    if (state->drawn) {
        return HEDGE_DUE_NOTHING;
    }
    if (state->round == game->first) {
        return HEDGE_DUE_START;
    }
    if (is_last(game, state->round)) {
        return HEDGE_DUE_LAST;
    }
    switch (game->strategy) {
    case HEDGE_THEOREM:
    case HEDGE_RWM:
        return HEDGE_DUE_DRAW;
    case HEDGE_DARTBOARD:
        if (state->draws >= game->draws_max) {
            return HEDGE_DUE_NOTHING;
        }
        return state->tossed ? HEDGE_DUE_DRAW : HEDGE_DUE_COIN;
    case HEDGE_EPOCHS:
        return hedge_segment_begins(state->round) ? HEDGE_DUE_PICK : HEDGE_DUE_NOTHING;
    }
    return HEDGE_DUE_NOTHING;
}

bool hedge_state_is_valid(const struct hedge_state *state, const struct hedge_run *game)
{
    const uint64_t played = state->round - game->first;
    const uint64_t draws_max = game->draws_max + (is_last(game, state->round) ? 1 : 0);
    return state->round >= game->first && played < game->rounds && state->expert < game->experts &&
           state->draws <= draws_max && state->draws <= played &&
           !(state->tossed && game->strategy != HEDGE_DARTBOARD) && !(state->tossed && played == 0);
}

struct charge hedge_charge(const struct hedge_state *state, const struct hedge_run *game,
                           const struct digest *stage)
{
    const enum hedge_due due = hedge_due(state, game);
    CHECK(due != HEDGE_DUE_START && due != HEDGE_DUE_NOTHING);
    struct charge charge = {.mechanism = MECHANISM_EXPONENTIAL,
                            .neighbours = NEIGHBOURS_REPLACE_ONE,
                            .epsilon_micro = game->draw_micro,
                            .count = 1,
                            .pass = *stage,
                            .row_first = game->first,
                            .row_count = state->round - game->first};
    if (due == HEDGE_DUE_COIN) {
        charge.epsilon_micro = game->coin_micro;
        charge.count = game->coins;
        charge.row_first = state->round - 1;
        charge.row_count = 1;
    } else if (due == HEDGE_DUE_DRAW || due == HEDGE_DUE_LAST) {
        if (due == HEDGE_DUE_LAST) {
            charge.mechanism = game->last_mechanism;
            charge.epsilon_micro = game->last_micro;
        }
        store_u64(charge.pass.byte, load_u64(charge.pass.byte) + state->round);
        charge.pass.byte[DRAW_BYTE] ^= UINT8_MAX;
    } else {
        charge.mechanism = MECHANISM_PURE;
        charge.row_count = (state->round + 1) / 2; /* the segment before */
        charge.row_first = state->round - charge.row_count;
    }
    return charge;
}

/* Uniform below count, exactly: words of an incomplete last turn are thrown away. */
static enum status draw_uniform(const struct random *random, uint64_t count, uint64_t *chosen)
{
    const uint64_t turns = UINT64_MAX / count;
    uint64_t word = 0;
    enum status status = STATUS_OK;
    do {
        status = random_fill(random, &word, sizeof word);
    } while (status == STATUS_OK && word / count >= turns);
    *chosen = status == STATUS_OK ? word % count : 0;
    return status;
}

static uint64_t clamped(int64_t loss, uint64_t one)
{
    const uint64_t from_zero = mask_choose(mask_of(loss < 0), 0, (uint64_t)loss);
    return mask_choose(mask_of(from_zero > one), one, from_zero);
}

/* Tosses both coins always, so that the time does not tell which of them refreshed. */
enum status hedge_toss(const struct hedge_run *game, const struct random *random, int64_t loss,
                       bool *refresh)
{
    uint64_t word[2] = {0};
    uint64_t distance = clamped(loss, game->one);
    uint64_t weight = 0;
    bool kept = false;
    enum status status = random_fill(random, word, sizeof word);
    const uint64_t coin = word[1] >> COIN_SHIFT;
    noise_exponential_floor(&game->decay, &weight, &distance, 1);
    kept = coin < weight;
    if (status == STATUS_OK && coin - weight < NOISE_EXPONENTIAL_SLACK) { /* very rare */
        status = noise_exponential_above(&game->decay, random, distance, coin, &kept);
    }
    *refresh = ((word[0] >> REFRESH_SHIFT < game->refresh) | !kept) != 0;
    bytes_wipe(word, sizeof word);
    bytes_wipe(&distance, sizeof distance);
    bytes_wipe(&weight, sizeof weight);
    return status;
}

void hedge_note_coin(struct hedge_state *state, bool refresh)
{
    state->tossed = true;
    state->drawn = !refresh;
}

void hedge_note_draw(struct hedge_state *state, size_t expert)
{
    state->expert = expert;
    state->draws++;
    state->drawn = true;
}

/* Takes the grant; whether it is for a coin of this game. */
static bool pays_for_coin(struct grant **grant, const struct hedge_run *game)
{
    const struct charge charge = grant_use_up(grant);
    return charge.mechanism == MECHANISM_EXPONENTIAL && charge.epsilon_micro == game->coin_micro &&
           charge_count(&charge) == game->coins;
}

static enum status play_coin(struct hedge_state *state, const struct hedge_run *game,
                             struct grant **grant, const struct random *random,
                             const int64_t *latest)
{
    bool refresh = false;
    if (!pays_for_coin(grant, game)) {
        return STATUS_INVALID;
    }
    enum status status = hedge_toss(game, random, latest[state->expert], &refresh);
    if (status == STATUS_OK) {
        hedge_note_coin(state, refresh);
    }
    return status;
}

/* A draw or a pick. */
static enum status play_draw(struct hedge_state *state, const struct hedge_run *game,
                             struct grant **grant, const struct random *random,
                             const struct hedge_losses *losses, bool pick)
{
    size_t chosen = 0;
    enum status status = STATUS_INVALID;
    if (grant_charge(*grant)->epsilon_micro != game->draw_micro) {
        (void)grant_use_up(grant);
    } else if (pick) {
        status = select_noisy_max(grant, random, &chosen, losses->segment, game->experts,
                                  game->sensitivity);
    } else {
        status = select_exponential(grant, random, &chosen, losses->cumulative, game->experts,
                                    game->sensitivity);
    }
    if (status == STATUS_OK) {
        hedge_note_draw(state, chosen);
    }
    return status;
}

/* What is broadcast: nothing is left to explore, and nothing is drawn after it. */
static enum status play_last(struct hedge_state *state, const struct hedge_run *game,
                             struct grant **grant, const struct random *random,
                             const int64_t *cumulative)
{
    size_t chosen = 0;
    enum status status = STATUS_INVALID;
    if (grant_charge(*grant)->epsilon_micro != game->last_micro) {
        (void)grant_use_up(grant);
    } else if (game->last_mechanism == MECHANISM_PURE) {
        status =
            select_permute_and_flip(grant, random, &chosen, cumulative, game->experts, game->moved);
    } else {
        status = select_exponential(grant, random, &chosen, cumulative, game->experts, game->moved);
    }
    if (status == STATUS_OK) {
        hedge_note_draw(state, chosen);
    }
    return status;
}

enum status hedge_play(struct hedge_state *state, const struct hedge_run *game,
                       struct grant **grant, const struct random *random,
                       const struct hedge_losses *losses)
{
    const enum hedge_due due = hedge_due(state, game);
    enum status status = STATUS_OK;
    CHECK(due != HEDGE_DUE_NOTHING && state->expert < game->experts);
    if (due == HEDGE_DUE_START) {
        uint64_t chosen = 0;
        CHECK(*grant == NULL);
        status = draw_uniform(random, game->experts, &chosen);
        if (status == STATUS_OK) {
            state->expert = chosen;
            state->draws = 0; /* the game before, if there was one, is forgotten */
            state->drawn = true;
        }
        return status;
    }
    CHECK(*grant != NULL);
    if (due == HEDGE_DUE_LAST) {
        return play_last(state, game, grant, random, losses->cumulative);
    }
    return due == HEDGE_DUE_COIN
               ? play_coin(state, game, grant, random, losses->latest)
               : play_draw(state, game, grant, random, losses, due == HEDGE_DUE_PICK);
}

void hedge_next(struct hedge_state *state, const struct hedge_run *game)
{
    CHECK(hedge_due(state, game) == HEDGE_DUE_NOTHING);
    state->round++;
    state->tossed = false;
    state->drawn = game->experts == 1; /* nothing to choose, nothing to pay */
}

/* Dwork and Roth 2014, algorithm 17. Deviation: its losses <x, e_i> = x_i lie in [-1,1], for which
 * neither the range nor the regret of the weighted majority was proved; (1 + x_i)/2 lies in [0,1],
 * has the same best coordinate, and regrets half as much. */

enum { BITS_MAX = 40 };

void hedge_linear_losses(int64_t *loss, const double *x, size_t d, unsigned bits)
{
    CHECK(bits <= BITS_MAX);
    for (size_t i = 0; i < d; i++) {
        const double inside = x[i] >= -1 && x[i] <= 1 ? x[i] : x[i] < -1 ? -1 : 1;
        loss[i] = (int64_t)floor(ldexp(1 + inside, (int)bits - 1) + 0.5);
    }
}

void hedge_linear_answer(double *y, const uint64_t *plays, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += (double)plays[i];
    }
    CHECK(sum > 0);
    for (size_t i = 0; i < d; i++) {
        y[i] = (double)plays[i] / sum;
    }
}
