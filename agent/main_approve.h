/* main_approve.h - the desk of `hedgerow-agent approve`, `reject`, `show` and `jobs`: the jobs that this site has seen, and what a
 * person has decided. */

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

/* A run of a text: a job that the journal names. */
struct desk_run {
    struct digest id;
    struct digest text;
    char name[JOB_NAME_BYTES]; /* "" where the text is an earlier run's, or was dropped */
    uint64_t epsilon_micro;    /* its price; 0 likewise */
    uint32_t rounds;           /* that it has; 0 likewise */
    uint32_t answers;          /* of this site */
    uint32_t latest;           /* 1 + the latest round that was answered; 0: none */
};

struct desk {
    struct site site;
    struct approvals approvals;
    char approvals_path[DESK_PATH_BYTES];
    struct waiting_job waiting[WAITING_MAX]; /* (count), also those that were rejected */
    size_t count;
    size_t unread_count;  /* texts that were named and passed over */
    struct desk_run *run; /* (run_count) in the journal's order, owned */
    size_t run_count;
    bool decided;
};

/** Reads everything; a desk without a journal has no runs. Texts that cannot be read are named on standard error. Fails as
 * the settings, the policy, the dictionary, the decisions or the journal do. */
MUST_USE enum status desk_open(struct desk **out, const char *config, struct why *why);
void desk_free(struct desk *desk);

/** Returns whether a text waits for a person. */
bool desk_waits(const struct desk *desk, const struct waiting_job *waiting);

/** Reads a text that the journal holds, as if it waited. Fails with STATUS_NOT_FOUND where it was dropped. */
MUST_USE enum status desk_recall(const struct desk *desk, struct waiting_job *out,
                                 const struct digest *text, struct why *why);
void waiting_free(struct waiting_job *waiting);

/** Writes a decision into the file that the running agent follows. Fails with STATUS_NO_MEMORY, STATUS_IO. */
MUST_USE enum status desk_decide(struct desk *desk, const struct approval *decision,
                                 struct why *why);

/** Prints what this site has seen. Fails as reading the ledger does. */
MUST_USE enum status desk_list(struct desk *desk, const struct arguments *arguments,
                               struct why *why);

/** Prints a job's text and, in plain words, what it asks of this site, costs and leaves. Fails with STATUS_NO_MEMORY, or
 * as reading the ledger does. */
MUST_USE enum status approve_show(const struct site *site, const struct waiting_job *waiting,
                                  struct why *why);

/** Prints the same of all as one JSON document. Fails likewise. */
MUST_USE enum status approve_json(const struct site *site, const struct waiting_job *waiting,
                                  size_t count, struct why *why);

#endif
