/* sensitivity.h - how far one replaced record can move an answer. Every bound is computed from
 * public numbers, and rounded up. Neighbours: replace-one, same number of records. */

#ifndef LEARN_SENSITIVITY_H
#define LEARN_SENSITIVITY_H

#include "base/status.h"
#include "base/why.h"
#include "learn/erm.h"

#include <stddef.h>
#include <stdint.h>

/**
 * Bounds ||w_z - w_z'||_2 between erm_solve's results on two neighbours, in the reals:
 * 2 kappa C_L/(lambda gamma m) + 2 distance, kappa = 1, gamma = 2.
 *
 * Fails with STATUS_INVALID as erm_plan.
 * Source: Nie and Wang, theorem on Lipschitz losses (docs/PRIVACY); Bousquet and Elisseeff 2002.
 */
MUST_USE enum status sensitivity_fit_l2(double *delta_2, const struct erm_problem *problem,
                                        struct why *why);

/**
 * The same on the grid of step 2^-grid_bits, in the L1 norm and grid units:
 * ceil(sqrt(d) Delta_2/g) + d; rounding moves each coordinate's difference by less than one more.
 *
 * Fails with STATUS_INVALID as erm_plan, and when the result is 2^53 or more: a coarser grid is
 * needed.
 */
MUST_USE enum status sensitivity_fit_l1(uint64_t *delta_1, const struct erm_problem *problem,
                                        unsigned grid_bits, struct why *why);

/** Bounds every coordinate of erm_solve's result: |w_i| <= ||w||_2 <= min(C_L/(2 lambda),
 * sqrt(L(0)/lambda)) + distance; the integer bound on the grid, for the overflow check at job
 * start. Fails as sensitivity_fit_l1. */
MUST_USE enum status sensitivity_fit_range(uint64_t *bound, const struct erm_problem *problem,
                                           unsigned grid_bits, struct why *why);

/** Returns the L1 sensitivity of the summed losses of expert_count experts, each record's loss a
 * whole number of grid steps in [0, 2^grid_bits]: expert_count * 2^grid_bits. Fails with
 * STATUS_INVALID when it is 2^53 or more. */
MUST_USE enum status sensitivity_losses_l1(uint64_t *delta_1, size_t expert_count,
                                           unsigned grid_bits, struct why *why);

#endif
