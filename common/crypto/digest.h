/* crypto/digest.h - SHA-256: of slices in one call, or of a stream piece by piece; of large bytes as a tree. Needs no memory
 * and cannot fail, so that a pure machine may call it anywhere. */

#ifndef CRYPTO_DIGEST_H
#define CRYPTO_DIGEST_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The SHA-256 of the slices (count), one after the other without separators: give every part a
 * fixed size or its length in front. */
void digest_sha256(struct digest *out, const struct slice *slices, size_t count);

enum { DIGEST_LEAF_BYTES = 64 * 1024 };

/**
 * The digest of an answer, of a state, of a large blob: a tree, of which two leaves are made at once where the processor can.
 * For at most one leaf it is the SHA-256. For more it is the first 32 bytes of the SHA-384 of: their number (8, little-endian),
 * the SHA-256 of each leaf of DIGEST_LEAF_BYTES, the last of which may be shorter.
 *
 * Ensures that two texts of one digest are a collision of SHA-256, or of these 32 bytes of SHA-384: a leaf and a root are not
 * taken for each other, as their functions differ.
 */
void digest_tree(struct digest *out, struct slice bytes);

/** Returns whether a digest is the bytes' digest_tree, or their SHA-256, which programs of protocol version 4 and before made. */
bool digest_is_of(const struct digest *digest, struct slice bytes);

/* A digest in the making. Plain bytes: it may be copied to branch off. */
struct digest_stream {
    uint64_t state[14];
};

void digest_stream_init(struct digest_stream *stream);
void digest_stream_add(struct digest_stream *stream, const void *data, size_t size);

/** Ends the stream and wipes it; init before using it again. */
void digest_stream_end(struct digest_stream *stream, struct digest *out);

#endif
