#include "learn/dataset.h"

#include "learn/csv.h"
#include "learn/dense.h"
#include "learn/number.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A value this far outside [-1, 1] is out of its bounds; nearer, it is the bound itself, rounded.
 */
static const double bound_slack = 1e-9;

static const size_t no_field = SIZE_MAX;

/* One reading: which field each column and the label are in, and where the next record goes. */
struct reader {
    struct csv *csv;
    const char *name;
    const struct schema *schema;
    enum dataset_use use;
    size_t *field_of; /* (column_count) */
    size_t label_field;
    size_t header_fields;
    double scale;
    size_t room; /* in records */
};

static bool slice_is(struct slice slice, const char *text)
{
    return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

static bool slice_is_missing(struct slice slice)
{
    return slice.size == 0 || slice_is(slice, "NA");
}

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

static enum status make_room(struct dataset *out, struct reader *reader)
{
    if (out->record_count < reader->room) {
        return STATUS_OK;
    }
    const size_t d = out->feature_count;
    const size_t room = reader->room == 0 ? 256 : 2 * reader->room;
    if (room > SIZE_MAX / d) {
        return STATUS_NO_MEMORY;
    }
    double *x = grown(out->x, reader->room * d, room * d);
    if (x == NULL) {
        return STATUS_NO_MEMORY;
    }
    out->x = x;
    if (reader->use == DATASET_LEARN) {
        double *y = grown(out->y, reader->room, room);
        if (y == NULL) {
            return STATUS_NO_MEMORY;
        }
        out->y = y;
    }
    reader->room = room;
    return STATUS_OK;
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
    if (status == STATUS_OK && reader->use == DATASET_LEARN) {
        status = need_field(reader, reader->schema->label.name, &reader->label_field, why);
    }
    return status;
}

static enum status refuse(const struct reader *reader, struct why *why, const char *column,
                          const char *what)
{
    why_set(why, "%s: line %zu, column %s: %s", reader->name, csv_line(reader->csv), column, what);
    return STATUS_INVALID;
}

static enum status put_number(const struct reader *reader, const struct column *column,
                              struct slice text, double *feature, size_t *clamped, struct why *why)
{
    double value = column->missing;
    if (slice_is_missing(text)) {
        if (!column->has_missing) {
            return refuse(reader, why, column->name,
                          "no value: remove the record or let the job's schema say what a missing "
                          "value becomes");
        }
    } else if (number_parse(&value, text) != STATUS_OK) {
        return refuse(reader, why, column->name,
                      "not a number: write it like 12, -0.5 or 1e3 (a point, no spaces, no units), "
                      "or leave it empty if the schema allows a missing value");
    }
    if (column->transform == TRANSFORM_LOG1P) {
        value = value > -1 ? log1p(value) : -HUGE_VAL;
    }
    value = (value - column->centre) / column->half_width;
    *clamped += fabs(value) > 1 + bound_slack ? 1 : 0;
    *feature = dense_flushed(reader->scale * fmin(fmax(value, -1), 1));
    return STATUS_OK;
}

static enum status put_category(const struct reader *reader, const struct column *column,
                                struct slice text, double *feature, struct why *why)
{
    size_t found = 0;
    while (found < column->category_count && !slice_is(text, column->category[found])) {
        found++;
    }
    if (found == column->category_count) {
        if (!slice_is_missing(text)) {
            return refuse(reader, why, column->name,
                          "not one of the schema's categories: correct it, or ask for a schema "
                          "that has it");
        }
        if (!column->has_missing) {
            return refuse(reader, why, column->name,
                          "no value: remove the record or let the job's schema say what a missing "
                          "value becomes");
        }
        found = (size_t)column->missing;
    }
    if (column->category_count == 2) {
        *feature = found == 1 ? reader->scale : -reader->scale;
        return STATUS_OK;
    }
    for (size_t i = 0; i < column->category_count; i++) {
        feature[i] = i == found ? reader->scale : -reader->scale;
    }
    return STATUS_OK;
}

static enum status put_label(const struct reader *reader, double *y, struct why *why)
{
    const struct label *label = &reader->schema->label;
    const struct slice text = csv_field(reader->csv, reader->label_field);
    if (slice_is(text, label->positive)) {
        *y = 1;
    } else if (slice_is(text, label->negative)) {
        *y = -1;
    } else {
        return refuse(reader, why, label->name,
                      "neither of the label's two classes: correct it or remove the record");
    }
    return STATUS_OK;
}

static enum status put_record(struct dataset *out, const struct reader *reader, struct why *why)
{
    const struct schema *schema = reader->schema;
    double *feature = out->x + out->record_count * out->feature_count;
    enum status status = STATUS_OK;
    if (csv_field_count(reader->csv) != reader->header_fields) {
        why_set(why,
                "%s: line %zu has %zu fields where the first line has %zu: add or remove commas, "
                "or put fields with commas in quotes",
                reader->name, csv_line(reader->csv), csv_field_count(reader->csv),
                reader->header_fields);
        return STATUS_INVALID;
    }
    for (size_t i = 0; status == STATUS_OK && i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        const struct slice text = csv_field(reader->csv, reader->field_of[i]);
        if (column->kind == COLUMN_NUMBER) {
            status = put_number(reader, column, text, feature, &out->clamped[i], why);
            feature++;
        } else {
            status = put_category(reader, column, text, feature, why);
            feature += column->category_count > 2 ? column->category_count : 1;
        }
    }
    *feature = reader->scale;
    if (status == STATUS_OK && reader->use == DATASET_LEARN) {
        status = put_label(reader, &out->y[out->record_count], why);
    }
    return status;
}

static enum status read_records(struct dataset *out, struct reader *reader, struct why *why)
{
    for (;;) {
        bool done = false;
        enum status status = csv_next(reader->csv, &done, why);
        if (status != STATUS_OK || done) {
            return status;
        }
        status = make_room(out, reader);
        if (status == STATUS_OK) {
            status = put_record(out, reader, why);
        }
        if (status != STATUS_OK) {
            return status;
        }
        out->record_count++;
    }
}

enum status dataset_read(struct dataset *out, FILE *file, const char *name,
                         const struct schema *schema, enum dataset_use use, struct why *why)
{
    struct reader reader = {.name = name, .schema = schema, .use = use};
    const size_t record_min = use == DATASET_LEARN ? 2 : 1;
    *out = (struct dataset){
        .feature_count = schema_feature_count(schema),
        .column_count = schema->column_count,
    };
    reader.scale = schema_scale(out->feature_count);
    enum status status = csv_new(&reader.csv, file, name);
    if (status != STATUS_OK) {
        goto done;
    }
    out->clamped = calloc(schema->column_count + 1, sizeof *out->clamped);
    reader.field_of = calloc(schema->column_count + 1, sizeof *reader.field_of);
    if (out->clamped == NULL || reader.field_of == NULL) {
        status = STATUS_NO_MEMORY;
        goto done;
    }
    status = read_header(&reader, why);
    if (status == STATUS_OK) {
        status = read_records(out, &reader, why);
    }
    if (status == STATUS_OK && out->record_count < record_min) {
        why_set(why, "%s: it holds %zu records: at least %zu are needed", name, out->record_count,
                record_min);
        status = STATUS_INVALID;
    }
done:
    csv_free(reader.csv);
    free(reader.field_of);
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
