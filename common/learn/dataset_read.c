#include "learn/dataset_reader.h"
#include "learn/header.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double *grown(double *old, size_t old_count, size_t new_count)
{
    if (new_count > SIZE_MAX / sizeof *old) {
        return NULL;
    }
    double *out = malloc(new_count * sizeof *out);
    if (out != NULL && old != NULL) {
        memcpy(out, old, old_count * sizeof *out);
        bytes_free(old, old_count * sizeof *old);
    }
    return out;
}

/* Makes room for one of the dataset's arrays, width numbers to a record. */
static enum status widen(double **array, const struct reader *reader, size_t room, size_t width)
{
    if (room > SIZE_MAX / (width + 1)) {
        return STATUS_NO_MEMORY;
    }
    double *wider = grown(*array, reader->room * width, room * width + 1);
    if (wider == NULL) {
        return STATUS_NO_MEMORY;
    }
    *array = wider;
    return STATUS_OK;
}

static enum status make_room(struct dataset *out, struct reader *reader)
{
    const size_t room = reader->room == 0 ? 256 : 2 * reader->room;
    if (out->record_count < reader->room) {
        return STATUS_OK;
    }
    enum status status = widen(&out->x, reader, room, out->feature_count);
    if (status == STATUS_OK && reader->options->use == DATASET_LEARN) {
        status = widen(&out->y, reader, room, 1);
    }
    if (status == STATUS_OK && reader->schema->keeps_raw) {
        status = widen(&out->raw, reader, room, out->column_count);
    }
    if (status == STATUS_OK && reader->schema->keeps_raw && reader->options->use == DATASET_LEARN) {
        status = widen(&out->raw_label, reader, room, 1);
    }
    reader->room = status == STATUS_OK ? room : reader->room;
    return status;
}

/* What a byte-order mark or a NUL byte says of the file. */
static bool is_wide_text(const struct csv *csv)
{
    const struct slice raw = csv_raw(csv);
    return raw.size > 0 && memchr(raw.data, '\0', raw.size) != NULL;
}

/* A header line in which no cell can be found: what it is, and the remedy. */
static enum status check_header(const struct reader *reader, bool is_empty, struct why *why)
{
    const char *what = NULL;
    if (is_empty) {
        what = "the file is empty: it needs a line of column names and then the records";
    } else if (csv_raw(reader->csv).size == 0) {
        what = "line 1 is blank: remove it; the first line must name the columns";
    } else if (is_wide_text(reader->csv)) {
        what = "line 1 holds NUL bytes: export the table as plain text (UTF-8)";
    } else if (csv_is_broken(reader->csv)) {
        what = "line 1 has a quote that never closes, or is longer than a megabyte: the first line "
               "must name the columns";
    } else {
        return STATUS_OK;
    }
    return why_refuse(why, "%s: %s", reader->name, what);
}

static enum status read_header(struct reader *reader, struct why *why)
{
    bool done = false;
    enum status status = csv_next(reader->csv, &done, why);
    if (status == STATUS_OK) {
        status = check_header(reader, done, why);
    }
    reader->header_fields = status == STATUS_OK ? csv_field_count(reader->csv) : 0;
    csv_limit_lines(reader->csv, reader->options->line_bytes);
    const bool is_of_a_model = reader->options->use == DATASET_PREDICT;
    const struct header header = {.csv = reader->csv,
                                  .name = reader->name,
                                  .asked_by = is_of_a_model ? "the model" : "the job",
                                  .is_of_a_model = is_of_a_model,
                                  .dictionary = "the data dictionary",
                                  .field_count = reader->header_fields,
                                  .shows_near = reader->options->row_count == DATASET_ALL_ROWS};
    for (size_t i = 0; status == STATUS_OK && i < reader->schema->column_count; i++) {
        status = header_need(&reader->field_of[i], &header, reader->schema->column[i].name, why);
    }
    if (status == STATUS_OK &&
        (reader->options->use == DATASET_LEARN || schema_is_series(reader->schema))) {
        status = header_need(&reader->label_field, &header, reader->schema->label.name, why);
    }
    return status;
}

