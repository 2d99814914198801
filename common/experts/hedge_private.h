/* hedge_private.h - what the planner and the game made of its plan both compute, and the steps of a
 * play without grants: for audits and tests, whose accounts are kept elsewhere. */

#ifndef EXPERTS_HEDGE_PRIVATE_H
#define EXPERTS_HEDGE_PRIVATE_H

#include "account/event.h"
#include "experts/hedge_play.h"

/** Returns what the events cost at delta, by the accountants whose bounds hold when a transcript
 * decides which of them comes next; rounded up. */
double hedge_cost(const struct privacy_event *event, size_t count, double delta);

/** Returns sum of range^2/8, what the events cost in zCDP, rounded up. */
double hedge_rho(const struct privacy_event *event, size_t count);

/** Returns the bounded range of a bit that keeps with probability (1-p) exp(-x) when x moves by at
 * most `moved` and is never negative: moved + ln(1 + (1-p)(1-exp(-moved))/p), rounded up. */
double hedge_coin_range(double moved, double p);

/** Draws whether COIN refreshes, the expert kept so far having lost `loss` in the latest round. */
MUST_USE enum status hedge_toss(const struct hedge_game *game, const struct random *random,
                                int64_t loss, bool *refresh);

/** Writes down what a coin, or a draw or pick, came to. */
void hedge_note_coin(struct hedge_state *state, bool refresh);
void hedge_note_draw(struct hedge_state *state, size_t expert);

#endif
