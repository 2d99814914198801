/* The one file of this folder that knows JSON. Reading is strict both ways: a key too many is as
 * wrong as one too few, since either means that the file is not what its reader takes it for. */

#include "learn/model.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "hedgerow model";
enum { FORMAT_VERSION = 1 };

static const char calibrated[] = "probability = 1/(1 + exp(-f)), f = sum of weight * feature";
static const char uncalibrated[] =
    "1/(1 + exp(-f)), f = sum of weight * feature: after a hinge fit a monotone score, not a "
    "calibrated probability";

static json_t *column_to_json(const struct column *column)
{
    json_t *out = NULL;
    if (column->kind == COLUMN_NUMBER) {
        out = json_pack("{s:s, s:s, s:s, s:f, s:f}", "name", column->name, "kind", "number",
                        "transform", column->transform == TRANSFORM_LOG1P ? "log1p" : "none",
                        "centre", column->centre, "half_width", column->half_width);
    } else {
        json_t *categories = json_array();
        for (size_t i = 0; i < column->category_count; i++) {
            json_array_append_new(categories, json_string(column->category[i]));
        }
        out = json_pack("{s:s, s:s, s:o}", "name", column->name, "kind", "category", "categories",
                        categories);
    }
    if (out != NULL && column->has_missing) {
        json_object_set_new(out, "missing", json_real(column->missing));
    }
    return out;
}

static json_t *schema_to_json(const struct schema *schema)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < schema->column_count; i++) {
        if (json_array_append_new(columns, column_to_json(&schema->column[i])) != 0) {
            json_decref(columns);
            return NULL;
        }
    }
    return json_pack("{s:o, s:{s:s, s:s, s:s}}", "columns", columns, "label", "name",
                     schema->label.name, "positive", schema->label.positive, "negative",
                     schema->label.negative);
}

enum status model_to_json(char **text, const struct model *model)
{
    json_t *weights = json_array();
    bool whole = weights != NULL;
    for (size_t i = 0; whole && i < model->weight_count; i++) {
        whole = json_array_append_new(weights, json_real(model->weight[i])) == 0;
    }
    json_t *root = json_pack(
        "{s:s, s:i, s:s, s:s, s:b, s:s, s:{s:I, s:I}, s:s, s:f, s:f, s:s, s:o?, s:o?}", "format",
        format_name, "version", FORMAT_VERSION, "job", model->job, "expert", model->expert,
        "private", model->private ? 1 : 0, "statement", model->statement, "price", "epsilon_micro",
        (json_int_t)model->epsilon_micro, "delta_atto", (json_int_t)model->delta_atto, "loss",
        loss_name(model->loss.kind), "loss_parameter", model->loss.parameter, "lambda",
        model->lambda, "output", model->loss.kind == LOSS_LOGISTIC ? calibrated : uncalibrated,
        "schema", schema_to_json(&model->schema), "weights", weights);
    whole = whole && root != NULL && json_is_object(json_object_get(root, "schema"));
    *text = whole ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return *text != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Copies a text that must fit with its final zero; the caller zeroed out. */
static bool take_text(char *out, size_t room, const char *text)
{
    const size_t size = strlen(text);
    if (size >= room) {
        return false;
    }
    memcpy(out, text, size);
    return true;
}

static bool take_categories(struct column *column, const json_t *categories)
{
    const size_t count = json_array_size(categories);
    if (!json_is_array(categories) || count > SCHEMA_CATEGORIES_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(categories, i));
        if (text == NULL || !take_text(column->category[i], SCHEMA_NAME_BYTES, text)) {
            return false;
        }
    }
    column->category_count = count;
    return true;
}

static bool take_column(struct column *column, json_t *from)
{
    const char *name = NULL;
    const char *kind = NULL;
    const char *transform = NULL;
    json_t *categories = NULL;
    json_t *missing = NULL;
    if (json_unpack(from, "{s:s, s:s, s?o}", "name", &name, "kind", &kind, "missing", &missing) !=
            0 ||
        !take_text(column->name, SCHEMA_NAME_BYTES, name) ||
        (missing != NULL && !json_is_number(missing))) {
        return false;
    }
    column->has_missing = missing != NULL;
    column->missing = missing != NULL ? json_number_value(missing) : 0;
    if (strcmp(kind, "category") == 0) {
        column->kind = COLUMN_CATEGORY;
        return json_unpack(from, "{s:s, s:s, s?o, s:o !}", "name", &name, "kind", &kind, "missing",
                           &missing, "categories", &categories) == 0 &&
               take_categories(column, categories);
    }
    column->kind = COLUMN_NUMBER;
    if (strcmp(kind, "number") != 0 ||
        json_unpack(from, "{s:s, s:s, s?o, s:s, s:F, s:F !}", "name", &name, "kind", &kind,
                    "missing", &missing, "transform", &transform, "centre", &column->centre,
                    "half_width", &column->half_width) != 0) {
        return false;
    }
    column->transform = strcmp(transform, "log1p") == 0 ? TRANSFORM_LOG1P : TRANSFORM_NONE;
    return column->transform == TRANSFORM_LOG1P || strcmp(transform, "none") == 0;
}

