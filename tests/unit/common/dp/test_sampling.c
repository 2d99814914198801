/* Coins: the digits that decide and those that break a tie, and frequencies on 2^20 coins a rate:
 * every count lies within 6 standard deviations, false alarms below 2e-9 a rate. */

#include "dp/sampling.h"

#include "tests/support/dead_stack.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { COINS = 1 << 20 };

static uint8_t coins[COINS];

static uint8_t first_coin(uint64_t rate_nano, struct script script)
{
    struct random random = {.fill = script_fill, .self = &script};
    uint8_t coin = 9;
    cr_assert_eq(sampling_draw(&random, &coin, 1, rate_nano), STATUS_OK);
    cr_assert_eq(script.used, script.count, "it read %zu words", script.used);
    return coin;
}

Test(sampling, the_digits_of_the_rate_decide)
{
    const uint64_t half = UINT64_C(1) << 63;
    const uint64_t third = 6148914685087602514; /* floor(0.333333333 * 2^64) */
    cr_assert_eq(first_coin(500000000, (struct script){{half - 1}, 1, 0}), 1);
    cr_assert_eq(first_coin(500000000, (struct script){{half + 1}, 1, 0}), 0);
    cr_assert_eq(first_coin(500000000, (struct script){{half, 1}, 2, 0}), 0, "1/2 ends there");
    cr_assert_eq(first_coin(333333333, (struct script){{third - 1}, 1, 0}), 1);
    cr_assert_eq(first_coin(333333333, (struct script){{third + 1}, 1, 0}), 0);
    const uint64_t rest =
        1785942335423505384; /* floor(0.096816128 * 2^64), the remainder's digits */
    cr_assert_eq(first_coin(333333333, (struct script){{third, rest - 1}, 2, 0}), 1);
    cr_assert_eq(first_coin(333333333, (struct script){{third, rest + 1}, 2, 0}), 0);
    cr_assert_eq(first_coin(0, (struct script){{1}, 1, 0}), 0);
    cr_assert_eq(first_coin(0, (struct script){{0, 7}, 2, 0}), 0);
    cr_assert_eq(first_coin(1000000000, (struct script){{0}, 0, 0}), 1);
}

/* Whether 2^20 coins of rate_nano fall as often as claimed_nano says. */
static bool falls_as_often(uint64_t rate_nano, uint64_t claimed_nano)
{
    struct seeded_random seeded;
    double ones = 0;
    seeded_random_init(&seeded, rate_nano);
    struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(sampling_draw(&random, coins, COINS, rate_nano), STATUS_OK);
    for (size_t i = 0; i < COINS; i++) {
        cr_assert(coins[i] <= 1);
        ones += coins[i];
    }
    const double q = (double)claimed_nano * 1e-9;
    return fabs(ones - COINS * q) <= 6 * sqrt(COINS * q * (1 - q)) + 1;
}

Test(sampling, coins_fall_as_often_as_charged)
{
    static const uint64_t rate[] = {0, 1000, 1000000, 10000000, 333333333, 900000000, 1000000000};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++) {
        cr_expect(falls_as_often(rate[i], rate[i]), "%zu", i);
    }
    cr_expect_not(falls_as_often(333333333, 330000000), "planted: a rate one percent too high");
    cr_expect_not(falls_as_often(10000000, 1 << 24), "planted: the rate read as 2^-30ths");
}

Test(sampling, neighbouring_coins_and_batches_are_independent)
{
    struct seeded_random seeded;
    double both = 0;
    seeded_random_init(&seeded, 6);
    struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(sampling_draw(&random, coins, COINS, 250000000), STATUS_OK);
    for (size_t i = 0; i + 256 < COINS; i++) {
        both += coins[i] & coins[i + 1];
        both += coins[i] & coins[i + 256];
    }
    const double pairs = 2.0 * (COINS - 256);
    cr_expect(fabs(both - pairs / 16) < 8 * sqrt(pairs * 15 / 256 * 3), "false alarms < 1e-9");
}

Test(sampling, without_randomness_nobody_takes_part)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 7);
    seeded.failing_after = 8 * 300;
    struct random random = seeded_random_interface(&seeded);
    memset(coins, 1, 1000);
    cr_assert_eq(sampling_draw(&random, coins, 1000, 500000000), STATUS_NO_RANDOM);
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_eq(coins[i], 0);
    }
    struct script tie = {{UINT64_C(1) << 63}, 1, 0};
    struct random scripted = {.fill = script_fill, .self = &tie};
    coins[0] = 1;
    cr_assert_eq(sampling_draw(&scripted, coins, 1, 500000000), STATUS_NO_RANDOM);
    cr_assert_eq(coins[0], 0);
}

/* The random words tell which records take part. */
enum { SAMPLED = 700 };

struct trial {
    struct recorded recorded;
    bool careless; /* planted: the coins are drawn without a wipe */
};

/* The address sanitizer would move the words off the stack. */
__attribute__((no_sanitize("address"))) static enum status
draw_carelessly(const struct random *random)
{
    uint64_t word[SAMPLED];
    enum status status = random_fill(random, word, sizeof word);
    for (size_t i = 0; i < SAMPLED; i++) {
        coins[i] = word[i] >> 63 == 0 ? 1 : 0;
    }
    return status;
}

static void *draw_recorded(void *argument)
{
    struct trial *trial = argument;
    const struct random random = {.fill = recorded_fill, .self = &trial->recorded};
    cr_assert_eq(trial->careless ? draw_carelessly(&random)
                                 : sampling_draw(&random, coins, SAMPLED, 500000000),
                 STATUS_OK);
    return NULL;
}

Test(sampling, the_words_of_the_coins_are_not_left_on_the_stack)
{
    static struct trial trial;
    const struct recorded *recorded = &trial.recorded;
    for (int careless = 0; careless < 2; careless++) {
        memset(&trial, 0, sizeof trial);
        trial.careless = careless == 1;
        seeded_random_init(&trial.recorded.seeded, 8);
        uint64_t *stack = dead_stack_of(draw_recorded, &trial);
        cr_assert(stack != NULL && recorded->words == SAMPLED);
        const size_t left = dead_stack_count(stack, trial.recorded.word, recorded->words);
        if (careless == 1) {
            cr_expect_gt(left, SAMPLED / 2, "the search finds what is there: %zu", left);
        } else {
            cr_expect_lt(left, 10, "%zu words", left); /* registers may have been saved */
        }
    }
}
