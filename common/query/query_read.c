/* The four kinds of question, from their text. */

#include "query/predicate_read.h"
#include "query/query.h"
#include "query/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct reading {
    struct reader reader;
    struct query *query;
};

static enum status read_column(struct reading *reading, bool number_only)
{
    struct query *query = reading->query;
    const struct token token = reading->reader.token;
    const enum status status = reader_column(&reading->reader, &query->column_index);
    if (status != STATUS_OK) {
        return status;
    }
    const struct schema *schema = reading->reader.schema;
    struct reader at_token = reading->reader; /* a message points at the column */
    at_token.token = token;
    if (query->column_index == schema->column_count) {
        return reader_refuse(&at_token, "the label has no values to measure: write count: with "
                                        "a comparison of it");
    }
    query->column = schema->column[query->column_index];
    if (query->column.kind == COLUMN_NUMBER) {
        const double low = predicate_low(&query->column);
        const double high = predicate_high(&query->column);
        return isfinite(low) && isfinite(high) && low < high && isfinite(high - low)
                   ? STATUS_OK
                   : reader_refuse(&at_token, "its public range is not one of finite numbers: "
                                              "correct the schema");
    }
    return number_only
               ? reader_refuse(&at_token, "categories have no order: write histogram: or count:")
               : STATUS_OK;
}

static enum status read_where(struct reading *reading)
{
    struct query *query = reading->query;
    query->is_partial = reader_accept(&reading->reader, "where");
    query->where.column_count = reading->reader.schema->column_count;
    return query->is_partial ? predicate_read(&query->where, &reading->reader) : STATUS_OK;
}

static enum status read_mean(struct reading *reading)
{
    enum status status = read_column(reading, true);
    if (status == STATUS_OK) {
        status = read_where(reading);
    }
    reading->query->cell_count = reading->query->is_partial ? 2 : 1;
    return status;
}

static enum status too_many(const struct reading *reading)
{
    char remedy[64];
    (void)snprintf(remedy, sizeof remedy, "this makes more than %d cells: make them wider",
                   QUERY_CELLS_MAX);
    return reader_refuse(&reading->reader, remedy);
}

/* Multiples of the step, strictly inside the public range. */
static enum status read_step(struct reading *reading)
{
    struct query *query = reading->query;
    const double low = predicate_low(&query->column);
    const double high = predicate_high(&query->column);
    const struct token token = reading->reader.token;
    double step = 0;
    enum status status =
        reader_number(&reading->reader, &step, "a width should stand here, such as 10");
    if (status != STATUS_OK) {
        return status;
    }
    if (!(step > 0)) {
        reading->reader.token = token;
        return reader_refuse(&reading->reader, "a width is above 0");
    }
    const double first = floor(low / step) + 1;
    if (!((high - low) / step < QUERY_CELLS_MAX)) {
        reading->reader.token = token;
        return too_many(reading);
    }
    for (int i = 0; i < QUERY_CELLS_MAX && (first + i) * step < high; i++) {
        const double edge = (first + i) * step;
        if (edge > low && query->cell_count < QUERY_CELLS_MAX) {
            query->edge[query->cell_count - 1] = edge;
            query->cell_count++;
        }
    }
    return STATUS_OK;
}

static enum status read_edges(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    do {
        const struct token token = reader->token;
        double edge = 0;
        if (query->cell_count == QUERY_CELLS_MAX) {
            return too_many(reading);
        }
        const enum status status =
            reader_number(reader, &edge, "an edge should stand here, such as 65");
        if (status != STATUS_OK) {
            return status;
        }
        const size_t cell = query->cell_count - 1;
        const bool rises = cell == 0 || edge > query->edge[cell - 1];
        if (!rises || !(edge > predicate_low(&query->column)) ||
            !(edge < predicate_high(&query->column))) {
            reader->token = token;
            return reader_refuse(reader, rises ? "edges lie inside the column's public range"
                                               : "edges rise from one to the next");
        }
        query->edge[cell] = edge;
        query->cell_count++;
    } while (reader_accept(reader, ","));
    return STATUS_OK;
}

