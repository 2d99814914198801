/* query_correlate.c - correlations and principal components: how the question is read, and what a record adds. */

#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>

enum {
    CELL_BITS = 24,   /* of a number in [-1, 1], whose products then have twice as many */
    FOURTH_BITS = 12, /* of one that is multiplied four times */
    BITS_BELOW = 14   /* of a fourth moment of weight 1, that its weight leaves */
};

static void set_fourth(struct query *query, uint32_t fourth)
{
    const size_t d = query->variable_count;
    query->fourth = fourth;
    query->parts = 1;
    query->cell_count = correlate_cells(d) + (fourth > 0 ? correlate_fourth_cells(d) : 0);
}

static void set_parts(struct query *query, size_t parts)
{
    query->fourth = 0;
    query->parts = parts;
    query->cell_count = parts * correlate_cells(query->variable_count);
}

/* Columns of two values need none: their tables follow from the moments. */
static bool are_two(const struct query *query)
{
    bool are = true;
    for (size_t i = 0; i < query->variable_count; i++) {
        are = are && query->variable[i].column.kind == COLUMN_CATEGORY;
    }
    return are;
}

/* Fourth moments are small, and rounded to the grid. */
static uint32_t weight_most(const struct query *query, unsigned grid_bits)
{
    const unsigned bits = grid_bits > BITS_BELOW ? grid_bits - BITS_BELOW : 0;
    const uint32_t most = bits < 31 ? UINT32_C(1) << bits : CORRELATE_FOURTH_MAX;
    return are_two(query) || grid_bits < BITS_BELOW ? 0
           : most < CORRELATE_FOURTH_MAX            ? most
                                                    : CORRELATE_FOURTH_MAX;
}

void query_plan_correlate(struct query *query, const struct query_public *known)
{
    const struct correlate_public own = {.records = known->records,
                                         .variance = known->variance,
                                         .columns = query->variable_count,
                                         .is_gaussian = known->is_gaussian,
                                         .moves = known->moves};
    if (known->in_parts) {
        set_parts(query, query->parts_asked > 0 ? query->parts_asked : correlate_plan_parts(&own));
        return;
    }
    set_fourth(query, correlate_plan(&own, weight_most(query, known->grid_bits)));
}

/*
 * d columns z, u = (1, z), and w the other record's: the cells of a record are the triangle of u u', its diagonal halved. So two
 * records are half of |u u' - w w'|_1 apart, over the whole matrix. With a = (u + w)/2 and b = (u - w)/2 that is
 * |2 (a b' + b a')|_1 <= 4 |a|_1 |b|_1 <= (|a|_1 + |b|_1)^2, and |a_i| + |b_i| is the larger of |u_i| and |w_i|: 1 at most. So
 * (d + 1)^2 / 2. A record that adds nothing is |u u'|_1 / 2 <= (d + 1)^2 / 2 away. The d (d + 3)/2 sums and products are rounded,
 * which adds less than a step each (dp/encode.h); the count is not. The fourth moments are further apart by correlate_fourth_moves,
 * over their weight, and rounded likewise.
 */
uint64_t query_sensitivity_correlate(const struct query *query, uint64_t one)
{
    const uint64_t d = query->variable_count;
    const uint64_t moments = (d + 1) * (d + 1) * (one / 2) + d * (d + 3) / 2;
    const uint64_t divisor = UINT64_C(4) * query->fourth;
    return query->fourth == 0
               ? moments
               : moments + (correlate_fourth_moves(d) * one + divisor - 1) / divisor +
                     correlate_fourth_cells(d);
}

/*
 * In the L2 norm: the square f of the distance of u's and w's cells is convex in each z_i, whose second derivative is at least
 * 3 z_i^2 - w_i^2 + 2 |u_0|^2 >= 1. So f is largest where all numbers are -1 or 1. There |u|^2 = |w|^2 = d + 1, the squares cancel,
 * and f = (|u|^4 + |w|^4)/2 - <u, w>^2 = (d + 1)^2 - <u, w>^2. <u, w> is a whole number, odd where d is even. A record that adds nothing
 * is ((d + 1)^2 - (d + 1)/2)/2 away, which is less. Rounding adds less than a step to each of d (d + 3)/2 numbers.
 * The fourth moments' square is added.
 */
