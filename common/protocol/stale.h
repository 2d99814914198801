/* stale.h - which records' blobs are needed no longer. A machine notes a record while it reads its journal or once
 * what replaces it is durable, and asks for the forgetting when it may act. A death in between loses nothing: the
 * next start notes the record again, because its blob is still there. */

#ifndef PROTOCOL_STALE_H
#define PROTOCOL_STALE_H

#include "base/status.h"
#include "protocol/machine.h"

#include <stddef.h>
#include <stdint.h>

struct stale_record {
    uint64_t sequence;
    bool secret; /* to be overwritten */
};

/* Starts zeroed. Oldest first. */
struct stale {
    struct stale_record *record; /* (count) owned */
    size_t count;
    size_t capacity;
};

/** Notes a record that holds a blob. Fails with STATUS_NO_MEMORY: restart from the journal. */
MUST_USE enum status stale_add(struct stale *stale, uint64_t sequence, bool secret);

/** Asks for what was noted, as far as it fits beside EFFECTS_LEFT other effects. The rest waits for the next call. */
void stale_forget(struct stale *stale, struct effects *effects);

/** Gives the list back; it may be used again. */
void stale_free(struct stale *stale);

#endif
