/* `hedgerow init evaluate`: a job that judges a model's file. Its weights go into the job's text, so that each site reads and
 * approves what it is to run. */

#include "base/file.h"
#include "base/text.h"
#include "cli/init_job.h"
#include "config/config.h"
#include "config/options.h"
#include "job/job.h"
#include "learn/model.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINIMUM = 3, RECORDS_MOST = 1000000 };

static const char score_name[] = "model-score";

struct asked {
    const char *path;
    const char *out; /* NULL: standard output */
    const char *epsilon;
    const char *trust;
    uint64_t minimum;
    uint64_t records;
};

/* A text with a line break in it could write keys into the job. */
static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool has_plain_texts(const struct model *model)
{
    const struct label *label = &model->schema.label;
    bool is = is_plain(model->job) && is_plain(model->expert) && is_plain(label->name) &&
              is_plain(label->positive) && is_plain(label->negative);
    for (size_t i = 0; i < model->schema.column_count; i++) {
        const struct column *column = &model->schema.column[i];
        is = is && is_plain(column->name);
        for (size_t j = 0; j < column->category_count; j++) {
            is = is && is_plain(column->category[j]);
        }
    }
    return is;
}

/* If no product of columns stays, a score needs no map for them. */
static bool is_linear(const struct model *model)
{
    const size_t columns = schema_plain_count(&model->schema) - 1;
    if (model->schema.map.kind != MAP_PRODUCTS) {
        return model->schema.map.kind == MAP_NONE;
    }
    for (size_t i = columns; i + 1 < model->weight_count; i++) {
        if (model->weight[i] != 0) {
            return false;
        }
    }
    return true;
}

static enum status check_model(const struct model *model, const char *path, struct why *why)
{
    const struct schema *schema = &model->schema;
    const char *wrong = schema_is_series(schema)              ? "a series"
                        : schema->label.kind == LABEL_CLASSES ? "a label of several classes"
                        : !is_linear(model)                   ? "a feature map"
                                                              : NULL;
    if (!has_plain_texts(model)) {
        return why_refuse(why, "%s: a text in it holds a control character: no job may", path);
    }
    return wrong == NULL ? STATUS_OK
                         : why_refuse(why,
                                      "%s: it is of %s: judge it with a losses stage, or let each "
                                      "site write its predictions into a column (`hedgerow "
                                      "predict`)",
                                      path, wrong);
}

/* As short as it may be to be read as the same number. */
static void put_number(FILE *out, double number)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    (void)fputs(text, out);
}

static void put_key(FILE *out, const char *key, double number)
{
    (void)fputs(key, out);
    put_number(out, number);
}

static void put_texts(FILE *out, const struct column *column)
{
    (void)fputs(", categories: [", out);
    for (size_t i = 0; i < column->category_count; i++) {
        (void)fputs(i > 0 ? ", " : "", out);
        config_put_text(out, column->category[i]);
    }
    (void)fputc(']', out);
}

static void put_column(FILE *out, const struct column *column)
{
    (void)fputs("    - {column: ", out);
    config_put_text(out, column->name);
    if (column->kind == COLUMN_NUMBER) {
        (void)fputs(column->transform == TRANSFORM_LOG1P ? ", transform: log1p" : "", out);
        put_key(out, ", centre: ", column->centre);
        put_key(out, ", half_width: ", column->half_width);
    } else {
        put_texts(out, column);
    }
    if (column->has_missing && column->kind == COLUMN_NUMBER) {
        put_key(out, ", missing: ", column->missing);
    } else if (column->has_missing) {
        (void)fputs(", missing: ", out);
        config_put_text(out, column->category[(size_t)column->missing]);
    }
    if (column->has_other) {
        (void)fputs(", other: ", out);
        config_put_text(out, column->category[column->other]);
    }
    (void)fputs(column->has_indicator ? ", missing_indicator: true}\n" : "}\n", out);
}

static void put_data(FILE *out, const struct schema *schema)
{
    const struct label *label = &schema->label;
    (void)fputs("\ndata:\n  label: {column: ", out);
    config_put_text(out, label->name);
    if (label->kind == LABEL_NUMBER) {
        put_key(out, ", centre: ", label->centre);
        put_key(out, ", half_width: ", label->half_width);
        (void)fputs("}\n", out);
    } else {
        (void)fputs(", positive: ", out);
        config_put_text(out, label->positive);
        (void)fputs(", negative: ", out);
        config_put_text(out, label->negative);
        (void)fputs("}\n", out);
    }
    (void)fputs("  # The model's own columns and bounds. Add those that questions name besides.\n"
                "  features:\n",
                out);
    for (size_t i = 0; i < schema->column_count; i++) {
        put_column(out, &schema->column[i]);
    }
}

