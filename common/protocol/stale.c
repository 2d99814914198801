#include "protocol/stale.h"

#include <stdlib.h>
#include <string.h>

enum { EFFECTS_LEFT = 64, CAPACITY_FIRST = 8 };

enum status stale_add(struct stale *stale, uint64_t sequence)
{
    if (stale->count == stale->capacity) {
        size_t capacity = stale->capacity > 0 ? 2 * stale->capacity : CAPACITY_FIRST;
        uint64_t *grown = realloc(stale->sequence, capacity * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        stale->sequence = grown;
        stale->capacity = capacity;
    }
    stale->sequence[stale->count++] = sequence;
    return STATUS_OK;
}

void stale_forget(struct stale *stale, struct effects *effects)
{
    size_t asked = 0;

    while (asked < stale->count && effects->count < EFFECTS_MAX - EFFECTS_LEFT) {
        struct effect *effect = effects_add(effects, EFFECT_FORGET);
        if (effect == NULL) {
            break;
        }
        effect->as.forget.sequence = stale->sequence[asked++];
    }
    if (asked > 0) {
        stale->count -= asked;
        memmove(stale->sequence, stale->sequence + asked, stale->count * sizeof *stale->sequence);
    }
}

void stale_free(struct stale *stale)
{
    free(stale->sequence);
    *stale = (struct stale){0};
}
