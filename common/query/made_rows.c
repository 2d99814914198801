#include "query/made_rows.h"

#include "base/check.h"
#include "learn/features.h"

#include <math.h>
#include <stdlib.h>

enum {
    REPEATS = 8,      /* of a combination, where numbers matter that no constant is compared with */
    ROWS_LEAST = 512, /* then */
    SALT_CLASS = 1,
    SALT_NUMBER,
    SALT_THRESHOLD,
    SALT_PLACE
};

uint64_t made_mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static uint64_t drawn(uint64_t index, uint64_t column, unsigned salt)
{
    return made_mix(made_mix(made_mix(index) ^ column) ^ salt);
}

/* In (0, 1). */
static double drawn_number(uint64_t index, uint64_t column, unsigned salt)
{
    return ((double)(drawn(index, column, salt) >> 12) + 0.5) * 0x1p-52;
}

void made_rows_init(struct made_rows *rows, const struct schema *schema)
{
    *rows = (struct made_rows){.schema = schema};
}

void made_rows_free(struct made_rows *rows)
{
    free(rows->mark);
    free(rows->edge);
    free(rows->column);
    free(rows->cell);
    free(rows->feature);
    *rows = (struct made_rows){.schema = NULL};
}

static enum status put_mark(struct made_rows *rows, size_t column, double at, bool is_exact)
{
    if (rows->mark_count == rows->mark_room) {
        const size_t room = 2 * rows->mark_room + 64;
        struct made_mark *mark = realloc(rows->mark, room * sizeof *mark);
        if (mark == NULL) {
            return STATUS_NO_MEMORY;
        }
        rows->mark = mark;
        rows->mark_room = room;
    }
    rows->mark[rows->mark_count++] =
        (struct made_mark){.column = column, .at = at + 0.0, .is_exact = is_exact};
    return STATUS_OK;
}

static enum status put_predicate(struct made_rows *rows, const struct predicate *predicate)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < predicate->step_count && status == STATUS_OK; i++) {
        const struct predicate_step *step = &predicate->step[i];
        if (step->verb < PREDICATE_NOT) {
            status = put_mark(rows, step->column, step->constant, true);
        }
    }
    return status;
}

static enum status put_edges(struct made_rows *rows, const struct query *query, size_t count,
                             bool is_exact)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = put_mark(rows, query->column_index, query->edge[i], is_exact);
    }
    return status;
}

/* The column that a question is of: what it is compared with, and its public range. */
static enum status put_column(struct made_rows *rows, const struct query *query)
{
    const bool is_histogram = query->kind == QUERY_HISTOGRAM;
    const bool is_of_column = query->column.name[0] != '\0' && query->column_index != SIZE_MAX;
    const bool is_number = query->column.kind == COLUMN_NUMBER;
    enum status status = STATUS_OK;
    if (!is_of_column) {
        return STATUS_OK;
    }
    if (!is_number) {
        return put_mark(rows, query->column_index, -INFINITY, true);
    }
    status = put_mark(rows, query->column_index, query->low, is_histogram);
    if (status == STATUS_OK) {
        status = put_mark(rows, query->column_index, query->high, is_histogram);
    }
    if (status == STATUS_OK && is_histogram) {
        status = put_edges(rows, query, query->cell_count - 1, true);
    }
    if (status == STATUS_OK && query->end > 0) {
        status = put_edges(rows, query, query->intervals, false);
    }
    return status == STATUS_OK && query->end > 0 ? put_mark(rows, query->column_index, 0, false)
                                                 : status;
}

static enum status put_variable(struct made_rows *rows, const struct query_variable *variable)
{
    const struct column *column = &variable->column;
    enum status status = STATUS_OK;
    if (variable->column_index == SIZE_MAX) { /* a model's answer */
        return STATUS_OK;
    }
    for (size_t k = 0; k < variable->levels && variable->is_factor && status == STATUS_OK; k++) {
        status = put_mark(rows, variable->column_index, variable->step[k], false);
    }
    if (column->kind == COLUMN_CATEGORY) {
        return variable->is_factor ? status
                                   : put_mark(rows, variable->column_index, -INFINITY, false);
    }
    for (int i = -1; i <= 1 && status == STATUS_OK; i += 2) {
        const double end = predicate_value(column, column->centre + i * column->half_width);
        status = put_mark(rows, variable->column_index, end, false);
    }
    return status;
}

