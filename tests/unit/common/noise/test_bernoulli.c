#include "noise/bernoulli.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

static const uint64_t rows[][2] = {{1, UINT64_MAX}, {1, 1000000},
                                   {1, 20},         {1, 2},
                                   {1, 1},          {22, 7},
                                   {40, 1},         {443614195, 10000000},
                                   {45, 1},         {UINT64_MAX, UINT64_MAX - 1},
                                   {1000, 1},       {UINT64_MAX, 1}};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* 2^shift exp(-x) rounded down, with 600 bits. */
static void scaled(mpz_t out, size_t row, unsigned shift)
{
    mpfr_t x;
    mpfr_init2(x, 600);
    mpfr_set_ui(x, rows[row][0], MPFR_RNDN);
    mpfr_div_ui(x, x, rows[row][1], MPFR_RNDN);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_mul_2ui(x, x, shift, MPFR_RNDN);
    mpfr_get_z(out, x, MPFR_RNDD);
    mpfr_clear(x);
}

Test(bernoulli, the_threshold_is_the_probability_rounded_down)
{
    mpz_t truth;
    mpz_init(truth);
    for (size_t i = 0; i < ROWS; i++) {
        struct noise_bernoulli bernoulli;
        cr_assert_eq(noise_bernoulli_init(&bernoulli, rows[i][0], rows[i][1]), STATUS_OK);
        scaled(truth, i, 64);
        cr_expect_eq(bernoulli.threshold, mpz_get_ui(truth), "row %zu", i);
    }
    mpz_clear(truth);
    mpfr_free_cache();
}

Test(bernoulli, a_denominator_of_0_is_refused_and_x_of_0_is_certain)
{
    struct noise_bernoulli bernoulli;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint8_t coins[1000] = {0};
    seeded_random_init(&seeded, 1);
    cr_assert_eq(noise_bernoulli_init(&bernoulli, 1, 0), STATUS_INVALID);
    cr_assert_eq(noise_bernoulli_init(&bernoulli, 0, 7), STATUS_OK);
    cr_assert_eq(noise_bernoulli_draw(&bernoulli, &random, coins, 1000), STATUS_OK);
    cr_assert_eq(seeded.drawn_bytes, 8000, "the same as for any other x");
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_eq(coins[i], 1);
    }
    cr_assert_eq(noise_bernoulli_draw(&bernoulli, &random, NULL, 0), STATUS_OK);
}

/* One coin from these words; returns how many were used. */
static size_t toss(size_t row, uint64_t first, uint64_t second, uint64_t third, uint8_t *coin)
{
    struct noise_bernoulli bernoulli;
    struct script script = {.word = {first, second, third}, .count = 4};
    struct random random = {.fill = script_fill, .self = &script};
    cr_assert_eq(noise_bernoulli_init(&bernoulli, rows[row][0], rows[row][1]), STATUS_OK);
    cr_assert_eq(noise_bernoulli_draw(&bernoulli, &random, coin, 1), STATUS_OK);
    return script.used;
}

Test(bernoulli, a_tie_is_refined_and_never_rounded)
{
    mpz_t bits;
    mpz_t part;
    mpz_inits(bits, part, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t word[3];
        uint8_t coin = 9;
        scaled(bits, i, 192);
        for (unsigned w = 0; w < 3; w++) {
            mpz_fdiv_q_2exp(part, bits, 64 * (2 - w));
            mpz_fdiv_r_2exp(part, part, 64);
            word[w] = mpz_get_ui(part);
        }
        if (word[2] == 0) {
            continue; /* exp(-2^64): no bit of it is in reach */
        }
        cr_expect_eq(toss(i, word[0], word[1], word[2] - 1, &coin), 3, "row %zu", i);
        cr_expect_eq(coin, 1);
        cr_expect_eq(toss(i, word[0], word[1], word[2] + 1, &coin), 3, "row %zu", i);
        cr_expect_eq(coin, 0);
        cr_expect_eq(toss(i, word[0], word[1] + 1, 0, &coin), 2, "row %zu", i);
        if (word[0] > 0) {
            cr_expect_eq(toss(i, word[0] - 1, 0, 0, &coin), 1);
            cr_expect_eq(coin, 1);
        }
        if (word[0] < UINT64_MAX - 1) {
            cr_expect_eq(toss(i, word[0] + 2, 0, 0, &coin), 1);
            cr_expect_eq(coin, 0);
        }
    }
    mpz_clears(bits, part, NULL);
}

Test(bernoulli, a_failing_source_leaves_no_coin)
{
    struct noise_bernoulli bernoulli;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint8_t coins[2000];
    cr_assert_eq(noise_bernoulli_init(&bernoulli, 1, 100), STATUS_OK);
    for (uint64_t after = 1; after < 16000; after = after * 2 + 1) {
        seeded_random_init(&seeded, 3);
        seeded.failing_after = after;
        memset(coins, 1, sizeof coins);
        cr_assert_eq(noise_bernoulli_draw(&bernoulli, &random, coins, 2000), STATUS_NO_RANDOM);
        for (size_t i = 0; i < 2000; i++) {
            cr_assert_eq(coins[i], 0);
        }
    }
}
