/* rho-zCDP is divergence rho alpha at every order, so the conversion of renyi.h holds at every
 * order, and the best is searched (Canonne, Kamath, Steinke 2020, proposition 12; Bun and Steinke
 * 2016 for the sums). The way back solves the same bound for rho at every order and keeps the
 * largest. */

#include "account/curve.h"
#include "account/delta.h"
#include "account/pure.h"
#include "account/renyi.h"
#include "account/rounding.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct target {
    double rho;
    double epsilon;
    double delta;
};

static double epsilon_at(double alpha, const void *context)
{
    const struct target *target = context;
    return renyi_to_epsilon(alpha, rounding_up(target->rho * alpha, 1), target->delta);
}

static double delta_at(double alpha, const void *context)
{
    const struct target *target = context;
    return renyi_to_delta(alpha, rounding_up(target->rho * alpha, 1), target->epsilon);
}

/* minus the largest rho that this order allows */
static double rho_at(double alpha, const void *context)
{
    const struct target *target = context;
    double rest = alpha < 2 ? log((alpha - 1) / alpha) : log1p(-1 / alpha);
    double spread = (log(target->delta) + log(alpha)) / (alpha - 1);
    double room = target->epsilon - rest + spread;
    double size = target->epsilon - rest + (log(alpha) - log(target->delta)) / (alpha - 1);
    return -(room - 6 * DBL_EPSILON * size) / alpha;
}

double zcdp_to_epsilon(double rho, double delta)
{
    if (!(rho > 0)) {
        return 0;
    }
    if (!(delta > 0) || !isfinite(rho)) {
        return INFINITY;
    }
    struct target target = {.rho = rho, .delta = delta};
    return minimise_order(epsilon_at, NULL, &target);
}

double zcdp_to_delta(double rho, double epsilon)
{
    if (!(rho > 0)) {
        return 0;
    }
    if (!isfinite(rho)) {
        return 1;
    }
    struct target target = {.rho = rho, .epsilon = epsilon};
    return minimise_order(delta_at, NULL, &target);
}

double zcdp_from_epsilon(double epsilon, double delta)
{
    if (!(delta > 0)) {
        return 0;
    }
    struct target target = {.epsilon = epsilon, .delta = delta};
    double rho = -minimise_order(rho_at, NULL, &target);
    return rho > 0 ? rounding_down(rho, 4) : 0;
}

/* Whether no run is a sampled Gaussian, which has no rho of its own here. */
static bool is_covered(const struct privacy_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].count > 0 && events[i].sampling < 1 && isnan(pure_epsilon(&events[i]))) {
            return false;
        }
    }
    return true;
}

/* Sum of the list's rho, rounded up. */
static double total_rho(const struct privacy_event *events, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].count > 0) {
            sum += (double)events[i].count * zcdp_rho(&events[i]);
        }
    }
    return sum * (1 + (1 + (double)count / 2) * DBL_EPSILON);
}

double zcdp_epsilon(const struct privacy_event *events, size_t count, double delta)
{
    if (!is_covered(events, count)) {
        return NAN;
    }
    double rho = total_rho(events, count);
    double left = delta_left(events, count, delta);
    if (!(rho > 0)) {
        return 0;
    }
    return left > 0 ? zcdp_to_epsilon(rho, left) : INFINITY;
}

double zcdp_delta(const struct privacy_event *events, size_t count, double epsilon)
{
    if (!is_covered(events, count)) {
        return NAN;
    }
    double rho = total_rho(events, count);
    return delta_spent(events, count, zcdp_to_delta(rho, epsilon));
}
