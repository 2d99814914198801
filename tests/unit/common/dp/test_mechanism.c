#include "base/wide.h"
#include "dp/mechanism.h"
#include "noise/gaussian.h"
#include "tests/support/paid_grant.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <signal.h>
#include <string.h>

Test(mechanism, the_scale_is_sensitivity_over_epsilon_in_lowest_terms)
{
    struct noise_scale scale;
    cr_assert_eq(mechanism_scale(&scale, 3, 1500000, NULL), STATUS_OK);
    cr_assert(scale.numerator == 2 && scale.denominator == 1);
    cr_assert_eq(mechanism_scale(&scale, 7, 300000, NULL), STATUS_OK);
    cr_assert(scale.numerator == 70 && scale.denominator == 3);
    cr_assert_eq(mechanism_scale(&scale, 1, 16000000, NULL), STATUS_OK);
    cr_assert(scale.numerator == 1 && scale.denominator == 16);
    cr_assert_eq(mechanism_scale(&scale, UINT64_C(1) << 40, 1000000, NULL), STATUS_OK);
    cr_assert_eq(mechanism_scale(&scale, UINT64_MAX, UINT64_MAX, NULL), STATUS_OK);
    cr_assert(scale.numerator == 1000000 && scale.denominator == 1);
}

Test(mechanism, a_scale_that_cannot_be_is_refused_by_parameters_alone)
{
    static const struct {
        uint64_t sensitivity;
        uint64_t epsilon_micro;
    } row[] = {
        {0, 1},
        {1, 0},
        {1, 16000001},
        {(UINT64_C(1) << 40) + 1, 1000000},
        {UINT64_MAX, 1},
        {UINT64_MAX, 1000000},
        /* 10^6 times it does not fit, and what is left of it would look like a scale near 1. */
        {UINT64_C(27670116110564), (UINT64_C(1) << 63) + 3}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct noise_scale scale = {1, 1};
        struct why why = {{0}};
        cr_expect_eq(mechanism_scale(&scale, row[i].sensitivity, row[i].epsilon_micro, &why),
                     STATUS_INVALID, "row %zu", i);
        cr_expect(scale.numerator == 0 && why.text[0] != '\0');
        bool names_the_range = strstr(why.text, "1/16 .. 2^40") != NULL;
        bool names_the_fraction = strstr(why.text, "no fraction of 64-bit numbers") != NULL;
        cr_expect(names_the_range == (i >= 2 && i < 6), "row %zu: %s", i, why.text);
        cr_expect(names_the_fraction == (i >= 6), "row %zu: %s", i, why.text);
    }
}

/* The largest sensitivity and epsilon there are, and the last scales on either side of the range. */
Test(mechanism, scales_at_every_end_are_exact_or_refused)
{
    static const struct {
        uint64_t sensitivity;
        uint64_t epsilon_micro;
        struct noise_scale scale; /* 0 where refused */
    } row[] = {
        {UINT64_MAX, UINT64_MAX, {1000000, 1}},
        {UINT64_MAX, UINT64_MAX - 1, {0}}, /* near a million, but a fraction of 84 bits */
        {UINT64_MAX, 16777215, {0}},
        {UINT64_C(1) << 63, UINT64_C(1) << 43, {UINT64_C(1048576000000), 1}},
        {(UINT64_C(1) << 40) - 1, 1000000, {(UINT64_C(1) << 40) - 1, 1}},
        {1, 16000000, {1, 16}},
        {1, 15999999, {1000000, 15999999}},
        {UINT64_C(1152921504606),
         UINT64_C(18446744073709),
         {UINT64_C(1152921504606000000), UINT64_C(18446744073709)}},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct noise_scale scale = {1, 1};
        bool possible = row[i].scale.denominator > 0;
        enum status status =
            mechanism_scale(&scale, row[i].sensitivity, row[i].epsilon_micro, NULL);
        cr_expect_eq(status, possible ? STATUS_OK : STATUS_INVALID, "row %zu", i);
        /* the same number, whatever its lowest terms are */
        cr_expect((uint128)scale.numerator * row[i].scale.denominator ==
                      (uint128)row[i].scale.numerator * scale.denominator,
                  "row %zu: %lu/%lu", i, (unsigned long)scale.numerator,
                  (unsigned long)scale.denominator);
    }
}

