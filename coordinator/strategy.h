/* strategy.h - what a round's sum becomes: new experts after `fit`, the model to broadcast after
 * `losses`. Works on released values only (local trust), so nothing here costs privacy. */

#ifndef COORDINATOR_STRATEGY_H
#define COORDINATOR_STRATEGY_H

#include "base/random.h"
#include "coordinator/cohort.h"
#include "coordinator/outcome.h"
#include "job/job.h"

/**
 * Makes a fit round's new experts: the average over the answers, its moved thresholds, then the
 * agents' own models by name.
 *
 * rows  out  (job_experts_of_round, d) owned by the caller
 * sum   in   takes: (d) noisy sums; the average is made in its place
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status strategy_fit(double **rows, const struct stage *stage, int64_t *sum, size_t d,
                                  const struct cohort *cohort);

/**
 * Picks the model to broadcast after a losses round: by the Randomized Weighted Majority, with
 * eta = sqrt(8 ln k/T), on all the stage's losses including this round's. After the stage's last
 * round nothing is left to explore: the leader, the expert of largest weight.
 *
 * Fails with STATUS_NO_RANDOM, STATUS_NO_MEMORY.
 * Source: Dwork and Roth, chapter 11, algorithm 16. Deviation: the last pick is the mode.
 */
MUST_USE enum status strategy_pick(uint32_t *chosen, const struct random *random,
                                   const struct outcome *outcome, const struct stage *stage,
                                   uint32_t within, const int64_t *sum, size_t agent_count);

#endif
