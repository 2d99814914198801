/* hedge_run.h - a plan in whole numbers, as it is run: what each draw, coin and pick costs, exactly. Public, the same
 * for everyone who reads the job. hedge.h plans; hedge_play.h plays. */

#ifndef EXPERTS_HEDGE_RUN_H
#define EXPERTS_HEDGE_RUN_H

#include "dp/charge.h"
#include "experts/hedge.h"
#include "noise/exponential.h"

struct hedge_run {
    enum hedge_strategy strategy;
    size_t experts;
    uint64_t first;       /* the round it begins with: 0, or its segment's */
    uint64_t rounds;      /* that it plays, from first on */
    uint64_t one;         /* what a mean loss of 1 is in one round's sums: records 2^grid_bits */
    uint64_t sensitivity; /* that draws are told, sums' grid units; at least what one unit moves */
    uint64_t draw_micro;  /* epsilon of one draw, or of one pick */
    uint64_t draws_max;
    uint64_t coin_micro;            /* dartboard: range of one bit, rounded up */
    uint64_t coins;                 /* dartboard: bits that one unit moves */
    uint64_t refresh;               /* dartboard: p in units of 2^-53 */
    uint64_t moved;                 /* what one unit moves a cumulative sum by, at most */
    enum mechanism last_mechanism;  /* of the last pick: PURE, permute-and-flip, or EXPONENTIAL */
    uint64_t last_micro;            /* its epsilon; 0: the last play is as any other */
    struct noise_exponential decay; /* exp(-eta) per grid unit, the draws' own */
};

struct hedge_grid {
    uint64_t records; /* whose losses a round sums, >= 1; the problem's, where it has any */
    unsigned bits;    /* a record's loss is a whole number up to 2^bits; <= 40 */
};

/* Events of a run, at most: draws, coins, the last pick. */
enum { HEDGE_CHARGES_MAX = 3 };

/**
 * Makes a run of a plan. The epsilon of a draw is rounded down to millionths, and eta = epsilon/(2
 * sensitivity) follows it. Where eta is the best without privacy, `sensitivity` is what makes it
 * so.
 *
 * Fails with STATUS_INVALID: the grid does not fit the problem, sums would leave 62 bits, a draw's
 * epsilon is below a millionth, noise of that scale does not exist; why says what to change.
 * Ensures hedge_charges together cost at most the problem's (epsilon, delta), by the accountants
 * that hold for adaptive orders - for theorem by theorem 11.2.
 */
MUST_USE enum status hedge_run_init(struct hedge_run *game, const struct hedge_plan *plan,
                                    enum hedge_strategy strategy,
                                    const struct hedge_problem *problem, struct hedge_grid grid,
                                    struct why *why);

/**
 * Makes the runs of a play whose horizon is unknown, one a segment. One draw more than the problem
 * has rounds is played, to choose what is left in the end: it belongs to the segment of the last
 * round, whose plan has paid for it, as the first of its draws looks at no losses.
 *
 * game     out  (hedge_segment_count(problem->rounds))
 * plan     in   as many, of hedge_doubling for the same problem; not for epochs
 *
 * Fails and ensures as hedge_run_init, for each of them: a unit is in the losses of one.
 */
MUST_USE enum status hedge_runs_init(struct hedge_run *game, const struct hedge_plan *plan,
                                     enum hedge_strategy strategy,
                                     const struct hedge_problem *problem, struct hedge_grid grid,
                                     struct why *why);

/**
 * Makes the run's last play a choice of its own, by the mechanism at hand, at the sensitivity that the
 * sums really have. It comes in place of that play's coin and draw: rwm and theorem then make
 * `rounds` - 2 draws at most, as the first play looks at nothing. Nothing is played after it, so that
 * it changes nothing of the regret of the rounds.
 *
 * last_micro  in  > 0, its epsilon
 *
 * Does nothing for one expert, one play, and epochs, whose picks have the whole budget each.
 */
void hedge_run_set_last(struct hedge_run *game, enum mechanism mechanism, uint64_t last_micro);

/** Returns the run that a round belongs to. */
const struct hedge_run *hedge_run_at(const struct hedge_run *game, size_t count, uint64_t round);

/** Writes what the whole run costs one unit, for ledgers: a charge each for draws, coins and the last
 * pick, as far as there are any; returns how many. Pass and rows are for the caller to fill in. */
size_t hedge_charges(struct charge charge[HEDGE_CHARGES_MAX], const struct hedge_run *game);

#endif
