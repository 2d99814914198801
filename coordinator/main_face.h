/* main_face.h - what the coordinator shows on its own machine: the page, the metrics and the status of settings key `http`. */

#ifndef COORDINATOR_MAIN_FACE_H
#define COORDINATOR_MAIN_FACE_H

#include "coordinator/main.h"
#include "coordinator/round.h"
#include "http/watch.h"
#include "io/driver.h"
#include "io/journal_watch.h"

enum { FACE_ROUNDS = 32, FACE_JOBS = 16 }; /* that the page lists, the latest ones */

struct face_round {
    int64_t wall_ms;
    uint32_t round;
    uint32_t agents;
    uint32_t duration_ms;
};

/* Starts zeroed. */
struct face {
    const struct office *office;
    const struct coordinator *coordinator; /* NULL: it starts again, or no job runs */
    bool idle;                             /* no job runs */
    uint32_t number;                       /* of the queue's job that runs; 0: there is no queue */
    struct journal_watch journal;
    struct driver_counts counts;
    struct driver_guest guest;
    struct watch *watch; /* NULL: nothing listens */
    int64_t started_ms;
    uint64_t duration_ms;                 /* of all closed rounds */
    uint64_t round_count;                 /* that were released */
    struct face_round round[FACE_ROUNDS]; /* a ring: number i is at i modulo FACE_ROUNDS */
    struct price spent;                   /* after spent_rounds */
    uint64_t spent_rounds;
};

/** Begins to listen where the settings say so, and puts itself into the driver's options. log: told the address. Fails like
 * watch_open. */
MUST_USE enum status face_open(struct face *face, const struct office *office,
                               const struct log *log, struct driver_options *driver,
                               struct why *why);
void face_close(struct face *face);

/** No job runs, and none waits. */
void face_idle(struct face *face);

/** A machine was made on this journal, which it has not read yet; or is about to be unmade. */
void face_begin(struct face *face, const struct coordinator *coordinator, struct journal *journal);
void face_pause(struct face *face);

#endif
