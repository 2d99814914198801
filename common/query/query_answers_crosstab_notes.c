/* query_answers_crosstab_notes.c - why a cross table's figure is not given, and what would be
 * enough. */

#include "base/check.h"
#include "estimate/cells.h"
#include "query/query_advice.h"
#include "query/query_answers_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LACK_BYTES = 136 /* of two of these and an advice a note has room */ };

static bool is_given(enum crosstab_figure figure, const struct crosstab_cells *cells, size_t row)
{
    double p = NAN;
    struct estimate odds;
    switch (figure) {
    case CROSSTAB_SHARE:
        return !isnan(crosstab_share(cells, row).value);
    case CROSSTAB_DIFFERENCE:
        return !isnan(crosstab_difference(cells).value);
    case CROSSTAB_ODDS:
        odds = crosstab_odds_ratio(cells);
        return !isnan(odds.value) || !isnan(odds.low);
    case CROSSTAB_TEST:
        return !isnan(crosstab_test(&p, cells));
    }
    return false;
}

/* A category that may have no record, as the noise alone may show as many; or one of so few that noise may be why the test is
 * of it. */
struct hidden {
    bool is;
    bool is_near;
    double least; /* records that it may have */
    double most;
};

/* Of rows and columns. */
struct hiddens {
    struct hidden row[CROSSTAB_CELLS_MAX];
    struct hidden column[CROSSTAB_CELLS_MAX];
    double all;       /* records in cells */
    size_t row_count; /* that are not hidden */
    size_t column_count;
};

static double sum_of_row(const struct crosstab_cells *cells, size_t row)
{
    double sum = 0;
    for (size_t j = 0; j < cells->columns; j++) {
        sum += cells->cell[row * cells->columns + j];
    }
    return sum;
}

static double sum_of_column(const struct crosstab_cells *cells, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < cells->rows; i++) {
        sum += cells->cell[i * cells->columns + column];
    }
    return sum;
}

/* sum: of how many cells */
static struct hidden hidden_of(double sum, size_t summed, const struct crosstab_cells *cells,
                               double all)
{
    static const double near = 3; /* deviations above the five that a test asks for */
    const double k = (double)summed;
    const double variance = fmax(0, cells_covariance(k, k, k, cells->m, cells->variance));
    const double deviation = sqrt(variance);
    const double over = sum - 5 * deviation;
    const bool is = cells_is_hidden(sum, variance, all);
    return (struct hidden){.is = is,
                           .is_near = over > 0 && over < near * deviation,
                           .least = fmax(sum - (near + 1) * deviation, 0),
                           .most = fmax(sum + (is ? ESTIMATE_Z_NOISE : -1) * deviation, 0)};
}

static void find_hidden(struct hiddens *out, const struct crosstab_cells *cells)
{
    *out = (struct hiddens){.all = 0};
    for (size_t i = 0; i < cells->rows; i++) {
        out->all += sum_of_row(cells, i);
    }
    for (size_t i = 0; i < cells->rows; i++) {
        out->row[i] = hidden_of(sum_of_row(cells, i), cells->columns, cells, out->all);
        out->row_count += !out->row[i].is;
    }
    for (size_t j = 0; j < cells->columns; j++) {
        out->column[j] = hidden_of(sum_of_column(cells, j), cells->rows, cells, out->all);
        out->column_count += !out->column[j].is;
    }
}

/* A figure that was refused. */
struct refused {
    const struct crosstab_cells *cells;
    enum crosstab_figure figure;
    size_t row;
    struct hiddens hiddens;
};

/* In every other trial a hidden category has no record, in the others up to what it may have; one that is near has between the
 * least and what was found. at: in (0, 1) */
static double supposed(const struct hidden *hidden, size_t index, double at)
{
    static const double golden = 0.6180339887498949; /* so that categories do not go together */
    double whole;
    const double own = modf(at + golden * (double)index, &whole);
    return hidden->is ? hidden->most * fmax(2 * own - 1, 0)
                      : hidden->least + (hidden->most - hidden->least) * own;
}

/* Such categories as they may be, like the others by the other column: what noise has put into them, less noise takes out. */
static void suppose(double *cell, double at, const void *of)
{
    const struct refused *refused = of;
    const struct hiddens *hiddens = &refused->hiddens;
    const struct crosstab_cells cells = {cell, refused->cells->rows, refused->cells->columns,
                                         refused->cells->m, 0};
    if (refused->figure != CROSSTAB_TEST || !(hiddens->all > 0)) {
        return;
    }
    for (size_t i = 0; i < cells.rows; i++) {
        for (size_t j = 0; j < cells.columns; j++) {
            const struct hidden *row = &hiddens->row[i];
            const struct hidden *column = &hiddens->column[j];
            const double of_row = fmax(sum_of_row(refused->cells, i), 0) / hiddens->all;
            const double of_column = fmax(sum_of_column(refused->cells, j), 0) / hiddens->all;
            double *own = &cell[i * cells.columns + j];
            *own = row->is || row->is_near         ? supposed(row, i, at) * of_column
                   : column->is || column->is_near ? supposed(column, j, at) * of_row
                                                   : *own;
        }
    }
}

static bool is_given_again(const struct advice_cells *cells, UNUSED const struct advised *advised,
                           const void *of)
{
    const struct refused *refused = of;
    struct crosstab_cells next = *refused->cells;
    next.cell = cells->cell;
    next.variance = cells->variance;
    return is_given(refused->figure, &next, refused->row);
}

static bool does(const struct advised *advised, const void *of)
{
    const struct refused *refused = of;
    const struct advice_cells found = {.cell = refused->cells->cell,
                                       .m = refused->cells->m,
                                       .variance = refused->cells->variance,
                                       .is_counts = true,
                                       .suppose = suppose};
    return advice_in_trials(&found, advised, is_given_again, of);
}

