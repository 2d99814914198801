#include "crypto/digest.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* FIPS 180-4's examples, and one block's edge (a message of 119 bytes, sha256sum of coreutils). */
static const struct {
    const char *text;
    size_t repeat;
    const char *hex;
} known[] = {
    {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {"x", 119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
};

static void expect_digest(const struct digest *digest, const char *hex)
{
    char text[2 * DIGEST_BYTES + 1];
    hex_encode(text, digest, DIGEST_BYTES);
    cr_expect_str_eq(text, hex);
}

Test(digest, known_answers_in_one_call_and_in_pieces)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i].text);
        size_t size = length * known[i].repeat;
        char *bytes = malloc(size + 1);
        for (size_t j = 0; j < known[i].repeat; j++) {
            memcpy(bytes + j * length, known[i].text, length);
        }
        struct digest whole;
        digest_sha256(&whole, &(struct slice){.data = bytes, .size = size}, 1);
        expect_digest(&whole, known[i].hex);
        for (size_t piece = 1; piece < 200; piece += 31) {
            struct digest_stream stream;
            struct digest pieces;
            digest_stream_init(&stream);
            for (size_t at = 0; at < size; at += piece) {
                digest_stream_add(&stream, bytes + at, size - at < piece ? size - at : piece);
            }
            digest_stream_end(&stream, &pieces);
            cr_expect(digest_equal(&whole, &pieces));
        }
        struct slice halves[2] = {{.data = bytes, .size = size / 2},
                                  {.data = bytes + size / 2, .size = size - size / 2}};
        struct digest joined;
        digest_sha256(&joined, halves, 2);
        cr_expect(digest_equal(&whole, &joined));
        free(bytes);
    }
}

Test(digest, nothing_has_a_digest_too)
{
    struct digest digest;
    digest_sha256(&digest, NULL, 0);
    expect_digest(&digest, known[0].hex);
    digest_sha256(&digest, &(struct slice){.data = NULL, .size = 0}, 1);
    expect_digest(&digest, known[0].hex);
}

Test(digest, a_stream_can_branch_and_is_wiped_at_its_end)
{
    struct digest_stream stream;
    struct digest first;
    struct digest second;
    static const struct digest_stream wiped = {{0}};
    digest_stream_init(&stream);
    digest_stream_add(&stream, "ab", 2);
    struct digest_stream branch = stream;
    digest_stream_add(&stream, "c", 1);
    digest_stream_add(&branch, "d", 1);
    digest_stream_end(&stream, &first);
    digest_stream_end(&branch, &second);
    expect_digest(&first, known[1].hex);
    cr_assert_not(digest_equal(&first, &second));
    cr_assert(memcmp(&stream, &wiped, sizeof stream) == 0);
}