enum status made_rows_add(struct made_rows *rows, const struct query *query)
{
    enum status status = put_predicate(rows, &query->where);
    rows->wants_features = rows->wants_features || query->score != NULL;
    if (status == STATUS_OK) {
        status = put_predicate(rows, &query->event);
    }
    if (status == STATUS_OK) {
        status = put_predicate(rows, &query->split);
    }
    if (status == STATUS_OK) {
        status = put_column(rows, query);
    }
    for (size_t i = 0; i < query->factor_count && status == STATUS_OK; i++) {
        status = put_mark(rows, query->factor[i].column_index, -INFINITY, true);
    }
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        status = put_variable(rows, &query->variable[i]);
    }
    return status;
}

static int compare_marks(const void *left, const void *right)
{
    const struct made_mark *a = left;
    const struct made_mark *b = right;
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return (a->at > b->at) - (a->at < b->at);
}

static bool is_label(const struct made_rows *rows, size_t column)
{
    return column == rows->schema->column_count;
}

static bool is_number(const struct made_rows *rows, size_t column)
{
    return is_label(rows, column) ? rows->schema->label.kind == LABEL_NUMBER
                                  : rows->schema->column[column].kind == COLUMN_NUMBER;
}

/* For numbers: between, at and beyond the edges, and missing. For categories: each, unlisted and missing. For a label of classes:
 * each, as no label is without one. */
static size_t count_classes(const struct made_rows *rows, const struct made_column *column)
{
    const struct label *label = &rows->schema->label;
    if (is_number(rows, column->column)) {
        return 2 * column->edges + (rows->is_complete ? 1 : 2);
    }
    if (is_label(rows, column->column)) {
        return label->kind == LABEL_SIGN ? 2 : label->class_count;
    }
    return rows->schema->column[column->column].category_count + (rows->is_complete ? 0 : 2);
}

/* Joins each column's marks into one column. */
static void join_marks(struct made_rows *rows)
{
    double *edge = rows->edge;
    qsort(rows->mark, rows->mark_count, sizeof *rows->mark, compare_marks);
    for (size_t i = 0; i < rows->mark_count; i++) {
        const struct made_mark *mark = &rows->mark[i];
        struct made_column *last =
            rows->column_count > 0 ? &rows->column[rows->column_count - 1] : NULL;
        if (last == NULL || last->column != mark->column) {
            last = &rows->column[rows->column_count++];
            *last = (struct made_column){.column = mark->column, .edge = edge};
        }
        last->is_exact = last->is_exact || mark->is_exact;
        if (mark->at > -INFINITY && (last->edges == 0 || edge[-1] < mark->at)) {
            *edge++ = mark->at;
            last->edges++;
        }
    }
}

