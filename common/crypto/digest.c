/* digest.c - SHA-256 (FIPS 180-4) by OpenSSL's plain functions. OpenSSL 3 marks them deprecated in
 * favour of EVP, which allocates and can fail; these do neither, so that no caller has to handle a
 * digest that cannot be had. They run the same assembly. */

#define OPENSSL_SUPPRESS_DEPRECATED

#include "crypto/digest.h"

#include "base/check.h"
#include "crypto/digest_leaves.h"

#include <assert.h>
#include <openssl/sha.h>
#include <string.h>

static_assert(sizeof(SHA256_CTX) <= sizeof(struct digest_stream),
              "the stream must hold the context");
static_assert(SHA256_DIGEST_LENGTH == DIGEST_BYTES, "a digest is 32 bytes");

/* The context is copied in and out: the header must not show OpenSSL's type, and bytes of one type
 * are not read as another. */
static SHA256_CTX context_of(const struct digest_stream *stream)
{
    SHA256_CTX context;
    memcpy(&context, stream->state, sizeof context);
    return context;
}

static void keep_context(struct digest_stream *stream, SHA256_CTX *context)
{
    memcpy(stream->state, context, sizeof *context);
    bytes_wipe(context, sizeof *context);
}

void digest_stream_init(struct digest_stream *stream)
{
    SHA256_CTX context;
    memset(stream, 0, sizeof *stream);
    CHECK(SHA256_Init(&context) == 1);
    keep_context(stream, &context);
}

void digest_stream_add(struct digest_stream *stream, const void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    SHA256_CTX context = context_of(stream);
    CHECK(SHA256_Update(&context, data, size) == 1);
    keep_context(stream, &context);
}

void digest_stream_end(struct digest_stream *stream, struct digest *out)
{
    SHA256_CTX context = context_of(stream);
    CHECK(SHA256_Final(out->byte, &context) == 1);
    bytes_wipe(&context, sizeof context);
    bytes_wipe(stream, sizeof *stream);
}

void digest_sha256(struct digest *out, const struct slice *slices, size_t count)
{
    struct digest_stream stream;
    digest_stream_init(&stream);
    for (size_t i = 0; i < count; i++) {
        digest_stream_add(&stream, slices[i].data, slices[i].size);
    }
    digest_stream_end(&stream, out);
}

/* The tree has one level: a root over up to 2^24 leaves would still be small beside them. SHA-384 has another function and
 * another start than SHA-256, so that no text of one leaf has the digest of a tree. What is made on the way is wiped: an exact
 * answer has few possible values, and its digest would tell which one it is. */

enum { LANES = 2 };

void digest_tree(struct digest *out, struct slice bytes)
{
    const uint8_t *at = bytes.data;
    size_t left = bytes.size;
    SHA512_CTX root;
    uint8_t size[8];
    uint8_t whole[SHA384_DIGEST_LENGTH];

    if (bytes.size <= DIGEST_LEAF_BYTES) {
        digest_sha256(out, &bytes, 1);
        return;
    }
    const bool fast = digest_leaves_fast();
    store_u64(size, bytes.size);
    CHECK(SHA384_Init(&root) == 1 && SHA384_Update(&root, size, sizeof size) == 1);
    while (left > 0) {
        struct digest leaf[LANES];
        const size_t leaves = fast && left >= LANES * (size_t)DIGEST_LEAF_BYTES ? LANES : 1;
        const size_t used = left < leaves * DIGEST_LEAF_BYTES ? left : leaves * DIGEST_LEAF_BYTES;
        if (leaves == LANES) {
            digest_leaves_two(leaf, at);
        } else {
            digest_sha256(&leaf[0], &(struct slice){at, used}, 1);
        }
        CHECK(SHA384_Update(&root, leaf, leaves * sizeof leaf[0]) == 1);
        bytes_wipe(leaf, sizeof leaf);
        at += used;
        left -= used;
    }
    CHECK(SHA384_Final(whole, &root) == 1);
    memcpy(out->byte, whole, sizeof out->byte);
    bytes_wipe(&root, sizeof root);
    bytes_wipe(whole, sizeof whole);
}

bool digest_is_of(const struct digest *digest, struct slice bytes)
{
    struct digest made;
    digest_tree(&made, bytes);
    if (!digest_equal(&made, digest) && bytes.size > DIGEST_LEAF_BYTES) {
        digest_sha256(&made, &bytes, 1);
    }
    return digest_equal(&made, digest);
}
