#include "learn/schema.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t column_feature_count(const struct column *column)
{
    return column->kind == COLUMN_CATEGORY && column->category_count > 2 ? column->category_count
                                                                         : 1;
}

size_t schema_feature_count(const struct schema *schema)
{
    size_t count = 1;
    for (size_t i = 0; i < schema->column_count; i++) {
        count += column_feature_count(&schema->column[i]);
    }
    return count;
}

double schema_scale(size_t feature_count)
{
    CHECK(feature_count >= 1);
    /* The square root and the division err by at most one part in 2^53 each; four times DBL_EPSILON
     * is sixteen such parts. */
    return (1 - 4 * DBL_EPSILON) / sqrt((double)feature_count);
}

static bool name_is_whole(const char *name)
{
    return name[0] != '\0' && memchr(name, '\0', SCHEMA_NAME_BYTES) != NULL;
}

static enum status check_number(const struct column *column, struct why *why)
{
    if (!isfinite(column->centre) || !isfinite(column->half_width) || column->half_width <= 0) {
        why_set(why, "column %s: centre must be finite and half_width finite and above 0",
                column->name);
        return STATUS_INVALID;
    }
    if (column->has_missing && (!isfinite(column->missing) ||
                                (column->transform == TRANSFORM_LOG1P && column->missing <= -1))) {
        why_set(why, "column %s: missing must be a number that the transform takes", column->name);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status check_categories(const struct column *column, struct why *why)
{
    if (column->category_count < 2 || column->category_count > SCHEMA_CATEGORIES_MAX) {
        why_set(why, "column %s: give 2 to %d categories", column->name, SCHEMA_CATEGORIES_MAX);
        return STATUS_INVALID;
    }
    for (size_t i = 0; i < column->category_count; i++) {
        if (!name_is_whole(column->category[i])) {
            why_set(why, "column %s: a category is empty or too long", column->name);
            return STATUS_INVALID;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(column->category[i], column->category[j]) == 0) {
                why_set(why, "column %s: category %s stands there twice", column->name,
                        column->category[i]);
                return STATUS_INVALID;
            }
        }
    }
    if (column->has_missing &&
        !(column->missing >= 0 && column->missing < (double)column->category_count &&
          column->missing == floor(column->missing))) {
        why_set(why, "column %s: missing must be the index of a category", column->name);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status check_label(const struct label *label, struct why *why)
{
    if (!name_is_whole(label->name) || !name_is_whole(label->positive) ||
        !name_is_whole(label->negative)) {
        why_set(why, "the label needs a column's name and the texts of both classes");
        return STATUS_INVALID;
    }
    if (strcmp(label->positive, label->negative) == 0) {
        why_set(why, "label %s: its two classes have the same text", label->name);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

enum status schema_check(const struct schema *schema, struct why *why)
{
    enum status status = check_label(&schema->label, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (schema->column_count < 1 || schema->column_count > SCHEMA_COLUMNS_MAX) {
        why_set(why, "a schema has 1 to %d columns", SCHEMA_COLUMNS_MAX);
        return STATUS_INVALID;
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        if (!name_is_whole(column->name)) {
            why_set(why, "column number %zu has an empty or too long name", i + 1);
            return STATUS_INVALID;
        }
        if (strcmp(column->name, schema->label.name) == 0) {
            why_set(why, "column %s is the label: it cannot be a feature too", column->name);
            return STATUS_INVALID;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(column->name, schema->column[j].name) == 0) {
                why_set(why, "column %s stands there twice", column->name);
                return STATUS_INVALID;
            }
        }
        status = column->kind == COLUMN_NUMBER ? check_number(column, why)
                                               : check_categories(column, why);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

enum status schema_copy(struct schema *out, const struct schema *from)
{
    *out = (struct schema){.label = from->label};
    if (from->column_count > 0) {
        out->column = calloc(from->column_count, sizeof *out->column);
        if (out->column == NULL) {
            *out = (struct schema){0};
            return STATUS_NO_MEMORY;
        }
        memcpy(out->column, from->column, from->column_count * sizeof *out->column);
    }
    out->column_count = from->column_count;
    return STATUS_OK;
}

void schema_free(struct schema *schema)
{
    if (schema != NULL) {
        free(schema->column);
        *schema = (struct schema){0};
    }
}
