/* query.c - what a record contributes to a question, and how much that is at most. Integers from
 * the encoding on; floating point only maps a mean's value into a range that is then clipped. */

#include "query/query.h"

#include "base/check.h"
#include "dp/encode.h"

#include <math.h>
#include <stdio.h>

static double cell_of(const struct query *query, const struct row *row)
{
    CHECK(query->column_index <= row->column_count);
    if (query->column_index < row->column_count) {
        return row->cell[query->column_index];
    }
    return query->label_kind == LABEL_SIGN ? (row->label > 0 ? 1 : 0) : row->label;
}

double query_imputed(const struct column *column)
{
    return column->has_missing ? column->missing : predicate_value(column, column->centre);
}

/* The value over its public range, -1/2 .. 1/2, clamped; a missing one is imputed. */
static int64_t centred_value(const struct query *query, unsigned grid_bits, double cell)
{
    const double there = isnan(cell) ? query_imputed(&query->column) : cell;
    const double value = (there - query->low) / (query->high - query->low);
    const int64_t half = (int64_t)1 << (grid_bits - 1);
    int64_t steps = encode_value(fmin(fmax(value, 0), 1), grid_bits) - half;
    clip_box(&steps, 1, -half, half);
    return steps;
}

/* The one cell that holds the value; cell_count where none does: a missing or unlisted cell, or a
 * number beyond the public range. */
static size_t histogram_cell(const struct query *query, double cell)
{
    size_t found = 0;
    if (query->column.kind == COLUMN_CATEGORY) {
        return cell >= 0 && cell < (double)query->cell_count ? (size_t)cell : query->cell_count;
    }
    if (!(cell >= query->low && cell <= query->high)) {
        return query->cell_count;
    }
    for (size_t i = 0; i + 1 < query->cell_count; i++) {
        found += cell >= query->edge[i] ? 1 : 0;
    }
    return found;
}

static void add_to_histogram(int64_t *sum, const struct query *query, int64_t one, double cell)
{
    const size_t found = histogram_cell(query, cell);
    if (found < query->cell_count) {
        sum[found] += one;
    }
}

/* A missing cell is on neither side. */
static int64_t side_of(const struct query *query, unsigned grid_bits, double threshold, double cell)
{
    const int64_t one = (int64_t)1 << grid_bits;
    const bool is_below = predicate_cell(&query->column, cell) <= threshold;
    return isnan(cell) ? 0 : (is_below ? one : 0) - query_share_steps(query, grid_bits);
}

int64_t query_share_steps(const struct query *query, unsigned grid_bits)
{
    const int64_t one = (int64_t)1 << grid_bits;
    int64_t steps = encode_value(query->share, grid_bits);
    clip_box(&steps, 1, 1, one - 1);
    return steps;
}

void query_add(int64_t *sum, const struct query *query, unsigned grid_bits, double threshold,
               const struct row *row)
{
    const int64_t one = (int64_t)1 << grid_bits;
    CHECK(grid_bits >= QUERY_BITS_MIN && grid_bits <= QUERY_BITS_MAX);
    if (!predicate_holds(&query->where, row)) {
        return;
    }
    switch (query->kind) {
    case QUERY_COUNT:
        sum[0] += one;
        break;
    case QUERY_MEAN:
        sum[0] += centred_value(query, grid_bits, cell_of(query, row));
        if (query->is_partial) {
            sum[1] += one;
        }
        break;
    case QUERY_HISTOGRAM:
        add_to_histogram(sum, query, one, cell_of(query, row));
        break;
    case QUERY_QUANTILE:
        sum[0] += side_of(query, grid_bits, threshold, cell_of(query, row));
        break;
    }
}

uint64_t query_sensitivity_l1(const struct query *query, unsigned grid_bits)
{
    const uint64_t one = UINT64_C(1) << grid_bits;
    CHECK(grid_bits >= QUERY_BITS_MIN && grid_bits <= QUERY_BITS_MAX);
    if (query->kind == QUERY_HISTOGRAM) {
        return 2 * one;
    }
    return query->kind == QUERY_MEAN && query->is_partial ? one + one / 2 : one;
}

bool query_has_note(const struct query *query, struct why *note)
{
    const size_t at = query->where.outside_at;
    if (at != 0) {
        why_set(
            note,
            "character %zu of \"%s\" lies outside the column's public range: cells are compared "
            "as they are, but few are expected there",
            at, query->text);
    }
    return at != 0;
}

void query_cell_name(char *text, size_t text_bytes, const struct query *query, size_t cell)
{
    const char *name = query->column.name;
    CHECK(query->kind == QUERY_HISTOGRAM && cell < query->cell_count);
    if (query->column.kind == COLUMN_CATEGORY) {
        (void)snprintf(text, text_bytes, "%s %s", name, query->column.category[cell]);
        return;
    }
    const bool is_last = cell + 1 == query->cell_count;
    const double low = cell == 0 ? query->low : query->edge[cell - 1];
    const double high = is_last ? query->high : query->edge[cell];
    (void)snprintf(text, text_bytes, "%s [%.6g, %.6g%s", name, low, high, is_last ? "]" : ")");
}
