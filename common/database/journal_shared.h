/* journal_shared.h - the journal in a PostgreSQL database. */

#ifndef DATABASE_JOURNAL_SHARED_H
#define DATABASE_JOURNAL_SHARED_H

#include "database/journal_place.h"

/** Fails as journal_open. */
MUST_USE enum status journal_shared_open(struct journal *out, const struct journal_options *options,
                                         struct why *why);

#endif
