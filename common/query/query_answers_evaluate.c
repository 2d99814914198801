/* query_answers_evaluate.c - how well a score tells who has an event: in each group and in all. */

#include "estimate/evaluate.h"
#include "query/query_answers.h"

#include <stdio.h>

enum { ROWS_WITHOUT_CUT = 3 + EVALUATE_BANDS, ROWS_OF_CUT = 3, LABEL_BYTES = SCHEMA_NAME_BYTES };

static size_t rows_of(const struct query *query)
{
    return ROWS_WITHOUT_CUT + (query->cut_band > 0 ? ROWS_OF_CUT : 0);
}

size_t evaluate_answers(const struct query *query)
{
    return table_columns(query) * (1 + rows_of(query));
}

static double edge_of(const struct query *query, size_t band)
{
    const size_t wide = query->intervals / EVALUATE_BANDS;
    return band == 0                ? query->low
           : band == EVALUATE_BANDS ? query->high
                                    : query->edge[band * wide - 1];
}

struct row_written {
    const char *variable;
    char label[LABEL_BYTES];
    struct table1_figure figure;
    const char *unit;
};

/* row: (rows_of) */
static void set_rows(struct row_written *row, const struct query *query,
                     const struct table1_column *column)
{
    const char *score = query->column.name;
    *row++ = (struct row_written){score, "AUC", evaluate_auc(column), "AUC"};
    if (query->cut_band > 0) {
        const size_t wide = query->intervals / EVALUATE_BANDS;
        const double cut = edge_of(query, query->cut_band);
        const struct evaluate_cut of_cut = evaluate_cut(column, query->cut_band * wide);
        row[0] = (struct row_written){score, "", of_cut.accuracy, "share"};
        row[1] = (struct row_written){score, "", of_cut.sensitivity, "share"};
        row[2] = (struct row_written){score, "", of_cut.specificity, "share"};
        (void)snprintf(row[0].label, LABEL_BYTES, "accuracy at %.6g", cut);
        (void)snprintf(row[1].label, LABEL_BYTES, "sensitivity at %.6g", cut);
        (void)snprintf(row[2].label, LABEL_BYTES, "specificity at %.6g", cut);
        row += ROWS_OF_CUT;
    }
    *row++ =
        (struct row_written){score, "missing", table1_count(column, column->levels), "records"};
    *row++ = (struct row_written){"with the event", "of all", evaluate_prevalence(column), "share"};
    for (size_t band = 0; band < EVALUATE_BANDS; band++, row++) {
        *row = (struct row_written){"with the event", "", evaluate_band(column, band), "share"};
        (void)snprintf(row->label, LABEL_BYTES, "score in %.6g to %.6g", edge_of(query, band),
                       edge_of(query, band + 1));
    }
}

void answer_evaluate(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    const size_t rows = rows_of(query);
    double cell[SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1];
    struct table1_sizes sizes;
    query_balanced_cells(cell, answering);
    const struct table1_block block = {cell, 2 * query->intervals, NULL,
                                       query_cell_variance(answering->run)};
    table1_agree(&sizes, &block, 1, query_groups(query), (double)answering->run->record_count);
    for (size_t group = 0; group < table_columns(query); group++, answer++) {
        const struct table1_figure size = table1_size(&sizes, group);
        table_tell(answer, answering, &size, "records");
        table_place(answer, query, "", "records", group);
    }
    for (size_t group = 0; group < table_columns(query); group++) {
        struct row_written row[ROWS_WITHOUT_CUT + ROWS_OF_CUT];
        struct table1_column column;
        table1_column_of(&column, &block, &sizes, group);
        set_rows(row, query, &column);
        for (size_t i = 0; i < rows; i++, answer++) {
            table_tell(answer, answering, &row[i].figure, row[i].unit);
            table_place(answer, query, row[i].variable, row[i].label, group);
        }
    }
}
