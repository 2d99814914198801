/* digest_leaves.h - two leaves of a digest's tree at once (digest_tree.c alone). */

#ifndef CRYPTO_DIGEST_LEAVES_H
#define CRYPTO_DIGEST_LEAVES_H

#include "base/bytes.h"
#include "crypto/digest.h"

#include <stdbool.h>
#include <stdint.h>

/** Returns whether this processor can. Asking takes microseconds on a virtual machine. */
bool digest_leaves_fast(void);

/** The SHA-256 of each of two leaves of DIGEST_LEAF_BYTES, one after another, where digest_leaves_fast. */
void digest_leaves_two(struct digest out[static 2], const uint8_t *leaves);

#endif
