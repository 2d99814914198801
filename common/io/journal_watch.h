/* journal_watch.h - tells somebody of every record of a journal: of those that it holds when they are read, and of each new one
 * once it is durable. For what is shown of a program; the machine learns nothing of it. */

#ifndef IO_JOURNAL_WATCH_H
#define IO_JOURNAL_WATCH_H

#include "io/journal.h"
#include "protocol/record.h"

struct journal_watch {
    /** blob: what lies beside the record, borrowed; empty where it has none, or none any more. */
    void (*note)(void *self, const struct record *record, struct slice blob);
    void *self;
    struct journal inner; /* what is watched; set by journal_watch_begin */
};

/** Puts the watch between a journal and its user: *journal is replaced, and closing it closes the one that is watched. watch:
 * kept until then. For a new record it hears by the journal's `told`. A record that cannot be read is not told; the journal's
 * user finds it. */
void journal_watch_begin(struct journal_watch *watch, struct journal *journal);

#endif
