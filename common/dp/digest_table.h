/* digest_table.h - numbers for digests, in the order of their arrival: a hash table that grows. */

#ifndef DP_DIGEST_TABLE_H
#define DP_DIGEST_TABLE_H

#include "base/bytes.h"
#include "base/status.h"

#include <stddef.h>

/* Starts zeroed. slot holds positions in name, plus one; at most half of it is taken. */
struct digest_table {
    struct digest *name; /* (count), owned */
    size_t count;
    size_t capacity;
    size_t *slot; /* (slot_count), a power of two, 2 * capacity; owned */
    size_t slot_count;
};

#define DIGEST_NOT_THERE SIZE_MAX

void digest_table_free(struct digest_table *table);

/** Returns the digest's number, or DIGEST_NOT_THERE. Cost O(1). */
size_t digest_table_find(const struct digest_table *table, const struct digest *name);

/** Makes room for one more; fails with STATUS_NO_MEMORY, the table is then as before. */
MUST_USE enum status digest_table_reserve(struct digest_table *table);

/** Adds a digest that is not there and returns its number, the count before. CHECKs that
 * digest_table_reserve made room. */
size_t digest_table_add(struct digest_table *table, const struct digest *name);

#endif
