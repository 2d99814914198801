/* The exact path, which ordinary draws almost never take: its bounds, its refinement, its
 * distribution.
 */

#include "noise/laplace_private.h"
#include "tests/support/chi_square.h"
#include "tests/support/script.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <string.h>

struct bounds {
    mpfr_t low;
    mpfr_t high;
};

Test(noise_exact, bounds_enclose_the_truth_at_any_precision)
{
    static const struct noise_scale scales[] = {{1, 16}, {7, 3}, {1000, 1}, {UINT64_MAX, 1 << 24}};
    struct bounds truth;
    mpfr_inits2(700, truth.low, truth.high, NULL);
    for (size_t i = 0; i < 4; i++) {
        struct noise_geometric noise;
        cr_assert_eq(noise_geometric_init(&noise, scales[i]), STATUS_OK);
        for (size_t position = 0; position < NOISE_DIGITS; position++) {
            for (uint64_t d = 0; d < NOISE_BASE; d++) {
                noise_exact_distribution(truth.low, truth.high, &noise, position, d);
                cr_assert(mpfr_lessequal_p(truth.low, truth.high));
                for (mpfr_prec_t precision = 10; precision < 300; precision += 41) {
                    struct bounds coarse;
                    mpfr_inits2(precision, coarse.low, coarse.high, NULL);
                    noise_exact_distribution(coarse.low, coarse.high, &noise, position, d);
                    cr_assert(mpfr_lessequal_p(coarse.low, truth.low), "scale %zu digit %lu", i,
                              (unsigned long)d);
                    cr_assert(mpfr_greaterequal_p(coarse.high, truth.high), "scale %zu digit %lu",
                              i, (unsigned long)d);
                    mpfr_clears(coarse.low, coarse.high, NULL);
                }
            }
        }
    }
    mpfr_clears(truth.low, truth.high, NULL);
    mpfr_free_cache();
}

/* The first bits of C(d) = 2^51 F(d) - M(d): its whole part and two 64-bit words of its fraction.
 */
static void edge_words(uint64_t word[3], const struct noise_geometric *noise, size_t position,
                       unsigned d)
{
    struct bounds edge;
    mpz_t bits;
    mpz_t part;
    mpfr_inits2(700, edge.low, edge.high, NULL);
    mpz_inits(bits, part, NULL);
    noise_exact_distribution(edge.low, edge.high, noise, position, d);
    for (unsigned i = 0; i <= d && i < NOISE_BASE; i++) {
        mpfr_sub_ui(edge.low, edge.low, noise->digit[position].mass[i], MPFR_RNDD);
    }
    mpfr_mul_2ui(edge.low, edge.low, 128, MPFR_RNDD);
    mpfr_get_z(bits, edge.low, MPFR_RNDD);
    for (int i = 0; i < 3; i++) {
        mpz_fdiv_q_2exp(part, bits, 64 * (2 - (unsigned)i));
        mpz_fdiv_r_2exp(part, part, 64);
        word[i] = mpz_get_ui(part);
    }
    mpz_clears(bits, part, NULL);
    mpfr_clears(edge.low, edge.high, NULL);
}

/* The digits on both sides of the edge after d, from words that differ only in their last bits. */
static void check_tie(const struct noise_geometric *noise, size_t position, unsigned d)
{
    struct script script = {.count = 4};
    struct random random = {.fill = script_fill, .self = &script};
    uint64_t edge[3];
    uint64_t digit = 99;
    edge_words(edge, noise, position, d);
    for (int above = 0; above < 2; above++) {
        memcpy(script.word, edge, sizeof edge); /* agrees with the edge in all of 64 bits */
        script.word[2] += above == 1 ? 1 : UINT64_MAX;
        script.used = 0;
        cr_assert_eq(noise_exact_draw(noise, &random, position, &digit), STATUS_OK);
        cr_assert_eq(digit, d + (unsigned)above, "digit %lu behind %u", (unsigned long)digit, d);
        cr_assert_eq(script.used, 3, "a second word was needed");
    }
    memcpy(script.word, edge, sizeof edge);
    script.word[1]--; /* below the edge from the first word on */
    script.used = 0;
    cr_assert_eq(noise_exact_draw(noise, &random, position, &digit), STATUS_OK);
    cr_assert_eq(script.used, 2);
}

