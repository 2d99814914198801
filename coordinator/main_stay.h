/* main_stay.h - which jobs of the queue run, and what becomes of each when it is over. */

#ifndef COORDINATOR_MAIN_STAY_H
#define COORDINATOR_MAIN_STAY_H

#include "coordinator/main_queue_store.h"

enum { STAY_JOBS_MAX = SETTINGS_JOBS_MAX }; /* each on a lane of the driver */

/* A job that is set aside, and why. */
struct stay_aside {
    uint32_t number;
    bool untold; /* the reason could not be kept with the job; it is tried again */
    char because[QUEUE_ASIDE_BYTES];
};

/* The outcome of a job that is over, computed from its journal. */
struct stay_results {
    bool there;
    enum status status; /* of making it */
    struct queue_made made;
    struct job_end end;
    struct why why;
};

/* A job that runs: an office of its own, with its text, journal and results. */
struct stay_job {
    uint32_t number; /* 0: none runs here */
    struct office office;
    bool unfiled; /* its end could not be written, which was told: stay_end_put_off */
    struct stay_results results;
    struct queue_followed cancel; /* whether it is cancelled; its path is "" where none runs */
};

struct stay {
    const struct office *office; /* kept: the settings */
    const struct log *log;       /* kept */
    bool seeded;
    uint64_t seed;
    uint32_t refused;         /* of the latest job that was told to be passed over */
    struct stay_aside *aside; /* (aside_count) owned: journals damaged, or results not written */
    size_t aside_count;
    uint32_t served
        [STAY_JOBS_MAX]; /* a collector: jobs that it is through with, and which are led yet; 0: none */
    struct queue_list list;
    struct stay_job job[STAY_JOBS_MAX]; /* as many run as the settings allow (jobs_at_once) */

    /* Tests alone set it: called with "filing" before a job is published, before it is filed and after; as
     * struct driver_options has it. */
    void (*observe)(void *self, const char *step, unsigned count);
    unsigned observed;
};

/** Lets the jobs run that can: in the order of their numbers, those that have begun first. A job runs if it asks no agent
 * that a running job, or one that waits before it, asks too. Files those on its way that were cancelled before they began.
 * Fails with STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status stay_choose(struct stay *stay, struct why *why);

/** A collector: serves the jobs that are led, as soon as it serves none that asks one of their agents. Fails as stay_choose. */
MUST_USE enum status stay_collect(struct stay *stay, struct why *why);

/** A collector gives up the place of a job. through: it has nothing to do for it any more. */
void stay_leave(struct stay *stay, struct stay_job *job, bool through);

/** Publishes and files a job that ran, if it is over, and gives up its place; where it is not over it keeps the place. Fails
 * with STATUS_IO, STATUS_NO_MEMORY, STATUS_CORRUPT (its journal is damaged); of a queue in a database with STATUS_AGAIN and
 * STATUS_BUSY in the place of STATUS_IO. */
MUST_USE enum status stay_file(struct stay *stay, struct stay_job *job, struct why *why);

/** Does the same after the driver's stop: a thread that was in the middle of it may have filed the job, and could neither tell so
 * nor give up its place any more. */
MUST_USE enum status stay_file_behind(struct stay *stay, struct stay_job *job, struct why *why);

/** Files a job that is put off, as another process has its journal, where it was cancelled before it began, and gives up its
 * place; over: out, whether it has. One that has begun ends by a record in its journal, once that is free. One whose end
 * cannot be written keeps its place, which is told once. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status stay_end_put_off(struct stay *stay, struct stay_job *job, bool *over,
                                      struct why *why);

/** Does what takes long of stay_file: the results are made from the journal. It touches only the job, which is not given up
 * meanwhile, and runs on any thread. */
void stay_publish(const struct stay *stay, struct stay_job *job);

/** Whether a status says that a job's journal is damaged or gone. */
bool stay_is_damage(enum status status);

/** Gives up the place of a job whose journal is damaged, as status says, or whose results cannot be written, as why says; it
 * is not taken again before the program's next start. Its agents are free for others. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status stay_set_aside(struct stay *stay, struct stay_job *job, enum status status,
                                    struct why *why);

/** Forgets which jobs run and which are set aside: another coordinator may lead them meanwhile. */
void stay_forget(struct stay *stay);

/** Returns how many jobs run. */
size_t stay_count(const struct stay *stay);

void stay_free(struct stay *stay);

#endif
