/* jobs_private.h - what jobs.c, which connects, leads and changes, jobs_read.c, jobs_follow.c and jobs_declined.c share. */

#ifndef DATABASE_JOBS_PRIVATE_H
#define DATABASE_JOBS_PRIVATE_H

#include "database/database.h"
#include "database/job_schema.h"
#include "database/jobs.h"
#include "database/lease.h"

#include <string.h>

enum { JOBS_URL_BYTES = 1024, JOBS_PLACE_BYTES = 128 };

struct jobs {
    char url[JOBS_URL_BYTES];
    char place[JOBS_PLACE_BYTES]; /* for messages */
    char own[JOB_SCHEMA_OWN_BYTES];
    struct database *database; /* NULL: there is no connection now */
    struct lease *lease;       /* NULL: this one does not lead */
    bool borrows;              /* the lease is another's: jobs_beside */
    int64_t term;
    bool collects;                  /* the list is of the jobs that are led */
    struct jobs_follower *follower; /* NULL: jobs_follow has not been called */
    char *followed;     /* what jobs_follow tells, owned; its first line is the latest list's */
    int64_t listed_ms;  /* when jobs_list was answered last */
    enum status follow; /* what came of the follower's latest question, */
    struct why because; /* and why */
};

enum { JOBS_TOLD_MAX = 2 * JOBS_LED_MAX };

/* Who declines jobs here, on the way to the database. Starts zeroed, but for its holder. */
struct jobs_told {
    struct digest holder; /* drawn: two coordinators may have one name and one process number */
    struct {
        uint32_t number; /* 0: free */
        char names[JOBS_LINE_BYTES];
        bool changed;       /* since it was written */
        int64_t written_ms; /* when it was written last, or tried */
    } of[JOBS_TOLD_MAX];
};

void jobs_told_take(struct jobs_told *told, uint32_t number, const char *names);

/** Returns the place of what is due to be written; JOBS_TOLD_MAX: nothing is. */
size_t jobs_told_due(const struct jobs_told *told, int64_t now_ms);

/** Writes what is due at a place. told: a copy, for it waits for the server. */
MUST_USE enum status jobs_told_write(struct jobs *jobs, const struct jobs_told *told, size_t place,
                                     struct why *why);

/** Notes that what stood at a place of the copy was written, or could not be. */
void jobs_told_note(struct jobs_told *told, const struct jobs_told *copy, size_t place,
                    bool written, int64_t now_ms);

/** Draws an id. Fails with STATUS_NO_RANDOM. */
MUST_USE enum status jobs_draw(struct digest *id, struct why *why);

/** Copies a line for people; what does not fit, or cannot be read by them, ends it. */
void jobs_take_line(char *line, size_t room, struct slice text);

/* The jobs that are led, as many as run at the same time. What an earlier leader said counts no more. */
#define JOBS_LED                                                                                   \
    "(SELECT number FROM hedgerow_job WHERE ending IS NULL"                                        \
    " AND led = (SELECT term FROM hedgerow_lease) ORDER BY number LIMIT 16) AS led"

/** Ends the thread of jobs_follow, and forgets what it told. */
void jobs_unfollow(struct jobs *jobs);

/** Has jobs_follow tell the list that was read now, and nothing that was asked for before. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status jobs_follow_listed(struct jobs *jobs, const struct jobs_row *rows,
                                        size_t count);

/* What one statement finds of a submission. */
struct jobs_found {
    uint32_t number; /* 0: it is not there */
    size_t open;     /* of its submitter */
    int64_t last;    /* the latest number that was given: it changes with every submission */
};

MUST_USE enum status jobs_find_at(struct jobs *jobs, struct jobs_found *found,
                                  const char *submitter, const struct digest *id, struct why *why);

/** Asks about one job: as jobs_ask, but STATUS_IO where the server refuses, which is that job's alone. */
MUST_USE enum status jobs_ask_of_job(struct jobs *jobs, struct pg_result **answer,
                                     const char *statement, const struct database_value *value,
                                     size_t count, struct why *why);

/** Asks as jobs.h says. Every statement does the same again when it is performed twice. */
MUST_USE enum status jobs_ask(struct jobs *jobs, struct pg_result **answer, const char *statement,
                              const struct database_value *value, size_t count, struct why *why);

#endif
