#include "describe/warnings.h"

#include "base/decimal.h"
#include "base/text.h"
#include "learn/csv.h"
#include "learn/header.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OF = 10, MOST = 9 }; /* nine in ten */

static void say(struct warnings *warnings, const struct why *text)
{
    warnings->count++;
    warnings->say(text->text);
}

/* What stands in a label's column. The classes of a label of two: the positive one, the negative one. */
struct seen {
    size_t rows;
    size_t missing;
    size_t unlisted;               /* neither missing nor one of the classes */
    size_t line;                   /* of the first unlisted one */
    char spelt[SCHEMA_NAME_BYTES]; /* its text, if it is another spelling of a class; else empty */
    size_t class_count;
    const char *class_name[SCHEMA_CATEGORIES_MAX]; /* NULL: whatever is not the other one */
    size_t holders[SCHEMA_CATEGORIES_MAX];
};

static struct seen seen_of(const struct label *label)
{
    struct seen seen = {.class_count = label->class_count};
    if (label->kind == LABEL_SIGN) {
        seen.class_count = 2;
        seen.class_name[0] = label->positive;
        seen.class_name[1] = strcmp(label->negative, SCHEMA_REST) == 0 ? NULL : label->negative;
        return seen;
    }
    for (size_t i = 0; i < label->class_count; i++) {
        seen.class_name[i] = label->class_name[i];
    }
    return seen;
}

static int lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static struct slice trimmed(struct slice text)
{
    const char *from = text.data;
    const char *to = from + text.size;
    while (from < to && *from == ' ') {
        from++;
    }
    while (to > from && to[-1] == ' ') {
        to--;
    }
    return (struct slice){from, (size_t)(to - from)};
}

/* The same number, or the same letters in another case or with spaces around them. */
static bool is_spelling_of(struct slice text, const char *name)
{
    const struct slice own = trimmed((struct slice){name, strlen(name)});
    const struct slice other = trimmed(text);
    double one;
    double two;
    if (decimal_cell(&one, own) == STATUS_OK && decimal_cell(&two, other) == STATUS_OK) {
        return !(one < two) && !(one > two);
    }
    bool same = own.size == other.size;
    for (size_t i = 0; same && i < own.size; i++) {
        same = lower(((const unsigned char *)own.data)[i]) ==
               lower(((const unsigned char *)other.data)[i]);
    }
    return same;
}

static void see_unlisted(struct seen *seen, struct slice text, size_t line)
{
    if (seen->unlisted++ > 0) {
        return;
    }
    seen->line = line;
    for (size_t i = 0; i < seen->class_count; i++) {
        if (seen->class_name[i] != NULL && text.size < sizeof seen->spelt &&
            is_spelling_of(text, seen->class_name[i])) {
            memcpy(seen->spelt, text.data, text.size);
            seen->spelt[text.size] = '\0';
        }
    }
}

static void see(struct seen *seen, struct slice text, size_t line)
{
    size_t at = 0;
    seen->rows++;
    while (at < seen->class_count &&
           (seen->class_name[at] == NULL || !slice_is(text, seen->class_name[at]))) {
        at++;
    }
    if (at < seen->class_count) {
        seen->holders[at]++;
    } else if (csv_is_missing(text)) {
        seen->missing++;
    } else {
        see_unlisted(seen, text, line);
    }
}

static enum status see_all(struct seen *seen, struct csv *csv, size_t field,
                           const struct dataset_options *options, struct why *why)
{
    const size_t most = options->row_count == DATASET_ALL_ROWS ? SIZE_MAX : options->row_count;
    bool done = false;
    csv_limit_lines(csv, options->line_bytes);
    while (seen->rows < most) {
        enum status status = csv_next(csv, &done, why);
        if (status != STATUS_OK || done) {
            return status;
        }
        see(seen, csv_field(csv, field), csv_line(csv));
    }
    return STATUS_OK;
}

/* Where the first cell of no class is, and what these count as. */
static void tell_unlisted(struct why *out, const struct seen *seen, const char *who,
                          const char *counts_as)
{
    if (seen->unlisted > 0) {
        const bool shown = seen->spelt[0] != '\0';
        const char *quote = shown ? "\"" : "";
        why_set(out, "; line %zu has %s%s%s: %s count as \"%s\"", seen->line, quote,
                shown ? seen->spelt : "another text", quote, who, counts_as);
    } else if (seen->missing > 0) {
        why_set(out, "; %zu are empty: %s count as \"%s\"", seen->missing, who, counts_as);
    }
}

