/* What a schema may be. Job texts are refused earlier and with their place (common/job); this is
 * the last word, and the only one for model files. */

#include "learn/blocks.h"
#include "learn/features.h"
#include "learn/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool name_is_whole(const char *name)
{
    return name[0] != '\0' && memchr(name, '\0', SCHEMA_NAME_BYTES) != NULL;
}

static enum status check_number(const struct column *column, struct why *why)
{
    if (!isfinite(column->centre) || !isfinite(column->half_width) || column->half_width <= 0) {
        return why_refuse(why, "column %s: centre must be finite and half_width finite and above 0",
                          column->name);
    }
    if (column->has_other) {
        return why_refuse(why, "column %s: other is for a column of categories", column->name);
    }
    if (column->has_missing && (!isfinite(column->missing) ||
                                (column->transform == TRANSFORM_LOG1P && column->missing <= -1))) {
        return why_refuse(why, "column %s: missing must be a number that the transform takes",
                          column->name);
    }
    return STATUS_OK;
}

/* Answers whether all texts are whole and no two are the same; why calls them `what`. */
static enum status check_texts(const char (*text)[SCHEMA_NAME_BYTES], size_t count,
                               const char *owner, const char *what, struct why *why)
{
    for (size_t i = 0; i < count; i++) {
        if (!name_is_whole(text[i])) {
            return why_refuse(why, "%s: a %s is empty or too long", owner, what);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(text[i], text[j]) == 0) {
                return why_refuse(why, "%s: %s %s stands there twice", owner, what, text[i]);
            }
        }
    }
    return STATUS_OK;
}

static enum status check_categories(const struct column *column, struct why *why)
{
    char owner[SCHEMA_NAME_BYTES + 16];
    (void)snprintf(owner, sizeof owner, "column %s", column->name);
    if (column->category_count < 2 || column->category_count > SCHEMA_CATEGORIES_MAX) {
        return why_refuse(why, "column %s: give 2 to %d categories", column->name,
                          SCHEMA_CATEGORIES_MAX);
    }
    const enum status status =
        check_texts(column->category, column->category_count, owner, "category", why);
    if (status == STATUS_OK && column->has_missing &&
        !(column->missing >= 0 && column->missing < (double)column->category_count &&
          column->missing == floor(column->missing))) {
        return why_refuse(why, "column %s: missing must be the index of a category", column->name);
    }
    if (status == STATUS_OK && column->has_other && column->other >= column->category_count) {
        return why_refuse(why, "column %s: other must be the index of a category", column->name);
    }
    return status;
}

static enum status check_sign(const struct label *label, struct why *why)
{
    if (!name_is_whole(label->positive) || !name_is_whole(label->negative)) {
        return why_refuse(why, "the label needs a column's name and the texts of both classes");
    }
    if (strcmp(label->positive, label->negative) == 0) {
        return why_refuse(why, "label %s: its two classes have the same text", label->name);
    }
    return STATUS_OK;
}

static enum status check_label(const struct label *label, struct why *why)
{
    char owner[SCHEMA_NAME_BYTES + 16];
    if (!name_is_whole(label->name)) {
        return why_refuse(why, "the label needs a column's name");
    }
    switch (label->kind) {
    case LABEL_SIGN:
        return check_sign(label, why);
    case LABEL_NUMBER:
        if (!isfinite(label->centre) || !isfinite(label->half_width) || label->half_width <= 0) {
            return why_refuse(why,
                              "label %s: centre must be finite and half_width finite and above 0",
                              label->name);
        }
        return STATUS_OK;
    case LABEL_CLASSES:
        if (label->class_count < 3 || label->class_count > SCHEMA_CATEGORIES_MAX) {
            return why_refuse(why,
                              "label %s: give 3 to %d classes, or positive and negative for two",
                              label->name, SCHEMA_CATEGORIES_MAX);
        }
        if (label->has_other && label->other >= label->class_count) {
            return why_refuse(why, "label %s: other must be the index of a class", label->name);
        }
        (void)snprintf(owner, sizeof owner, "label %s", label->name);
        return check_texts(label->class_name, label->class_count, owner, "class", why);
    }
    return why_refuse(why, "label %s: it is of no known kind", label->name);
}

static enum status check_lags(const struct schema *schema, struct why *why)
{
    size_t before = 0;
    if (schema->lag_count == 0) {
        return STATUS_OK;
    }
    if (schema->label.kind != LABEL_NUMBER) {
        return why_refuse(why, "label %s: a series needs centre and half_width",
                          schema->label.name);
    }
    if (schema->lag_count > SCHEMA_LAGS_MAX) {
        return why_refuse(why, "a series has at most %d lags", SCHEMA_LAGS_MAX);
    }
    for (size_t i = 0; i < schema->lag_count; i++) {
        if (schema->lag[i] <= before || schema->lag[i] > SCHEMA_LAG_MAX) {
            return why_refuse(why, "lags must rise, from 1 to at most %d", SCHEMA_LAG_MAX);
        }
        before = schema->lag[i];
    }
    return STATUS_OK;
}

