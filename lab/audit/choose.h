/* choose.h - which events to judge a pair of neighbours by: chosen on samples that do not judge.
 * For this room alone. */

#ifndef AUDIT_CHOOSE_H
#define AUDIT_CHOOSE_H

#include "lab/audit/audit.h"

enum { CHOICE_SET_MAX = 4096 };

struct audit_choice {
    struct audit_event event[AUDIT_EVENTS]; /* kind, side, used, threshold */
    int64_t *member[2]; /* of AUDIT_AMONG on each side, ascending (CHOICE_SET_MAX); owned */
    size_t members[2];
    int64_t first; /* of the histogram */
    uint64_t width;
};

/**
 * Chooses from count scores of each side; both arrays are sorted by it.
 *
 * trials  in  how many runs will judge
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status audit_choose(struct audit_choice *choice, int64_t *const score[2],
                                  size_t count, uint64_t trials,
                                  const struct audit_options *options);
void audit_choice_free(struct audit_choice *choice);

/** Returns whether the event, number index, happened. */
bool audit_choice_hit(const struct audit_choice *choice, size_t index, int64_t score);

#endif
