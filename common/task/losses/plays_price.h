/* plays_price.h - what the draws of a losses stage cost and what is left of its share for the last pick: for plays.c. */

#ifndef TASK_LOSSES_PLAYS_PRICE_H
#define TASK_LOSSES_PLAYS_PRICE_H

#include "dp/filter.h"
#include "experts/hedge_run.h"
#include "job/job.h"

#include <stdbool.h>
#include <stdint.h>

/* How a stage's share is spent. */
struct plays_spending {
    uint64_t epsilon_micro;
    uint64_t delta_atto;
    bool
        by_rho; /* the job has charges that have no pure epsilon: what is pure would cost more beside them than its
                    bounded range does */
};

/** Returns whether it is spent in zCDP. */
bool plays_spends_rho(const struct plays_spending *spending);

/** Returns what (epsilon, delta) allows in zCDP; 0 without a delta. */
double plays_zcdp(double epsilon, uint64_t delta_atto);

/**
 * Returns the one charge of an answer, which stands for draws, coins and the last pick of several games: the sum of a
 * game's epsilons where it is at most epsilon_micro, else that of the Gaussian which costs at least as much at every Renyi
 * order. With several games it is the most, as a unit is in one of them.
 *
 * Source: rho = sum of range^2/8; Cesar and Rogers 2021.
 */
struct charge plays_charge(const struct stage *stage, const struct filter *filter,
                           uint64_t epsilon_micro);

/**
 * Gives the last pick what draws and coins leave of the share: by pure epsilon as permute-and-flip, or, where that sum is
 * not what is charged, in zCDP as the exponential mechanism, up to rho. Without the last play's own draw there is always as
 * much left as that would have cost. Where a dartboard's coins and draws leave less, its last play stays as it is.
 */
void plays_set_last(struct hedge_run *game, const struct filter *filter,
                    const struct plays_spending *spending, double rho);

#endif
