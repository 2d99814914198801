/* Both solvers run in the space of the records' coefficients c (m), w = Z^T c, z_i = y_i x_i: the
 * primal method's iterates lie in the records' span, so that this is the same sequence, and the
 * dual's are coefficients anyway. One step costs one product with Z Z^T, made in two passes over Z,
 * or with the Gram matrix when there are more features than records.
 *
 * Deviation from Nesterov's (2.2.11): none; from FISTA: it starts in the middle of the box, which
 * halves the distance to the farthest solution. */

#include "learn/erm.h"

#include "base/bytes.h"
#include "base/check.h"
#include "learn/dense.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct solver {
    size_t m;
    size_t d;
    bool by_gram;   /* d > m */
    double *z_t;    /* (d, m): Z's columns; or, by Gram, z (m, d) row by row */
    double *gram;   /* (m, m) */
    double *w;      /* (d) */
    double *margin; /* (m) */
    double *c;      /* (m) */
    double *v;      /* (m) c with momentum */
};

static double *numbers(size_t rows, size_t columns)
{
    if (rows > SIZE_MAX / sizeof(double) / (columns + 1)) {
        return NULL;
    }
    return calloc(rows * columns + 1, sizeof(double));
}

static void numbers_free(double *number, size_t count)
{
    if (number != NULL) {
        bytes_wipe(number, count * sizeof *number);
    }
    free(number);
}

static void solver_free(struct solver *solver)
{
    const size_t m = solver->m;
    const size_t d = solver->d;
    numbers_free(solver->z_t, m * d);
    numbers_free(solver->gram, solver->by_gram ? m * m : 0);
    numbers_free(solver->w, d);
    numbers_free(solver->margin, m);
    numbers_free(solver->c, m);
    numbers_free(solver->v, m);
    *solver = (struct solver){0};
}

static void fill_records(struct solver *solver, const struct dataset *data)
{
    const size_t m = solver->m;
    const size_t d = solver->d;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < d; j++) {
            solver->z_t[solver->by_gram ? i * d + j : j * m + i] = data->y[i] * data->x[i * d + j];
        }
    }
    if (solver->by_gram) {
        dense_gram(solver->gram, solver->z_t, m, d);
    }
}

static enum status solver_init(struct solver *solver, const struct dataset *data)
{
    const size_t m = data->record_count;
    const size_t d = data->feature_count;
    *solver = (struct solver){.m = m, .d = d, .by_gram = d > m};
    solver->z_t = numbers(m, d);
    solver->gram = solver->by_gram ? numbers(m, m) : NULL;
    solver->w = numbers(d, 1);
    solver->margin = numbers(m, 1);
    solver->c = numbers(m, 1);
    solver->v = numbers(m, 1);
    if (solver->z_t == NULL || (solver->by_gram && solver->gram == NULL) || solver->w == NULL ||
        solver->margin == NULL || solver->c == NULL || solver->v == NULL) {
        solver_free(solver);
        return STATUS_NO_MEMORY;
    }
    fill_records(solver, data);
    return STATUS_OK;
}

static void update_margins(struct solver *solver)
{
    if (solver->by_gram) {
        dense_symmetric(solver->margin, solver->gram, solver->v, solver->m);
        return;
    }
    dense_combine(solver->w, solver->z_t, solver->v, solver->m, solver->d);
    dense_margins(solver->margin, solver->z_t, solver->w, solver->m, solver->d);
}

static void combine(const struct solver *solver, double *w)
{
    if (!solver->by_gram) {
        dense_combine(w, solver->z_t, solver->c, solver->m, solver->d);
        return;
    }
    for (size_t j = 0; j < solver->d; j++) {
        w[j] = 0;
    }
    for (size_t i = 0; i < solver->m; i++) {
        dense_axpy(w, solver->c[i], solver->z_t + i * solver->d, solver->d);
    }
}

/* c' = v - (1/L) grad(v), in coefficients: grad = (1/m) L'(margin) + 2 lambda v. */
static void run_logistic(struct solver *solver, double lambda, uint64_t steps)
{
    const struct loss logistic = {.kind = LOSS_LOGISTIC};
    const double mu = 2 * lambda;
    const double smooth = 0.25 + mu;
    const double root = sqrt(mu / smooth);
    const double momentum = (1 - root) / (1 + root);
    const double share = 1 / (double)solver->m;
    for (uint64_t step = 0; step < steps; step++) {
        update_margins(solver);
        for (size_t i = 0; i < solver->m; i++) {
            const double slope = loss_derivative(logistic, solver->margin[i], 1);
            const double next = solver->v[i] - (share * slope + mu * solver->v[i]) / smooth;
            solver->v[i] = next + momentum * (next - solver->c[i]);
            solver->c[i] = next;
        }
    }
}

/* In c = a/(2 lambda m): the dual's box is [0, 1/(2 lambda m)]^m, and a step of 1/curvature in a,
 * 2 lambda m (1/m)(1 - margin), is one of (1 - margin)/m in c. */
static void run_hinge(struct solver *solver, double lambda, uint64_t steps)
{
    const double share = 1 / (double)solver->m;
    const double top = share / (2 * lambda);
    double t = 1;
    for (size_t i = 0; i < solver->m; i++) {
        solver->c[i] = top / 2;
        solver->v[i] = top / 2;
    }
    for (uint64_t step = 0; step < steps; step++) {
        const double t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
        const double momentum = (t - 1) / t_next;
        t = t_next;
        update_margins(solver);
        for (size_t i = 0; i < solver->m; i++) {
            const double moved = solver->v[i] + share * (1 - solver->margin[i]);
            const double next = fmin(fmax(moved, 0), top);
            solver->v[i] = next + momentum * (next - solver->c[i]);
            solver->c[i] = next;
        }
    }
}

static void check_shape(const struct erm_problem *problem, const struct dataset *data)
{
    CHECK(data->record_count == problem->record_count);
    CHECK(data->feature_count == problem->feature_count);
    CHECK(data->y != NULL);
}

enum status erm_solve(double *w, const struct erm_problem *problem, const struct dataset *data,
                      struct why *why)
{
    struct erm_plan plan;
    struct solver solver;
    check_shape(problem, data);
    enum status status = erm_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = solver_init(&solver, data);
    if (status != STATUS_OK) {
        why_set(why, "not enough memory for the fit");
        return status;
    }
    if (problem->loss.kind == LOSS_LOGISTIC) {
        run_logistic(&solver, problem->lambda, plan.steps);
    } else {
        run_hinge(&solver, problem->lambda, plan.steps);
    }
    combine(&solver, w);
    solver_free(&solver);
    return STATUS_OK;
}

double erm_objective(const double *w, const struct erm_problem *problem, const struct dataset *data)
{
    check_shape(problem, data);
    const size_t d = data->feature_count;
    double sum = 0;
    for (size_t i = 0; i < data->record_count; i++) {
        sum += loss_value(problem->loss, dense_dot(w, data->x + i * d, d), data->y[i]);
    }
    return sum / (double)data->record_count + problem->lambda * dense_dot(w, w, d);
}
