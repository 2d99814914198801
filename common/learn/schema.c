#include "learn/schema.h"

#include "base/check.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t column_feature_count(const struct column *column)
{
    return column->kind == COLUMN_CATEGORY && column->category_count > 2 ? column->category_count
                                                                         : 1;
}

const char *map_kind_name(enum map_kind kind)
{
    static const char *const name[] = {
        [MAP_NONE] = "none", [MAP_FOURIER] = "fourier", [MAP_NYSTROM] = "nystrom"};
    return (size_t)kind < sizeof name / sizeof name[0] ? name[kind] : NULL;
}

size_t schema_plain_count(const struct schema *schema)
{
    size_t count = schema->lag_count + 1;
    for (size_t i = 0; i < schema->column_count; i++) {
        count += column_feature_count(&schema->column[i]);
    }
    return count;
}

size_t schema_feature_count(const struct schema *schema)
{
    switch (schema->map.kind) {
    case MAP_FOURIER:
        return schema->map.feature_count + 1;
    case MAP_NYSTROM:
        return schema->map.landmark_count + 1;
    case MAP_NONE:
        break;
    }
    return schema_plain_count(schema);
}

size_t schema_value_count(const struct schema *schema)
{
    return schema->lag_count + schema->column_count;
}

size_t schema_output_count(const struct schema *schema)
{
    return schema->label.kind == LABEL_CLASSES ? schema->label.class_count : 1;
}

bool schema_is_series(const struct schema *schema)
{
    return schema->lag_count > 0;
}

size_t schema_history(const struct schema *schema)
{
    return schema->lag_count == 0 ? 0 : schema->lag[schema->lag_count - 1];
}

size_t schema_overlap(const struct schema *schema)
{
    return 1 + schema->lag_count;
}

int schema_find_feature(const struct schema *schema, const char *name)
{
    size_t feature = schema->lag_count;
    if (schema->map.kind != MAP_NONE) {
        return -1;
    }
    for (size_t i = 0; i < schema->lag_count; i++) {
        char lag[SCHEMA_NAME_BYTES];
        (void)snprintf(lag, sizeof lag, "lag_%zu", schema->lag[i]);
        if (strcmp(name, lag) == 0) {
            return (int)i;
        }
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        if (strcmp(name, column->name) == 0) {
            return column->kind == COLUMN_NUMBER && feature <= INT_MAX ? (int)feature : -1;
        }
        feature += column_feature_count(column);
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

enum status schema_copy(struct schema *out, const struct schema *from)
{
    const size_t landmarks = from->map.landmark_count * schema_value_count(from);
    struct column *column = calloc(from->column_count + 1, sizeof *column);
    double *landmark = landmarks == 0 ? NULL : calloc(landmarks, sizeof *landmark);
    *out = (struct schema){0};
    if (column == NULL || (landmarks > 0 && landmark == NULL)) {
        free(column);
        free(landmark);
        return STATUS_NO_MEMORY;
    }
    if (from->column_count > 0) {
        memcpy(column, from->column, from->column_count * sizeof *column);
    }
    if (landmarks > 0) {
        memcpy(landmark, from->map.landmark, landmarks * sizeof *landmark);
    }
    *out = *from;
    out->column = column;
    out->map.landmark = landmark;
    return STATUS_OK;
}

void schema_free(struct schema *schema)
{
    if (schema != NULL) {
        free(schema->column);
        free(schema->map.landmark);
        *schema = (struct schema){0};
    }
}
