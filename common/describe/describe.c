#include "describe/describe.h"

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/text.h"
#include "config/config.h"
#include "learn/csv.h"
#include "learn/header.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SAVE "save the table as UTF-8 text"

enum { FIELD_BYTES = 64 }; /* a draft's room for each column, on average */

/* What has been seen of a column so far. */
struct seen {
    char name[SCHEMA_NAME_BYTES];
    bool listed;      /* it stands in the draft */
    bool has_many;    /* more distinct texts than a list may have, or one too long for it */
    uint64_t numbers; /* cells that hold a number */
    uint64_t others;  /* cells that hold another text */
    size_t text_count;
    char text[DESCRIBE_CATEGORIES_MAX][SCHEMA_NAME_BYTES];
    uint64_t holders[DESCRIBE_CATEGORIES_MAX];
};

struct survey {
    struct seen *column; /* (column_count), by field */
    size_t column_count;
    size_t line_bytes; /* of the draft */
    struct describe_counts counts;
};

static const char HEADER[] =
    "# The data dictionary of this site: what it says about its records to whoever writes jobs.\n"
    "# EVERYTHING IN THIS FILE BECOMES PUBLIC once it is shared, and jobs are judged against it.\n"
    "# This is a draft, made from the records by `hedgerow-agent describe`. Before you use it:\n"
    "#  - records: the agent uses this many rows and no more. You may round it down further.\n"
    "#  - line_bytes: what a longer line holds beyond it is not used. Lower numbers join jobs sooner.\n"
    "#  - Remove every column that jobs must not ask about.\n"
    "#  - kind is a guess. A number that is a code (1 = male) is a category.\n"
    "#  - categories COME FROM THE RECORDS: strike out what nobody may know, add what is missing.\n"
    "#    Texts that fewer than 5 records hold were left out.\n"
    "#  - Add to numbers, where it is known without the records: unit: years, low: 0, high: 120\n";

_Static_assert(DESCRIBE_HOLDERS_MIN == 5, "the header says how many");
_Static_assert(SCHEMA_NAME_BYTES == 64, "wrong_name says how many");

uint64_t describe_rounded(uint64_t rows)
{
    uint64_t step = 1;
    if (rows < 10) {
        return DICTIONARY_RECORDS_MIN;
    }
    while (rows / step >= (rows < 100 ? 10 : 100)) {
        step *= 10;
    }
    return rows / step * step;
}

