#include "learn/cells.h"

static bool is_plain(const struct cell_counts *counts)
{
    return counts->missing + counts->unlisted + counts->clamped == 0;
}

static void show_column(FILE *stream, const char *prefix, const char *name,
                        const struct cell_counts *counts)
{
    if (is_plain(counts)) {
        return;
    }
    (void)fprintf(stream, "%s%-20s %9zu %9zu %9zu", prefix, name, counts->missing, counts->unlisted,
                  counts->clamped);
    if (counts->line > 0) {
        (void)fprintf(stream, "   unlisted first in line %zu", counts->line);
    }
    if (counts->commas > 0) {
        (void)fprintf(stream, "; %zu have a decimal comma: write a point", counts->commas);
    }
    (void)fputc('\n', stream);
}

void cells_show(FILE *stream, const char *prefix, const struct dataset *data,
                const struct schema *schema)
{
    const struct cell_counts total = dataset_count(data);
    if (data->wrong_rows > 0) {
        (void)fprintf(stream,
                      "%s%zu rows have more or fewer fields than the first line, or a quote that "
                      "never closes\n",
                      prefix, data->wrong_rows);
    }
    if (data->filled_rows > 0) {
        (void)fprintf(stream, "%s%zu rows are not in the file, and count as rows of empty cells\n",
                      prefix, data->filled_rows);
    }
    if (is_plain(&total)) {
        return;
    }
    (void)fprintf(stream, "%s%-20s %9s %9s %9s\n", prefix, "cells of column", "missing", "unlisted",
                  "clamped");
    for (size_t i = 0; i < data->column_count; i++) {
        show_column(stream, prefix, schema->column[i].name, &data->counts[i]);
    }
    show_column(stream, prefix, schema->label.name, &data->counts[data->column_count]);
}
