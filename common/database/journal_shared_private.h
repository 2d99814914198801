/* journal_shared_private.h - what the two halves of the journal in PostgreSQL share: journal_shared.c opens it and writes,
 * journal_shared_read.c reads. Nothing else includes it. */

#ifndef DATABASE_JOURNAL_SHARED_PRIVATE_H
#define DATABASE_JOURNAL_SHARED_PRIVATE_H

#include "database/database.h"
#include "database/journal_shared.h"
#include "database/lease.h"
#include "io/journal_row.h"

enum { JOURNAL_SHARED_PLACE_BYTES = 128 };

struct journal_shared {
    struct database *database;
    struct lease *lease; /* NULL when read-only */
    uint32_t job;        /* of a queue, whose lease it is then; 0: it has its own */
    int64_t term;
    bool refuses; /* after a doubt: only a new opening tells what is there */
    char place[JOURNAL_SHARED_PLACE_BYTES];
    struct journal_mark last;
    struct journal_mark read; /* how far a reader has been shown it */
    struct why trouble;
};

/** Sets trouble to that, and returns the status for it. */
enum status journal_shared_led_by_another(struct journal_shared *journal);

/** The `each` of struct journal. */
MUST_USE enum status journal_shared_each(void *self, journal_visit *visit, void *visit_self,
                                         struct why *why);

/** Shows the records after `at`, and moves it after the last one shown. Fails as `each`. */
MUST_USE enum status journal_shared_read_on(struct journal_shared *journal, struct journal_mark *at,
                                            journal_visit *visit, void *visit_self,
                                            struct why *why);

#endif
