/* query_regress_whole.c - regressions on whole numbers: as categories, or as the few values of a number. */

#include "query/query_kind.h"

#include <math.h>
#include <stdio.h>

static const double rounding = 1e-9;  /* of a range's end, where it is the power of one */
static const double whole_most = 1e9; /* whole numbers whose neighbours are doubles, too */

/* How many whole numbers lie within a column's public range, and the first; 0: none, or too many. */
static size_t whole_count(double *first, const struct column *column)
{
    *first = NAN;
    if (column->kind != COLUMN_NUMBER) {
        return 0;
    }
    const double low = predicate_value(column, column->centre - column->half_width);
    const double high = predicate_value(column, column->centre + column->half_width);
    *first = ceil(low - rounding) + 0.0;
    const double last = floor(high + rounding);
    const bool is_told = *first > -whole_most && last < whole_most && last >= *first;
    return is_told && last - *first < REGRESS_ATOMS_MAX ? (size_t)(last - *first) + 1 : 0;
}

size_t query_whole_numbers(const struct column *column)
{
    double first = 0;
    return whole_count(&first, column);
}

static bool has_whole_ends(const struct column *column)
{
    const double low = predicate_value(column, column->centre - column->half_width);
    const double high = predicate_value(column, column->centre + column->half_width);
    const double width = high - low;
    return fabs(2 * low - round(2 * low)) <= rounding && fabs(width - round(width)) <= rounding;
}

bool query_may_be_whole(const struct column *column)
{
    return query_whole_numbers(column) >= 2 && has_whole_ends(column);
}

/* Where a number lies in its public range, from -1 to 1, in the unit of the coefficient. A range of logarithms may begin so little
 * above 0 that 0 is counted as its end, which has no logarithm. */
static double place_of(const struct query_variable *variable, double value)
{
    double centre = 0;
    double half = 0;
    query_regress_unit(&centre, &half, variable);
    const double at = variable->is_log ? log(value) : predicate_cell(&variable->column, value);
    return fmax((at - centre) / half, variable->is_log ? -1 : -INFINITY);
}

void query_set_atoms(struct regress_predictor *out, const struct query_variable *variable)
{
    double first = 0;
    out->atoms = whole_count(&first, &variable->column);
    for (size_t i = 0; i < out->atoms; i++) {
        out->atom[i] = place_of(variable, first + (double)i);
    }
}

void query_set_whole_levels(struct query_variable *variable, size_t levels)
{
    struct regress_predictor predictor = {.levels = levels, .is_number = true};
    double first = 0;
    (void)whole_count(&first, &variable->column);
    query_set_atoms(&predictor, variable);
    regress_set_even(&predictor);
    variable->levels = predictor.levels;
    for (size_t k = 0; k + 1 < predictor.levels; k++) {
        variable->step[k] = first + (double)predictor.atom_end[k] - 0.5;
    }
}

/* Which whole numbers lie in each level, whose edges were made for a smooth column. */
static void set_atoms_by_edges(struct regress_predictor *out, const struct query_variable *variable)
{
    double first = 0;
    size_t next = 0;
    (void)whole_count(&first, &variable->column);
    query_set_atoms(out, variable);
    for (size_t k = 0; k < variable->levels; k++) {
        const double end = k + 1 < variable->levels ? variable->step[k] : INFINITY;
        while (next < out->atoms && first + (double)next < end) {
            next++;
        }
        out->atom_end[k] = next;
    }
}

bool query_regress_design_whole(struct query_regress *out, const struct query *query)
{
    bool is_other = false;
    query_regress_design(out, query);
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        if (!variable->is_whole && query_may_be_whole(&variable->column)) {
            set_atoms_by_edges(&out->predictor[i], variable);
            is_other = true;
        }
    }
    return is_other;
}

bool query_takes_smoothly(const struct query *query, size_t column_index)
{
    for (size_t i = 0; i < query->variable_count && query->kind == QUERY_REGRESS; i++) {
        const struct query_variable *variable = &query->variable[i];
        if (variable->column_index == column_index && variable->column.kind == COLUMN_NUMBER &&
            !variable->is_whole) {
            return true;
        }
    }
    return false;
}

/* The whole numbers within a column's public range become its categories. */
static void make_factor(struct query_variable *variable)
{
    struct column *column = &variable->column;
    double first = 0;
    column->category_count = whole_count(&first, column);
    variable->is_factor = true;
    column->kind = COLUMN_CATEGORY;
    for (size_t k = 0; k < column->category_count; k++) {
        variable->step[k] = first + (double)k;
        (void)snprintf(column->category[k], sizeof column->category[k], "%.0f", variable->step[k]);
    }
}

enum status query_take_factor(struct query_variable *variable, const struct reader *at_column)
{
    if (variable->column.kind != COLUMN_NUMBER) {
        return reader_refuse(at_column, "this column has categories already: write it without "
                                        "factor()");
    }
    const size_t count = query_whole_numbers(&variable->column);
    if (count < 2 || count > REGRESS_LEVELS_MAX) {
        return reader_refuse(at_column, "factor needs a column of numbers with 2 to 16 whole "
                                        "numbers in its public range");
    }
    make_factor(variable);
    return STATUS_OK;
}

enum status query_take_whole(struct query_variable *variable, const struct reader *at_column)
{
    if (variable->column.kind != COLUMN_NUMBER) {
        return reader_refuse(at_column, "this column has categories: write it without whole()");
    }
    if (query_whole_numbers(&variable->column) < 2) {
        return reader_refuse(at_column, "whole needs a column of numbers with 2 to 128 whole "
                                        "numbers in its public range: with more of them write it "
                                        "without whole()");
    }
    variable->is_whole = true;
    return STATUS_OK;
}
