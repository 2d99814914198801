/* Strong convexity gives the first bound: with g the objective on z, g' on z', w and w' their
 * minimisers, 2 lambda ||w - w'||^2 <= <grad, w - w'> terms of the one replaced record, at most 2
 * C_L kappa ||w - w'||/m together. With gamma = 2 that is ||w - w'|| <= 2 kappa C_L/(lambda gamma
 * m). The solver's results lie within its distance of w and of w'. Everything is rounded up: each
 * line has fewer than eight roundings. */

#include "learn/sensitivity.h"

#include <float.h>
#include <math.h>

static const double up = 1 + 8 * DBL_EPSILON;
static const double whole_max = 9007199254740992.0; /* 2^53 */

static enum status to_whole(uint64_t *whole, double value, struct why *why)
{
    if (!(value < whole_max)) {
        why_set(why, "the sensitivity is 2^53 grid steps or more: take a coarser grid (fewer "
                     "grid_bits), a larger lambda or fewer experts");
        return STATUS_INVALID;
    }
    *whole = (uint64_t)value;
    return STATUS_OK;
}

enum status sensitivity_fit_l2(double *delta_2, const struct erm_problem *problem, struct why *why)
{
    struct erm_plan plan;
    const enum status status = erm_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double gamma = 2;
    const double lipschitz = loss_lipschitz(problem->loss, 1, 1, problem->lambda);
    const double exact = 2 * lipschitz / (problem->lambda * gamma * (double)problem->record_count);
    *delta_2 = (exact + 2 * plan.distance) * up;
    return STATUS_OK;
}

enum status sensitivity_fit_l1(uint64_t *delta_1, const struct erm_problem *problem,
                               unsigned grid_bits, struct why *why)
{
    double delta_2 = 0;
    const enum status status = sensitivity_fit_l2(&delta_2, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double d = (double)problem->feature_count;
    const double steps = ldexp(sqrt(d) * delta_2 * up, (int)(grid_bits < 1000 ? grid_bits : 1000));
    return to_whole(delta_1, ceil(steps) + d, why);
}

enum status sensitivity_fit_range(uint64_t *bound, const struct erm_problem *problem,
                                  unsigned grid_bits, struct why *why)
{
    struct erm_plan plan;
    const enum status status = erm_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double norm = (loss_ball(problem->loss, 1, 1, problem->lambda) + plan.distance) * up;
    const double steps = ldexp(norm, (int)(grid_bits < 1000 ? grid_bits : 1000));
    return to_whole(bound, ceil(steps) + 1, why);
}

enum status sensitivity_losses_l1(uint64_t *delta_1, size_t expert_count, unsigned grid_bits,
                                  struct why *why)
{
    return to_whole(delta_1,
                    ldexp((double)expert_count, (int)(grid_bits < 1000 ? grid_bits : 1000)), why);
}
