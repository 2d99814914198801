#include "learn/dataset_reader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t no_field = SIZE_MAX;

static double *grown(double *old, size_t old_count, size_t new_count)
{
    if (new_count > SIZE_MAX / sizeof *old) {
        return NULL;
    }
    double *out = malloc(new_count * sizeof *out);
    if (out != NULL && old != NULL) {
        memcpy(out, old, old_count * sizeof *out);
        bytes_wipe(old, old_count * sizeof *old);
        free(old);
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
    if (status == STATUS_OK && reader->use == DATASET_LEARN) {
        status = widen(&out->y, reader, room, 1);
    }
    if (status == STATUS_OK && reader->schema->keeps_raw) {
        status = widen(&out->raw, reader, room, out->column_count);
    }
    reader->room = status == STATUS_OK ? room : reader->room;
    return status;
}

/* Finds the field with this name. The header line's own text is not repeated in messages: where it
 * was left out, the first line is a record. */
static enum status find_field(const struct reader *reader, const char *column, size_t *field,
                              struct why *why)
{
    *field = no_field;
    for (size_t i = 0; i < reader->header_fields; i++) {
        if (!slice_is(csv_field(reader->csv, i), column)) {
            continue;
        }
        if (*field != no_field) {
            why_set(why, "%s: line 1: column %s stands there twice: remove or rename one",
                    reader->name, column);
            return STATUS_INVALID;
        }
        *field = i;
    }
    return STATUS_OK;
}

static enum status need_field(const struct reader *reader, const char *column, size_t *field,
                              struct why *why)
{
    const enum status status = find_field(reader, column, field, why);
    if (status == STATUS_OK && *field == no_field) {
        why_set(why,
                "%s: line 1: column %s is missing: the first line must name the columns, separated "
                "by commas, as the job's schema does",
                reader->name, column);
        return STATUS_INVALID;
    }
    return status;
}

static enum status read_header(struct reader *reader, struct why *why)
{
    bool done = false;
    enum status status = csv_next(reader->csv, &done, why);
    if (status == STATUS_OK && done) {
        why_set(why, "%s: the file is empty: it needs a line of column names and then the records",
                reader->name);
        return STATUS_INVALID;
    }
    reader->header_fields = status == STATUS_OK ? csv_field_count(reader->csv) : 0;
    for (size_t i = 0; status == STATUS_OK && i < reader->schema->column_count; i++) {
        status = need_field(reader, reader->schema->column[i].name, &reader->field_of[i], why);
    }
    if (status == STATUS_OK && (reader->use == DATASET_LEARN || schema_is_series(reader->schema))) {
        status = need_field(reader, reader->schema->label.name, &reader->label_field, why);
    }
    return status;
}

static enum status read_records(struct dataset *out, struct reader *reader, struct why *why)
{
    for (;; reader->day++) {
        bool done = false;
        enum status status = csv_next(reader->csv, &done, why);
        if (status != STATUS_OK || done) {
            return status;
        }
        status = reader_take_row(reader, out, why);
        if (status == STATUS_OK && reader_has_record(reader)) {
            status = make_room(out, reader);
            if (status == STATUS_OK) {
                reader_put_record(reader, out);
                out->record_count++;
            }
        }
        if (status != STATUS_OK) {
            return status;
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
    out->clamped = calloc(schema->column_count + 1, sizeof *out->clamped);
    reader->field_of = calloc(schema->column_count + 1, sizeof *reader->field_of);
    reader->value = calloc(schema_value_count(schema) + 1, sizeof *reader->value);
    reader->history = calloc(reader->history_size + 1, sizeof *reader->history);
    if (out->clamped == NULL || reader->field_of == NULL || reader->value == NULL ||
        reader->history == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = features_new(&reader->features, schema, why);
    return status == STATUS_OK ? csv_new(&reader->csv, file, reader->name) : status;
}

static void reader_end(struct reader *reader)
{
    if (reader->value != NULL) {
        bytes_wipe(reader->value, schema_value_count(reader->schema) * sizeof *reader->value);
    }
    if (reader->history != NULL) {
        bytes_wipe(reader->history, reader->history_size * sizeof *reader->history);
    }
    csv_free(reader->csv);
    features_free(reader->features);
    free(reader->field_of);
    free(reader->value);
    free(reader->history);
    bytes_wipe(reader, sizeof *reader);
}

/* Too few records, with what a series' first days have to do with it. */
static enum status check_count(const struct dataset *out, const struct reader *reader,
                               struct why *why)
{
    const size_t record_min = reader->use == DATASET_LEARN ? 2 : 1;
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
                         const struct schema *schema, enum dataset_use use, struct why *why)
{
    struct reader reader = {.name = name, .schema = schema, .use = use};
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
                          const struct schema *schema, enum dataset_use use, struct why *why)
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
    const enum status status = dataset_read(out, file, name, schema, use, why);
    (void)fclose(file);
    return status;
}
