/* What is known of a run before any record is seen. The theorems are stated in erm.h.
 *
 * Rounding. u = 2^-53. The coefficients c of w = sum c_i phi(x_i) have sum |c_i| <= R := A/(2
 * lambda), A = core_slope, so that a score errs by at most (core_terms(m) + core_terms(d) + a few)
 * u kappa^2 R, by Gram with kernel_rounding in place of core_terms(d); a gradient by the loss's
 * curvature times that, and as much of A; a gap by the width of the box times that, and as much of
 * the values, which are about 1. core_rounding takes four times the sum, and a certificate counts
 * it in.
 *
 * The slow methods keep half of the tolerance for it, once for what is the same in every step, a
 * matrix's entries, and for what is not as follows. Their momentum overshoots R by a factor of at
 * most 3; from [0, 1], the hinge's box, it gets no farther than [-1, 2]. Smooth: a gradient wrong
 * by e leaves an accelerated method with a gap of at most (1 + 2 sqrt(L/mu)) 1.5 e^2/mu (Devolder,
 * Glineur, Nesterov, "First-order methods with inexact oracle: the strongly convex case", 2013: a
 * (1.5 e^2/mu, 2L, mu/2) oracle), and the squared gradient is at most 2L times the gap. The others:
 * each of K steps adds at most e to the gap (the same authors, 2014: the error grows linearly). A
 * tolerance whose half is below these is refused. */

#include "learn/erm_core.h"

#include <float.h>
#include <math.h>

static const double steps_max = 1e15;
static const double up = 1 + 8 * DBL_EPSILON;

static enum status refuse_fine(struct why *why)
{
    return why_refuse(why,
                      "the solver's tolerance is finer than double precision can promise for this "
                      "lambda: raise the tolerance");
}

/* Per term of a sum: of a slope of F (smooth), or of its value. `swing` is how far an error of a
 * score carries: the loss's curvature for slopes, the width of the box for values. */
static double per_term(const struct core *core)
{
    const double kappa = fmax(core->kappa, 1);
    const double slope = core_slope(core->loss);
    const struct loss_box box =
        loss_is_smooth(core->loss) ? (struct loss_box){0} : loss_box(core->loss, 1);
    const double swing =
        loss_is_smooth(core->loss) ? loss_curvature(core->loss) : box.high - box.low;
    return DBL_EPSILON / 2 * kappa *
           (fmax(slope, 1) + swing * kappa * kappa * slope / (2 * core->lambda));
}

static double inner_terms(const struct core *core)
{
    return core->by_gram ? core->entry_error : core_terms(core->d);
}

double core_rounding(const struct core *core)
{
    return 4 * (core_terms(core->m) + inner_terms(core) + 32) * per_term(core);
}

/* A bound on the rounding error of one answer sum c_i K(x_i, x), added up as by kernel_predict: sum
 * |c_i| may be 3 R (a certificate allows this much), and the fourth is slack. */
static double score_rounding(const struct core *core)
{
    const double size = core_slope(core->loss) / (2 * core->lambda);
    return 4 * (inner_terms(core) + 32) * DBL_EPSILON / 2 * core->kappa * core->kappa * size;
}

/* The cost of one step of a slow method. */
static double step_error(const struct core *core)
{
    const double terms = core_terms(core->m) + (core->by_gram ? 0 : core_terms(core->d));
    const double overshoot = core->loss.kind == LOSS_HINGE ? 2 : 3;
    return overshoot * (terms + 32) * per_term(core);
}

/* L(0, y) at its largest. */
static double value_at_zero(struct loss loss)
{
    return fmax(loss_value(loss, 0, 1), loss_value(loss, 0, -1));
}

static enum status plan_smooth(struct erm_plan *plan, const struct core *core, double *steps,
                               struct why *why)
{
    const double mu = 2 * core->lambda;
    const double smooth = loss_curvature(core->loss) * core->kappa * core->kappa + mu;
    const double half = core->tolerance / 2;
    const double rounding = sqrt(3 * (1 + 2 * sqrt(smooth / mu)) * smooth / mu) * step_error(core);
    if (rounding + core_rounding(core) > half) {
        return refuse_fine(why);
    }
    /* 2 L 2 L(0) q^K <= half^2; log1p keeps ln q exact when sqrt(mu/L) is tiny. */
    const double shrink = -log1p(-sqrt(mu / smooth));
    const double need = log(4 * smooth * value_at_zero(core->loss) / (half * half)) / shrink;
    *steps = 1 + ceil(fmax(need, 0) * (1 + 1e-12));
    plan->distance = core->tolerance / mu * up;
    return STATUS_OK;
}

