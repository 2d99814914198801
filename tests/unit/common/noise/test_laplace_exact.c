/* The exact path, which no ordinary draw ever takes: its bounds, its refinement, its distribution.
 */

#include "noise/laplace_private.h"
#include "tests/support/chi_square.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <string.h>

Test(noise_exact, bounds_enclose_the_truth_at_any_precision)
{
    static const struct noise_scale scales[] = {{1, 16}, {7, 3}, {1000, 1}, {UINT64_MAX, 1 << 24}};
    struct bounds truth;
    bounds_init(&truth, 700);
    for (size_t i = 0; i < 4; i++) {
        struct noise_laplace noise;
        cr_assert_eq(noise_laplace_init(&noise, scales[i]), STATUS_OK);
        for (size_t position = 0; position < noise.digit_count; position++) {
            for (uint64_t d = 0; d < NOISE_BASE; d++) {
                noise_exact_distribution(&truth, &noise, position, d);
                cr_assert(mpfr_lessequal_p(truth.low, truth.high));
                for (mpfr_prec_t precision = 10; precision < 300; precision += 41) {
                    struct bounds coarse;
                    bounds_init(&coarse, precision);
                    noise_exact_distribution(&coarse, &noise, position, d);
                    cr_assert(mpfr_lessequal_p(coarse.low, truth.low), "scale %zu digit %lu", i,
                              (unsigned long)d);
                    cr_assert(mpfr_greaterequal_p(coarse.high, truth.high), "scale %zu digit %lu",
                              i, (unsigned long)d);
                    bounds_clear(&coarse);
                }
            }
        }
    }
    bounds_clear(&truth);
    mpfr_free_cache();
}

/* A source that says what it was told to. */
struct script {
    uint64_t word[4];
    size_t used;
};

static enum status script_fill(void *self, void *out, size_t bytes)
{
    struct script *script = self;
    cr_assert(bytes == 8 && script->used < 4);
    memcpy(out, &script->word[script->used++], 8);
    return STATUS_OK;
}

/* The first bits of C(d) = 2^64 F(d) - M(d): its whole part and two 64-bit words of its fraction.
 */
static void edge_words(uint64_t word[3], const struct noise_laplace *noise, unsigned d)
{
    struct bounds edge;
    mpz_t bits;
    mpz_t part;
    bounds_init(&edge, 700);
    mpz_inits(bits, part, NULL);
    noise_exact_distribution(&edge, noise, 0, d);
    for (unsigned i = 0; i <= d; i++) {
        mpfr_sub_ui(edge.low, edge.low, noise->digit[0].mass[i], MPFR_RNDD);
    }
    mpfr_mul_2ui(edge.low, edge.low, 128, MPFR_RNDD);
    mpfr_get_z(bits, edge.low, MPFR_RNDD);
    for (int i = 0; i < 3; i++) {
        mpz_fdiv_q_2exp(part, bits, 64 * (2 - (unsigned)i));
        mpz_fdiv_r_2exp(part, part, 64);
        word[i] = mpz_get_ui(part);
    }
    mpz_clears(bits, part, NULL);
    bounds_clear(&edge);
}

Test(noise_exact, a_tie_is_refined_and_never_rounded)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    for (unsigned d = 0; d < NOISE_BASE - 1; d++) {
        struct script script = {.used = 0};
        struct random random = {.fill = script_fill, .self = &script};
        uint64_t edge[3];
        uint64_t digit = 99;
        edge_words(edge, &noise, d);
        for (int above = 0; above < 2; above++) {
            memcpy(script.word, edge, sizeof edge); /* agrees with the edge in all of 64 bits */
            script.word[2] += above == 1 ? 1 : UINT64_MAX;
            script.used = 0;
            cr_assert_eq(noise_exact_draw(&noise, &random, 0, &digit), STATUS_OK);
            cr_assert_eq(digit, d + (unsigned)above);
            cr_assert_eq(script.used, 3, "a second word was needed");
        }
        memcpy(script.word, edge, sizeof edge);
        script.word[1]--; /* below the edge from the first word on */
        script.used = 0;
        cr_assert_eq(noise_exact_draw(&noise, &random, 0, &digit), STATUS_OK);
        cr_assert_eq(script.used, 2);
    }
}

Test(noise_exact, a_word_outside_the_left_over_range_is_drawn_again)
{
    struct noise_laplace noise;
    uint64_t digit = 99;
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    uint64_t left = noise.digit[0].left;
    cr_assert_neq(left & (left - 1), 0, "no power of two, else every word is inside");
    struct script script = {.word = {left, 0, 0}};
    struct random random = {.fill = script_fill, .self = &script};
    cr_assert_eq(noise_exact_draw(&noise, &random, 0, &digit), STATUS_OK);
    cr_assert(digit == 0 && script.used == 3);
    script = (struct script){.word = {left - 1, UINT64_MAX, UINT64_MAX}};
    cr_assert_eq(noise_exact_draw(&noise, &random, 0, &digit), STATUS_OK);
    cr_assert(digit == NOISE_BASE - 1 && script.used == 2, "the last one is inside");
}

enum { DRAWS = 20000, DIGITS = 41 };

/* p-value of the exact path's draws at position 0, with masses cut to a part of what they should
 * be. false_scale is what the expectation believes. */
static double fit_left_over(struct noise_scale scale, bool open, double false_scale)
{
    struct noise_laplace noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint64_t seen[DIGITS] = {0};
    double expected[DIGITS];
    double s = false_scale;

    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    noise.digit_count = open ? 1 : noise.digit_count;
    struct noise_digit *digit = &noise.digit[0];
    double closed = open ? 1 : -expm1(-NOISE_BASE / s);
    for (size_t d = 0; d < DIGITS; d++) {
        bool rest = d == DIGITS - 1;
        double mass = exp(-(double)d / s) * (rest ? 1 : -expm1(-1 / s)) / closed;
        uint64_t kept = 0;
        if (d <
            NOISE_BASE) { /* an open digit's masses are smaller than a closed one's: a fifth fits */
            kept = d % 4 == 1 ? digit->mass[d] / 5 : 0;
            digit->left += digit->mass[d] - kept;
            digit->mass[d] = kept;
        }
        expected[d] = mass - ldexp((double)kept, -64);
    }
    seeded_random_init(&seeded, 31);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t drawn = 0;
        cr_assert_eq(noise_exact_draw(&noise, &random, 0, &drawn), STATUS_OK);
        cr_assert(open || drawn < NOISE_BASE);
        seen[drawn < DIGITS - 1 ? drawn : DIGITS - 1]++;
    }
    for (size_t d = 0; d < DIGITS; d++) {
        expected[d] *= DRAWS / ldexp((double)digit->left, -64);
    }
    return chi_square_p(seen, expected, open ? DIGITS : NOISE_BASE);
}

/* Below p = 1e-9: four comparisons, a false alarm in 10^8 for a fresh seed. */
Test(noise_exact, draws_exactly_what_the_masses_lack, .timeout = 100)
{
    cr_assert_gt(fit_left_over((struct noise_scale){1000, 1}, false, 1000), 1e-9);
    cr_assert_gt(fit_left_over((struct noise_scale){10, 1}, false, 10), 1e-9);
    cr_assert_gt(fit_left_over((struct noise_scale){10, 1}, true, 10), 1e-9);
    cr_assert_lt(fit_left_over((struct noise_scale){10, 1}, true, 11), 1e-9, "the twin");
}
