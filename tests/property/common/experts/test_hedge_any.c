/* Plans and games of random problems: each keeps the budget, is finite, and can be played. The seed
 * is fixed. */

#include "experts/hedge_terms.h"
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
    struct hedge_run game;
    struct charge charge[HEDGE_CHARGES_MAX];
    struct privacy_event event[2];
    struct why why = {""};
    const struct hedge_grid grid = {problem->records > 0 ? (uint64_t)problem->records : 3, 8};
    if (hedge_run_init(&game, plan, strategy, problem, grid, &why) != STATUS_OK) {
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

/* Whether a dartboard of this p and eta keeps the budget: the formulas of hedge.h. */
static bool board_fits(const struct hedge_problem *problem, double p, double eta)
{
    const double rounds = (double)problem->rounds;
    const double n = problem->records > 0 ? problem->records : 1;
    const double c = fmin(fmax(problem->participations, 1), rounds);
    const double mean = rounds * (p - (1 - p) * expm1(-eta));
    const double draws = fmin(ceil(mean + 6 * sqrt(mean)), rounds);
    const struct privacy_event event[2] = {ranged(hedge_coin_range(eta / n, p), (uint64_t)c),
                                           ranged(2 * eta * c / n, (uint64_t)draws)};
    return hedge_cost(event, 2, problem->delta) <= problem->epsilon;
}

/* Exact to the last digits at the p that is taken. Another p may be better by half the step of one
 * more draw, and by the error of the search. */
Test(hedge_any, a_dartboards_eta_is_the_largest_at_its_p_and_nearly_at_any)
{
    static const double factor[] = {0.1, 0.5, 0.8, 0.95, 1.05, 1.25, 2, 10};
    struct seeded_random dice;
    int bound = 0;
    seeded_random_init(&dice, 78);
    for (int i = 0; i < PROBLEMS; i++) {
        const struct hedge_problem problem = any_problem(&dice);
        struct hedge_plan plan;
        if (hedge_plan(&plan, HEDGE_DARTBOARD, &problem, NULL) != STATUS_OK ||
            plan.privacy_is_free || problem.experts == 1) {
            continue;
        }
        const double p = plan.refresh_probability;
        const double slack = 1e-3 + 1 / (double)plan.refreshes_max;
        bound++;
        cr_expect(board_fits(&problem, p, plan.eta * (1 - 1e-9)), "problem %d", i);
        cr_expect(!board_fits(&problem, p, plan.eta * (1 + 1e-9)), "problem %d: more fits", i);
        for (size_t j = 0; j < sizeof factor / sizeof *factor; j++) {
            cr_expect(p * factor[j] >= 1 ||
                          !board_fits(&problem, p * factor[j], plan.eta * (1 + slack)),
                      "problem %d, p %g: %g times as large is better", i, p, factor[j]);
        }
    }
    cr_assert(bound > PROBLEMS / 3, "%d", bound);
}
