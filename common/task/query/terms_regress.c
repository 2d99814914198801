/* What a regression is to tell, before anything is asked. */

#include "query/query.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum status query_terms_regress(struct terms *terms, const struct query *query,
                                const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct query_variable *first = &query->variable[0];
    const bool is_number = first->column.kind == COLUMN_NUMBER;
    struct query_regress regress;
    char needed[64] = "there are too few records";
    struct terms_line *cell = terms_add_line(terms);
    struct terms_line *line = cell != NULL ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell = line - 1;
    query_regress_design(&regress, query);
    const struct regress_expected expected =
        regress_expect(&regress.design, records, deviation * deviation);
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells", query->text,
                   query->cell_count);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    if (isfinite(expected.factor)) {
        (void)snprintf(needed, sizeof needed, "that needs about %.0f records",
                       ceil(records * expected.factor));
    }
    (void)snprintf(
        line->what, sizeof line->what,
        "%s: half of the 95 %% interval of %s%s, if records are even over %zu points%s; %s",
        query->text, first->column.name,
        is_number ? " over half of its range" : "'s second category",
        regress_points(&regress.design),
        query->family == REGRESS_LOGISTIC || query->family == REGRESS_HAZARD
            ? " and a fifth have the event"
            : "",
        needed);
    (void)snprintf(line->unit, sizeof line->unit, "coefficient");
    line->bar = query->family == REGRESS_LINEAR ? expected.half * (query->high - query->low) / 2
                                                : expected.half;
    line->noise_to_signal = isnan(expected.half) ? 2 : expected.half;
    line->measure = query->family == REGRESS_LINEAR ? "half of the interval is half of the range"
                                                    : "half of the interval is 1";
    return STATUS_OK;
}
