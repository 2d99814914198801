/* The words that answers travel as: what they stand for, at every size. */

#include "dp/encode.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MANY = 1003 }; /* no multiple of what is done at a time */

static const unsigned size[] = {2, 4, 8};

/* What does not fit into a word is reduced; the word stands for the rest with a sign. */
static int64_t reduced(int64_t value, unsigned word_bytes)
{
    return word_bytes == 2 ? (int16_t)value : word_bytes == 4 ? (int32_t)value : value;
}

Test(encode_words, a_value_comes_back_as_it_was_or_reduced)
{
    static const int64_t edge[] = {0,         1,          -1,         INT16_MAX,    INT16_MIN,
                                   1 << 15,   INT32_MAX,  INT32_MIN,  1LL << 31,    INT64_MAX,
                                   INT64_MIN, -(1 << 16), 0x12345678, -0x123456789, 77};
    enum { EDGES = sizeof edge / sizeof edge[0] };
    for (size_t s = 0; s < 3; s++) {
        uint8_t words[8 * EDGES];
        int64_t sum[EDGES] = {0};
        encode_words(words, edge, EDGES, size[s]);
        decode_words_add(sum, words, EDGES, size[s]);
        for (size_t i = 0; i < EDGES; i++) {
            cr_expect_eq(sum[i], reduced(edge[i], size[s]), "%lld in %u", (long long)edge[i],
                         size[s]);
        }
    }
}

Test(encode_words, are_little_endian_in_twos_complement)
{
    const int64_t value = -2;
    uint8_t words[4] = {0};
    encode_words(words, &value, 1, 4);
    cr_expect_arr_eq(words, ((const uint8_t[]){0xfe, 0xff, 0xff, 0xff}), 4);
}

Test(encode_words, many_at_a_time_are_the_same_as_one_by_one)
{
    static uint8_t words[2][8 * MANY];
    static int64_t value[MANY];
    static int64_t sum[2][MANY];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 7);
    for (size_t i = 0; i < MANY; i++) {
        value[i] = (int64_t)seeded_random_word(&seeded);
        sum[0][i] = sum[1][i] = (int64_t)seeded_random_word(&seeded);
    }
    for (size_t s = 0; s < 3; s++) {
        for (size_t count = 0; count < MANY; count = count < 20 ? count + 1 : count + 89) {
            encode_words(words[0], value, count, size[s]);
            encode_words_plainly(words[1], value, count, size[s]);
            cr_assert_arr_eq(words[0], words[1], count * size[s]);
            decode_words_add(sum[0], words[0], count, size[s]);
            decode_words_add_plainly(sum[1], words[0], count, size[s]);
            cr_assert_arr_eq(sum[0], sum[1], sizeof sum[0], "%zu of %u", count, size[s]);
        }
    }
}

Test(encode_words, the_size_is_the_smallest_that_holds_bounds_and_noise)
{
    const struct noise_scale scale = {.numerator = 21, .denominator = 2}; /* 64 * 11 = 704 */
    const struct noise_scale none = {0};
    cr_expect_eq(encode_reach(1000, scale), 1704);
    cr_expect_eq(encode_reach(1000, none), 1000);
    cr_expect_eq(encode_reach(UINT64_MAX - 3, scale), UINT64_MAX);
    cr_expect_eq(encode_word_bytes(encode_reach(INT16_MAX - 704, scale)), 2);
    cr_expect_eq(encode_word_bytes(encode_reach(INT16_MAX - 703, scale)), 4);
    cr_expect_eq(encode_word_bytes(INT32_MAX), 4);
    cr_expect_eq(encode_word_bytes((uint64_t)INT32_MAX + 1), 8);
    cr_expect_eq(encode_word_bytes(UINT64_MAX), 8);
}

Test(encode_words, an_answers_bytes_tell_the_size_of_its_words)
{
    for (size_t s = 0; s < 3; s++) {
        cr_expect_eq(encode_word_bytes_of(1000 * size[s], 1000), size[s]);
        cr_expect_eq(encode_word_bytes_of(1000 * size[s] + 1, 1000), 0);
    }
    cr_expect_eq(encode_word_bytes_of(1000, 1000), 0);
    cr_expect_eq(encode_word_bytes_of(16000, 1000), 0);
    cr_expect_eq(encode_word_bytes_of(0, 1000), 0);
}

