/* gate.h - the only way out of the agent for anything that depends on a record. It clips, spends,
 * draws the noise and packs one durable record; the noisy bytes can be read only once that record
 * is committed, and they are the same bytes for ever. */

#ifndef AGENT_GATE_H
#define AGENT_GATE_H

#include "base/bytes.h"
#include "base/random.h"
#include "base/status.h"
#include "base/why.h"
#include "dp/ledger.h"
#include "masks/site.h"
#include "protocol/record.h"
#include "task/answer.h"

#include <stdbool.h>
#include <stdint.h>

struct gate;

struct gate_request {
    struct digest job;
    uint32_t round;
    const char *task;
    struct digest invitation;
    struct charge charge;
    bool exact;               /* central trust: the coordinator adds the noise, once, to the sum */
    struct masks_site *masks; /* distributed trust: LISTED, and MASKED afterwards; else NULL */
    uint64_t shares;          /* with masks: how many make up the whole noise; else 0 */
    unsigned word_bytes;      /* of a number of the answer: as round_form or the masks say, */
    unsigned shift;  /* and to what it is rounded: round_form's; 0 of exact and masked ones */
    int64_t wall_ms; /* now, as the record will say */
};

/** Makes a gate with all that the policy allows. Fails with STATUS_NO_MEMORY. gate_free wipes. */
MUST_USE enum status gate_new(struct gate **out, const struct allowances *allowances,
                              const struct random *random);
void gate_free(struct gate *gate);

/** Recovery: takes a committed answer back, oldest first; blob is empty when its bytes were
 * dropped. Fails with STATUS_CORRUPT (the bytes do not match the digest), STATUS_NO_MEMORY. */
MUST_USE enum status gate_restore(struct gate *gate, const struct record *answer, uint64_t sequence,
                                  struct slice blob);

/** Returns whether the charge could be spent now, for this job: every allowance admits it, by the
 * very arithmetic that gate_answer spends by. why (may be NULL): the operator's sentence, when not.
 * Changes no balance. */
bool gate_covers(struct gate *gate, const struct charge *charge, const struct occasion *occasion,
                 struct why *why);

/** Returns the ledger as it stands at this time, to be shown: borrowed, until the gate's next call. */
const struct ledger *gate_ledger(struct gate *gate, int64_t wall_ms);

/** Returns whether there is noise for an answer of this sensitivity at this price: what gate_answer
 * would refuse by public numbers alone is better refused before anything is computed. shares: how many make up the
 * whole noise; 0: this site adds all of it. */
bool gate_has_noise(const struct charge *charge, bool exact, uint64_t sensitivity, uint64_t shares);

/** Returns the last round of a job that was answered, or -1: an earlier or equal one is never
 * answered anew. */
int64_t gate_last_round(const struct gate *gate, const struct digest *job);

/**
 * Turns an exact vector into a private answer: checks that the round is new, clips to the vector's
 * public bounds, spends, adds the noise of the grant: discrete Laplace of scale sensitivity/epsilon,
 * or discrete Gaussian; or, with masks, this site's share of it and then the masks. If agents share a round
 * out (vector->groups), which is never exact or masked, the numbers are placed afterwards. The answer stays
 * sealed until gate_committed. An exact request is spent in the same way and gets no noise: its bytes go only
 * to the trusted coordinator, and neither they nor their digest ever into a record.
 *
 * vector  in   takes: wiped and freed, whatever happens. Its bounds, and its noise, fit into words of the request's size
 * record  out  the answer's record; *blob its bytes, borrowed until gate_committed or gate_free;
 *              empty for an exact one; followed by what opens the masks
 *
 * Fails with STATUS_EXHAUSTED or STATUS_INVALID, nothing spent; STATUS_NO_RANDOM, STATUS_NO_MEMORY:
 * restart from the journal (nothing was committed, so nothing was spent).
 * Privacy: charge.epsilon for one replaced record of the charged rows.
 */
MUST_USE enum status gate_answer(struct gate *gate, struct record *record, struct slice *blob,
                                 struct private_vector *vector, const struct gate_request *request,
                                 struct why *why);

/** Returns whether the latest answer is this round's, exact, and its bytes are gone with the program
 * that computed them: then the same question may be computed again, which costs nothing more. */
bool gate_can_repeat(const struct gate *gate, const struct digest *job, uint32_t round);

/**
 * Takes an exact answer's bytes anew after a restart; the charge is in the journal already.
 *
 * vector  in  takes: wiped and freed, whatever happens
 *
 * Fails with STATUS_INVALID (another invitation, or other records than were paid for),
 * STATUS_NO_MEMORY. CHECKs gate_can_repeat.
 */
MUST_USE enum status gate_repeat(struct gate *gate, struct private_vector *vector,
                                 const struct gate_request *request, struct why *why);

/** The record of the pending answer is durable, under this sequence number: its bytes may be read.
 */
void gate_committed(struct gate *gate, uint64_t sequence);

struct gate_answer_view {
    struct digest job;
    uint32_t round;
    struct digest invitation;
    struct digest digest;
    uint64_t size;
    uint64_t sequence;
    uint64_t rows;      /* that its charge is for */
    unsigned shift;     /* its words count steps of 2^shift of the grid's */
    bool exact;         /* without noise, and in memory only */
    struct slice bytes; /* size 0 when they were dropped */
    struct slice masks; /* of a masked answer: masks_site_unpack takes it; a secret */
};

/** Returns the latest committed answer, or false when there is none. */
bool gate_latest(const struct gate *gate, struct gate_answer_view *out);

/** Its round is closed: drops the bytes; charge and digest stay in the journal. Returns whether
 * there were bytes, whose record's blob can be forgotten. */
bool gate_drop(struct gate *gate);

#endif
