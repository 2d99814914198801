/* What correlations and components are to tell, before anything is asked. */

#include "estimate/correlate.h"
#include "estimate/pca.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* The noise's part of the sums, and of the number of records in which nothing is missing. */
static enum status describe_sums(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    struct terms_line *cell = terms_add_line(terms);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu sums", query->text,
                   query->cell_count);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    query_place(cell, query, "", TERMS_OF_NONE, 0, 0);
    cell->place.taken = "values spread by a sixth of their range";
    return query_add_count(terms, query,
                           &(struct query_counted){
                               "the number of records in which no column is missing", "that",
                               correlate_expect_count((double)query->parts * deviation * deviation),
                               "records without a gap", TERMS_OF_ALL, records});
}

/* For two columns as correlate_plan's. */
enum status query_terms_correlate(struct terms *terms, const struct query *query,
                                  const struct query_noise *noise, double step, double records)
{
    const double deviation = sqrt((double)query->parts) * step *
                             query_noise_deviation(noise); /* of all parts together */
    const struct correlate_public known = {.records = records, .variance = deviation * deviation};
    double fewest = NAN;
    const double half = correlate_expect(&fewest, &known, query->fourth);
    const enum status status = describe_sums(terms, query, noise, step, records);
    struct terms_line *line = status == STATUS_OK ? query_add_expected(terms) : NULL;
    char needed[QUERY_NEEDED_BYTES];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_needed(needed, "that", fewest, records, !isnan(half));
    (void)snprintf(
        line->what, sizeof line->what,
        "%s: half of the 95 %% interval of a correlation of 0, of values that spread by a "
        "sixth of the range; %s",
        query->text, needed);
    (void)snprintf(line->unit, sizeof line->unit, "correlation");
    line->bar = half;
    query_place(line, query, "correlation of 0", TERMS_OF_ALL, records, fewest);
    line->noise_to_signal = isnan(half) ? 2 : half / (2 * TERMS_TENTH);
    line->measure = "half of the interval is a fifth";
    return STATUS_OK;
}

/* How far the noise and the sampling move a component's share, of columns as correlate_plan's. */
enum status query_terms_pca(struct terms *terms, const struct query *query,
                            const struct query_noise *noise, double step, double records)
{
    const double deviation = sqrt((double)query->parts) * step *
                             query_noise_deviation(noise); /* of all parts together */
    const struct correlate_public known = {.records = records, .variance = deviation * deviation};
    double fewest = NAN;
    const double edge = pca_expect(&fewest, &known, query->variable_count);
    const enum status status = describe_sums(terms, query, noise, step, records);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    char needed[QUERY_NEEDED_BYTES];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_needed(needed, "that", fewest, records, !(records < fewest));
    (void)snprintf(line->what, sizeof line->what,
                   "%s: how far an explained share moves, of values that spread by a sixth of the "
                   "range (shares and loadings have no interval); %s",
                   query->text, needed);
    (void)snprintf(line->unit, sizeof line->unit, "share");
    line->noise = records < fewest ? NAN : edge;
    query_place(line, query, "explained share moves by (no interval)", TERMS_OF_ALL, records,
                fewest);
    line->noise_to_signal = records < fewest ? 2 : edge / TERMS_TENTH;
    line->measure = "a share moves by a tenth";
    return STATUS_OK;
}
