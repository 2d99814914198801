/* Strong convexity gives the first bound. Let F be the objective on z, F' on z', f and f' their
 * minimisers. At f the gradient of F' is that of F, which is 0, but for the one replaced record:
 * two slopes of L, each at most C_L kappa/m. F' is lambda gamma-strongly convex, so ||f - f'|| <=
 * 2 C_L kappa/(lambda gamma m). Slopes are taken at f alone: C_L need only hold at minimisers. The
 * second: lambda gamma ||f - f'||^2 <= F'(f) - F'(f') + F(f') - F(f), in which all but the
 * replaced record's four losses cancel, at most 2 B/m. The solver's results lie within its
 * distance of f and f'. Everything is rounded up: each line has fewer than eight roundings. */

#include "learn/sensitivity.h"

#include <float.h>
#include <math.h>

static const double up = 1 + 8 * DBL_EPSILON;
static const double whole_max = 9007199254740992.0; /* 2^53 */

static enum status to_whole(uint64_t *whole, double value, struct why *why)
{
    if (!(value < whole_max)) {
        return why_refuse(why,
                          "the sensitivity is 2^53 grid steps or more: take a coarser grid (fewer "
                          "grid_bits), a larger lambda or fewer experts");
    }
    *whole = (uint64_t)value;
    return STATUS_OK;
}

double sensitivity_minimiser(struct loss loss, double kappa, double lambda, size_t record_count)
{
    const double gamma = 2;
    const double strength = lambda * gamma * (double)record_count;
    const double lipschitz = loss_lipschitz(loss, 1, kappa, lambda);
    const double f = kappa * loss_ball(loss, 1, kappa, lambda) * up;
    /* Convex in f and in y: the largest loss is at an end of both. */
    const double largest = fmax(fmax(loss_value(loss, f, 1), loss_value(loss, f, -1)),
                                fmax(loss_value(loss, -f, 1), loss_value(loss, -f, -1)));
    return fmin(2 * kappa * lipschitz / strength, sqrt(2 * largest * up / strength)) * up;
}

enum status sensitivity_fit_l2(double *delta_2, const struct erm_problem *problem, struct why *why)
{
    struct erm_plan plan;
    const enum status status = erm_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double exact =
        sensitivity_minimiser(problem->loss, 1, problem->lambda, problem->record_count);
    *delta_2 = (exact + 2 * plan.distance) * up;
    return STATUS_OK;
}

enum status sensitivity_predict(double *delta_inf, const struct kernel_problem *problem,
                                struct why *why)
{
    struct erm_plan plan;
    const enum status status = kernel_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double kappa = kernel_kappa(problem->kernel);
    const double exact =
        sensitivity_minimiser(problem->loss, kappa, problem->lambda, problem->record_count);
    *delta_inf = (kappa * (exact + 2 * plan.distance) + 2 * plan.rounding) * up;
    return STATUS_OK;
}

enum status sensitivity_predict_l1(uint64_t *delta_1, const struct kernel_problem *problem,
                                   size_t point_count, unsigned grid_bits, struct why *why)
{
    double delta_inf = 0;
    const enum status status = sensitivity_predict(&delta_inf, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    const int bits = (int)(grid_bits < 1000 ? grid_bits : 1000);
    const double each = fmin(ceil(ldexp(delta_inf, bits)), ldexp(2, bits));
    return to_whole(delta_1, (double)point_count * each, why);
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
