/* hedge_terms.h - a problem in the terms that the formulas of all strategies share, and what events cost together. For
 * planner, run, audits and tests. */

#ifndef EXPERTS_HEDGE_TERMS_H
#define EXPERTS_HEDGE_TERMS_H

#include "account/event.h"
#include "experts/hedge.h"
#include "experts/hedge_play.h"

/* n = records, c = participations, T = rounds */
struct hedge_terms {
    double rounds;
    double round_share; /* how far one unit moves one round's mean loss: 1, or 1/n */
    double total_share; /* and the cumulative one: 1, or c/n */
    uint64_t coins;     /* rounds that one unit moves: 1, or c */
    double eta_free;    /* sqrt(8 ln k/T); 0 for one expert */
    double epsilon;
    double delta;
    double rho;     /* that (epsilon, delta) allows */
    double rho_max; /* infinite where there is no limit */
};

/** Returns that many draws, or coins, of this bounded range. */
struct privacy_event hedge_ranged(double range, uint64_t count);

/** Whether the events are within epsilon, by the accountant, and within rho_max. */
bool hedge_fits(const struct hedge_terms *terms, const struct privacy_event *event, size_t count);

/** Returns what the events cost at delta, by the accountants whose bounds hold when a transcript
 * decides which of them comes next; rounded up. */
double hedge_cost(const struct privacy_event *event, size_t count, double delta);

/** Returns sum of range^2/8, what the events cost in zCDP, rounded up. */
double hedge_rho(const struct privacy_event *event, size_t count);

/** Returns the bounded range of a bit that keeps with probability (1-p) exp(-x) when x moves by at
 * most `moved` and is never negative: moved + ln(1 + (1-p)(1-exp(-moved))/p), rounded up. */
double hedge_coin_range(double moved, double p);

/**
 * Plans the dartboard: all of the plan but its bounds on the regret.
 *
 * plan  in-out  left as it is for one expert
 *
 * Fails with STATUS_INVALID: no eta above 0 is within the budget. Cost: about 350 questions of
 * hedge_fits.
 */
MUST_USE enum status hedge_plan_dartboard(struct hedge_plan *plan, const struct hedge_terms *terms,
                                          struct why *why);

/* The steps of a play without grants: for audits and tests, whose accounts are kept elsewhere. */

/** Draws whether COIN refreshes, the expert kept so far having lost `loss` in the latest round. */
MUST_USE enum status hedge_toss(const struct hedge_run *game, const struct random *random,
                                int64_t loss, bool *refresh);

/** Writes down what a coin, or a draw or pick, came to. */
void hedge_note_coin(struct hedge_state *state, bool refresh);
void hedge_note_draw(struct hedge_state *state, size_t expert);

#endif
