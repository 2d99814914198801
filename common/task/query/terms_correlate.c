/* What correlations and components are to tell, before anything is asked. */

#include "estimate/correlate.h"
#include "estimate/pca.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>

/* The variance of the noise of all parts together. */
static double variance_of(const struct query_asking *asking)
{
    return (double)asking->query->parts * asking->deviation * asking->deviation;
}

/* The noise's part of the sums, and of the number of records in which nothing is missing. */
static enum status describe_sums(const struct query_asking *asking)
{
    const struct query_counted counted = {
        "records without a gap", "that", correlate_expect_count(variance_of(asking)), TERMS_OF_ALL};
    return query_add_cell(asking, "values spread by a sixth of their range", "each of %zu sums",
                          asking->query->cell_count) != NULL
               ? query_add_count(asking, &counted,
                                 "the number of records in which no column is missing")
               : STATUS_NO_MEMORY;
}

/* For two columns as correlate_plan's. */
enum status query_terms_correlate(const struct query_asking *asking)
{
    const double records = asking->records;
    const struct correlate_public known = {.records = records, .variance = variance_of(asking)};
    double fewest = NAN;
    const double half = correlate_expect(&fewest, &known, asking->query->fourth);
    enum status status = describe_sums(asking);
    if (status != STATUS_OK) {
        return status;
    }
    struct terms_line *line = query_add_width(
        asking,
        &(struct query_width){"correlation of 0", TERMS_OF_ALL, "correlation", "that", fewest,
                              records, !isnan(half)},
        "half of the 95 %% interval of a correlation of 0, of values that spread by a sixth of the "
        "range");
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->bar = half;
    line->noise_to_signal = isnan(half) ? 2 : half / (2 * TERMS_TENTH);
    line->measure = "half of the interval is a fifth";
    return STATUS_OK;
}

/* How far the noise and the sampling move a component's share, of columns as correlate_plan's. */
enum status query_terms_pca(const struct query_asking *asking)
{
    const double records = asking->records;
    const struct correlate_public known = {.records = records, .variance = variance_of(asking)};
    double fewest = NAN;
    const double edge = pca_expect(&fewest, &known, asking->query->variable_count);
    enum status status = describe_sums(asking);
    if (status != STATUS_OK) {
        return status;
    }
    struct terms_line *line = query_add_width(
        asking,
        &(struct query_width){"explained share moves by (no interval)", TERMS_OF_ALL, "share",
                              "that", fewest, records, !(records < fewest)},
        "how far an explained share moves, of values that spread by a sixth of the range (shares "
        "and loadings have no interval)");
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->is_expected = false; /* a deviation */
    line->noise = records < fewest ? NAN : edge;
    line->noise_to_signal = records < fewest ? 2 : edge / TERMS_TENTH;
    line->measure = "a share moves by a tenth";
    return STATUS_OK;
}
