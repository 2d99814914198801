/* script.h - random sources for tests: one gives words from a list, one keeps the words that it
 * gave. */

#ifndef SUPPORT_SCRIPT_H
#define SUPPORT_SCRIPT_H

#include "tests/support/seeded_random.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIPT_WORDS_MAX = 64, RECORDED_WORDS_MAX = 16000 };

struct script {
    uint64_t word[SCRIPT_WORDS_MAX];
    size_t count; /* then it fails, with something else in place of words */
    size_t used;
};

static inline enum status script_fill(void *self, void *out, size_t bytes)
{
    struct script *script = self;
    memset(out, 0xa5, bytes);
    for (size_t i = 0; i < bytes / 8; i++) {
        if (script->used == script->count) {
            return STATUS_NO_RANDOM;
        }
        memcpy((uint8_t *)out + 8 * i, &script->word[script->used++], 8);
    }
    return STATUS_OK;
}

/* The caller seeds it. */
struct recorded {
    struct seeded_random seeded;
    uint64_t word[RECORDED_WORDS_MAX];
    size_t words;
};

/** Leaves no copy of its own on the stack. */
static inline enum status recorded_fill(void *self, void *out, size_t bytes)
{
    struct recorded *recorded = self;
    for (size_t i = 0; i < bytes / 8; i++) {
        if (recorded->words == RECORDED_WORDS_MAX) {
            abort();
        }
        recorded->word[recorded->words] = seeded_random_word(&recorded->seeded);
        memcpy((uint8_t *)out + 8 * i, &recorded->word[recorded->words++], 8);
    }
    return STATUS_OK;
}

#endif
