/* A distribution on the grid that the true pair dominates: the lower end of what the accountant certifies.
 *
 * Whoever forgets which of some outcomes it was learns no more, so outcomes may be merged: P-mass and
 * Q-mass add up, and the loss of what they make is the logarithm of the quotient. From the lowest loss
 * upward, what lies between two grid points is merged with as much from above the upper one as brings
 * the loss to just that point (or, where masses fall so fast that there is not enough, with what lies
 * on lower points, to bring it to the lower one). No loss is moved by more than rounding, so the mean
 * under either output stays, and the sum of many runs loses a share of its variance of the order
 * step^2, as the pessimistic distribution gains one. What is left at the top is put on the point below it,
 * and masses that rounding has made doubtful are left out: both can only lower the curve. */

#include "lab/composition/pld_run.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define ROUNDING (DBL_EPSILON / 2)

/* Merges the pool with a share of this mass, of ratio e^(lower end of cell i - loss), to lie on the
 * pool's target; false where it is not enough. */
static bool lift(struct pld_run *run, double *mass, double surplus)
{
    struct pld_pool *pool = &run->pool;
    if (surplus < pool->lack) {
        return false;
    }
    double share = pool->lack > 0 ? fmin(1, pool->lack / surplus * (1 + 8 * ROUNDING)) : 0;
    run->log_mass[pool->target] += pool->mass + share * *mass;
    *mass *= 1 - share;
    pool->mass = 0;
    return true;
}

/* Merges the pool with mass of the point two below its target, to lie on that one below it; false
 * where it is not enough. */
static bool lower(struct pld_run *run)
{
    struct pld_pool *pool = &run->pool;
    size_t point = pool->target - 1;
    double excess = pool->mass * run->fall - pool->lack * (1 - run->fall);
    double taken = fmax(0, excess) / expm1(run->grid.step);
    if (point == 0 || run->log_mass[point - 1] < taken) {
        return false;
    }
    run->log_mass[point - 1] -= taken;
    run->log_mass[point] += pool->mass + taken;
    pool->mass = 0;
    return true;
}

void pld_run_merge_cell(struct pld_run *run, size_t i, double p, double q, double error)
{
    struct pld_pool *pool = &run->pool;
    double step = run->grid.step;
    double from = run->grid.offset + (double)i * step;
    double slack = error + 32 * ROUNDING * (1 + fabs(from));
    double ratio = exp(from + log(q / p)); /* e^(from - loss) */
    double mass = p;
    if (!(p > 0) || !(ratio <= 1 + slack)) {
        return;
    }
    ratio = fmin(1, fmax(ratio * (1 + slack), 1 - run->fall));
    if (pool->mass > 0) {
        double beyond = exp((double)(i - pool->target) * -step);
        double surplus = mass * (1 - ratio * beyond);
        if (!lift(run, &mass, surplus) && !lower(run)) {
            pool->mass += mass;
            pool->lack -= surplus;
            return;
        }
    }
    if (mass > 0) {
        *pool = (struct pld_pool){mass, fmax(0, mass * (ratio / (1 - run->fall) - 1)), i + 1};
    }
}

void pld_run_merge_rest(struct pld_run *run)
{
    if (run->pool.mass > 0 && !lower(run)) {
        run->log_mass[run->pool.target - 1] += run->pool.mass;
    }
    run->slip += 64 * ROUNDING;
}
