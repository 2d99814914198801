/* The fast addition of a stream is the plain one, bit for bit, at every length, place and width; and
 * subtracting is adding's inverse. Nothing is random but the seeded inputs: there are no false alarms. */

#include "masks/blend.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WORDS_MAX = 600, ROUNDS = 4000, GUARD = 3 };

struct vectors {
    uint8_t stream[(WORDS_MAX + GUARD) * sizeof(uint64_t)];
    uint64_t before[WORDS_MAX + 2 * GUARD];
    uint64_t fast[WORDS_MAX + 2 * GUARD];
    uint64_t plain[WORDS_MAX + 2 * GUARD];
};

static struct vectors v;

/* Words are random, all ones or nothing: carries run through all of them. */
static void draw(struct seeded_random *seeded, enum masks_width width)
{
    const uint64_t ones = UINT64_MAX >> (64 - (unsigned)width);
    for (size_t i = 0; i < WORDS_MAX + 2 * GUARD; i++) {
        const uint64_t kind = seeded_random_below(seeded, 4);
        const uint64_t word = seeded_random_word(seeded);
        v.before[i] = (kind == 0 ? UINT64_MAX : kind == 1 ? 0 : word) & ones;
    }
    for (size_t i = 0; i < sizeof v.stream; i++) {
        const uint64_t word = seeded_random_word(seeded);
        v.stream[i] = (uint8_t)((word & 3) == 0 ? 0xff : (word & 3) == 1 ? 0 : word >> 8);
    }
    memcpy(v.fast, v.before, sizeof v.fast);
    memcpy(v.plain, v.before, sizeof v.plain);
}

static void compare(struct seeded_random *seeded, enum masks_width width)
{
    const size_t count = seeded_random_below(seeded, WORDS_MAX + 1);
    const size_t at = GUARD - seeded_random_below(seeded, GUARD); /* no place is aligned */
    const size_t from = seeded_random_below(seeded, sizeof(uint64_t));
    const bool subtract = seeded_random_below(seeded, 2) == 1;
    draw(seeded, width);
    masks_blend(v.fast + at, v.stream + from, count, width, subtract);
    masks_blend_plainly(v.plain + at, v.stream + from, count, width, subtract);
    cr_assert_arr_eq(v.fast, v.plain, sizeof v.fast, "width %d, %zu words at %zu from %zu",
                     (int)width, count, at, from);
    cr_assert_arr_eq(v.fast, v.before, at * sizeof(uint64_t), "words before the vector");
    masks_blend(v.fast + at, v.stream + from, count, width, !subtract);
    cr_assert_arr_eq(v.fast, v.before, sizeof v.fast, "and back: width %d, %zu words", (int)width,
                     count);
}

Test(blend, fast_and_plain_agree_bit_for_bit)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 12);
    for (size_t i = 0; i < ROUNDS; i++) {
        compare(&seeded, i % 2 == 0 ? MASKS_64 : MASKS_32);
    }
}

static void compare_narrow(struct seeded_random *seeded)
{
    static uint32_t fast[WORDS_MAX + 2 * GUARD];
    static uint32_t plain[WORDS_MAX + 2 * GUARD];
    const size_t count = seeded_random_below(seeded, WORDS_MAX + 1);
    const size_t at = GUARD - seeded_random_below(seeded, GUARD);
    const size_t from = seeded_random_below(seeded, sizeof(uint64_t));
    const bool subtract = seeded_random_below(seeded, 2) == 1;
    draw(seeded, MASKS_32);
    for (size_t i = 0; i < WORDS_MAX + 2 * GUARD; i++) {
        fast[i] = plain[i] = (uint32_t)v.before[i];
    }
    masks_blend_narrow(fast + at, v.stream + from, count, subtract);
    masks_blend_narrow_plainly(plain + at, v.stream + from, count, subtract);
    masks_blend_plainly(v.plain + at, v.stream + from, count, MASKS_32, subtract);
    cr_assert_arr_eq(fast, plain, sizeof fast, "%zu words at %zu from %zu", count, at, from);
    for (size_t i = 0; i < WORDS_MAX + 2 * GUARD; i++) {
        cr_assert_eq(fast[i], v.plain[i], "word %zu, as of words in 64 bits", i);
    }
}

Test(blend, words_kept_in_32_bits_are_those_reduced_to_them)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 13);
    for (size_t i = 0; i < ROUNDS; i++) {
        compare_narrow(&seeded);
    }
}

/* The plain one does what the masks' specification says, by hand. */
Test(blend, the_plain_one_reads_little_endian_words_and_reduces)
{
    static const uint8_t stream[] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    uint64_t wide[2] = {1, UINT64_MAX};
    uint64_t narrow[4] = {UINT32_MAX, 0, 1, 7};
    masks_blend_plainly(wide, stream, 2, MASKS_64, false);
    cr_expect_eq(wide[0], UINT64_C(0x0807060504030202));
    cr_expect_eq(wide[1], UINT64_C(0xfffffffe));
    masks_blend_plainly(narrow, stream, 4, MASKS_32, true);
    cr_expect_eq(narrow[0], UINT64_C(0xfbfcfdfe));
    cr_expect_eq(narrow[1], UINT64_C(0xf7f8f9fb));
    cr_expect_eq(narrow[2], 2);
    cr_expect_eq(narrow[3], 7);
}
