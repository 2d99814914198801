/* crypto/pair.h - what the pairs of agreement (key.h) and signatures (sign.h) share; nothing else includes it. kind: as
 * OpenSSL names it, "X25519" or "ED25519". */

#ifndef CRYPTO_PAIR_H
#define CRYPTO_PAIR_H

#include "crypto/key.h"

/** Draws a new pair. Fails with STATUS_NO_RANDOM; out is then zeroed. */
MUST_USE enum status pair_generate(struct key_pair *out, const char *kind);

/** Computes the public key that belongs to a secret one, which out may hold. Fails with STATUS_INVALID. */
MUST_USE enum status pair_from_secret(struct key_pair *out, const char *kind,
                                      const struct digest *secret_key);

#endif
