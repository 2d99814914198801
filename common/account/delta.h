/* delta.h - the events' own deltas: what they leave of a delta, and what they add to one. Not for
 * use outside this room. */

#ifndef ACCOUNT_DELTA_H
#define ACCOUNT_DELTA_H

#include "account/event.h"

/** Returns the delta that is left to the events when none of them failed, rounded down:
 * 1 - (1 - delta) / product of (1 - own delta)^count; delta itself when none can fail; 0 when just
 * nothing is left; -1 when they fail more often than delta allows. */
double delta_left(const struct privacy_event *events, size_t count, double delta);

/** The same rounded up; not below 0. */
double delta_left_above(const struct privacy_event *events, size_t count, double delta);

/** Returns 1 - (1 - delta) product of (1 - own delta)^count, rounded up, at most 1;
 * and the same rounded down. */
double delta_spent(const struct privacy_event *events, size_t count, double delta);
double delta_spent_below(const struct privacy_event *events, size_t count, double delta);

#endif
