/* online_kernel.h - the oracle of online_run: the exact kernel form f_t = sum_i alpha_i K(x_i, .). The record at t
 * enters with the coefficient -eta_t (f_t(x_t) - y_t), and all before it shrink by 1 - eta_t lambda_t. alpha (count),
 * gram (count, count) symmetric. */

#ifndef SUPPORT_ONLINE_KERNEL_H
#define SUPPORT_ONLINE_KERNEL_H

#include "base/check.h"
#include "learn/online.h"

#include <math.h>

static inline void online_run_kernel(double *alpha, const struct online_problem *problem,
                                     const double *gram, const double *y, size_t count)
{
    CHECK(online_check(problem, NULL) == STATUS_OK);
    for (size_t t = 0; t < count; t++) {
        const double v = (double)t + (double)problem->t0;
        const double eta = pow(v, -problem->theta);
        const double lambda = pow(v, problem->theta - 1);
        double f = 0;
        for (size_t i = 0; i < t; i++) {
            f += alpha[i] * gram[t * count + i];
        }
        for (size_t i = 0; i < t; i++) {
            alpha[i] *= 1 - eta * lambda;
        }
        alpha[t] = -eta * (f - fmin(fmax(y[t], -problem->bound), problem->bound));
    }
}

#endif
