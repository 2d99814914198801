#include "noise/exponential.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

enum { PRECISION = 400, DISTANCES = 4000 };

/* Rates from the least to the largest, on both sides of every special case. */
static const struct {
    uint64_t numerator;
    uint64_t denominator_high;
    uint64_t denominator_low;
} rates[] = {
    {1, 0, 1},
    {1, 0, 2},
    {1, 0, 3},
    {2, 0, 3},
    {44, 0, 1},
    {45, 0, 1},
    {355, 0, 8},
    {710, 0, 1},
    {UINT64_MAX, 0, 1},
    {1, 0, 1000},
    {999983, 0, 1000003},
    {693147, 0, 1000000},
    {693148, 0, 1000000},
    {1386295, 0, 1000000},
    {123457, 0, UINT64_C(1) << 50},
    {1, 0, UINT64_MAX},
    {1, 1, 0},
    {1, UINT64_MAX, UINT64_MAX},
    {1, 1999999, 12345},
};

enum { RATES = sizeof rates / sizeof rates[0] };

static uint128 denominator_of(size_t rate)
{
    return (uint128)rates[rate].denominator_high << 64 | rates[rate].denominator_low;
}

/* 2^62 exp(-eta distance), within 2^-300 of itself. */
static void truth(mpfr_t out, size_t rate, uint64_t distance)
{
    const uint64_t word[2] = {rates[rate].denominator_high, rates[rate].denominator_low};
    mpz_t part;
    mpz_init(part);
    mpz_import(part, 1, 1, 8, 0, 0, &rates[rate].numerator);
    mpfr_set_z(out, part, MPFR_RNDN);
    mpz_import(part, 1, 1, 8, 0, 0, &distance);
    mpfr_mul_z(out, out, part, MPFR_RNDN);
    mpz_import(part, 2, 1, 8, 0, 0, word);
    mpfr_div_z(out, out, part, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, NOISE_EXPONENTIAL_BITS, MPFR_RNDN);
    mpz_clear(part);
}

/* Distances that matter for a rate: small ones, huge ones, and those where exp(-eta d) is of every
 * size. */
static uint64_t distance_for(struct seeded_random *seeded, size_t rate, size_t i)
{
    if (i < 2 * 64) {
        return (UINT64_C(1) << i / 2) - i % 2; /* powers of two: a product that wraps would be 0 */
    }
    if (i == 2 * 64) {
        return UINT64_MAX;
    }
    double eta = (double)rates[rate].numerator / (double)denominator_of(rate);
    double reach = 50 / eta * seeded_random_unit(seeded);
    uint64_t any = seeded_random_word(seeded) >> seeded_random_below(seeded, 64);
    return i % 4 == 0 || reach >= 0x1p64 ? any : (uint64_t)reach;
}

/* The least and the largest truth - weight over all rates and distances. */
static void measure(uint64_t added, double *least, double *most)
{
    struct seeded_random seeded;
    mpfr_t real;
    seeded_random_init(&seeded, 31);
    mpfr_init2(real, PRECISION);
    *least = 1e9;
    *most = -1e9;
    for (size_t rate = 0; rate < RATES; rate++) {
        struct noise_exponential exponential;
        cr_assert_eq(
            noise_exponential_init(&exponential, rates[rate].numerator, denominator_of(rate)),
            STATUS_OK);
        for (size_t i = 0; i < DISTANCES; i++) {
            uint64_t distance = distance_for(&seeded, rate, i);
            uint64_t weight = 0;
            noise_exponential_floor(&exponential, &weight, &distance, 1);
            truth(real, rate, distance);
            mpfr_sub_ui(real, real, weight + added, MPFR_RNDN); /* unsigned long has 64 bits */
            double gap = mpfr_get_d(real, MPFR_RNDN);
            *least = gap < *least ? gap : *least;
            *most = gap > *most ? gap : *most;
        }
    }
    mpfr_clear(real);
    mpfr_free_cache();
}

Test(exponential, weights_are_certified_from_below)
{
    double least = 0;
    double most = 0;
    measure(0, &least, &most);
    cr_assert(least >= 0 && most < NOISE_EXPONENTIAL_SLACK, "gaps from %g to %g", least, most);
    cr_assert(most < 5.25, "the analysis at the top of exponential.c promises less than 5.25: %g",
              most);
    measure(3, &least, &most);
    cr_assert(least < 0, "weights 3 too large must be seen");
}

