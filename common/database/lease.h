/* lease.h - who leads among coordinators that share a journal in a database (journal_shared.c). */

#ifndef DATABASE_LEASE_H
#define DATABASE_LEASE_H

#include "base/status.h"
#include "base/why.h"
#include "database/database.h"

#include <stdbool.h>
#include <stdint.h>

struct lease;

/* How long a leader that falls silent keeps the others out; and how often it says that it is there. */
/* Which coordinators may lead and collect beside each other; it stands in the row (`version`), and whoever takes the lead writes
 * its own. A program refuses a later one. 1: journals up to version 3, and protocol up to 4. 2: journal 4, and protocol 5. 3: journal 5, and
 * protocol 6: a `learn` stage may share columns out, which one of before does not know. 4: journal 6, and protocol 7: a `correlate` has
 * fourth moments. 5: journal 7, and protocol 8: an iterate of `learn` may be an expert. 6: journal 8, and protocol 9: `learn` of
 * a number has another plan. */
enum { LEASE_VERSION = 6 };
#define LEASE_VERSION_TEXT "6"

/* A program of version 1 that is connected already does not look at `version` again. What it writes to take the lead leaves `guard`
 * as it is, and breaks this constraint, whose name the server tells it. NULL, while no later one has led, breaks none. */
#define LEASE_GUARD                                                                                \
    "CONSTRAINT \"coordinator is too old for this database: update hedgerow\" CHECK (guard = term)"

/* Versions from 2 on write their own to take the lead. One that is older than the one that led last breaks this. */
#define LEASE_LEAST                                                                                \
    "CONSTRAINT \"coordinator is older than the one that led: update hedgerow\""                   \
    " CHECK (version >= least)"

#define LEASE_COLUMNS                                                                              \
    "one boolean PRIMARY KEY DEFAULT true CHECK (one), kind text NOT NULL,"                        \
    " version bigint NOT NULL, term bigint NOT NULL, holder text NOT NULL,"                        \
    " until timestamptz NOT NULL, guard bigint, " LEASE_GUARD ", least bigint, " LEASE_LEAST

/* Of the row's columns `term` alone is a key. So a new leader waits for every statement that has begun with LEASE_HELD, and
 * such statements wait for it. A renewal of the lease waits for none. A statement that is slow for one job delays neither the
 * lease nor another job's statements. */
#define LEASE_KEY                                                                                  \
    " IF to_regclass('hedgerow_lease_term') IS NULL THEN"                                          \
    " CREATE UNIQUE INDEX hedgerow_lease_term ON hedgerow_lease (term); END IF;"                   \
    " IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('hedgerow_lease')"      \
    " AND attname = 'guard') THEN"                                                                 \
    " ALTER TABLE hedgerow_lease ADD guard bigint, ADD " LEASE_GUARD "; END IF;"                   \
    " IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('hedgerow_lease')"      \
    " AND attname = 'least') THEN"                                                                 \
    " ALTER TABLE hedgerow_lease ADD least bigint, ADD " LEASE_LEAST "; END IF;"

/* How each statement begins that writes as the one that leads: its first value is the term. `held` has a row while that is the
 * lease's, which stays so until the statement is committed. */
#define LEASE_HELD   "WITH held AS (SELECT FROM hedgerow_lease WHERE term = $1 FOR KEY SHARE)"

#define LEASE_LENGTH "interval '6 seconds'"
enum { LEASE_MS = 6000, LEASE_RENEWAL_MS = 1500 };

/**
 * Takes the lead if nobody has it, and keeps it: a thread renews it over a connection of its own until lease_free, which
 * gives it back.
 *
 * term  out  what every statement that writes has to find; nobody else ever has the same
 *
 * Fails with STATUS_BUSY (why names who leads), STATUS_NO_MEMORY, and as database_ask.
 */
MUST_USE enum status lease_take(struct lease **out, int64_t *term, struct database *database,
                                const char *url, struct why *why);

/** Whether somebody else leads by now, or may: the term has changed, or the lease could not be renewed in time. */
bool lease_is_lost(struct lease *lease);

/** Has lease_is_lost answer that it is, from now on: the outcome of a statement under its term is not known. The next leader
 * has a later term, and finds out. */
void lease_doubt(struct lease *lease);

/** Does nothing on NULL. */
void lease_free(struct lease *lease);

#endif
