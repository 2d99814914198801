#include "noise/laplace_private.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

static const struct noise_scale scales[] = {
    {1, 16},
    {1, 4},
    {1, 1},
    {7, 3},
    {5, 1},
    {1000000, 7},
    {UINT64_C(1) << 20, 1},
    {UINT64_MAX, UINT64_MAX - 1},
    {UINT64_C(1) << 40, 1},
    {UINT64_MAX, 16777217},
};

enum { SCALES = sizeof scales / sizeof scales[0] };

Test(noise, a_scale_outside_its_range_is_refused)
{
    static const struct {
        struct noise_scale scale;
        bool valid;
    } row[] = {
        {{1, 16}, true},
        {{1, 17}, false},
        {{UINT64_MAX / 16, UINT64_MAX - 15}, true},
        {{UINT64_MAX / 16, UINT64_MAX}, true}, /* 16 * floor(max / 16) = max - 15 < max: no */
        {{UINT64_C(1) << 40, 1}, true},
        {{(UINT64_C(1) << 40) + 1, 1}, false},
        {{UINT64_MAX, 1 << 24}, true},
        {{UINT64_MAX, (1 << 24) - 1}, false},
        {{0, 1}, false},
        {{1, 0}, false},
        {{0, 0}, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct noise_laplace noise;
        bool valid = row[i].valid && i != 3;
        cr_expect_eq(noise_scale_is_valid(row[i].scale), valid, "row %zu", i);
        cr_expect_eq(noise_laplace_init(&noise, row[i].scale), valid ? STATUS_OK : STATUS_INVALID);
    }
    cr_expect_eq(noise_scale_ceiling((struct noise_scale){7, 3}), 3);
    cr_expect_eq(noise_scale_ceiling((struct noise_scale){6, 3}), 2);
    cr_expect_eq(noise_scale_ceiling((struct noise_scale){1, 16}), 1);
    cr_expect_eq(noise_scale_ceiling((struct noise_scale){UINT64_MAX, UINT64_MAX}), 1);
}

/* 2^64 P(digit), from powers of exp(-1/s) alone and with 600 bits: not the way the tables are made.
 */
static void true_mass(mpfr_t out, const struct noise_laplace *noise, size_t position, unsigned d)
{
    bool last = position + 1 == noise->digit_count;
    mpfr_t q;
    mpfr_t power;
    mpfr_inits2(600, q, power, NULL);
    mpfr_set_ui(q, noise->scale.denominator, MPFR_RNDN);
    mpfr_div_ui(q, q, noise->scale.numerator, MPFR_RNDN);
    mpfr_neg(q, q, MPFR_RNDN);
    mpfr_exp(q, q, MPFR_RNDN);
    for (size_t i = 0; i < 4 * position; i++) {
        mpfr_sqr(q, q, MPFR_RNDN);
    }
    mpfr_ui_sub(out, 1, q, MPFR_RNDN);
    mpfr_pow_ui(power, q, d, MPFR_RNDN);
    mpfr_mul(out, out, power, MPFR_RNDN);
    if (!last) {
        mpfr_pow_ui(power, q, NOISE_BASE, MPFR_RNDN);
        mpfr_ui_sub(power, 1, power, MPFR_RNDN);
        mpfr_div(out, out, power, MPFR_RNDN);
    }
    mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
    mpfr_clears(q, power, NULL);
}

/* Returns whether every mass of the position is the truth rounded down, or one less. */
static bool masses_are_right(const struct noise_laplace *noise, size_t position)
{
    const struct noise_digit *digit = &noise->digit[position];
    bool right = true;
    uint64_t sum = digit->left;
    mpfr_t mass;
    mpfr_init2(mass, 600);
    for (unsigned d = 0; d < NOISE_BASE; d++) {
        true_mass(mass, noise, position, d);
        right = right && mpfr_cmp_ui(mass, digit->mass[d]) >= 0;
        mpfr_sub_ui(mass, mass, digit->mass[d], MPFR_RNDN);
        right = right && mpfr_cmp_ui(mass, 2) < 0;
        sum += digit->mass[d];
    }
    mpfr_clear(mass);
    return right && sum == 0 && digit->left > 0 && digit->left < 64;
}

Test(noise, masses_are_the_true_probabilities_rounded_down)
{
    for (size_t i = 0; i < SCALES; i++) {
        struct noise_laplace noise;
        cr_assert_eq(noise_laplace_init(&noise, scales[i]), STATUS_OK);
        for (size_t position = 0; position < noise.digit_count; position++) {
            cr_assert(masses_are_right(&noise, position), "scale %zu digit %zu", i, position);
        }
        noise.digit[0].mass[0] += 1; /* the check can fail */
        noise.digit[0].left -= 1;
        cr_assert_not(masses_are_right(&noise, 0));
        noise.digit[0].mass[0] -= 3;
        noise.digit[0].left += 3;
        cr_assert_not(masses_are_right(&noise, 0));
    }
    mpfr_free_cache();
}

Test(noise, cells_hold_every_mass_once)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 9);
    for (size_t i = 0; i < SCALES + 2000; i++) {
        struct noise_laplace noise;
        memset(&noise, 0, sizeof noise);
        if (i < SCALES) {
            cr_assert_eq(noise_laplace_init(&noise, scales[i]), STATUS_OK);
        } else { /* any masses at all */
            struct noise_digit *digit = &noise.digit[0];
            noise.digit_count = 1;
            for (size_t d = 0; d < NOISE_BASE; d++) {
                digit->mass[d] =
                    seeded_random_word(&seeded) >> (4 + seeded_random_below(&seeded, 60));
                digit->left -= digit->mass[d];
            }
            noise_digit_cells(digit);
        }
        for (size_t position = 0; position < noise.digit_count; position++) {
            const struct noise_digit *digit = &noise.digit[position];
            uint64_t sum[NOISE_BASE + 1] = {0};
            for (size_t cell = 0; cell < NOISE_BASE; cell++) {
                uint64_t whole = UINT64_C(1) << 60;
                cr_assert_leq(digit->threshold[cell], whole);
                sum[digit->outcome[0][cell]] += digit->threshold[cell];
                sum[digit->outcome[1][cell]] += whole - digit->threshold[cell];
            }
            cr_assert_arr_eq(sum, digit->mass, sizeof digit->mass);
            cr_assert_eq(sum[NOISE_LEFT], digit->left);
        }
    }
}