Test(noise_exact, a_tie_is_refined_and_never_rounded)
{
    struct noise_geometric noise;
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    for (unsigned d = 0; d < NOISE_BASE - 1; d++) {
        check_tie(&noise, 0, d);
    }
}

/* Beyond the outcomes that have a mass; the last of these counts too. */
Test(noise_exact, the_upper_digit_goes_on_for_ever)
{
    static const struct noise_scale wide[] = {{31, 1}, {1023, 1}, {UINT64_C(1) << 40, 1}};
    for (size_t i = 0; i < 3; i++) {
        struct noise_geometric noise;
        cr_assert_eq(noise_geometric_init(&noise, wide[i]), STATUS_OK);
        cr_assert(i == 2 || noise.digit[1].mass[NOISE_BASE - 1] > 0);
        unsigned end = i == 2 ? 36 : 70; /* edges are nearer than a word tells beyond */
        for (unsigned d = 0; d < end; d++) {
            check_tie(&noise, 1, d);
        }
    }
}

Test(noise_exact, a_word_outside_the_left_over_range_is_drawn_again)
{
    struct noise_geometric noise;
    uint64_t digit = 99;
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    uint64_t left = noise.digit[0].left;
    cr_assert_neq(left & (left - 1), 0, "no power of two, else every word is inside");
    struct script script = {.word = {left, 0, 0}, .count = 4};
    struct random random = {.fill = script_fill, .self = &script};
    cr_assert_eq(noise_exact_draw(&noise, &random, 0, &digit), STATUS_OK);
    cr_assert(digit == 0 && script.used == 3);
    script = (struct script){.word = {left - 1, UINT64_MAX, UINT64_MAX}, .count = 4};
    cr_assert_eq(noise_exact_draw(&noise, &random, 0, &digit), STATUS_OK);
    cr_assert(digit == NOISE_BASE - 1 && script.used == 2, "the last one is inside");
}

/* The first 52 bits of exp(-low/s), and the 128 that follow. */
static void exponential_words(uint64_t word[3], const struct noise_geometric *noise, uint64_t low)
{
    mpfr_t edge;
    mpz_t bits;
    mpz_t part;
    mpfr_init2(edge, 700);
    mpz_inits(bits, part, NULL);
    mpfr_set_ui(edge, low, MPFR_RNDN);
    mpfr_mul_ui(edge, edge, noise->scale.denominator, MPFR_RNDN);
    mpfr_div_ui(edge, edge, noise->scale.numerator, MPFR_RNDN);
    mpfr_neg(edge, edge, MPFR_RNDN);
    mpfr_exp(edge, edge, MPFR_RNDN);
    mpfr_mul_2ui(edge, edge, FRACTION_BITS + 128, MPFR_RNDN);
    mpfr_get_z(bits, edge, MPFR_RNDD);
    for (int i = 0; i < 3; i++) {
        mpz_fdiv_q_2exp(part, bits, 64 * (2 - (unsigned)i));
        mpz_fdiv_r_2exp(part, part, 64);
        word[i] = mpz_get_ui(part);
    }
    mpz_clears(bits, part, NULL);
    mpfr_clear(edge);
}

