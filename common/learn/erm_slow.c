/* The methods whose number of steps is proved. Both run in the space of the records' coefficients c
 * (m), w = X^T c: the primal method's iterates lie in the records' span, so that this is the same
 * sequence, and the dual's are coefficients anyway.
 *
 * Smooth losses: Nesterov's constant scheme (2.2.11). The others: FISTA on the dual over the box,
 *     D(a) = (1/m) sum (a_i y_i - width |a_i|) - lambda ||w(a)||^2,   c = a/(2 lambda m),
 * from the middle of the box, which halves the distance to the farthest solution. A step of 1 over
 * the curvature kappa^2/(2 lambda m) in a is one of (y_i - f_i)/(kappa^2 m) in c. */

#include "learn/erm_core.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

struct slow {
    double *c; /* (m) */
    double *v; /* (m) c with momentum */
    double *f; /* (m), at least (d) */
    double *w; /* (d) by features */
};

static void slow_free(struct slow *slow, const struct core *core)
{
    core_numbers_free(slow->c, core->m);
    core_numbers_free(slow->v, core->m);
    core_numbers_free(slow->f, core->m > core->d ? core->m : core->d);
    core_numbers_free(slow->w, core->by_gram ? 0 : core->d);
}

static void update_scores(struct slow *slow, const struct core *core)
{
    if (core->by_gram) {
        core_scores(slow->f, core, slow->v);
    } else {
        core_combine(slow->w, slow->f, core, slow->v);
        core_scores(slow->f, core, slow->w);
    }
}

/* c' = v - (1/L) grad(v), in coefficients: grad = (1/m) L'(f) + 2 lambda v. */
static void run_smooth(struct slow *slow, const struct core *core, uint64_t steps)
{
    const double mu = 2 * core->lambda;
    const double smooth = loss_curvature(core->loss) * core->kappa * core->kappa + mu;
    const double root = sqrt(mu / smooth);
    const double momentum = (1 - root) / (1 + root);
    const double share = 1 / (double)core->m;
    for (uint64_t step = 0; step < steps; step++) {
        update_scores(slow, core);
        for (size_t i = 0; i < core->m; i++) {
            const double slope = loss_derivative(core->loss, slow->f[i], core->y[i]);
            const double next = slow->v[i] - (share * slope + mu * slow->v[i]) / smooth;
            slow->v[i] = next + momentum * (next - slow->c[i]);
            slow->c[i] = next;
        }
    }
}

static double shrunk(double value, double width)
{
    return copysign(fmax(fabs(value) - width, 0), value);
}

static void run_box(struct slow *slow, const struct core *core, uint64_t steps)
{
    const double share = 1 / ((double)core->m * core->kappa * core->kappa);
    const double top = 1 / (2 * core->lambda * (double)core->m);
    double t = 1;
    for (size_t i = 0; i < core->m; i++) {
        const struct loss_box box = loss_box(core->loss, core->y[i]);
        slow->c[i] = top * (box.low + box.high) / 2;
        slow->v[i] = slow->c[i];
    }
    for (uint64_t step = 0; step < steps; step++) {
        const double t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
        const double momentum = (t - 1) / t_next;
        t = t_next;
        update_scores(slow, core);
        for (size_t i = 0; i < core->m; i++) {
            const struct loss_box box = loss_box(core->loss, core->y[i]);
            const double moved =
                shrunk(slow->v[i] + share * (core->y[i] - slow->f[i]), share * box.width);
            const double next = fmin(fmax(moved, top * box.low), top * box.high);
            slow->v[i] = next + momentum * (next - slow->c[i]);
            slow->c[i] = next;
        }
    }
}

enum status core_solve_slowly(double *w, const struct core *core, struct why *why)
{
    struct erm_plan plan;
    struct slow slow = {0};
    enum status status = core_plan(&plan, core, why);
    if (status != STATUS_OK) {
        return status;
    }
    slow.c = core_numbers(core->m, 1);
    slow.v = core_numbers(core->m, 1);
    slow.f = core_numbers(core->m > core->d ? core->m : core->d, 1);
    slow.w = core_numbers(core->by_gram ? 0 : core->d, 1);
    if (slow.c == NULL || slow.v == NULL || slow.f == NULL || slow.w == NULL) {
        why_set(why, "not enough memory for the fit");
        status = STATUS_NO_MEMORY;
        goto done;
    }
    if (loss_is_smooth(core->loss)) {
        run_smooth(&slow, core, plan.steps);
    } else {
        run_box(&slow, core, plan.steps);
    }
    if (core->by_gram) {
        memcpy(w, slow.c, core->m * sizeof *w);
    } else {
        core_combine(w, slow.f, core, slow.c);
    }
done:
    slow_free(&slow, core);
    return status;
}