/* What can stand in a job's text, between double quotes: no control characters, not too long. */
static bool can_be_written(struct slice text)
{
    const unsigned char *byte = text.data;
    if (text.size == 0 || text.size >= SCHEMA_NAME_BYTES) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (byte[i] < 0x20 || byte[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

static void keep_text(char out[static SCHEMA_NAME_BYTES], struct slice text)
{
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
}

static bool is_wanted(const struct schema *only, const char *name)
{
    bool wanted = only == NULL || strcmp(only->label.name, name) == 0;
    for (size_t i = 0; !wanted && i < only->column_count; i++) {
        wanted = strcmp(only->column[i].name, name) == 0;
    }
    return wanted;
}

/* By the number of columns, which the header line tells, and by no record. */
static size_t line_bytes(size_t columns)
{
    const size_t wanted = columns * FIELD_BYTES;
    return wanted < DICTIONARY_LINE_BYTES_DEFAULT ? DICTIONARY_LINE_BYTES_DEFAULT
           : wanted > DICTIONARY_LINE_BYTES_MAX   ? DICTIONARY_LINE_BYTES_MAX
                                                  : wanted;
}

static void leave_column(struct describe_counts *counts, size_t field, const char *reason)
{
    if (counts->left++ == 0) {
        counts->left_first = field + 1;
        counts->left_reason = reason;
    }
}

static const char *wrong_name(struct slice name)
{
    return name.size == 0                   ? "it has no name"
           : name.size >= SCHEMA_NAME_BYTES ? "its name is longer than 63 bytes"
                                            : "its name holds control characters";
}

static enum status take_header(struct survey *survey, const struct csv *csv, const char *name,
                               const struct schema *only, struct why *why)
{
    survey->column_count = csv_field_count(csv);
    survey->line_bytes = line_bytes(survey->column_count);
    survey->column = calloc(survey->column_count, sizeof *survey->column);
    if (survey->column == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < survey->column_count; i++) {
        struct seen *seen = &survey->column[i];
        if (!can_be_written(csv_field(csv, i))) {
            leave_column(&survey->counts, i, wrong_name(csv_field(csv, i)));
            continue;
        }
        keep_text(seen->name, csv_field(csv, i));
        seen->listed = is_wanted(only, seen->name);
        if (seen->listed && !slice_is_utf8(csv_field(csv, i))) {
            return why_refuse(why, "%s: line 1, column %zu: the name is not UTF-8: " SAVE, name,
                              i + 1);
        }
        for (size_t j = 0; j < i && seen->listed; j++) {
            if (strcmp(survey->column[j].name, seen->name) == 0) {
                seen->listed = false;
                leave_column(&survey->counts, i, "another column before it has the same name");
            }
        }
    }
    return STATUS_OK;
}

static void take_cell(struct seen *seen, struct slice text, uint64_t *commas)
{
    double number;
    if (csv_is_missing(text)) {
        return;
    }
    if (decimal_cell(&number, text) == STATUS_OK) {
        seen->numbers++;
    } else if (decimal_cell_has_comma(text)) {
        seen->numbers++;
        ++*commas;
    } else {
        seen->others++;
    }
    if (seen->has_many) {
        return;
    }
    for (size_t i = 0; i < seen->text_count; i++) {
        if (slice_is(text, seen->text[i])) {
            seen->holders[i]++;
            return;
        }
    }
    seen->has_many = seen->text_count == DESCRIBE_CATEGORIES_MAX || !can_be_written(text);
    if (!seen->has_many) {
        keep_text(seen->text[seen->text_count], text);
        seen->holders[seen->text_count++] = 1;
    }
}

static enum status take_records(struct survey *survey, struct csv *csv, const char *name,
                                struct why *why)
{
    bool done = false;
    for (;; survey->counts.rows++) {
        enum status status = csv_next(csv, &done, why);
        if (status != STATUS_OK || done) {
            return status;
        }
        survey->counts.cut += csv_raw(csv).size > survey->line_bytes ? 1 : 0;
        for (size_t i = 0; i < survey->column_count && i < csv_field_count(csv); i++) {
            if (survey->column[i].listed && !slice_is_utf8(csv_field(csv, i))) {
                return why_refuse(why, "%s: line %zu, column %s: the text is not UTF-8: " SAVE,
                                  name, csv_line(csv), survey->column[i].name);
            }
            if (survey->column[i].listed) {
                take_cell(&survey->column[i], csv_field(csv, i), &survey->counts.commas);
            }
        }
    }
}

/* The order in which texts first stand in the table is the table's: the draft sorts them. */
static void put_categories(FILE *out, const struct seen *seen)
{
    char text[DESCRIBE_CATEGORIES_MAX][SCHEMA_NAME_BYTES];
    size_t count = 0;
    for (size_t i = 0; !seen->has_many && i < seen->text_count; i++) {
        if (seen->holders[i] >= DESCRIBE_HOLDERS_MIN) {
            memcpy(text[count++], seen->text[i], SCHEMA_NAME_BYTES);
        }
    }
    if (count == 0) {
        return;
    }
    qsort(text, count, sizeof text[0], text_order);
    (void)fputs(", categories: [", out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i == 0 ? "" : ", ", out);
        config_put_text(out, text[i]);
    }
    (void)fputs("]", out);
}

/* A column is one of numbers when at most every tenth of its cells holds something else. */
static void put_column(FILE *out, const struct seen *seen)
{
    const bool is_number = seen->numbers >= 9 * seen->others;
    (void)fputs("      - {name: ", out);
    config_put_text(out, seen->name);
    (void)fprintf(out, ", kind: %s",
                  dictionary_kind_name(is_number ? DICTIONARY_NUMBER : DICTIONARY_CATEGORY));
    if (!is_number) {
        put_categories(out, seen);
    }
    (void)fputs("}\n", out);
}

static enum status put_dictionary(char **text, const struct survey *survey, const char *name,
                                  char separator, uint64_t record_count)
{
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    if (out == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)fprintf(out, "%shedgerow: 1\ndata_sets:\n  - ", HEADER);
    if (name[0] != '\0') {
        (void)fputs("name: ", out);
        config_put_text(out, name);
        (void)fputs("\n    ", out);
    }
    (void)fprintf(out, "records: %" PRIu64 "\n", record_count);
    if (separator != ',') {
        (void)fprintf(out, "    separator: %s\n", csv_separator_name(separator));
    }
    (void)fprintf(out, "    line_bytes: %zu\n    columns:\n", survey->line_bytes);
    for (size_t i = 0; i < survey->column_count; i++) {
        if (survey->column[i].listed) {
            put_column(out, &survey->column[i]);
        }
    }
    return text_close(text, out);
}

enum status describe_table(char **text, struct describe_counts *counts, FILE *file,
                           const char *name, const struct describe_options *options,
                           struct why *why)
{
    struct survey survey = {.column = NULL};
    struct csv *csv = NULL;
    bool done = false;
    *text = NULL;
    enum status status = csv_new(&csv, file, name, options->separator);

    if (status == STATUS_OK) {
        status = csv_next(csv, &done, why);
    }
    if (status == STATUS_OK && done) {
        status = why_refuse(
            why, "%s: the file is empty: it needs a line of column names and then the records",
            name);
    }
    if (status == STATUS_OK) {
        status = take_header(&survey, csv, name, options->only, why);
    }
    if (status == STATUS_OK) {
        status = take_records(&survey, csv, name, why);
    }
    if (status == STATUS_OK && survey.counts.rows < DICTIONARY_RECORDS_MIN) {
        status = why_refuse(why, "%s: it holds %" PRIu64 " records: at least %d are needed", name,
                            survey.counts.rows, (int)DICTIONARY_RECORDS_MIN);
    }
    if (status == STATUS_OK) {
        uint64_t admitted = options->record_count > 0 ? options->record_count
                                                      : describe_rounded(survey.counts.rows);
        status = put_dictionary(text, &survey, options->name != NULL ? options->name : "",
                                csv_separator(csv), options->exact ? survey.counts.rows : admitted);
    }
    *counts = survey.counts;
    bytes_free(survey.column, survey.column_count * sizeof *survey.column);
    csv_free(csv);
    return status;
}

/* What a table's cells are beside its dictionary. */

/* Without a list every text is a category. */
static bool is_listed(const struct dictionary_column *column, struct slice text)
{
    bool found = column->category_count == 0;
    for (size_t i = 0; !found && i < column->category_count; i++) {
        found = slice_is(text, column->category[i]);
    }
    return found;
}

static void count_cell(struct cell_counts *counts, const struct dictionary_column *column,
                       struct slice text, size_t line)
{
    double number = 0;
    const bool is_number = column->kind == DICTIONARY_NUMBER;
    if (csv_is_missing(text)) {
        counts->missing++;
    } else if (is_number ? decimal_cell(&number, text) != STATUS_OK : !is_listed(column, text)) {
        counts->line = counts->line == 0 ? line : counts->line;
        counts->commas += is_number && decimal_cell_has_comma(text) ? 1 : 0;
        counts->unlisted++;
    } else if (is_number && (number < column->low || number > column->high)) {
        counts->clamped++;
    }
}

static enum status count_cells(struct dataset *out, struct csv *csv, const size_t *field_of,
                               const struct dictionary *dictionary, struct why *why)
{
    const size_t header_fields = csv_field_count(csv);
    bool done = false;
    csv_limit_lines(csv, dictionary->line_bytes);
    for (;; out->record_count++) {
        enum status status = csv_next(csv, &done, why);
        if (status != STATUS_OK || done) {
            return status;
        }
        if (out->record_count >= dictionary->record_count) {
            continue;
        }
        if ((csv_field_count(csv) != header_fields || csv_is_broken(csv)) &&
            out->wrong_rows++ == 0) {
            out->wrong_line = csv_line(csv);
        }
        for (size_t i = 0; i < out->column_count; i++) {
            count_cell(&out->counts[i], &dictionary->column[i], csv_field(csv, field_of[i]),
                       csv_line(csv));
        }
    }
}

enum status describe_cells(struct dataset *out, FILE *file, const char *name,
                           const struct dictionary *dictionary, struct why *why)
{
    const size_t count = dictionary->column_count;
    struct csv *csv = NULL;
    bool done = false;
    size_t *field_of = calloc(count + 1, sizeof *field_of);
    *out =
        (struct dataset){.column_count = count, .counts = calloc(count + 1, sizeof *out->counts)};
    enum status status = field_of == NULL || out->counts == NULL
                             ? STATUS_NO_MEMORY
                             : csv_new(&csv, file, name, dictionary->separator);
    if (status == STATUS_OK) {
        status = csv_next(csv, &done, why);
    }
    const struct header header = {.csv = csv,
                                  .name = name,
                                  .asked_by = "the dictionary",
                                  .dictionary = "the data dictionary",
                                  .field_count = status == STATUS_OK ? csv_field_count(csv) : 0};
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = header_need(&field_of[i], &header, dictionary->column[i].name, why);
    }
    if (status == STATUS_OK) {
        status = count_cells(out, csv, field_of, dictionary, why);
    }
    if (status != STATUS_OK) {
        dataset_free(out);
    }
    free(field_of);
    csv_free(csv);
    return status;
}
