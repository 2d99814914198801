/* query_regress.c - regressions: how the question is read, and what it asks for. */

#include "query/query_kind.h"

#include <math.h>
#include <string.h>

enum { INTERVALS_DEFAULT = 4 };

static const char cells_remedy[] = "this makes more than 8192 cells: leave out columns, or ask for "
                                   "fewer levels or intervals";

size_t query_regress_outcomes(const struct query *query)
{
    return query->family == REGRESS_LOGISTIC ? 2
           : query->family == REGRESS_HAZARD ? 2 * query->intervals + 1
                                             : QUERY_OUTCOME_LEVELS;
}

void query_regress_design(struct query_regress *out, const struct query *query)
{
    memset(out, 0, sizeof *out);
    out->design =
        (struct regress_design){.family = query->family,
                                .predictor = out->predictor,
                                .predictors = query->variable_count,
                                .intervals = query->family == REGRESS_HAZARD ? query->intervals : 1,
                                .outcomes = query_regress_outcomes(query),
                                .outcome = out->outcome,
                                .is_rounded = true};
    for (size_t i = 0; i < query->variable_count; i++) {
        out->predictor[i].levels = query->variable[i].levels;
        out->predictor[i].is_number = query->variable[i].column.kind == COLUMN_NUMBER;
        if (query->variable[i].is_whole) {
            query_set_atoms(&out->predictor[i], &query->variable[i]);
        }
        if (out->predictor[i].is_number) {
            regress_set_even(&out->predictor[i]);
        }
    }
    for (size_t k = 0; k < QUERY_OUTCOME_LEVELS; k++) {
        const double share = (double)k / (QUERY_OUTCOME_LEVELS - 1);
        out->outcome[k] = query->family == REGRESS_POISSON
                              ? query->low + (query->high - query->low) * share
                              : 2 * share - 1;
    }
}

void query_regress_unit(double *centre, double *half, const struct query_variable *variable)
{
    const struct column *column = &variable->column;
    *centre = column->centre;
    *half = column->half_width;
    if (variable->is_log) {
        const double low = log(column->centre - column->half_width);
        const double high = log(column->centre + column->half_width);
        *centre = (low + high) / 2;
        *half = (high - low) / 2;
    }
}

/* What is expected where all numbers, not their distances to the middle of their range, are 0. */
void query_regress_intercept(double *weight, const struct query *query)
{
    *weight++ = 1;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        double centre = 0;
        double half = 1;
        if (variable->column.kind != COLUMN_NUMBER) {
            weight += variable->levels - 1;
            continue;
        }
        query_regress_unit(&centre, &half, variable);
        *weight++ = -centre / half;
    }
}

/* A number's edges between levels that are even in its unit; unit of step: the file's. */
static void set_levels(struct query_variable *variable, size_t levels)
{
    double centre = 0;
    double half = 0;
    if (variable->is_whole) {
        query_set_whole_levels(variable, levels);
        return;
    }
    query_regress_unit(&centre, &half, variable);
    variable->levels = levels;
    for (size_t k = 1; k < levels; k++) {
        const double at = centre + half * (2 * (double)k / (double)levels - 1);
        variable->step[k - 1] = variable->is_log ? exp(at) : predicate_value(&variable->column, at);
    }
}

static void set_cells(struct query *query)
{
    query->cell_count = query_regress_outcomes(query);
    for (size_t i = 0; i < query->variable_count; i++) {
        query->cell_count *= query->variable[i].levels;
    }
    query->cell_count++;
}

static void set_numbers(struct query *query, size_t levels)
{
    for (size_t i = 0; i < query->variable_count; i++) {
        if (query->variable[i].column.kind == COLUMN_NUMBER) {
            set_levels(&query->variable[i], levels);
        }
    }
    set_cells(query);
}

void query_plan_regress(struct query *query, const struct query_public *known)
{
    const double sites = known->sites > 0 ? (double)known->sites : 1;
    struct query_regress regress;
    if (!query->steps_are_asked) {
        query_regress_design(&regress, query);
        set_numbers(query, regress_plan(&regress.design, regress.predictor, known->records / sites,
                                        known->variance / sites));
    }
}

/* Whether a function of a column stands here. If so, goes on after its bracket. */
static bool accept_function(struct reader *reader, const char *name)
{
    struct reader behind = *reader;
    const bool is = reader_accept(&behind, name) && reader_accept(&behind, "(");
    if (is) {
        *reader = behind;
    }
    return is;
}

