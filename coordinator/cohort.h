/* cohort.h - which agents are admitted, and what each has done in the round that is open. The list
 * is as long as the roster; nothing in it grows with the model. */

#ifndef COORDINATOR_COHORT_H
#define COORDINATOR_COHORT_H

#include "base/bytes.h"
#include "base/status.h"
#include "coordinator/shown.h"
#include "job/job.h"
#include "protocol/machine.h"
#include "task/close.h"

#include <stdbool.h>
#include <stdint.h>

enum standing {
    STANDING_SILENT,   /* has neither answered nor declined */
    STANDING_OFFERED,  /* has said which answer it will give: that binds it */
    STANDING_PULLING,  /* the answer is on its way into a staging vector */
    STANDING_ANSWERED, /* is in the sum */
    STANDING_DECLINED,
    STANDING_REFUSED,  /* broke the protocol in this round: not counted */
    STANDING_KEYED,    /* masked: its keys are there, and the roster is not made yet */
    STANDING_UNLISTED, /* masked: is not in this round's roster */
    STANDING_COUNT
};

/* What all are told at once; a step has no room for a message to each, so it is noted who has not been told yet. */
enum telling {
    TELL_RELEASE, /* of the latest round */
    TELL_INVITE,  /* to the open one */
    TELL_COUNT
};

enum { MISSED_MAX = 2 }; /* rounds that wait in vain for an agent, one after the other */

struct member {
    struct peer peer;
    bool admitted; /* false: revoked during this round, kept only if it is in the sum */
    bool seen;     /* has said HELLO since this program started */
    bool foreign;  /* said it last in another version of the protocol */
    bool ready;
    bool was_ready;         /* once since this program started */
    uint8_t declines;       /* it declines the job; that many HELLOs without a DECLINE end this */
    int64_t first_ms;       /* its first HELLO */
    int64_t heard_ms;       /* its latest frame */
    uint32_t rounds_closed; /* as it last said */
    struct shown shown;
    unsigned missed; /* rounds in a row that waited for it in vain */
    bool away;       /* in the last of these not one frame of it came */
    bool dragged;    /* in the last of these it offered an answer and did not deliver */
    bool cut; /* the transport cut it for an attack, and it has not come back in a later round */
    int64_t cut_ms;
    bool handed;   /* at a collector: its answer is in a part that is durable, */
    uint32_t part; /* of this number since the round was opened; 0: of an earlier one */
    unsigned
        doubled; /* how often in a row a part was refused because another coordinator had its name */
    bool invited;  /* to the open round, with its input if that is small */
    uint32_t slot; /* of these, where agents share the round out */
    bool
        looked; /* where agents look by turns: its answer is one of those that look in this round */
    enum standing standing; /* cohort_set_standing alone changes it */
    struct digest answer;   /* from STANDING_OFFERED on */
    uint64_t answer_bytes;
    uint32_t records;        /* that it looks at, where the job says a share; else 0 */
    int64_t offered_ms;      /* the queue's order among members of as many turns */
    unsigned turns;          /* how often it has given its staging vector up in this round */
    unsigned lost;           /* of these, to somebody who waited */
    bool untold[TELL_COUNT]; /* cohort_mark_untold alone changes it */
    int64_t *own;            /* (D) its released answer, where the stage keeps it by name; owned */
};

/* What most events ask is counted along the way: with 10,000 members few events may look at all of them. */
struct cohort {
    struct member *member; /* (count) sorted by name, owned */
    size_t count;
    uint32_t slots; /* the next of this round */
    size_t standing
        [STANDING_COUNT]; /* members that have it; of those not admitted all have answered */
    size_t admitted;
    size_t seen;
    size_t ready;    /* and admitted */
    size_t refusing; /* admitted, and decline the job */
    size_t settling; /* admitted and seen, and not ready so far */
    size_t awaited;  /* the last one found that the round waits for; where to look first */
    size_t untold[TELL_COUNT];
    size_t untold_next[TELL_COUNT]; /* where to look first */
    size_t behind;                  /* likewise, of those that do not know all closed rounds */
};

