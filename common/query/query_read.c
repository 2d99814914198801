/* Questions from their text; survival, crosstab, table1, evaluate (also of a time), correlate and pca have files of their own. */

#include "base/even.h"
#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The label as if it were a column. */
static void column_of_label(struct column *column, const struct label *label)
{
    *column = (struct column){.kind = COLUMN_CATEGORY, .category_count = 2};
    memcpy(column->name, label->name, sizeof column->name);
    if (label->kind == LABEL_NUMBER) {
        column->kind = COLUMN_NUMBER;
        column->centre = label->centre;
        column->half_width = label->half_width;
    } else if (label->kind == LABEL_CLASSES) {
        column->category_count = label->class_count;
        memcpy(column->category, label->class_name, sizeof column->category);
    } else {
        memcpy(column->category[0], label->negative, sizeof label->negative);
        memcpy(column->category[1], label->positive, sizeof label->positive);
    }
}

enum status query_read_any(struct column *column, size_t *index, struct reading *reading)
{
    const struct schema *schema = reading->reader.schema;
    const enum status status = reader_column(&reading->reader, index);
    if (status != STATUS_OK) {
        return status;
    }
    reading->query->label_kind = schema->label.kind;
    if (*index == schema->column_count) {
        column_of_label(column, &schema->label);
    } else {
        *column = schema->column[*index];
    }
    return STATUS_OK;
}

enum status query_read_column(struct reading *reading, bool number_only)
{
    struct query *query = reading->query;
    struct column *column = &query->column;
    const struct reader at_column = reading->reader; /* a message points there */
    const enum status status = query_read_any(column, &query->column_index, reading);
    if (status != STATUS_OK) {
        return status;
    }
    if (column->kind == COLUMN_NUMBER) {
        query->low = predicate_value(column, column->centre - column->half_width);
        query->high = predicate_value(column, column->centre + column->half_width);
        return query->low < query->high && isfinite(query->high - query->low)
                   ? STATUS_OK
                   : reader_refuse(&at_column, "its public range is not one of finite numbers: "
                                               "correct the schema");
    }
    return number_only
               ? reader_refuse(&at_column, "categories have no order: write histogram: or count:")
               : STATUS_OK;
}

enum status query_read_factor(struct reading *reading)
{
    struct query *query = reading->query;
    const struct reader at_column = reading->reader; /* a message points there */
    struct query_factor *factor = &query->factor[query->factor_count];
    const enum status status = query_read_any(&factor->column, &factor->column_index, reading);
    if (status != STATUS_OK) {
        return status;
    }
    query->factor_count++;
    return factor->column.kind == COLUMN_CATEGORY
               ? STATUS_OK
               : reader_refuse(&at_column,
                               query->kind == QUERY_CROSSTAB
                                   ? "this is a column of numbers: name one of categories"
                                   : "this is a column of numbers: name one of categories, or "
                                     "two groups, such as age >= 65");
}

enum status query_read_where(struct reading *reading)
{
    struct query *query = reading->query;
    query->is_partial = reader_accept(&reading->reader, "where");
    query->where.column_count = reading->reader.schema->column_count;
    return query->is_partial ? predicate_read(&query->where, &reading->reader) : STATUS_OK;
}

enum status query_read_mean(struct reading *reading)
{
    enum status status = query_read_column(reading, true);
    if (status == STATUS_OK) {
        status = query_read_where(reading);
    }
    reading->query->cell_count = reading->query->is_partial ? 2 : 1;
    return status;
}

static enum status too_many(const struct reading *reading)
{
    char remedy[64];
    (void)snprintf(remedy, sizeof remedy, "this makes more than %d cells: make them wider",
                   QUERY_EDGES_MAX);
    return reader_refuse(&reading->reader, remedy);
}

/* Multiples of the step, strictly inside the public range. */
static enum status read_step(struct reading *reading)
{
    struct query *query = reading->query;
    const double low = query->low;
    const double high = query->high;
    const struct token token = reading->reader.token;
    double step = 0;
    enum status status =
        reader_number(&reading->reader, &step, "a width is expected here, such as 10");
    if (status != STATUS_OK) {
        return status;
    }
    if (!(step > 0)) {
        reading->reader.token = token;
        return reader_refuse(&reading->reader, "a width is above 0");
    }
    const double first = floor(low / step) + 1;
    if (!((high - low) / step < QUERY_EDGES_MAX)) {
        reading->reader.token = token;
        return too_many(reading);
    }
    for (int i = 0; i < QUERY_EDGES_MAX && (first + i) * step < high; i++) {
        const double edge = (first + i) * step;
        if (edge > low && query->cell_count < QUERY_EDGES_MAX) {
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
        if (query->cell_count == QUERY_EDGES_MAX) {
            return too_many(reading);
        }
        const enum status status =
            reader_number(reader, &edge, "an edge is expected here, such as 65");
        if (status != STATUS_OK) {
            return status;
        }
        const size_t cell = query->cell_count - 1;
        const bool rises = cell == 0 || edge > query->edge[cell - 1];
        if (!rises || !(edge > query->low) || !(edge < query->high)) {
            reader->token = token;
            return reader_refuse(reader, rises ? "edges lie inside the column's public range"
                                               : "edges rise from one to the next");
        }
        query->edge[cell] = edge;
        query->cell_count++;
    } while (reader_accept(reader, ","));
    return STATUS_OK;
}

enum status query_read_histogram(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    enum status status = query_read_column(reading, false);
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
        status = reader_refuse(reader, "by and a width, or at and edges, is expected here");
    }
    if (status == STATUS_OK && query->cell_count < 2) {
        status = reader_refuse(reader, "one cell would hold every record: choose a smaller width");
    }
    return status == STATUS_OK ? query_read_where(reading) : status;
}

