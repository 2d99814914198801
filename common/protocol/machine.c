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
