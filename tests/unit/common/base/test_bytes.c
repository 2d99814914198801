/* Digests, digits and numbers as bytes, which journals, keys and frames use. */

#include "base/bytes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(bytes, digits_are_read_back_and_nothing_else_is)
{
    static const uint8_t bytes[4] = {0x00, 0x7f, 0xa0, 0xff};
    static const char *const wrong[] = {"",         "007fa0f",  "007fa0ff0", "007fa0fg",
                                        "0x7fa0ff", " 07fa0ff", "-07fa0ff"};
    char text[9];
    uint8_t back[4];
    hex_encode(text, bytes, sizeof bytes);
    cr_expect_str_eq(text, "007fa0ff");
    cr_expect_eq(hex_decode(back, sizeof back, "007Fa0fF"), STATUS_OK);
    cr_expect_eq(memcmp(back, bytes, sizeof back), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(hex_decode(back, sizeof back, wrong[i]), STATUS_INVALID, "%s", wrong[i]);
    }
}

Test(bytes, a_slice_is_a_text_in_its_whole_length)
{
    cr_assert(slice_is((struct slice){"NA", 2}, "NA") && slice_is((struct slice){NULL, 0}, ""));
    cr_assert_not(slice_is((struct slice){"NA", 2}, "N") ||
                  slice_is((struct slice){"NA", 1}, "NA"));
    cr_assert_not(slice_is((struct slice){"NA", 2}, "na") || slice_is((struct slice){"N", 2}, "N"));
}

Test(bytes, utf8_is_told_from_latin_1_and_what_only_looks_like_it)
{
    static const char *const good[] = {"",
                                       "age",
                                       "gr\303\266\303\237e",
                                       "\342\202\254",
                                       "\360\237\230\200",
                                       "\355\237\277",
                                       "\364\217\277\277"};
    static const char *const bad[] = {
        "M\374nchen",   "\303",         "\342\202",         "\300\200",
        "\340\237\277", "\355\240\200", "\360\217\277\277", "\364\220\200\200",
        "\200",         "\377"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cr_expect(slice_is_utf8((struct slice){good[i], strlen(good[i])}), "%zu", i);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_not(slice_is_utf8((struct slice){bad[i], strlen(bad[i])}), "%zu", i);
    }
}

/* a, o with two dots, the euro sign, a face: of one to four bytes. */
Test(bytes, letters_are_not_cut)
{
    static const char text[] = "a\303\266\342\202\254\360\237\230\200";
    static const int whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t most = 0; most < sizeof whole / sizeof whole[0]; most++) {
        char cut[16];
        cr_expect_eq(letters_within(text, most), whole[most], "%zu", most);
        (void)snprintf(cut, sizeof cut, "%.*s", (int)most, text);
        letters_mend(cut);
        cr_expect_eq((int)strlen(cut), whole[most], "%zu", most);
    }
}

Test(bytes, digests_differ_by_any_bit)
{
    struct digest one = {{0}};
    cr_expect(digest_is_none(&one));
    for (size_t bit = 0; bit < 8 * DIGEST_BYTES; bit++) {
        struct digest other = one;
        other.byte[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        cr_expect_not(digest_equal(&one, &other), "bit %zu", bit);
        cr_expect_not(digest_is_none(&other), "bit %zu", bit);
        cr_expect(digest_equal(&other, &other));
    }
}

Test(bytes, numbers_are_little_endian)
{
    uint8_t bytes[8];
    store_u32(bytes, 0x04030201);
    cr_expect_eq(memcmp(bytes, "\1\2\3\4", 4), 0);
    store_u64(bytes, UINT64_C(0x8807060504030201));
    cr_expect_eq(memcmp(bytes, "\1\2\3\4\5\6\7\x88", 8), 0);
    cr_expect_eq(load_u64(bytes), UINT64_C(0x8807060504030201));
}

Test(bytes, a_wiped_secret_is_gone)
{
    char secret[16] = "a secret";
    bytes_wipe(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++) {
        cr_expect_eq(secret[i], 0);
    }
}

/* What free is given: whether the block that is watched holds nothing any more. */
static const char *watched;
static int seen; /* 1: it was zeros, -1: it was not */

void __real_free(void *data);
void __wrap_free(void *data);

void __wrap_free(void *data)
{
    static const char zeros[32];
    if (data != NULL && data == watched) {
        seen = memcmp(data, zeros, sizeof zeros) == 0 ? 1 : -1;
    }
    __real_free(data);
}

static int seen_of(bool planted)
{
    char *text = malloc(32);
    cr_assert_not_null(text);
    memset(text, 'x', 32);
    watched = text;
    seen = 0;
    if (planted) {
        free(text);
    } else {
        bytes_free(text, 32);
    }
    watched = NULL;
    return seen;
}

Test(bytes, what_is_freed_is_wiped_before)
{
    cr_expect_eq(seen_of(false), 1);
    cr_expect_eq(seen_of(true), -1);
    bytes_free(NULL, 0);
    bytes_free(NULL, 32);
}
