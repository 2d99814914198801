#include "tests/support/chi_square.h"

#include "base/check.h"

#include <math.h>

/* The recurrence Q(a + 1, y) = Q(a, y) + y^a exp(-y) / Gamma(a + 1) of the incomplete gamma
 * function, from Q(1/2, y) = erfc(sqrt(y)) or Q(0, y) = 0 up to a = freedom / 2, at y = statistic
 * / 2. */
double chi_square_tail(double statistic, size_t freedom)
{
    double y = statistic / 2;
    double a = freedom % 2 == 1 ? 0.5 : 0;
    double sum = freedom % 2 == 1 ? erfc(sqrt(y)) : 0;
    CHECK(freedom > 0 && statistic >= 0);
    for (; 2 * a + 1 < (double)freedom; a++) {
        sum += y > 0 ? exp(a * log(y) - y - lgamma(a + 1)) : (a == 0 ? 1 : 0);
    }
    return sum;
}

double chi_square_p(const uint64_t *count, const double *expected, size_t bins)
{
    double statistic = 0;
    CHECK(bins > 1);
    for (size_t i = 0; i < bins; i++) {
        double distance = (double)count[i] - expected[i];
        CHECK(expected[i] > 0);
        statistic += distance * distance / expected[i];
    }
    return chi_square_tail(statistic, bins - 1);
}