/* The next row: the file's, or after its end one of missing cells. */
static enum status next_row(struct reader *reader, bool *done, struct why *why)
{
    const size_t row_count = reader->options->row_count;
    *done = row_count != DATASET_ALL_ROWS && reader->day == row_count;
    if (*done || reader->is_over) {
        return STATUS_OK;
    }
    const enum status status = csv_next(reader->csv, &reader->is_over, why);
    *done = row_count == DATASET_ALL_ROWS && reader->is_over;
    return status;
}

static enum status read_records(struct dataset *out, struct reader *reader, struct why *why)
{
    for (;; reader->day++) {
        bool done = false;
        enum status status = next_row(reader, &done, why);
        if (status != STATUS_OK || done) {
            return status;
        }
        reader_take_row(reader, out);
        out->filled_rows += reader->is_over ? 1 : 0;
        status = reader_has_record(reader) ? make_room(out, reader) : STATUS_OK;
        if (status != STATUS_OK) {
            return status;
        }
        if (reader_has_record(reader)) {
            reader_put_record(reader, out);
            out->record_count++;
        }
    }
}

static enum status reader_start(struct reader *reader, struct dataset *out, FILE *file,
                                struct why *why)
{
    const struct schema *schema = reader->schema;
    reader->history_size = schema_history(schema);
    out->feature_count = schema_feature_count(schema);
    out->column_count = schema->column_count;
    out->counts = calloc(schema->column_count + 1, sizeof *out->counts);
    reader->field_of = calloc(schema->column_count + 1, sizeof *reader->field_of);
    reader->value = calloc(schema_value_count(schema) + 1, sizeof *reader->value);
    reader->history = calloc(reader->history_size + 1, sizeof *reader->history);
    if (out->counts == NULL || reader->field_of == NULL || reader->value == NULL ||
        reader->history == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = features_new(&reader->features, schema, why);
    return status == STATUS_OK
               ? csv_new(&reader->csv, file, reader->name, reader->options->separator)
               : status;
}

static void reader_end(struct reader *reader)
{
    bytes_free(reader->value, schema_value_count(reader->schema) * sizeof *reader->value);
    bytes_free(reader->history, reader->history_size * sizeof *reader->history);
    csv_free(reader->csv);
    features_free(reader->features);
    free(reader->field_of);
    bytes_wipe(reader, sizeof *reader);
}

/* Too few records, with what a series' first days have to do with it. */
static enum status check_count(const struct dataset *out, const struct reader *reader,
                               struct why *why)
{
    const size_t record_min = reader->options->use == DATASET_LEARN ? 2 : 1;
    if (out->record_count >= record_min) {
        return STATUS_OK;
    }
    if (schema_is_series(reader->schema)) {
        why_set(why,
                "%s: its rows make %zu records, as the first %zu days give none: at least %zu are "
                "needed",
                reader->name, out->record_count, reader->history_size, record_min);
    } else {
        why_set(why, "%s: it holds %zu records: at least %zu are needed", reader->name,
                out->record_count, record_min);
    }
    return STATUS_INVALID;
}

enum status dataset_read(struct dataset *out, FILE *file, const char *name,
                         const struct schema *schema, const struct dataset_options *options,
                         struct why *why)
{
    struct reader reader = {.name = name, .schema = schema, .options = options};
    *out = (struct dataset){0};
    enum status status = reader_start(&reader, out, file, why);
    if (status == STATUS_OK) {
        status = read_header(&reader, why);
    }
    if (status == STATUS_OK) {
        status = read_records(out, &reader, why);
    }
    if (status == STATUS_OK) {
        status = check_count(out, &reader, why);
    }
    reader_end(&reader);
    if (status == STATUS_NO_MEMORY) {
        why_set(why, "%s: not enough memory for the table", name);
    }
    if (status != STATUS_OK) {
        dataset_free(out);
    }
    return status;
}

enum status dataset_parse(struct dataset *out, struct slice text, const char *name,
                          const struct schema *schema, const struct dataset_options *options,
                          struct why *why)
{
    /* fmemopen takes a pointer to non-const for its other modes; "r" only reads. */
    union {
        const void *read;
        void *any;
    } data = {.read = text.size == 0 ? "\n" : text.data};
    *out = (struct dataset){0};
    FILE *file = fmemopen(data.any, text.size == 0 ? 1 : text.size, "r");
    if (file == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = dataset_read(out, file, name, schema, options, why);
    (void)fclose(file);
    return status;
}
