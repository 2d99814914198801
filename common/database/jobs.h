/* jobs.h - a queue's jobs in a PostgreSQL database: what was submitted, who leads the queue, how each job ended, and what it
 * left. The jobs' journals lie beside (journal_place.h). jobs.c tells the tables.
 *
 * Any number of programs may add, read and cancel. What begins or ends a job is the leader's alone: its statements carry the
 * term of its lease.
 *
 * Each call connects where there is no connection, and asks once more over a new one where an answer did not come. All fail
 * with STATUS_AGAIN (the database does not answer, or refuses: why repeats its words), STATUS_INVALID (it cannot be a queue's),
 * STATUS_UNSUPPORTED (a later version's) and STATUS_NO_MEMORY; those of the leader with STATUS_BUSY (another one leads). */

#ifndef DATABASE_JOBS_H
#define DATABASE_JOBS_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "database/journal_place.h"

#include <stdbool.h>
#include <stdint.h>

#define JOBS_KIND "queue" /* of the lease */

enum {
    JOBS_LINE_BYTES = 128,
    JOBS_ASIDE_BYTES = 896,
    JOBS_PIECE_BYTES = 1 << 20,
    JOBS_NUMBER_MAX = 999999999
};

struct jobs;

/** Makes what asks a database. url: kept by value. Nothing is opened. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status jobs_new(struct jobs **out, const char *url, struct why *why);

/** Makes one for another thread, with a connection of its own: it is led by the lease that of has now, and is to be freed
 * before that. It asks about one job; the list, and what is followed, are of's. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status jobs_beside(struct jobs **out, const struct jobs *of, struct why *why);

/** Lets its connection go until the next question. */
void jobs_rest(struct jobs *jobs);

/** Gives the lead back. Does nothing on NULL. */
void jobs_free(struct jobs *jobs);

/** Connects, and makes the tables where they are missing. */
MUST_USE enum status jobs_ready(struct jobs *jobs, struct why *why);

/** Whether this role may do what the leader does. Fails with STATUS_INVALID where it may not. */
MUST_USE enum status jobs_may_lead(struct jobs *jobs, struct why *why);

/** Takes the lead, where nobody has it; gives back what it had before. No journal of a job may be open. */
MUST_USE enum status jobs_lead(struct jobs *jobs, struct why *why);

/** From now on jobs_list and jobs_follow are a collector's: of the jobs that are led (jobs_set_led), and of no others. */
void jobs_collect(struct jobs *jobs);

/** Whether another one leads by now, or may; or nobody does here. */
bool jobs_is_lost(const struct jobs *jobs);

/** Says where a job's journal lies: of the leader, to write it. */
struct journal_part jobs_part(const struct jobs *jobs, uint32_t number);

/* A job as it stands in the database. */
struct jobs_row {
    uint32_t number;
    bool begun;
    bool over;                       /* it has an end */
    bool journal;                    /* not of a list */
    char submitted[JOBS_LINE_BYTES]; /* not of a list */
    char cancel[JOBS_LINE_BYTES];    /* not of a list; "" */
    char aside[JOBS_ASIDE_BYTES];    /* likewise: jobs_put_aside */
};

/** Lists all jobs by number, or those that are led. rows: out, malloc'd, the caller frees it. */
MUST_USE enum status jobs_list(struct jobs *jobs, struct jobs_row **rows, size_t *count,
                               struct why *why);

/** Reads one. Fails with STATUS_NOT_FOUND too. */
MUST_USE enum status jobs_look(struct jobs *jobs, struct jobs_row *row, uint32_t number,
                               struct why *why);

/** Read a job's text, or its end. text: out, malloc'd, with a zero behind it; the caller frees it. Fail with STATUS_NOT_FOUND
 * too. */
MUST_USE enum status jobs_text(struct jobs *jobs, char **text, size_t *size, uint32_t number,
                               struct why *why);
MUST_USE enum status jobs_end(struct jobs *jobs, char **text, size_t *size, uint32_t number,
                              struct why *why);

struct jobs_new_job {
    const char *submitter;   /* who: with id the same for one submission alone */
    const struct digest *id; /* NULL: one is drawn */
    const char *submitted;   /* a line for people */
    struct slice text;
    size_t open_most; /* how many jobs of the submitter may be open with it; 0: any number */
};

