/* query_crosstab.c - cross tables: how the question is read, and which cell a record is in. */

#include "base/check.h"
#include "base/even.h"
#include "estimate/crosstab.h"
#include "query/query_kind.h"

#include <stdio.h>

/* sex x death x mgus */
enum status query_read_crosstab(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    size_t cells = 1;
    do {
        const struct reader at_column = *reader; /* a message points there */
        if (query->factor_count == QUERY_FACTORS_MAX) {
            char remedy[64];
            (void)snprintf(remedy, sizeof remedy, "a table has at most %d columns",
                           QUERY_FACTORS_MAX);
            return reader_refuse(reader, remedy);
        }
        const enum status status = query_read_factor(reading);
        if (status != STATUS_OK) {
            return status;
        }
        const struct query_factor *added = &query->factor[query->factor_count - 1];
        for (size_t i = 0; i + 1 < query->factor_count; i++) {
            if (query->factor[i].column_index == added->column_index) {
                return reader_refuse(&at_column, "this column is in the table already");
            }
        }
        cells *= added->column.category_count;
        if (cells > CROSSTAB_CELLS_MAX) {
            char remedy[64];
            (void)snprintf(remedy, sizeof remedy, "this makes more than %d cells",
                           CROSSTAB_CELLS_MAX);
            return reader_refuse(&at_column, remedy);
        }
    } while (reader_accept(reader, "x"));
    if (query->factor_count < 2) {
        return reader_refuse(reader, "x and another column is expected here");
    }
    query->cell_count = cells + 1;
    return query_read_where(reading);
}

size_t query_table_cells(const struct query *query)
{
    return query->cell_count - 1;
}

size_t query_table_level(const struct query *query, size_t cell, size_t factor)
{
    for (size_t i = query->factor_count; i-- > factor + 1;) {
        cell /= query->factor[i].column.category_count;
    }
    return cell % query->factor[factor].column.category_count;
}

/* Every cell is gone through, whatever the record is; the last is for records that are in no other. */
void query_add_crosstab(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const uint64_t one = UINT64_C(1) << asked->grid_bits;
    const size_t cells = query_table_cells(query);
    double level[QUERY_FACTORS_MAX];
    uint64_t placed = 0;

    for (size_t i = 0; i < query->factor_count; i++) {
        level[i] = query_cell_of(asked->row, query->factor[i].column_index, query->label_kind);
    }
    for (size_t cell = 0; cell < cells; cell++) {
        uint64_t is_here = asked->holds;
        for (size_t i = 0; i < query->factor_count; i++) {
            is_here &= mask_of(level[i] == (double)query_table_level(query, cell, i));
        }
        sum[cell] += (int64_t)(one & is_here);
        placed |= is_here;
    }
    sum[cells] += (int64_t)(one & ~placed);
}
