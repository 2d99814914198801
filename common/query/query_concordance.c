/* query_concordance.c - a score judged by how soon an event comes: how the question is read, and which cell a record is in. */

#include "base/even.h"
#include "estimate/concordance.h"
#include "query/query_kind.h"

enum { BINS_DEFAULT = 8 }; /* before query_plan */

static const struct query_number bins = {"bins", CONCORDANCE_BINS_MIN, CONCORDANCE_BINS_MAX, 2,
                                         "bins are 4, 6, 8, 10 or 12"};

/* The edges of time, each a bin's end, and after them those between the bins of the score. */
static void set_bins(struct query *query, size_t count)
{
    const struct column *score = &query->variable[0].column;
    query->intervals = count;
    query->cell_count = CONCORDANCE_CELLS(query_groups(query), count);
    for (size_t j = 0; j < count; j++) {
        query->edge[j] = query->end * (double)(j + 1) / (double)count;
        query->edge_key[j] = even_key(query->edge[j]);
    }
    for (size_t k = 1; k < count; k++) {
        query_set_score_edge(query, count + k - 1, query_even_edge(score, k, count));
    }
}

void query_plan_concordance(struct query *query, const struct query_public *known)
{
    if (!query->intervals_are_asked) {
        set_bins(query, concordance_plan(&(struct table1_public){.records = known->records,
                                                                 .groups = query_groups(query),
                                                                 .variance = known->variance}));
    }
}

/* Behind `evaluate: risk for time`: futime event death by sex, to 5000 in 8 bins where ... */
enum status query_read_concordance(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    const struct reader at_time = *reader; /* a message points there */
    query->kind = QUERY_CONCORDANCE;
    query->variable[0].column = query->column;
    query->variable[0].column_index = query->column_index;
    enum status status = query_read_column(reading, true);
    if (status == STATUS_OK && query->column_index == query->variable[0].column_index) {
        return reader_refuse(&at_time, "the score is not its own time: name another column");
    }
    if (status == STATUS_OK) {
        status = query_read_until_end(reading);
    }
    query->intervals = BINS_DEFAULT;
    if (status == STATUS_OK && reader_accept(reader, "in")) {
        query->intervals_are_asked = true;
        status = query_read_number(&query->intervals, reading, &bins);
    }
    if (status != STATUS_OK) {
        return status;
    }
    set_bins(query, query->intervals);
    return query_read_where(reading);
}

/* Which row of cells a time is in, one mask each: deaths with the bin's end, censorings with its beginning. */
static void place_time(uint64_t *row, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const double time = query_cell_of(asked->row, query->column_index, query->label_kind);
    const int64_t at = even_key(time);
    const size_t n = query->intervals;
    uint64_t died = mask_of(predicate_holds(&query->event, asked->row));
    uint64_t lost = ~died;
    const uint64_t is_known = ~even_is_nan(time) & mask_of(at >= 0);
    died &= is_known;
    lost &= is_known;
    for (size_t j = 0; j < n; j++) {
        const uint64_t died_after = died & mask_of(at > query->edge_key[j]);
        const uint64_t lost_after = lost & mask_of(at >= query->edge_key[j]);
        row[j] = died & ~died_after;
        row[n + j] = lost & ~lost_after;
        died = died_after;
        lost = lost_after;
    }
    row[2 * n] = died | lost;
}

/* Which bin a score is in; a score beyond the public range is in the first or the last. */
static void place_score(uint64_t *bin, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const double score = query_score_of(asked, query->variable[0].column_index);
    const int64_t at = even_key(score);
    const size_t n = query->intervals;
    uint64_t left = ~even_is_nan(score);
    for (size_t k = 0; k < n; k++) {
        const uint64_t above = k + 1 < n ? left & mask_of(at >= query->edge_key[n + k]) : 0;
        bin[k] = left & ~above;
        left = above;
    }
}

/* Every cell is gone through, whatever the record is. Its time is in one row at most, and its score in one bin: what is added
 * to all cells together is one. */
void query_add_concordance(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const uint64_t one = UINT64_C(1) << asked->grid_bits;
    const size_t n = query->intervals;
    const double group = query_group_of(asked);
    uint64_t row[CONCORDANCE_ROWS_MAX] = {0};
    uint64_t bin[CONCORDANCE_BINS_MAX] = {0};
    uint64_t placed = 0;

    place_time(row, asked);
    place_score(bin, asked);
    for (size_t g = 0; g < query_groups(query); g++) {
        const uint64_t own = asked->holds & mask_of(group == (double)g);
        for (size_t i = 0; i < 2 * n + 1; i++) {
            for (size_t k = 0; k < n; k++) {
                const uint64_t here = own & row[i] & bin[k];
                *sum++ += (int64_t)(one & here);
                placed |= here;
            }
        }
    }
    *sum += (int64_t)(one & ~placed);
}
