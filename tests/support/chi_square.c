#include "tests/support/chi_square.h"

#include "base/check.h"

#include <math.h>

/* exp(-x/2) times the sum of (x/2)^i / i! for i < freedom/2, term by term in logarithms. */
double chi_square_tail(double statistic, size_t freedom)
{
    double half = statistic / 2;
    double sum = 0;
    CHECK(freedom > 0 && freedom % 2 == 0);
    for (size_t i = 0; i < freedom / 2; i++) {
        double power = i == 0 ? 0 : (double)i * log(half);
        sum += half == 0 && i > 0 ? 0 : exp(power - half - lgamma((double)i + 1));
    }
    return sum;
}

double chi_square_p(const uint64_t *count, const double *expected, size_t bins)
{
    double statistic = 0;
    CHECK(bins % 2 == 1 && bins > 1);
    for (size_t i = 0; i < bins; i++) {
        double distance = (double)count[i] - expected[i];
        CHECK(expected[i] > 0);
        statistic += distance * distance / expected[i];
    }
    return chi_square_tail(statistic, bins - 1);
}
