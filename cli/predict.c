#include "base/file.h"
#include "cli/command.h"
#include "config/options.h"
#include "learn/dataset.h"
#include "learn/model.h"
#include "learn/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field of a table, quoted where it must be. */
static void field(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            (void)fputc('"', stream);
        }
        (void)fputc(*text, stream);
    }
    (void)fputc('"', stream);
}

static void header(FILE *stream, const struct label *label)
{
    switch (label->kind) {
    case LABEL_SIGN:
        (void)fputs("probability,class\n", stream);
        return;
    case LABEL_NUMBER:
        (void)fputs("value\n", stream);
        return;
    case LABEL_CLASSES:
        break;
    }
    for (size_t i = 0; i < label->class_count; i++) {
        char name[SCHEMA_NAME_BYTES + 8];
        (void)snprintf(name, sizeof name, "score %s", label->class_name[i]);
        field(stream, name);
        (void)fputc(',', stream);
    }
    (void)fputs("class\n", stream);
}

static enum status table(char **text, size_t *size, const struct model *model,
                         const struct dataset *data)
{
    const size_t outputs = schema_output_count(&model->schema);
    double *answer = calloc(data->record_count * outputs + 1, sizeof *answer);
    FILE *stream = answer == NULL ? NULL : open_memstream(text, size);
    if (stream == NULL) {
        free(answer);
        return STATUS_NO_MEMORY;
    }
    model_predict(answer, model, data);
    header(stream, &model->schema.label);
    for (size_t i = 0; i < data->record_count; i++) {
        const char *class = model_class(model, answer + i * outputs);
        for (size_t j = 0; j < outputs; j++) {
            (void)fprintf(stream, "%s%.9g", j == 0 ? "" : ",", answer[i * outputs + j]);
        }
        if (class != NULL) {
            (void)fputc(',', stream);
            field(stream, class);
        }
        (void)fputc('\n', stream);
    }
    free(answer);
    return fclose(stream) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

/* An agent reads every text as some value. A person who predicts holds the table and can correct it.
 * So here a text that the model does not know is an error that names its place. */
static enum status check_cells(const struct dataset *data, const char *path,
                               const struct schema *schema, struct why *why)
{
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &schema->column[i];
        const struct cell_counts *counts = &data->counts[i];
        if (counts->unlisted > 0 && !column->has_other) {
            return why_refuse(
                why, "%s: line %zu, column %s: %s, or leave the cell empty; %zu cells are so", path,
                counts->line, column->name,
                counts->commas > 0 ? "a decimal comma: write a point"
                : column->kind == COLUMN_NUMBER
                    ? "not a number: write it like 12, -0.5 or 1e3 (no spaces, no units)"
                    : "not one of the model's categories: correct it",
                counts->unlisted);
        }
    }
    return STATUS_OK;
}

static enum status data_load(struct dataset *data, const char *path, const struct schema *schema,
                             struct why *why)
{
    FILE *file = NULL;
    enum status status = table_open_once(&file, path, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = dataset_read(data, file, path, schema,
                          &(struct dataset_options){.use = DATASET_PREDICT}, why);
    (void)fclose(file);
    return status == STATUS_OK ? check_cells(data, path, schema, why) : status;
}

struct request {
    const char *model;
    const char *data;
    const char *out; /* NULL: standard output */
};

static enum status predict(const struct request *request, bool *private, struct why *why)
{
    struct model model;
    struct dataset data;
    char *text = NULL;
    size_t size = 0;
    enum status status;

    memset(&model, 0, sizeof model);
    memset(&data, 0, sizeof data);
    status = model_load(&model, request->model, why);
    if (status != STATUS_OK) {
        goto done;
    }
    *private = model.private;
    status = data_load(&data, request->data, &model.schema, why);
    if (status == STATUS_OK) {
        status = table(&text, &size, &model, &data);
    }
    if (status == STATUS_OK && request->out != NULL) {
        /* What is predicted is about single records: for their holder's eyes. */
        status = file_write(request->out, (struct slice){text, size}, 0600, why);
    } else if (status == STATUS_OK && fwrite(text, 1, size, stdout) != size) {
        status = STATUS_IO;
    }
done:
    free(text);
    dataset_free(&data);
    model_free(&model);
    return status;
}

enum exit_code run_predict(const struct command *command, int count, char **argument)
{
    struct request request = {0};
    bool private = true;
    struct why why = {""};
    const struct option option[] = {
        {.name = "--model", .text = &request.model, .required = true, .what = "model.json"},
        {.name = "--data", .text = &request.data, .required = true, .what = "F.csv"},
        {.name = "--out", .text = &request.out, .what = "F.csv"}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = predict(&request, &private, &why);
    if (status != STATUS_OK) {
        return command_end(command, status, &why);
    }
    if (!private) {
        (void)fputs("hedgerow predict: this model is NOT PRIVATE: do not share it\n", stderr);
    }
    return EXIT_CODE_OK;
}