/* Every word there is, on sums at every edge of 32 bits, as the compiler's own 16 bits say it. */
Test(encode_words, every_short_word_is_added_to_a_narrow_sum)
{
    enum { WORDS = 1 << 16 };
    static const int32_t start[] = {0, 1, -1, INT32_MAX, INT32_MIN};
    static uint8_t words[2 * WORDS];
    static int32_t sum[2][WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[2 * i] = (uint8_t)i;
        words[2 * i + 1] = (uint8_t)(i >> 8);
    }
    for (size_t s = 0; s < sizeof start / sizeof start[0]; s++) {
        for (size_t i = 0; i < WORDS; i++) {
            sum[0][i] = sum[1][i] = start[s];
        }
        decode_words_add_narrow(sum[0], words, WORDS, 2);
        decode_words_add_narrow_plainly(sum[1], words, WORDS, 2);
        for (uint32_t i = 0; i < WORDS; i++) {
            const int64_t value = (int64_t)(int16_t)i;
            cr_assert_eq(sum[0][i], (int32_t)(uint32_t)(start[s] + value), "%u", i);
            cr_assert_eq(sum[1][i], sum[0][i]);
        }
    }
}

Test(encode_words, narrow_sums_of_many_at_a_time_are_the_same_as_one_by_one)
{
    static uint8_t words[4 * MANY];
    static int32_t sum[2][MANY];
    struct seeded_random seeded;
    seeded_random_init(&seeded, 8);
    for (size_t i = 0; i < MANY; i++) {
        sum[0][i] = sum[1][i] = (int32_t)seeded_random_word(&seeded);
    }
    for (size_t i = 0; i < sizeof words; i++) {
        words[i] = (uint8_t)seeded_random_word(&seeded);
    }
    for (size_t s = 0; s < 2; s++) {
        for (size_t count = 0; count < MANY; count = count < 20 ? count + 1 : count + 89) {
            decode_words_add_narrow(sum[0], words, count, size[s]);
            decode_words_add_narrow_plainly(sum[1], words, count, size[s]);
            cr_assert_arr_eq(sum[0], sum[1], sizeof sum[0], "%zu of %u", count, size[s]);
        }
    }
}

/* lrint rounds to the nearest, half to even, and these quotients are exact. */
Test(encode_words, every_value_is_rounded_to_the_nearest_step)
{
    enum { RANGE = 1 << 16 };
    static int64_t value[2 * RANGE];
    for (unsigned shift = 0; shift <= 17; shift++) {
        int64_t moved = 0;
        for (int64_t i = 0; i < 2 * RANGE; i++) {
            value[i] = i - RANGE;
        }
        encode_round(value, 2 * RANGE, shift);
        for (int64_t i = 0; i < 2 * RANGE; i++) {
            cr_assert_eq(value[i], lrint(ldexp((double)(i - RANGE), -(int)shift)), "%lld by %u",
                         (long long)(i - RANGE), shift);
            moved += value[i] * (INT64_C(1) << shift) - (i - RANGE);
        }
        /* Nothing on average: -RANGE alone has no counterpart. */
        cr_expect_eq(moved, value[0] * (INT64_C(1) << shift) + RANGE, "%u", shift);
    }
}

/* What a reach may be at most for a shift: a value that rounds to 2^15 - 1 steps. One step more does not fit. */
Test(encode_words, a_shift_is_the_smallest_that_fits_and_adds_next_to_nothing)
{
    const struct noise_scale large = {.numerator = UINT64_C(1) << 40, .denominator = 1};
    for (unsigned shift = 1; shift < 30; shift++) {
        const uint64_t most = ((uint64_t)INT16_MAX << shift) - 1;
        cr_expect_eq(encode_shift(most, large), shift);
        cr_expect_eq(encode_shift(most + 1, large), shift + 1);
        cr_expect(encode_fits(most, 2, shift) && !encode_fits(most + 1, 2, shift));
        int64_t value[2] = {(int64_t)most, -(int64_t)most};
        encode_round(value, 2, shift);
        cr_expect(value[0] >= INT16_MAX - 1 && value[0] <= INT16_MAX && value[1] == -value[0]);
        const struct noise_scale enough = {.numerator = UINT64_C(16) << shift, .denominator = 1};
        const struct noise_scale few = {.numerator = (UINT64_C(16) << shift) - 1, .denominator = 1};
        cr_expect_eq(encode_shift(most, enough), shift);
        cr_expect_eq(encode_shift(most, few), 0);
    }
    cr_expect_eq(encode_shift(INT16_MAX, large), 0, "it fits as it is");
    cr_expect_eq(encode_shift(1 << 20, (struct noise_scale){0}), 0, "there is no noise");
    cr_expect(encode_fits(INT16_MAX, 2, 0) && !encode_fits(INT16_MAX + 1, 2, 0));
    cr_expect(!encode_fits(1000, 4, 1), "only words of 2 bytes count steps");
}