/* What other languages' formulas have and this one has not. Returns what to write; NULL: nothing of that stands here. */
static const char *foreign_term(const struct reader *reader)
{
    struct reader behind = *reader;
    reader_advance(&behind);
    const struct slice text = reader->token.text;
    const bool is_word = reader->token.kind == TOKEN_WORD && !reader->token.quoted;
    if (is_word && reader_is(&behind, "(")) {
        return "a term is a column, log(COLUMN), whole(COLUMN) or factor(COLUMN)";
    }
    return is_word && memchr(text.data, '*', text.size) != NULL
               ? "a term is one column: products of columns are not fitted"
               : NULL;
}

/* Goes on after the brackets that are open around a column. */
static enum status close_functions(struct reader *reader, const bool *is_open)
{
    static const char *const remedy[] = {"the bracket of whole( is not closed: write )",
                                         "the bracket of factor( is not closed: write )",
                                         "the bracket of log( is not closed: write )"};
    for (size_t i = 0; i < sizeof remedy / sizeof *remedy; i++) {
        if (is_open[i] && !reader_accept(reader, ")")) {
            return reader_refuse(reader, remedy[i]);
        }
    }
    return STATUS_OK;
}

/* age, sex, log(kappa), whole(nodes), log(whole(visits)), factor(nodes) */
static enum status read_predictor(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    const struct reader at_column = *reader; /* a message points there */
    if (query->variable_count == REGRESS_PREDICTORS_MAX) {
        return reader_refuse(&at_column, "a regression has at most 8 columns");
    }
    struct query_variable *variable = &query->variable[query->variable_count];
    variable->is_log = accept_function(reader, "log");
    const bool is_whole = accept_function(reader, "whole");
    const bool is_factor = !variable->is_log && !is_whole && accept_function(reader, "factor");
    if (foreign_term(reader) != NULL) {
        return reader_refuse(reader, foreign_term(reader));
    }
    enum status status = query_read_any(&variable->column, &variable->column_index, reading);
    if (status == STATUS_OK) {
        status = close_functions(reader, (bool[]){is_whole, is_factor, variable->is_log});
    }
    if (status == STATUS_OK && is_whole) {
        status = query_take_whole(variable, &at_column);
    }
    if (status == STATUS_OK && is_factor) {
        status = query_take_factor(variable, &at_column);
    }
    if (status == STATUS_OK) {
        status = query_take_variable(query, &at_column, "this column is in the question already");
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct column *column = &variable->column;
    const bool is_number = column->kind == COLUMN_NUMBER;
    variable->levels = column->category_count;
    if (variable->is_log && (!is_number || column->transform != TRANSFORM_NONE ||
                             !(column->centre - column->half_width > 0))) {
        return reader_refuse(&at_column, "log needs a column of numbers without a transform whose "
                                         "public range lies above 0");
    }
    if (!is_number && column->category_count > REGRESS_LEVELS_MAX) {
        return reader_refuse(&at_column, "this has more than 16 categories");
    }
    return !is_number || (isfinite(column->centre) && isfinite(1 / column->half_width) &&
                          column->half_width > 0)
               ? STATUS_OK
               : reader_refuse(&at_column, "its public range is not one of finite numbers: correct "
                                           "the schema");
}

/* A column by itself is left out where its cell is missing; a predicate then does not hold. */
static enum status read_event_or_number(struct reading *reading)
{
    struct query *query = reading->query;
    size_t index = 0;
    if (reader_is(&reading->reader, "Surv")) {
        return reader_refuse(&reading->reader,
                             "a time is written as time COLUMN event EVENT ~ ..., "
                             "to and the last time");
    }
    if (!query_is_column_alone(reading->reader, &index)) {
        query->family = REGRESS_LOGISTIC;
        query->event.column_count = reading->reader.schema->column_count;
        return predicate_read(&query->event, &reading->reader);
    }
    const struct reader at_column = reading->reader;
    const enum status status = query_read_column(reading, false);
    query->family = query->column.kind == COLUMN_NUMBER ? REGRESS_LINEAR : REGRESS_LOGISTIC;
    return status != STATUS_OK || query->family == REGRESS_LINEAR ||
                   query->column.category_count == 2
               ? status
               : reader_refuse(&at_column,
                               "this column does not have two categories: say which is the event, "
                               "such as death == 1");
}

/* A word of the grammar, unless it is the name of what is explained. */
static bool accept_word(struct reader *reader, const char *word)
{
    struct reader behind = *reader;
    const bool is = reader_accept(&behind, word) && !reader_is(&behind, "~");
    if (is) {
        *reader = behind;
    }
    return is;
}

static enum status read_outcome(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    if (accept_word(reader, "time")) {
        query->family = REGRESS_HAZARD;
        const enum status status = query_read_column(reading, true);
        return status == STATUS_OK ? query_read_word_event(reading) : status;
    }
    if (accept_word(reader, "counts")) {
        const struct reader at_column = *reader;
        const enum status status = query_read_column(reading, true);
        query->family = REGRESS_POISSON;
        return status != STATUS_OK || query->low >= 0
                   ? status
                   : reader_refuse(&at_column, "counts are 0 or more, and the column's public "
                                               "range begins below");
    }
    return read_event_or_number(reading);
}

/* in 5 levels in 6 intervals */
static enum status read_number_of(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    const struct reader at_number = *reader;
    double number = 0;
    const enum status status =
        reader_number(reader, &number, "a number of levels or intervals is expected here");
    if (status != STATUS_OK) {
        return status;
    }
    const bool is_whole = number == floor(number);
    if (reader_accept(reader, "levels")) {
        if (!is_whole || number < 2 || number > REGRESS_LEVELS_MAX) {
            return reader_refuse(&at_number, "levels are a whole number from 2 to 16");
        }
        query->steps_are_asked = true;
        set_numbers(query, (size_t)number);
        return STATUS_OK;
    }
    if (query->family == REGRESS_HAZARD && reader_accept(reader, "intervals")) {
        if (!is_whole || number < REGRESS_INTERVALS_MIN || number > REGRESS_INTERVALS_MAX) {
            return reader_refuse(&at_number, "intervals are a whole number from 2 to 12");
        }
        query->intervals = (size_t)number;
        return STATUS_OK;
    }
    return reader_refuse(reader, query->family == REGRESS_HAZARD
                                     ? "the word levels or intervals is expected here"
                                     : "the word levels is expected here");
}

static enum status read_predictors(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    const struct reader at_first = *reader;
    enum status status = STATUS_OK;
    do {
        status = read_predictor(reading);
    } while (status == STATUS_OK && reader_accept(reader, "+"));
    const bool has_column =
        query->event.step_count == 0 || query->family == REGRESS_HAZARD; /* that is explained */
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK && has_column; i++) {
        if (query->variable[i].column_index == query->column_index) {
            status = reader_refuse(&at_first, "the column that is explained does not explain "
                                              "itself: leave it out on the right");
        }
    }
    return status;
}

