/* How often coins of probability exp(-x) fall for 1: chi-square with rejection below p = 1e-9 in 7
 * comparisons that must pass (a false alarm in 10^8 for a fresh seed), each with a twin whose x is
 * 5 % larger and which must be rejected. */

#include "noise/bernoulli.h"
#include "tests/support/chi_square.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { COINS = 1000000 };

/* p-value of coins for x and of pairs of neighbours, which are independent. */
static double fit(uint64_t numerator, uint64_t denominator, double claimed, uint64_t seed)
{
    static uint8_t coins[COINS];
    struct noise_bernoulli bernoulli;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint64_t seen[4] = {0};
    double one = exp(-claimed);
    const double expected[4] = {COINS / 2.0 * (1 - one) * (1 - one), COINS / 2.0 * (1 - one) * one,
                                COINS / 2.0 * one * (1 - one), COINS / 2.0 * one * one};
    seeded_random_init(&seeded, seed);
    cr_assert_eq(noise_bernoulli_init(&bernoulli, numerator, denominator), STATUS_OK);
    cr_assert_eq(noise_bernoulli_draw(&bernoulli, &random, coins, COINS), STATUS_OK);
    for (size_t i = 0; i < COINS; i += 2) {
        cr_assert(coins[i] <= 1 && coins[i + 1] <= 1);
        seen[2 * coins[i] + coins[i + 1]]++;
    }
    return chi_square_p(seen, expected, 4);
}

Test(bernoulli_fit, fits_and_five_percent_more_does_not)
{
    static const uint64_t row[][2] = {{1, 20}, {1, 3},   {1, 1},     {22, 7},
                                      {4, 1},  {47, 10}, {3000, 999}};
    for (size_t i = 0; i < 7; i++) {
        double x = (double)row[i][0] / (double)row[i][1];
        cr_expect_gt(fit(row[i][0], row[i][1], x, 50 + i), 1e-9, "x = %g", x);
        cr_expect_lt(fit(row[i][0], row[i][1], x * 1.05, 50 + i), 1e-9, "twin of x = %g", x);
        cr_expect_lt(fit(row[i][1] * 2, row[i][0] * 3, x, 50 + i), 1e-9, "another x than %g", x);
    }
}
