/* Signatures: a known answer, and no other text passes for the signed one. */

#include "crypto/key.h"

#include <criterion/criterion.h>

/* RFC 8032, section 7.1, test 2: one byte, 72. */
Test(sign, the_known_answer_of_ed25519)
{
    struct digest secret;
    struct key_pair pair;
    struct signature signature;
    uint8_t wanted[SIGNATURE_BYTES];
    char hex[KEY_HEX_BYTES];
    cr_assert_eq(hex_decode(secret.byte, KEY_BYTES,
                            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"),
                 STATUS_OK);
    cr_assert_eq(key_signing_from_secret(&pair, &secret), STATUS_OK);
    hex_encode(hex, pair.public_key.byte, KEY_BYTES);
    cr_expect_str_eq(hex, "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    cr_assert_eq(hex_decode(wanted, SIGNATURE_BYTES,
                            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
                 STATUS_OK);
    cr_assert_eq(key_sign(&signature, &secret, (struct slice){"\x72", 1}), STATUS_OK);
    cr_expect_arr_eq(signature.byte, wanted, sizeof wanted);
    cr_expect(key_verify(&signature, &pair.public_key, (struct slice){"\x72", 1}));
}

Test(sign, another_text_key_or_signature_is_refused)
{
    struct key_pair pair;
    struct key_pair other;
    struct signature signature;
    const struct slice text = {"survivors", 9};
    cr_assert_eq(key_signing_generate(&pair), STATUS_OK);
    cr_assert_eq(key_signing_generate(&other), STATUS_OK);
    cr_assert_eq(key_sign(&signature, &pair.secret_key, text), STATUS_OK);
    cr_expect(key_verify(&signature, &pair.public_key, text));
    cr_expect(!key_verify(&signature, &other.public_key, text));
    cr_expect(!key_verify(&signature, &pair.public_key, (struct slice){"survivor", 8}));
    cr_expect(!key_verify(&signature, &pair.public_key, (struct slice){"", 0}));
    for (unsigned bit = 0; bit < 8 * SIGNATURE_BYTES; bit += 37) {
        struct signature wrong = signature;
        wrong.byte[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_expect(!key_verify(&wrong, &pair.public_key, text), "bit %u", bit);
    }
    const struct digest none = {{0}};
    cr_expect_eq(key_signing_from_secret(&other, &none), STATUS_INVALID);
}

Test(sign, the_same_text_is_signed_by_the_same_bytes)
{
    struct key_pair pair;
    struct signature one;
    struct signature two;
    cr_assert_eq(key_signing_generate(&pair), STATUS_OK);
    cr_assert_eq(key_sign(&one, &pair.secret_key, (struct slice){"again", 5}), STATUS_OK);
    cr_assert_eq(key_sign(&two, &pair.secret_key, (struct slice){"again", 5}), STATUS_OK);
    cr_expect_arr_eq(one.byte, two.byte, SIGNATURE_BYTES);
}
