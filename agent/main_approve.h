/* main_approve.h - the desk of `hedgerow-agent approve`, `reject`, `show` and `jobs`: the jobs that this site has seen, and what a
 * person has decided. */

#ifndef AGENT_MAIN_APPROVE_H
#define AGENT_MAIN_APPROVE_H

#include "agent/approval.h"
#include "agent/main.h"
#include "job/job.h"
#include "protocol/record.h"

#include <jansson.h>

enum {
    WAITING_MAX = 32,
    REFUSED_MAX = 32,
    DESK_RUNS_SHOWN = 64,
    DESK_PATH_BYTES = SETTINGS_PATH_BYTES + 96
};

/* A text that a coordinator offered and the policy allowed when it came. */
struct waiting_job {
    struct digest digest;
    char hex[2 * DIGEST_BYTES + 1];
    char *text; /* (size) owned */
    size_t size;
    struct job job;
    uint32_t runs_before; /* of this text, in the journal */
    bool there;           /* its file was in the folder at the latest look */
    json_t *plan;         /* approve_plan_json, once it was asked for; owned */
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

/* What the coordinator offers this site, as the running agent wrote it last. */
struct desk_offer {
    bool known;       /* it did */
    struct digest id; /* none: it offers no job */
    struct digest text;
};

/* A text that was refused here without asking a person. */
struct desk_refusal {
    struct digest text;
    char name[JOB_NAME_BYTES]; /* "" where it could not be read */
    uint64_t epsilon_micro;    /* the price of a run; 0 likewise */
    int64_t wall_ms;           /* when that was found */
    char why[WHY_BYTES];
};

/* The latest is the last. */
struct desk_refusals {
    struct desk_refusal item[REFUSED_MAX];
    size_t count;
};

/* Starts zeroed but for site. */
struct desk {
    const struct site *site; /* own, or a running agent's */
    struct site own;
    bool in_agent; /* a running one: silent on standard error, and reads no journal for a text */
    struct desk_offer offer;
    struct desk_refusals refused;
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

/** Reads the decisions and the folder of texts again; a text that the desk has already is not read twice. Fails as the decisions
 * do. */
MUST_USE enum status desk_refresh(struct desk *desk, struct why *why);

/** Returns the text of that digest in the folder, or NULL. */
struct waiting_job *desk_text(struct desk *desk, const struct digest *digest);

/** Takes one record of the journal, with its blob; or all of them. Fails with STATUS_NO_MEMORY, or as the journal does. */
MUST_USE enum status desk_note(struct desk *desk, const struct record *record, struct slice blob);
MUST_USE enum status desk_read_journal(struct desk *desk, struct why *why);

/** Returns the run of that id, or NULL; how many runs of a text there were. */
struct desk_run *desk_run_of(const struct desk *desk, const struct digest *id);
uint32_t desk_runs_of(const struct desk *desk, const struct digest *text);

/** Reads what is offered; a file that is not there, or cannot be read, says nothing. */
void desk_load_offer(struct desk *desk);

/** Reads which texts were refused; likewise. */
void desk_load_refused(struct desk *desk);

/** Returns the refusal of a text, or NULL. */
const struct desk_refusal *desk_refusal_of(const struct desk *desk, const struct digest *text);

/** Returns a list of them for the page, the latest first, which the caller frees; NULL without memory. */
json_t *desk_refused_json(const struct desk *desk);

/** Returns whether a text is offered, as far as that is known. */
bool desk_offers(const struct desk *desk, const struct digest *text);

/** Returns whether a decision is a yes to another job than the one that is offered, as far as that is known. */
bool desk_is_spent(const struct desk *desk, const struct approval *decision);

/** Returns whether nobody has decided on a text, or on another run of it; whether it waits for a person: it is also
 * offered, and policy and dictionary have not refused it since. */
bool desk_is_undecided(const struct desk *desk, const struct waiting_job *waiting);
bool desk_waits(const struct desk *desk, const struct waiting_job *waiting);

/** Reads the text of out's digest where it was approved. Returns whether there is one; status says whether it could be read. */
bool desk_load_approved(const struct desk *desk, struct waiting_job *out, enum status *status,
                        struct why *why);

/** Reads a text that the journal holds, as if it waited. Fails with STATUS_NOT_FOUND where it was dropped. */
MUST_USE enum status desk_recall(const struct desk *desk, struct waiting_job *out,
                                 const struct digest *text, struct why *why);
void waiting_free(struct waiting_job *waiting);

/** Writes a decision into the file that the running agent follows. Fails with STATUS_NO_MEMORY, STATUS_IO. */
MUST_USE enum status desk_decide(struct desk *desk, const struct approval *decision,
                                 struct why *why);

/** Returns the jobs that wait, and those of the latest runs: a list for the page, which the caller frees. It leaves out
 * what a person wrote about them. NULL without memory. */
json_t *desk_jobs_json(const struct desk *desk, const struct ledger *ledger);

/** Decide as `approve` and `reject` do. policy: as it is now; ledger: likewise; runs: how many more; words: a person's, 1 to
 * APPROVAL_WHY_BYTES - 1 bytes of UTF-8. Fail as desk_decide, or with STATUS_REFUSED or STATUS_INVALID where the policy, what
 * is left for the runs, or the words do not allow it. */
MUST_USE enum status desk_approve(struct desk *desk, const struct policy *policy,
                                  const struct ledger *ledger, const struct waiting_job *waiting,
                                  uint32_t runs, struct why *why);
MUST_USE enum status desk_reject(struct desk *desk, const struct digest *text, const char *words,
                                 struct why *why);

/** Prints what this site has seen. Fails as reading the ledger does. */
MUST_USE enum status desk_list(struct desk *desk, const struct arguments *arguments,
                               struct why *why);

/** Prints a job's text and, in plain words, what it asks of this site, costs and leaves. Fails with STATUS_NO_MEMORY, or
 * as reading the ledger does. */
MUST_USE enum status approve_show(const struct site *site, const struct waiting_job *waiting,
                                  struct why *why);

/** Prints as notes of `check` what a job's questions are seldom meant to ask, and which are asked twice. */
void approve_check_questions(const struct job *job);

/** Returns the same but for what is left, which the caller frees; NULL without memory. */
json_t *approve_plan_json(const struct site *site, const struct waiting_job *waiting);

/** Returns why the ledger cannot pay for a run of the job: a string, or null where it can. */
json_t *approve_short_json(const struct ledger *ledger, const struct policy *policy,
                           const struct job *job);

/** Prints the same of all as one JSON document. Fails likewise. */
MUST_USE enum status approve_json(const struct site *site, const struct waiting_job *waiting,
                                  size_t count, struct why *why);

#endif
