/* crypto/seal.h - messages of one direction, sealed by AES-256-GCM under a key that serves nothing else.
 *
 * A message's nonce is its number in the direction, which does not travel: one that is left out, doubled, moved, cut short or
 * changed does not open, and neither does any after it. A key is drawn for one seal at each end and never stored, so
 * that no nonce of a key comes twice, also after a restart. */

#ifndef CRYPTO_SEAL_H
#define CRYPTO_SEAL_H

#include "base/bytes.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { SEAL_TAG_BYTES = 16 };

struct seal;

/** Returns one end's seal of a direction, to close or to open with; NULL without memory. The key is copied. */
struct seal *seal_new(const struct digest *key);
void seal_free(struct seal *seal);

/**
 * Seals the direction's next message: the parts (count), one after another.
 *
 * out    out  as many bytes as the parts have together, and the tag
 * beside      (beside_bytes) travels in the clear; it has to be the same where the message is opened
 *
 * Fails with STATUS_NO_MEMORY; the seal closes nothing more then.
 */
MUST_USE enum status seal_close(struct seal *seal, uint8_t *out, struct slice beside,
                                const struct slice *part, size_t count);

/** Opens the direction's next message in place: text (bytes) with its tag at the end. Fails with STATUS_INVALID, when it is not
 * that, or without memory; the text then has nothing of the message, and the seal opens nothing more. */
MUST_USE enum status seal_open(struct seal *seal, uint8_t *text, size_t bytes, struct slice beside);

#endif
