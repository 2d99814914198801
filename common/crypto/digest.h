/* crypto/digest.h - SHA-256: of slices in one call, or of a stream piece by piece. Needs no memory
 * and cannot fail, so that a pure machine may call it anywhere. */

#ifndef CRYPTO_DIGEST_H
#define CRYPTO_DIGEST_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>

/** The SHA-256 of the slices (count), one after the other without separators: give every part a
 * fixed size or its length in front. */
void digest_sha256(struct digest *out, const struct slice *slices, size_t count);

/* A digest in the making. Plain bytes: it may be copied to branch off. */
struct digest_stream {
    uint64_t state[14];
};

void digest_stream_init(struct digest_stream *stream);
void digest_stream_add(struct digest_stream *stream, const void *data, size_t size);

/** Ends the stream and wipes it; init before using it again. */
void digest_stream_end(struct digest_stream *stream, struct digest *out);

#endif