Test(mechanism, adds_the_noise_of_the_scale_that_was_paid_for)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    struct noise_laplace noise;
    struct grant *grant = paid_grant(MECHANISM_PURE, 250000);
    int64_t expected[100];
    int64_t values[100];
    for (size_t i = 0; i < 100; i++) {
        expected[i] = values[i] = (int64_t)i;
    }
    seeded_random_init(&seeded, 6);
    cr_assert_eq(mechanism_laplace(&grant, &random, values, 100, 5), STATUS_OK);
    seeded_random_init(&seeded, 6);
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){20, 1}), STATUS_OK);
    cr_assert_eq(noise_laplace_add(&noise, &random, expected, 100), STATUS_OK);
    cr_assert_arr_eq(values, expected, sizeof values);
}

Test(mechanism, takes_the_grant_whatever_happens_and_leaves_nothing_when_it_fails)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const int64_t zero[3] = {0};
    int64_t values[3] = {1, 2, 3};

    seeded_random_init(&seeded, 6);
    struct grant *grant = paid_grant(MECHANISM_PURE, 16000001);
    cr_assert_eq(mechanism_laplace(&grant, &random, values, 3, 1), STATUS_INVALID);
    cr_assert_null(grant);
    cr_assert_arr_eq(values, zero, sizeof zero);

    seeded.failing_after = 1;
    values[1] = 7;
    grant = paid_grant(MECHANISM_PURE, 1000000);
    cr_assert_eq(mechanism_laplace(&grant, &random, values, 3, 1), STATUS_NO_RANDOM);
    cr_assert_null(grant);
    cr_assert_arr_eq(values, zero, sizeof zero);
}

Test(mechanism, a_grant_used_twice_stops_the_program, .signal = SIGABRT)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    int64_t values[1] = {0};
    struct grant *grant = paid_grant(MECHANISM_PURE, 1000000);
    seeded_random_init(&seeded, 6);
    cr_assert_eq(mechanism_laplace(&grant, &random, values, 1, 1), STATUS_OK);
    enum status status = mechanism_laplace(&grant, &random, values, 1, 1);
    (void)status;
}

/* A grant for any mechanism: sigma_micro millionths of the sensitivity, or epsilon 1. */
static struct grant *sampled_grant_for(enum mechanism mechanism, uint64_t sigma_micro,
                                       uint64_t sampling_nano)
{
    struct price limit = {.epsilon_micro = UINT64_C(1000000000000),
                          .delta_atto = DELTA_ATTO_ONE / 2};
    bool gaussian = mechanism == MECHANISM_GAUSSIAN || mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    struct charge charge = {.mechanism = mechanism,
                            .epsilon_micro = gaussian ? 0 : EPSILON_MICRO_ONE,
                            .sigma_micro = gaussian ? sigma_micro : 0,
                            .sampling_nano = sampling_nano,
                            .pass = {{1}},
                            .row_count = 1};
    struct ledger *ledger = ledger_new(limit);
    struct grant *grant = NULL;
    struct why why = {{0}};
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, &why), STATUS_OK, "%s", why.text);
    ledger_free(ledger);
    return grant;
}

static struct grant *grant_for(enum mechanism mechanism, uint64_t sigma_micro)
{
    return sampled_grant_for(mechanism, sigma_micro, 0);
}

Test(mechanism, sigma_is_sensitivity_times_the_multiplier_in_lowest_terms)
{
    struct noise_scale sigma;
    cr_assert_eq(mechanism_sigma(&sigma, 3, 1500000, NULL), STATUS_OK);
    cr_assert(sigma.numerator == 9 && sigma.denominator == 2);
    cr_assert_eq(mechanism_sigma(&sigma, 7, 300001, NULL), STATUS_OK);
    cr_assert(sigma.numerator == 2100007 && sigma.denominator == 1000000);
    cr_assert_eq(mechanism_sigma(&sigma, 1, 62500, NULL), STATUS_OK);
    cr_assert(sigma.numerator == 1 && sigma.denominator == 16);
    cr_assert_eq(mechanism_sigma(&sigma, UINT64_C(1) << 40, 1000000, NULL), STATUS_OK);
    static const uint64_t row[][2] = {
        {0, 1},
        {1, 0},
        {1, 62499},
        {(UINT64_C(1) << 40) + 1, 1000000},
        {UINT64_MAX, 1},
        {1, UINT64_MAX},
        {UINT64_C(1) << 63, UINT64_C(1) << 63},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct why why = {{0}};
        cr_expect_eq(mechanism_sigma(&sigma, row[i][0], row[i][1], &why), STATUS_INVALID);
        cr_expect(sigma.numerator == 0 && why.text[0] != '\0', "row %zu", i);
    }
}

