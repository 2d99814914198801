/* judge.h - whether the site answers a job: its policy, then its data dictionary, then memory and time. */

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

/* Whether a job fits into this site's machine and into its public slots, by public numbers alone. */

/**
 * Compares the memory that a job needs with the memory that there is.
 *
 * memory_bytes  in  for records and computations; 0: no limit is known, and everything fits
 * record_count  in  as many as is publicly known; the need grows with it
 *
 * Fails with STATUS_REFUSED; why says the stage, what it needs and what to change.
 * Privacy: looks at no record; record_count must be public where others see the outcome.
 */
MUST_USE enum status judge_memory(uint64_t memory_bytes, const struct job *job,
                                  uint64_t record_count, struct why *why);

/**
 * Compares the longest computation of a job whose time may depend on records with the slot that has to hide
 * it.
 *
 * speed         in  operations a second, of speed_measure; 0: not known, and everything fits
 * slot_ms       in  the policy's answer_slot_ms
 * record_count  in  as for judge_memory
 *
 * Fails with STATUS_REFUSED; why says the stage, what it needs, which slot would do and what to change. On
 * success why (may be NULL) says what the job needs.
 * Privacy: looks at no record.
 */
MUST_USE enum status judge_slot(double speed, uint32_t slot_ms, const struct job *job,
                                uint64_t record_count, struct why *why);

#endif
