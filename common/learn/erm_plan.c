/* What is known of a run before any record is seen. The theorems are stated in erm.h.
 *
 * Rounding. Half of the tolerance is left for it. u = 2^-53; a dot product in eight partial sums of
 * n terms errs by at most (n/8 + 8) u times the sum of the terms' sizes. The coefficients c of w =
 * Z^T c have sum |c_i| <= 1/(2 lambda) =: R up to the momentum's overshoot (a factor of 3), so that
 * a margin errs by at most e = 3 (m/8 + d + 16) u (1 + R). Logistic: a gradient wrong by e leaves
 * an accelerated method with a gap of at most (1 + 2 sqrt(L/mu)) 1.5 e^2/mu (Devolder, Glineur,
 * Nesterov, "First-order methods with inexact oracle: the strongly convex case", 2013: a (1.5
 * e^2/mu, 2L, mu/2) oracle), and the squared gradient is at most 2L times the gap. Hinge: each of K
 * steps adds at most e to the gap (the same authors, 2014: the error grows linearly). A tolerance
 * whose half is below these is refused. */

#include "learn/erm.h"

#include <float.h>
#include <math.h>

static const double kappa = 1;
static const double steps_max = 1e15;

static enum status refuse(struct why *why, const char *what)
{
    why_set(why, "%s", what);
    return STATUS_INVALID;
}

static double margin_error(const struct erm_problem *problem)
{
    const double m = (double)problem->record_count;
    const double d = (double)problem->feature_count;
    return 3 * (m / 8 + d + 16) * DBL_EPSILON / 2 * (1 + 1 / (2 * problem->lambda));
}

static enum status plan_logistic(struct erm_plan *plan, const struct erm_problem *problem,
                                 double *steps, struct why *why)
{
    const double mu = 2 * problem->lambda;
    const double smooth = kappa * kappa / 4 + mu;
    const double half = problem->tolerance / 2;
    const double rounding =
        sqrt(3 * (1 + 2 * sqrt(smooth / mu)) * smooth / mu) * margin_error(problem);
    if (rounding > half) {
        return refuse(why, "the solver's tolerance is finer than double precision can promise for "
                           "this lambda: raise the tolerance");
    }
    /* 2 L 2 ln 2 q^K <= half^2; log1p keeps ln q exact when sqrt(mu/L) is tiny. */
    const double shrink = -log1p(-sqrt(mu / smooth));
    const double need = log(4 * smooth * log(2) / (half * half)) / shrink;
    *steps = 1 + ceil(fmax(need, 0) * (1 + 1e-12));
    plan->distance = problem->tolerance / mu * (1 + 4 * DBL_EPSILON);
    return STATUS_OK;
}

static enum status plan_hinge(struct erm_plan *plan, const struct erm_problem *problem,
                              double *steps, struct why *why)
{
    const double half = problem->tolerance / 2;
    const double need = kappa / (2 * sqrt(problem->lambda * half));
    *steps = 1 + ceil(need * (1 + 1e-12));
    if (*steps * margin_error(problem) > half) {
        return refuse(why, "the solver's tolerance is finer than double precision can promise for "
                           "this lambda: raise the tolerance");
    }
    plan->distance = sqrt(problem->tolerance / problem->lambda) * (1 + 4 * DBL_EPSILON);
    return STATUS_OK;
}

enum status erm_plan(struct erm_plan *plan, const struct erm_problem *problem, struct why *why)
{
    double steps = 0;
    *plan = (struct erm_plan){0};
    if (problem->loss.kind != LOSS_LOGISTIC && problem->loss.kind != LOSS_HINGE) {
        return refuse(why, "a fit minimises the logistic or the hinge loss");
    }
    if (!(problem->lambda >= 1e-12 && problem->lambda <= 1e6)) {
        return refuse(why, "lambda must lie between 1e-12 and 1e6");
    }
    if (!(problem->tolerance > 0 && problem->tolerance <= 1)) {
        return refuse(why, "the solver's tolerance must lie above 0 and be at most 1");
    }
    if (problem->record_count < 1 || problem->feature_count < 1) {
        return refuse(why, "a fit needs at least one record and one feature");
    }
    const enum status status = problem->loss.kind == LOSS_LOGISTIC
                                   ? plan_logistic(plan, problem, &steps, why)
                                   : plan_hinge(plan, problem, &steps, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double m = (double)problem->record_count;
    const double d = (double)problem->feature_count;
    const double per_step = (d > m ? 2 * m * m : 4 * m * d) + 50 * m;
    plan->flops = steps * per_step + 4 * m * d + (d > m ? m * m * d : 0);
    if (!(steps <= steps_max) || plan->flops > ldexp(1, ERM_FLOPS_MAX_LOG2)) {
        why_set(why,
                "the solver would need %.3g steps and %.3g operations to be sure of its tolerance "
                "on every data set: raise lambda or the tolerance",
                steps, plan->flops);
        return STATUS_INVALID;
    }
    plan->steps = (uint64_t)steps;
    return STATUS_OK;
}
