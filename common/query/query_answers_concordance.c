/* query_answers_concordance.c - how well a score tells who has an event sooner: in each group and in all. */

#include "estimate/concordance.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 3 };

size_t concordance_answers(const struct query *query)
{
    return table_columns(query) * ROWS;
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
    for (size_t i = 0; i < ROWS * columns; i++, answer++) {
        const size_t row = i / columns;
        const size_t own = i % columns;
        const size_t group = own < cells.groups ? own : cells.groups;
        const struct table1_figure figure = row == 0   ? concordance_size(&cells, group)
                                            : row == 1 ? concordance_events(&cells, group)
                                                       : concordance_index(&cells, group);
        table_tell(answer, answering, &figure, row == 2 ? "C-index" : "records");
        table_place(answer, query, variable[row], name[row], own);
        if (row == 2 && !isnan(figure.estimate.value)) {
            (void)snprintf(answer->note, sizeof answer->note,
                           "of the score in %zu bins and the time in as many, up to %.6g",
                           query->intervals, query->end);
        }
    }
}
