/* hedge_private.h - what the planner and the game made of its plan both compute. For this room. */

#ifndef EXPERTS_HEDGE_PRIVATE_H
#define EXPERTS_HEDGE_PRIVATE_H

#include "account/event.h"

/** Returns what the events cost at delta, by the accountants whose bounds hold when a transcript
 * decides which of them comes next; rounded up. */
double hedge_cost(const struct privacy_event *event, size_t count, double delta);

/** Returns the bounded range of a bit that keeps with probability (1-p) exp(-x) when x moves by at
 * most `moved` and is never negative: moved + ln(1 + (1-p)(1-exp(-moved))/p), rounded up. */
double hedge_coin_range(double moved, double p);

#endif
