/* The schema part of a model's file. As strict as the rest of it: a key too many is as wrong as one
 * too few. A failed allocation anywhere makes the whole object NULL, never a shorter list. */

#include "learn/model_private.h"
#include "json/json_text.h"

#include <stdlib.h>
#include <string.h>

bool model_take_text(char *out, size_t room, const char *text)
{
    const size_t size = strlen(text);
    if (size >= room) {
        return false;
    }
    memcpy(out, text, size);
    return true;
}

static json_t *texts_to_json(const char (*text)[SCHEMA_NAME_BYTES], size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++) {
        json_add(&out, json_string(text[i]));
    }
    return out;
}

static json_t *column_to_json(const struct column *column)
{
    json_t *out =
        column->kind == COLUMN_NUMBER
            ? json_pack("{s:s, s:s, s:s, s:f, s:f}", "name", column->name, "kind", "number",
                        "transform", column->transform == TRANSFORM_LOG1P ? "log1p" : "none",
                        "centre", column->centre, "half_width", column->half_width)
            : json_pack("{s:s, s:s, s:o}", "name", column->name, "kind", "category", "categories",
                        texts_to_json(column->category, column->category_count));
    if (column->has_missing) {
        json_put(&out, "missing", json_real(column->missing));
    }
    if (column->has_other) {
        json_put(&out, "other", json_integer((json_int_t)column->other));
    }
    if (column->has_indicator) {
        json_put(&out, "missing_indicator", json_true());
    }
    return out;
}

static json_t *columns_to_json(const struct schema *schema)
{
    json_t *out = json_array();
    for (size_t i = 0; i < schema->column_count; i++) {
        json_add(&out, column_to_json(&schema->column[i]));
    }
    return out;
}

static json_t *label_to_json(const struct label *label)
{
    switch (label->kind) {
    case LABEL_SIGN:
        break;
    case LABEL_NUMBER:
        return json_pack("{s:s, s:f, s:f}", "name", label->name, "centre", label->centre,
                         "half_width", label->half_width);
    case LABEL_CLASSES:
        return json_pack("{s:s, s:o, s:o*}", "name", label->name, "classes",
                         texts_to_json(label->class_name, label->class_count), "other",
                         label->has_other ? json_integer((json_int_t)label->other) : NULL);
    }
    return json_pack("{s:s, s:s, s:s}", "name", label->name, "positive", label->positive,
                     "negative", label->negative);
}

static json_t *lags_to_json(const struct schema *schema)
{
    json_t *out = json_array();
    for (size_t i = 0; i < schema->lag_count; i++) {
        json_add(&out, json_integer((json_int_t)schema->lag[i]));
    }
    return out;
}

static json_t *numbers_to_json(const double *number, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++) {
        json_add(&out, json_real(number[i]));
    }
    return out;
}

static json_t *landmarks_to_json(const struct schema *schema)
{
    const size_t n = schema_value_count(schema);
    json_t *out = json_array();
    for (size_t i = 0; i < schema->map.landmark_count; i++) {
        json_add(&out, numbers_to_json(schema->map.landmark + i * n, n));
    }
    return out;
}

static json_t *map_to_json(const struct schema *schema)
{
    const struct feature_map *map = &schema->map;
    if (map->kind == MAP_PRODUCTS) {
        return json_pack("{s:s}", "kind", map_kind_name(map->kind));
    }
    if (map->kind == MAP_FOURIER) {
        return json_pack("{s:s, s:s, s:f, s:I, s:I}", "kind", map_kind_name(map->kind), "kernel",
                         kernel_name(map->kernel.kind), "gamma", map->kernel.rate, "features",
                         (json_int_t)map->feature_count, "seed", (json_int_t)map->seed);
    }
    return json_pack("{s:s, s:s, s:f, s:o}", "kind", map_kind_name(map->kind), "kernel",
                     kernel_name(map->kernel.kind), "gamma", map->kernel.rate, "landmarks",
                     landmarks_to_json(schema));
}

json_t *model_schema_to_json(const struct schema *schema)
{
    json_t *out = json_pack("{s:o, s:o}", "columns", columns_to_json(schema), "label",
                            label_to_json(&schema->label));
    if (schema_is_series(schema)) {
        json_put(&out, "lags", lags_to_json(schema));
    }
    if (schema->map.kind != MAP_NONE) {
        json_put(&out, "map", map_to_json(schema));
    }
    return out;
}

