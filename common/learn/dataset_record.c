/* One row of a table: each cell to its value, and the values to a record. Nothing here can fail, and
 * nothing depends on another row but the lags of a series. */

#include "base/decimal.h"
#include "learn/dataset_reader.h"

#include <math.h>
#include <string.h>

/* A value this far outside [-1, 1] is out of its bounds; nearer, it is the bound itself, rounded.
 */
static const double bound_slack = 1e-9;

/* A field that the row does not have is missing. */
static struct slice field_of(const struct reader *reader, size_t field)
{
    return reader->is_over ? (struct slice){"", 0} : csv_field(reader->csv, field);
}

static void count_unlisted(struct cell_counts *counts, const struct reader *reader)
{
    counts->line = counts->line == 0 ? csv_line(reader->csv) : counts->line;
    counts->unlisted++;
}

/* NAN where the cell is missing or no number. */
static double take_number(struct cell_counts *counts, const struct reader *reader,
                          struct slice text)
{
    double value = NAN;
    if (csv_is_missing(text)) {
        counts->missing += reader->is_over ? 0 : 1;
    } else if (decimal_cell(&value, text) != STATUS_OK) {
        count_unlisted(counts, reader);
        counts->commas += decimal_cell_has_comma(text) ? 1 : 0;
        value = NAN;
    }
    return value;
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

static double take_category(struct cell_counts *counts, const struct reader *reader,
                            const struct column *column, struct slice text)
{
    const size_t found = find_text(column->category, column->category_count, text);
    if (found < column->category_count) {
        return (double)found;
    }
    if (csv_is_missing(text)) {
        counts->missing += reader->is_over ? 0 : 1;
        return NAN;
    }
    count_unlisted(counts, reader);
    return FEATURES_UNLISTED;
}

static void take_cell(struct reader *reader, struct dataset *out, size_t index, double *value)
{
    const struct column *column = &reader->schema->column[index];
    const struct slice text = field_of(reader, reader->field_of[index]);
    struct cell_counts *counts = &out->counts[index];
    if (column->kind == COLUMN_CATEGORY) {
        *value = take_category(counts, reader, column, text);
        return;
    }
    *value = take_number(counts, reader, text);
    counts->clamped +=
        !isnan(*value) && fabs(features_scaled(column, *value)) > 1 + bound_slack ? 1 : 0;
}

/* Returns the number itself, for a series' history. */
static double take_label_number(struct reader *reader, struct cell_counts *counts)
{
    const struct label *label = &reader->schema->label;
    const double value = take_number(counts, reader, field_of(reader, reader->label_field));
    counts->clamped +=
        !isnan(value) && fabs((value - label->centre) / label->half_width) > 1 + bound_slack ? 1
                                                                                             : 0;
    reader->label = features_label(label, value);
    reader->raw_label = value;
    return value;
}

static void take_label_text(struct reader *reader, struct cell_counts *counts)
{
    const struct label *label = &reader->schema->label;
    const struct slice text = field_of(reader, reader->label_field);
    bool is_listed = false;
    if (label->kind == LABEL_CLASSES) {
        const size_t found = find_text(label->class_name, label->class_count, text);
        is_listed = found < label->class_count;
        reader->label = (double)(is_listed ? found : schema_other_class(label));
    } else {
        const bool is_positive = slice_is(text, label->positive);
        is_listed = is_positive || slice_is(text, label->negative);
        reader->label = is_positive ? 1 : -1;
    }
    reader->raw_label = is_listed || label->kind == LABEL_SIGN ? reader->label
                        : csv_is_missing(text)                 ? NAN
                                                               : FEATURES_UNLISTED;
    if (!is_listed && csv_is_missing(text)) {
        counts->missing += reader->is_over ? 0 : 1;
    } else if (!is_listed &&
               (label->kind == LABEL_CLASSES || strcmp(label->negative, SCHEMA_REST) != 0)) {
        count_unlisted(counts, reader);
    }
}

/* Takes the lags of the row at hand from the days before it, then remembers its own value. */
static void take_lags(struct reader *reader, double today)
{
    const struct schema *schema = reader->schema;
    for (size_t i = 0; reader_has_record(reader) && i < schema->lag_count; i++) {
        reader->value[i] = reader->history[(reader->day - schema->lag[i]) % reader->history_size];
    }
    reader->history[reader->day % reader->history_size] = today;
}

bool reader_has_record(const struct reader *reader)
{
    return reader->day >= reader->history_size;
}

void reader_take_row(struct reader *reader, struct dataset *out)
{
    const struct schema *schema = reader->schema;
    double *value = reader->value + schema->lag_count;
    double today = NAN;
    if (!reader->is_over &&
        (csv_field_count(reader->csv) != reader->header_fields || csv_is_broken(reader->csv))) {
        out->wrong_line = out->wrong_rows == 0 ? csv_line(reader->csv) : out->wrong_line;
        out->wrong_rows++;
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        take_cell(reader, out, i, &value[i]);
    }
    if (reader->options->use == DATASET_LEARN || schema_is_series(schema)) {
        struct cell_counts *counts = &out->counts[schema->column_count];
        if (schema->label.kind == LABEL_NUMBER) {
            today = take_label_number(reader, counts);
        } else {
            take_label_text(reader, counts);
        }
    }
    if (schema_is_series(schema)) {
        take_lags(reader, today);
    }
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
        out->raw[out->record_count * schema->column_count + i] =
            reader->value[schema->lag_count + i];
    }
    if (out->raw_label != NULL) {
        out->raw_label[out->record_count] = reader->raw_label;
    }
}