/* Whether a test is given of the table that a job without one of the categories asks for: its records are in no cell then. */
static bool is_tested_without(const struct crosstab_cells *cells, size_t factor, size_t left)
{
    double cell[CROSSTAB_CELLS_MAX];
    double p = NAN;
    struct crosstab_cells with = *cells;
    size_t count = 0;
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            if ((factor == 0 ? i : j) != left) {
                cell[count++] = cells->cell[i * cells->columns + j];
            }
        }
    }
    with.cell = cell;
    with.rows -= factor == 0;
    with.columns -= factor == 1;
    with.m -= cells->rows * cells->columns - count;
    if (with.rows > 1 && with.columns > 1) {
        (void)crosstab_test(&p, &with);
    }
    return !isnan(p);
}

/* Names stand whole, or the sentence does without them. */
static void say_least(char why[static LACK_BYTES], char leave[static LACK_BYTES],
                      const struct query *query, const struct crosstab_cells *cells)
{
    const struct crosstab_least least = crosstab_least_of(cells);
    const size_t at[2] = {least.row, least.column};
    const struct column *of[2] = {&query->factor[0].column, &query->factor[1].column};
    int size = LACK_BYTES;
    leave[0] = '\0';
    if (least.expected < least.wanted) {
        size = snprintf(why, LACK_BYTES,
                        ": %s %s, %s %s is expected to hold about %.0f records, and needs %.0f",
                        of[0]->name, of[0]->category[at[0]], of[1]->name, of[1]->category[at[1]],
                        floor(fmax(0, least.expected)), ceil(least.wanted));
    }
    if (size >= LACK_BYTES) {
        (void)snprintf(why, LACK_BYTES, ": a cell is expected to hold too few records");
    }
    for (size_t factor = 0; factor < 2 && !isnan(least.expected) && leave[0] == '\0'; factor++) {
        if (is_tested_without(cells, factor, at[factor])) {
            size = snprintf(
                leave, LACK_BYTES,
                "; or leave \"%s\" out of the categories of %s: the others may have enough",
                of[factor]->category[at[factor]], of[factor]->name);
            leave[0] = size >= LACK_BYTES ? '\0' : ';';
        }
    }
}

/* If one category of a column has all records, there is no test, and nothing would be enough. */
static bool say_one_category(struct query_answer *answer, const struct query *query,
                             const struct hiddens *hiddens)
{
    const size_t factor = hiddens->row_count == 1 ? 0 : 1;
    if (hiddens->row_count != 1 && hiddens->column_count != 1) {
        return false;
    }
    (void)snprintf(
        answer->note, sizeof answer->note,
        "not enough data for this question at this epsilon: %s has records in only one category, "
        "as far as the noise shows",
        query->factor[factor].column.name);
    return true;
}

/* A share, a difference or an odds ratio of rows, one of which has no records: no epsilon would be
 * enough. */
static bool say_no_row(struct query_answer *answer, const struct answering *answering,
                       const struct refused *refused)
{
    const struct column *column = &answering->query->factor[0].column;
    const struct crosstab_cells *cells = refused->cells;
    const bool is_share = refused->figure == CROSSTAB_SHARE;
    const size_t end = is_share ? refused->row + 1 : cells->rows;
    size_t at = is_share ? refused->row : 0;
    while (at < end &&
           !hidden_of(sum_of_row(cells, at), cells->columns, cells, answer->records).is) {
        at++;
    }
    if (at == end) {
        return false;
    }
    (void)snprintf(
        answer->note, sizeof answer->note,
        "not enough data for this question at this epsilon: no record was found in %s %s, as far "
        "as the noise shows",
        column->name, column->category[at]);
    query_say_enough(answer->note, sizeof answer->note, answering);
    return true;
}

/* Where nothing else is known: by the noise, of cells that are alike. */
static void say_row(struct query_answer *answer, const struct answering *answering,
                    const struct refused *refused)
{
    const struct crosstab_cells *cells = refused->cells;
    if (refused->figure == CROSSTAB_SHARE || refused->figure == CROSSTAB_DIFFERENCE) {
        query_say_enough(answer->note, sizeof answer->note, answering);
        return;
    }
    const double needed =
        refused->figure == CROSSTAB_TEST
            ? crosstab_row_of_test(cells->columns, cells->variance)
            : crosstab_expect(answer->records, 2, cells->m, cells->variance).row_of_odds;
    query_say(
        answer,
        "; for the noise alone, a row of about %.0f records would be enough if cells are alike",
        ceil(needed));
}

void crosstab_say_refused(struct query_answer *answer, const struct answering *answering,
                          const struct crosstab_cells *cells, enum crosstab_figure figure,
                          size_t row)
{
    struct refused refused = {.cells = cells, .figure = figure, .row = row};
    char why[LACK_BYTES] = "";
    char leave[LACK_BYTES] = "";
    if (is_given(figure, cells, row)) {
        return;
    }
    if (figure == CROSSTAB_TEST) {
        find_hidden(&refused.hiddens, cells);
        if (say_one_category(answer, answering->query, &refused.hiddens)) {
            return;
        }
        say_least(why, leave, answering->query, cells);
    } else if (say_no_row(answer, answering, &refused)) {
        return;
    }
    (void)snprintf(answer->note, sizeof answer->note,
                   "not enough data for this question at this epsilon%s", why);
    const struct advice advice = advice_search(answering, does, &refused);
    const bool is_told = advice_say(answer->note, sizeof answer->note, &advice);
    query_say(answer, "%s", leave);
    if (!is_told && leave[0] == '\0') {
        say_row(answer, answering, &refused);
    }
}
