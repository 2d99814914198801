/* kernel_machine.h - regularised risk minimisation in a kernel's space: f = argmin (1/m) sum
 * L(f(x_i), y_i) + lambda ||f||_K^2 (gamma = 2), f = sum c_i K(x_i, .), to a public tolerance, as
 * erm.h.
 *
 * A MODEL HOLDS THE RECORDS: it stays at home and is never released, nor is any file made of it.
 * What may leave is its answers at public points, through the gate: sensitivity_predict. */

#ifndef LEARN_KERNEL_MACHINE_H
#define LEARN_KERNEL_MACHINE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/dataset.h"
#include "learn/erm.h"
#include "learn/kernel.h"
#include "learn/loss.h"

#include <stddef.h>

struct kernel_problem {
    struct loss loss; /* not zero_one */
    struct kernel kernel;
    double lambda;       /* > 0 */
    double tolerance;    /* smooth losses: gradient norm in K; the others: duality gap; public */
    size_t record_count; /* m, at most KERNEL_RECORDS_MAX */
    size_t feature_count;
};

enum { KERNEL_RECORDS_MAX = 32768 }; /* their Gram matrix takes 8 GiB */

struct kernel_model {
    struct kernel kernel;
    size_t record_count;
    size_t feature_count;
    double *x;     /* (m, d) a copy of the records; owned */
    double *alpha; /* (m) the coefficients; owned */
};

/** Plans a run, as erm_plan: plan.distance bounds ||f - f*||_K on every data set with norms and
 * labels at most 1. Fails with STATUS_INVALID. */
MUST_USE enum status kernel_plan(struct erm_plan *plan, const struct kernel_problem *problem,
                                 struct why *why);

/**
 * Fits a model. Least squares by one Cholesky factorisation.
 *
 * model  out  zeroed on failure; kernel_model_free
 * data   in   (m, d) with labels, norms at most 1; its shape is the problem's (CHECKed)
 *
 * Ensures ||f - f*||_K <= plan.distance. Fails with STATUS_NO_MEMORY, STATUS_INVALID (as
 * kernel_plan). Privacy: everything in the model is the institution's own.
 * Cost O(m^2 d) and: smooth losses m^3/3 a step, one for least squares; the others O(m^2) a pass.
 * Memory O(m^2), twice that for smooth losses.
 */
MUST_USE enum status kernel_fit(struct kernel_model *model, const struct kernel_problem *problem,
                                const struct dataset *data, struct why *why);

/** Writes f (count), the model's answers at points (count, d). Privacy: exact; for the gate only.
 * Cost O(count m d). */
void kernel_predict(double *f, const struct kernel_model *model, const double *points,
                    size_t count);

/** Wipes and frees; kernel_model_free of a zeroed model does nothing. */
void kernel_model_free(struct kernel_model *model);

#endif
