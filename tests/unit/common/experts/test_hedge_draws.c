/* A play's draws and picks are the mechanisms' own, from the same stream, at the whole sensitivity of
 * the game. At half of it they would differ. */

#include "dp/select.h"
#include "experts/hedge_play.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>

enum { EXPERTS = 6, RECORDS = 12, BITS = 10, SEEDS = 40 };

/* Two grants for what is due: the play's and the twin's. */
static void grants(struct grant *grant[2], const struct hedge_state *state,
                   const struct hedge_run *game)
{
    const struct digest stage = {{1}};
    const struct charge charge = hedge_charge(state, game, &stage);
    for (size_t i = 0; i < 2; i++) {
        struct ledger *ledger = ledger_new((struct price){UINT64_MAX, 0});
        cr_assert_eq(ledger_spend(ledger, &grant[i], &charge, NULL), STATUS_OK);
        ledger_free(ledger);
    }
}

static void compare(enum hedge_strategy strategy)
{
    const struct hedge_problem problem = {.experts = EXPERTS,
                                          .rounds = 64,
                                          .epsilon = 1,
                                          .delta = strategy == HEDGE_EPOCHS ? 0 : 1e-6,
                                          .records = RECORDS,
                                          .participations = 1};
    const int64_t sum[EXPERTS] = {9000, 2000, 7000, 1000, 3000, 5000};
    const struct hedge_losses losses = {.cumulative = sum, .latest = sum, .segment = sum};
    struct hedge_plan plan;
    struct hedge_run game;
    cr_assert_eq(hedge_plan(&plan, strategy, &problem, NULL), STATUS_OK);
    cr_assert_eq(
        hedge_run_init(&game, &plan, strategy, &problem, (struct hedge_grid){RECORDS, BITS}, NULL),
        STATUS_OK);
    cr_assert_gt(game.sensitivity, 1, "half of 1, rounded up, is 1");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct hedge_state state = {.round = 1, .tossed = strategy == HEDGE_DARTBOARD};
        struct seeded_random stream[2];
        struct grant *grant[2];
        size_t expected = 0;
        for (size_t i = 0; i < 2; i++) {
            seeded_random_init(&stream[i], seed);
        }
        const struct random random = seeded_random_interface(&stream[0]);
        const struct random twin = seeded_random_interface(&stream[1]);
        grants(grant, &state, &game);
        cr_assert_eq(
            strategy == HEDGE_EPOCHS
                ? select_noisy_max(&grant[1], &twin, &expected, sum, EXPERTS, game.sensitivity)
                : select_exponential(&grant[1], &twin, &expected, sum, EXPERTS, game.sensitivity),
            STATUS_OK);
        cr_assert_eq(hedge_play(&state, &game, &grant[0], &random, &losses), STATUS_OK);
        cr_expect_eq(state.expert, expected, "strategy %d, seed %u", (int)strategy, (unsigned)seed);
    }
}

Test(hedge_draws, a_draw_has_the_whole_sensitivity)
{
    compare(HEDGE_THEOREM);
    compare(HEDGE_RWM);
    compare(HEDGE_DARTBOARD);
}

Test(hedge_draws, a_pick_has_the_whole_sensitivity)
{
    compare(HEDGE_EPOCHS);
}
