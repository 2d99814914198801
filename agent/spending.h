/* spending.h - how much of the policy's total was used up at what time, for a drawing: bounded, however long the journal is. */

#ifndef AGENT_SPENDING_H
#define AGENT_SPENDING_H

#include <stddef.h>
#include <stdint.h>

enum { SPENDING_POINTS = 512 };

#define SPENDING_MIXED UINT32_MAX /* as a job: several, which are no longer told apart */

/* After the charges up to a time. */
struct spending_point {
    int64_t wall_ms;
    uint32_t job; /* that the difference to the point before was charged to */
    uint64_t used_micro;
};

/* Starts zeroed. In the journal's order. */
struct spending {
    struct spending_point point[SPENDING_POINTS];
    size_t count;
    int64_t grain_ms; /* charges of one job within this time are one point; 0: each is a point */
};

/** Adds a charge's effect: one whose time is before the latest point's - a clock was set back - as of that time, as the ledger
 * counts it. The latest point is always exact; where there is no room, earlier ones of one job become one, and at
 * last the two earliest. */
void spending_add(struct spending *spending, const struct spending_point *point);

#endif
