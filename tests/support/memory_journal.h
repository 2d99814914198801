/* memory_journal.h - a journal in memory that can fail as a disk does. After a fault it refuses
 * everything until it is opened again, as the real one does. */

#ifndef SUPPORT_MEMORY_JOURNAL_H
#define SUPPORT_MEMORY_JOURNAL_H

#include "base/bytes.h"
#include "base/status.h"
#include "io/journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_record {
    uint8_t *body; /* (body_size) owned */
    size_t body_size;
    uint8_t *blob; /* (blob_size) owned; kept for the checkers when it is forgotten */
    size_t blob_size;
    bool forgotten;
    bool is_back_after_death; /* it was forgotten since the latest record and wiping */
};

enum journal_fault {
    JOURNAL_SOUND,
    JOURNAL_FAILS,        /* STATUS_IO, and certainly nothing was recorded */
    JOURNAL_UNKNOWN_LOST, /* STATUS_UNKNOWN_OUTCOME, and it was not */
    JOURNAL_UNKNOWN_KEPT  /* STATUS_UNKNOWN_OUTCOME, and it was */
};

struct memory_journal {
    struct memory_record *record; /* (count) owned; the sequence number is the place, from 1 */
    size_t count;
    bool broken;
    unsigned countdown;       /* calls until the fault; 0: none is due */
    enum journal_fault fault; /* which */
};

void memory_journal_init(struct memory_journal *journal);
void memory_journal_free(struct memory_journal *journal);

/** The next fault comes at the countdown-th call of append or forget from now, from 1. */
void memory_journal_plan(struct memory_journal *journal, unsigned countdown,
                         enum journal_fault fault);

/** As io/journal.h says; memory is not what fails here: it aborts without any. */
MUST_USE enum status memory_journal_append(struct memory_journal *journal, uint64_t *sequence,
                                           struct slice body, struct slice blob);
MUST_USE enum status memory_journal_forget(struct memory_journal *journal, uint64_t sequence);

/** Undoes what a death may undo: what was forgotten since the latest record is there again, unless something was wiped since. */
void memory_journal_die(struct memory_journal *journal);

/** As a program sees it after a start: it works again, and no fault is due. wipe forgets for good; closing does nothing. */
struct journal memory_journal_open(struct memory_journal *journal);

/** Returns what a replay tells of a record: its blob only when it is not forgotten. */
struct slice memory_journal_body(const struct memory_journal *journal, uint64_t sequence);
struct slice memory_journal_blob(const struct memory_journal *journal, uint64_t sequence);

#endif
