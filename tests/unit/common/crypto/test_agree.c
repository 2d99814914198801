/* Known answers of key agreement, derivation and streams, from sources other than this code's library. */

#include "crypto/agree.h"
#include "crypto/key.h"

#include <criterion/criterion.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static struct digest digest_of_hex(const char *hex)
{
    struct digest digest;
    cr_assert_eq(hex_decode(digest.byte, sizeof digest.byte, hex), STATUS_OK);
    return digest;
}

#define NINE "0900000000000000000000000000000000000000000000000000000000000000"

/* RFC 7748, section 5.2: one iteration. */
Test(agree, the_known_answer_of_x25519)
{
    const struct digest nine = digest_of_hex(NINE);
    const struct digest wanted =
        digest_of_hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
    struct digest shared;
    cr_assert_eq(agree_secret(&shared, &nine, &nine), STATUS_OK);
    cr_assert(digest_equal(&shared, &wanted));
}

Test(agree, both_sides_have_the_same_secret_and_a_third_another)
{
    struct key_pair pair[3];
    struct digest shared[3];
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(key_pair_generate(&pair[i]), STATUS_OK);
    }
    cr_assert_eq(agree_secret(&shared[0], &pair[0].secret_key, &pair[1].public_key), STATUS_OK);
    cr_assert_eq(agree_secret(&shared[1], &pair[1].secret_key, &pair[0].public_key), STATUS_OK);
    cr_assert_eq(agree_secret(&shared[2], &pair[2].secret_key, &pair[0].public_key), STATUS_OK);
    cr_assert(digest_equal(&shared[0], &shared[1]));
    cr_assert_not(digest_equal(&shared[0], &shared[2]));
}

/* Keys of small order, with which an attacker would know the secret: 0, 1 and p - 1. */
Test(agree, keys_of_small_order_are_refused)
{
    static const char *const key[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};
    const struct digest nine = digest_of_hex(NINE);
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        const struct digest small = digest_of_hex(key[i]);
        struct digest shared = nine;
        cr_expect_eq(agree_secret(&shared, &nine, &small), STATUS_INVALID, "%s", key[i]);
        cr_expect(digest_is_none(&shared));
    }
}

static size_t allocations_left = SIZE_MAX;

static bool refused(void)
{
    return allocations_left == 0 || allocations_left-- == 0;
}

static void *counted_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return refused() ? NULL : malloc(size);
}

static void *counted_realloc(void *old, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return refused() ? NULL : realloc(old, size);
}

static void plain_free(void *old, const char *file, int line)
{
    (void)file;
    (void)line;
    free(old);
}

/* Before Criterion's libraries use OpenSSL, which then takes no other functions. */
__attribute__((constructor)) static void count_allocations(void)
{
    if (CRYPTO_set_mem_functions(counted_malloc, counted_realloc, plain_free) != 1) {
        abort();
    }
}

/* A site without memory must not conclude that another's key is bad. */
Test(agree, no_memory_is_not_the_keys_fault)
{
    enum status status = STATUS_NO_MEMORY;
    size_t tries = 0;
    const struct digest nine = digest_of_hex(NINE);
    struct digest shared;
    cr_assert_eq(agree_secret(&shared, &nine, &nine), STATUS_OK); /* what is loaded once is */
    for (; status != STATUS_OK && tries < 1000; tries++) {
        allocations_left = tries;
        status = agree_secret(&shared, &nine, &nine);
        cr_expect(status == STATUS_OK || status == STATUS_NO_MEMORY, "allocation %zu: %d", tries,
                  (int)status);
        cr_expect(status == STATUS_OK || digest_is_none(&shared));
    }
    allocations_left = SIZE_MAX;
    cr_expect(tries > 5 && tries < 1000, "%zu", tries);
}

/* RFC 5869 by Python's hmac: no salt, 32 bytes 00 01 .. 1f, info "abc" 05 07. */
Test(agree, the_known_answer_of_hkdf)
{
    const struct slice info[] = {{"abc", 3}, {"\x05\x07", 2}};
    const struct digest wanted =
        digest_of_hex("1eb403516cd57a0b6346ff866d576eb60bc40d105779099a750ae5318f5c80ac");
    struct digest secret;
    struct digest out;
    for (unsigned i = 0; i < sizeof secret.byte; i++) {
        secret.byte[i] = (uint8_t)i;
    }
    cr_assert_eq(agree_derive(&out, &secret, info, 2), STATUS_OK);
    cr_assert(digest_equal(&out, &wanted));
}

/* AES-256 of the blocks 0 and 1 under key 0: H and the tag of test case 13 of the GCM specification
 * (McGrew and Viega 2005). The second has its counter in the last byte, as here. */
Test(agree, the_known_answer_of_a_stream)
{
    const struct digest wanted =
        digest_of_hex("dc95c078a2408989ad48a21492842087530f8afbc74536b9a963b4f1c4cb738b");
    const struct digest zero = {{0}};
    uint8_t whole[64];
    uint8_t part[64];
    struct agree_stream *stream = agree_stream_new(&zero);
    cr_assert_not_null(stream);
    cr_assert_eq(agree_stream_next(stream, whole, sizeof whole), STATUS_OK);
    agree_stream_free(stream);
    cr_assert_arr_eq(whole, wanted.byte, sizeof wanted.byte);
    stream = agree_stream_new(&zero);
    cr_assert_not_null(stream);
    cr_assert_eq(agree_stream_next(stream, part, 16), STATUS_OK);
    cr_assert_eq(agree_stream_next(stream, part + 16, 48), STATUS_OK);
    agree_stream_free(stream);
    cr_assert_arr_eq(whole, part, sizeof whole);
    stream = agree_stream_new(
        &zero); /* of any size, also in place: what is mixed twice is what it was */
    cr_assert_not_null(stream);
    memset(part, 0, sizeof part);
    cr_assert_eq(agree_stream_xor(stream, part, part, 7), STATUS_OK);
    cr_assert_eq(agree_stream_xor(stream, part + 7, part + 7, 57), STATUS_OK);
    agree_stream_free(stream);
    cr_assert_arr_eq(whole, part, sizeof whole);
}
