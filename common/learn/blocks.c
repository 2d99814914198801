#include "learn/blocks.h"

#include "base/check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct feature_map *map_at(const struct schema *schema, size_t index)
{
    return index == 0 ? &schema->map : &schema->more[index - 1];
}

static size_t map_feature_count(const struct schema *schema, const struct feature_map *map)
{
    switch (map->kind) {
    case MAP_FOURIER:
        return map->feature_count + 1;
    case MAP_NYSTROM:
        return map->landmark_count + 1;
    case MAP_PRODUCTS: {
        const size_t d = schema_plain_count(schema) - 1;
        return d + d * (d + 1) / 2 + 1;
    }
    case MAP_NONE:
        break;
    }
    return schema_plain_count(schema);
}

size_t block_count(const struct schema *schema)
{
    return 1 + schema->more_count;
}

struct block block_at(const struct schema *schema, size_t index)
{
    struct block block = {0};
    CHECK(index < block_count(schema));
    for (size_t i = 0; i < block_count(schema); i++) {
        const size_t count = map_feature_count(schema, map_at(schema, i));
        block.first += i < index ? count : 0;
        block.count = i == index ? count : block.count;
        block.all += count;
    }
    return block;
}

struct schema block_schema(const struct schema *schema, size_t index)
{
    struct schema one = *schema;
    CHECK(index < block_count(schema));
    one.map = *map_at(schema, index);
    one.more = NULL;
    one.more_count = 0;
    return one;
}

/* What one kind of map does not read is zero in both. */
static bool is_same(const struct schema *schema, const struct feature_map *one,
                    const struct feature_map *other)
{
    const size_t landmarks = one->landmark_count * schema_value_count(schema);
    if (one->kind != other->kind || one->kernel.kind != other->kernel.kind ||
        one->kernel.rate != other->kernel.rate || one->feature_count != other->feature_count ||
        one->seed != other->seed || one->landmark_count != other->landmark_count) {
        return false;
    }
    for (size_t i = 0; i < landmarks; i++) {
        if (one->landmark[i] != other->landmark[i]) {
            return false;
        }
    }
    return true;
}

int block_find(const struct schema *schema, const struct feature_map *map)
{
    size_t index = 0;
    while (index < block_count(schema) && !is_same(schema, map_at(schema, index), map)) {
        index++;
    }
    return index < block_count(schema) && index <= INT_MAX ? (int)index : -1;
}

enum status block_append(struct schema *schema, struct feature_map map)
{
    struct feature_map *grown =
        realloc(schema->more, (schema->more_count + 1) * sizeof *schema->more);
    if (grown == NULL) {
        free(map.landmark);
        return STATUS_NO_MEMORY;
    }
    schema->more = grown;
    schema->more[schema->more_count++] = map;
    return STATUS_OK;
}

void block_widen(double *out, size_t outputs, struct block block, const double *weight)
{
    memset(out, 0, outputs * block.all * sizeof *out);
    for (size_t i = 0; i < outputs; i++) {
        memcpy(out + i * block.all + block.first, weight + i * block.count,
               block.count * sizeof *out);
    }
}

void block_narrow(double *out, size_t outputs, struct block block, const double *weight)
{
    for (size_t i = 0; i < outputs; i++) {
        memcpy(out + i * block.count, weight + i * block.all + block.first,
               block.count * sizeof *out);
    }
}

static bool is_zero(size_t outputs, struct block block, const double *weight)
{
    for (size_t i = 0; i < outputs; i++) {
        for (size_t j = block.first; j < block.first + block.count; j++) {
            if (weight[i * block.all + j] != 0) {
                return false;
            }
        }
    }
    return true;
}

int block_of_model(const struct schema *schema, const double *weight)
{
    int found = -1;
    for (size_t i = 0; i < block_count(schema) && i < INT_MAX; i++) {
        if (is_zero(schema_output_count(schema), block_at(schema, i), weight)) {
            continue;
        }
        if (found >= 0) {
            return -1;
        }
        found = (int)i;
    }
    return found >= 0 ? found : 0;
}

enum status block_dataset(struct dataset *out, const struct dataset *from, struct block block)
{
    const size_t m = from->record_count;
    const size_t d = from->feature_count;
    CHECK(block.all == d);
    *out = (struct dataset){.record_count = m, .feature_count = block.count};
    out->x = calloc(m * block.count + 1, sizeof *out->x);
    out->y = from->y == NULL ? NULL : calloc(m + 1, sizeof *out->y);
    if (out->x == NULL || (from->y != NULL && out->y == NULL)) {
        dataset_free(out);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < m; i++) {
        memcpy(out->x + i * block.count, from->x + i * d + block.first,
               block.count * sizeof *out->x);
    }
    if (from->y != NULL) {
        memcpy(out->y, from->y, m * sizeof *out->y);
    }
    return STATUS_OK;
}
