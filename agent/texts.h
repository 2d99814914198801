/* texts.h - which jobs' texts the journal still holds. Each text is kept once, and all of them together are bounded:
 * a coordinator that offers jobs for nearly nothing must not fill the site's disk. What is dropped leaves its digest. */

#ifndef AGENT_TEXTS_H
#define AGENT_TEXTS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64 texts of the largest size, a thousand of usual ones. */
enum { TEXTS_BYTES_MAX = 4 * 1024 * 1024, TEXTS_MAX = 4096 };

/* Starts zeroed. Oldest first. */
struct texts {
    struct kept_text {
        uint64_t sequence; /* the journal's record that has the text as its blob */
        struct digest digest;
        uint64_t bytes;
        bool again; /* kept once more with a later job */
    } item[TEXTS_MAX + 1];
    size_t count;
    uint64_t bytes; /* of all */
};

/** Returns whether a text need not be written again: it is kept, and will stay until half of TEXTS_BYTES_MAX and of
 * TEXTS_MAX has been written after it. */
bool texts_has(const struct texts *texts, const struct digest *digest);

/** Notes a text that a record holds. Call texts_drop until it returns false afterwards. */
void texts_add(struct texts *texts, uint64_t sequence, const struct digest *digest, uint64_t bytes);

/** Takes one text out that is too old or kept twice; returns false when there is none. */
bool texts_drop(struct texts *texts, uint64_t *sequence);

#endif
