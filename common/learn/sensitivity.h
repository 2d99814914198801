/* sensitivity.h - how far one replaced record can move an answer. Every bound is computed from
 * public numbers, and rounded up. Neighbours: replace-one, same number of records. */

#ifndef LEARN_SENSITIVITY_H
#define LEARN_SENSITIVITY_H

#include "base/status.h"
#include "base/why.h"
#include "learn/erm.h"
#include "learn/kernel_machine.h"
#include "learn/loss.h"

#include <stddef.h>
#include <stdint.h>

/**
 * Returns a bound on ||f_z - f_z'||_K between the exact minimisers on two neighbours, labels at
 * most 1, gamma = 2; the smaller of two:
 *   Lipschitz    2 kappa C_L/(lambda gamma m)
 *   only convex  sqrt(2 B/(lambda gamma m)), 0 <= L <= B at any minimiser, on any record
 *
 * kappa  in  > 0  the features' largest norm, sup sqrt(K(x, x))
 *
 * CHECKs that the loss can be learned from. Source: Nie and Wang (docs/PRIVACY); Bousquet and
 * Elisseeff 2002. Deviation: C_L and B of least squares from a ball of half the radius (loss.c).
 */
double sensitivity_minimiser(struct loss loss, double kappa, double lambda, size_t record_count);

/**
 * Bounds ||w_z - w_z'||_2 between erm_solve's results on two neighbours, in the reals:
 * sensitivity_minimiser + 2 distance, kappa = 1.
 *
 * Fails with STATUS_INVALID as erm_plan.
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

/** Bounds every coordinate of erm_solve's result: |w_i| <= ||w||_2 <= loss_ball +
 * distance; the integer bound on the grid, for the overflow check at job
 * start. Fails as sensitivity_fit_l1. */
MUST_USE enum status sensitivity_fit_range(uint64_t *bound, const struct erm_problem *problem,
                                           unsigned grid_bits, struct why *why);

/**
 * Bounds |f_z(x) - f_z'(x)| between kernel_predict's answers at any one point of norm at most 1:
 * kappa (sensitivity_minimiser + 2 distance), and the rounding errors of both answers.
 *
 * Fails with STATUS_INVALID as kernel_plan.
 */
MUST_USE enum status sensitivity_predict(double *delta_inf, const struct kernel_problem *problem,
                                         struct why *why);

/**
 * The same for point_count answers projected to [-1, 1] and put on the grid of step 2^-grid_bits,
 * in the L1 norm and grid units: point_count min(ceil(delta_inf/g), 2/g).
 *
 * Fails with STATUS_INVALID as kernel_plan, and when the result is 2^53 or more.
 */
MUST_USE enum status sensitivity_predict_l1(uint64_t *delta_1, const struct kernel_problem *problem,
                                            size_t point_count, unsigned grid_bits,
                                            struct why *why);

/** Returns the L1 sensitivity of the summed losses of expert_count experts, each record's loss a
 * whole number of grid steps in [0, 2^grid_bits]: expert_count * 2^grid_bits. Fails with
 * STATUS_INVALID when it is 2^53 or more. */
MUST_USE enum status sensitivity_losses_l1(uint64_t *delta_1, size_t expert_count,
                                           unsigned grid_bits, struct why *why);

#endif