Test(mechanism, adds_the_gaussian_noise_of_the_sigma_that_was_paid_for)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    struct noise_gaussian noise;
    struct grant *grant = grant_for(MECHANISM_DISCRETE_GAUSSIAN, 4500000);
    int64_t expected[100];
    int64_t values[100];
    for (size_t i = 0; i < 100; i++) {
        expected[i] = values[i] = i % 2 == 0 ? INT64_MAX : (int64_t)i; /* sums wrap */
    }
    seeded_random_init(&seeded, 6);
    cr_assert_eq(mechanism_gaussian(&grant, &random, values, 100, 10), STATUS_OK);
    cr_assert_null(grant);
    seeded_random_init(&seeded, 6);
    cr_assert_eq(noise_gaussian_init(&noise, (struct noise_scale){45, 1}), STATUS_OK);
    cr_assert_eq(noise_gaussian_add(&noise, &random, expected, 100), STATUS_OK);
    cr_assert_arr_eq(values, expected, sizeof values);
    noise_gaussian_free(&noise);
}

/* A sample is priced for a grid of 1024 steps or more to the sensitivity. */
Test(mechanism, gaussian_noise_on_a_sample_wants_a_fine_grid)
{
    for (uint64_t steps = SAMPLED_STEPS_MIN - 1; steps <= SAMPLED_STEPS_MIN; steps++) {
        struct seeded_random seeded;
        struct random random = seeded_random_interface(&seeded);
        struct grant *grant =
            sampled_grant_for(MECHANISM_DISCRETE_GAUSSIAN, 4500000, SAMPLING_NANO_ONE / 2);
        int64_t values[2] = {7, -7};
        seeded_random_init(&seeded, 6);
        const enum status status = mechanism_gaussian(&grant, &random, values, 2, steps);
        cr_assert_null(grant);
        if (steps < SAMPLED_STEPS_MIN) {
            cr_assert(status == STATUS_INVALID && values[0] == 0 && values[1] == 0);
        } else {
            cr_assert(status == STATUS_OK && values[0] != 0);
        }
    }
}

/* A grant for one mechanism is none for another: the spend stays, the answer does not. */
Test(mechanism, a_grant_for_another_mechanism_is_refused_and_used_up)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static const int64_t zero[3] = {0};
    for (int m = 0; m < MECHANISM_COUNT; m++) {
        seeded_random_init(&seeded, 6);
        struct grant *grant = grant_for((enum mechanism)m, 2000000);
        int64_t values[3] = {1, 2, 3};
        enum status status = mechanism_laplace(&grant, &random, values, 3, 1);
        cr_expect_eq(status, m == MECHANISM_PURE ? STATUS_OK : STATUS_INVALID, "laplace %d", m);
        cr_assert_null(grant);
        cr_expect(status == STATUS_OK || memcmp(values, zero, sizeof zero) == 0);
        cr_expect(status == STATUS_OK || seeded.drawn_bytes == 0);

        grant = grant_for((enum mechanism)m, 2000000);
        values[1] = 9;
        status = mechanism_gaussian(&grant, &random, values, 3, 1);
        bool right = m == MECHANISM_DISCRETE_GAUSSIAN;
        cr_expect_eq(status, right ? STATUS_OK : STATUS_INVALID, "gaussian %d", m);
        cr_assert_null(grant);
        cr_expect(status == STATUS_OK || memcmp(values, zero, sizeof zero) == 0);
    }
}

Test(mechanism, a_gaussian_that_fails_leaves_nothing)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static int64_t values[2000];
    for (uint64_t after = 1; after < 60000; after = after * 3 + 1) {
        seeded_random_init(&seeded, 6);
        seeded.failing_after = after;
        struct grant *grant = grant_for(MECHANISM_DISCRETE_GAUSSIAN, 2000000);
        for (size_t i = 0; i < 2000; i++) {
            values[i] = 1000 + (int64_t)i;
        }
        cr_assert_eq(mechanism_gaussian(&grant, &random, values, 2000, 1), STATUS_NO_RANDOM);
        cr_assert_null(grant);
        for (size_t i = 0; i < 2000; i++) {
            cr_assert_eq(values[i], 0, "value %zu after %lu bytes", i, (unsigned long)after);
        }
    }
    struct grant *grant = grant_for(MECHANISM_DISCRETE_GAUSSIAN, 62499);
    values[0] = 5;
    cr_assert_eq(mechanism_gaussian(&grant, &random, values, 1, 1), STATUS_INVALID);
    cr_assert(grant == NULL && values[0] == 0);
}

