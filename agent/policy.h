/* policy.h - what the owner of the data allows. Written by the site, never sent anywhere; it wins
 * over every job. Without one the agent refuses to start. */

#ifndef AGENT_POLICY_H
#define AGENT_POLICY_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "dp/ledger.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum approval_mode {
    APPROVAL_PERSON, /* a job waits until a person has read it and said yes */
    APPROVAL_POLICY, /* whatever this policy allows is joined */
    APPROVAL_COUNT
};

enum { POLICY_PATH_BYTES = 512 };

struct policy {
    uint64_t epsilon_micro;           /* total of this data set, over all jobs, rounded down */
    uint64_t delta_atto;              /* total, rounded down */
    uint64_t job_epsilon_micro;       /* the most one job may cost; 0: no limit but the total */
    uint64_t job_delta_atto;          /* of job_epsilon */
    uint32_t allowance_days;          /* a rolling window; 0: none */
    uint64_t allowance_epsilon_micro; /* the most that any window of that many days may cost */
    uint64_t allowance_delta_atto;
    uint64_t least_epsilon_micro; /* what each answer must use of the total at least; 0: no limit */
    uint32_t cohort_min;          /* the smallest minimum cohort a job may ask for */
    bool task_allowed[TASK_COUNT];   /* by enum task */
    bool trust_allowed[TRUST_COUNT]; /* by enum job_trust */
    char peers[POLICY_PATH_BYTES];   /* the list of institutions in masked sums; "": none */
    uint32_t dishonest_min;          /* masked sums: at least this many sites count as dishonest */
    uint64_t message_bytes_max;      /* the largest answer or artifact */
    enum approval_mode approval;
    uint32_t jobs_per_day;   /* new jobs that are looked at in a day (UTC) */
    bool share_dictionary;   /* coordinators may see the data dictionary's text */
    uint32_t answer_slot_ms; /* answers whose time may tell of records leave at multiples of it */
};

/** Reads a policy's YAML text; the same strictness as job_parse. Required is every key but job_epsilon, job_delta (that of the
 * total when left out), and allowance_days with allowance_epsilon and, likewise, allowance_delta; least_epsilon, approval,
 * jobs_per_day and share_dictionary. Fails with STATUS_INVALID, STATUS_UNSUPPORTED, STATUS_NO_MEMORY; policy is then zeroed and
 * allows nothing. */
MUST_USE enum status policy_parse(struct policy *policy, struct slice text, const char *name,
                                  struct why *why);

/** Returns whether it allows a trust whose answers are masked. */
bool policy_allows_masks(const struct policy *policy);

/** Names the keys whose values differ, and numbers before and after: "epsilon 2 -> 1, tasks". Returns whether any
 * does. */
bool policy_differs(const struct policy *before, const struct policy *after, char *text,
                    size_t size);

/** Returns a policy to begin with, each key marked as required or optional: malloc'd, the caller frees it; NULL without
 * memory. */
char *policy_template(void);

/** Returns the policy's limits as a ledger takes them. */
struct allowances policy_allowances(const struct policy *policy);

/** Decides whether a job may be joined at all: trust, cohort, tasks, sizes (with cohort_min agents), an answer slot, where one
 * is needed, before the deadline, its whole price against each allowance while nothing is spent, by the ledger's own filters,
 * and the price of each answer against least_epsilon. Fails with STATUS_REFUSED and the reason for the site's own operator. */
MUST_USE enum status policy_check_job(const struct policy *policy, const struct job *job,
                                      struct why *why);

#endif
