#include "dp/digest_table.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { DIGESTS_AT_FIRST = 16 };

void digest_table_free(struct digest_table *table)
{
    free(table->name);
    free(table->slot);
    memset(table, 0, sizeof *table);
}

/* Returns the slot that holds this name, or the free one where it belongs. */
static size_t slot_find(const struct digest_table *table, const size_t *slot, size_t slot_count,
                        const struct digest *name)
{
    size_t at = (size_t)load_u64(name->byte) & (slot_count - 1);
    while (slot[at] != 0 && !digest_equal(&table->name[slot[at] - 1], name)) {
        at = (at + 1) & (slot_count - 1);
    }
    return at;
}

size_t digest_table_find(const struct digest_table *table, const struct digest *name)
{
    if (table->slot_count == 0) {
        return DIGEST_NOT_THERE;
    }
    size_t found = table->slot[slot_find(table, table->slot, table->slot_count, name)];
    return found == 0 ? DIGEST_NOT_THERE : found - 1;
}

enum status digest_table_reserve(struct digest_table *table)
{
    size_t capacity = table->capacity == 0 ? DIGESTS_AT_FIRST : 2 * table->capacity;
    if (table->count < table->capacity) {
        return STATUS_OK;
    }
    if (capacity > SIZE_MAX / 2 / sizeof *table->name) {
        return STATUS_NO_MEMORY;
    }
    struct digest *name = realloc(table->name, capacity * sizeof *name);
    if (name == NULL) {
        return STATUS_NO_MEMORY;
    }
    table->name = name; /* larger than capacity says, which is harmless */
    size_t *slot = calloc(2 * capacity, sizeof *slot);
    if (slot == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < table->count; i++) {
        slot[slot_find(table, slot, 2 * capacity, &name[i])] = i + 1;
    }
    free(table->slot);
    table->slot = slot;
    table->slot_count = 2 * capacity;
    table->capacity = capacity;
    return STATUS_OK;
}

size_t digest_table_add(struct digest_table *table, const struct digest *name)
{
    CHECK(table->count < table->capacity);
    size_t at = slot_find(table, table->slot, table->slot_count, name);
    CHECK(table->slot[at] == 0);
    table->name[table->count] = *name;
    table->slot[at] = ++table->count;
    return table->count - 1;
}
