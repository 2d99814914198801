/* cohort.h - which agents are admitted, and what each has done in the round that is open. The list
 * is as long as the roster; nothing in it grows with the model. */

#ifndef COORDINATOR_COHORT_H
#define COORDINATOR_COHORT_H

#include "base/bytes.h"
#include "base/status.h"
#include "protocol/machine.h"

#include <stdbool.h>
#include <stdint.h>

enum standing {
    STANDING_SILENT,   /* has neither answered nor declined */
    STANDING_OFFERED,  /* has said which answer it will give: that binds it */
    STANDING_PULLING,  /* the answer is on its way into a staging vector */
    STANDING_ANSWERED, /* is in the sum */
    STANDING_DECLINED,
    STANDING_REFUSED /* broke the protocol in this round: not counted */
};

struct member {
    struct peer peer;
    bool admitted; /* false: revoked during this round, kept only if it is in the sum */
    bool seen;     /* has said HELLO since this program started */
    bool ready;
    uint32_t rounds_closed; /* as it last said */
    enum standing standing;
    struct digest answer; /* from STANDING_OFFERED on */
    int64_t offered_ms;   /* the queue's order */
    double *own; /* (D) its released answer, where the stage makes an expert of it; owned */
};

struct cohort {
    struct member *member; /* (count) sorted by name, owned */
    size_t count;
};

/** Takes a new roster; members keep what they have done. Fails with STATUS_NO_MEMORY, unchanged. */
MUST_USE enum status cohort_set_roster(struct cohort *cohort, const struct peer *peer,
                                       size_t count);
void cohort_free(struct cohort *cohort);

/** Returns the admitted member of that name, or NULL. */
struct member *cohort_find(struct cohort *cohort, const struct peer *peer);

/** Wipes the digests of what was offered, for when the round is over: that of an exact answer of few
 * possible values tells which it was. */
void cohort_forget_answers(struct cohort *cohort);

/** A new round: all standings back to silent, members who left dropped, answers forgotten and own
 * models freed. */
void cohort_begin_round(struct cohort *cohort);

/** Returns how many members have that standing (admitted or not). */
size_t cohort_count(const struct cohort *cohort, enum standing standing);
size_t cohort_count_ready(const struct cohort *cohort);

/** Returns whether nobody is left to wait for: every admitted member has answered, declined or been
 * refused. False for an empty roster. */
bool cohort_is_complete(const struct cohort *cohort);

/** Returns the member whose offer waits longest, or NULL. */
struct member *cohort_next_offer(struct cohort *cohort);

#endif
