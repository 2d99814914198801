/* crypto/agree.h - secrets that two key pairs share, and streams made from a secret: X25519, HKDF with
 * SHA-256 (RFC 5869), AES-256 in counter mode. */

#ifndef CRYPTO_AGREE_H
#define CRYPTO_AGREE_H

#include "base/bytes.h"
#include "base/status.h"

#include <stddef.h>

/** Computes what the two owners share: agree(a, B) = agree(b, A). Fails with STATUS_INVALID when a key
 * is none, or the result would be all zero (a public key of small order), STATUS_NO_MEMORY; out is then zeroed. */
MUST_USE enum status agree_secret(struct digest *out, const struct digest *secret_key,
                                  const struct digest *public_key);

/**
 * Derives 32 bytes from a secret: HKDF without salt.
 *
 * info  in  (count) put together without separators: give every part a fixed size; 256 bytes at most
 *
 * Fails with STATUS_NO_MEMORY; out is then zeroed.
 */
MUST_USE enum status agree_derive(struct digest *out, const struct digest *secret,
                                  const struct slice *info, size_t count);

/* The stream of one key, from its first byte on. One key serves one stream. */
struct agree_stream;

/** Returns a stream, NULL when there is no memory; agree_stream_free wipes it. */
struct agree_stream *agree_stream_new(const struct digest *key);
void agree_stream_free(struct agree_stream *stream);

/** Fills out with the next bytes, a multiple of 16 and at most 1 MiB. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status agree_stream_next(struct agree_stream *stream, void *out, size_t bytes);

/** Writes in (bytes, at most 1 MiB) XOR the next bytes to out, which may be in. Any size; the bytes are one stream with
 * those of agree_stream_next. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status agree_stream_xor(struct agree_stream *stream, void *out, const void *in,
                                      size_t bytes);

#endif
