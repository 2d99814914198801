/* erm_reference.h - the sure methods of learn/erm.h by plain loops straight from their papers, w in the primal
 * space for the smooth losses: slow and simple, for comparison. */

#ifndef SUPPORT_ERM_REFERENCE_H
#define SUPPORT_ERM_REFERENCE_H

#include "base/check.h"
#include "learn/erm.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline double inner(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static inline enum status smooth_loss(double *w, const struct erm_problem *problem,
                                      const struct dataset *data, uint64_t steps)
{
    const size_t m = data->record_count;
    const size_t d = data->feature_count;
    const double mu = 2 * problem->lambda;
    const double smooth = loss_curvature(problem->loss) + mu;
    const double momentum = (sqrt(smooth) - sqrt(mu)) / (sqrt(smooth) + sqrt(mu));
    double *v = calloc(d, sizeof *v);
    double *gradient = calloc(d, sizeof *gradient);
    const bool enough = v != NULL && gradient != NULL;
    memset(w, 0, d * sizeof *w);
    for (uint64_t step = 0; enough && step < steps; step++) {
        for (size_t j = 0; j < d; j++) {
            gradient[j] = mu * v[j];
        }
        for (size_t i = 0; i < m; i++) {
            const double *x = data->x + i * d;
            const double slope = loss_derivative(problem->loss, inner(v, x, d), data->y[i]);
            for (size_t j = 0; j < d; j++) {
                gradient[j] += slope * x[j] / (double)m;
            }
        }
        for (size_t j = 0; j < d; j++) {
            const double next = v[j] - gradient[j] / smooth;
            v[j] = next + momentum * (next - w[j]);
            w[j] = next;
        }
    }
    free(v);
    free(gradient);
    return enough ? STATUS_OK : STATUS_NO_MEMORY;
}

/* w(a) = (1/(2 lambda m)) sum a_i x_i */
static inline void from_dual(double *w, const double *a, const struct erm_problem *problem,
                             const struct dataset *data)
{
    const size_t d = data->feature_count;
    memset(w, 0, d * sizeof *w);
    for (size_t i = 0; i < data->record_count; i++) {
        const double factor = a[i] / (2 * problem->lambda * (double)data->record_count);
        for (size_t j = 0; j < d; j++) {
            w[j] += factor * data->x[i * d + j];
        }
    }
}

/* The record's box: hinge [0, y], pinball [tau-1, tau], else [-1, 1]. */
static inline double low(struct loss loss, double y)
{
    return loss.kind == LOSS_HINGE ? fmin(y, 0)
                                   : (loss.kind == LOSS_PINBALL ? loss.parameter - 1 : -1);
}

static inline double high(struct loss loss, double y)
{
    return loss.kind == LOSS_HINGE ? fmax(y, 0) : (loss.kind == LOSS_PINBALL ? loss.parameter : 1);
}

static inline enum status box_loss(double *w, const struct erm_problem *problem,
                                   const struct dataset *data, uint64_t steps)
{
    const size_t m = data->record_count;
    const size_t d = data->feature_count;
    const struct loss loss = problem->loss;
    const double curvature = 1 / (2 * problem->lambda * (double)m);
    const double kink = loss.kind == LOSS_INSENSITIVE ? loss.parameter : 0;
    double *a = calloc(m, sizeof *a);
    double *v = calloc(m, sizeof *v);
    const bool enough = a != NULL && v != NULL;
    double t = 1;
    for (size_t i = 0; enough && i < m; i++) {
        a[i] = (low(loss, data->y[i]) + high(loss, data->y[i])) / 2;
        v[i] = a[i];
    }
    for (uint64_t step = 0; enough && step < steps; step++) {
        const double t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
        from_dual(w, v, problem, data);
        for (size_t i = 0; i < m; i++) {
            const double rise = (data->y[i] - inner(w, data->x + i * d, d)) / (double)m;
            const double moved = v[i] + rise / curvature;
            const double cut = kink / (double)m / curvature;
            const double soft = moved > cut ? moved - cut : (moved < -cut ? moved + cut : 0);
            const double next = fmin(fmax(soft, low(loss, data->y[i])), high(loss, data->y[i]));
            v[i] = next + (t - 1) / t_next * (next - a[i]);
            a[i] = next;
        }
        t = t_next;
    }
    if (enough) {
        from_dual(w, a, problem, data);
    }
    free(a);
    free(v);
    return enough ? STATUS_OK : STATUS_NO_MEMORY;
}

static inline enum status erm_solve_reference(double *w, const struct erm_problem *problem,
                                              const struct dataset *data, struct why *why)
{
    struct erm_plan plan;
    CHECK(data->record_count == problem->record_count);
    CHECK(data->feature_count == problem->feature_count);
    const enum status status = erm_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    return loss_is_smooth(problem->loss) ? smooth_loss(w, problem, data, plan.steps)
                                         : box_loss(w, problem, data, plan.steps);
}

#endif