Test(noise_exact, an_acceptance_that_ties_is_refined_and_never_rounded)
{
    struct noise_geometric noise;
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){1000003, 7}), STATUS_OK);
    for (uint64_t low = 1; low < UINT64_C(1) << noise.low_bits; low = low * 3 + 1) {
        uint64_t edge[3];
        exponential_words(edge, &noise, low);
        for (int above = 0; above < 2; above++) {
            struct script script = {.word = {edge[1], edge[2] + (above == 1 ? 1 : UINT64_MAX)},
                                    .count = 4};
            struct random random = {.fill = script_fill, .self = &script};
            bool accept = above == 1;
            cr_assert_eq(noise_exact_accept(&noise, &random, low, edge[0], &accept), STATUS_OK);
            cr_assert_eq(accept, above == 0);
            cr_assert_eq(script.used, 2, "two more words were needed");
            script.used = 0;
            uint64_t u = above == 1 ? edge[0] + 1 : edge[0] - 1;
            cr_assert_eq(noise_exact_accept(&noise, &random, low, u, &accept), STATUS_OK);
            cr_assert(accept == (above == 0) && script.used == 0, "decided without");
        }
    }
    struct script script = {.count = 4};
    struct random random = {.fill = script_fill, .self = &script};
    bool accept = false;
    uint64_t last = (UINT64_C(1) << FRACTION_BITS) - 1;
    cr_assert_eq(noise_exact_accept(&noise, &random, 0, last, &accept), STATUS_OK);
    cr_assert(accept && script.used == 0, "exp(0) is 1, and U is always below");
}

enum { DRAWS = 8000, DIGITS = 41 };

/* p-value of the exact path's draws, with masses cut to a part of what they should be. The upper
 * digit has no end; it is told a scale ten times larger than its masses are for, so that much lies
 * beyond its outcomes. false_scale is what the expectation believes. */
static double fit_left_over(struct noise_scale scale, bool open, double false_scale)
{
    struct noise_geometric noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint64_t seen[DIGITS] = {0};
    double expected[DIGITS];

    cr_assert_eq(noise_geometric_init(&noise, scale), STATUS_OK);
    double t = ldexp(false_scale, open ? -5 : -(int)noise.low_bits);
    noise.scale.numerator *= open ? 10 : 1;
    t *= open ? 10 : 1;
    struct noise_digit *digit = &noise.digit[open ? 1 : 0];
    double closed = open ? 1 : -expm1(-NOISE_BASE / t);
    for (size_t d = 0; d < DIGITS; d++) {
        bool rest = d == DIGITS - 1;
        double mass = exp(-(double)d / t) * (rest ? 1 : -expm1(-1 / t)) / closed;
        uint64_t kept = 0;
        if (d < NOISE_BASE) {
            kept = d % 4 == 1 ? digit->mass[d] / 5 : 0;
            digit->left += digit->mass[d] - kept;
            digit->mass[d] = kept;
        }
        expected[d] = mass - ldexp((double)kept, -DIGIT_BITS);
    }
    seeded_random_init(&seeded, 31);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t drawn = 0;
        cr_assert_eq(noise_exact_draw(&noise, &random, open ? 1 : 0, &drawn), STATUS_OK);
        cr_assert(open || drawn < NOISE_BASE);
        seen[drawn < DIGITS - 1 ? drawn : DIGITS - 1]++;
    }
    for (size_t d = 0; d < DIGITS; d++) {
        expected[d] *= DRAWS / ldexp((double)digit->left, -DIGIT_BITS);
    }
    return chi_square_p(seen, expected, open ? DIGITS : NOISE_BASE);
}

/* Below p = 1e-9: three comparisons, a false alarm in 3e8 for a fresh seed. */
Test(noise_exact, draws_exactly_what_the_masses_lack)
{
    cr_assert_gt(fit_left_over((struct noise_scale){1000, 1}, false, 1000), 1e-9);
    cr_assert_gt(fit_left_over((struct noise_scale){10, 1}, false, 10), 1e-9);
    cr_assert_gt(fit_left_over((struct noise_scale){31, 1}, true, 31), 1e-9);
    cr_assert_lt(fit_left_over((struct noise_scale){31, 1}, true, 37), 1e-9, "the twin");
}
