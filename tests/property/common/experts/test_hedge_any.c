/* Plans and games of any problem: whatever comes out keeps the budget, is finite, and plays. Fixed
 * seed; nothing is random but the problems. */

#include "experts/hedge_private.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { PROBLEMS = 50 };

static double between(struct seeded_random *dice, double low, double high)
{
    return exp(log(low) + seeded_random_unit(dice) * (log(high) - log(low)));
}

static struct hedge_problem any_problem(struct seeded_random *dice)
{
    struct hedge_problem problem = {.experts = (size_t)between(dice, 1, 1e6),
                                    .rounds = (uint64_t)between(dice, 1, 1e9),
                                    .epsilon = between(dice, 1e-4, 30)};
    problem.delta = seeded_random_below(dice, 4) == 0 ? 0 : between(dice, 1e-12, 0.2);
    if (seeded_random_below(dice, 2) == 0) {
        problem.records = floor(between(dice, 1, 1e6));
        problem.participations = (uint32_t)between(dice, 1, 1e4) - 1;
    }
    return problem;
}

static struct privacy_event ranged(double range, uint64_t count)
{
    return (struct privacy_event){.mechanism = MECHANISM_EXPONENTIAL,
                                  .parameter = range,
                                  .sensitivity = 1,
                                  .count = count,
                                  .sampling = 1};
}

static void expect_plan(const struct hedge_plan *plan, enum hedge_strategy strategy,
                        const struct hedge_problem *problem)
{
    cr_expect(isfinite(plan->regret_bound) && plan->regret_bound > 0);
    cr_expect(plan->regret_bound <= plan->regret_bound_textbook);
    cr_expect(plan->cap_probability >= 0 && plan->cap_probability < 0.01);
    cr_expect(plan->refreshes_max <= problem->rounds);
    if (strategy == HEDGE_RWM || strategy == HEDGE_DARTBOARD) {
        const struct privacy_event event[2] = {ranged(plan->draw_epsilon, plan->refreshes_max),
                                               ranged(plan->coin_range, plan->coins)};
        cr_expect(plan->eta > 0);
        cr_expect(hedge_cost(event, plan->coins > 0 ? 2 : 1, problem->delta) <= problem->epsilon);
    }
}

static bool expect_game(const struct hedge_plan *plan, enum hedge_strategy strategy,
                        const struct hedge_problem *problem)
{
    struct hedge_game game;
    struct charge charge[2];
    struct privacy_event event[2];
    struct why why = {""};
    const struct hedge_grid grid = {problem->records > 0 ? (uint64_t)problem->records : 3, 8};
    if (hedge_game_init(&game, plan, strategy, problem, grid, &why) != STATUS_OK) {
        cr_expect(why.text[0] != 0);
        return false;
    }
    const size_t count = hedge_charges(charge, &game);
    for (size_t i = 0; i < count; i++) {
        event[i] = charge_event(&charge[i]);
    }
    /* The pick's epsilon is rounded down to millionths, then up to what a double can hold. */
    cr_expect(hedge_cost(event, count, problem->delta) <= problem->epsilon * (1 + 1e-15));
    cr_expect(count >= 1 || (strategy == HEDGE_EPOCHS && problem->rounds == 1));
    return true;
}

Test(hedge_any, plans_and_games_keep_the_budget)
{
    struct seeded_random dice;
    int games = 0;
    seeded_random_init(&dice, 77);
    for (int i = 0; i < PROBLEMS; i++) {
        const struct hedge_problem problem = any_problem(&dice);
        for (int strategy = 0; strategy < HEDGE_STRATEGIES; strategy++) {
            struct hedge_plan plan;
            struct why why = {""};
            if (hedge_plan(&plan, (enum hedge_strategy)strategy, &problem, &why) != STATUS_OK) {
                cr_expect(strategy == HEDGE_THEOREM && (problem.epsilon > 1 || problem.delta == 0),
                          "%s", why.text);
            } else if (problem.experts > 1) {
                expect_plan(&plan, (enum hedge_strategy)strategy, &problem);
                games += expect_game(&plan, (enum hedge_strategy)strategy, &problem);
            }
        }
    }
    cr_log_info("%d games", games);
    cr_assert(games > PROBLEMS);
}
