/* crypto/sign.h - signatures: Ed25519 (RFC 8032). A signing key is never an agreement key: each has 32 bytes of
 * its own. Signatures are deterministic, so the same text is signed by the same bytes. */

#ifndef CRYPTO_SIGN_H
#define CRYPTO_SIGN_H

#include "crypto/key.h"

enum { SIGNATURE_BYTES = 64 };

struct signature {
    uint8_t byte[SIGNATURE_BYTES];
};

/** Draws a new pair from the operating system's generator. Fails with STATUS_NO_RANDOM; out is then zeroed. */
MUST_USE enum status sign_pair_generate(struct key_pair *out);

/** Computes the public key that belongs to a secret one. Fails with STATUS_INVALID. */
MUST_USE enum status sign_pair_from_secret(struct key_pair *out, const struct digest *secret_key);

/** Signs a text. Fails with STATUS_NO_MEMORY; out is then zeroed. */
MUST_USE enum status sign_make(struct signature *out, const struct digest *secret_key,
                               struct slice text);

/** Returns whether the owner of public_key signed this text. */
bool sign_is_good(const struct signature *signature, const struct digest *public_key,
                  struct slice text);

#endif