static enum status check_column_name(const struct schema *schema, size_t index, struct why *why)
{
    const char *name = schema->column[index].name;
    if (!name_is_whole(name)) {
        return why_refuse(why, "column number %zu has an empty or too long name", index + 1);
    }
    if (strcmp(name, schema->label.name) == 0) {
        return why_refuse(why, "column %s is the label: it cannot be a feature too", name);
    }
    for (size_t j = 0; j < index; j++) {
        if (strcmp(name, schema->column[j].name) == 0) {
            return why_refuse(why, "column %s stands there twice", name);
        }
    }
    if (schema_is_series(schema) && strncmp(name, "lag_", 4) == 0) {
        return why_refuse(why, "column %s: names that begin with lag_ are a series' own features",
                          name);
    }
    return STATUS_OK;
}

static enum status check_fourier(const struct schema *schema, struct why *why)
{
    const struct feature_map *map = &schema->map;
    if (map->feature_count < 2 || map->feature_count > SCHEMA_MAP_FEATURES_MAX ||
        map->feature_count % 2 != 0) {
        return why_refuse(why, "map: features must be even, from 2 to %d", SCHEMA_MAP_FEATURES_MAX);
    }
    if (map->feature_count / 2 > SCHEMA_MAP_NUMBERS_MAX / schema_plain_count(schema)) {
        return why_refuse(why, "map: features times columns is too large: lower features");
    }
    if (map->seed >= UINT64_C(1) << 53) {
        return why_refuse(why, "map: the seed must be below 2^53");
    }
    return STATUS_OK;
}

static enum status check_landmark(const struct schema *schema, size_t index, struct why *why)
{
    const double *value = schema->map.landmark + index * schema_value_count(schema);
    for (size_t i = 0; i < schema_value_count(schema); i++) {
        const struct column *column =
            i < schema->lag_count ? NULL : &schema->column[i - schema->lag_count];
        bool good = isfinite(value[i]);
        if (column != NULL && column->kind == COLUMN_CATEGORY) {
            good = value[i] >= 0 && value[i] < (double)column->category_count &&
                   value[i] == floor(value[i]);
        }
        if (!good) {
            return why_refuse(why, "map: landmark %zu, value %zu is not one the column can have",
                              index + 1, i + 1);
        }
    }
    return STATUS_OK;
}

static enum status check_map(const struct schema *schema, struct why *why)
{
    const struct feature_map *map = &schema->map;
    enum status status = STATUS_OK;
    if (map->kind == MAP_NONE) {
        return STATUS_OK;
    }
    if (map->kind == MAP_PRODUCTS) {
        return schema_plain_count(schema) - 1 <= SCHEMA_PRODUCTS_COLUMNS_MAX &&
                       !schema_is_series(schema)
                   ? STATUS_OK
                   : why_refuse(why, "map: products of %d columns at most, and of no series",
                                SCHEMA_PRODUCTS_COLUMNS_MAX);
    }
    if (map->kernel.kind != KERNEL_GAUSSIAN && map->kernel.kind != KERNEL_LAPLACIAN) {
        return why_refuse(why, "map: its kernel must be gaussian or laplacian");
    }
    status = kernel_check(map->kernel, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (map->kind == MAP_FOURIER) {
        return check_fourier(schema, why);
    }
    if (map->landmark_count < 1 || map->landmark_count > SCHEMA_LANDMARKS_MAX) {
        return why_refuse(why, "map: give 1 to %d landmarks", SCHEMA_LANDMARKS_MAX);
    }
    for (size_t i = 0; i < map->landmark_count && status == STATUS_OK; i++) {
        status = check_landmark(schema, i, why);
    }
    if (status == STATUS_OK) {
        /* Whether the landmarks are apart only their factorisation tells. */
        struct features *features = NULL;
        status = features_new(&features, schema, why);
        features_free(features);
    }
    return status;
}

enum status schema_check(const struct schema *schema, struct why *why)
{
    enum status status = check_label(&schema->label, why);
    if (status == STATUS_OK) {
        status = check_lags(schema, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (schema->column_count > SCHEMA_COLUMNS_MAX || schema_value_count(schema) < 1) {
        return why_refuse(why, "a schema has 1 to %d columns", SCHEMA_COLUMNS_MAX);
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        status = check_column_name(schema, i, why);
        if (status == STATUS_OK) {
            status = column->kind == COLUMN_NUMBER ? check_number(column, why)
                                                   : check_categories(column, why);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < block_count(schema) && status == STATUS_OK; i++) {
        const struct schema one = block_schema(schema, i);
        status = check_map(&one, why);
    }
    return status;
}
