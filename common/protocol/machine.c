#include "protocol/machine.h"

#include <stdlib.h>
#include <string.h>

enum status effects_init(struct effects *effects, size_t control_size)
{
    memset(effects, 0, sizeof *effects);
    effects->control_bytes = malloc(control_size);
    if (effects->control_bytes == NULL) {
        return STATUS_NO_MEMORY;
    }
    effects->control_size = control_size;
    return STATUS_OK;
}

void effects_clear(struct effects *effects)
{
    effects->count = 0;
    effects->control_used = 0;
}

void effects_free(struct effects *effects)
{
    if (effects != NULL) {
        free(effects->control_bytes);
        memset(effects, 0, sizeof *effects);
    }
}

struct effect *effects_add(struct effects *effects, enum effect_kind kind)
{
    if (effects->count == EFFECTS_MAX) {
        return NULL;
    }
    struct effect *effect = &effects->item[effects->count++];
    memset(effect, 0, sizeof *effect);
    effect->kind = kind;
    return effect;
}

enum { EFFECTS_LEFT = 64, CAPACITY_FIRST = 8 };

enum status stale_add(struct stale *stale, uint64_t sequence, bool secret)
{
    if (stale->count == stale->capacity) {
        size_t capacity = stale->capacity > 0 ? 2 * stale->capacity : CAPACITY_FIRST;
        struct stale_record *grown = realloc(stale->record, capacity * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        stale->record = grown;
        stale->capacity = capacity;
    }
    stale->record[stale->count++] = (struct stale_record){sequence, secret};
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
        effect->as.forget.sequence = stale->record[asked].sequence;
        effect->as.forget.secret = stale->record[asked++].secret;
    }
    if (asked > 0) {
        stale->count -= asked;
        memmove(stale->record, stale->record + asked, stale->count * sizeof *stale->record);
    }
}

void stale_free(struct stale *stale)
{
    free(stale->record);
    *stale = (struct stale){0};
}