/* Weights of features of -1 to 1: the file's are for features that are scaled. */
static void put_model(FILE *out, const struct model *model)
{
    const struct schema *schema = &model->schema;
    const double scale = schema_column_scale(schema);
    const double *weight = model->weight;
    (void)fprintf(out, "    models:\n      - name: %s", score_name);
    put_key(out, "\n        constant: ", schema_constant(schema) * weight[model->weight_count - 1]);
    if (schema->label.kind == LABEL_NUMBER) {
        put_key(out, "\n        centre: ", schema->label.centre);
        put_key(out, "\n        half_width: ", schema->label.half_width);
    }
    (void)fputs("\n        columns:\n", out);
    for (size_t i = 0; i < schema->column_count; i++) {
        const size_t count = schema_column_features(&schema->column[i]);
        (void)fputs("          - {column: ", out);
        config_put_text(out, schema->column[i].name);
        (void)fputs(", weights: [", out);
        for (size_t j = 0; j < count; j++) {
            put_key(out, j > 0 ? ", " : "", scale * *weight++);
        }
        (void)fputs("]}\n", out);
    }
}

/* Whether a question may name it without quotes. */
static bool is_word(const char *name)
{
    size_t i = 0;
    while (name[i] >= 'a' && name[i] <= 'z') {
        i++;
    }
    return i > 0 && name[i] == '\0' && strcmp(name, "time") != 0 && strcmp(name, "not") != 0;
}

static void put_stage(FILE *out, const struct model *model)
{
    const struct label *label = &model->schema.label;
    char question[QUERY_TEXT_BYTES];
    char half[64] = "";
    if (label->kind == LABEL_NUMBER) {
        (void)snprintf(half, sizeof half, " >= %.9g", label->centre);
    }
    const char *quote = is_word(label->name) ? "" : "'";
    (void)snprintf(question, sizeof question, "evaluate: %s for %s%s%s%s", score_name, quote,
                   label->name, quote, half);
    (void)fputs("\nstages:\n  - task: query\n    queries: [", out);
    config_put_text(out, question);
    (void)fputs("]\n    batch: 100 %\n    share: 1\n    grid_bits: 10\n", out);
    put_model(out, model);
}

static enum status put_job(char **text, const struct asked *asked, const struct model *model)
{
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    if (out == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)fputs(
        "# A job that judges a model. `hedgerow init evaluate` wrote it from the model's file "
        "alone.\n# Weights are public: each site reads them here. docs/JOBS.md explains every "
        "key.\n# The model is that of job ",
        out);
    config_put_text(out, model->job);
    (void)fputs(":\n# ", out);
    config_put_text(out, model->expert);
    (void)fputs("\n\nhedgerow: 1\njob: evaluate-model\n", out);
    put_data(out, &model->schema);
    (void)fprintf(out,
                  "\nprivacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: %s}\n"
                  "cohort: {minimum: %" PRIu64 ", records: %" PRIu64
                  ", records_most: %d, deadline_s: 30}\n",
                  asked->trust, asked->epsilon, asked->minimum, asked->records, RECORDS_MOST);
    put_stage(out, model);
    return text_close(text, out);
}

static enum status check_job(const char *text, struct why *why)
{
    struct job job = {.stage = NULL};
    const enum status status =
        job_parse(&job, (struct slice){text, strlen(text)}, "the job that would be written", why);
    job_free(&job);
    return status;
}

static enum status write_job(const struct asked *asked, struct why *why)
{
    struct model model;
    char *text = NULL;
    enum status status = model_load(&model, asked->path, why);
    if (status == STATUS_OK && !model.private) {
        status = why_refuse(why,
                            "%s: this model is NOT PRIVATE, and a job's text is public: judge a "
                            "private one",
                            asked->path);
    }
    if (status == STATUS_OK) {
        status = check_model(&model, asked->path, why);
    }
    if (status == STATUS_OK) {
        status = put_job(&text, asked, &model);
    }
    if (status == STATUS_OK) {
        status = check_job(text, why);
    }
    if (status == STATUS_OK && asked->out != NULL) {
        status = file_create(asked->out, (struct slice){text, strlen(text)}, FILE_PUBLIC, why);
    } else if (status == STATUS_OK) {
        (void)fputs(text, stdout);
    }
    free(text);
    model_free(&model);
    return status;
}

enum exit_code run_init_evaluate(const struct command *command, int count, char **argument)
{
    struct asked asked = {.epsilon = "1", .trust = "local", .minimum = MINIMUM};
    struct why why = {""};
    const struct option option[] = {
        {.name = "--model", .text = &asked.path, .required = true, .what = "model.json"},
        {COMMAND_NUMBER("--records", &asked.records, 1, RECORDS_MOST, "N"), .required = true},
        {.name = "--out", .text = &asked.out, .what = "JOB.yml"},
        {.name = "--epsilon", .text = &asked.epsilon, .what = "E"},
        {.name = "--trust", .text = &asked.trust, .what = "TRUST"},
        {COMMAND_NUMBER("--minimum", &asked.minimum, 1, JOB_AGENTS_MAX, "N")}};
    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return command_end(command, write_job(&asked, &why), &why);
}
