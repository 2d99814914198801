/* query_table1.c - the table that opens a paper: how the question is read, how its price is split, and which cells a record
 * is in. */

#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>

enum { PART_BITS = 20, STEPS_DEFAULT = 32 }; /* before query_plan */

/* So that no difference is subnormal: query.c. */
static double flushed(double x)
{
    return fabs(x) < 0x1p-900 ? 0 : x;
}

/* A number's steps are even in the unit of its public range: of a logarithm, where that is its transform. They never fall,
 * whatever the rounding of a logarithm does: else a record's parts could be below 0, and move a cell by more than its part. */
static void set_steps(struct query_variable *variable, size_t steps)
{
    const struct column *column = &variable->column;
    const double low = column->centre - column->half_width;
    variable->levels = steps;
    for (size_t k = 0; k < steps; k++) {
        const double at = low + 2 * column->half_width * (double)k / (double)(steps - 1);
        const double step = flushed(predicate_value(column, at));
        variable->step[k] = k > 0 ? fmax(step, variable->step[k - 1]) : step;
    }
}

/* The sum of the expected errors is least where a part grows with the root of what the noise does at a part of one: sum of need/w
 * times sum of w. Gaussian noise grows with the root of the sum of w^2: then with the cube root. */
static void set_weights(struct query *query, bool is_gaussian)
{

    double largest = 0;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        largest =
            fmax(largest, table1_need(variable->column.kind == COLUMN_NUMBER, variable->levels));
    }
    query->cell_count = 0;
    for (size_t i = 0; i < query->variable_count; i++) {
        struct query_variable *variable = &query->variable[i];
        const double need = table1_need(variable->column.kind == COLUMN_NUMBER, variable->levels);
        const double weight = is_gaussian ? cbrt(need / largest) : sqrt(need / largest);
        variable->weight = (uint32_t)lrint(ldexp(weight, QUERY_WEIGHT_BITS));
        query->cell_count += query_variable_cells(query, variable);
    }
}

void query_plan_table1(struct query *query, const struct query_public *known)
{
    const struct table1_public of_table = {
        .records = known->records, .groups = query_groups(query), .variance = known->variance};
    for (size_t i = 0; i < query->variable_count && !query->steps_are_asked; i++) {
        if (query->variable[i].column.kind == COLUMN_NUMBER) {
            set_steps(&query->variable[i], table1_plan(&of_table));
        }
    }
    set_weights(query, known->is_gaussian);
}

uint64_t query_part_of(const struct query_variable *variable, uint64_t one)
{
    const uint64_t part = (uint64_t)variable->weight * one >> QUERY_WEIGHT_BITS;
    return part > 0 ? part : 1;
}

size_t query_variable_cells(const struct query *query, const struct query_variable *variable)
{
    return query_groups(query) * (variable->levels + 1) + 1;
}

uint64_t query_sensitivity_table1(const struct query *query, uint64_t one)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < query->variable_count; i++) {
        sum += 2 * query_part_of(&query->variable[i], one);
    }
    return sum;
}

double query_squared_table1(const struct query *query, double one)
{
    double sum = 0; /* below 2^53: exact */
    for (size_t i = 0; i < query->variable_count; i++) {
        const double part = (double)query_part_of(&query->variable[i], (uint64_t)one);
        sum += 2 * part * part;
    }
    return sum;
}

static enum status check_number(struct query_variable *variable, const struct reader *at_column)
{
    set_steps(variable, STEPS_DEFAULT);
    for (size_t k = 0; k < STEPS_DEFAULT; k++) {
        const bool rises = k == 0 || variable->step[k - 1] < variable->step[k];
        if (!rises || !isfinite(variable->step[k])) {
            return reader_refuse(at_column, "its public range is not one of finite numbers: "
                                            "correct the schema");
        }
    }
    return STATUS_OK;
}

static enum status read_variable(struct reading *reading)
{
    struct query *query = reading->query;
    const struct reader at_column = reading->reader; /* a message points there */
    if (query->variable_count == QUERY_VARIABLES_MAX) {
        char remedy[64];
        (void)snprintf(remedy, sizeof remedy, "a table has at most %d variables",
                       QUERY_VARIABLES_MAX);
        return reader_refuse(&at_column, remedy);
    }
    struct query_variable *variable = &query->variable[query->variable_count];
    enum status status = query_read_any(&variable->column, &variable->column_index, reading);
    if (status == STATUS_OK) {
        status = query_take_variable(query, &at_column, "this variable is in the table already");
    }
    if (status != STATUS_OK) {
        return status;
    }
    variable->levels = variable->column.category_count;
    return variable->column.kind == COLUMN_NUMBER ? check_number(variable, &at_column) : STATUS_OK;
}

