#include "noise/laplace_private.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

static const struct noise_scale scales[] = {
    {1, 16},
    {1, 4},
    {1, 1},
    {7, 3},
    {5, 1},
    {31, 1},
    {32, 1},
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

/* 2^51 P(digit), from powers of exp(-1/s) alone and with 600 bits: not the way the tables are made.
 */
static void true_mass(mpfr_t out, const struct noise_geometric *noise, size_t position, unsigned d)
{
    bool last = position + 1 == NOISE_DIGITS;
    mpfr_t q;
    mpfr_t power;
    mpfr_inits2(600, q, power, NULL);
    mpfr_set_ui(q, noise->scale.denominator, MPFR_RNDN);
    mpfr_div_ui(q, q, noise->scale.numerator, MPFR_RNDN);
    mpfr_neg(q, q, MPFR_RNDN);
    mpfr_exp(q, q, MPFR_RNDN);
    for (size_t i = 0; i < noise->low_bits + 5 * position; i++) {
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
    mpfr_mul_2ui(out, out, DIGIT_BITS, MPFR_RNDN);
    mpfr_clears(q, power, NULL);
}

/* Returns whether every mass of the position is the truth rounded down, or one less, and little is
 * left: 32 units of rounding, and 2^51 exp(-32) < 29 above the last digit's outcomes. */
static bool masses_are_right(const struct noise_geometric *noise, size_t position)
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
    return right && sum == UINT64_C(1) << DIGIT_BITS && digit->left > 0 && digit->left < 93;
}

Test(noise, masses_are_the_true_probabilities_rounded_down)
{
    for (size_t i = 0; i < SCALES; i++) {
        struct noise_geometric noise;
        cr_assert_eq(noise_geometric_init(&noise, scales[i]), STATUS_OK);
        for (size_t position = 0; position < NOISE_DIGITS; position++) {
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

/* sum (33): how many of a digit's 2^51 words mean each outcome, read off the cells. */
static void count_cells(uint64_t *sum, const struct noise_digit *digit)
{
    memset(sum, 0, (NOISE_BASE + 1) * sizeof *sum);
    for (size_t i = 0; i < NOISE_BASE; i++) {
        uint64_t whole = UINT64_C(1) << (DIGIT_BITS - CELL_BITS);
        uint64_t threshold = digit->cell[i] >> THRESHOLD_SHIFT;
        cr_assert_lt(threshold, whole);
        sum[digit->cell[i] >> OUTCOME_BITS & 63] += threshold;
        sum[digit->cell[i] & 63] += whole - threshold;
    }
}

Test(noise, cells_hold_every_mass_once)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 9);
    const uint64_t whole = UINT64_C(1) << (DIGIT_BITS - CELL_BITS);
    for (size_t i = 0; i < SCALES + 2000; i++) {
        struct noise_geometric noise;
        memset(&noise, 0, sizeof noise);
        if (i < SCALES) {
            cr_assert_eq(noise_geometric_init(&noise, scales[i]), STATUS_OK);
        } else if (i < SCALES + 40) { /* exactly a cell each, but for one, or two, or more */
            for (size_t position = 0; position < NOISE_DIGITS; position++) {
                struct noise_digit *digit = &noise.digit[position];
                for (size_t d = 0; d < NOISE_BASE; d++) {
                    digit->mass[d] = whole;
                }
                size_t uneven = i - SCALES < NOISE_BASE ? i - SCALES : 0;
                digit->mass[uneven] -= position * (i + 1);
                digit->mass[NOISE_BASE - 1 - uneven] -= i % 3;
                digit->left = position * (i + 1) + i % 3;
                noise_digit_cells(digit);
            }
        } else { /* any masses at all */
            for (size_t position = 0; position < NOISE_DIGITS; position++) {
                struct noise_digit *digit = &noise.digit[position];
                digit->left = UINT64_C(1) << DIGIT_BITS;
                for (size_t d = 0; d < NOISE_BASE; d++) {
                    digit->mass[d] =
                        seeded_random_word(&seeded) >> (18 + seeded_random_below(&seeded, 46));
                    digit->left -= digit->mass[d];
                }
                noise_digit_cells(digit);
            }
        }
        for (size_t position = 0; position < NOISE_DIGITS; position++) {
            const struct noise_digit *digit = &noise.digit[position];
            uint64_t sum[NOISE_BASE + 1];
            count_cells(sum, digit);
            cr_assert_arr_eq(sum, digit->mass, sizeof digit->mass);
            cr_assert_eq(sum[NOISE_LEFT], digit->left);
        }
    }
}

Test(noise, a_word_means_what_its_cell_says_and_bits_below_the_digit_nothing)
{
    struct noise_geometric noise;
    cr_assert_eq(noise_geometric_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    for (uint64_t i = 0; i < NOISE_BASE; i++) {
        uint64_t cell = noise.digit[0].cell[i];
        uint64_t edge = (i << 46) + (cell >> THRESHOLD_SHIFT); /* of 2^51 */
        for (uint64_t below = 0; below < 8192; below += 8191) {
            uint64_t word = edge << 13 | below;
            cr_assert_eq(noise_digit_of(&noise.digit[0], word), cell & 63);
            if (cell >> THRESHOLD_SHIFT > 0) {
                word = (edge - 1) << 13 | below;
                cr_assert_eq(noise_digit_of(&noise.digit[0], word), cell >> OUTCOME_BITS & 63);
            }
        }
    }
}

Test(noise, the_low_part_is_as_wide_as_a_sixteenth_of_the_scale_allows)
{
    static const struct {
        struct noise_scale scale;
        unsigned low_bits;
    } row[] = {
        {{1, 16}, 0},
        {{31, 1}, 0},
        {{UINT64_MAX, UINT64_MAX / 32 + 1}, 0},
        {{32, 1}, 1},
        {{UINT64_MAX, UINT64_MAX / 32}, 1},
        {{1000, 1}, 5},
        {{1 << 20, 1}, 16},
        {{UINT64_C(1) << 40, 1}, LOW_BITS_MAX},
        {{UINT64_MAX, 1 << 24}, LOW_BITS_MAX - 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct noise_geometric noise;
        cr_assert_eq(noise_geometric_init(&noise, row[i].scale), STATUS_OK);
        cr_expect_eq(noise.low_bits, row[i].low_bits, "row %zu: %u", i, noise.low_bits);
        double factor = ldexp(16.0 * (double)row[i].scale.denominator, (int)noise.low_bits + 52) /
                        (double)row[i].scale.numerator;
        factor = factor > 0x1.fffffffffffffp51 ? 0x1.fffffffffffffp51 : factor;
        cr_expect(fabs((double)noise.factor - factor) <= 2, "row %zu", i);
    }
}

/* How many random bytes a vector takes, and how many of its values are small. */
static uint64_t bytes_of(const struct noise_laplace *noise, uint64_t seed, size_t count)
{
    struct seeded_random seeded;
    int64_t values[5000];
    seeded_random_init(&seeded, seed);
    struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(noise_laplace_draw(noise, &random, values, count), STATUS_OK);
    return seeded.drawn_bytes;
}

/* A vector of one value takes another block only when all of its first 16 trials are refused. */
Test(noise, random_bytes_come_in_blocks_of_public_size)
{
    for (size_t i = 0; i < SCALES; i++) {
        struct noise_laplace noise;
        cr_assert_eq(noise_laplace_init(&noise, scales[i]), STATUS_OK);
        uint64_t trial = 8 * noise_trial_words(&noise.magnitude);
        for (uint64_t seed = 0; seed < 20; seed++) {
            uint64_t bytes = bytes_of(&noise, seed, 1);
            cr_assert(bytes % (16 * trial) == 0 && bytes <= 32 * trial);
            bytes = bytes_of(&noise, seed, 5000);
            cr_assert_eq(bytes % (8 * trial), 0);
            if (noise.magnitude.low_bits > 0) {
                cr_assert_lt(bytes, 5000 * trial * 11 / 10, "rejection is rare");
            }
        }
    }
}

Test(noise, values_are_added_to_modulo_two_to_the_64)
{
    enum { COUNT = 2600 };
    struct noise_laplace noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    static int64_t drawn[COUNT];
    static int64_t added[COUNT];
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){1000, 1}), STATUS_OK);
    seeded_random_init(&seeded, 4);
    memset(drawn, 0x55, sizeof drawn);
    cr_assert_eq(noise_laplace_draw(&noise, &random, drawn, COUNT), STATUS_OK);
    seeded_random_init(&seeded, 4);
    for (size_t i = 0; i < COUNT; i++) {
        added[i] = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : (int64_t)i;
    }
    cr_assert_eq(noise_laplace_add(&noise, &random, added, COUNT), STATUS_OK);
    for (size_t i = 0; i < COUNT; i++) {
        int64_t value = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : (int64_t)i;
        cr_assert_eq((uint64_t)added[i], (uint64_t)value + (uint64_t)drawn[i]);
    }
    cr_assert_eq(noise_laplace_add(&noise, &random, NULL, 0), STATUS_OK);
    cr_assert_eq(noise_laplace_draw(&noise, &random, NULL, 0), STATUS_OK);
    cr_assert_eq(noise_geometric_draw(&noise.magnitude, &random, NULL, 0), STATUS_OK);
}

/* Every length: the last value is drawn, and nothing is written after it. */
Test(noise, vectors_of_any_length_are_filled_and_no_more)
{
    struct noise_laplace noise;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(noise_laplace_init(&noise, (struct noise_scale){UINT64_C(1) << 40, 1}), STATUS_OK);
    seeded_random_init(&seeded, 5);
    for (size_t count = 0; count < 2100; count += count < 40 ? 1 : 103) {
        int64_t values[2101];
        memset(values, 0, sizeof values);
        cr_assert_eq(noise_laplace_add(&noise, &random, values, count), STATUS_OK);
        for (size_t i = 0; i <= 2100; i++) { /* 0 is drawn with probability 5e-13: 1e-8 in all */
            cr_assert_eq(values[i] != 0, i < count, "value %zu of %zu", i, count);
        }
    }
}

/* Lets nearly every word fall to the exact path. */
static void make_coarse(struct noise_geometric *noise)
{
    for (size_t position = 0; position < NOISE_DIGITS; position++) {
        struct noise_digit *digit = &noise->digit[position];
        for (size_t d = 0; d < NOISE_BASE; d++) {
            digit->left += digit->mass[d];
            digit->mass[d] /= 1000;
            digit->left -= digit->mass[d];
        }
        noise_digit_cells(digit);
    }
}

/* Randomness fails after some bytes, while the values hold an answer. */
static void fail_after(const struct noise_laplace *noise, uint64_t bytes, bool geometric)
{
    enum { COUNT = 1500 };
    struct seeded_random seeded;
    int64_t values[COUNT];
    seeded_random_init(&seeded, bytes);
    seeded.failing_after = bytes;
    struct random random = seeded_random_interface(&seeded);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = 1000000 + (int64_t)i;
    }
    enum status status = geometric ? noise_geometric_draw(&noise->magnitude, &random, values, COUNT)
                                   : noise_laplace_add(noise, &random, values, COUNT);
    cr_assert_eq(status, STATUS_NO_RANDOM);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_eq(values[i], 0, "value %zu after %lu bytes", i, (unsigned long)bytes);
    }
}

Test(noise, a_failing_source_leaves_nothing_of_the_answer)
{
    static const struct noise_scale few[] = {{3, 1}, {3000, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct noise_laplace noise;
        cr_assert_eq(noise_laplace_init(&noise, few[i % 2]), STATUS_OK);
        if (i >= 2) { /* fails while the exact path draws */
            make_coarse(&noise.magnitude);
        }
        uint64_t last = 1500 * 8 * noise_trial_words(&noise.magnitude);
        for (uint64_t after = 1; after <= last;
             after = after * 2 > last && after < last ? last : after * 2) {
            fail_after(&noise, after, after % 3 == 0);
            fail_after(&noise, after, after % 3 != 0);
        }
    }
}
