/* From a plan in real numbers to a run in whole ones. The ledger counts millionths of epsilon, so
 * the draw's epsilon becomes whole first and eta is what it buys. The coin's range is computed from
 * that eta, rounded up; should the sum then exceed the budget by its last digit, the draw gives
 * way, a millionth at a time. */

#include "experts/hedge_run.h"

#include "base/check.h"
#include "experts/hedge_terms.h"
#include "noise/scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRID_BITS_MAX = 40, FEW = 1000 };

#define SUM_MAX         (UINT64_C(1) << 62)
#define SENSITIVITY_MAX (UINT64_C(1) << 42)

static const double micro = (double)EPSILON_MICRO_ONE;
static const double up = 1 + 16 * DBL_EPSILON;

static enum status check_grid(const struct hedge_problem *problem, struct hedge_grid grid,
                              struct why *why)
{
    if (grid.bits > GRID_BITS_MAX || grid.records < 1 || grid.records > SUM_MAX >> grid.bits ||
        problem->rounds > SUM_MAX / (grid.records << grid.bits)) {
        return why_refuse(why,
                          "the losses' sums over all rounds would leave 62 bits: choose a coarser "
                          "grid, or fewer rounds");
    }
    if (problem->records > 0 && problem->records != (double)grid.records) {
        return why_refuse(why, "a round sums another number of records than the plan was made for");
    }
    return STATUS_OK;
}

size_t hedge_charges(struct charge charge[HEDGE_CHARGES_MAX], const struct hedge_run *game)
{
    const bool pure = game->strategy == HEDGE_EPOCHS;
    /* Picks look at disjoint rounds. */
    const uint64_t draws = pure && game->draws_max > 0 ? 1 : game->draws_max;
    size_t count = 0;
    memset(charge, 0, HEDGE_CHARGES_MAX * sizeof *charge);
    if (draws > 0) {
        charge[count].mechanism = pure ? MECHANISM_PURE : MECHANISM_EXPONENTIAL;
        charge[count].epsilon_micro = game->draw_micro;
        charge[count++].count = draws;
    }
    if (game->coins > 0) {
        charge[count].mechanism = MECHANISM_EXPONENTIAL;
        charge[count].epsilon_micro = game->coin_micro;
        charge[count++].count = game->coins;
    }
    if (game->last_micro > 0) {
        charge[count].mechanism = game->last_mechanism;
        charge[count].epsilon_micro = game->last_micro;
        charge[count++].count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        charge[i].neighbours = NEIGHBOURS_REPLACE_ONE;
    }
    return count;
}

/* How many millionths a draw may cost to begin with. Where eta is the best without privacy and they
 * are few, one more than it needs: `sensitivity` then brings eta down to it. */
static uint64_t first_micro(const struct hedge_plan *plan)
{
    const double exact = plan->draw_epsilon * micro;
    return (uint64_t)(plan->privacy_is_free && exact < FEW ? ceil(exact) : floor(exact));
}

/* Fills what follows from draw_micro. least: the sensitivity that one unit has. */
static void fill(struct hedge_run *game, const struct hedge_plan *plan, uint64_t least,
                 uint64_t round_move)
{
    const double wanted =
        ceil((double)game->draw_micro * (double)game->one * up / (2 * micro * plan->eta));
    game->sensitivity =
        wanted > (double)least && wanted < (double)SUM_MAX ? (uint64_t)wanted : least;
    if (game->strategy == HEDGE_DARTBOARD) {
        const double eta = (double)game->draw_micro / (2 * micro * (double)game->sensitivity) * up;
        const double range = hedge_coin_range(eta * (double)round_move, plan->refresh_probability);
        game->coin_micro = (uint64_t)ceil(range * micro * up);
    }
}

static bool fits(const struct hedge_run *game, const struct hedge_problem *problem)
{
    struct charge charge[HEDGE_CHARGES_MAX];
    struct privacy_event event[HEDGE_CHARGES_MAX];
    const size_t count = hedge_charges(charge, game);
    for (size_t i = 0; i < count; i++) {
        event[i] = charge_event(&charge[i]);
    }
    return hedge_cost(event, count, problem->delta) <= problem->epsilon &&
           (problem->rho_max <= 0 || hedge_rho(event, count) <= problem->rho_max);
}

