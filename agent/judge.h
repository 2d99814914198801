/* judge.h - whether a job is answered here at all: the site's policy, then its data dictionary. */

#ifndef AGENT_JUDGE_H
#define AGENT_JUDGE_H

#include "agent/policy.h"
#include "base/status.h"
#include "base/why.h"
#include "dictionary/dictionary.h"
#include "job/job.h"

/**
 * Decides whether the site answers a job. A job that fails is declined, round by round.
 *
 * job  in-out  its shares become batches of the dictionary's records: job_settle
 *
 * Fails with STATUS_REFUSED; why says which key of the policy, or what the dictionary lacks.
 * Privacy: reads policy, dictionary and job alone, so a refusal tells nothing about the records.
 */
MUST_USE enum status judge_job(const struct policy *policy, const struct dictionary *dictionary,
                               struct job *job, struct why *why);

/** The second half alone: columns, kinds, and the admitted records for every round of every stage. */
MUST_USE enum status judge_data(const struct dictionary *dictionary, struct job *job,
                                struct why *why);

#endif
