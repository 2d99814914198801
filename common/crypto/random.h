/* crypto/random.h - the cryptographic random source: AES-256-CTR under a key from the operating
 * system. Everything private is drawn from it. */

#ifndef CRYPTO_RANDOM_H
#define CRYPTO_RANDOM_H

#include "base/random.h"

struct random_source;

/** Returns a keyed source, NULL when there is no memory or the system gives no randomness. Caller
 * owns it. One source belongs to one thread at a time. */
struct random_source *random_source_new(void);

/** Wipes and frees. random_source_free(NULL) does nothing. */
void random_source_free(struct random_source *source);

/**
 * Returns the source as base/random.h's interface; keeps source.
 *
 * Its fill fails with STATUS_NO_RANDOM (out is then all zero) and asks the system again next time.
 * Ensures: a byte is handed out once and wiped. The key is replaced after every block of the stream
 * by bytes of the same stream, so that a later look into memory tells nothing about earlier output,
 * and is renewed from the system every MiB or so and in a child after fork(): parent and child
 * never draw the same.
 * Cost: about 0.2 ns per byte, 100 ns per call.
 */
struct random random_source_interface(struct random_source *source);

/** Draws a few bytes from a source of its own, which is gone afterwards. Fails with STATUS_NO_RANDOM; out is then all zero. */
MUST_USE enum status random_once(void *out, size_t bytes);

#endif
