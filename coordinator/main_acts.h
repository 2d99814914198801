/* main_acts.h - what the questions of protocol/ask.h do to the queue. The local commands and the desk both ask here. */

#ifndef COORDINATOR_MAIN_ACTS_H
#define COORDINATOR_MAIN_ACTS_H

#include "coordinator/main_queue_store.h"
#include "desk/desk.h"

enum { ACTS_OPEN_MAX = 64 }; /* jobs of one operator that are not over */

/* The state of the job that was watched last, and the time of its last change. Starts zeroed. */
struct acts_memory {
    uint32_t number;
    struct queue_stamp stamp;
    struct queue_job job;
};

struct acts {
    const struct office *office; /* its settings; queue_open has answered for the queue */
    const char *operator_name;   /* who asks through the desk; NULL: the command's account */
    const char *list;            /* what AGENTS shows: the allow-list's file */
    struct acts_memory *memory;  /* kept and changed; NULL: WATCH reads the journal each time */
};

/** Answers a valid question but ENROL. Fails with STATUS_INVALID, STATUS_NOT_FOUND, STATUS_REFUSED (too many jobs are
 * open), STATUS_IO, STATUS_CORRUPT, STATUS_NO_MEMORY; the answer is then empty. */
MUST_USE enum status acts_answer(const struct acts *acts, const struct ask *ask, struct slice text,
                                 struct desk_answer *answer, struct why *why);

/** The local commands' port: asks acts_answer. self is a struct acts. */
enum exit_code acts_ask(void *self, const struct ask *ask, struct slice text,
                        struct desk_answer *answer, struct why *why);

/* What the files of the acts share. */

/** Returns a job as the answers have it, which the caller owns; NULL without memory. */
json_t *acts_job_json(const struct acts *acts, const struct queue_job *job);

/** Lists the files of a result, with their digests. Fails with STATUS_INVALID (the job is not over), STATUS_NOT_FOUND (it
 * left none), STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status acts_result(json_t **out, const struct acts *acts, const struct ask *ask,
                                 struct why *why);

/** Reads a piece of one of them. Fails likewise. */
MUST_USE enum status acts_read(struct desk_answer *answer, const struct acts *acts,
                               const struct ask *ask, struct why *why);

#endif
