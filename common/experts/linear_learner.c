/* Dwork and Roth 2014, algorithm 17. Deviation: its losses <x, e_i> = x_i lie in [-1,1], for which
 * neither the range nor the regret of the weighted majority was proved; (1 + x_i)/2 lies in [0,1],
 * has the same best coordinate, and regrets half as much. */

#include "experts/linear_learner.h"

#include "base/check.h"

#include <math.h>

enum { BITS_MAX = 40 };

void linear_learner_losses(int64_t *loss, const double *x, size_t d, unsigned bits)
{
    CHECK(bits <= BITS_MAX);
    for (size_t i = 0; i < d; i++) {
        const double inside = x[i] >= -1 && x[i] <= 1 ? x[i] : x[i] < -1 ? -1 : 1;
        loss[i] = (int64_t)floor(ldexp(1 + inside, (int)bits - 1) + 0.5);
    }
}

void linear_learner_answer(double *y, const uint64_t *plays, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += (double)plays[i];
    }
    CHECK(sum > 0);
    for (size_t i = 0; i < d; i++) {
        y[i] = (double)plays[i] / sum;
    }
}