double query_squared_correlate(const struct query *query, double one)
{
    const size_t columns = query->variable_count;
    const double d = (double)columns;
    const double odd = columns % 2 == 0 ? 1 : 0;
    double square = (d + 1) * (d + 1) - odd;
    double rounded = d * (d + 3) / 2;
    if (query->fourth > 0) {
        const double by = 1 / (double)query->fourth;
        square += (double)correlate_fourth_squared(columns) / 16 * by * by;
        rounded += (double)correlate_fourth_cells(columns);
    }
    const double apart = (sqrt(square) * one + sqrt(rounded)) * (1 + 0x1p-40);
    return ceil(apart * apart);
}

static enum status read_variable(struct reading *reading)
{
    struct query *query = reading->query;
    const struct reader at_column = reading->reader; /* a message points there */
    if (query->variable_count == CORRELATE_COLUMNS_MAX) {
        char remedy[64];
        (void)snprintf(remedy, sizeof remedy, "at most %d columns are correlated at once",
                       CORRELATE_COLUMNS_MAX);
        return reader_refuse(&at_column, remedy);
    }
    struct query_variable *variable = &query->variable[query->variable_count];
    const struct column *column = &variable->column;
    enum status status = query_read_any(&variable->column, &variable->column_index, reading);
    if (status == STATUS_OK) {
        status = query_take_variable(query, &at_column, "this column is in the list already");
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (column->kind == COLUMN_CATEGORY) {
        variable->levels = column->category_count;
        return column->category_count == 2
                   ? STATUS_OK
                   : reader_refuse(&at_column, "this is a column of categories, and not of two: "
                                               "name a column of numbers, or of two categories");
    }
    return isfinite(column->centre) && isfinite(1 / column->half_width) && column->half_width > 0
               ? STATUS_OK
               : reader_refuse(&at_column, "its public range is not one of finite numbers: correct "
                                           "the schema");
}

/* [age, kappa, creatinine] */
static enum status read_columns(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    enum status status = STATUS_OK;
    if (!reader_accept(reader, "[")) {
        return reader_refuse(reader, "columns in brackets is expected here, such as [age, sex]");
    }
    do {
        status = read_variable(reading);
    } while (status == STATUS_OK && reader_accept(reader, ","));
    if (status == STATUS_OK && !reader_accept(reader, "]")) {
        status = reader_refuse(reader, "a comma and a column, or ], is expected here");
    }
    if (status == STATUS_OK && query->variable_count < 2) {
        status = reader_refuse(reader, "one column has no correlation: name two or more");
    }
    return status;
}

/* 8 parts: earlier texts may say so, and reading an old journal reads them. */
static enum status read_parts(struct reading *reading)
{
    struct reader *reader = &reading->reader;
    const struct token token = reader->token;
    double parts = 0;
    const enum status status = reader_number(reader, &parts, "a number of parts is expected here");
    if (status != STATUS_OK) {
        return status;
    }
    if (!(parts == 1 || parts == 8 || parts == 16 || parts == CORRELATE_PARTS_MAX)) {
        reader->token = token;
        return reader_refuse(reader, "parts are 1, 8, 16 or 32");
    }
    reading->query->parts_asked = (size_t)parts;
    return reader_accept(reader, "parts")
               ? STATUS_OK
               : reader_refuse(reader, "the word parts is expected here");
}

/* [age, kappa, creatinine] where ...; without fourth moments before query_plan, and of a pca, as no interval asks for more. */
enum status query_read_correlate(struct reading *reading)
{
    enum status status = read_columns(reading);
    if (status != STATUS_OK) {
        return status;
    }
    set_fourth(reading->query, 0);
    if (reading->query->kind == QUERY_CORRELATE && reader_accept(&reading->reader, "in")) {
        status = read_parts(reading);
    }
    return status == STATUS_OK ? query_read_where(reading) : status;
}

/* The column's number in [-1, 1], in steps of 2^-CELL_BITS; there: all ones where it is. What is nearer to 0 than 2^-900, or to
 * the centre than 2^-60 of the range, counts as that: query.c. */
static int64_t place_in_range(uint64_t *there, const struct query_variable *variable, double cell)
{
    const int64_t end = (int64_t)1 << CELL_BITS;
    if (variable->column.kind == COLUMN_CATEGORY) {
        const uint64_t is_second = mask_of(cell == 1);
        *there = is_second | mask_of(cell == 0);
        return (int64_t)mask_choose(is_second, (uint64_t)end, (uint64_t)-end);
    }
    const struct column *column = &variable->column;
    const double centre = fabs(column->centre) < 0x1p-900 ? 0 : column->centre;
    *there = ~even_is_nan(cell);
    const double known = even_keep(*there, cell);
    const double flushed = even_keep(~even_is_below(known, 0x1p-900), known);
    const double own = predicate_cell(column, flushed);
    const double gap = own - centre;
    const double near = even_keep(~even_is_below(gap, column->half_width * 0x1p-60), gap);
    return encode_value(even_min(even_max(near / column->half_width, -1), 1), CELL_BITS);
}

/* floor(value / 2^shift + 1/2); |value| <= 2^60 */
static int64_t shifted(int64_t value, unsigned shift)
{
    const unsigned most = 61;
    const int64_t bias = (int64_t)1 << most;
    CHECK(shift <= most);
    const uint64_t half = (UINT64_C(1) << shift) >> 1;
    return (int64_t)(((uint64_t)(value + bias) + half) >> shift) - (bias >> shift);
}

/* What a record adds, own: all ones, or 0. */
struct adding {
    int64_t *sum;
    uint64_t own;
    unsigned grid_bits;
    unsigned weight_bits; /* of fourth moments */
};

static void add_moment(struct adding *adding, int64_t value, unsigned shift)
{
    *adding->sum++ += (int64_t)((uint64_t)shifted(value, shift) & adding->own);
}

/* order: how many numbers value is the product of; part: 2^part of it is one. */
static void add_fourth(struct adding *adding, int64_t value, unsigned order, unsigned part)
{
    add_moment(adding, value, order * FOURTH_BITS - adding->grid_bits + adding->weight_bits + part);
}

static void add_fourths(struct adding *adding, const int64_t *number, size_t columns)
{
    int64_t z[CORRELATE_COLUMNS_MAX];
    for (size_t i = 0; i < columns; i++) {
        z[i] = shifted(number[i], CELL_BITS - FOURTH_BITS);
    }
    for (size_t i = 0; i < columns; i++) {
        add_fourth(adding, z[i] * z[i] * z[i], 3, 2);
        add_fourth(adding, z[i] * z[i] * z[i] * z[i], 4, 2);
    }
    for (size_t i = 0; i < columns; i++) {
        for (size_t j = i + 1; j < columns; j++) {
            const int64_t product = z[i] * z[j];
            add_fourth(adding, product * z[i], 3, 0);
            add_fourth(adding, product * z[j], 3, 0);
            add_fourth(adding, product * z[i] * z[i], 4, 1);
            add_fourth(adding, product * product, 4, 0);
            add_fourth(adding, product * z[j] * z[j], 4, 1);
        }
    }
}

void query_add_correlate(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const size_t d = query->variable_count;
    const unsigned bits = asked->grid_bits;
    int64_t z[CORRELATE_COLUMNS_MAX];
    struct adding adding = {.own = asked->holds, .grid_bits = bits};
    CHECK(bits >= 1 && bits <= CELL_BITS);
    for (size_t i = 0; i < d; i++) {
        const struct query_variable *variable = &query->variable[i];
        uint64_t there = 0;
        z[i] = place_in_range(&there, variable,
                              query_cell_of(asked->row, variable->column_index, query->label_kind));
        adding.own &= there;
    }
    adding.sum = sum + asked->row->place % query->parts * correlate_cells(d);
    *adding.sum++ += (int64_t)((UINT64_C(1) << (bits - 1)) & adding.own);
    for (size_t i = 0; i < d; i++) {
        add_moment(&adding, z[i], CELL_BITS - bits);
    }
    for (size_t i = 0; i < d; i++) {
        add_moment(&adding, z[i] * z[i], 2 * CELL_BITS - bits + 1);
        for (size_t j = i + 1; j < d; j++) {
            add_moment(&adding, z[i] * z[j], 2 * CELL_BITS - bits);
        }
    }
    if (query->fourth > 0) {
        while (UINT32_C(1) << adding.weight_bits < query->fourth) {
            adding.weight_bits++;
        }
        add_fourths(&adding, z, d);
    }
}
