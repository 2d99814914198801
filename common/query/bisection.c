#include "query/bisection.h"

#include "base/check.h"

#include <math.h>

void bisection_init(struct bisection *bisection, double low, double high)
{
    CHECK(isfinite(low) && isfinite(high) && low < high);
    *bisection = (struct bisection){.low = low, .high = high, .bar_low = low, .bar_high = high};
}

double bisection_threshold(const struct bisection *bisection)
{
    return bisection->low + (bisection->high - bisection->low) / 2;
}

void bisection_observe(struct bisection *bisection, int64_t sum, double bar)
{
    const double threshold = bisection_threshold(bisection);
    CHECK(bar >= 0);
    if (sum >= 0) {
        bisection->high = threshold;
    } else {
        bisection->low = threshold;
    }
    if ((double)sum > bar) {
        bisection->bar_high = threshold;
    } else if ((double)sum < -bar) {
        bisection->bar_low = threshold;
    }
    bisection->done++;
}
