/* capacity.h - whether a job fits into this site's machine, by public numbers alone. */

#ifndef AGENT_CAPACITY_H
#define AGENT_CAPACITY_H

#include "job/job.h"

/**
 * Holds the memory that a job needs against what there is.
 *
 * memory_bytes  in  for records and computations; 0: no limit is known, and everything fits
 * record_count  in  as many as is publicly known; the need grows with it
 *
 * Fails with STATUS_REFUSED; why says the stage, what it needs and what to change.
 * Privacy: looks at no record; record_count must be public where others see the outcome.
 */
MUST_USE enum status capacity_check(uint64_t memory_bytes, const struct job *job,
                                    uint64_t record_count, struct why *why);

#endif
