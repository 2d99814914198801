/* journal_shared.h - the journal in a PostgreSQL database. */

#ifndef DATABASE_JOURNAL_SHARED_H
#define DATABASE_JOURNAL_SHARED_H

#include "database/journal_place.h"

/** Fails as journal_open. */
MUST_USE enum status journal_shared_open(struct journal *out, const struct journal_options *options,
                                         struct why *why);

/** Reads the records after the last one that the journal's `each` or this has shown; of one that was opened to read. Fails as
 * `each`. */
MUST_USE enum status journal_shared_follow(const struct journal *journal, journal_visit *visit,
                                           void *visit_self, struct why *why);

#endif
