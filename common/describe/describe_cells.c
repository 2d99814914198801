/* What a table's cells are beside its dictionary. */

#include "describe/describe.h"

#include "base/decimal.h"
#include "learn/csv.h"
#include "learn/header.h"

#include <stdlib.h>

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
