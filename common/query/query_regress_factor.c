/* query_regress_factor.c - whole numbers as the categories of a regression's term. */

#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>

static const double rounding = 1e-9;  /* of a range's end, where it is the power of one */
static const double whole_most = 1e9; /* whole numbers whose neighbours are doubles, too */

/* The first and last whole number within a column's public range; low > high: there is none. */
static void whole_range(double *low, double *high, const struct column *column)
{
    *low = ceil(predicate_value(column, column->centre - column->half_width) - rounding) + 0.0;
    *high = floor(predicate_value(column, column->centre + column->half_width) + rounding);
}

bool query_may_be_factor(const struct column *column)
{
    double low = 0;
    double high = 0;
    if (column->kind != COLUMN_NUMBER) {
        return false;
    }
    whole_range(&low, &high, column);
    return low > -whole_most && high < whole_most && high > low && high - low < REGRESS_LEVELS_MAX;
}

bool query_takes_smoothly(const struct query *query, size_t column_index)
{
    for (size_t i = 0; i < query->variable_count && query->kind == QUERY_REGRESS; i++) {
        const struct query_variable *variable = &query->variable[i];
        if (variable->column_index == column_index && variable->column.kind == COLUMN_NUMBER) {
            return true;
        }
    }
    return false;
}

/* The whole numbers within a column's public range become its categories. */
static void make_factor(struct query_variable *variable)
{
    struct column *column = &variable->column;
    double low = 0;
    double high = 0;
    whole_range(&low, &high, column);
    variable->is_factor = true;
    column->kind = COLUMN_CATEGORY;
    column->category_count = (size_t)(high - low) + 1;
    for (size_t k = 0; k < column->category_count; k++) {
        variable->step[k] = low + (double)k;
        (void)snprintf(column->category[k], sizeof column->category[k], "%.0f", variable->step[k]);
    }
}

enum status query_take_factor(struct query_variable *variable, const struct reader *at_column)
{
    if (variable->column.kind != COLUMN_NUMBER) {
        return reader_refuse(at_column, "this column has categories already: write it without "
                                        "factor()");
    }
    if (!query_may_be_factor(&variable->column)) {
        return reader_refuse(at_column, "factor needs a column of numbers with 2 to 16 whole "
                                        "numbers in its public range");
    }
    make_factor(variable);
    return STATUS_OK;
}