static enum status read_steps(struct reading *reading)
{
    static const struct query_number asked = {
        .word = "steps", .least = TABLE1_STEPS_MIN, .most = TABLE1_LEVELS_MAX, .each = 1};
    struct query *query = reading->query;
    size_t steps = 0;
    const enum status status = query_read_number(&steps, reading, &asked);
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        if (query->variable[i].column.kind == COLUMN_NUMBER) {
            set_steps(&query->variable[i], steps);
        }
    }
    query->steps_are_asked = true;
    return status;
}

/* [age, sex, kappa] by death in 32 steps where ... */
enum status query_read_table1(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    enum status status = STATUS_OK;
    if (!reader_accept(reader, "[")) {
        return reader_refuse(reader, "variables in brackets is expected here, such as [age, sex]");
    }
    do {
        status = read_variable(reading);
    } while (status == STATUS_OK && reader_accept(reader, ","));
    if (status == STATUS_OK && !reader_accept(reader, "]")) {
        status = reader_refuse(reader, "a comma and a variable, or ], is expected here");
    }
    if (status == STATUS_OK && reader_accept(reader, "by")) {
        const struct reader at_group = *reader;
        status = query_read_groups(reading);
        for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
            if (query->factor_count > 0 &&
                query->variable[i].column_index == query->factor[0].column_index) {
                status = reader_refuse(&at_group, "this is a variable of the table: leave it out "
                                                  "on one side");
            }
        }
    }
    if (status == STATUS_OK && reader_accept(reader, "in")) {
        status = read_steps(reading);
    }
    if (status != STATUS_OK) {
        return status;
    }
    set_weights(query, false);
    return query_read_where(reading);
}

/* How much of `part` a number leaves to each step, and to `missing` after them. It passes every step below it with all of
 * the part, and the one above it with as much as its place between the two says. */
void query_split_number(uint64_t *out, const double *step, size_t levels, uint64_t part,
                        double cell)
{
    const uint64_t is_missing = even_is_nan(cell);
    const double there = even_choose(is_missing, step[0], cell);
    const double value = even_keep(~even_is_below(there, 0x1p-900), there);
    uint64_t left = part & ~is_missing;
    for (size_t k = 0; k + 1 < levels; k++) {
        const double width = step[k + 1] - step[k];
        const double gap = value - step[k];
        const double above = even_keep(~even_is_below(gap, width * 0x1p-60), gap) / width;
        const uint64_t share = (uint64_t)encode_value(even_min(even_max(above, 0), 1), PART_BITS);
        const uint64_t passed =
            ((share * part + (UINT64_C(1) << (PART_BITS - 1))) >> PART_BITS) & ~is_missing;
        out[k] = left - passed;
        left = passed;
    }
    out[levels - 1] = left;
    out[levels] = part & is_missing;
}

static void split_category(uint64_t *out, const struct query_variable *variable, uint64_t part,
                           double cell)
{
    uint64_t placed = 0;
    for (size_t k = 0; k < variable->levels; k++) {
        const uint64_t is_here = mask_of(cell == (double)k);
        out[k] = part & is_here;
        placed |= is_here;
    }
    out[variable->levels] = part & ~placed;
}

/* Every cell is gone through, whatever the record is. */
void query_add_table1(int64_t *sum, const struct query_asked *asked)
{
    const struct query *query = asked->query;
    const size_t groups = query_groups(query);
    const double group = query_group_of(asked);

    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        const uint64_t part = query_part_of(variable, UINT64_C(1) << asked->grid_bits);
        const double cell = query_cell_of(asked->row, variable->column_index, query->label_kind);
        uint64_t split[TABLE1_LEVELS_MAX + 1];
        uint64_t placed = 0;
        if (variable->column.kind == COLUMN_NUMBER) {
            query_split_number(split, variable->step, variable->levels, part, cell);
        } else {
            split_category(split, variable, part, cell);
        }
        for (size_t g = 0; g < groups; g++) {
            const uint64_t own = asked->holds & mask_of(group == (double)g);
            for (size_t k = 0; k <= variable->levels; k++) {
                sum[k] += (int64_t)(split[k] & own);
            }
            sum += variable->levels + 1;
            placed |= own;
        }
        *sum++ += (int64_t)(part & ~placed);
    }
}