static bool take_texts(char (*out)[SCHEMA_NAME_BYTES], size_t *out_count, const json_t *texts)
{
    const size_t count = json_array_size(texts);
    if (!json_is_array(texts) || count > SCHEMA_CATEGORIES_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        if (text == NULL || !model_take_text(out[i], SCHEMA_NAME_BYTES, text)) {
            return false;
        }
    }
    *out_count = count;
    return true;
}

/* An index; schema_check says whether it is one of its list. */
static bool take_index(size_t *out, bool *has, const json_t *from)
{
    const json_int_t index = json_integer_value(from);
    *has = from != NULL;
    *out = index > 0 ? (size_t)index : 0;
    return from == NULL || (json_is_integer(from) && index >= 0);
}

static bool take_column(struct column *column, json_t *from)
{
    const char *name = NULL;
    const char *kind = NULL;
    const char *transform = NULL;
    json_t *categories = NULL;
    json_t *missing = NULL;
    json_t *other = NULL;
    int indicator = 0;
    if (json_unpack(from, "{s:s, s:s, s?o, s?o, s?b}", "name", &name, "kind", &kind, "missing",
                    &missing, "other", &other, "missing_indicator", &indicator) != 0 ||
        !model_take_text(column->name, SCHEMA_NAME_BYTES, name) ||
        (missing != NULL && !json_is_number(missing)) ||
        !take_index(&column->other, &column->has_other, other)) {
        return false;
    }
    column->has_missing = missing != NULL;
    column->missing = missing != NULL ? json_number_value(missing) : 0;
    column->has_indicator = indicator != 0;
    if (strcmp(kind, "category") == 0) {
        column->kind = COLUMN_CATEGORY;
        return json_unpack(from, "{s:s, s:s, s?o, s?o, s?b, s:o !}", "name", &name, "kind", &kind,
                           "missing", &missing, "other", &other, "missing_indicator", &indicator,
                           "categories", &categories) == 0 &&
               take_texts(column->category, &column->category_count, categories);
    }
    column->kind = COLUMN_NUMBER;
    if (strcmp(kind, "number") != 0 ||
        json_unpack(from, "{s:s, s:s, s?o, s?b, s:s, s:F, s:F !}", "name", &name, "kind", &kind,
                    "missing", &missing, "missing_indicator", &indicator, "transform", &transform,
                    "centre", &column->centre, "half_width", &column->half_width) != 0) {
        return false;
    }
    column->transform = strcmp(transform, "log1p") == 0 ? TRANSFORM_LOG1P : TRANSFORM_NONE;
    return column->transform == TRANSFORM_LOG1P || strcmp(transform, "none") == 0;
}

static bool take_label(struct label *label, json_t *from)
{
    const char *name = NULL;
    const char *positive = NULL;
    const char *negative = NULL;
    json_t *classes = NULL;
    json_t *other = NULL;
    if (json_unpack(from, "{s:s}", "name", &name) != 0 ||
        !model_take_text(label->name, SCHEMA_NAME_BYTES, name)) {
        return false;
    }
    if (json_object_get(from, "classes") != NULL) {
        label->kind = LABEL_CLASSES;
        return json_unpack(from, "{s:s, s:o, s?o !}", "name", &name, "classes", &classes, "other",
                           &other) == 0 &&
               take_index(&label->other, &label->has_other, other) &&
               take_texts(label->class_name, &label->class_count, classes);
    }
    if (json_object_get(from, "centre") != NULL) {
        label->kind = LABEL_NUMBER;
        return json_unpack(from, "{s:s, s:F, s:F !}", "name", &name, "centre", &label->centre,
                           "half_width", &label->half_width) == 0;
    }
    label->kind = LABEL_SIGN;
    return json_unpack(from, "{s:s, s:s, s:s !}", "name", &name, "positive", &positive, "negative",
                       &negative) == 0 &&
           model_take_text(label->positive, SCHEMA_NAME_BYTES, positive) &&
           model_take_text(label->negative, SCHEMA_NAME_BYTES, negative);
}

static bool take_lags(struct schema *schema, const json_t *lags)
{
    const size_t count = json_array_size(lags);
    if (!json_is_array(lags) || count < 1 || count > SCHEMA_LAGS_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *lag = json_array_get(lags, i);
        const json_int_t days = json_integer_value(lag);
        if (!json_is_integer(lag) || days < 1 || days > SCHEMA_LAG_MAX) {
            return false;
        }
        schema->lag[i] = (size_t)days;
    }
    schema->lag_count = count;
    return true;
}

static bool take_landmark(double *out, size_t count, const json_t *values)
{
    if (!json_is_array(values) || json_array_size(values) != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        if (!json_is_number(value)) {
            return false;
        }
        out[i] = json_number_value(value);
    }
    return true;
}

