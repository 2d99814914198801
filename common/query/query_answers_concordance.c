/* query_answers_concordance.c - how well a score tells who has an event sooner: in each group and in all. */

#include "estimate/advice.h"
#include "estimate/cells.h"
#include "estimate/concordance.h"
#include "query/query_advice.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 3 };

size_t concordance_answers(const struct query *query)
{
    return table_columns(query) * ROWS;
}

/* A group's index that was refused. */
struct refused {
    const struct concordance_cells *cells;
    size_t group; /* the number of groups: of all */
};

/* How many of the rows of deaths, of censorings, or of those still there, as may be found again; 0: there may be nothing. */
static double found_again(const struct refused *refused, const struct advised *advised, size_t from,
                          size_t rows)
{
    const struct concordance_cells *cells = refused->cells;
    const size_t of_group = cells->bins * (2 * cells->bins + 1);
    const double m = (double)CONCORDANCE_CELLS(cells->groups, cells->bins);
    const bool is_of_all = refused->group == cells->groups;
    const size_t next_rows = rows == 1 ? 1 : advised->query.intervals;
    const double share = 1 / (is_of_all ? 1 : (double)cells->groups);
    double sum = 0;
    for (size_t g = 0; g < cells->groups; g++) {
        for (size_t c = 0; c < rows * cells->bins && (is_of_all || g == refused->group); c++) {
            sum += cells->cell[g * of_group + from * cells->bins + c];
        }
    }
    const double k = (double)(rows * cells->bins * cells->groups) * share;
    const double next = (double)(next_rows * advised->query.intervals * cells->groups) * share;
    const double chance = advised->times > 1 ? advised->times * fmax(sum, 0) : 0;
    const struct advice_asked asked = {.found = sum,
                                       .deviation = sqrt(cells->variance * k * (1 - k / m)),
                                       .times = advised->times,
                                       .deviation_again = sqrt(advised->variance * next + chance)};
    return fmax(advice_least(&asked), 0);
}

/* The rules ask how many there are of each, and not for how they lie. */
static bool does(const struct advised *advised, const void *of)
{
    const struct refused *refused = of;
    const struct concordance_cells *found = refused->cells;
    const size_t now = found->bins;
    const size_t bins = advised->query.intervals;
    const double count[] = {found_again(refused, advised, 0, now),
                            found_again(refused, advised, now, now),
                            found_again(refused, advised, 2 * now, 1)};
    double cell[CONCORDANCE_CELLS_MAX] = {0};
    const struct concordance_cells next = {
        .cell = cell, .groups = found->groups, .bins = bins, .variance = advised->variance};
    const bool is_of_all = refused->group == found->groups;
    const double share = 1 / (is_of_all ? (double)found->groups : 1);
    for (size_t i = 0; i < found->groups * bins * (2 * bins + 1); i++) {
        const size_t row = i / bins % (2 * bins + 1);
        const size_t group = i / (bins * (2 * bins + 1));
        const double of_row = row < 2 * bins ? count[row / bins] / (double)bins : count[2];
        cell[i] = is_of_all || group == refused->group ? share * of_row / (double)bins : 0;
    }
    return !isnan(concordance_index(&next, refused->group).estimate.value);
}

static void tell_index(struct query_answer *answer, const struct answering *answering,
                       const struct refused *refused)
{
    const struct query *query = answering->query;
    const struct table1_figure figure = concordance_index(refused->cells, refused->group);
    struct advice advice = {NAN, NAN};
    if (isnan(figure.estimate.value)) {
        advice = advice_search(answering, does, refused);
    }
    table_tell_advised(answer, answering, &figure, "C-index", &advice);
    if (!isnan(figure.estimate.value)) {
        (void)snprintf(answer->note, sizeof answer->note,
                       "of the score in %zu bins and the time in as many, up to %.6g",
                       query->intervals, query->end);
    }
}

/* For each group, and of all: the sizes with the records in no group make all records, and of no group more have the event than
 * it has. */
static void agree(struct query_answer *answer, const struct concordance_cells *cells, double all)
{
    const size_t groups = cells->groups;
    const size_t columns = groups > 1 ? groups + 1 : 1;
    double size[TABLE_COLUMNS_MAX];
    double sum = 0;
    double events = 0;
    for (size_t g = 0; g < groups; g++) {
        size[g] = concordance_size(cells, g).estimate.value;
        sum += size[g];
    }
    size[groups] = all - sum;
    query_agree(size, groups + 1, all);
    for (size_t g = 0; g < groups; g++) {
        const double found = concordance_events(cells, g).estimate.value;
        const double own = fmin(fmax(found, 0), size[g]);
        events += own;
        query_tell_agreed(&answer[g], size[g]);
        query_tell_agreed(&answer[columns + g], own);
    }
    if (groups > 1) {
        query_tell_agreed(&answer[groups], all - size[groups]);
        query_tell_agreed(&answer[columns + groups], events);
    }
}

void answer_concordance(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    const char *const variable[ROWS] = {"", "with the event", query->variable[0].column.name};
    char name[ROWS][SCHEMA_NAME_BYTES] = {"records", "", "C-index"};
    const size_t columns = table_columns(query);
    double cell[CONCORDANCE_CELLS_MAX];
    query_balanced_cells(cell, answering);
    (void)snprintf(name[1], sizeof name[1], "up to %.6g", query->end);
    const struct concordance_cells cells = {.cell = cell,
                                            .groups = query_groups(query),
                                            .bins = query->intervals,
                                            .variance = query_cell_variance(answering->run)};
    struct query_answer *const first = answer;
    for (size_t i = 0; i < ROWS * columns; i++, answer++) {
        const size_t row = i / columns;
        const size_t own = i % columns;
        const size_t group = own < cells.groups ? own : cells.groups;
        if (row == 2) {
            tell_index(answer, answering, &(struct refused){&cells, group});
        } else {
            const struct table1_figure figure =
                row == 0 ? concordance_size(&cells, group) : concordance_events(&cells, group);
            table_tell(answer, answering, &figure, "records");
        }
        table_place(answer, query, variable[row], name[row], own);
    }
    agree(first, &cells, (double)answering->run->record_count);
}
