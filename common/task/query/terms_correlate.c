/* What correlations and components are to tell, before anything is asked. */

#include "estimate/correlate.h"
#include "estimate/pca.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* Of two columns as correlate_plan's. */
enum status query_terms_correlate(struct terms *terms, const struct query *query,
                                  const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct correlate_public known = {.records = records, .variance = deviation * deviation};
    double needed = NAN;
    const double half = correlate_expect(&needed, &known, query->parts);
    struct terms_line *cell = terms_add_line(terms);
    struct terms_line *line = cell != NULL ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell = line - 1;
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu sums of %zu part%s", query->text,
                   query->cell_count, query->parts, query->parts > 1 ? "s" : "");
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    (void)snprintf(
        line->what, sizeof line->what,
        "%s: half of the 95 %% interval of a correlation of 0, of values that spread by a "
        "sixth of the range; that needs about %.0f records",
        query->text, ceil(needed));
    (void)snprintf(line->unit, sizeof line->unit, "correlation");
    line->bar = half;
    line->noise_to_signal = isnan(half) ? 2 : half / (2 * TERMS_TENTH);
    line->measure = "half of the interval is a fifth";
    return STATUS_OK;
}

/* How far the noise and the sampling move a component's share, of columns as correlate_plan's. */
enum status query_terms_pca(struct terms *terms, const struct query *query,
                            const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct correlate_public known = {.records = records, .variance = deviation * deviation};
    double needed = NAN;
    const double edge = pca_expect(&needed, &known, query->variable_count);
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what,
                   "%s: how far an explained share moves, of values that spread by a sixth of the "
                   "range; shares need about %.0f records",
                   query->text, ceil(needed));
    (void)snprintf(line->unit, sizeof line->unit, "share");
    line->noise = edge;
    line->noise_to_signal = records < needed ? 2 : edge / TERMS_TENTH;
    line->measure = "a share moves by a tenth";
    return STATUS_OK;
}
