/* The data of a draft against itself: the label's kind, columns with distinct names, what a missing
 * value becomes, a series and its lags. Everything that schema_check refuses is refused here first,
 * with its place. */

#include "base/decimal.h"
#include "base/near.h"
#include "job/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REMEDY_BYTES = 128 };

static const char FEATURES[] = "data.features";

static enum status refuse(const struct drafting *drafting, size_t index, const char *key,
                          const char *remedy)
{
    char path[CONFIG_PATH_BYTES];
    return config_refuse(drafting->config, drafting->why, draft_path(path, FEATURES, index, key),
                         "%s", remedy);
}

/* The sentence about a text that is none of a list: the nearest of the list, or what else to do. */
static const char *listed_remedy(char out[static REMEDY_BYTES], const char *what, const char *text,
                                 char (*list)[SCHEMA_NAME_BYTES], size_t count, const char *remedy)
{
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){text, strlen(text)});
    for (size_t i = 0; i < count; i++) {
        near_offer(&near, list[i]);
    }
    (void)snprintf(out, REMEDY_BYTES, "is none of the %s%s", what,
                   near_name(&near) == NULL ? remedy : near_hint(hint, &near));
    return out;
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
    if (has(drafting, index, "other")) {
        return refuse(drafting, index, "other",
                      "is for a column of categories: write missing, which a text that is no "
                      "number becomes too");
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

static bool find_text(size_t *index, char (*list)[SCHEMA_NAME_BYTES], size_t count,
                      const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], text) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
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
    for (size_t i = 0; i < draft->category_count; i++) {
        memcpy(column->category[i], draft->category[i], SCHEMA_NAME_BYTES);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(column->category[i], column->category[j]) == 0) {
                return refuse(drafting, index, "categories", "lists one category twice");
            }
        }
    }
    char remedy[REMEDY_BYTES];
    size_t missing = 0;
    column->has_missing = draft->missing[0] != '\0';
    if (column->has_missing &&
        !find_text(&missing, draft->category, draft->category_count, draft->missing)) {
        return refuse(drafting, index, "missing",
                      listed_remedy(remedy, "categories", draft->missing, draft->category,
                                    draft->category_count, ""));
    }
    column->missing = (double)missing;
    column->has_other = draft->other[0] != '\0';
    if (column->has_other &&
        !find_text(&column->other, draft->category, draft->category_count, draft->other)) {
        return refuse(
            drafting, index, "other",
            listed_remedy(
                remedy, "categories", draft->other, draft->category, draft->category_count,
                ": name one of them, or leave the key out: another text then makes the column's "
                "features 0"));
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
    if (schema_is_series(schema) && strncmp(name, "lag_", 4) == 0) {
        return refuse(drafting, index, "column",
                      "has a name like a series' own features lag_1, lag_2: rename the column");
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(name, schema->column[i].name) == 0) {
            return refuse(drafting, index, "column", "is there twice: remove one");
        }
    }
    return STATUS_OK;
}

static enum status refuse_label(const struct drafting *drafting, const char *key,
                                const char *remedy)
{
    char path[CONFIG_PATH_BYTES];
    (void)snprintf(path, sizeof path, "data.label%s%s", key[0] != '\0' ? "." : "", key);
    return config_refuse(drafting->config, drafting->why, path, "%s", remedy);
}

static bool label_has(const struct drafting *drafting, const char *key)
{
    char path[CONFIG_PATH_BYTES];
    (void)snprintf(path, sizeof path, "data.label.%s", key);
    return config_has(drafting->config, path);
}

static enum status build_label_sign(const struct drafting *drafting, struct label *label)
{
    const struct draft_label *draft = &drafting->draft->data.label;
    if (!label_has(drafting, "positive")) {
        return refuse_label(drafting, "",
                            "has no \"positive\": add it, for example `positive: \"1\"`; a number "
                            "takes centre and half_width instead, three or more classes take "
                            "classes");
    }
    const bool has_negative = label_has(drafting, "negative");
    const char *negative = has_negative ? draft->negative : SCHEMA_REST;
    if (strcmp(draft->positive, negative) == 0) {
        return refuse_label(drafting, has_negative ? "negative" : "positive",
                            has_negative
                                ? "is the same as positive: the two classes need different texts"
                                : "is what the other class is called unless it has a name: add "
                                  "negative");
    }
    memcpy(label->positive, draft->positive, sizeof label->positive);
    (void)snprintf(label->negative, sizeof label->negative, "%s", negative);
    return STATUS_OK;
}

static enum status build_label_number(const struct drafting *drafting, struct label *label)
{
    label->kind = LABEL_NUMBER;
    label->centre = drafting->draft->data.label.centre;
    label->half_width = drafting->draft->data.label.half_width;
    if (!label_has(drafting, "centre")) {
        return refuse_label(drafting, "centre",
                            "is missing: add the middle of the label's public range");
    }
    if (!label_has(drafting, "half_width")) {
        return refuse_label(drafting, "half_width",
                            "is missing: add half the length of the label's public range");
    }
    return STATUS_OK;
}

