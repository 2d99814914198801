/* One row of a table: each cell to its value, and the values to a record. No message repeats what
 * stands in a cell. */

#include "learn/dataset_reader.h"
#include "learn/number.h"

#include <math.h>

/* A value this far outside [-1, 1] is out of its bounds; nearer, it is the bound itself, rounded.
 */
static const double bound_slack = 1e-9;

static bool slice_is_missing(struct slice slice)
{
    return slice.size == 0 || slice_is(slice, "NA");
}

static enum status refuse(const struct reader *reader, struct why *why, const char *column,
                          const char *what)
{
    why_set(why, "%s: line %zu, column %s: %s", reader->name, csv_line(reader->csv), column, what);
    return STATUS_INVALID;
}

static enum status take_number(const struct reader *reader, const struct column *column,
                               struct slice text, double *value, size_t *clamped, struct why *why)
{
    *value = column->missing;
    if (slice_is_missing(text)) {
        if (!column->has_missing) {
            return refuse(reader, why, column->name,
                          "no value: remove the record or let the job's schema say what a missing "
                          "value becomes");
        }
    } else if (number_parse(value, text) != STATUS_OK) {
        return refuse(reader, why, column->name,
                      "not a number: write it like 12, -0.5 or 1e3 (a point, no spaces, no units), "
                      "or leave it empty if the schema allows a missing value");
    }
    *clamped += fabs(features_scaled(column, *value)) > 1 + bound_slack ? 1 : 0;
    return STATUS_OK;
}

/* Returns the index of text, or count. */
static size_t find_text(const char (*list)[SCHEMA_NAME_BYTES], size_t count, struct slice text)
{
    size_t found = 0;
    while (found < count && !slice_is(text, list[found])) {
        found++;
    }
    return found;
}

static enum status take_category(const struct reader *reader, const struct column *column,
                                 struct slice text, double *value, struct why *why)
{
    const size_t found = find_text(column->category, column->category_count, text);
    *value = (double)found;
    if (found < column->category_count) {
        return STATUS_OK;
    }
    if (!slice_is_missing(text)) {
        return refuse(reader, why, column->name,
                      "not one of the schema's categories: correct it, or ask for a schema that "
                      "has it");
    }
    if (!column->has_missing) {
        return refuse(reader, why, column->name,
                      "no value: remove the record or let the job's schema say what a missing "
                      "value becomes");
    }
    *value = column->missing;
    return STATUS_OK;
}

static enum status take_label_number(struct reader *reader, struct dataset *out, double *value,
                                     struct why *why)
{
    const struct label *label = &reader->schema->label;
    const struct slice text = csv_field(reader->csv, reader->label_field);
    if (reader->use == DATASET_PREDICT && slice_is_missing(text)) {
        *value = NAN;
        return STATUS_OK;
    }
    if (slice_is_missing(text)) {
        return refuse(reader, why, label->name,
                      schema_is_series(reader->schema)
                          ? "no value: a series needs one for every day"
                          : "no value: a record to learn from needs one; remove it");
    }
    if (number_parse(value, text) != STATUS_OK) {
        return refuse(reader, why, label->name,
                      "not a number: write it like 12, -0.5 or 1e3 (a point, no spaces, no units)");
    }
    out->label_clamped +=
        fabs((*value - label->centre) / label->half_width) > 1 + bound_slack ? 1 : 0;
    reader->label = features_label(label, *value);
    return STATUS_OK;
}

static enum status take_label(struct reader *reader, struct why *why)
{
    const struct label *label = &reader->schema->label;
    const struct slice text = csv_field(reader->csv, reader->label_field);
    if (label->kind == LABEL_CLASSES) {
        const size_t found = find_text(label->class_name, label->class_count, text);
        reader->label = (double)found;
        return found < label->class_count
                   ? STATUS_OK
                   : refuse(reader, why, label->name,
                            "none of the label's classes: correct it or remove the record");
    }
    if (slice_is(text, label->positive)) {
        reader->label = 1;
    } else if (slice_is(text, label->negative)) {
        reader->label = -1;
    } else {
        return refuse(reader, why, label->name,
                      "neither of the label's two classes: correct it or remove the record");
    }
    return STATUS_OK;
}

/* Takes the lags of the row at hand from the days before it, then remembers its own value. */
static enum status take_lags(struct reader *reader, double today, struct why *why)
{
    const struct schema *schema = reader->schema;
    for (size_t i = 0; reader_has_record(reader) && i < schema->lag_count; i++) {
        const double then = reader->history[(reader->day - schema->lag[i]) % reader->history_size];
        if (isnan(then)) {
            why_set(why,
                    "%s: line %zu, column %s: the day %zu rows before has no value, and is needed "
                    "for lag_%zu: fill it in, or remove the rows from this one on",
                    reader->name, csv_line(reader->csv), schema->label.name, schema->lag[i],
                    schema->lag[i]);
            return STATUS_INVALID;
        }
        reader->value[i] = then;
    }
    reader->history[reader->day % reader->history_size] = today;
    return STATUS_OK;
}

bool reader_has_record(const struct reader *reader)
{
    return reader->day >= reader->history_size;
}

enum status reader_take_row(struct reader *reader, struct dataset *out, struct why *why)
{
    const struct schema *schema = reader->schema;
    double *value = reader->value + schema->lag_count;
    double today = NAN;
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
        status = column->kind == COLUMN_NUMBER
                     ? take_number(reader, column, text, &value[i], &out->clamped[i], why)
                     : take_category(reader, column, text, &value[i], why);
    }
    if (status == STATUS_OK && (reader->use == DATASET_LEARN || schema_is_series(schema))) {
        status = schema->label.kind == LABEL_NUMBER ? take_label_number(reader, out, &today, why)
                                                    : take_label(reader, why);
    }
    if (status == STATUS_OK && schema_is_series(schema)) {
        status = take_lags(reader, today, why);
    }
    return status;
}

void reader_put_record(const struct reader *reader, struct dataset *out)
{
    const struct schema *schema = reader->schema;
    features_apply(reader->features, out->x + out->record_count * out->feature_count,
                   reader->value);
    if (out->y != NULL) {
        out->y[out->record_count] = reader->label;
    }
    for (size_t i = 0; out->raw != NULL && i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        const double value = reader->value[schema->lag_count + i];
        out->raw[out->record_count * schema->column_count + i] =
            column->kind == COLUMN_NUMBER ? features_cell(column, value) : value;
    }
}
