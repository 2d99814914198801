/* The play as a machine: what is due when, what it costs, what it refuses, what it remembers. */

#include "experts/hedge_play.h"

#include "lab/composition/account.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <string.h>

enum { K = 4 };

static struct hedge_run game_of(enum hedge_strategy strategy, const struct hedge_problem *problem,
                                struct hedge_grid grid)
{
    struct hedge_plan plan;
    struct hedge_run game;
    struct why why = {""};
    cr_assert(hedge_plan(&plan, strategy, problem, &why) == STATUS_OK, "%s", why.text);
    cr_assert(hedge_run_init(&game, &plan, strategy, problem, grid, &why) == STATUS_OK, "%s",
              why.text);
    return game;
}

static const struct hedge_problem usual = {
    .experts = K, .rounds = 200, .epsilon = 1, .delta = 1e-6};
static const struct hedge_grid unit_grid = {1, 6};

static bool is_same(const struct hedge_state *a, const struct hedge_state *b)
{
    return a->round == b->round && a->expert == b->expert && a->draws == b->draws &&
           a->tossed == b->tossed && a->drawn == b->drawn;
}

/* A whole play on made-up losses; checks every step. Returns what the ledger says was spent. */
static struct cost play_all(const struct hedge_run *game, uint64_t *draws)
{
    struct seeded_random seeded;
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    const struct digest stage = {{9}};
    struct hedge_state state = {0};
    int64_t cumulative[K] = {0};
    int64_t latest[K] = {0};
    const struct hedge_losses losses = {cumulative, latest, cumulative};
    seeded_random_init(&seeded, 5);
    const struct random random = seeded_random_interface(&seeded);
    for (uint64_t round = 0; round < game->rounds; round++) {
        int steps = 0;
        while (hedge_due(&state, game) != HEDGE_DUE_NOTHING) {
            const enum hedge_due due = hedge_due(&state, game);
            struct grant *grant = NULL;
            cr_assert((due == HEDGE_DUE_START) == (round == 0));
            if (due != HEDGE_DUE_START) {
                const struct charge charge = hedge_charge(&state, game, &stage);
                cr_assert(charge_is_valid(&charge));
                cr_assert(charge.row_first + charge.row_count <= round);
                cr_assert(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
            }
            cr_assert(hedge_play(&state, game, &grant, &random, &losses) == STATUS_OK);
            cr_assert(grant == NULL && ++steps <= 2);
            cr_assert(hedge_state_is_valid(&state, game));
        }
        for (size_t i = 0; i < K; i++) {
            latest[i] = (int64_t)seeded_random_below(&seeded, game->one + 1);
            cumulative[i] += latest[i];
        }
        hedge_next(&state, game);
    }
    *draws = state.draws;
    const struct cost spent = ledger_balance(ledger, ALLOWANCE_TOTAL).spent;
    ledger_free(ledger);
    return spent;
}

static struct account cost_of(const struct hedge_run *game, double delta)
{
    struct charge charge[HEDGE_CHARGES_MAX];
    struct privacy_event event[2];
    struct account account;
    const size_t count = hedge_charges(charge, game);
    cr_assert(count >= 1);
    for (size_t i = 0; i < count; i++) {
        event[i] = charge_event(&charge[i]);
    }
    cr_assert(account_ask(&account, event, count,
                          (struct composition_question){.wants_epsilon = true, .at = delta},
                          NULL) == STATUS_OK);
    return account;
}

Test(hedge_play, charges_by_the_round_never_exceed_those_of_the_stage)
{
    for (int strategy = 0; strategy < HEDGE_STRATEGIES; strategy++) {
        const struct hedge_run game = game_of((enum hedge_strategy)strategy, &usual, unit_grid);
        struct charge charge[HEDGE_CHARGES_MAX];
        uint64_t draws = 0;
        uint64_t most = 0;
        const struct cost spent = play_all(&game, &draws);
        const size_t count = hedge_charges(charge, &game);
        for (size_t i = 0; i < count; i++) {
            most += charge[i].epsilon_micro * charge[i].count;
        }
        cr_expect(count == (strategy == HEDGE_DARTBOARD ? 2 : 1));
        cr_expect(spent.epsilon_micro <= most && draws <= game.draws_max);
        if (strategy == HEDGE_EPOCHS) {
            cr_expect(spent.epsilon_micro == 1000000 && draws == 7, "%d", (int)draws);
        } else if (strategy == HEDGE_DARTBOARD) {
            cr_expect(spent.epsilon_micro == game.coin_micro + draws * game.draw_micro);
        } else {
            cr_expect(draws == 199 && spent.epsilon_micro == 199 * game.draw_micro);
        }
    }
}

/* In every unit: the sum of the charges is within the budget, eta is that of the plan but for what
 * whole millionths take away, and no larger. */
Test(hedge_play, whole_numbers_keep_the_budget_and_nearly_the_eta)
{
    static const struct hedge_problem problem[] = {
        {.experts = K, .rounds = 200, .epsilon = 1, .delta = 1e-6},
        {.experts = K, .rounds = 10000, .epsilon = 0.3, .delta = 1e-6},
        {.experts = K, .rounds = 500, .epsilon = 1, .delta = 1e-6, .records = 50},
        {.experts = K,
         .rounds = 500,
         .epsilon = 1,
         .delta = 1e-6,
         .records = 50,
         .participations = 20},
        {.experts = K,
         .rounds = 100,
         .epsilon = 1,
         .delta = 1e-6,
         .records = 100000,
         .participations = 3},
    };
    for (size_t i = 0; i < sizeof problem / sizeof problem[0]; i++) {
        const double n = problem[i].records;
        const struct hedge_grid grid = {n > 0 ? (uint64_t)n : 1, 6};
        for (int strategy = 0; strategy < HEDGE_EPOCHS; strategy++) {
            struct hedge_plan plan;
            const struct hedge_run game = game_of((enum hedge_strategy)strategy, &problem[i], grid);
            cr_assert(hedge_plan(&plan, (enum hedge_strategy)strategy, &problem[i], NULL) ==
                      STATUS_OK);
            const double eta =
                (double)game.draw_micro * (double)game.one / (2e6 * (double)game.sensitivity);
            cr_expect(eta <= plan.eta * (1 + 1e-12), "%zu %d", i, strategy);
            cr_expect(eta >= plan.eta * (1 - 2.1e-6 / plan.draw_epsilon) || eta >= plan.eta * 0.999,
                      "%zu %d: %g of %g", i, strategy, eta, plan.eta);
            cr_expect(cost_of(&game, 1e-6).high <= problem[i].epsilon);
            const uint64_t c = problem[i].participations > 0 ? problem[i].participations : 1;
            cr_expect(game.sensitivity >= (n > 0 ? c << 6 : game.one));
        }
    }
}

Test(hedge_play, refuses_grids_that_do_not_fit)
{
    struct hedge_problem problem = usual;
    struct hedge_plan plan;
    struct hedge_run game;
    struct why why = {""};
    cr_assert(hedge_plan(&plan, HEDGE_RWM, &problem, NULL) == STATUS_OK);
    cr_expect(hedge_run_init(&game, &plan, HEDGE_RWM, &problem, (struct hedge_grid){1, 41}, &why) ==
              STATUS_INVALID);
    cr_expect(hedge_run_init(&game, &plan, HEDGE_RWM, &problem, (struct hedge_grid){0, 1}, &why) ==
              STATUS_INVALID);
    cr_expect(hedge_run_init(&game, &plan, HEDGE_RWM, &problem,
                             (struct hedge_grid){UINT64_C(1) << 50, 10}, &why) == STATUS_INVALID);
    problem.records = 7;
    cr_expect(hedge_run_init(&game, &plan, HEDGE_RWM, &problem, (struct hedge_grid){8, 1}, &why) ==
              STATUS_INVALID);
    problem = (struct hedge_problem){
        .experts = K, .rounds = UINT64_C(1) << 40, .epsilon = 0.1, .delta = 1e-6};
    cr_assert(hedge_plan(&plan, HEDGE_RWM, &problem, NULL) == STATUS_OK);
    cr_expect(hedge_run_init(&game, &plan, HEDGE_RWM, &problem, (struct hedge_grid){1, 1}, &why) ==
              STATUS_INVALID);
    cr_expect(strstr(why.text, "millionth") != NULL);
}

/* A grant for anything else is used up, and changes nothing. */
Test(hedge_play, refuses_a_grant_for_something_else)
{
    const struct hedge_run game = game_of(HEDGE_DARTBOARD, &usual, unit_grid);
    const int64_t losses[K] = {0};
    const struct hedge_losses seen = {losses, losses, losses};
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    const struct random random = seeded_random_interface(&seeded);
    for (int due = 0; due < 2; due++) {
        const struct hedge_state before = {.round = 1, .tossed = due == 1};
        for (int wrong = 0; wrong < 4; wrong++) {
            const struct digest stage = {{1}};
            struct charge charge = hedge_charge(&before, &game, &stage);
            struct hedge_state state = before;
            struct grant *grant = NULL;
            charge.pass.byte[3] = (uint8_t)(due * 4 + wrong);
            charge.epsilon_micro += wrong == 0 ? 1 : 0;
            charge.mechanism = wrong == 1 ? MECHANISM_PURE : charge.mechanism;
            charge.count += wrong == 2 ? 1 : 0;
            cr_assert(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
            const enum status status = hedge_play(&state, &game, &grant, &random, &seen);
            const bool right = wrong == 3 || (wrong == 2 && due == 1);
            cr_expect(status == (right ? STATUS_OK : STATUS_INVALID), "%d %d", due, wrong);
            cr_expect(grant == NULL);
            cr_expect(right || is_same(&state, &before));
        }
    }
    ledger_free(ledger);
}

Test(hedge_play, a_failing_source_changes_nothing)
{
    const struct hedge_run game = game_of(HEDGE_DARTBOARD, &usual, unit_grid);
    const int64_t losses[K] = {0};
    const struct hedge_losses seen = {losses, losses, losses};
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    for (int step = 0; step < 3; step++) {
        const struct hedge_state before = {.round = step > 0, .tossed = step == 2};
        const struct digest stage = {{(uint8_t)(1 + step)}};
        struct hedge_state state = before;
        struct grant *grant = NULL;
        struct seeded_random seeded;
        seeded_random_init(&seeded, 5);
        seeded.failing_after = 4;
        const struct random random = seeded_random_interface(&seeded);
        if (step > 0) {
            const struct charge charge = hedge_charge(&before, &game, &stage);
            cr_assert(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
        }
        cr_expect(hedge_play(&state, &game, &grant, &random, &seen) == STATUS_NO_RANDOM);
        cr_expect(is_same(&state, &before) && grant == NULL);
    }
    ledger_free(ledger);
}

/* A state from a journal goes on as before; other states are refused. */
Test(hedge_play, states_that_cannot_be_are_told_from_those_that_can)
{
    const struct hedge_run game = game_of(HEDGE_DARTBOARD, &usual, unit_grid);
    const struct hedge_run fresh = game_of(HEDGE_RWM, &usual, unit_grid);
    cr_expect(hedge_state_is_valid(&(struct hedge_state){0}, &game));
    cr_expect(
        hedge_state_is_valid(&(struct hedge_state){.round = 3, .expert = 3, .draws = 3}, &game));
    cr_expect_not(hedge_state_is_valid(&(struct hedge_state){.round = 200}, &game));
    cr_expect_not(hedge_state_is_valid(&(struct hedge_state){.expert = K}, &game));
    cr_expect_not(hedge_state_is_valid(&(struct hedge_state){.round = 3, .draws = 4}, &game));
    cr_expect_not(hedge_state_is_valid(
        &(struct hedge_state){.round = 199, .draws = game.draws_max + 1}, &game));
    cr_expect_not(hedge_state_is_valid(&(struct hedge_state){.tossed = true}, &game));
    cr_expect_not(hedge_state_is_valid(&(struct hedge_state){.round = 3, .tossed = true}, &fresh));
}

/* What is outside of [0, one] counts as the nearest within: a loss of 0 is kept but for p, any
 * negative one, too. 20,000 coins: a chance of 1e-9 for each comparison, by 6 standard deviations.
 * */
Test(hedge_play, losses_outside_are_taken_for_the_nearest_within)
{
    struct hedge_run game = game_of(HEDGE_DARTBOARD, &usual, unit_grid);
    const int64_t one = (int64_t)game.one;
    const int64_t loss[] = {INT64_MIN, -1, 0, one, one + 1, INT64_MAX};
    const double p = ldexp((double)game.refresh, -53);
    const double eta = (double)game.draw_micro / (2e6 * (double)game.sensitivity);
    struct seeded_random seeded;
    struct ledger *ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
    uint64_t row = 0;
    seeded_random_init(&seeded, 5);
    const struct random random = seeded_random_interface(&seeded);
    for (int i = 0; i < 6; i++) {
        const int64_t latest[K] = {loss[i]};
        const struct hedge_losses seen = {.latest = latest};
        double refreshed = 0;
        for (int run = 0; run < 20000; run++) {
            struct hedge_state state = {.round = 1};
            const struct digest stage = {{1}};
            struct charge charge = hedge_charge(&state, &game, &stage);
            struct grant *grant = NULL;
            charge.row_first = row++;
            cr_assert(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
            cr_assert(hedge_play(&state, &game, &grant, &random, &seen) == STATUS_OK);
            refreshed += state.drawn ? 0 : 1;
        }
        const double wanted = i < 3 ? p : p + (1 - p) * (1 - exp(-eta * (double)one));
        cr_expect(fabs(refreshed / 20000 - wanted) < 6 * sqrt(wanted * (1 - wanted) / 20000));
    }
    ledger_free(ledger);
}

Test(hedge_play, one_expert_is_played_and_costs_nothing)
{
    const struct hedge_problem alone = {.experts = 1, .rounds = 5, .epsilon = 1, .delta = 1e-6};
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    const struct random random = seeded_random_interface(&seeded);
    for (int strategy = 0; strategy < HEDGE_STRATEGIES; strategy++) {
        const struct hedge_run game = game_of((enum hedge_strategy)strategy, &alone, unit_grid);
        struct charge charge[HEDGE_CHARGES_MAX];
        struct hedge_state state = {0};
        struct grant *none = NULL;
        cr_expect(hedge_play(&state, &game, &none, &random, &(struct hedge_losses){NULL}) ==
                  STATUS_OK);
        for (int round = 0; round < 5; round++) {
            cr_expect(hedge_due(&state, &game) == HEDGE_DUE_NOTHING && state.expert == 0);
            hedge_next(&state, &game);
        }
        cr_expect(hedge_charges(charge, &game) == 0);
    }
}

Test(hedge_play, a_play_with_nothing_due_stops_the_program, .signal = SIGABRT)
{
    const struct hedge_run game = game_of(HEDGE_EPOCHS, &usual, unit_grid);
    struct hedge_state state = {.round = 2};
    struct grant *none = NULL;
    cr_assert(hedge_play(&state, &game, &none, &(struct random){.fill = NULL},
                         &(struct hedge_losses){NULL}) == STATUS_OK);
}

/* Where the horizon is unknown: what falls due in each of the plays, the last pick among them, out of a
 * ledger for each game. Returns how many plays looked at nothing. */
static unsigned play_segments(const struct hedge_run *game, size_t games, uint64_t rounds)
{
    struct seeded_random seeded;
    struct hedge_state state = {0};
    int64_t sums[K] = {0};
    const struct hedge_losses losses = {sums, sums, sums};
    const struct digest stage = {{9}};
    struct ledger *ledger = NULL;
    unsigned starts = 0;
    seeded_random_init(&seeded, rounds);
    const struct random random = seeded_random_interface(&seeded);
    for (uint64_t play = 0; play <= rounds; play++) {
        const struct hedge_run *now = hedge_run_at(game, games, play);
        enum hedge_due due;
        while ((due = hedge_due(&state, now)) != HEDGE_DUE_NOTHING) {
            struct grant *grant = NULL;
            if (due == HEDGE_DUE_START) {
                cr_assert(play == now->first && ++starts > 0);
                ledger_free(ledger);
                ledger = ledger_new((struct price){UINT64_MAX - 1, 0});
            } else {
                const struct charge charge = hedge_charge(&state, now, &stage);
                cr_assert(charge.row_first >= now->first && charge.row_count > 0);
                cr_assert(charge.row_first + charge.row_count == play, "nothing that is to come");
                cr_assert(ledger_spend(ledger, &grant, &charge, NULL) == STATUS_OK);
            }
            cr_assert(hedge_play(&state, now, &grant, &random, &losses) == STATUS_OK);
        }
        struct charge charge[HEDGE_CHARGES_MAX];
        uint64_t most = 0;
        for (size_t i = 0; i < hedge_charges(charge, now); i++) {
            most += charge[i].epsilon_micro * charge_count(&charge[i]);
        }
        cr_assert(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro <= most, "play %d",
                  (int)play);
        cr_assert(hedge_state_is_valid(&state, now));
        hedge_next(&state, now);
    }
    cr_assert(game->strategy == HEDGE_DARTBOARD || state.draws == game[games - 1].rounds - 1);
    ledger_free(ledger);
    return starts;
}

Test(hedge_play, an_unknown_horizon_begins_anew_and_has_paid_for_its_last_pick)
{
    static const uint64_t rounds[] = {1, 2, 3, 7, 8, 100};
    for (int strategy = HEDGE_THEOREM; strategy <= HEDGE_DARTBOARD; strategy++) {
        for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
            struct hedge_problem problem = usual;
            struct hedge_plan whole;
            struct hedge_plan plan[7];
            struct hedge_run game[7];
            const size_t games = hedge_segment_count(rounds[i]);
            problem.rounds = rounds[i];
            cr_assert(games <= 7);
            cr_assert(hedge_doubling(&whole, plan, (enum hedge_strategy)strategy, &problem, NULL) ==
                      STATUS_OK);
            cr_assert(hedge_runs_init(game, plan, (enum hedge_strategy)strategy, &problem,
                                      unit_grid, NULL) == STATUS_OK);
            cr_expect_eq(play_segments(game, games, rounds[i]), games, "one start a segment");
        }
    }
}

/* The charge of a game whose eta is held to rho_max costs no more than that in zCDP, and nearly as
 * much. */
Test(hedge_play, a_plan_keeps_the_rho_that_it_is_held_to)
{
    for (int strategy = HEDGE_RWM; strategy <= HEDGE_DARTBOARD; strategy++) {
        for (uint64_t rounds = 1; rounds <= 1024; rounds *= 32) {
            struct hedge_problem problem = usual;
            struct charge charge[HEDGE_CHARGES_MAX];
            double rho = 0;
            problem.rounds = rounds;
            problem.rho_max = 0.001;
            const struct hedge_run game =
                game_of((enum hedge_strategy)strategy, &problem, unit_grid);
            const size_t count = hedge_charges(charge, &game);
            for (size_t i = 0; i < count; i++) {
                const double range = (double)charge[i].epsilon_micro / 1e6;
                rho += (double)charge_count(&charge[i]) * range * range / 8;
            }
            cr_expect(rho <= problem.rho_max && rho > 0.98 * problem.rho_max, "%g", rho);
        }
    }
}
