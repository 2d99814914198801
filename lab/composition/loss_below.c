/* A law on the grid that the true pair dominates: the lower end of what the accountant certifies.
 *
 * Whoever forgets which of some outcomes it was learns no more, so outcomes may be merged: P-mass and
 * Q-mass add up, and the loss of what they make is the logarithm of the quotient. From the lowest loss
 * upward, what lies between two grid points is merged with as much from above the upper one as brings
 * the loss to just that point (or, where masses fall so fast that there is not enough, with what lies
 * on lower points, to bring it to the lower one). No loss is moved by more than rounding, so the mean
 * under either output stays, and the sum of many runs loses a share of its variance of the order
 * step^2, as the law from above gains one. What is left at the top is put on the point below it,
 * and masses that rounding has made doubtful are left out: both can only lower the curve. */

#include "lab/composition/loss_private.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define ROUNDING (DBL_EPSILON / 2)

/* Merges the pool with a share of this mass, of ratio e^(lower end of cell i - loss), to lie on the
 * pool's target; false where it is not enough. */
static bool lift(struct loss_law *law, double *mass, double surplus)
{
    struct loss_pool *pool = &law->pool;
    if (surplus < pool->lack) {
        return false;
    }
    double share = pool->lack > 0 ? fmin(1, pool->lack / surplus * (1 + 8 * ROUNDING)) : 0;
    law->log_mass[pool->target] += pool->mass + share * *mass;
    *mass *= 1 - share;
    pool->mass = 0;
    return true;
}

/* Merges the pool with mass of the point two below its target, to lie on that one below it; false
 * where it is not enough. */
static bool lower(struct loss_law *law)
{
    struct loss_pool *pool = &law->pool;
    size_t point = pool->target - 1;
    double excess = pool->mass * law->fall - pool->lack * (1 - law->fall);
    double taken = fmax(0, excess) / expm1(law->grid.step);
    if (point == 0 || law->log_mass[point - 1] < taken) {
        return false;
    }
    law->log_mass[point - 1] -= taken;
    law->log_mass[point] += pool->mass + taken;
    pool->mass = 0;
    return true;
}

void loss_merge_cell(struct loss_law *law, size_t i, double p, double q, double error)
{
    struct loss_pool *pool = &law->pool;
    double step = law->grid.step;
    double from = law->grid.offset + (double)i * step;
    double slack = error + 32 * ROUNDING * (1 + fabs(from));
    double ratio = exp(from + log(q / p)); /* e^(from - loss) */
    double mass = p;
    if (!(p > 0) || !(ratio <= 1 + slack)) {
        return;
    }
    ratio = fmin(1, fmax(ratio * (1 + slack), 1 - law->fall));
    if (pool->mass > 0) {
        double beyond = exp((double)(i - pool->target) * -step);
        double surplus = mass * (1 - ratio * beyond);
        if (!lift(law, &mass, surplus) && !lower(law)) {
            pool->mass += mass;
            pool->lack -= surplus;
            return;
        }
    }
    if (mass > 0) {
        *pool = (struct loss_pool){mass, fmax(0, mass * (ratio / (1 - law->fall) - 1)), i + 1};
    }
}

void loss_merge_rest(struct loss_law *law)
{
    if (law->pool.mass > 0 && !lower(law)) {
        law->log_mass[law->pool.target - 1] += law->pool.mass;
    }
    law->slip += 64 * ROUNDING;
}