static enum status take_schema(struct schema *schema, json_t *from, const char *name,
                               struct why *why)
{
    json_t *columns = NULL;
    const char *label = NULL;
    const char *positive = NULL;
    const char *negative = NULL;
    if (json_unpack(from, "{s:o, s:{s:s, s:s, s:s !} !}", "columns", &columns, "label", "name",
                    &label, "positive", &positive, "negative", &negative) != 0 ||
        !json_is_array(columns) || json_array_size(columns) > SCHEMA_COLUMNS_MAX ||
        !take_text(schema->label.name, SCHEMA_NAME_BYTES, label) ||
        !take_text(schema->label.positive, SCHEMA_NAME_BYTES, positive) ||
        !take_text(schema->label.negative, SCHEMA_NAME_BYTES, negative)) {
        why_set(why, "%s: its schema is not as this version writes one", name);
        return STATUS_INVALID;
    }
    const size_t count = json_array_size(columns);
    schema->column = calloc(count + 1, sizeof *schema->column);
    if (schema->column == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        schema->column_count = i + 1;
        if (!take_column(&schema->column[i], json_array_get(columns, i))) {
            why_set(why, "%s: column number %zu of its schema is not as this version writes one",
                    name, i + 1);
            return STATUS_INVALID;
        }
    }
    return schema_check(schema, why);
}

static enum status take_weights(struct model *out, const json_t *weights, const char *name,
                                struct why *why)
{
    const size_t count = json_array_size(weights);
    if (!json_is_array(weights) || count != schema_feature_count(&out->schema)) {
        why_set(why, "%s: it must have one weight per feature of its schema", name);
        return STATUS_INVALID;
    }
    out->weight = calloc(count, sizeof *out->weight);
    if (out->weight == NULL) {
        return STATUS_NO_MEMORY;
    }
    out->weight_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *weight = json_array_get(weights, i);
        out->weight[i] = json_number_value(weight);
        if (!json_is_number(weight) || !isfinite(out->weight[i])) {
            why_set(why, "%s: weight number %zu is not a number", name, i + 1);
            return STATUS_INVALID;
        }
    }
    return STATUS_OK;
}

static enum status take_version(json_t *root, const char *name, struct why *why)
{
    const char *format = NULL;
    int version = 0;
    if (json_unpack(root, "{s:s, s:i}", "format", &format, "version", &version) != 0 ||
        strcmp(format, format_name) != 0) {
        why_set(why, "%s: this is not a hedgerow model", name);
        return STATUS_INVALID;
    }
    if (version != FORMAT_VERSION) {
        why_set(why, "%s: format version %d, this program reads version %d: use a newer program",
                name, version, FORMAT_VERSION);
        return STATUS_UNSUPPORTED;
    }
    return STATUS_OK;
}

static enum status take_model(struct model *out, json_t *root, const char *name, struct why *why)
{
    const char *text[6] = {NULL}; /* format, job, expert, statement, loss, output */
    int version = 0;
    int private = 0;
    json_int_t epsilon = 0;
    json_int_t delta = 0;
    json_t *schema = NULL;
    json_t *weights = NULL;
    json_error_t error;
    enum status status = take_version(root, name, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (json_unpack_ex(
            root, &error, 0,
            "{s:s, s:i, s:s, s:s, s:b, s:s, s:{s:I, s:I !}, s:s, s?F, s:F, s:s, s:o, s:o !}",
            "format", &text[0], "version", &version, "job", &text[1], "expert", &text[2], "private",
            &private, "statement", &text[3], "price", "epsilon_micro", &epsilon, "delta_atto",
            &delta, "loss", &text[4], "loss_parameter", &out->loss.parameter, "lambda",
            &out->lambda, "output", &text[5], "schema", &schema, "weights", &weights) != 0) {
        why_set(why, "%s: %s", name, error.text);
        return STATUS_INVALID;
    }
    if (!take_text(out->job, sizeof out->job, text[1]) ||
        !take_text(out->expert, sizeof out->expert, text[2]) ||
        !take_text(out->statement, sizeof out->statement, text[3]) ||
        loss_from_name(&out->loss.kind, text[4]) != STATUS_OK ||
        loss_check(out->loss, NULL) != STATUS_OK || epsilon < 0 || delta < 0 ||
        !(out->lambda >= 0)) {
        why_set(why, "%s: a text is too long, or the loss, lambda or price is out of range", name);
        return STATUS_INVALID;
    }
    out->private = private != 0;
    out->epsilon_micro = (uint64_t)epsilon;
    out->delta_atto = (uint64_t)delta;
    status = take_schema(&out->schema, schema, name, why);
    return status == STATUS_OK ? take_weights(out, weights, name, why) : status;
}

enum status model_from_json(struct model *out, struct slice text, const char *name, struct why *why)
{
    json_error_t error;
    *out = (struct model){0};
    if (text.size > MODEL_FILE_BYTES_MAX) {
        why_set(why, "%s: larger than %d bytes, the largest model this program reads", name,
                MODEL_FILE_BYTES_MAX);
        return STATUS_INVALID;
    }
    json_t *root =
        json_loadb(text.size == 0 ? "" : text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        why_set(why, "%s: line %d, column %d: %s", name, error.line, error.column, error.text);
        return STATUS_INVALID;
    }
    const enum status status = take_model(out, root, name, why);
    json_decref(root);
    if (status == STATUS_NO_MEMORY) {
        why_set(why, "%s: not enough memory for the model", name);
    }
    if (status != STATUS_OK) {
        model_free(out);
    }
    return status;
}
