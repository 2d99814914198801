/* erm_core.h - inside learn: the solvers' common ground. One problem,
 *     F(w) = (1/m) sum L(f_i, y_i) + lambda ||w||^2,    ||phi(x_i)|| <= kappa,    |y_i| <= 1,
 * in one of two forms: by features, f = X w; by Gram, w = sum c_i phi(x_i), f = K c, ||w||^2 =
 * c^T K c. m records, d features. A fast method first, which certifies what it reached; should it
 * ever fail, a slow one whose number of steps is proved. */

#ifndef LEARN_ERM_CORE_H
#define LEARN_ERM_CORE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/erm.h"
#include "learn/loss.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core {
    struct loss loss;
    double lambda;
    double tolerance;
    double kappa;
    size_t m;
    size_t d;           /* by Gram: what a kernel reads, for the cost alone */
    double entry_error; /* by Gram: kernel_rounding */
    bool by_gram;       /* then x is NULL, else gram */
    const double *x;    /* (m, d) row by row */
    double *gram;       /* (m, m); of a smooth loss only the diagonal and above: below is scratch */
    const double *y;    /* (m) */
};

/** The largest size of a coefficient: for least squares, of their root mean square. */
double core_slope(struct loss loss);

/** Fills the plan from the public numbers alone: x, gram and y are not looked at. Fails as
 * erm_plan. */
MUST_USE enum status core_plan(struct erm_plan *plan, const struct core *core, struct why *why);

/** Returns the steps or passes that core_solve grants the fast method, of a plan that allows
 * `steps` of the sure one. Public. */
uint64_t core_patience(const struct core *core, uint64_t steps);

/** Returns a bound on the rounding errors of a certificate, and of its parts. */
double core_rounding(const struct core *core);

/** Solves. w  out  (d) the weights by features, (m) the coefficients c by Gram. Ensures the
 * distance of its plan. Fails with STATUS_NO_MEMORY, STATUS_INVALID as core_plan. */
MUST_USE enum status core_solve(double *w, const struct core *core, struct why *why);

/** Runs the proved number of steps alone; for core_solve and for tests. */
MUST_USE enum status core_solve_slowly(double *w, const struct core *core, struct why *why);

/**
 * The fast methods: Newton for smooth losses (Cholesky is its one step for least squares), dual
 * coordinate descent for the others.
 *
 * most       in   steps of Newton or passes of descent, after which they give up
 * certified  out  whether F's gradient norm, or the duality gap, is at most the tolerance, the
 *                 rounding errors of the certificate included
 *
 * Fail with STATUS_NO_MEMORY.
 */
MUST_USE enum status newton_descend(double *w, bool *certified, const struct core *core,
                                    uint64_t most);
MUST_USE enum status dual_descend(double *w, bool *certified, const struct core *core,
                                  uint64_t most);

/** f (m) = X w, or K c; and, by features only, w (d) = X^T c. Both add up in blocks: no sum of n
 * terms errs by more than core_terms(n) units of 2^-53 of its terms' sizes.
 * scratch  out  (d) */
void core_scores(double *f, const struct core *core, const double *w);
void core_combine(double *w, double *scratch, const struct core *core, const double *c);
double core_terms(size_t n);

/** Returns ||w||^2, given f = core_scores(w). */
double core_square(const struct core *core, const double *w, const double *f);

/** Allocates rows * columns zeroed numbers (and one more), NULL when there is no memory; and wipes
 * and frees them. */
double *core_numbers(size_t rows, size_t columns);
void core_numbers_free(double *number, size_t count);

#endif
