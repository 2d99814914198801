/* key.h - the key pairs by which the programs know each other: X25519, 32 raw bytes, the same that
 * CURVE uses. A secret lives in a file that only its owner can read. Beside it stands a signing half
 * (below), which keys of earlier versions do not have. */

#ifndef CRYPTO_KEY_H
#define CRYPTO_KEY_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdint.h>

enum { KEY_BYTES = 32, KEY_HEX_BYTES = 2 * KEY_BYTES + 1 };

struct key_pair {
    struct digest public_key;
    struct digest secret_key; /* wiped by key_pair_wipe */
};

/** Draws a new pair from the operating system's generator. Fails with STATUS_NO_RANDOM; out is then
 * zeroed. */
MUST_USE enum status key_pair_generate(struct key_pair *out);

/** Computes the public key that belongs to a secret one. Fails with STATUS_INVALID. */
MUST_USE enum status key_pair_from_secret(struct key_pair *out, const struct digest *secret_key);

void key_pair_wipe(struct key_pair *pair);

/**
 * Writes a pair and its signing half to two new files, the secret one readable by its owner alone, both
 * on disk when the function returns.
 *
 * signing  in  an Ed25519 pair; NULL: none
 *
 * Fails with STATUS_EXISTS (an existing key is never replaced; nothing is written) or STATUS_IO.
 */
MUST_USE enum status key_pair_write(const struct key_pair *pair, const struct key_pair *signing,
                                    const char *secret_path, const char *public_path,
                                    struct why *why);

/** Adds a signing half to a pair of files that has none; the other half stays. Fails with STATUS_EXISTS (it has
 * one), or as reading and writing do. */
MUST_USE enum status key_signing_add(const struct key_pair *signing, const char *secret_path,
                                     const char *public_path, struct why *why);

/** Reads a secret key file and computes its pair. Fails with STATUS_NOT_FOUND, STATUS_IO,
 * STATUS_INVALID (not a secret key file, or others may read it: why names the remedy). */
MUST_USE enum status key_secret_read(struct key_pair *out, const char *path, struct why *why);

/** Reads the signing half of a secret key file. Fails like key_secret_read, and with STATUS_UNSUPPORTED where
 * the key has none: why says how it gets one. */
MUST_USE enum status key_signing_read(struct key_pair *out, const char *path, struct why *why);

/** Reads the signing half of a public key file. Fails likewise. */
MUST_USE enum status key_signing_public_read(struct digest *out, const char *path, struct why *why);

/** Reads a public key file. Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID. */
MUST_USE enum status key_public_read(struct digest *out, const char *path, struct why *why);

/** Reads 64 hexadecimal digits. Fails with STATUS_INVALID; why never repeats the text, which might
 * be a secret pasted into the wrong place. */
MUST_USE enum status key_public_parse(struct digest *out, const char *text, struct why *why);

/* Signatures: Ed25519 (RFC 8032). A signing key is never an agreement key: each has 32 bytes of
 * its own. Signatures are deterministic, so the same text is signed by the same bytes. */

enum { SIGNATURE_BYTES = 64 };

struct signature {
    uint8_t byte[SIGNATURE_BYTES];
};

/** Draws a new pair from the operating system's generator. Fails with STATUS_NO_RANDOM; out is then zeroed. */
MUST_USE enum status key_signing_generate(struct key_pair *out);

/** Computes the public key that belongs to a secret one. Fails with STATUS_INVALID. */
MUST_USE enum status key_signing_from_secret(struct key_pair *out, const struct digest *secret_key);

/** Signs a text. Fails with STATUS_NO_MEMORY; out is then zeroed. */
MUST_USE enum status key_sign(struct signature *out, const struct digest *secret_key,
                              struct slice text);

/** Returns whether the owner of public_key signed this text. */
bool key_verify(const struct signature *signature, const struct digest *public_key,
                struct slice text);

/**
 * Judges a certificate and its key before a port opens. Who signed it is not judged: those who look do that.
 *
 * certificate  in  PEM; the first one is judged
 * key          in  PEM, without a passphrase
 * now_s        in  Unix time
 *
 * Fails with STATUS_INVALID: not PEM, not a pair, not valid now; why says which. Privacy: why never repeats content.
 */
MUST_USE enum status key_certificate_check(const char *certificate, const char *key, int64_t now_s,
                                           struct why *why);

#endif