static void warn_two(struct warnings *warnings, const struct seen *seen, const struct label *label)
{
    struct why tail = {""};
    struct why text = {""};
    const size_t others = seen->rows - seen->holders[0];
    const size_t negatives = seen->class_name[1] == NULL ? others : seen->holders[1];
    if (seen->holders[0] == 0) {
        why_set(&tail, ": all are \"%s\"", label->negative);
        tell_unlisted(&tail, seen, "all", label->negative);
        why_set(&text, "none of %zu cells of the label \"%s\" is \"%s\"%s", seen->rows, label->name,
                label->positive, tail.text);
    } else if (others == 0) {
        why_set(&text, "all %zu cells of the label \"%s\" are \"%s\"", seen->rows, label->name,
                label->positive);
    } else if (negatives == 0) {
        tell_unlisted(&tail, seen, "all but the positive ones", label->negative);
        why_set(&text, "none of %zu cells of the label \"%s\" is \"%s\"%s", seen->rows, label->name,
                label->negative, tail.text);
    } else if (seen->class_name[1] != NULL && seen->unlisted > 0) {
        tell_unlisted(&tail, seen, "they", label->negative);
        why_set(&text, "%zu of %zu cells of the label \"%s\" are neither \"%s\" nor \"%s\"%s",
                seen->unlisted, seen->rows, label->name, label->positive, label->negative,
                tail.text);
    } else {
        return;
    }
    say(warnings, &text);
}

static void warn_several(struct warnings *warnings, const struct seen *seen,
                         const struct label *label)
{
    struct why tail = {""};
    struct why text = {""};
    char list[WHY_BYTES / 2] = "";
    for (size_t i = 0; i < seen->class_count; i++) {
        if (seen->holders[i] == 0) {
            text_add(list, sizeof list, "%s\"%s\"", list[0] == '\0' ? "" : " or ",
                     seen->class_name[i]);
        }
    }
    if (list[0] != '\0') {
        tell_unlisted(&tail, seen, "all such cells", label->class_name[schema_other_class(label)]);
        why_set(&text, "none of %zu cells of the label \"%s\" is %s%s", seen->rows, label->name,
                list, tail.text);
        say(warnings, &text);
    }
}

enum status warnings_of_label(struct warnings *warnings, FILE *file, const char *name,
                              const struct label *label, const struct dataset_options *options,
                              struct why *why)
{
    struct seen seen = seen_of(label);
    struct csv *csv = NULL;
    size_t field = 0;
    bool done = false;
    if (label->kind == LABEL_NUMBER) {
        return STATUS_OK;
    }
    enum status status = csv_new(&csv, file, name, options->separator);
    if (status == STATUS_OK) {
        status = csv_next(csv, &done, why);
    }
    if (status == STATUS_OK && !done) {
        const struct header header = {.csv = csv,
                                      .name = name,
                                      .asked_by = "the job",
                                      .dictionary = "the data dictionary",
                                      .field_count = csv_field_count(csv)};
        status = header_need(&field, &header, label->name, why);
        if (status == STATUS_OK) {
            status = see_all(&seen, csv, field, options, why);
        }
    }
    if (status == STATUS_OK && seen.rows > 0) {
        if (label->kind == LABEL_SIGN) {
            warn_two(warnings, &seen, label);
        } else {
            warn_several(warnings, &seen, label);
        }
    }
    csv_free(csv);
    return status;
}

/* A column, as the person who states its range would see it. */
struct range {
    const char *name;
    bool is_number;
    double low, high;
};

static void warn_column(struct warnings *warnings, const struct cell_counts *counts, size_t rows,
                        const struct range *range)
{
    struct why text = {""};
    const size_t meant = rows - counts->missing - counts->unlisted;
    if (rows == 0) {
        return;
    }
    if (meant == 0 && counts->unlisted == 0) {
        why_set(&text, "all %zu cells of column \"%s\" are empty", rows, range->name);
    } else if (meant == 0) {
        why_set(&text, "none of %zu cells of column \"%s\" is %s; line %zu has another text", rows,
                range->name, range->is_number ? "a number" : "one of its categories", counts->line);
    } else if (MOST_OF * counts->clamped >= MOST * meant && counts->clamped > 0) {
        why_set(&text,
                "%zu of %zu numbers of column \"%s\" are outside %.6g to %.6g: another unit?",
                counts->clamped, meant, range->name, range->low, range->high);
    } else {
        return;
    }
    say(warnings, &text);
}

