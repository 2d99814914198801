/* hedge_arena.h - a whole play of a private strategy on losses that were fixed beforehand, paid for
 * draw by draw from a ledger. */

#ifndef TESTS_HEDGE_ARENA_H
#define TESTS_HEDGE_ARENA_H

#include "dp/ledger.h"
#include "experts/hedge_play.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ARENA_MOST = 16 };

/* Writes round number `round` of the losses, whole numbers up to `one`. */
typedef void (*arena_losses)(int64_t *loss, size_t experts, uint64_t round, uint64_t rounds,
                             int64_t one, struct seeded_random *dice);

struct arena_outcome {
    double regret;   /* per round, against the best expert in hindsight, of the losses that fell */
    double expected; /* the same of independent draws of exp(-eta L): what the mean should be */
    uint64_t draws;
    struct cost spent;
};

/* <p, latest> for p ~ exp(-eta cumulative). */
static inline double arena_mean_loss(const struct hedge_run *game, const int64_t *cumulative,
                                     const int64_t *latest)
{
    const double eta = (double)game->draw_micro / (2e6 * (double)game->sensitivity);
    double sum = 0;
    double loss = 0;
    for (size_t i = 0; i < game->experts; i++) {
        const double weight = exp(-eta * (double)(cumulative[i] - cumulative[0]));
        sum += weight;
        loss += weight * (double)latest[i];
    }
    return loss / sum;
}

/* dice make the losses, chance plays. */
static inline struct arena_outcome arena_play(const struct hedge_run *game, arena_losses losses,
                                              uint64_t seed)
{
    struct seeded_random dice;
    struct seeded_random chance;
    struct hedge_state state = {0};
    int64_t cumulative[ARENA_MOST] = {0};
    int64_t latest[ARENA_MOST] = {0};
    int64_t segment[2][ARENA_MOST] = {{0}};
    int64_t suffered = 0;
    double expected = 0;
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX - 1, DELTA_ATTO_ONE - 1});
    const struct digest stage = {{1}};
    seeded_random_init(&dice, seed);
    seeded_random_init(&chance, seed + 1000);
    const struct random random = seeded_random_interface(&chance);
    cr_assert(game->experts <= ARENA_MOST);
    for (uint64_t round = 0; round < game->rounds; round++) {
        const struct hedge_losses seen = {cumulative, latest, segment[0]};
        if (hedge_segment_begins(round)) {
            memcpy(segment[0], segment[1], sizeof segment[0]);
            memset(segment[1], 0, sizeof segment[1]);
        }
        while (hedge_due(&state, game) != HEDGE_DUE_NOTHING) {
            struct grant *grant = NULL;
            if (hedge_due(&state, game) != HEDGE_DUE_START) {
                const struct charge charge = hedge_charge(&state, game, &stage);
                cr_assert(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
            }
            cr_assert(hedge_play(&state, game, &grant, &random, &seen) == STATUS_OK);
            cr_assert(grant == NULL && hedge_state_is_valid(&state, game));
        }
        losses(latest, game->experts, round, game->rounds, (int64_t)game->one, &dice);
        suffered += latest[state.expert];
        expected += arena_mean_loss(game, cumulative, latest);
        for (size_t i = 0; i < game->experts; i++) {
            cumulative[i] += latest[i];
            segment[1][i] += latest[i];
        }
        hedge_next(&state, game);
    }
    int64_t best = cumulative[0];
    for (size_t i = 1; i < game->experts; i++) {
        best = cumulative[i] < best ? cumulative[i] : best;
    }
    const double all = (double)game->one * (double)game->rounds;
    const struct arena_outcome outcome = {.regret = (double)(suffered - best) / all,
                                          .expected = (expected - (double)best) / all,
                                          .draws = state.draws,
                                          .spent = ledger_balance(ledger, ALLOWANCE_TOTAL).spent};
    ledger_free(ledger);
    return outcome;
}

#endif
