/* Sealed messages: known answers; and only the next message of a direction, unchanged, can be opened. */

#include "crypto/seal.h"

#include <criterion/criterion.h>
#include <string.h>

enum { TEXT = 64, SEALED = TEXT + SEAL_TAG_BYTES };

static const struct digest zero_key;
static const struct slice nothing;

/* The GCM specification of McGrew and Viega, test cases 13 and 14: a key of zeros, and the nonce of zeros, which is ours of the
 * first message. */
Test(seal, the_known_answers_of_the_specification)
{
    static const uint8_t zero[16];
    const struct slice part = {zero, sizeof zero};
    uint8_t out[2 * SEAL_TAG_BYTES];
    char hex[2 * sizeof out + 1];

    struct seal *seal = seal_new(&zero_key);
    cr_assert_eq(seal_close(seal, out, nothing, NULL, 0), STATUS_OK);
    hex_encode(hex, out, SEAL_TAG_BYTES);
    cr_expect_str_eq(hex, "530f8afbc74536b9a963b4f1c4cb738b");
    seal_free(seal);

    seal = seal_new(&zero_key);
    cr_assert_eq(seal_close(seal, out, nothing, &part, 1), STATUS_OK);
    hex_encode(hex, out, sizeof out);
    cr_expect_str_eq(hex, "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919");
    seal_free(seal);
}

static void close_number(uint8_t sealed[SEALED], struct seal *seal, uint8_t number,
                         struct slice beside)
{
    uint8_t text[TEXT];
    memset(text, number, sizeof text);
    /* In two parts, which must make no difference. */
    const struct slice part[] = {{text, 5}, {text + 5, TEXT - 5}};
    cr_assert_eq(seal_close(seal, sealed, beside, part, 2), STATUS_OK);
}

static bool opens_as(struct seal *seal, const uint8_t sealed[SEALED], uint8_t number,
                     struct slice beside)
{
    uint8_t text[SEALED];
    uint8_t wanted[TEXT];
    memcpy(text, sealed, sizeof text);
    memset(wanted, number, sizeof wanted);
    return seal_open(seal, text, TEXT, beside) == STATUS_OK && memcmp(text, wanted, TEXT) == 0;
}

Test(seal, messages_open_in_their_order_and_never_twice)
{
    uint8_t sealed[3][SEALED];
    struct seal *from = seal_new(&zero_key);
    struct seal *to = seal_new(&zero_key);
    for (uint8_t i = 0; i < 3; i++) {
        close_number(sealed[i], from, i, nothing);
    }
    cr_expect_neq(memcmp(sealed[0], sealed[1], TEXT), 0);
    cr_expect(opens_as(to, sealed[0], 0, nothing));
    cr_expect(opens_as(to, sealed[1], 1, nothing));
    cr_expect_not(opens_as(to, sealed[1], 1, nothing), "doubled");
    cr_expect_not(opens_as(to, sealed[2], 2, nothing), "after something else");
    seal_free(to);
    to = seal_new(&zero_key);
    cr_expect_not(opens_as(to, sealed[1], 1, nothing), "the first was left out");
    seal_free(to);
    seal_free(from);
}

Test(seal, a_change_of_any_bit_is_noticed_and_leaves_nothing_behind)
{
    uint8_t sealed[SEALED];
    static const uint8_t none[TEXT];
    uint8_t head[4] = {1, 2, 3, 4};
    const struct slice beside = {head, sizeof head};
    struct seal *from = seal_new(&zero_key);
    close_number(sealed, from, 7, beside);
    for (size_t bit = 0; bit < 8 * (SEALED + sizeof head); bit++) {
        uint8_t text[SEALED];
        struct seal *to = seal_new(&zero_key);
        memcpy(text, sealed, sizeof text);
        uint8_t *byte = bit < 8 * SEALED ? &text[bit / 8] : &head[bit / 8 - SEALED];
        *byte ^= (uint8_t)(1 << bit % 8);
        cr_expect_eq(seal_open(to, text, TEXT, beside), STATUS_INVALID, "bit %zu", bit);
        cr_expect_eq(memcmp(text, none, TEXT), 0, "bit %zu", bit);
        memcpy(head, (const uint8_t[]){1, 2, 3, 4}, sizeof head);
        seal_free(to);
    }
    struct seal *to = seal_new(&zero_key);
    cr_expect(opens_as(to, sealed, 7, beside));
    seal_free(to);
    const struct digest other = {{1}};
    to = seal_new(&other);
    cr_expect_not(opens_as(to, sealed, 7, beside));
    seal_free(to);
    seal_free(from);
}
