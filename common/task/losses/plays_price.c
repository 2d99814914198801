/* plays_price.c - the events of a game added up, and what a last pick may spend beside them. */

#include "task/losses/plays_price.h"

#include "account/renyi.h"
#include "job/reach.h"
#include "task/losses/stage.h"

#include <math.h>

/* The price of all events of a game, by three measures. */
struct parts {
    uint64_t epsilon_micro;
    double rho; /* sum of range^2/8, of what is pure epsilon^2/2 */
    struct cost cost;
};

static struct parts parts_of(const struct hedge_run *game, const struct filter *filter)
{
    struct charge charge[HEDGE_CHARGES_MAX];
    struct parts parts = {0};
    const size_t count = hedge_charges(charge, game);
    for (size_t i = 0; i < count; i++) {
        const double range = (double)charge[i].epsilon_micro * 1e-6;
        parts.cost = cost_add(parts.cost, reach_event_cost(filter, charge[i]));
        const double each = charge[i].mechanism == MECHANISM_EXPONENTIAL ? 8 : 2;
        parts.rho += (double)charge_count(&charge[i]) * range * range / each;
        parts.epsilon_micro += charge_count(&charge[i]) * charge[i].epsilon_micro;
    }
    return parts;
}

struct charge plays_charge(const struct stage *stage, const struct filter *filter,
                           uint64_t epsilon_micro)
{
    const struct round_plays *plays = &losses_stage(stage)->plays;
    struct charge whole = {.mechanism = MECHANISM_PURE};
    struct charge charge[HEDGE_CHARGES_MAX];
    struct cost most = {0};
    double rho = 0;

    if (plays->game_count == 1 && hedge_charges(charge, plays->game) == 1) {
        return charge[0];
    }
    for (size_t i = 0; i < plays->game_count; i++) {
        const struct parts parts = parts_of(&plays->game[i], filter);
        most = cost_max(most, parts.cost);
        rho = fmax(rho, parts.rho);
        whole.epsilon_micro =
            parts.epsilon_micro > whole.epsilon_micro ? parts.epsilon_micro : whole.epsilon_micro;
    }
    if (filter->order == 0 || whole.epsilon_micro <= epsilon_micro) {
        return whole;
    }
    whole = (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                            .sigma_micro = (uint64_t)(1e6 * (1 - 1e-9) / sqrt(2 * rho))};
    while (whole.sigma_micro > 1 && reach_event_cost(filter, whole).renyi_nano < most.renyi_nano) {
        whole.sigma_micro -= 1 + whole.sigma_micro / 1000000;
    }
    return whole;
}

bool plays_spends_rho(const struct plays_spending *spending)
{
    return spending->by_rho && spending->delta_atto > 0;
}

double plays_zcdp(double epsilon, uint64_t delta_atto)
{
    return delta_atto == 0 ? 0 : zcdp_from_epsilon(epsilon, (double)delta_atto * 1e-18);
}

void plays_set_last(struct hedge_run *game, const struct filter *filter,
                    const struct plays_spending *spending, double rho)
{
    struct hedge_run without = *game;
    hedge_run_set_last(&without, MECHANISM_EXPONENTIAL, 1);
    if (without.last_micro == 0) {
        return;
    }
    without.last_micro = 0;
    const struct parts parts = parts_of(&without, filter);
    if (!plays_spends_rho(spending) && parts.epsilon_micro < spending->epsilon_micro) {
        hedge_run_set_last(game, MECHANISM_PURE, spending->epsilon_micro - parts.epsilon_micro);
        return;
    }
    const double left = fmax(rho * (1 - 1e-9) - parts.rho * (1 + 1e-9), 0);
    const uint64_t micro = (uint64_t)(1e6 * (1 - 1e-9) * sqrt(8 * left));
    const bool has_draw = without.draws_max < game->draws_max;
    if (micro >= game->draw_micro || has_draw) {
        hedge_run_set_last(game, MECHANISM_EXPONENTIAL,
                           micro > game->draw_micro ? micro : game->draw_micro);
    }
}
