/* digest.c - SHA-256 (FIPS 180-4) by OpenSSL's plain functions. OpenSSL 3 marks them deprecated in
 * favour of EVP, which allocates and can fail; these do neither, so that no caller has to handle a
 * digest that cannot be had. They run the same assembly. */

#define OPENSSL_SUPPRESS_DEPRECATED

#include "crypto/digest.h"

#include "base/check.h"

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