enum status query_read_number(size_t *out, struct reading *reading,
                              const struct query_number *asked)
{
    struct reader *reader = &reading->reader;
    const struct token token = reader->token;
    double number = 0;
    char remedy[96];
    (void)snprintf(remedy, sizeof remedy, "a number of %s is expected here", asked->word);
    const enum status status = reader_number(reader, &number, remedy);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(number >= asked->least && number <= asked->most && fmod(number, asked->each) == 0)) {
        reader->token = token;
        (void)snprintf(remedy, sizeof remedy, "%s are a whole number from %u to %u", asked->word,
                       asked->least, asked->most);
        return reader_refuse(reader, asked->remedy != NULL ? asked->remedy : remedy);
    }
    *out = (size_t)number;
    (void)snprintf(remedy, sizeof remedy, "the word %s is expected here", asked->word);
    return reader_accept(reader, asked->word) ? STATUS_OK : reader_refuse(reader, remedy);
}

enum status query_take_variable(struct query *query, const struct reader *at_column,
                                const char *again)
{
    const size_t last = query->variable_count;
    for (size_t i = 0; i < last; i++) {
        if (query->variable[i].column_index == query->variable[last].column_index) {
            return reader_refuse(at_column, again);
        }
    }
    query->variable_count++;
    return STATUS_OK;
}

enum status query_read_quantile(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    const struct token token = reader->token;
    enum status status =
        reader_number(reader, &query->share, "a share is expected here, 0.5 for the median");
    if (status != STATUS_OK) {
        return status;
    }
    if (!(query->share > 0 && query->share < 1)) {
        reader->token = token;
        return reader_refuse(reader, "a share lies between 0 and 1");
    }
    if (!reader_accept(reader, "of")) {
        return reader_refuse(reader, "of and a column is expected here");
    }
    query->cell_count = 1;
    query->rounds = QUERY_ROUNDS_DEFAULT;
    status = query_read_column(reading, true);
    if (status == STATUS_OK) {
        status = query_read_where(reading);
    }
    if (status == STATUS_OK && reader_accept(reader, "in")) {
        static const struct query_number asked = {
            .word = "rounds", .least = 1, .most = QUERY_ROUNDS_MAX, .each = 1};
        size_t rounds = 0;
        status = query_read_number(&rounds, reading, &asked);
        query->rounds = (uint32_t)rounds;
    }
    return status;
}

enum status query_read_count(struct reading *reading)
{
    struct query *query = reading->query;
    query->cell_count = 1;
    query->is_partial = true;
    return predicate_read(&query->where, &reading->reader);
}

static enum status read_kind(struct reading *reading)
{
    struct reader *reader = &reading->reader;
    size_t kind = 0;
    while (kind < QUERY_KINDS && !reader_accept(reader, query_kinds[kind].word)) {
        kind++;
    }
    if (kind == QUERY_KINDS) {
        return reader_refuse(
            reader, "one of count:, mean:, histogram:, quantile:, survival:, crosstab:, table1:, "
                    "evaluate:, correlate:, pca:, regress: comes first");
    }
    if (!reader_accept(reader, ":")) {
        return reader_refuse(reader, "a colon is expected here");
    }
    reading->query->kind = (enum query_kind)kind;
    reading->query->rounds = 1;
    return query_kinds[kind].read(reading);
}

enum status query_parse(struct query *query, struct slice text, const struct query_names *names,
                        struct why *why)
{
    struct reading reading = {.query = query};
    *query = (struct query){0};
    reader_init(&reading.reader, text, names->schema, why);
    reading.reader.score = names->score;
    reading.reader.score_count = names->score_count;
    if (text.size >= QUERY_TEXT_BYTES) {
        return why_refuse(why, "it is longer than %d characters: split it", QUERY_TEXT_BYTES - 1);
    }
    enum status status = read_kind(&reading);
    if (status == STATUS_OK && reading.reader.token.kind != TOKEN_END) {
        status = reader_refuse(&reading.reader, "the question should end here");
    }
    if (status != STATUS_OK) {
        *query = (struct query){0};
        return status;
    }
    memcpy(query->text, text.data, text.size);
    query->imputed = query->kind == QUERY_MEAN ? query_imputed(&query->column) : 0;
    for (size_t i = 0; i < QUERY_EDGES_MAX && query->score == NULL; i++) {
        query->edge_key[i] = even_key(query->edge[i]);
    }
    return STATUS_OK;
}
