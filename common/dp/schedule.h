/* schedule.h - the noise of a whole job's Gaussian rounds, from what an agent's own ledger will
 * admit. */

#ifndef DP_SCHEDULE_H
#define DP_SCHEDULE_H

#include "base/why.h"
#include "dp/charge.h"

#include <stddef.h>

/* What is known of a job before it starts; all of it public. */
struct schedule {
    struct price limit; /* what a fresh ledger may spend */
    const struct charge
        *fixed; /* (fixed_count) the job's other charges, taken as one after another;
                                   valid; NULL when there are none */
    size_t fixed_count;
    uint64_t count;         /* of the Gaussian rounds, 1 .. CHARGE_COUNT_MAX */
    uint64_t sampling_nano; /* each record takes part in a round with this probability; 1 .. 10^9 */
    uint64_t delta_atto;    /* each of the Gaussian rounds' own: mechanism_sigma_delta; else 0 */
};

/**
 * Finds the least noise at which a ledger that has spent nothing admits the fixed charges and
 * `count` discrete Gaussian ones.
 *
 * sigma_micro  out  sigma over the L2 sensitivity of one round, in millionths; 0 on failure
 *
 * Fails with STATUS_EXHAUSTED: the limit has no delta, or the fixed charges leave nothing, or the
 * noise would have to be beyond SCHEDULE_SIGMA_MAX; STATUS_INVALID: a number out of its range. why
 * (may be NULL) says what to change.
 * Ensures filter_new(limit) admits the sums with this sigma (dp/filter.h), and not with a millionth
 * less. Cost: below 60 prices of a charge, of which a sampled one takes about a millisecond.
 */
MUST_USE enum status schedule_sigma(uint64_t *sigma_micro, const struct schedule *schedule,
                                    struct why *why);

#define SCHEDULE_SIGMA_MAX (UINT64_C(1000000) << 20) /* millionths: sigma 2^20 */

#endif
