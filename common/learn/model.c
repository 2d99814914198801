#include "learn/model.h"

#include "base/check.h"
#include "base/file.h"
#include "learn/blocks.h"
#include "learn/metrics.h"
#include "learn/model_private.h"
#include "json/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status model_take(struct model *model, const struct schema *schema, const double *weight)
{
    const int index = block_of_model(schema, weight);
    if (index < 0) {
        return STATUS_INVALID;
    }
    const struct block block = block_at(schema, (size_t)index);
    const struct schema own = block_schema(schema, (size_t)index);
    const size_t outputs = schema_output_count(schema);
    const size_t count = outputs * block.count;
    double *narrow = malloc(count * sizeof *narrow);
    enum status status = narrow == NULL ? STATUS_NO_MEMORY : schema_copy(&model->schema, &own);
    if (status != STATUS_OK) {
        free(narrow);
        return status;
    }
    block_narrow(narrow, outputs, block, weight);
    model->weight = narrow;
    model->weight_count = count;
    return STATUS_OK;
}

void model_predict(double *answer, const struct model *model, const struct dataset *data)
{
    const struct label *label = &model->schema.label;
    const size_t outputs = schema_output_count(&model->schema);
    CHECK(model->weight_count == data->feature_count * outputs);
    metrics_class_scores(answer, model->weight, outputs, data);
    for (size_t i = 0; i < data->record_count; i++) {
        switch (label->kind) {
        case LABEL_SIGN:
            answer[i] = 1 / (1 + exp(-fmax(answer[i], -700))); /* no overflow; 0 is never reached */
            break;
        case LABEL_NUMBER:
            answer[i] = label->centre + label->half_width * fmin(fmax(answer[i], -1), 1);
            break;
        case LABEL_CLASSES:
            break;
        }
    }
}

const char *model_class(const struct model *model, const double *answer)
{
    const struct label *label = &model->schema.label;
    switch (label->kind) {
    case LABEL_SIGN:
        return answer[0] >= 0.5 ? label->positive : label->negative;
    case LABEL_NUMBER:
        break;
    case LABEL_CLASSES:
        return label->class_name[metrics_largest(answer, label->class_count)];
    }
    return NULL;
}

void model_free(struct model *model)
{
    if (model != NULL) {
        schema_free(&model->schema);
        free(model->weight);
        *model = (struct model){0};
    }
}

/* Reading is strict both ways: a key too many is as wrong as one too few, since either means that
 * the file is not what its reader takes it for. */

static const char format_name[] = "hedgerow model";
enum { FORMAT_VERSION = 1 };

/* What the file tells a reader without this program: how weights and features make an answer. */
static const char *output_text(const struct model *model)
{
    switch (model->schema.label.kind) {
    case LABEL_SIGN:
        break;
    case LABEL_NUMBER:
        return "centre + half_width * f, f = sum of weight * feature, clamped to -1 .. 1";
    case LABEL_CLASSES:
        return "the class with the largest f = sum of weight * feature; weights stand class by "
               "class";
    }
    return model->loss.kind == LOSS_LOGISTIC
               ? "probability = 1/(1 + exp(-f)), f = sum of weight * feature"
               : "1/(1 + exp(-f)), f = sum of weight * feature: after a fit that is not logistic "
                 "a monotone score, not a calibrated probability";
}

enum status model_to_json(char **text, const struct model *model)
{
    json_t *weights = json_array();
    for (size_t i = 0; i < model->weight_count; i++) {
        json_add(&weights, json_real(model->weight[i]));
    }
    json_t *root = json_pack(
        "{s:s, s:i, s:s, s:s, s:b, s:s, s:{s:I, s:I}, s:s, s:f, s:f, s:s, s:o, s:o}", "format",
        format_name, "version", FORMAT_VERSION, "job", model->job, "expert", model->expert,
        "private", model->private ? 1 : 0, "statement", model->statement, "price", "epsilon_micro",
        (json_int_t)model->epsilon_micro, "delta_atto", (json_int_t)model->delta_atto, "loss",
        loss_name(model->loss.kind), "loss_parameter", model->loss.parameter, "lambda",
        model->lambda, "output", output_text(model), "schema", model_schema_to_json(&model->schema),
        "weights", weights);
    *text = root != NULL ? json_text(root, 2, 17) : NULL;
    json_decref(root);
    return *text != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status take_weights(struct model *out, const json_t *weights, const char *name,
                                struct why *why)
{
    const size_t count = json_array_size(weights);
    if (!json_is_array(weights) ||
        count != schema_feature_count(&out->schema) * schema_output_count(&out->schema)) {
        return why_refuse(
            why, "%s: it must have one weight per feature of its schema and class of its label",
            name);
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
            return why_refuse(why, "%s: weight number %zu is not a number", name, i + 1);
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
        return why_refuse(why, "%s: this is not a hedgerow model", name);
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
        return why_refuse(why, "%s: %s", name, error.text);
    }
    if (!model_take_text(out->job, sizeof out->job, text[1]) ||
        !model_take_text(out->expert, sizeof out->expert, text[2]) ||
        !model_take_text(out->statement, sizeof out->statement, text[3]) ||
        loss_from_name(&out->loss.kind, text[4]) != STATUS_OK ||
        loss_check(out->loss, NULL) != STATUS_OK || epsilon < 0 || delta < 0 ||
        !(out->lambda >= 0)) {
        return why_refuse(
            why, "%s: a text is too long, or the loss, lambda or price is out of range", name);
    }
    out->private = private != 0;
    out->epsilon_micro = (uint64_t)epsilon;
    out->delta_atto = (uint64_t)delta;
    status = model_schema_from_json(&out->schema, schema, name, why);
    return status == STATUS_OK ? take_weights(out, weights, name, why) : status;
}

enum status model_from_json(struct model *out, struct slice text, const char *name, struct why *why)
{
    json_error_t error;
    *out = (struct model){0};
    if (text.size > MODEL_FILE_BYTES_MAX) {
        return why_refuse(why, "%s: larger than %d bytes, the largest model this program reads",
                          name, MODEL_FILE_BYTES_MAX);
    }
    json_t *root =
        json_loadb(text.size == 0 ? "" : text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        return why_refuse(why, "%s: line %d, column %d: %s", name, error.line, error.column,
                          error.text);
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

enum status model_load(struct model *out, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    *out = (struct model){0};
    enum status status = file_read(&text, &size, path, MODEL_FILE_BYTES_MAX, why);
    if (status == STATUS_OK) {
        status = model_from_json(out, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}
