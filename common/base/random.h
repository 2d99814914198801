/* random.h - where randomness comes from: an interface, so that the programs pass the cryptographic
 * generator (crypto/random.h), tests a seeded one, and nothing draws from a hidden source. */

#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/status.h"

#include <stddef.h>

struct random {
    /** Fills out (bytes). Fails with STATUS_NO_RANDOM; out is then unusable and the caller must
     * throw away everything it drew for the same answer. */
    enum status (*fill)(void *self, void *out, size_t bytes);
    void *self;
};

/** Fills out (bytes) from the source. Fails with STATUS_NO_RANDOM. */
static inline MUST_USE enum status random_fill(const struct random *random, void *out, size_t bytes)
{
    return random->fill(random->self, out, bytes);
}

#endif