Test(exponential, many_at_once_are_the_same_as_one_by_one_also_in_place)
{
    struct seeded_random seeded;
    struct noise_exponential exponential;
    uint64_t distance[37];
    uint64_t weight[37];
    seeded_random_init(&seeded, 32);
    cr_assert_eq(noise_exponential_init(&exponential, 3, 1000), STATUS_OK);
    for (size_t i = 0; i < 37; i++) {
        distance[i] = seeded_random_below(&seeded, 20000);
        noise_exponential_floor(&exponential, &weight[i], &distance[i], 1);
    }
    noise_exponential_floor(&exponential, distance, distance, 37);
    cr_assert_arr_eq(weight, distance, sizeof weight);
}

Test(exponential, what_is_no_rate_is_refused)
{
    struct noise_exponential exponential;
    cr_assert_eq(noise_exponential_init(&exponential, 0, 1), STATUS_INVALID);
    cr_assert_eq(noise_exponential_init(&exponential, 1, 0), STATUS_INVALID);
}

/* Splits the truth into its whole part and the first three words after the point. */
static uint64_t split(size_t rate, uint64_t distance, uint64_t fraction[3])
{
    mpfr_t real;
    mpz_t digits;
    uint64_t word[4] = {0};
    mpfr_init2(real, PRECISION);
    mpz_init(digits);
    truth(real, rate, distance);
    mpfr_mul_2ui(real, real, 192, MPFR_RNDN);
    mpfr_get_z(digits, real, MPFR_RNDD);
    mpz_export(word, NULL, -1, 8, 0, 0, digits);
    memcpy(fraction, word, 24); /* lowest first */
    mpfr_clear(real);
    mpz_clear(digits);
    return word[3];
}

Test(exponential, a_draw_near_the_edge_is_refined_until_it_is_decided)
{
    for (size_t rate = 0; rate < 4; rate++) {
        struct noise_exponential exponential;
        uint64_t fraction[3];
        uint64_t whole = split(rate, 7, fraction);
        bool above = false;
        cr_assert_eq(
            noise_exponential_init(&exponential, rates[rate].numerator, denominator_of(rate)),
            STATUS_OK);
        for (size_t late = 0; late < 3; late++) { /* how many words agree with the truth */
            for (int side = -1; side <= 1; side += 2) {
                struct script script = {{fraction[2], fraction[1], fraction[0]}, late + 1, 0};
                struct random random = {.fill = script_fill, .self = &script};
                script.word[late] += (uint64_t)side;
                cr_assert_eq(noise_exponential_above(&exponential, &random, 7, whole, &above),
                             STATUS_OK);
                cr_assert_eq(script.used, late + 1);
                cr_assert_eq(above, side < 0, "rate %zu word %zu", rate, late);
            }
        }
        struct script few = {{fraction[2], fraction[1]}, 2, 0};
        struct random random = {.fill = script_fill, .self = &few};
        above = true;
        cr_assert_eq(noise_exponential_above(&exponential, &random, 7, whole, &above),
                     STATUS_NO_RANDOM);
        cr_assert_not(above);
        few = (struct script){.count = 0}; /* clear cases need no randomness */
        cr_assert_eq(noise_exponential_above(&exponential, &random, 7, whole - 1, &above),
                     STATUS_OK);
        cr_assert(above);
        cr_assert_eq(noise_exponential_above(&exponential, &random, 7, whole + 1, &above),
                     STATUS_OK);
        cr_assert_not(above);
    }
}

Test(exponential, at_distance_zero_and_far_away_the_answer_is_certain)
{
    struct noise_exponential exponential;
    struct script script = {{0, 1}, 2, 0};
    struct random random = {.fill = script_fill, .self = &script};
    const uint64_t one = UINT64_C(1) << NOISE_EXPONENTIAL_BITS;
    bool above = false;
    cr_assert_eq(noise_exponential_init(&exponential, UINT64_MAX, 1), STATUS_OK);
    cr_assert_eq(noise_exponential_above(&exponential, &random, 0, one - 1, &above), STATUS_OK);
    cr_assert(above);
    cr_assert_eq(noise_exponential_above(&exponential, &random, 0, one, &above), STATUS_OK);
    cr_assert_not(above);
    cr_assert_eq(script.used, 0);
    /* exp(-2^128) is below what MPFR holds; a fraction of 0 stays undecided, one of 2^-128 does
     * not. */
    cr_assert_eq(noise_exponential_above(&exponential, &random, UINT64_MAX, 0, &above), STATUS_OK);
    cr_assert_not(above);
    cr_assert_eq(script.used, 2);
}
