/* The divergences of one order add up, also when each run was chosen after seeing the ones before
 * (Mironov 2017, proposition 1), so a list is summed at one order, then converted by Canonne,
 * Kamath, Steinke 2020, proposition 12:
 *
 *   ln delta = (alpha - 1)(D - epsilon) + (alpha - 1) ln(1 - 1/alpha) - ln alpha.
 *
 * It holds at every order; the best is searched. (alpha - 1) D is convex in alpha, and so is the
 * rest: the bound falls and then rises. Every term is given its own rounding error. */

#include "account/renyi.h"

#include "account/curve.h"
#include "account/delta.h"
#include "account/pure.h"
#include "account/rounding.h"
#include "account/sampled.h"

#include <math.h>
#include <stdbool.h>

/* Events of a list whose sampled Gaussian noise is bounded closely: a millisecond each. */
#define LIST_CLOSE 256

struct list {
    const struct privacy_event *events;
    size_t count;
    double at; /* delta or epsilon */
};

static double unsampled(const struct privacy_event *event, double alpha)
{
    switch (event->mechanism) {
    case MECHANISM_PURE:
        return curve_pure(event->parameter, alpha);
    case MECHANISM_LAPLACE:
        return curve_laplace(rounding_quotient_up(event->sensitivity, event->parameter), alpha);
    case MECHANISM_DISCRETE_LAPLACE:
        return curve_discrete_laplace(rounding_quotient_up(1, event->parameter), event->sensitivity,
                                      alpha);
    case MECHANISM_GAUSSIAN:
    case MECHANISM_DISCRETE_GAUSSIAN:
        return curve_gaussian(rounding_quotient_up(event->sensitivity, event->parameter), alpha);
    case MECHANISM_EXPONENTIAL:
        return curve_bounded_range(event->parameter, alpha);
    default:
        return INFINITY;
    }
}

static bool is_noise(const struct privacy_event *event)
{
    return event->mechanism != MECHANISM_PURE && event->mechanism != MECHANISM_EXPONENTIAL;
}

/* A sample never costs more than the whole: both outputs are the same mixture of outputs of
 * neighbours, and the divergence is quasi-convex in the pair. */
static double divergence_of(const struct privacy_event *event, double alpha, bool close)
{
    double bound = unsampled(event, alpha);
    if (event->sampling < 1) {
        double pure = pure_epsilon(event);
        if (!isnan(pure)) {
            bound = fmin(bound, curve_pure(pure, alpha));
        }
        if (is_noise(event)) {
            bound = fmin(bound, sampled_divergence(event, alpha, close, unsampled));
        }
    }
    return bound;
}

double renyi_divergence(const struct privacy_event *event, double alpha)
{
    return divergence_of(event, alpha, true);
}

double zcdp_rho(const struct privacy_event *event)
{
    double pure = pure_epsilon(event);
    double ratio = 0;
    switch (event->mechanism) {
    case MECHANISM_PURE:
    case MECHANISM_LAPLACE:
    case MECHANISM_DISCRETE_LAPLACE:
        return rounding_up(pure / 2 * pure, 2);
    case MECHANISM_GAUSSIAN:
    case MECHANISM_DISCRETE_GAUSSIAN:
        ratio = rounding_quotient_up(event->sensitivity, event->parameter);
        return event->sampling < 1 ? INFINITY : rounding_up(ratio / 2 * ratio, 2);
    case MECHANISM_EXPONENTIAL:
        return fmin(rounding_up(pure / 2 * pure, 2),
                    rounding_up(event->parameter / 8 * event->parameter, 2));
    default:
        return INFINITY;
    }
}

/* ln(1 - 1/alpha) */
static double log_rest(double alpha)
{
    return alpha < 2 ? log((alpha - 1) / alpha) : log1p(-1 / alpha);
}

double renyi_to_epsilon(double alpha, double divergence, double delta)
{
    if (!(delta > 0) || !isfinite(divergence)) {
        return INFINITY;
    }
    double rest = log_rest(alpha);
    double log_delta = log(delta);
    double log_alpha = log(alpha);
    double epsilon = divergence + rest - (log_delta + log_alpha) / (alpha - 1);
    double size = divergence - rest + (log_alpha - log_delta) / (alpha - 1);
    epsilon += 4 * DBL_EPSILON * size;
    return epsilon > 0 ? epsilon : 0;
}

double renyi_to_delta(double alpha, double divergence, double epsilon)
{
    if (!isfinite(divergence)) {
        return 1;
    }
    double rest = log_rest(alpha);
    double logarithm = (alpha - 1) * (divergence - epsilon + rest) - log(alpha);
    double size = (alpha - 1) * (divergence + epsilon - rest) + log(alpha);
    logarithm += 4 * DBL_EPSILON * size;
    return logarithm < 0 ? fmin(1, rounding_up(exp(logarithm), 2)) : 1;
}

/* Sum over the list at one order, rounded up. */
static double composed(const struct list *list, double alpha)
{
    double sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->events[i].count > 0) {
            sum += (double)list->events[i].count *
                   divergence_of(&list->events[i], alpha, list->count <= LIST_CLOSE);
        }
    }
    return sum * (1 + (1 + (double)list->count / 2) * DBL_EPSILON);
}

static double list_to_epsilon(double alpha, const void *context)
{
    const struct list *list = context;
    return renyi_to_epsilon(alpha, composed(list, alpha), list->at);
}

/* For a list without any divergence. */
static double none_to_epsilon(double alpha, const void *context)
{
    const struct list *list = context;
    return renyi_to_epsilon(alpha, 0, list->at);
}

static double none_to_delta(double alpha, const void *context)
{
    const struct list *list = context;
    return renyi_to_delta(alpha, 0, list->at);
}

static double list_to_delta(double alpha, const void *context)
{
    const struct list *list = context;
    return renyi_to_delta(alpha, composed(list, alpha), list->at);
}

/* Whether anything happened at all. */
static bool is_empty(const struct privacy_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].count > 0) {
            return false;
        }
    }
    return true;
}

double renyi_epsilon(const struct privacy_event *events, size_t count, double delta)
{
    double left = delta_left(events, count, delta);
    if (is_empty(events, count)) {
        return 0;
    }
    if (!(left > 0)) {
        return INFINITY;
    }
    struct list list = {events, count, left};
    return minimise_order(list_to_epsilon, none_to_epsilon, &list);
}

double renyi_delta(const struct privacy_event *events, size_t count, double epsilon)
{
    if (is_empty(events, count)) {
        return 0;
    }
    struct list list = {events, count, epsilon};
    return delta_spent(events, count, minimise_order(list_to_delta, none_to_delta, &list));
}