enum status made_rows_settle(struct made_rows *rows, struct made_kind kind)
{
    const struct schema *schema = rows->schema;
    bool has_numbers = rows->wants_features; /* that no constant decides on */
    rows->is_complete = kind.is_complete;
    rows->feature_count = rows->wants_features ? schema_feature_count(schema) : 0;
    rows->edge = calloc(rows->mark_count + 1, sizeof *rows->edge);
    rows->column = calloc(rows->mark_count + 1, sizeof *rows->column);
    rows->cell = calloc(schema->column_count + 1, sizeof *rows->cell);
    rows->feature = calloc(2 * rows->feature_count + 1, sizeof *rows->feature);
    if (rows->edge == NULL || rows->column == NULL || rows->cell == NULL || rows->feature == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (rows->mark_count > 0) {
        join_marks(rows);
    }
    rows->combinations = 1;
    for (size_t i = 0; i < rows->column_count; i++) {
        struct made_column *column = &rows->column[i];
        column->classes = count_classes(rows, column);
        column->is_exact = column->is_exact && kind.of_all;
        rows->combinations *= column->is_exact ? column->classes : 1;
        if (rows->combinations > MADE_COMBINATIONS_MAX) {
            rows->combinations = 0;
        }
    }
    for (size_t i = 0; i < rows->mark_count; i++) {
        has_numbers = has_numbers || !rows->mark[i].is_exact;
    }
    rows->repeats = has_numbers ? REPEATS : 1;
    if (has_numbers && rows->combinations > 0 && rows->combinations * REPEATS < ROWS_LEAST) {
        rows->repeats = ROWS_LEAST / rows->combinations;
    }
    return STATUS_OK;
}

/* The column's public range; unit: the file's. */
static void range_of(double *low, double *high, const struct made_rows *rows, size_t column)
{
    const struct label *label = &rows->schema->label;
    if (is_label(rows, column)) {
        *low = label->centre - label->half_width;
        *high = label->centre + label->half_width;
        return;
    }
    const struct column *of = &rows->schema->column[column];
    *low = predicate_value(of, of->centre - of->half_width);
    *high = predicate_value(of, of->centre + of->half_width);
}

/* Strictly between the two, as `share` says, where there is such a number. */
static double number_between(double low, double high, double share)
{
    const double at = low * (1 - share) + high * share;
    const double next = nextafter(low, high);
    return at > low && at < high ? at : next < high ? next : low;
}

static double number_of(const struct made_rows *rows, const struct made_column *column,
                        size_t class, double share)
{
    const size_t below = class / 2; /* edges */
    double low = 0;
    double high = 0;
    if (class > 2 * column->edges) {
        return NAN;
    }
    if (class % 2 == 1) {
        return column->edge[below];
    }
    range_of(&low, &high, rows, column->column);
    const double beyond = fmax(high - low, 1);
    if (column->edges > 0) {
        low = fmin(low, column->edge[0]) - beyond;
        high = fmax(high, column->edge[column->edges - 1]) + beyond;
    }
    return number_between(below > 0 ? column->edge[below - 1] : low,
                          below < column->edges ? column->edge[below] : high, share);
}

static double cell_of(const struct made_rows *rows, const struct made_column *column, size_t class,
                      double share)
{
    if (is_number(rows, column->column)) {
        return number_of(rows, column, class, share);
    }
    if (is_label(rows, column->column)) {
        return rows->schema->label.kind == LABEL_SIGN ? 2 * (double)class - 1 : (double)class;
    }
    const size_t categories = rows->schema->column[column->column].category_count;
    return class < categories ? (double)class : class == categories ? FEATURES_UNLISTED : NAN;
}

/* One of 16 draws is missing; eight of 16 numbers are anywhere in the public range. */
static double drawn_cell(const struct made_rows *rows, const struct made_column *column,
                         uint64_t index)
{
    const uint64_t draw = drawn(index, column->column, SALT_CLASS);
    const double share = drawn_number(index, column->column, SALT_NUMBER);
    double low = 0;
    double high = 0;
    if (draw % 16 == 0 && !rows->is_complete) {
        return cell_of(rows, column, column->classes - 1, share);
    }
    if (draw % 16 <= 8 && is_number(rows, column->column)) {
        range_of(&low, &high, rows, column->column);
        return number_between(low, high, share);
    }
    return cell_of(rows, column, (draw >> 4) % column->classes, share);
}

double made_rows_make(struct row *row, struct made_rows *rows, uint64_t index)
{
    const size_t columns = rows->schema->column_count;
    uint64_t left = rows->combinations > 0 ? index % rows->combinations : 0;
    *row = (struct row){.cell = rows->cell,
                        .column_count = columns,
                        .place = drawn(index, columns + 1, SALT_PLACE) >> 8,
                        .feature = rows->feature,
                        .feature_count = rows->feature_count,
                        .model = rows->feature + rows->feature_count};
    for (size_t i = 0; i < rows->column_count; i++) {
        const struct made_column *column = &rows->column[i];
        double cell = 0;
        if (column->is_exact) {
            cell = cell_of(rows, column, left % column->classes,
                           drawn_number(index, column->column, SALT_NUMBER));
            left /= column->classes;
        } else {
            cell = drawn_cell(rows, column, index);
        }
        *(is_label(rows, column->column) ? &row->label : &rows->cell[column->column]) = cell;
    }
    for (size_t i = 0; i < 2 * rows->feature_count; i++) {
        rows->feature[i] = 2 * drawn_number(index, columns + 2 + i, SALT_NUMBER) - 1;
    }
    return drawn_number(index, columns + 1, SALT_THRESHOLD);
}
