/* row_set.h - which rows of a pass are paid for: sorted ranges that neither overlap nor touch. A
 * pass taken in order of its rows is one range, however many charges it had. */

#ifndef DP_ROW_SET_H
#define DP_ROW_SET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_range {
    uint64_t first;
    uint64_t end; /* exclusive; > first */
};

/* Starts zeroed. */
struct row_set {
    struct row_range *range; /* (count), owned */
    size_t count;
    size_t capacity;
};

void row_set_free(struct row_set *set);

/** Returns whether a row of range is in the set. Cost O(log count). */
bool row_set_overlaps(const struct row_set *set, struct row_range range);

/** Makes room for one more range; fails with STATUS_NO_MEMORY, the set is then as before. */
MUST_USE enum status row_set_reserve(struct row_set *set);

/** Adds the rows of range, which may be there already. CHECKs that row_set_reserve made room. Cost
 * O(log count) at the end of the set, O(count) elsewhere. */
void row_set_add(struct row_set *set, struct row_range range);

#endif
