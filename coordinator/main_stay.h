/* main_stay.h - which job of the queue runs, and what becomes of it when it is over. */

#ifndef COORDINATOR_MAIN_STAY_H
#define COORDINATOR_MAIN_STAY_H

#include "coordinator/main_queue.h"

struct stay {
    struct office *office; /* kept; holds the job that runs */
    const struct log *log; /* kept */
    bool seeded;
    uint64_t seed;
    uint32_t number;  /* of the job that runs; 0: none can */
    uint32_t refused; /* of the latest job that was told to be passed over */
    struct queue_list list;
    char cancel[QUEUE_PATH_BYTES]; /* the running job's file; "" */

    /* Tests alone set it: called with "filing" before a job is published, before it is filed and after; as
     * struct driver_options has it. */
    void (*observe)(void *self, const char *step, unsigned count);
    unsigned observed;
};

/** Chooses the job that runs next: the first one that is not over and can be read. Files those on its way that were
 * cancelled before they began. Fails with STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status stay_choose(struct stay *stay, struct why *why);

/** Publishes and files the job that ran, if it is over; does nothing otherwise. Fails with STATUS_IO, STATUS_NO_MEMORY,
 * STATUS_CORRUPT: the queue must not go on, for it would run the job's end again. */
MUST_USE enum status stay_file(struct stay *stay, struct why *why);

void stay_free(struct stay *stay);

#endif
