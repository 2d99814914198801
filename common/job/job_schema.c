/* The columns of a draft against each other: kinds, distinct names, what a missing value becomes.
 */

#include "base/decimal.h"
#include "job/draft.h"

#include <stdlib.h>
#include <string.h>

static const char FEATURES[] = "data.features";

static enum status refuse(const struct drafting *drafting, size_t index, const char *key,
                          const char *remedy)
{
    char path[CONFIG_PATH_BYTES];
    return config_refuse(drafting->config, drafting->why, draft_path(path, FEATURES, index, key),
                         "%s", remedy);
}

static bool has(const struct drafting *drafting, size_t index, const char *key)
{
    char path[CONFIG_PATH_BYTES];
    return config_has(drafting->config, draft_path(path, FEATURES, index, key));
}

static enum status build_number(const struct drafting *drafting, size_t index,
                                struct column *column)
{
    const struct draft_column *draft = &drafting->draft->data.feature[index];
    column->kind = COLUMN_NUMBER;
    column->transform = (enum column_transform)draft->transform;
    column->centre = draft->centre;
    column->half_width = draft->half_width;
    if (!has(drafting, index, "centre")) {
        return refuse(drafting, index, "centre",
                      "is missing: add the middle of the public range, or categories: [...]");
    }
    if (!has(drafting, index, "half_width")) {
        return refuse(drafting, index, "half_width",
                      "is missing: add half the length of the public range");
    }
    if (draft->missing[0] == '\0') {
        return STATUS_OK;
    }
    column->has_missing = true;
    if (decimal_double(&column->missing, draft->missing) != STATUS_OK) {
        return refuse(drafting, index, "missing",
                      "is not a number: write what a missing value becomes, such as 1.0");
    }
    if (draft->transform == TRANSFORM_LOG1P && column->missing <= -1) {
        return refuse(drafting, index, "missing", "must be above -1, as log1p is taken of it");
    }
    return STATUS_OK;
}

static enum status build_category(const struct drafting *drafting, size_t index,
                                  struct column *column)
{
    const struct draft_column *draft = &drafting->draft->data.feature[index];
    static const char *const number_key[] = {"centre", "half_width", "transform"};
    column->kind = COLUMN_CATEGORY;
    column->category_count = draft->category_count;
    for (size_t i = 0; i < sizeof number_key / sizeof number_key[0]; i++) {
        if (has(drafting, index, number_key[i])) {
            return refuse(drafting, index, number_key[i],
                          "is for a column of numbers: remove it, or the categories");
        }
    }
    if (draft->category_count < 2) {
        return refuse(drafting, index, "categories",
                      "holds one category: list every one there can be, at least two");
    }
    column->has_missing = draft->missing[0] != '\0';
    bool known = false;
    for (size_t i = 0; i < draft->category_count; i++) {
        memcpy(column->category[i], draft->category[i], SCHEMA_NAME_BYTES);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(column->category[i], column->category[j]) == 0) {
                return refuse(drafting, index, "categories", "lists one category twice");
            }
        }
        if (column->has_missing && strcmp(column->category[i], draft->missing) == 0) {
            column->missing = (double)i;
            known = true;
        }
    }
    if (column->has_missing && !known) {
        return refuse(drafting, index, "missing", "is none of the categories");
    }
    return STATUS_OK;
}

static enum status check_name(const struct drafting *drafting, size_t index)
{
    const struct schema *schema = &drafting->job->schema;
    const char *name = schema->column[index].name;
    if (strcmp(name, schema->label.name) == 0) {
        return refuse(drafting, index, "column",
                      "is the label, which cannot be learned from itself: remove the feature");
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(name, schema->column[i].name) == 0) {
            return refuse(drafting, index, "column", "is there twice: remove one");
        }
    }
    return STATUS_OK;
}

enum status job_schema_build(const struct drafting *drafting)
{
    const struct draft_data *data = &drafting->draft->data;
    struct schema *schema = &drafting->job->schema;
    enum status status = STATUS_OK;
    schema->label = data->label;
    if (strcmp(data->label.positive, data->label.negative) == 0) {
        return config_refuse(drafting->config, drafting->why, "data.label.negative",
                             "is the same as positive: the two classes need different texts");
    }
    schema->column = calloc(data->feature_count, sizeof *schema->column);
    if (schema->column == NULL) {
        return STATUS_NO_MEMORY;
    }
    schema->column_count = data->feature_count;
    for (size_t i = 0; i < data->feature_count && status == STATUS_OK; i++) {
        struct column *column = &schema->column[i];
        memcpy(column->name, data->feature[i].name, sizeof column->name);
        status = check_name(drafting, i);
        if (status == STATUS_OK) {
            status = data->feature[i].category_count > 0 ? build_category(drafting, i, column)
                                                         : build_number(drafting, i, column);
        }
    }
    return status;
}