static enum status read_histogram(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    enum status status = read_column(reading, false);
    if (status != STATUS_OK) {
        return status;
    }
    query->cell_count = 1;
    if (query->column.kind == COLUMN_CATEGORY) {
        query->cell_count = query->column.category_count;
    } else if (reader_accept(reader, "by")) {
        status = read_step(reading);
    } else if (reader_accept(reader, "at")) {
        status = read_edges(reading);
    } else {
        status = reader_refuse(reader, "by and a width, or at and edges, should stand here");
    }
    if (status == STATUS_OK && query->cell_count < 2) {
        status = reader_refuse(reader, "one cell would hold every record: choose a smaller width");
    }
    for (size_t i = 0; i + 1 < query->cell_count; i++) {
        query->cut[i] = predicate_cell(&query->column, query->edge[i]);
    }
    return status == STATUS_OK ? read_where(reading) : status;
}

static enum status read_rounds(struct reading *reading)
{
    struct reader *reader = &reading->reader;
    const struct token token = reader->token;
    double rounds = 0;
    const enum status status =
        reader_number(reader, &rounds, "a number of rounds should stand here");
    if (status != STATUS_OK) {
        return status;
    }
    if (!(rounds >= 1 && rounds <= QUERY_ROUNDS_MAX && rounds == floor(rounds))) {
        char remedy[64];
        reader->token = token;
        (void)snprintf(remedy, sizeof remedy, "rounds are a whole number from 1 to %d",
                       QUERY_ROUNDS_MAX);
        return reader_refuse(reader, remedy);
    }
    reading->query->rounds = (uint32_t)rounds;
    return reader_accept(reader, "rounds")
               ? STATUS_OK
               : reader_refuse(reader, "the word rounds should stand here");
}

static enum status read_quantile(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    const struct token token = reader->token;
    enum status status =
        reader_number(reader, &query->share, "a share should stand here, 0.5 for the median");
    if (status != STATUS_OK) {
        return status;
    }
    if (!(query->share > 0 && query->share < 1)) {
        reader->token = token;
        return reader_refuse(reader, "a share lies between 0 and 1");
    }
    if (!reader_accept(reader, "of")) {
        return reader_refuse(reader, "of and a column should stand here");
    }
    query->cell_count = 1;
    query->rounds = QUERY_ROUNDS_DEFAULT;
    status = read_column(reading, true);
    if (status == STATUS_OK) {
        status = read_where(reading);
    }
    if (status == STATUS_OK && reader_accept(reader, "in")) {
        status = read_rounds(reading);
    }
    return status;
}

static enum status read_kind(struct reading *reading)
{
    static const char *const word[] = {"count", "mean", "histogram", "quantile"};
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    size_t kind = 0;
    while (kind < sizeof word / sizeof word[0] && !reader_accept(reader, word[kind])) {
        kind++;
    }
    if (kind == sizeof word / sizeof word[0]) {
        return reader_refuse(reader, "one of count:, mean:, histogram:, quantile: comes first");
    }
    if (!reader_accept(reader, ":")) {
        return reader_refuse(reader, "a colon should stand here");
    }
    query->kind = (enum query_kind)kind;
    query->rounds = 1;
    switch (query->kind) {
    case QUERY_MEAN:
        return read_mean(reading);
    case QUERY_HISTOGRAM:
        return read_histogram(reading);
    case QUERY_QUANTILE:
        return read_quantile(reading);
    case QUERY_COUNT:
        break;
    }
    query->cell_count = 1;
    query->is_partial = true;
    return predicate_read(&query->where, reader);
}

enum status query_parse(struct query *query, struct slice text, const struct schema *schema,
                        struct why *why)
{
    struct reading reading = {.query = query};
    *query = (struct query){0};
    reader_init(&reading.reader, text, schema, why);
    if (text.size >= QUERY_TEXT_BYTES) {
        why_set(why, "it is longer than %d characters: split it", QUERY_TEXT_BYTES - 1);
        return STATUS_INVALID;
    }
    enum status status = read_kind(&reading);
    if (status == STATUS_OK && reading.reader.token.kind != TOKEN_END) {
        status = reader_refuse(&reading.reader, "the question should end here");
    }
    if (status == STATUS_OK) {
        memcpy(query->text, text.data, text.size);
    } else {
        *query = (struct query){0};
    }
    return status;
}
