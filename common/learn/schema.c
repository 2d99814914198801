#include "learn/schema.h"

#include "base/check.h"
#include "learn/blocks.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t schema_column_features(const struct column *column)
{
    const bool is_spread = column->kind == COLUMN_CATEGORY && column->category_count > 2;
    return (is_spread ? column->category_count : 1) + (column->has_indicator ? 1 : 0);
}

const char *map_kind_name(enum map_kind kind)
{
    static const char *const name[] = {[MAP_NONE] = "none",
                                       [MAP_FOURIER] = "fourier",
                                       [MAP_NYSTROM] = "nystrom",
                                       [MAP_PRODUCTS] = "products"};
    return (size_t)kind < sizeof name / sizeof name[0] ? name[kind] : NULL;
}

size_t schema_plain_count(const struct schema *schema)
{
    size_t count = schema->lag_count + 1;
    for (size_t i = 0; i < schema->column_count; i++) {
        count += schema_column_features(&schema->column[i]);
    }
    return count;
}

size_t schema_feature_count(const struct schema *schema)
{
    return block_at(schema, 0).all;
}

size_t schema_value_count(const struct schema *schema)
{
    return schema->lag_count + schema->column_count;
}

size_t schema_output_count(const struct schema *schema)
{
    return schema->label.kind == LABEL_CLASSES ? schema->label.class_count : 1;
}

const char *schema_name_of(const void *schema, size_t column)
{
    const struct schema *self = schema;
    return column < self->column_count ? self->column[column].name : self->label.name;
}

size_t schema_other_class(const struct label *label)
{
    return label->has_other ? label->other : label->class_count - 1;
}

bool schema_is_series(const struct schema *schema)
{
    return schema->lag_count > 0;
}

size_t schema_history(const struct schema *schema)
{
    return schema->lag_count == 0 ? 0 : schema->lag[schema->lag_count - 1];
}

int schema_find_feature(const struct schema *schema, const char *name)
{
    const int plain = block_find(schema, &(struct feature_map){.kind = MAP_NONE});
    if (plain < 0) {
        return -1;
    }
    const size_t first = block_at(schema, (size_t)plain).first;
    size_t feature = first + schema->lag_count;
    for (size_t i = 0; i < schema->lag_count; i++) {
        char lag[SCHEMA_NAME_BYTES];
        (void)snprintf(lag, sizeof lag, "lag_%zu", schema->lag[i]);
        if (strcmp(name, lag) == 0) {
            return (int)(first + i);
        }
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        if (strcmp(name, column->name) == 0) {
            return column->kind == COLUMN_NUMBER && feature <= INT_MAX ? (int)feature : -1;
        }
        feature += schema_column_features(column);
    }
    return -1;
}

double schema_scale(size_t count)
{
    CHECK(count >= 1);
    /* The square root and the division err by at most one part in 2^53 each; four times DBL_EPSILON
     * is eight such parts. */
    return (1 - 4 * DBL_EPSILON) / sqrt((double)count);
}

double schema_constant(const struct schema *schema)
{
    return schema_scale(schema->map.kind == MAP_NONE ? schema_plain_count(schema) : 2);
}

double schema_column_scale(const struct schema *schema)
{
    return schema->map.kind == MAP_PRODUCTS ? schema_scale(2 * (block_at(schema, 0).count - 1))
                                            : schema_constant(schema);
}

static enum status copy_map(struct feature_map *out, const struct feature_map *from, size_t values)
{
    const size_t landmarks = from->landmark_count * values;
    *out = *from;
    out->landmark = landmarks == 0 ? NULL : calloc(landmarks, sizeof *out->landmark);
    if (landmarks > 0 && out->landmark == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (landmarks > 0) {
        memcpy(out->landmark, from->landmark, landmarks * sizeof *out->landmark);
    }
    return STATUS_OK;
}

enum status schema_copy(struct schema *out, const struct schema *from)
{
    const size_t values = schema_value_count(from);
    *out = *from;
    out->map.landmark = NULL;
    out->more = NULL;
    out->more_count = 0;
    out->column = calloc(from->column_count + 1, sizeof *out->column);
    enum status status =
        out->column == NULL ? STATUS_NO_MEMORY : copy_map(&out->map, &from->map, values);
    if (status == STATUS_OK && from->column_count > 0) {
        memcpy(out->column, from->column, from->column_count * sizeof *out->column);
    }
    for (size_t i = 0; i < from->more_count && status == STATUS_OK; i++) {
        struct feature_map map;
        status = copy_map(&map, &from->more[i], values);
        if (status == STATUS_OK) {
            status = block_append(out, map);
        }
    }
    if (status != STATUS_OK) {
        schema_free(out);
    }
    return status;
}

void schema_free(struct schema *schema)
{
    if (schema != NULL) {
        free(schema->column);
        free(schema->map.landmark);
        for (size_t i = 0; i < schema->more_count; i++) {
            free(schema->more[i].landmark);
        }
        free(schema->more);
        *schema = (struct schema){0};
    }
}
