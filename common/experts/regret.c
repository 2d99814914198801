#include "experts/regret.h"

#include "base/check.h"

#include <math.h>
#include <stdlib.h>

enum status regret_init(struct regret *regret, size_t count)
{
    CHECK(count >= 1);
    *regret = (struct regret){.count = count};
    regret->loss = calloc(count, sizeof *regret->loss);
    return regret->loss != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void regret_free(struct regret *regret)
{
    if (regret != NULL) {
        free(regret->loss);
        *regret = (struct regret){0};
    }
}

void regret_observe(struct regret *regret, const double *probability, const double *loss)
{
    for (size_t i = 0; i < regret->count; i++) {
        regret->expected += probability[i] * loss[i];
        regret->loss[i] += loss[i];
    }
    regret->rounds++;
}

double regret_average(const struct regret *regret)
{
    if (regret->rounds == 0) {
        return 0;
    }
    double best = regret->loss[0];
    for (size_t i = 1; i < regret->count; i++) {
        best = fmin(best, regret->loss[i]);
    }
    return (regret->expected - best) / (double)regret->rounds;
}

struct regret_bound regret_bound(size_t count, double prior_least, uint64_t rounds, double eta,
                                 double sigma)
{
    struct regret_bound bound = {0};
    CHECK(count >= 1 && rounds >= 1 && sigma >= 0);
    CHECK(prior_least > 0 && prior_least <= 1);
    if (count == 1) {
        return bound;
    }
    CHECK(isfinite(eta) && eta > 0);
    if (sigma > 0) {
        const double a = sigma * sigma * eta * eta * (cosh(1) - 1);
        const double always = 1 + sigma * sqrt((double)count / (double)rounds);
        bound.noise = a < 1 ? fmin(-log1p(-a) / eta, always) : always;
    }
    const double start = -log(prior_least) / (eta * (double)rounds);
    bound.tight = eta / 8 + start + bound.noise;
    bound.textbook = eta + start + bound.noise;
    return bound;
}
