/* journal_place.h - opens a journal by its place: a folder of this machine (io/journal.h), or a PostgreSQL database that
 * several coordinators share. */

#ifndef DATABASE_JOURNAL_PLACE_H
#define DATABASE_JOURNAL_PLACE_H

#include "base/status.h"
#include "base/why.h"
#include "io/journal.h"

#include <stdbool.h>

struct lease;

/* A job of a queue in a database (jobs.h) has its journal in a schema of its own. Its statements carry the term of the queue's
 * lease. */
struct journal_part {
    uint32_t job;        /* its number; 0: the place has one journal, with a lease of its own */
    struct lease *lease; /* kept; not read where it is opened to read */
    int64_t term;
};

struct journal_options {
    const char *place; /* a folder, made when missing, 0700; or postgresql://... */
    const char *kind;  /* "coordinator": another program's is never taken for it */
    bool read_only;    /* beside a running program */
    struct journal_part part;
};

/** Whether a place is a database. */
bool journal_is_shared(const char *place);

/**
 * Opens, or makes, a place's journal. That of a database may be written by the one coordinator alone that leads; the header
 * comment of journal_shared.c says how that is made sure.
 *
 * Fails as journal_sqlite_open does. For a database: with STATUS_BUSY (why names the coordinator that leads), STATUS_AGAIN
 * (it does not answer now), STATUS_NOT_FOUND (read_only, and no journal), STATUS_INVALID (no URL; a server that does not
 * wait for its disk; another program's journal), STATUS_UNSUPPORTED (of another version), STATUS_NO_MEMORY.
 */
MUST_USE enum status journal_open(struct journal *out, const struct journal_options *options,
                                  struct why *why);

/** Whether another coordinator leads by now, or may: of what journal_open made for a database, as it was then. Its holder then
 * closes it, and tells agents nothing more: they are to find the one that leads. */
bool journal_is_lost(const struct journal *journal);

/** Returns the term under which it leads: of what journal_open made for a database, to write. What is written beside the journal
 * has to find the same term (collection.h). */
int64_t journal_term(const struct journal *journal);

/** Opens a place's journal beside a program that may be running, reads every record and closes it. job: of a queue in a
 * database, or 0. Fails as opening and `each` do. */
MUST_USE enum status journal_read(const char *place, uint32_t job, const char *kind,
                                  journal_visit *visit, void *visit_self, struct why *why);

/** Tries whether a place can serve as a journal's: as journal_folder_try, or asks the database. */
MUST_USE enum status journal_try(const char *place, struct why *why);

#endif
