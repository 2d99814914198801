/* gate_private.h - the inside of the gate, shared by gate.c (what it does, in which order) and gate_kept.c (the answers that it
 * keeps). Nothing else includes it. */

#ifndef AGENT_GATE_PRIVATE_H
#define AGENT_GATE_PRIVATE_H

#include "agent/gate.h"
#include "dp/digest_table.h"
#include "noise/share.h"

struct answer {
    struct gate_answer_view view;
    uint8_t *data; /* owned */
    bool exists;
    bool restored; /* from the journal, by this program */
};

struct gate {
    struct ledger *ledger;
    const struct random *random;
    struct noise_share share; /* the latest answer's table: rounds of a stage have the same */
    struct digest_table job;  /* every job ever answered */
    uint32_t *last_round;     /* (cursor_capacity) of each of them, owned */
    size_t cursor_capacity;
    struct answer latest;
    struct answer pending; /* drawn, not yet known to be durable: sealed */
    struct digest latest_pass;
};

/** Wipes an answer's bytes, if there are any. */
void gate_drop_bytes(struct answer *answer);

/** Notes that a round of a job was answered: none up to it is answered anew. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status gate_advance(struct gate *gate, const struct digest *job, uint32_t round);

/** Seals the bytes of an answer, and after them what opens their masks; its digest goes into the record only when they are
 * private: that of an exact vector of few possible values would tell which it was. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status gate_seal(struct answer *answer, const struct private_vector *vector,
                               unsigned word_bytes, struct slice masks);

#endif
