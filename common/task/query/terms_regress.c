/* What a regression is to tell, before anything is asked. */

#include "estimate/cells.h"
#include "query/query.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

void query_name_term(char row[static TERMS_ROW_BYTES], const struct query_variable *variable)
{
    if (variable == NULL) {
        (void)snprintf(row, TERMS_ROW_BYTES, "intercept");
        return;
    }
    (void)snprintf(row, TERMS_ROW_BYTES, "%.96s, %s", variable->column.name,
                   variable->column.kind == COLUMN_NUMBER ? "by half its range"
                   : variable->levels > 2                 ? "each category to the first"
                                                          : "second category");
}

static bool has_events(const struct query *query)
{
    return query->family == REGRESS_LOGISTIC || query->family == REGRESS_HAZARD;
}

/* The line of a variable's coefficient, the first of whose categories stands for all, or NULL: of the intercept. */
static enum status add_term(const struct query_asking *asking, const struct regress_design *design,
                            size_t index, const char *before, const char *behind)
{
    const struct query *query = asking->query;
    const double variance = asking->deviation * asking->deviation;
    const struct query_variable *variable =
        index < query->variable_count ? &query->variable[index] : NULL;
    const bool is_linear = query->family == REGRESS_LINEAR;
    double intercept[REGRESS_TERMS_MAX] = {0};
    char row[TERMS_ROW_BYTES];
    query_regress_intercept(intercept, query);
    query_name_term(row, variable);
    const struct regress_expected expected =
        variable != NULL ? regress_expect(design, index, asking->records, variance)
                         : regress_expect_sum(design, intercept, asking->records, variance);
    const double fewest = variable != NULL ? regress_fewest(design, index, variance, 1)
                                           : regress_fewest_of_sum(design, intercept, variance, 1);
    struct terms_line *line = query_add_width(
        asking,
        &(struct query_width){row, TERMS_OF_ALL, "coefficient", "that", fewest, asking->records,
                              !isnan(expected.half)},
        "%s of %s%s%s", before, variable != NULL ? variable->column.name : "the intercept",
        variable == NULL                         ? ""
        : variable->column.kind == COLUMN_NUMBER ? " over half of its range"
        : index > 0 && variable->levels > 2      ? "'s second category, and its others"
                                                 : "'s second category",
        behind);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->bar = is_linear ? expected.half * (query->high - query->low) / 2 : expected.half;
    line->measure =
        is_linear ? "half of the interval is half of the range" : "half of the interval is 1";
    if (index == 0) {
        line->noise_to_signal = isnan(expected.half) ? 2 : expected.half;
    }
    return STATUS_OK;
}

/* How many records there are in which nothing is missing, and how many events, which a refusal may be for. */
static enum status describe_counts(const struct query_asking *asking,
                                   const struct regress_design *design)
{
    const struct query *query = asking->query;
    const double m = (double)query->cell_count;
    const double points = (m - 1) / (double)design->outcomes;
    const double of_point = query->family == REGRESS_LOGISTIC ? 1 : (double)design->intervals;
    const double cells[] = {m - 1, points * of_point};
    const char *const row[] = {"records without a gap", "events"};
    const char *const of[] = {"the number of records in which nothing is missing",
                              "the number of events"};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (has_events(query) ? 2 : 1) && status == STATUS_OK; i++) {
        const double noise =
            sqrt(asking->deviation * asking->deviation * cells[i] * (1 - cells[i] / m));
        const struct query_counted counted = {row[i], "that", ESTIMATE_Z_NOISE * noise,
                                              TERMS_OF_ALL};
        status = query_add_count(asking, &counted, "%s", of[i]);
    }
    return status;
}

enum status query_terms_regress(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    const size_t terms = query->variable_count + (query->family != REGRESS_HAZARD ? 1U : 0U);
    struct query_regress regress;
    char behind[TERMS_ROW_BYTES];
    query_regress_design(&regress, query);
    (void)snprintf(behind, sizeof behind, ", if records are even over %zu points%s",
                   regress_points(&regress.design),
                   has_events(query) ? " and a fifth have the event" : "");
    if (query_add_cell(asking,
                       has_events(query) ? "records are even over the points and a fifth have the "
                                           "event"
                                         : "records are even over the points",
                       "each of %zu cells", query->cell_count) == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = describe_counts(asking, &regress.design);
    for (size_t i = 0; i < terms && status == STATUS_OK; i++) {
        status = add_term(asking, &regress.design, i,
                          i == 0 ? "half of the 95 % interval" : "the same", i == 0 ? behind : "");
    }
    return status;
}
