/* policy.h - what the owner of the data allows. Written by the site, never sent anywhere; it wins
 * over every job. Without one the agent refuses to start. */

#ifndef AGENT_POLICY_H
#define AGENT_POLICY_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "job/job.h"

#include <stdbool.h>
#include <stdint.h>

struct policy {
    uint64_t epsilon_micro;     /* total of this data set, over all jobs, rounded down */
    uint64_t delta_atto;        /* total, rounded down */
    uint64_t job_epsilon_micro; /* the most one job may cost; 0: no limit but the total */
    uint32_t cohort_min;        /* the smallest minimum cohort a job may ask for */
    bool task_allowed[8];       /* by enum task */
    bool trust_allowed[4];      /* by enum job_trust */
    uint64_t message_bytes_max; /* the largest answer or artifact */
    uint32_t answer_slot_ms;    /* answers leave at multiples of this after the invitation */
};

/** Reads a policy's YAML text; the same strictness as job_parse. Every key is required but
 * job_epsilon. Fails with STATUS_INVALID, STATUS_UNSUPPORTED, STATUS_NO_MEMORY; policy is then
 * zeroed and allows nothing. */
MUST_USE enum status policy_parse(struct policy *policy, struct slice text, const char *name,
                                  struct why *why);

/** Decides whether a job may be joined at all: trust, cohort, tasks, sizes (with cohort_min
 * agents), an answer slot before the deadline, its whole price against the total and the per-job
 * limit. Fails with STATUS_REFUSED and the reason for the site's own operator. */
MUST_USE enum status policy_check_job(const struct policy *policy, const struct job *job,
                                      struct why *why);

#endif
