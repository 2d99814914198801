/* main_face.h - what the coordinator shows on its own machine: the page, the metrics and the status of settings key `http`. */

#ifndef COORDINATOR_MAIN_FACE_H
#define COORDINATOR_MAIN_FACE_H

#include "coordinator/main.h"
#include "coordinator/main_face_queue.h"
#include "coordinator/main_queue.h"
#include "coordinator/round.h"
#include "io/driver.h"
#include "io/journal_watch.h"
#include "page/page_host.h"

enum { FACE_ROUNDS = 32 }; /* that the page lists, the latest ones */

enum { FACE_STAY_MS = 60000, FACE_WAITS_BYTES = 256 };

struct face_round {
    int64_t wall_ms;
    uint32_t round;
    uint32_t agents;
    uint32_t duration_ms;
};

struct face;

/* A job that runs, on a lane of the driver. */
struct face_run {
    struct face *face;
    const struct job *job;
    const char *state;                     /* where its journal lies */
    const struct coordinator *coordinator; /* NULL: it starts again, is over, or no job runs here */
    const uint32_t *place; /* the number of its place in the queue now; NULL: there is no queue */
    uint32_t number;       /* of the queue's job; 0: there is no queue */
    struct coordinator_view view; /* of the machine before it was unmade */
    int64_t began_ms;             /* when its machine was made, on the monotonic clock */
    struct journal_watch journal;
    uint64_t duration_ms;                 /* of all closed rounds */
    uint64_t round_count;                 /* that were released */
    struct face_round round[FACE_ROUNDS]; /* a ring: number i is at i modulo FACE_ROUNDS */
    struct price spent;                   /* after spent_rounds */
    uint64_t spent_rounds;
    int64_t first_ms;  /* Unix time of the job's first record, */
    int64_t last_ms;   /* and of its latest round */
    int64_t newest_ms; /* and of its latest record of any kind */
    char *drawn;       /* what the page draws of it, owned; NULL: to be made */
    char *outlook; /* the forecasts that it draws, owned; NULL where drawn is, or there are none */
    char *told;    /* what face_tell_job has told of it, owned; or NULL, */
    int64_t told_ms; /* and when: it is made anew after a while, however often it is asked for */
};

/* What is still told of the job that ended last. */
struct face_ended {
    uint32_t number; /* 0: none has ended since the program began */
    int64_t last_ms; /* Unix time of its latest round; 0: it has none */
    bool failed;
};

/* Starts zeroed. */
struct face {
    const struct office *office; /* the settings */
    bool idle;                   /* nothing runs, and that is right */
    bool began;     /* a queue's machines are chosen by now, however long that takes again */
    bool stands_by; /* another coordinator leads */
    struct endpoint *endpoint; /* where agents come in, while a driver runs; or NULL */
    uint64_t version;          /* of what is shown */
    uint32_t shown;            /* the number of the job that was told of at last */
    struct face_ended ended;
    struct face_run run[DRIVER_LANES_MAX];
    struct page_host host;
    int64_t started_ms;
    struct face_job listed[FACE_JOBS]; /* of number i at i modulo FACE_JOBS */
    struct face_reader *reader;        /* of a queue in a database; NULL: of none */
    const struct face_seen *seen;      /* what it has read, while a look lasts */
};

/** Begins to listen where the settings say so. log: told the address. Fails like page_host_open. */
MUST_USE enum status face_open(struct face *face, const struct office *office,
                               const struct log *log, struct why *why);
void face_close(struct face *face);

/** Puts the face into a driver's options, if it listens; the driver has ended, and its endpoint is about to. */
void face_join(struct face *face, struct driver_options *driver);
void face_part(struct face *face);

/** Answers for some time, while no driver runs because another coordinator leads. self: a struct
 * face. */
void face_stand_by(void *self, int64_t wait_ms);

/** Those of a route of http.h; self: a struct face. What the page draws, with the status, as JSON; how old that is; and a
 * file of a finished job. */
char *face_tell(void *self);
uint64_t face_version(void *self);
int face_open_result(void *self, const char *behind, uint64_t *size,
                     char name[static HTTP_NAME_BYTES]);

/** What the page draws of forecasts, as JSON, malloc'd; NULL where there are none, or without memory. */
char *face_outlook(const struct outcome *outcome, const struct job *job);

/** The same as face_tell of a job that runs, by its number in digits; NULL where none has that very number, or without memory. */
char *face_tell_job(void *self, const char *behind);

/** The status as JSON, malloc'd; NULL without memory. shown: the job that its facts tell of; NULL: none runs. */
char *face_status(struct face *face, const struct face_run *shown);

/** The names of a finished job's files, as the page offers them; after the last one stands NULL. */
extern const char *const face_results[];

/** Returns whether a job stands there: it has a machine, or it keeps its place in the queue without one, while it starts again or
 * its results are made. */
bool face_has_job(const struct face_run *run);

/** Writes the numbers of the jobs that stand there. Returns how many. */
size_t face_list_running(uint32_t number[static DRIVER_LANES_MAX], const struct face *face);

/** Returns what came of its machine so far: of one that was unmade, as it was last. */
struct coordinator_view face_look(const struct face_run *run);

/** Returns the job of that number, if it runs, or NULL. A job of the queue runs until it is filed or set aside. 0: the only one,
 * where there is no queue. */
struct face_run *face_running(struct face *face, uint32_t number);

/** Returns the job that the page shows to a reader who has picked none: the running job with the newest record; a job that has
 * released a round comes before one that waits for its first. It stays with a job for FACE_STAY_MS: two that run at the same time
 * do not take turns. NULL: none runs. */
struct face_run *face_shown(struct face *face);

/** Writes what a job waits for, "for approval: 2 of 3 ready", with the names of those who declined it, or "" where it has the
 * agents that it needs. */
void face_waits(char text[static FACE_WAITS_BYTES], const struct face_run *run);

/** Whether nothing runs, and that is right: a queue that waits for jobs. */
void face_set_idle(struct face *face, bool idle);

/** A machine was made on this journal, which it has not read yet; or is about to be unmade. lane: of the driver; number: of
 * the queue's job, kept: another one, or 0, once it runs no more; NULL: there is no queue. state: where the journal lies; it and
 * the job are kept. */
void face_begin(struct face *face, size_t lane, const uint32_t *number, const struct job *job,
                const char *state, const struct coordinator *coordinator, struct journal *journal);
/** A collector's machine was told a record that was added to the journal. Its blob is not read. */
void face_hear(void *self, struct slice body); /* self: a struct face_run */
void face_pause(struct face *face, size_t lane);

/** Other jobs of the queue run than before. */
void face_turn(struct face *face);

#endif
