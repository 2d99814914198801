/* adds_up.h - counts a cohort from its members, as a plain reference: the programs keep its counts along the way. */

#ifndef UNIT_COORDINATOR_ADDS_UP_H
#define UNIT_COORDINATOR_ADDS_UP_H

#include "coordinator/cohort.h"

#include <string.h>

/** Returns whether what is counted along the way is what is there. */
static inline bool adds_up(const struct cohort *cohort)
{
    struct cohort plain = {.count = cohort->count};
    bool listed = true;
    for (size_t i = 0; i < cohort->count; i++) {
        const struct member *member = &cohort->member[i];
        listed = listed && (member->admitted || member->standing == STANDING_ANSWERED);
        plain.standing[member->standing]++;
        plain.admitted += member->admitted;
        plain.seen += member->seen;
        plain.ready += member->admitted && member->ready;
        plain.refusing += member->admitted && member->declines > 0;
        plain.settling += member->admitted && member->seen && !member->was_ready;
        for (int what = 0; what < TELL_COUNT; what++) {
            plain.untold[what] += member->untold[what];
        }
    }
    return listed && memcmp(plain.standing, cohort->standing, sizeof plain.standing) == 0 &&
           memcmp(plain.untold, cohort->untold, sizeof plain.untold) == 0 &&
           plain.admitted == cohort->admitted && plain.seen == cohort->seen &&
           plain.ready == cohort->ready && plain.settling == cohort->settling &&
           plain.refusing == cohort->refusing;
}

#endif