/* The columns and lags are already there: they say how wide a landmark is. */
static enum status take_landmarks(struct schema *schema, const json_t *landmarks)
{
    const size_t n = schema_value_count(schema);
    const size_t count = json_array_size(landmarks);
    if (!json_is_array(landmarks) || count < 1 || count > SCHEMA_LANDMARKS_MAX) {
        return STATUS_INVALID;
    }
    schema->map.landmark = calloc(count * n + 1, sizeof *schema->map.landmark);
    if (schema->map.landmark == NULL) {
        return STATUS_NO_MEMORY;
    }
    schema->map.landmark_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!take_landmark(schema->map.landmark + i * n, n, json_array_get(landmarks, i))) {
            return STATUS_INVALID;
        }
    }
    return STATUS_OK;
}

static enum status take_map(struct schema *schema, json_t *from)
{
    struct feature_map *map = &schema->map;
    const char *kind = NULL;
    const char *kernel = NULL;
    json_int_t feature_count = 0;
    json_int_t seed = 0;
    json_t *landmarks = NULL;
    if (json_unpack(from, "{s:s !}", "kind", &kind) == 0 &&
        strcmp(kind, map_kind_name(MAP_PRODUCTS)) == 0) {
        map->kind = MAP_PRODUCTS;
        return STATUS_OK;
    }
    if (json_unpack(from, "{s:s, s:s, s:F}", "kind", &kind, "kernel", &kernel, "gamma",
                    &map->kernel.rate) != 0 ||
        kernel_from_name(&map->kernel.kind, kernel) != STATUS_OK) {
        return STATUS_INVALID;
    }
    if (strcmp(kind, map_kind_name(MAP_NYSTROM)) == 0) {
        map->kind = MAP_NYSTROM;
        return json_unpack(from, "{s:s, s:s, s:F, s:o !}", "kind", &kind, "kernel", &kernel,
                           "gamma", &map->kernel.rate, "landmarks", &landmarks) == 0
                   ? take_landmarks(schema, landmarks)
                   : STATUS_INVALID;
    }
    if (strcmp(kind, map_kind_name(MAP_FOURIER)) != 0 ||
        json_unpack(from, "{s:s, s:s, s:F, s:I, s:I !}", "kind", &kind, "kernel", &kernel, "gamma",
                    &map->kernel.rate, "features", &feature_count, "seed", &seed) != 0 ||
        feature_count < 0 || seed < 0) {
        return STATUS_INVALID;
    }
    map->kind = MAP_FOURIER;
    map->feature_count = (size_t)feature_count;
    map->seed = (uint64_t)seed;
    return STATUS_OK;
}

static enum status refuse(const char *name, const char *what, struct why *why)
{
    return why_refuse(why, "%s: %s of its schema is not as this version writes one", name, what);
}

static enum status take_columns(struct schema *schema, const json_t *columns, const char *name,
                                struct why *why)
{
    const size_t count = json_array_size(columns);
    if (!json_is_array(columns) || count > SCHEMA_COLUMNS_MAX) {
        return refuse(name, "the list of columns", why);
    }
    schema->column = calloc(count + 1, sizeof *schema->column);
    if (schema->column == NULL) {
        return STATUS_NO_MEMORY;
    }
    schema->column_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!take_column(&schema->column[i], json_array_get(columns, i))) {
            return why_refuse(
                why, "%s: column number %zu of its schema is not as this version writes one", name,
                i + 1);
        }
    }
    return STATUS_OK;
}

enum status model_schema_from_json(struct schema *schema, json_t *from, const char *name,
                                   struct why *why)
{
    json_t *columns = NULL;
    json_t *label = NULL;
    json_t *lags = NULL;
    json_t *map = NULL;
    if (json_unpack(from, "{s:o, s:o, s?o, s?o !}", "columns", &columns, "label", &label, "lags",
                    &lags, "map", &map) != 0) {
        return why_refuse(why, "%s: its schema is not as this version writes one", name);
    }
    if (!take_label(&schema->label, label)) {
        return refuse(name, "the label", why);
    }
    if (lags != NULL && !take_lags(schema, lags)) {
        return refuse(name, "the lags", why);
    }
    enum status status = take_columns(schema, columns, name, why);
    if (status == STATUS_OK && map != NULL) {
        status = take_map(schema, map);
        if (status == STATUS_INVALID) {
            return refuse(name, "the map", why);
        }
    }
    return status == STATUS_OK ? schema_check(schema, why) : status;
}