/** Adds a job: durable when it returns. number: out. Fails with STATUS_EXISTS too: the submission is there, under that
 * number. With STATUS_AGAIN it may be there, or come yet. With STATUS_REFUSED open_most are open: however
 * many add at once, there are never more. */
MUST_USE enum status jobs_add(struct jobs *jobs, uint32_t *number, const struct jobs_new_job *job,
                              struct why *why);

/** Looks for a submission: number is 0 where it is not there. open: out, how many jobs of its submitter are not over. */
MUST_USE enum status jobs_find(struct jobs *jobs, uint32_t *number, size_t *open,
                               const char *submitter, const struct digest *id, struct why *why);

/** Keeps who cancels a job; the first one stays. Fails with STATUS_INVALID too: it is over, or not there. */
MUST_USE enum status jobs_cancel(struct jobs *jobs, uint32_t number, const char *line,
                                 struct why *why);

/** Tell what changes with a job: two numbers for its row and its journal. For a job that is not there both are 0. */
MUST_USE enum status jobs_stamp(struct jobs *jobs, int64_t stamp[static 2], uint32_t number,
                                struct why *why);

/* The leader's alone. */

/** Says whether it leads a job from now on, for collectors: nobody's word of an earlier term counts. */
MUST_USE enum status jobs_set_led(struct jobs *jobs, uint32_t number, bool led, struct why *why);
/** Keeps why it has set a job aside, for people: until another term begins, which tries the job again. */
MUST_USE enum status jobs_put_aside(struct jobs *jobs, uint32_t number, const char *because,
                                    struct why *why);
/** Keeps that a job has begun. */
MUST_USE enum status jobs_mark_begun(struct jobs *jobs, uint32_t number, struct why *why);
/** Keeps a file of a job's results, in the place of one of that name. */
MUST_USE enum status jobs_put_result(struct jobs *jobs, uint32_t number, const char *name,
                                     struct slice bytes, struct why *why);
/** Keeps how a job ended: nothing is left to be done for it. */
MUST_USE enum status jobs_put_end(struct jobs *jobs, uint32_t number, struct slice text,
                                  struct why *why);

/** Tells how long a file of a job's results is; -1: there is none. */
MUST_USE enum status jobs_result_size(struct jobs *jobs, int64_t *size, uint32_t number,
                                      const char *name, struct why *why);

/** Reads a piece of one from an offset on, `room` bytes or fewer; none after its end. */
MUST_USE enum status jobs_read_result(struct jobs *jobs, void *to, size_t *got, size_t room,
                                      uint32_t number, const char *name, uint64_t offset,
                                      struct why *why);

/** Keeps the names of the sites that decline a job at this coordinator now, with ", " between; "": none does. It does not wait:
 * the thread of jobs_follow writes them, and writes them again every JOBS_DECLINED_MS. So any coordinator may tell, without a
 * term, and what one that died has told is soon forgotten. What cannot be written is tried again. */
void jobs_tell_declined(struct jobs *jobs, uint32_t number, const char *names);

/** Reads who declines a job at any of its coordinators: each name once, "..." after those for which there is room. */
MUST_USE enum status jobs_declined(struct jobs *jobs, char names[static JOBS_LINE_BYTES],
                                   uint32_t number, struct why *why);

enum { JOBS_DECLINED_MS = 10000 };

/** Tells what the leader has to hear of: text, NUL-ended and kept until the next call, is a line that changes with the list of
 * jobs, and behind it a line "NUMBER WHO" for each cancelled job that is not over. A thread asks the database every
 * JOBS_FOLLOW_MS, less often where that is slow; this tells, without waiting, what it was answered last, and fails where it
 * was not. */
MUST_USE enum status jobs_follow(struct jobs *jobs, const char **text, struct why *why);

enum { JOBS_FOLLOW_MS = 500 };

/** Writes the line of jobs_follow that goes with a list. */
enum { JOBS_LED_MAX = 16, JOBS_SUMMARY_BYTES = 16 + 12 * JOBS_LED_MAX };
void jobs_summary(char line[static JOBS_SUMMARY_BYTES], const struct jobs *jobs,
                  const struct jobs_row *rows, size_t count);

/** Whether a collector's line of jobs_follow has a job; also where nothing is known. */
bool jobs_is_led(struct jobs *jobs, uint32_t number);

#endif
