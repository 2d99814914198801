/* main_face.h - what the agent shows on its own machine: the page, the metrics and the status of settings key `http`. */

#ifndef AGENT_MAIN_FACE_H
#define AGENT_MAIN_FACE_H

#include "agent/main.h"
#include "agent/participant.h"
#include "http/watch.h"
#include "io/driver.h"
#include "io/journal_watch.h"

enum { FACE_ANSWERS = 32 }; /* that the page lists, the latest ones */

struct face_answer {
    int64_t wall_ms;
    struct digest job;
    uint32_t round;
    char task[24];
    struct charge charge;
    uint64_t bytes;
};

/* Starts zeroed. */
struct face {
    const struct site *site;
    struct participant *participant; /* NULL: it starts again */
    struct journal_watch journal;
    struct driver_counts counts;
    struct driver_guest guest;
    struct watch *watch; /* NULL: nothing listens */
    int64_t started_ms;
    uint64_t answer_count;
    struct face_answer answer[FACE_ANSWERS]; /* a ring: number i is at i modulo FACE_ANSWERS */
};

/** Begins to listen where the settings say so, and puts itself into the driver's options. log: told the address. Fails like
 * watch_open. */
MUST_USE enum status face_open(struct face *face, const struct site *site, const struct log *log,
                               struct driver_options *driver, struct why *why);
void face_close(struct face *face);

/** A machine was made on this journal, which it has not read yet; or is about to be unmade. */
void face_begin(struct face *face, struct participant *participant, struct journal *journal);
void face_pause(struct face *face);

#endif