Test(noise, digits_are_as_many_as_the_scale_needs)
{
    struct noise_laplace noise;
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1, 16}), STATUS_OK);
    cr_assert_eq(noise.digit_count, 1);
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1, 1}), STATUS_OK);
    cr_assert_eq(noise.digit_count, 2);
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){UINT64_C(1) << 40, 1}), STATUS_OK);
    cr_assert_eq(noise.digit_count, NOISE_DIGITS_MAX);
}

Test(noise, the_number_of_random_bytes_does_not_depend_on_what_is_drawn)
{
    for (size_t i = 0; i < SCALES; i++) {
        struct noise_laplace noise;
        cr_assert_eq(noise_laplace_init(&noise, scales[i]), STATUS_OK);
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct seeded_random seeded;
            int64_t values[1000];
            seeded_random_init(&seeded, seed);
            struct random random = seeded_random_interface(&seeded);
            cr_assert_eq(noise_laplace_draw(&noise, &random, values, 1000), STATUS_OK);
            cr_assert_eq(seeded.drawn_bytes, 1000 * 16 * noise.digit_count);
        }
    }
}

Test(noise, values_are_added_to_modulo_two_to_the_64)
{
    struct noise_laplace noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    int64_t drawn[600];
    int64_t added[600];
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    seeded_random_init(&seeded, 4);
    memset(drawn, 0x55, sizeof drawn);
    cr_assert_eq(noise_laplace_draw(&noise, &random, drawn, 600), STATUS_OK);
    seeded_random_init(&seeded, 4);
    for (size_t i = 0; i < 600; i++) {
        added[i] = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : (int64_t)i;
    }
    cr_assert_eq(noise_laplace_add(&noise, &random, added, 600), STATUS_OK);
    for (size_t i = 0; i < 600; i++) {
        int64_t value = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : (int64_t)i;
        cr_assert_eq((uint64_t)added[i], (uint64_t)value + (uint64_t)drawn[i]);
    }
    cr_assert_eq(noise_laplace_add(&noise, &random, NULL, 0), STATUS_OK);
}

/* Lets nearly every word fall to the exact path. */
static void make_coarse(struct noise_laplace *noise)
{
    for (size_t position = 0; position < noise->digit_count; position++) {
        struct noise_digit *digit = &noise->digit[position];
        for (size_t d = 0; d < NOISE_BASE; d++) {
            digit->left += digit->mass[d];
            digit->mass[d] /= 1000;
            digit->left -= digit->mass[d];
        }
        noise_digit_cells(digit);
    }
}

Test(noise, a_failing_source_leaves_nothing_of_the_answer)
{
    for (int coarse = 0; coarse < 2; coarse++) {
        struct noise_laplace noise;
        cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){3, 1}), STATUS_OK);
        if (coarse == 1) {
            make_coarse(&noise);
        }
        uint64_t last = coarse == 1 ? 20000 : 900 * 16 * noise.digit_count - 1;
        for (uint64_t after = 1; after <= last;
             after = after * 2 > last && after < last ? last : after * 2) {
            struct seeded_random seeded;
            int64_t values[900];
            seeded_random_init(&seeded, after);
            seeded.failing_after = after;
            struct random random = seeded_random_interface(&seeded);
            for (size_t i = 0; i < 900; i++) {
                values[i] = 1000000 + (int64_t)i;
            }
            cr_assert_eq(noise_laplace_add(&noise, &random, values, 900), STATUS_NO_RANDOM);
            for (size_t i = 0; i < 900; i++) {
                cr_assert_eq(values[i], 0, "value %zu after %lu bytes", i, (unsigned long)after);
            }
        }
    }
}
