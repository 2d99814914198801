/* erm.h - regularised empirical risk minimisation over explicit features: w = argmin (1/m) sum
 * L(<w, x_i>, y_i) + lambda ||w||^2 (gamma = 2), to a tolerance that is public and reached on EVERY
 * data set with ||x_i|| <= 1 (kappa = 1) and |y_i| <= 1.
 *
 * A fast method certifies what it reached: Cholesky for least squares, Newton for the logistic and
 * the Huber loss, dual coordinate descent for the hinge, pinball, absolute and insensitive ones. If
 * it has not got there after a public amount of work, as descent does not when records are nearly
 * alike and lambda is tiny, a method follows whose number of steps is proved to be enough. So the
 * time of a solve depends on the records. Results must be shown at times that do not depend on
 * them. */

#ifndef LEARN_ERM_H
#define LEARN_ERM_H

#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/loss.h"

#include <stddef.h>
#include <stdint.h>

struct erm_problem {
    struct loss loss; /* not zero_one */
    double lambda;    /* > 0 */
    double
        tolerance; /* smooth losses: gradient norm r_tol; the others: duality gap G_tol; public */
    size_t record_count; /* m >= 1 */
    size_t feature_count;
};

/* What is known before any record is seen. */
struct erm_plan {
    uint64_t steps;  /* of the sure method */
    double distance; /* ||w - w*||_2 is at most this on every data set; rounded up */
    double rounding; /* a computed score <w, x>, |x| <= kappa, errs by at most this */
    double flops;    /* of a fast run that fails and the sure run after it, about */
};

enum { ERM_FLOPS_MAX_LOG2 = 42 }; /* some tens of minutes of one core */

/**
 * Plans a run.
 *
 * Smooth losses (logistic, Huber, squared), Nesterov's method for an L-smooth, mu-strongly convex
 * F, L = sup L'' + 2 lambda, mu = 2 lambda, from w = 0: F(w_k) - F* <= (1 - sqrt(mu/L))^k (F(0) -
 * F* + mu/2 ||w*||^2) <= 2 L(0) (1 - sqrt(mu/L))^k, and ||grad||^2 <= 2 L (F - F*). distance =
 * r_tol/mu.
 *
 * The others, FISTA on the dual over a box of width B from its middle, of curvature at most 1/(2
 * lambda m): D* - D(a_k) <= 2 (1/(2 lambda m)) (m B^2/4)/(k+1)^2 = B^2/(4 lambda (k+1)^2) =: G_tol.
 * And lambda ||w(a) - w*||^2 <= D* - D(a): the Lagrangian at a is 2 lambda-strongly convex in w
 * with minimum D(a) at w(a), and its value at w* is at most the saddle value D*. distance =
 * sqrt(G_tol/lambda). Half of the tolerance is left for rounding errors (see erm_plan.c).
 *
 * Fails with STATUS_INVALID: a parameter out of range, a tolerance finer than double precision can
 * promise, or more than 2^ERM_FLOPS_MAX_LOG2 operations. Source: Nesterov,
 * Introductory Lectures on Convex Optimization, 2004, theorem 2.2.3 and (2.2.11); Beck and Teboulle
 * 2009, theorem 4.4.
 */
MUST_USE enum status erm_plan(struct erm_plan *plan, const struct erm_problem *problem,
                              struct why *why);

/**
 * Solves.
 *
 * w     out  (d)
 * data  in   (m, d) with labels, every norm at most 1; its shape is the problem's (CHECKed)
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID (as erm_plan).
 * Ensures ||w - w*||_2 <= plan.distance.
 * Privacy: w is an exact statistic of the records: it leaves only through the gate, as `fit`.
 * Cost smooth losses O(m d^2) a step, some ten of them; the others O(m d) a pass, tens to
 * thousands; at most plan.flops in all. Memory O(m + d^2) or O(m^2) beside the data, whichever is
 * less.
 */
MUST_USE enum status erm_solve(double *w, const struct erm_problem *problem,
                               const struct dataset *data, struct why *why);

/** The sure method alone, all of its planned steps. Ensures and fails as erm_solve; for tests. */
MUST_USE enum status erm_solve_slowly(double *w, const struct erm_problem *problem,
                                      const struct dataset *data, struct why *why);

#endif
