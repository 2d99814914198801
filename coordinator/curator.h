/* curator.h - the trusted curator of central trust: it alone holds exact sums, in memory, from the
 * first answer of a round to its end; it spends a grant of its own and adds the noise once. Neither
 * sums nor anything that tells them is ever written down or logged. */

#ifndef COORDINATOR_CURATOR_H
#define COORDINATOR_CURATOR_H

#include "base/random.h"
#include "dp/ledger.h"
#include "job/round.h"
#include "task/close.h"

struct curator;

/** Makes a curator with the job's own limit and nothing spent. job and random are kept.
 * Fails with STATUS_NO_MEMORY. */
MUST_USE enum status curator_new(struct curator **out, const struct job *job,
                                 const struct random *random);
void curator_free(struct curator *curator);

/** Recovery: counts a round that the journal holds. before, after: the plays around it, in a losses
 * stage. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status curator_restore(struct curator *curator, uint32_t round,
                                     const struct hedge_state *before,
                                     const struct hedge_state *after);

/** What is spent, beside the limit; and what the plays of the game under way have come to: all zero
 * before the first. */
struct balance curator_balance(const struct curator *curator);
struct balance curator_budget(const struct curator *curator);

/** Returns what a closing pays with: for a round, for a losses stage's play, and for what is due in a play. */
struct closing_payer curator_payer(struct curator *curator);

/**
 * Makes a round's exact sum private: spends, and adds the stage's noise once. Does nothing under
 * local trust, and for a stage that is charged as draws: its strategy takes the grant.
 *
 * sum  in/out  (count); all zero on failure
 *
 * Fails with STATUS_NO_RANDOM, STATUS_NO_MEMORY, STATUS_EXHAUSTED, STATUS_INVALID.
 * Privacy: the stage's charge for one record of one agent, whoever else answered.
 */
MUST_USE enum status curator_add_noise(struct curator *curator, int64_t *sum, size_t count,
                                       uint32_t round, size_t expert_count, struct why *why);

#endif
