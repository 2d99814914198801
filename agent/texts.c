#include "agent/texts.h"

#include <string.h>

bool texts_has(const struct texts *texts, const struct digest *digest)
{
    uint64_t after = 0;

    for (size_t i = texts->count; i-- > 0;) {
        if (after > TEXTS_BYTES_MAX / 2 || texts->count - i > TEXTS_MAX / 2) {
            return false;
        }
        if (digest_equal(&texts->item[i].digest, digest)) {
            return true;
        }
        after += texts->item[i].bytes;
    }
    return false;
}

void texts_add(struct texts *texts, uint64_t sequence, const struct digest *digest, uint64_t bytes)
{
    uint64_t ignored = 0;
    while (texts->count > TEXTS_MAX) { /* a journal that was not kept by this rule */
        (void)texts_drop(texts, &ignored);
    }
    for (size_t i = 0; i < texts->count; i++) {
        texts->item[i].again = texts->item[i].again || digest_equal(&texts->item[i].digest, digest);
    }
    texts->item[texts->count++] =
        (struct kept_text){.sequence = sequence, .digest = *digest, .bytes = bytes};
    texts->bytes += bytes;
}

bool texts_drop(struct texts *texts, uint64_t *sequence)
{
    size_t at = 0;

    while (at < texts->count && !texts->item[at].again) {
        at++;
    }
    if (at == texts->count) {
        if (texts->count <= TEXTS_MAX && texts->bytes <= TEXTS_BYTES_MAX) {
            return false;
        }
        at = 0;
    }
    *sequence = texts->item[at].sequence;
    texts->bytes -= texts->item[at].bytes;
    texts->count--;
    memmove(&texts->item[at], &texts->item[at + 1], (texts->count - at) * sizeof texts->item[0]);
    return true;
}