static enum status plan_box(struct erm_plan *plan, const struct core *core, double *steps,
                            struct why *why)
{
    const struct loss_box box = loss_box(core->loss, 1);
    const double half = core->tolerance / 2;
    const double need = core->kappa * (box.high - box.low) / (2 * sqrt(core->lambda * half));
    *steps = 1 + ceil(need * (1 + 1e-12));
    if (*steps * step_error(core) + core_rounding(core) > half) {
        return refuse_fine(why);
    }
    plan->distance = sqrt(core->tolerance / core->lambda) * up;
    return STATUS_OK;
}

static enum status check_numbers(const struct core *core, struct why *why)
{
    if (!loss_is_learnable(core->loss)) {
        return why_refuse(why, "a fit cannot minimise the zero_one loss: take logistic or hinge");
    }
    if (!(core->lambda >= 1e-12 && core->lambda <= 1e6)) {
        return why_refuse(why, "lambda must lie between 1e-12 and 1e6");
    }
    if (!(core->tolerance > 0 && core->tolerance <= 1)) {
        return why_refuse(why, "the solver's tolerance must lie above 0 and be at most 1");
    }
    if (core->m < 1 || core->d < 1) {
        return why_refuse(why, "a fit needs at least one record and one feature");
    }
    if (core->m > INT32_MAX || core->d > INT32_MAX) {
        return why_refuse(why, "a fit takes fewer than 2^31 records and features");
    }
    return loss_check(core->loss, why);
}

uint64_t core_patience(const struct core *core, uint64_t steps)
{
    if (core->loss.kind == LOSS_SQUARED) {
        return 4;
    }
    if (core->loss.kind == LOSS_LOGISTIC) {
        return 25; /* 11 was the most that odd records and lambdas down to 1e-9 needed */
    }
    if (loss_is_smooth(core->loss)) {
        return 50; /* 21 */
    }
    return steps < 200 ? 200 : steps < 20000 ? steps : 20000;
}

/* The cost of the fast method at its worst. The products of whole matrices run at least eight times
 * as fast as those with a vector do, and count as an eighth. */
static double fast_flops(const struct core *core, double steps)
{
    const double m = (double)core->m;
    const double n = core->by_gram ? m : (double)core->d;
    const double most = (double)core_patience(core, (uint64_t)fmin(steps, 1e9));
    if (!loss_is_smooth(core->loss)) {
        return most * (4 * m * n + 50 * m);
    }
    const double factors = core->loss.kind == LOSS_SQUARED ? 1 : most;
    return factors * (n * n * n / 3 + (core->by_gram ? 0 : m * n * n)) / 8 + most * 8 * m * n;
}

enum status core_plan(struct erm_plan *plan, const struct core *core, struct why *why)
{
    double steps = 0;
    *plan = (struct erm_plan){0};
    enum status status = check_numbers(core, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = loss_is_smooth(core->loss) ? plan_smooth(plan, core, &steps, why)
                                        : plan_box(plan, core, &steps, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double m = (double)core->m;
    const double d = (double)core->d;
    const double per_step = (core->by_gram ? 2 * m * m : 4 * m * d) + 50 * m;
    plan->flops =
        steps * per_step + (core->by_gram ? m * m * d / 8 : 4 * m * d) + fast_flops(core, steps);
    if (!(steps <= steps_max) || plan->flops > ldexp(1, ERM_FLOPS_MAX_LOG2)) {
        return why_refuse(
            why,
            "the solver would need %.3g steps and %.3g operations to be sure of its tolerance "
            "on every data set: raise lambda or the tolerance",
            steps, plan->flops);
    }
    plan->rounding = score_rounding(core);
    plan->steps = (uint64_t)steps;
    return STATUS_OK;
}