/* Whatever the text leaves open, before query_plan; and the slopes and cells that this makes. */
static enum status settle(struct reading *reading, const struct reader *at_first)
{
    struct query *query = reading->query;
    struct query_regress regress;
    if (!query->steps_are_asked) {
        size_t levels = REGRESS_PLAN_MOST;
        set_numbers(query, levels);
        while (query->cell_count > REGRESS_CELLS_MAX && levels > REGRESS_PLAN_LEAST) {
            set_numbers(query, --levels);
        }
    }
    set_cells(query);
    for (size_t k = 0; k < query->intervals; k++) {
        query->edge[k] = query->end * (double)(k + 1) / (double)query->intervals;
    }
    if (query->cell_count > REGRESS_CELLS_MAX) {
        return reader_refuse(at_first, cells_remedy);
    }
    query_regress_design(&regress, query);
    return regress_slopes(&regress.design) <= REGRESS_SLOPES_MAX
               ? STATUS_OK
               : reader_refuse(at_first, "this makes more than 24 coefficients: leave out a column "
                                         "of categories");
}

/* death ~ age + sex + log(kappa), to 5000 in 5 levels where ... */
enum status query_read_regress(struct reading *reading)
{
    struct query *query = reading->query;
    struct reader *reader = &reading->reader;
    enum status status = read_outcome(reading);
    if (status == STATUS_OK && !reader_accept(reader, "~")) {
        status = reader_refuse(
            reader,
            "~ between spaces, and what explains it, is expected here, such as death ~ age + sex");
    }
    const struct reader at_first = *reader;
    if (status == STATUS_OK) {
        status = read_predictors(reading);
    }
    if (status == STATUS_OK && query->family == REGRESS_HAZARD) {
        query->intervals = INTERVALS_DEFAULT;
        status = query_read_end(reading);
    }
    if (status == STATUS_OK && query->family != REGRESS_HAZARD && reader_is(reader, ",")) {
        status =
            reader_refuse(reader, "to and a last time belong to times: write time COLUMN event "
                                  "EVENT before ~");
    }
    while (status == STATUS_OK && reader_accept(reader, "in")) {
        status = read_number_of(reading);
    }
    if (status == STATUS_OK) {
        status = settle(reading, &at_first);
    }
    return status == STATUS_OK ? query_read_where(reading) : status;
}
