/* blocks.h - a record's features by several maps, one block after another. A stage learns on the
 * block of its own map, and its models are 0 on the others: so models of different maps are vectors
 * of one width, and the inner product with the whole vector is the model's score. */

#ifndef LEARN_BLOCKS_H
#define LEARN_BLOCKS_H

#include "base/status.h"
#include "learn/dataset.h"
#include "learn/schema.h"

#include <stddef.h>

/* Which of a record's features: (count) from first on, of `all`. Norm at most 1, the last is constant. */
struct block {
    size_t first;
    size_t count;
    size_t all;
};

/** Returns how many blocks there are: one, and one for each further map. */
size_t block_count(const struct schema *schema);

/** Returns block `index`, below block_count. */
struct block block_at(const struct schema *schema, size_t index);

/** Returns the schema with the map of block `index` alone; it borrows all that the other owns, and is
 * not to be freed. */
struct schema block_schema(const struct schema *schema, size_t index);

/** Returns the index of the block whose map is this one in all that it says, or -1. */
int block_find(const struct schema *schema, const struct feature_map *map);

/** Appends a block with this map. Takes the map: owned by the schema, or freed on failure. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status block_append(struct schema *schema, struct feature_map map);

/**
 * Writes a model of one block as one of all: 0 outside.
 *
 * out     out  (outputs, block.all)
 * weight  in   (outputs, block.count)
 */
void block_widen(double *out, size_t outputs, struct block block, const double *weight);

/** The other way: the block's part (outputs, block.count) of a model (outputs, block.all). */
void block_narrow(double *out, size_t outputs, struct block block, const double *weight);

/** Returns the one block that a model of all (schema_output_count, schema_feature_count) is about, the
 * first one for a model of zeros; -1 where weights of several blocks are not 0, which no stage makes. */
int block_of_model(const struct schema *schema, const double *weight);

/** Copies the records' features of one block, with their labels and nothing else. Fails with
 * STATUS_NO_MEMORY. Cost: O(m count) time and memory, wiped by dataset_free. */
MUST_USE enum status block_dataset(struct dataset *out, const struct dataset *from,
                                   struct block block);

#endif
