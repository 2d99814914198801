/* main_face.h - what the coordinator shows on its own machine: the page, the metrics and the status of settings key `http`. */

#ifndef COORDINATOR_MAIN_FACE_H
#define COORDINATOR_MAIN_FACE_H

#include "coordinator/main.h"
#include "coordinator/main_queue.h"
#include "coordinator/round.h"
#include "io/driver.h"
#include "io/journal_watch.h"
#include "page/page_host.h"

enum {
    FACE_ROUNDS = 32,
    FACE_JOBS = 16,
    FACE_FILES = 3
}; /* that the page lists, the latest ones */

struct face_round {
    int64_t wall_ms;
    uint32_t round;
    uint32_t agents;
    uint32_t duration_ms;
};

/* What was found of a job of the queue, and when. */
struct face_job {
    struct queue_job job;
    bool file[FACE_FILES]; /* of its results that are there, as face_results names them */
    int64_t looked_ms;
};

struct face;

/* A job that runs, on a lane of the driver. */
struct face_run {
    struct face *face;
    const struct job *job;
    const struct coordinator *coordinator; /* NULL: it starts again, or no job runs here */
    uint32_t number;                       /* of the queue's job; 0: there is no queue */
    struct journal_watch journal;
    uint64_t duration_ms;                 /* of all closed rounds */
    uint64_t round_count;                 /* that were released */
    struct face_round round[FACE_ROUNDS]; /* a ring: number i is at i modulo FACE_ROUNDS */
    struct price spent;                   /* after spent_rounds */
    uint64_t spent_rounds;
    int64_t first_ms; /* Unix time of the job's first record, */
    int64_t last_ms;  /* and of its latest */
};

/* Starts zeroed. */
struct face {
    const struct office *office; /* the settings */
    bool idle;                   /* nothing runs, and that is right */
    bool stands_by;              /* another coordinator leads */
    struct endpoint *endpoint;   /* where agents come in, while a driver runs; or NULL */
    uint64_t version;            /* of what is shown */
    struct face_run run[DRIVER_LANES_MAX];
    struct page_host host;
    int64_t started_ms;
    struct face_job listed[FACE_JOBS]; /* of number i at i modulo FACE_JOBS */
    char *drawn;                       /* what the page draws, owned; NULL: to be made, */
    const struct face_run *drawn_of;   /* of this job */
};

/** Begins to listen where the settings say so. log: told the address. Fails like page_host_open. */
MUST_USE enum status face_open(struct face *face, const struct office *office,
                               const struct log *log, struct why *why);
void face_close(struct face *face);

/** Puts the face into a driver's options, if it listens; the driver has ended, and its endpoint is about to. */
void face_join(struct face *face, struct driver_options *driver);
void face_part(struct face *face);

/** Answers for so long, while no driver runs: another coordinator leads. self: a struct face. */
void face_stand_by(void *self, int64_t wait_ms);

/** Those of a route of http.h; self: a struct face. What the page draws, with the status, as JSON; how old that is; and a
 * file of a finished job. */
char *face_tell(void *self);
uint64_t face_version(void *self);
int face_open_result(void *self, const char *behind, uint64_t *size,
                     char name[static HTTP_NAME_BYTES]);

/** The status as JSON, malloc'd; NULL without memory. */
char *face_status(struct face *face);

/** The names of a finished job's files, as the page offers them; behind the last one stands NULL. */
extern const char *const face_results[];

/** Returns the job that the page tells of: of those that run, the one of the lowest number; NULL. */
struct face_run *face_shown(struct face *face);

/** Whether nothing runs, and that is right: a queue that waits for jobs. */
void face_set_idle(struct face *face, bool idle);

/** A machine was made on this journal, which it has not read yet; or is about to be unmade. lane: of the driver; number: of
 * the queue's job, or 0. */
void face_begin(struct face *face, size_t lane, uint32_t number, const struct job *job,
                const struct coordinator *coordinator, struct journal *journal);
/** A collector's machine was told a record that was added to the journal. Its blob is not read. */
void face_hear(void *self, struct slice body); /* self: a struct face */
void face_pause(struct face *face, size_t lane);

#endif
