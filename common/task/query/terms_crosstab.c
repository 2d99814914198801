/* What a cross table is to tell, before anything is asked. */

#include "estimate/crosstab.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static const double log_odds_half = 0.5;

enum status query_terms_crosstab(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what, "%s: each cell", query->text);
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = deviation;
    line->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    line->noise_to_signal = line->bar * (double)query_table_cells(query) / records;
    line->measure = "the 95 % bar is the mean cell";
    if (query->factor_count != 2 || query->factor[1].column.category_count != 2) {
        return STATUS_OK;
    }
    const size_t rows = query->factor[0].column.category_count;
    const struct crosstab_expected expected =
        crosstab_expect(records, rows, query->cell_count, deviation * deviation);
    const struct query_half half[] = {
        {"share, if all cells are alike", "share", "half of the interval is a tenth",
         expected.share, TERMS_TENTH, expected.row, false},
        {"difference of the shares, likewise", "share", "half of the interval is a tenth",
         expected.difference, TERMS_TENTH, expected.row, false},
        {"odds ratio's logarithm, likewise", "logarithm", "half of the interval is one half",
         expected.log_odds, log_odds_half, expected.row_of_odds, false},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (rows == 2 ? 3 : 1) && status == STATUS_OK; i++) {
        status = query_add_half(terms, query, &half[i]);
    }
    return status;
}
