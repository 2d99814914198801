/* A run fails altogether with probability delta0, and otherwise keeps its curve (every
 * (epsilon, delta0) mechanism is such a mixture: Kairouz, Oh, Viswanath 2015). So the events
 * together fail with 1 - product (1 - delta0)^count, and else compose as if no delta were there.
 * Logarithms keep what a subtraction would lose: of delta 10^-6, 1000 runs at 10^-9 leave 5
 * 10^-13. */

#include "account/delta.h"

#include "account/rounding.h"

#include <math.h>

/* Sum of count -ln(1 - own delta), and of count own delta. */
struct failures {
    double logarithm;
    double sum;
};

static struct failures failures_of(const struct privacy_event *events, size_t count)
{
    struct failures all = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (events[i].count > 0 && events[i].delta > 0) {
            all.logarithm -= (double)events[i].count * log1p(-events[i].delta);
            all.sum += (double)events[i].count * events[i].delta;
        }
    }
    return all;
}

double delta_left(const struct privacy_event *events, size_t count, double delta)
{
    struct failures all = failures_of(events, count);
    if (all.sum <= 0) {
        return delta;
    }
    double units = 8 + (double)count;
    double left = -log1p(-delta) - all.logarithm;
    left -= units * DBL_EPSILON * (all.logarithm - log1p(-delta));
    if (left > 0) {
        return rounding_down(-expm1(-left), 4);
    }
    /* One failing run at exactly delta leaves exactly nothing. */
    return all.sum <= delta && count == 1 && events[0].count == 1 ? 0 : -1;
}

double delta_left_above(const struct privacy_event *events, size_t count, double delta)
{
    struct failures all = failures_of(events, count);
    if (all.sum <= 0) {
        return delta;
    }
    double units = 8 + (double)count;
    double left = -log1p(-delta) - all.logarithm;
    left += units * DBL_EPSILON * (all.logarithm - log1p(-delta));
    return left > 0 ? rounding_up(-expm1(-left), 4) : 0;
}

double delta_spent(const struct privacy_event *events, size_t count, double delta)
{
    struct failures all = failures_of(events, count);
    if (!(delta < 1)) {
        return 1;
    }
    if (all.sum <= 0) {
        return delta;
    }
    double spent = rounding_up(-expm1(log1p(-delta) - all.logarithm), 8 + (double)count);
    return spent < 1 ? spent : 1;
}

double delta_spent_below(const struct privacy_event *events, size_t count, double delta)
{
    struct failures all = failures_of(events, count);
    if (!(delta < 1) || all.sum <= 0) {
        return fmin(delta, 1);
    }
    return rounding_down(-expm1(log1p(-delta) - all.logarithm), 8 + (double)count);
}
