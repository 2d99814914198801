#include "learn/dataset.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 20 };

static enum status dataset_make(struct dataset *out, const struct dataset *like, size_t count)
{
    *out = (struct dataset){
        .record_count = count,
        .feature_count = like->feature_count,
        .column_count = like->column_count,
    };
    out->x = calloc(count * like->feature_count + 1, sizeof *out->x);
    out->counts = calloc(like->column_count + 1, sizeof *out->counts);
    out->y = like->y == NULL ? NULL : calloc(count + 1, sizeof *out->y);
    out->raw = like->raw == NULL ? NULL : calloc(count * like->column_count + 1, sizeof *out->raw);
    out->raw_label = like->raw_label == NULL ? NULL : calloc(count + 1, sizeof *out->raw_label);
    if (out->x == NULL || out->counts == NULL || (like->y != NULL && out->y == NULL) ||
        (like->raw != NULL && out->raw == NULL) ||
        (like->raw_label != NULL && out->raw_label == NULL)) {
        dataset_free(out);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static void copy_record(struct dataset *out, size_t to, const struct dataset *from, size_t at)
{
    const size_t d = from->feature_count;
    memcpy(out->x + to * d, from->x + at * d, d * sizeof *out->x);
    if (from->y != NULL) {
        out->y[to] = from->y[at];
    }
    if (from->raw_label != NULL) {
        out->raw_label[to] = from->raw_label[at];
    }
    if (from->raw != NULL) {
        const size_t count = from->column_count;
        memcpy(out->raw + to * count, from->raw + at * count, count * sizeof *out->raw);
    }
}

/* The first line stays the first of all. */
static void add_counts(struct cell_counts *to, const struct cell_counts *from)
{
    to->missing += from->missing;
    to->unlisted += from->unlisted;
    to->clamped += from->clamped;
    to->commas += from->commas;
    to->line = to->line == 0 ? from->line : to->line;
}

enum status dataset_concat(struct dataset *out, const struct dataset *const *from, size_t count)
{
    CHECK(count >= 1);
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(from[i]->feature_count == from[0]->feature_count &&
              from[i]->column_count == from[0]->column_count &&
              (from[i]->y == NULL) == (from[0]->y == NULL) &&
              (from[i]->raw == NULL) == (from[0]->raw == NULL) &&
              (from[i]->raw_label == NULL) == (from[0]->raw_label == NULL));
        total += from[i]->record_count;
    }
    const enum status status = dataset_make(out, from[0], total);
    size_t to = 0;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        for (size_t at = 0; at < from[i]->record_count; at++, to++) {
            copy_record(out, to, from[i], at);
        }
        for (size_t column = 0; column <= from[i]->column_count; column++) {
            add_counts(&out->counts[column], &from[i]->counts[column]);
        }
        out->wrong_line = out->wrong_rows == 0 ? from[i]->wrong_line : out->wrong_line;
        out->wrong_rows += from[i]->wrong_rows;
        out->filled_rows += from[i]->filled_rows;
    }
    return status;
}

struct cell_counts dataset_count(const struct dataset *dataset)
{
    struct cell_counts total = {0};
    for (size_t i = 0; i <= dataset->column_count; i++) {
        add_counts(&total, &dataset->counts[i]);
    }
    return total;
}

void dataset_free(struct dataset *dataset)
{
    if (dataset == NULL) {
        return;
    }
    bytes_free(dataset->x, dataset->record_count * dataset->feature_count * sizeof *dataset->x);
    bytes_free(dataset->y, dataset->record_count * sizeof *dataset->y);
    bytes_free(dataset->raw, dataset->record_count * dataset->column_count * sizeof *dataset->raw);
    bytes_free(dataset->raw_label, dataset->record_count * sizeof *dataset->raw_label);
    bytes_free(dataset->counts, (dataset->column_count + 1) * sizeof *dataset->counts);
    *dataset = (struct dataset){0};
}

static bool is_plain(const struct cell_counts *counts)
{
    return counts->missing + counts->unlisted + counts->clamped == 0;
}

/* Every line fits 80 columns with the prefix of `check`. */
static void show_column(FILE *stream, const char *prefix, const char *name,
                        const struct cell_counts *counts)
{
    if (strlen(name) > NAME_WIDTH) {
        (void)fprintf(stream, "%s%s\n", prefix, name);
        name = "";
    }
    (void)fprintf(stream, "%s%-*s %9zu %9zu %9zu\n", prefix, NAME_WIDTH, name, counts->missing,
                  counts->unlisted, counts->clamped);
    if (counts->line > 0) {
        (void)fprintf(stream, "%s  unlisted first in line %zu\n", prefix, counts->line);
    }
    if (counts->commas > 0) {
        (void)fprintf(stream, "%s  %zu %s a decimal comma: write a point\n", prefix, counts->commas,
                      counts->commas == 1 ? "has" : "have");
    }
}

void cells_show(FILE *stream, const char *prefix, const struct dataset *data,
                const char *(*name_of)(const void *self, size_t column), const void *self)
{
    const struct cell_counts total = dataset_count(data);
    if (data->wrong_rows > 0) {
        (void)fprintf(stream,
                      "%s%zu %s more or fewer fields than the first\n"
                      "%*s  line, a quote that never closes, or more bytes\n"
                      "%*s  than line_bytes; first in line %zu\n",
                      prefix, data->wrong_rows, data->wrong_rows == 1 ? "row has" : "rows have",
                      (int)strlen(prefix), "", (int)strlen(prefix), "", data->wrong_line);
    }
    if (data->filled_rows > 0) {
        (void)fprintf(stream, "%s%zu %s not in the file: of empty cells\n", prefix,
                      data->filled_rows, data->filled_rows == 1 ? "row is" : "rows are");
    }
    if (is_plain(&total)) {
        return;
    }
    (void)fprintf(stream, "%s%-*s %9s %9s %9s\n", prefix, NAME_WIDTH, "cells of column", "missing",
                  "unlisted", "clamped");
    for (size_t i = 0; i <= data->column_count; i++) {
        if (!is_plain(&data->counts[i])) {
            show_column(stream, prefix, name_of(self, i), &data->counts[i]);
        }
    }
}