static enum status build_label_classes(const struct drafting *drafting, struct label *label)
{
    const struct draft_label *draft = &drafting->draft->data.label;
    label->kind = LABEL_CLASSES;
    label->class_count = draft->class_count;
    if (draft->class_count < 3) {
        return refuse_label(drafting, "classes",
                            "holds fewer than three: list every class there can be, or write "
                            "positive and negative for two");
    }
    for (size_t i = 0; i < draft->class_count; i++) {
        memcpy(label->class_name[i], draft->class_name[i], SCHEMA_NAME_BYTES);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(label->class_name[i], label->class_name[j]) == 0) {
                return refuse_label(drafting, "classes", "lists one class twice");
            }
        }
    }
    label->has_other = label_has(drafting, "other");
    if (label->has_other &&
        !find_text(&label->other, draft->class_name, draft->class_count, draft->other)) {
        char remedy[REMEDY_BYTES];
        return refuse_label(drafting, "other",
                            listed_remedy(remedy, "classes", draft->other, draft->class_name,
                                          draft->class_count,
                                          ": name one, or leave it out for the last"));
    }
    return STATUS_OK;
}

/* A key of another kind of label would be a wish that nobody hears. */
static enum status check_label_keys(const struct drafting *drafting)
{
    static const char *const other[] = {"positive", "negative", "centre", "half_width"};
    const bool has_classes = label_has(drafting, "classes");
    const bool has_number = label_has(drafting, "centre") || label_has(drafting, "half_width");
    if (label_has(drafting, "other") && !has_classes) {
        return refuse_label(drafting, "other",
                            has_number
                                ? "is for a label of classes: a text that is no number is the "
                                  "centre"
                                : "is for three or more classes: of two, every text but the "
                                  "positive one is the negative class");
    }
    for (size_t i = 0; has_classes && i < sizeof other / sizeof other[0]; i++) {
        if (label_has(drafting, other[i])) {
            return refuse_label(drafting, other[i],
                                "does not go with classes, which name all there are: remove it");
        }
    }
    for (size_t i = 0; has_number && i < 2; i++) {
        if (label_has(drafting, other[i])) {
            return refuse_label(drafting, other[i],
                                "is for a label of two classes: remove it, or centre and "
                                "half_width, which are for a number");
        }
    }
    return STATUS_OK;
}

static enum status build_label(const struct drafting *drafting, struct label *label)
{
    const struct draft_data *data = &drafting->draft->data;
    const bool is_series = config_has(drafting->config, "data.series");
    memcpy(label->name, is_series ? data->series.name : data->label.name, sizeof label->name);
    if (label->name[0] == '\0') {
        return refuse_label(drafting, "", "has no \"column\": add it, for example `column: death`");
    }
    if (is_series && label_has(drafting, "column") &&
        strcmp(data->label.name, data->series.name) != 0) {
        return refuse_label(drafting, "column",
                            "is not the series' column, which is the label: remove it");
    }
    const enum status status = check_label_keys(drafting);
    if (status != STATUS_OK) {
        return status;
    }
    if (label_has(drafting, "classes")) {
        return build_label_classes(drafting, label);
    }
    return label_has(drafting, "centre") || label_has(drafting, "half_width")
               ? build_label_number(drafting, label)
               : build_label_sign(drafting, label);
}

static enum status build_series(const struct drafting *drafting, struct schema *schema)
{
    const struct draft_series *draft = &drafting->draft->data.series;
    if (draft->lag_count > 0 && schema->label.kind != LABEL_NUMBER) {
        return refuse_label(drafting, "",
                            "is not a number, which a series needs: write centre and half_width");
    }
    for (size_t i = 0; i < draft->lag_count; i++) {
        if (i > 0 && draft->lag[i] <= draft->lag[i - 1]) {
            return config_refuse(drafting->config, drafting->why, "data.series.lags",
                                 "do not rise: list each lag once, the shortest first");
        }
        schema->lag[i] = draft->lag[i];
    }
    schema->lag_count = draft->lag_count;
    return STATUS_OK;
}

static enum status build_columns(const struct drafting *drafting, struct schema *schema)
{
    const struct draft_data *data = &drafting->draft->data;
    enum status status = STATUS_OK;
    if (data->feature_count == 0 && !schema_is_series(schema)) {
        return config_refuse(drafting->config, drafting->why, "data",
                             "has no \"features\": add it, for example `features: [{column: age, "
                             "centre: 50, half_width: 25}]`");
    }
    schema->column = calloc(data->feature_count + 1, sizeof *schema->column);
    if (schema->column == NULL) {
        return STATUS_NO_MEMORY;
    }
    schema->column_count = data->feature_count;
    for (size_t i = 0; i < data->feature_count && status == STATUS_OK; i++) {
        struct column *column = &schema->column[i];
        memcpy(column->name, data->feature[i].name, sizeof column->name);
        column->has_indicator = data->feature[i].missing_indicator;
        status = check_name(drafting, i);
        if (status == STATUS_OK) {
            status = data->feature[i].category_count > 0 ? build_category(drafting, i, column)
                                                         : build_number(drafting, i, column);
        }
    }
    return status;
}

enum status job_schema_build(const struct drafting *drafting)
{
    struct schema *schema = &drafting->job->schema;
    enum status status = build_label(drafting, &schema->label);
    if (status == STATUS_OK) {
        status = build_series(drafting, schema);
    }
    return status == STATUS_OK ? build_columns(drafting, schema) : status;
}
