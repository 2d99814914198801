/* erm.h - regularised empirical risk minimisation: w = argmin (1/m) sum L(y_i <w, x_i>) + lambda
 * ||w||^2 (gamma = 2), in a number of steps that is public knowledge: it depends on m, d, lambda
 * and the tolerance, is enough for EVERY data set with ||x_i|| <= 1, and all steps are always run.
 */

#ifndef LEARN_ERM_H
#define LEARN_ERM_H

#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/loss.h"

#include <stddef.h>
#include <stdint.h>

struct erm_problem {
    struct loss loss;    /* logistic or hinge */
    double lambda;       /* > 0 */
    double tolerance;    /* logistic: gradient norm r_tol; hinge: duality gap G_tol; public */
    size_t record_count; /* m >= 1 */
    size_t feature_count;
};

/* What is known before any record is seen. */
struct erm_plan {
    uint64_t steps;
    double distance; /* ||w - w*||_2 is at most this on every data set; rounded up */
    double flops;    /* of the whole run, about */
};

enum { ERM_FLOPS_MAX_LOG2 = 42 }; /* some tens of minutes of one core */

/**
 * Plans a run.
 *
 * Logistic, Nesterov's method for L-smooth, mu-strongly convex f, L = 1/4 + 2 lambda, mu = 2
 * lambda, from w = 0: f(w_k) - f* <= (1 - sqrt(mu/L))^k (f(0) - f* + mu/2 ||w*||^2) <= 2 ln 2 (1 -
 * sqrt(mu/L))^k, and ||grad||^2 <= 2 L (f - f*). distance = r_tol/mu. Hinge, FISTA on the dual over
 * the box [0,1]^m from its middle, D(a) = mean(a) - lambda ||w(a)||^2, w(a) = (1/(2 lambda m)) sum
 * a_i y_i x_i, of curvature at most 1/(2 lambda m): D* - D(a_k) <= 2 (1/(2 lambda m)) (m/4)/(k+1)^2
 * = 1/(4 lambda (k+1)^2) =: G_tol. And lambda ||w(a) - w*||^2
 * <= D* - D(a): the Lagrangian at a is 2 lambda-strongly convex in w with minimum D(a) at w(a), and
 * its value at w* is at most the saddle value D*. distance = sqrt(G_tol/lambda). Half of the
 * tolerance is left for rounding errors (see the .c).
 *
 * Fails with STATUS_INVALID: a parameter out of range, or more than 2^ERM_FLOPS_MAX_LOG2
 * operations. Source: Nesterov, Introductory Lectures on Convex Optimization, 2004, theorem 2.2.3
 * and (2.2.11); Beck and Teboulle 2009, theorem 4.4.
 */
MUST_USE enum status erm_plan(struct erm_plan *plan, const struct erm_problem *problem,
                              struct why *why);

/**
 * Runs the planned steps, all of them.
 *
 * w     out  (d)
 * data  in   (m, d) with labels, every norm at most 1; its shape is the problem's (CHECKed)
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID (as erm_plan).
 * Ensures ||w - w*||_2 <= plan.distance.
 * Privacy: w is an exact statistic of the records: it leaves only through the gate, as `fit`.
 * Cost O(steps m d) time, O(m + d) memory beside the data; no branch depends on the records but
 * inside the mathematical library's exp.
 */
MUST_USE enum status erm_solve(double *w, const struct erm_problem *problem,
                               const struct dataset *data, struct why *why);

/** The same result by plain loops straight from the formulas, step by step in the primal space; for
 * tests. Fails as erm_solve. */
MUST_USE enum status erm_solve_reference(double *w, const struct erm_problem *problem,
                                         const struct dataset *data, struct why *why);

/** Returns (1/m) sum L + lambda ||w||^2. */
double erm_objective(const double *w, const struct erm_problem *problem,
                     const struct dataset *data);

#endif