/** Takes a new roster: those agents of it that the job asks. Members keep what they have done. Fails with STATUS_NO_MEMORY,
 * unchanged. */
MUST_USE enum status cohort_set_roster(struct cohort *cohort, const struct job *job,
                                       const struct peer *peer, size_t count);
void cohort_free(struct cohort *cohort);

void cohort_set_standing(struct cohort *cohort, struct member *member, enum standing standing);

void cohort_mark_untold(struct cohort *cohort, struct member *member, enum telling what,
                        bool untold);
/** Returns the next member that has not been told, in the list's order, or NULL. Cost: together that of one look at all
 * members. */
struct member *cohort_next_untold(struct cohort *cohort, enum telling what);

/** Returns whether what is counted along the way is what is there. For tests: looks at all members. */
bool cohort_adds_up(const struct cohort *cohort);

/** Returns the admitted member of that name, or NULL. */
struct member *cohort_find(struct cohort *cohort, const struct peer *peer);
/** Returns whether the answer of an agent of that name is in the sum, admitted or not. */
bool cohort_has_answered(const struct cohort *cohort, const struct peer *peer);
bool cohort_admits(const struct cohort *cohort, const char *name);

/** Wipes the digests of what was offered once the round is over: that of an exact answer with few
 * possible values would tell the answer. */
void cohort_forget_answers(struct cohort *cohort);

/** Takes the own answers of those who have answered out of the cohort, in its order. own: out, (count), closing_own_free.
 * Fails with STATUS_NO_MEMORY. */
MUST_USE enum status cohort_take_own_answers(struct closing_own **own, size_t *count,
                                             struct cohort *cohort);

/** A new round: all standings back to silent, or to declined of those that decline the job; members that left are dropped,
 * answers forgotten and own answers freed. */
void cohort_begin_round(struct cohort *cohort);

/** Throws all answers away, to be asked for again: members that have answered, or were about to, are silent again, and members
 * that left are dropped. */
void cohort_gather_anew(struct cohort *cohort);

/** Returns how many members have that standing (admitted or not). */
size_t cohort_count(const struct cohort *cohort, enum standing standing);
size_t cohort_count_ready(const struct cohort *cohort);

/** Returns whether nobody is left to wait for. False for an empty roster. */
bool cohort_is_complete(struct cohort *cohort, int64_t now_ms, uint32_t settle_ms);

/** Returns whether every admitted member has said that it knows that many closed rounds. False for an empty roster. */
bool cohort_all_know(struct cohort *cohort, uint32_t rounds_closed);

/** Returns how many members are in the sum or may still come in. 0 only for an empty roster or when all have
 * declined or been refused. */
size_t cohort_count_possible(const struct cohort *cohort);

/** A round that was opened at opened_ms is over: those it waited for in vain have missed it. */
void cohort_note_missed(struct cohort *cohort, int64_t opened_ms, int64_t now_ms,
                        uint32_t settle_ms);

/** Notes an answer to an earlier round, or that it declined one: it is slow, not absent, and rounds wait
 * for it again. An agent that only offers, and does not deliver, does not count. */
void cohort_note_life(struct member *member);

/** Notes that a member which is not ready declines the rounds of the job: it stays so while it says it again with its HELLOs,
 * and is not ready. Returns whether it is new. */
bool cohort_note_refusal(struct cohort *cohort, struct member *member);

/** Notes a HELLO; returns whether it brings a member back that rounds no longer waited for. */
bool cohort_note_hello(struct cohort *cohort, struct member *member, bool ready, int64_t opened_ms,
                       int64_t now_ms);

/** Returns the member whose offer is next: those that rounds have given up come last; of the others those that lost
 * a place least often, and of these the one that waits longest. Or NULL. */
struct member *cohort_next_offer(struct cohort *cohort);

#endif
