/* query.c - what a record contributes to a question, and how much that is at most. Integers from
 * the encoding on; floating point only maps a mean's value into a range that is then clipped. */

#include "query/query_kind.h"

#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"

#include <math.h>
#include <stdio.h>

double query_cell_of(const struct row *row, size_t column_index, enum label_kind label_kind)
{
    CHECK(column_index <= row->column_count);
    if (column_index < row->column_count) {
        return row->cell[column_index];
    }
    return label_kind == LABEL_SIGN ? even_keep(mask_of(row->label > 0), 1) : row->label;
}

static double cell_of(const struct query_asked *asked)
{
    return query_cell_of(asked->row, asked->query->column_index, asked->query->label_kind);
}

static uint64_t one_of(const struct query_asked *asked)
{
    return (UINT64_C(1) << asked->grid_bits) & asked->holds;
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
static void add_to_histogram(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const uint64_t one = one_of(asked);
    const double cell = cell_of(asked);
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

static void add_count(int64_t *sum, const struct query_asked *asked)
{
    sum[0] += (int64_t)one_of(asked);
}

static void add_to_mean(int64_t *sum, const struct query_asked *asked)
{
    const int64_t value = centred_value(asked->query, asked->grid_bits, cell_of(asked));
    sum[0] += (int64_t)((uint64_t)value & asked->holds);
    if (asked->query->is_partial) {
        sum[1] += (int64_t)one_of(asked);
    }
}

static void add_to_quantile(int64_t *sum, const struct query_asked *asked)
{
    const int64_t side = side_of(asked->query, asked->grid_bits, asked->threshold, cell_of(asked));
    sum[0] += (int64_t)((uint64_t)side & asked->holds);
}

static uint64_t one_cell(UNUSED const struct query *query, uint64_t one)
{
    return one;
}

/* A record is in one cell at most: replaced, it leaves one and enters another. */
static uint64_t two_cells(UNUSED const struct query *query, uint64_t one)
{
    return 2 * one;
}

static uint64_t mean_sensitivity(const struct query *query, uint64_t one)
{
    return query->is_partial ? one + one / 2 : one;
}

/* Squares of L2 distances: whole numbers below 2^53, and so exact. */
static double one_squared(UNUSED const struct query *query, double one)
{
    return one * one;
}

static double two_squared(UNUSED const struct query *query, double one)
{
    return 2 * one * one;
}

/* (v, 1) and (0, 0) are the farthest apart: 1/4 + 1. */
static double mean_squared(const struct query *query, double one)
{
    return query->is_partial ? one * one + (one / 2) * (one / 2) : one * one;
}

const struct query_kind_row query_kinds[QUERY_KINDS] = {
    [QUERY_COUNT] = {"count", query_read_count, add_count, one_cell, NULL, one_squared},
    [QUERY_MEAN] = {"mean", query_read_mean, add_to_mean, mean_sensitivity, NULL, mean_squared},
    [QUERY_HISTOGRAM] = {"histogram", query_read_histogram, add_to_histogram, two_cells, NULL,
                         two_squared},
    [QUERY_QUANTILE] = {"quantile", query_read_quantile, add_to_quantile, one_cell, NULL,
                        one_squared},
    [QUERY_SURVIVAL] = {"survival", query_read_survival, query_add_survival,
                        query_sensitivity_survival, query_plan_survival, query_squared_survival},
    [QUERY_CROSSTAB] = {"crosstab", query_read_crosstab, query_add_crosstab, two_cells, NULL,
                        two_squared},
    [QUERY_TABLE1] = {"table1", query_read_table1, query_add_table1, query_sensitivity_table1,
                      query_plan_table1, query_squared_table1},
    [QUERY_EVALUATE] = {"evaluate", query_read_evaluate, query_add_evaluate, two_cells,
                        query_plan_evaluate, two_squared},
    [QUERY_CORRELATE] = {"correlate", query_read_correlate, query_add_correlate,
                         query_sensitivity_correlate, query_plan_correlate,
                         query_squared_correlate},
    [QUERY_PCA] = {"pca", query_read_correlate, query_add_correlate, query_sensitivity_correlate,
                   NULL, query_squared_correlate},
    [QUERY_REGRESS] = {"regress", query_read_regress, query_add_regress, two_cells,
                       query_plan_regress, two_squared},
    [QUERY_CONCORDANCE] = {"evaluate", query_read_evaluate, query_add_concordance, two_cells,
                           query_plan_concordance, two_squared},
};

void query_add(int64_t *sum, const struct query *query, unsigned grid_bits, double threshold,
               const struct row *row)
{
    CHECK(grid_bits >= QUERY_BITS_MIN && grid_bits <= QUERY_BITS_MAX);
    const struct query_asked asked = {.query = query,
                                      .row = row,
                                      .holds = mask_of(predicate_holds(&query->where, row)),
                                      .grid_bits = grid_bits,
                                      .threshold = threshold};
    query_kinds[query->kind].add(sum, &asked);
}

uint64_t query_sensitivity_l1(const struct query *query, unsigned grid_bits)
{
    CHECK(grid_bits >= QUERY_BITS_MIN && grid_bits <= QUERY_BITS_MAX);
    return query_kinds[query->kind].sensitivity(query, UINT64_C(1) << grid_bits);
}

bool query_takes_gaussian(const struct query *query)
{
    return query_kinds[query->kind].squared != NULL;
}

double query_sensitivity_squared(const struct query *query, unsigned grid_bits)
{
    CHECK(grid_bits >= QUERY_BITS_MIN && grid_bits <= QUERY_BITS_MAX);
    CHECK(query_takes_gaussian(query));
    return query_kinds[query->kind].squared(query, ldexp(1, (int)grid_bits));
}

void query_plan(struct query *query, const struct query_public *known)
{
    query->planned = *known;
    if (query_kinds[query->kind].plan != NULL) {
        query_kinds[query->kind].plan(query, known);
    }
}

/* Whether the `where` picks one category of a column that the question compares categories of, or of its event. */
static bool picks_its_own(const struct query *query)
{
    bool is = query->kind == QUERY_REGRESS && query->event.step_count == 0 &&
              predicate_picks(&query->where, query->column_index);
    for (size_t i = 0; i < query->factor_count; i++) {
        is = is || predicate_picks(&query->where, query->factor[i].column_index);
    }
    for (size_t i = 0; i < query->variable_count; i++) {
        is = is || predicate_picks(&query->where, query->variable[i].column_index);
    }
    for (size_t i = 0; i < query->event.step_count; i++) {
        const struct predicate_step *step = &query->event.step[i];
        is = is || (step->verb < PREDICATE_NOT && predicate_picks(&query->where, step->column));
    }
    return is;
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
        return true;
    }
    if (query->parts_asked > 0) {
        why_set(note, "`in %zu parts` of \"%s\" has no effect since protocol version 7: remove it",
                query->parts_asked, query->text);
        return true;
    }
    const bool is_picked = picks_its_own(query);
    if (is_picked) {
        why_set(
            note,
            "the where of \"%s\" picks a category of a column that the question itself is of: if "
            "all records that are left are alike there, the question has no answer",
            query->text);
    }
    return is_picked;
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
