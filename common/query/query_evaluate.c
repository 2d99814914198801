/* query_evaluate.c - a score judged by an event: how the question is read, and which cell a record is in. */

#include "base/check.h"
#include "base/even.h"
#include "estimate/evaluate.h"
#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>

double query_even_edge(const struct column *column, size_t k, size_t levels)
{
    const double low = column->centre - column->half_width;
    return predicate_value(column, low + 2 * column->half_width * (double)k / (double)levels);
}

/* What an evaluate judges: a column of numbers, or a model; its range is the query's. */
static enum status read_score(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    for (size_t i = 0; i < reader->score_count && reader->token.kind == TOKEN_WORD; i++) {
        const struct query_score *score = &reader->score[i];
        if (slice_is(reader->token.text, score->name)) {
            query->score = score;
            query->column = query_score_column(score);
            query->column_index = SIZE_MAX; /* no cell is looked at */
            query->low = query->column.centre - query->column.half_width;
            query->high = query->column.centre + query->column.half_width;
            reader_advance(reader);
            return STATUS_OK;
        }
    }
    return query_read_column(reading, true);
}

void query_set_score_edge(struct query *query, size_t i, double edge)
{
    query->edge[i] = edge;
    query->edge_key[i] =
        even_key(query->score != NULL ? query_score_edge(query->score, edge) : edge);
}

double query_score_of(const struct query_asked *asked, size_t column_index)
{
    const struct query *query = asked->query;
    return query->score != NULL ? query_score_value(query->score, asked->row)
                                : query_cell_of(asked->row, column_index, query->label_kind);
}

bool query_is_risk(const struct query *query)
{
    return query->low >= 0 && query->high <= 1;
}

static void set_levels(struct query *query, size_t levels)
{
    query->intervals = levels;
    query->cell_count = query_groups(query) * (2 * levels + 1) + 1;
    for (size_t k = 1; k < levels; k++) {
        query_set_score_edge(query, k - 1, query_even_edge(&query->column, k, levels));
    }
}

void query_plan_evaluate(struct query *query, const struct query_public *known)
{
    if (!query->intervals_are_asked) {
        set_levels(query, evaluate_plan(&(struct table1_public){.records = known->records,
                                                                .groups = query_groups(query),
                                                                .variance = known->variance}));
    }
}

/* A cut lies between two bands, so that it lies between two levels whatever their number is. */
static enum status read_cut(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    if (!reader_accept(reader, "at")) {
        return reader_refuse(reader, "the word at and a number is expected here, such as at 0.5");
    }
    const struct token token = reader->token;
    double cut = 0;
    const enum status status =
        reader_number(reader, &cut, "a number is expected here, such as 0.5");
    if (status != STATUS_OK) {
        return status;
    }
    size_t nearest = 1;
    for (size_t band = 1; band < EVALUATE_BANDS; band++) {
        const double edge = query_even_edge(&query->column, band, EVALUATE_BANDS);
        nearest =
            fabs(edge - cut) < fabs(query_even_edge(&query->column, nearest, EVALUATE_BANDS) - cut)
                ? band
                : nearest;
    }
    const double edge = query_even_edge(&query->column, nearest, EVALUATE_BANDS);
    if (!(fabs(edge - cut) <= 1e-9 * (query->high - query->low))) {
        char remedy[128];
        reader->token = token;
        (void)snprintf(remedy, sizeof remedy,
                       "a cut is at an eighth of the public range; the nearest is %.6g", edge);
        return reader_refuse(reader, remedy);
    }
    query->cut_band = nearest;
    return STATUS_OK;
}

/* The word time before a column, and not the name of one. */
static bool accept_time(struct reader *reader)
{
    struct reader behind = *reader;
    size_t index = 0;
    behind.why = NULL;
    const bool is = reader_accept(&behind, "time");
    struct reader at_column = behind;
    if (!is || reader_column(&at_column, &index) != STATUS_OK) {
        return false;
    }
    behind.why = reader->why;
    *reader = behind;
    return true;
}

/* risk for death by sex, cut at 0.25 in 16 levels where ... */
enum status query_read_evaluate(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    query->intervals = EVALUATE_LEVELS_MAX / 2; /* before query_plan */
    enum status status = read_score(reading);
    if (status == STATUS_OK && !reader_accept(reader, "for")) {
        return reader_refuse(reader,
                             "the word for and an event is expected here, such as for death");
    }
    if (status == STATUS_OK && accept_time(reader)) {
        return query_read_concordance(reading);
    }
    if (status == STATUS_OK) {
        status = query_read_event(reading);
    }
    if (status == STATUS_OK && reader_accept(reader, "by")) {
        status = query_read_groups_of_event(reading, false);
    }
    if (status == STATUS_OK && reader_accept(reader, ",")) {
        status = reader_accept(reader, "cut")
                     ? read_cut(reading)
                     : reader_refuse(reader, "cut at and a number is expected here");
    }
    if (status == STATUS_OK && reader_accept(reader, "in")) {
        static const struct query_number levels = {"levels", EVALUATE_BANDS, EVALUATE_LEVELS_MAX,
                                                   EVALUATE_BANDS, "levels are 8, 16, 24 or 32"};
        query->intervals_are_asked = true;
        status = query_read_number(&query->intervals, reading, &levels);
    }
    if (status != STATUS_OK) {
        return status;
    }
    set_levels(query, query->intervals);
    return query_read_where(reading);
}

/* Every cell is gone through, whatever the record is. A score beyond the public range is in the first level or the last. */
void query_add_evaluate(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const uint64_t one = UINT64_C(1) << asked->grid_bits;
    const double score = query_score_of(asked, query->column_index);
    const int64_t at = even_key(score);
    const uint64_t is_known = ~even_is_nan(score);
    const uint64_t happens = mask_of(predicate_holds(&query->event, asked->row));
    const size_t groups = query_groups(query);
    const size_t n = query->intervals;
    const double group = query_group_of(asked);
    uint64_t placed = 0;

    for (size_t g = 0; g < groups; g++) {
        const uint64_t own = asked->holds & mask_of(group == (double)g);
        uint64_t left = own & is_known;
        for (size_t k = 0; k < n; k++) {
            const uint64_t above = k + 1 < n ? left & mask_of(at >= query->edge_key[k]) : 0;
            const uint64_t here = one & left & ~above;
            sum[k] += (int64_t)(here & ~happens);
            sum[n + k] += (int64_t)(here & happens);
            left = above;
        }
        sum[2 * n] += (int64_t)(one & own & ~is_known);
        sum += 2 * n + 1;
        placed |= own;
    }
    *sum += (int64_t)(one & ~placed);
}