/* The largest draw_micro from the first one down for which everything fits. */
static enum status settle(struct hedge_run *game, const struct hedge_plan *plan,
                          const struct hedge_problem *problem, uint64_t least, uint64_t round_move,
                          struct why *why)
{
    for (game->draw_micro = first_micro(plan); game->draw_micro > 0; game->draw_micro--) {
        fill(game, plan, least, round_move);
        if (fits(game, problem)) {
            return noise_exponential_init(&game->decay, game->draw_micro,
                                          (uint128)2 * EPSILON_MICRO_ONE * game->sensitivity);
        }
    }
    return why_refuse(why,
                      "a draw's share of epsilon is below a millionth: play fewer rounds, or give "
                      "more epsilon");
}

static enum status settle_epochs(struct hedge_run *game, const struct hedge_problem *problem,
                                 uint64_t least, struct why *why)
{
    game->draw_micro = (uint64_t)floor(problem->epsilon * micro);
    game->sensitivity = least;
    const struct noise_scale scale = {2 * EPSILON_MICRO_ONE * least, game->draw_micro};
    if (game->draw_micro == 0 || least > SENSITIVITY_MAX || !noise_scale_is_valid(scale)) {
        return why_refuse(why,
                          "noise of scale 2 sensitivity/epsilon must be within 1/16 and 2^40 grid "
                          "steps: choose another grid or epsilon");
    }
    return STATUS_OK;
}

enum status hedge_run_init(struct hedge_run *game, const struct hedge_plan *plan,
                           enum hedge_strategy strategy, const struct hedge_problem *problem,
                           struct hedge_grid grid, struct why *why)
{
    *game = (struct hedge_run){
        .strategy = strategy, .experts = problem->experts, .rounds = problem->rounds};
    enum status status = check_grid(problem, grid, why);
    if (status != STATUS_OK || problem->experts == 1) { /* one expert: there is nothing to draw */
        game->one = status == STATUS_OK ? grid.records << grid.bits : 0;
        return status;
    }
    const uint64_t participations = problem->participations == 0 ? 1 : problem->participations;
    const uint64_t moved = participations < problem->rounds ? participations : problem->rounds;
    const bool by_record = problem->records > 0;
    game->one = grid.records << grid.bits;
    const uint64_t round_move = by_record ? UINT64_C(1) << grid.bits : game->one;
    const uint64_t least = by_record ? moved << grid.bits : game->one;
    game->moved = least;
    game->draws_max = plan->refreshes_max;
    game->coins = plan->coins;
    game->refresh = (uint64_t)ldexp(plan->refresh_probability, DBL_MANT_DIG);
    if (strategy == HEDGE_EPOCHS) {
        return settle_epochs(game, problem, least, why);
    }
    CHECK(plan->eta > 0 && plan->draw_epsilon > 0);
    return settle(game, plan, problem, least, round_move, why);
}

void hedge_run_set_last(struct hedge_run *game, enum mechanism mechanism, uint64_t last_micro)
{
    CHECK(last_micro > 0 && (mechanism == MECHANISM_PURE || mechanism == MECHANISM_EXPONENTIAL));
    if (game->experts == 1 || game->rounds < 2 || game->strategy == HEDGE_EPOCHS) {
        return;
    }
    if (game->draws_max > game->rounds - 2) {
        game->draws_max = game->rounds - 2;
    }
    game->last_mechanism = mechanism;
    game->last_micro = last_micro;
}

enum status hedge_runs_init(struct hedge_run *game, const struct hedge_plan *plan,
                            enum hedge_strategy strategy, const struct hedge_problem *problem,
                            struct hedge_grid grid, struct why *why)
{
    const size_t count = hedge_segment_count(problem->rounds);
    enum status status = STATUS_OK;
    CHECK(strategy != HEDGE_EPOCHS);
    for (size_t s = 0; s < count && status == STATUS_OK; s++) {
        const uint64_t length = UINT64_C(1) << s;
        struct hedge_problem part = *problem;
        part.rounds = length;
        status = hedge_run_init(&game[s], &plan[s], strategy, &part, grid, why);
        game[s].first = length - 1;
        game[s].rounds = s + 1 < count ? length : problem->rounds - game[s].first + 1;
    }
    return status;
}

const struct hedge_run *hedge_run_at(const struct hedge_run *game, size_t count, uint64_t round)
{
    size_t at = 0;
    while (at + 1 < count && game[at + 1].first <= round) {
        at++;
    }
    return &game[at];
}
