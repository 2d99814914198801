/* again.h - which questions a job asks twice under two names, and so pays for twice. By public knowledge alone. */

#ifndef JOB_AGAIN_H
#define JOB_AGAIN_H

#include "base/status.h"
#include "base/why.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>

enum { JOB_AGAIN_MAX = 64, JOB_AGAIN_TOLD = 4 };

/* A question's place; both from 0. A conjunction's own questions come after the written ones. */
struct job_question {
    size_t stage;
    size_t question;
};

struct job_again {
    struct job_question later;
    struct job_question earlier; /* which asks the same: the first that does */
    bool if_there;               /* but of records with a missing or unlisted cell */
    size_t
        summed; /* 0; else `earlier`, of the same stage, need not be earlier: at most this many of its cells sum to one of these */
};

struct job_agains {
    struct job_again again[JOB_AGAIN_MAX]; /* the first of them, in the order of the job */
    size_t count;                          /* of all, JOB_AGAIN_MAX or more */
};

/**
 * Finds the questions that another one before them asks: in their stage, or in one before. And counts and histograms that another
 * question of the stage tells by sums of its cells, where these sums would have less noise without them than they have.
 *
 * Of very many questions that are alike not all are compared. Fails with STATUS_NO_MEMORY.
 * Cost: some milliseconds for many questions, less than a second for any job.
 */
MUST_USE enum status job_asks_again(struct job_agains *out, const struct job *job);

/** Says it of one: both places, what is paid, and the remedy. */
void job_again_say(struct why *out, const struct job *job, const struct job_again *again);

/** Tells the first JOB_AGAIN_TOLD of them, "stage 2: question 1, ...", and after them how many more there are. */
void job_again_tell(const struct job_agains *agains, const struct job *job,
                    void (*tell)(void *self, const char *text), void *self);

#endif