/* shares * part^2 >= sigma^2, and not with the next smaller numerator: exact, in GMP. */
Test(mechanism, a_share_of_gaussian_noise_is_the_least_that_is_enough)
{
    static const uint64_t row[][3] = {{3, 1500000, 2},     {1000, 5934283, 12},
                                      {2, 4000000, 13},    {1, 2000000, 1},
                                      {65536, 1234567, 9}, {1, 4000000, 4},
                                      {7, 300001000, 254}, {UINT64_C(1) << 40, 1000000, 1000000}};
    mpz_t part;
    mpz_t whole;
    mpz_inits(part, whole, NULL);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct noise_scale sigma;
        struct noise_scale share;
        struct why why = {{0}};
        cr_assert_eq(mechanism_sigma(&sigma, row[i][0], row[i][1], NULL), STATUS_OK);
        cr_assert_eq(mechanism_sigma_of_share(&share, row[i][0], row[i][1], row[i][2], &why),
                     STATUS_OK, "row %zu: %s", i, why.text);
        for (uint64_t less = 0; less < 2; less++) {
            mpz_set_ui(part, share.numerator - less);
            mpz_mul_ui(part, part, sigma.denominator);
            mpz_mul(part, part, part);
            mpz_mul_ui(part, part, row[i][2]);
            mpz_set_ui(whole, sigma.numerator);
            mpz_mul_ui(whole, whole, share.denominator);
            mpz_mul(whole, whole, whole);
            cr_expect(less == 0 ? mpz_cmp(part, whole) >= 0 : mpz_cmp(part, whole) < 0, "row %zu",
                      i);
        }
    }
    mpz_clears(part, whole, NULL);
}

Test(mechanism, shares_of_gaussian_noise_that_are_too_small_or_too_many_are_refused)
{
    static const uint64_t row[][3] = {
        {1, 1999999, 1}, /* sigma^2/h < 4 */
        {1, 3999999, 4}, {3, 2000000, 10},         {1, 9000000, 0},
        {1, 62499, 1},   {1024, 4000000, 1000001}, {0, 4000000, 2},
    };
    struct noise_scale share;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct why why = {{0}};
        cr_expect_eq(mechanism_sigma_of_share(&share, row[i][0], row[i][1], row[i][2], &why),
                     STATUS_INVALID, "row %zu", i);
        cr_expect(share.numerator == 0 && why.text[0] != '\0', "row %zu", i);
    }
}

static struct grant *grant_with_delta(uint64_t delta_atto)
{
    struct ledger *ledger = ledger_new((struct price){40000000, DELTA_ATTO_ONE / 2});
    struct charge charge = {.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                            .sigma_micro = 4500000,
                            .delta_atto = delta_atto,
                            .pass = {{1}},
                            .row_count = 1};
    struct grant *grant = NULL;
    struct why why = {{0}};
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, &why), STATUS_OK, "%s", why.text);
    ledger_free(ledger);
    return grant;
}

/* The noise is that of the share; a charge that lacks a 10^-18th of the sum's delta gets none. */
Test(mechanism, a_gaussian_share_is_drawn_if_the_charge_pays_for_the_sum)
{
    enum { COUNT = 100, SHARES = 9 };
    const uint64_t delta = mechanism_sigma_delta(SHARES, COUNT);
    cr_assert(delta > 0 && delta < 10000, "%lu", (unsigned long)delta);
    cr_expect_eq(mechanism_sigma_delta(1, COUNT), 0, "one share is the whole");
    for (uint64_t lacks = 0; lacks < 2; lacks++) {
        struct seeded_random seeded;
        struct random random = seeded_random_interface(&seeded);
        struct noise_gaussian noise;
        int64_t values[COUNT] = {0};
        int64_t expected[COUNT] = {0};
        struct grant *grant = grant_with_delta(delta - lacks);
        values[0] = expected[0] = 5;
        seeded_random_init(&seeded, 6);
        const enum status status =
            mechanism_gaussian_share(&grant, &random, values, COUNT, 10, SHARES);
        cr_assert_null(grant);
        if (lacks > 0) {
            cr_expect(status == STATUS_INVALID && values[0] == 0 && seeded.drawn_bytes == 0);
            continue;
        }
        cr_assert_eq(status, STATUS_OK);
        seeded_random_init(&seeded, 6);
        cr_assert_eq(noise_gaussian_init(&noise, (struct noise_scale){15, 1}), STATUS_OK);
        cr_assert_eq(noise_gaussian_add(&noise, &random, expected, COUNT), STATUS_OK);
        cr_assert_arr_eq(values, expected, sizeof values);
        noise_gaussian_free(&noise);
    }
}
