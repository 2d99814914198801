#include "experts/best.h"

#include "base/check.h"

#include <math.h>

enum { STEPS = 4000 }; /* even */

double best_exponential(size_t count, double eta_gap)
{
    CHECK(count >= 1 && eta_gap >= 0);
    return 1 / (1 + (double)(count - 1) * exp(-eta_gap));
}

/* The mean is (1 - (1 - p)^count)/(count p). */
double best_permute_and_flip(size_t count, double eta_gap)
{
    CHECK(count >= 1 && eta_gap >= 0);
    const double p = exp(-eta_gap);
    const double k = (double)count;
    return p <= 0 ? 1 : -expm1(k * log1p(-p)) / (k * p);
}

/* A law: its density, and the probability of more than x. */
struct law {
    double (*density)(double x);
    double (*above)(double x);
    double reach; /* beyond which nothing is left */
};

static double normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(8 * atan(1));
}

static double normal_above(double x)
{
    return erfc(x / sqrt(2)) / 2;
}

static double laplace_density(double x)
{
    return exp(-fabs(x)) / 2;
}

static double laplace_above(double x)
{
    return x > 0 ? exp(-x) / 2 : 1 - exp(x) / 2;
}

/* The best one's noise is x, every other's more than x - gap, and of one of them more than that by its start. */
static double best_of(size_t count, double gap, double start, const struct law *law)
{
    const double rest = fmax((double)count - 2, 0);
    const double step = 2 * law->reach / STEPS;
    double sum = 0;
    CHECK(count >= 1 && gap >= 0 && start >= 0);
    for (int i = 0; i <= STEPS; i++) {
        const double x = -law->reach + step * i;
        const double weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        const double first = count > 1 ? law->above(x - gap + start) : 1;
        sum += weight * law->density(x) * first * pow(law->above(x - gap), rest);
    }
    return fmin(sum * step / 3, 1);
}

double best_of_normal(size_t count, double gap, double start)
{
    return best_of(count, gap, start, &(struct law){normal_density, normal_above, 9});
}

double best_of_laplace(size_t count, double gap)
{
    return best_of(count, gap, 0, &(struct law){laplace_density, laplace_above, 30});
}
