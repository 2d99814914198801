/* The digest of large bytes: against known answers, against OpenSSL alone at every edge of a leaf, and that it has each byte. */

#include "crypto/digest.h"

#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <string.h>

enum { LEAF = DIGEST_LEAF_BYTES, LARGE = 8 * LEAF + 5 };

static uint8_t bytes[LARGE];

static void fill(void)
{
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    }
}

/* The reference: OpenSSL's digests, a leaf after the other. */
static void plain_tree(struct digest *out, struct slice of)
{
    const uint8_t *at = of.data;
    uint8_t text[8 + (LARGE / LEAF + 1) * DIGEST_BYTES];
    uint8_t whole[48];
    size_t size = 8;
    if (of.size <= LEAF) {
        cr_assert(EVP_Digest(at, of.size, out->byte, NULL, EVP_sha256(), NULL));
        return;
    }
    store_u64(text, of.size);
    for (size_t from = 0; from < of.size; from += LEAF, size += DIGEST_BYTES) {
        const size_t left = of.size - from;
        cr_assert(EVP_Digest(at + from, left < LEAF ? left : LEAF, text + size, NULL, EVP_sha256(),
                             NULL));
    }
    cr_assert(EVP_Digest(text, size, whole, NULL, EVP_sha384(), NULL));
    memcpy(out->byte, whole, DIGEST_BYTES);
}

/* Made by Python's hashlib:
 *     L = 65536
 *     b = bytes((i * 7 + i // 251) % 256 for i in range(n))
 *     hashlib.sha256(b) if n <= L else hashlib.sha384(struct.pack('<Q', n) +
 *         b''.join(hashlib.sha256(b[i:i + L]).digest() for i in range(0, n, L))).digest()[:32] */
Test(digest_tree, known_answers, .init = fill)
{
    static const struct {
        size_t size;
        const char *hex;
    } known[] = {
        {65536, "568f12ba93e8dab920795c710afd644df68be7132c0e49e8bb72270d8339bc40"},
        {65537, "4a8828434090bb1b2ce746d317bd307aa5d9a03cad451588a6e4491db8cdc9b2"},
        {131072, "481e4b3fdee1c6964df7f671cf1568e2187e9c09621ece7eb8c96c118663aaaf"},
        {200000, "d0cda813278ab5de0d8510399f62333f1324ca17045047ac7b2b4547cafe8435"},
        {524293, "dab85540c3fa21264e0f8fadeecb5d9fd73db70e5896cc825d9ced1cfc8025f2"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct digest digest;
        char hex[2 * DIGEST_BYTES + 1];
        digest_tree(&digest, (struct slice){bytes, known[i].size});
        hex_encode(hex, &digest, DIGEST_BYTES);
        cr_expect_str_eq(hex, known[i].hex, "%zu bytes", known[i].size);
        plain_tree(&digest, (struct slice){bytes, known[i].size});
        hex_encode(hex, &digest, DIGEST_BYTES);
        cr_expect_str_eq(hex, known[i].hex, "%zu bytes, plainly", known[i].size);
    }
}

Test(digest_tree, the_fast_one_is_the_plain_one_at_every_edge, .init = fill)
{
    for (size_t leaves = 0; leaves <= 8; leaves++) {
        for (size_t extra = 0; extra <= 2; extra++) {
            const size_t size = leaves * LEAF + extra;
            if (size == 0 || size > LARGE) {
                continue;
            }
            for (size_t from = 0; from < 2 && from < size; from++) { /* not aligned either */
                struct digest fast;
                struct digest plain;
                const struct slice part = {bytes + from, size - from};
                digest_tree(&fast, part);
                plain_tree(&plain, part);
                cr_expect(digest_equal(&fast, &plain), "%zu bytes from %zu", part.size, from);
                cr_expect(digest_is_of(&fast, part));
            }
        }
    }
}

Test(digest_tree, a_small_one_and_an_old_one_are_sha256, .init = fill)
{
    const struct slice small = {bytes, LEAF};
    const struct slice large = {bytes, LARGE};
    struct digest plain;
    struct digest digest;
    digest_sha256(&plain, &small, 1);
    digest_tree(&digest, small);
    cr_expect(digest_equal(&plain, &digest));
    digest_sha256(&plain, &large, 1);
    digest_tree(&digest, large);
    cr_expect_not(digest_equal(&plain, &digest));
    cr_expect(digest_is_of(&plain, large), "as programs of before made it");
    plain.byte[31] ^= 1;
    cr_expect_not(digest_is_of(&plain, large));
    digest.byte[0] ^= 1;
    cr_expect_not(digest_is_of(&digest, large));
}

/* One bit of each block of each leaf, the size, and the order of leaves. */
Test(digest_tree, whatever_is_changed_changes_it, .init = fill)
{
    const struct slice large = {bytes, LARGE};
    struct digest digest;
    digest_tree(&digest, large);
    for (size_t at = 0; at < LARGE; at += 4096 + 61) {
        bytes[at] ^= 16;
        cr_expect_not(digest_is_of(&digest, large), "byte %zu", at);
        bytes[at] ^= 16;
    }
    cr_expect_not(digest_is_of(&digest, (struct slice){bytes, LARGE - 1}));
    cr_expect_not(digest_is_of(&digest, (struct slice){bytes + 1, LARGE - 1}));
    static uint8_t leaf[LEAF];
    memcpy(leaf, bytes, LEAF);
    memcpy(bytes, bytes + LEAF, LEAF);
    memcpy(bytes + LEAF, leaf, LEAF);
    cr_expect_not(digest_is_of(&digest, large));
    fill();
    cr_expect(digest_is_of(&digest, large));
}

/* The root's text is as short as a leaf may be: it must not have the tree's digest. */
Test(digest_tree, what_a_root_is_made_of_has_another_digest, .init = fill)
{
    uint8_t text[8 + 2 * DIGEST_BYTES];
    struct digest digest;
    digest_tree(&digest, (struct slice){bytes, 2 * (size_t)LEAF});
    store_u64(text, 2 * (uint64_t)LEAF);
    for (size_t i = 0; i < 2; i++) {
        struct digest leaf;
        digest_sha256(&leaf, &(struct slice){bytes + i * LEAF, LEAF}, 1);
        memcpy(text + 8 + i * DIGEST_BYTES, leaf.byte, DIGEST_BYTES);
    }
    cr_expect_not(digest_is_of(&digest, (struct slice){text, sizeof text}));
}
