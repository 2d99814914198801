/* main_approve.h - the desk of `hedgerow-agent approve`: the jobs that wait, and what a person has decided. */

#ifndef AGENT_MAIN_APPROVE_H
#define AGENT_MAIN_APPROVE_H

#include "agent/approval.h"
#include "agent/main.h"
#include "job/job.h"

enum { WAITING_MAX = 32, DESK_PATH_BYTES = SETTINGS_PATH_BYTES + 96 };

/* A text that a coordinator offered and the policy allowed when it came. */
struct waiting_job {
    struct digest digest;
    char hex[2 * DIGEST_BYTES + 1];
    char *text; /* (size) owned */
    size_t size;
    struct job job;
    uint32_t runs_before; /* of this text, in the journal */
};

/** Prints a job's text and, in plain words, what it asks of this site, costs and leaves. Fails with STATUS_NO_MEMORY, or
 * as reading the ledger does. */
MUST_USE enum status approve_show(const struct site *site, const struct waiting_job *waiting,
                                  struct why *why);

/** Prints the same of all as one JSON document. Fails likewise. */
MUST_USE enum status approve_json(const struct site *site, const struct waiting_job *waiting,
                                  size_t count, struct why *why);

#endif
