/* Regret, by hand. */

#include "experts/regret.h"

#include <criterion/criterion.h>
#include <math.h>

Test(regret, follows_its_definition)
{
    struct regret regret;
    const double p[2][2] = {{0.5, 0.5}, {0.9, 0.1}};
    const double loss[2][2] = {{0, 1}, {0.25, -0.5}};
    cr_assert(regret_init(&regret, 2) == STATUS_OK);
    cr_assert(regret_average(&regret) == 0);
    regret_observe(&regret, p[0], loss[0]);
    regret_observe(&regret, p[1], loss[1]);
    /* 0.5 + 0.175, against 0.25 */
    cr_assert(fabs(regret_average(&regret) - 0.425 / 2) < 1e-15);
    regret_free(&regret);
    regret_free(NULL);
}

Test(regret, bound_has_the_stated_terms)
{
    const double eta = sqrt(8 * log(8) / 5);
    const struct regret_bound exact = regret_bound(8, 0.125, 5, eta, 0);
    cr_assert(fabs(exact.tight - sqrt(log(8) / 10)) < 1e-14 && exact.noise == 0);
    cr_assert(fabs(exact.textbook - (eta + log(8) / (5 * eta))) < 1e-14);
    const struct regret_bound noisy = regret_bound(8, 0.125, 5, eta, 0.01);
    cr_assert(noisy.noise > eta * 1e-4 / 2 && noisy.noise < eta * 1e-4);
    cr_assert(fabs(noisy.tight - exact.tight - noisy.noise) < 1e-15);
    /* Far too much noise: still finite. */
    const struct regret_bound drowned = regret_bound(8, 0.125, 5, eta, 100);
    cr_assert(fabs(drowned.noise - (1 + 100 * sqrt(8 / 5.0))) < 1e-9);
    const struct regret_bound alone = regret_bound(1, 1, 5, 0, 3);
    cr_assert(alone.tight == 0 && alone.textbook == 0 && alone.noise == 0);
}