/* centre and half_width are of the transformed column. */
static struct range range_of(const char *name, enum column_transform transform, double centre,
                             double half_width)
{
    const bool is_log = transform == TRANSFORM_LOG1P;
    const double low = centre - half_width;
    const double high = centre + half_width;
    return (struct range){.name = name,
                          .is_number = true,
                          .low = is_log ? expm1(low) : low,
                          .high = is_log ? expm1(high) : high};
}

void warnings_of_columns(struct warnings *warnings, const struct dataset *data,
                         const struct schema *schema)
{
    const struct label *label = &schema->label;
    const size_t taken = data->record_count + schema_history(schema);
    const size_t rows = taken > data->filled_rows ? taken - data->filled_rows : 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->column[i];
        struct range range = {.name = column->name};
        if (column->kind == COLUMN_NUMBER) {
            range = range_of(column->name, column->transform, column->centre, column->half_width);
        }
        warn_column(warnings, &data->counts[i], rows, &range);
    }
    if (label->kind == LABEL_NUMBER) {
        const struct range range =
            range_of(label->name, TRANSFORM_NONE, label->centre, label->half_width);
        warn_column(warnings, &data->counts[schema->column_count], rows, &range);
    }
}

void warnings_of_dictionary(struct warnings *warnings, const struct dataset *data,
                            const struct dictionary *dictionary)
{
    const size_t rows = data->record_count < dictionary->record_count
                            ? data->record_count
                            : (size_t)dictionary->record_count;
    for (size_t i = 0; i < dictionary->column_count; i++) {
        const struct dictionary_column *column = &dictionary->column[i];
        const struct range range = {.name = column->name,
                                    .is_number = column->kind == DICTIONARY_NUMBER,
                                    .low = column->low,
                                    .high = column->high};
        warn_column(warnings, &data->counts[i], rows, &range);
    }
}

/* Columns of numbers where one value has a large share of the cells, and a question takes them to lie smoothly. */

static const double share_most = 0.1; /* of the cells, that are one number */
enum { VALUES_MOST = 20 };            /* this many different ones are few */

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct heap {
    double value;  /* the most frequent one */
    size_t cells;  /* that it holds */
    size_t values; /* different ones */
};

/* value: (count) rising */
static struct heap largest_heap(const double *value, size_t count)
{
    struct heap out = {.value = NAN};
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && value[i] != value[i - 1]) {
            first = i;
        }
        out.values += first == i ? 1 : 0;
        if (i - first + 1 > out.cells) {
            out.cells = i - first + 1;
            out.value = value[i];
        }
    }
    return out;
}

enum status warnings_of_heap(struct warnings *warnings, const struct dataset *data,
                             const struct schema *schema, size_t column)
{
    double *value = malloc((data->record_count + 1) * sizeof *value);
    size_t count = 0;
    struct why text = {""};
    if (value == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < data->record_count && data->raw != NULL; i++) {
        const double cell = data->raw[i * data->column_count + column];
        if (!isnan(cell)) {
            value[count++] = cell;
        }
    }
    qsort(value, count, sizeof *value, compare);
    const struct heap heap = largest_heap(value, count);
    if (count > VALUES_MOST &&
        (heap.values <= VALUES_MOST || (double)heap.cells >= share_most * (double)count)) {
        why_set(&text,
                "%zu of %zu numbers of column \"%s\" are %.6g, and %zu values are different: a "
                "regression may take them to lie smoothly over the range, and its intervals may "
                "then miss. "
                "If they are whole numbers, write whole(%s). If the heap is at a limit of "
                "detection, let the public range begin there",
                heap.cells, count, schema->column[column].name, heap.value, heap.values,
                schema->column[column].name);
        warnings->count++;
        warnings->say(text.text);
    }
    free(value);
    return STATUS_OK;
}
