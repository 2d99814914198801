/* Stochastic gradient descent on a regularised square loss, a record at a time. What one record
 * moves is bounded in online_influence.c. */

#include "learn/online.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/dense.h"

#include <float.h>
#include <math.h>

static const double field_max = 1048576;
enum { GRID_BITS_MAX = 52 };

enum status online_check(const struct online_problem *problem, struct why *why)
{
    if (!(problem->theta > 0.5 && problem->theta < 1)) {
        return why_refuse(
            why, "theta must lie above 1/2 and below 1: outside, no bound is known on what "
                 "one record can move");
    }
    if (!(problem->kappa >= 1 / field_max && problem->kappa <= field_max)) {
        return why_refuse(why,
                          "kappa, the features' largest norm, must lie between 2^-20 and 2^20");
    }
    if (!(problem->bound >= 1 / field_max && problem->bound <= field_max)) {
        return why_refuse(why, "bound, the largest |y|, must lie between 2^-20 and 2^20");
    }
    const double needed = problem->kappa * problem->kappa + 1;
    if (problem->t0 < 1 || problem->t0 > UINT64_C(1) << ONLINE_TIME_MAX_LOG2 ||
        !(pow((double)problem->t0, problem->theta) >= needed)) {
        return why_refuse(
            why,
            "t0 = %.17g is too small, or above 2^%d: t0^theta must be at least kappa^2 + 1, so "
            "take t0 = %.0f or more",
            (double)problem->t0, ONLINE_TIME_MAX_LOG2, ceil(pow(needed, 1 / problem->theta)));
    }
    if (problem->grid_bits > GRID_BITS_MAX) {
        return why_refuse(why, "grid_bits must be at most 52");
    }
    if (problem->feature_count < 1 || problem->feature_count > (size_t)1 << 24) {
        return why_refuse(why, "there must be 1 to 2^24 features");
    }
    return STATUS_OK;
}

static void check(const struct online_problem *problem)
{
    CHECK(online_check(problem, NULL) == STATUS_OK);
}

/* y as the bound says; no number counts as 0. */
static double clamped(double y, double bound)
{
    return even_min(even_max(even_keep(~even_is_nan(y), y), -bound), bound);
}

/* What x is multiplied with, so that its norm is at most kappa: 1 as a rule. */
static double shrink_of(const double *x, size_t count, double kappa)
{
    const double square = dense_dot(x, x, count);
    const double shrink = kappa / even_max(sqrt(square), DBL_MIN);
    return even_keep(mask_of(square <= DBL_MAX), even_min(shrink, 1));
}

/* Residuals this small are taken for 0, so that no product of theirs is subnormal:
 * dense_flushed. */
static double flushed(double residual)
{
    return even_flushed(residual);
}

void online_run(double *w, const struct online_problem *problem, const double *x, const double *y,
                uint64_t first, size_t count)
{
    check(problem);
    const size_t d = problem->feature_count;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)(first + i) + (double)problem->t0;
        const double *row = x + i * d;
        const double shrink = shrink_of(row, d, problem->kappa);
        const double residual =
            flushed(shrink * dense_dot(w, row, d) - clamped(y[i], problem->bound));
        const double keep = (v - 1) / v; /* 1 - eta lambda */
        const double step = -pow(v, -problem->theta) * residual * shrink;
        for (size_t j = 0; j < d; j++) {
            w[j] = keep * w[j] + step * row[j];
        }
    }
}
