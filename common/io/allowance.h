/* allowance.h - how much each of many names may do: a bucket for a name. There is room for some; a name that is new when all
 * places are taken has the place of the name that has most left. Mostly that bucket is full again, and nothing is
 * forgotten. */

#ifndef IO_ALLOWANCE_H
#define IO_ALLOWANCE_H

#include "io/log_sink.h"
#include "protocol/machine.h"

enum { ALLOWANCE_NAMES = 256 };

struct allowance_terms {
    uint64_t burst; /* a full bucket's */
    uint64_t per_s;
};

/* Starts zeroed. */
struct allowance {
    struct allowance_name {
        char name[PEER_NAME_BYTES]; /* empty: free */
        struct bucket bucket;
    } place[ALLOWANCE_NAMES];
};

/** Takes amount from the name's bucket; returns false, taking nothing, when it is not there. Cost O(ALLOWANCE_NAMES). */
bool allowance_take(struct allowance *allowance, const char *name, int64_t now_ms, uint64_t amount,
                    struct allowance_terms terms);

#endif
