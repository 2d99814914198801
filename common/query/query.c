/* query.c - what a record contributes to a question, and how much that is at most. Integers from
 * the encoding on; floating point only maps a mean's value into a range that is then clipped. */

#include "query/query.h"

#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"

#include <math.h>
#include <stdio.h>

static double cell_of(const struct query *query, const struct row *row)
{
    CHECK(query->column_index <= row->column_count);
    if (query->column_index < row->column_count) {
        return row->cell[query->column_index];
    }
    return query->label_kind == LABEL_SIGN ? even_keep(mask_of(row->label > 0), 1) : row->label;
}

double query_imputed(const struct column *column)
{
    return column->has_missing ? column->missing : predicate_value(column, column->centre);
}

/* The value over its public range, -1/2 .. 1/2, clamped; a missing one is imputed. What is nearer to 0 than
 * 2^-900, and what lies above the range's low end by less than 2^-60 of its width, counts as 0: neither moves the
 * answer by a step, and no difference or quotient is subnormal, which would take a processor longer. */
static int64_t centred_value(const struct query *query, unsigned grid_bits, double cell)
{
    const double low = even_keep(~even_is_below(query->low, 0x1p-900), query->low);
    const double width = query->high - low;
    const double there = even_choose(even_is_nan(cell), query->imputed, cell);
    const double above = even_keep(~even_is_below(there, 0x1p-900), there) - low;
    const double value = even_keep(~even_is_below(above, width * 0x1p-60), above) / width;
    const int64_t half = (int64_t)1 << (grid_bits - 1);
    int64_t steps = encode_value(even_min(even_max(value, 0), 1), grid_bits) - half;
    clip_box(&steps, 1, -half, half);
    return steps;
}

/* Adds one to the cell that the value lies in; to none for a missing or unlisted cell, or a number
 * beyond the public range. */
static void add_to_histogram(int64_t *sum, const struct query *query, uint64_t one, double cell)
{
    if (query->column.kind == COLUMN_CATEGORY) {
        for (size_t i = 0; i < query->cell_count; i++) {
            sum[i] += (int64_t)(one & mask_of(cell == (double)i));
        }
        return;
    }
    const int64_t at = even_key(cell);
    const uint64_t inside = ~even_is_nan(cell) & mask_of(at >= even_key(query->low)) &
                            mask_of(at <= even_key(query->high));
    uint64_t above = inside; /* the last edge */
    for (size_t i = 0; i + 1 < query->cell_count; i++) {
        const uint64_t next = above & mask_of(at >= query->edge_key[i]);
        sum[i] += (int64_t)(one & above & ~next);
        above = next;
    }
    sum[query->cell_count - 1] += (int64_t)(one & above);
}

/* A missing cell is on neither side. */
static int64_t side_of(const struct query *query, unsigned grid_bits, double threshold, double cell)
{
    const uint64_t one = UINT64_C(1) << grid_bits;
    const uint64_t is_below =
        mask_of(even_key(predicate_cell(&query->column, cell)) <= even_key(threshold));
    const uint64_t steps = (one & is_below) - (uint64_t)query_share_steps(query, grid_bits);
    return (int64_t)(steps & ~even_is_nan(cell));
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
    const uint64_t one = UINT64_C(1) << grid_bits;
    CHECK(grid_bits >= QUERY_BITS_MIN && grid_bits <= QUERY_BITS_MAX);
    const uint64_t holds = mask_of(predicate_holds(&query->where, row));
    const uint64_t counted = one & holds;
    switch (query->kind) {
    case QUERY_COUNT:
        sum[0] += (int64_t)counted;
        break;
    case QUERY_MEAN:
        sum[0] += (int64_t)((uint64_t)centred_value(query, grid_bits, cell_of(query, row)) & holds);
        if (query->is_partial) {
            sum[1] += (int64_t)counted;
        }
        break;
    case QUERY_HISTOGRAM:
        add_to_histogram(sum, query, counted, cell_of(query, row));
        break;
    case QUERY_QUANTILE:
        sum[0] +=
            (int64_t)((uint64_t)side_of(query, grid_bits, threshold, cell_of(query, row)) & holds);
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
