/* window.h - what was charged in the last days, as many as the policy says: a ring of whole days. A charge of day d
 * counts until d + days is over, so it counts for at least days times 24 hours. Today is the latest
 * day on which anything was counted, or that of the question when it is later: a clock that runs
 * backwards frees nothing, and a question leaves nothing behind, so that what is counted follows
 * from the journal alone. */

#ifndef DP_WINDOW_H
#define DP_WINDOW_H

#include "base/wide.h"
#include "dp/filter.h"

enum { WINDOW_DAYS_MAX = 3660, DAY_MS = 86400000 };

/* Exact sums: of fewer than 2^64 costs, each below 2^64. */
struct wide_cost {
    uint128 epsilon_micro;
    uint128 delta_atto;
    uint128 renyi_nano;
};

struct window {
    uint32_t days;         /* 1 .. WINDOW_DAYS_MAX */
    int64_t today;         /* the latest day counted; since 1970 began; 0 at first */
    struct wide_cost *day; /* (days + 1) by day modulo days + 1, owned */
    struct wide_cost sum;  /* of all of them */
};

/** Fails with STATUS_NO_MEMORY. window_free leaves it zeroed. */
MUST_USE enum status window_new(struct window *window, uint32_t days);
void window_free(struct window *window);

/** Says at what time the next costs are counted. Cost: O(days that passed), never more than
 * days + 1. */
void window_advance(struct window *window, int64_t wall_ms);

/** Returns whether a cost that was counted on this day still counts at that time. */
bool window_holds(const struct window *window, int64_t wall_ms, int64_t day);

/** Takes back a cost that was counted on a day which the window holds today. */
void window_take(struct window *window, int64_t day, struct cost cost);

/** Counts a cost today. */
void window_put(struct window *window, struct cost cost);

/** Returns the sum at that time, saturated, as it would be without `before` and with `after`; before
 * is part of it. Cost as window_advance. */
struct cost window_sum(const struct window *window, int64_t wall_ms, struct cost before,
                       struct cost after);

#endif
