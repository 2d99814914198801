/* Every event is epsilon-DP, and that is all these accountants look at.
 *
 * Sampling. Let P0 be what comes out when the record is not drawn, P1 and P1' when it is, with its
 * two values, each within e^epsilon of the others. The outputs are P = (1 - q) P0 + q P1 and P'
 * alike.
 *   Add or remove one record: P' = P0, and P1 <= e^epsilon P0 gives P <= (1 + q (e^epsilon - 1))
 *   P0. Back: P0 <= e^epsilon P1, so P >= (1 - q + q e^-epsilon) P0, and by convexity of 1/x
 *   1/(1 - q + q e^-epsilon) <= 1 - q + q e^epsilon.
 *   Replace one: P - P' = q (P1 - P1') and P' lies between P0 and P1'. Where P1' <= P', P1 - P1' <=
 *   (e^epsilon - 1) P1' <= (e^epsilon - 1) P'. Where P1' > P', P1 <= e^epsilon min(P0, P1') <=
 *   e^epsilon P' gives P1 - P1' <= P1 - P' <= (e^epsilon - 1) P'. Both ways P <=
 *   (1 + q (e^epsilon - 1)) P'.
 * Replace one needs P1 and P1' close to P0 as well: leaving the record out must cost no more than
 * replacing it. It does not cost more in a clipped sum (C against 2 C), but would in an answer that
 * tells the sample's size.
 *
 * Sums err by half a unit of rounding a term, the functions by at most two. */

#include "account/pure.h"

#include "account/delta.h"
#include "account/rounding.h"

#include <math.h>
#include <stdbool.h>

static double unsampled(const struct privacy_event *event)
{
    switch (event->mechanism) {
    case MECHANISM_PURE:
    case MECHANISM_EXPONENTIAL:
        return event->parameter;
    case MECHANISM_LAPLACE:
    case MECHANISM_DISCRETE_LAPLACE:
        return rounding_quotient_up(event->sensitivity, event->parameter);
    case MECHANISM_GAUSSIAN:
    case MECHANISM_DISCRETE_GAUSSIAN:
    default:
        return NAN;
    }
}

double pure_epsilon(const struct privacy_event *event)
{
    double epsilon = unsampled(event);
    double q = event->sampling;
    if (!(q < 1) || isnan(epsilon)) {
        return epsilon;
    }
    double amplified = epsilon < 700 ? rounding_up(log1p(q * expm1(epsilon)), 12)
                                     : epsilon + log(q + (1 - q) * exp(-epsilon)) +
                                           8 * DBL_EPSILON * (epsilon + fabs(log(q)) + 1);
    return amplified < epsilon ? amplified : epsilon;
}

/* Sums over all runs: epsilon; epsilon^2; epsilon (e^epsilon - 1). */
struct sums {
    double epsilon;
    double square;
    double drift;
};

/* Adds times * epsilon, and says whether that was exact. Budgets are split into halves and tenths;
 * if their sum is the budget, no unit of rounding may be charged. */
static bool add_exactly(double *sum, double times, double epsilon)
{
    double product = times * epsilon;
    double before = *sum;
    *sum = before + product;
    double added = *sum - before;
    /* For a tiny product the error itself may vanish. */
    bool whole = times <= 1 || (product > 0x1p-960 && fma(times, epsilon, -product) == 0);
    return whole && before - (*sum - added) == 0 && product - added == 0;
}

static struct sums sums_of(const struct privacy_event *events, size_t count)
{
    struct sums sums = {0, 0, 0};
    bool exact = true;
    for (size_t i = 0; i < count; i++) {
        double epsilon = pure_epsilon(&events[i]);
        double times = (double)events[i].count;
        if (times > 0) {
            exact = add_exactly(&sums.epsilon, times, epsilon) && exact;
            sums.square += times * epsilon * epsilon;
            sums.drift += times * epsilon * expm1(epsilon);
        }
    }
    double units = 2 + (double)count / 2;
    if (!exact) {
        sums.epsilon = sums.epsilon > 0 ? rounding_up(sums.epsilon, units) : sums.epsilon;
    }
    if (sums.epsilon > 0) {
        sums.square = rounding_up(sums.square, units);
        sums.drift = rounding_up(sums.drift, units + 2);
    }
    return sums;
}

double basic_epsilon(const struct privacy_event *events, size_t count, double delta)
{
    struct sums sums = sums_of(events, count);
    if (isnan(sums.epsilon)) {
        return NAN;
    }
    return delta_left(events, count, delta) < 0 ? INFINITY : sums.epsilon;
}

double basic_delta(const struct privacy_event *events, size_t count, double epsilon)
{
    struct sums sums = sums_of(events, count);
    if (isnan(sums.epsilon)) {
        return NAN;
    }
    return sums.epsilon <= epsilon ? delta_spent(events, count, 0) : 1;
}

double advanced_epsilon(const struct privacy_event *events, size_t count, double delta)
{
    struct sums sums = sums_of(events, count);
    double left = delta_left(events, count, delta);
    if (isnan(sums.epsilon)) {
        return NAN;
    }
    if (!(left > 0)) {
        return INFINITY;
    }
    if (!(sums.epsilon > 0)) {
        return 0;
    }
    return rounding_up(sqrt(2 * sums.square * -log(left)) + sums.drift, 6);
}

double advanced_delta(const struct privacy_event *events, size_t count, double epsilon)
{
    struct sums sums = sums_of(events, count);
    if (isnan(sums.epsilon)) {
        return NAN;
    }
    if (!(sums.epsilon > 0)) {
        return delta_spent(events, count, 0);
    }
    double room = rounding_down(epsilon - sums.drift, 1);
    if (!(room > 0)) {
        return 1;
    }
    double exponent = rounding_down(fmin(room / (2 * sums.square) * room, 1e6), 6);
    return delta_spent(events, count, fmin(1, rounding_up(exp(-exponent), 4)));
}
