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

/* Lines that follow the first coefficient's: each other variable's, all of whose categories are expected alike, and the intercept. */
static enum status describe_rest(struct terms *terms, const struct query *query,
                                 const struct regress_design *design,
                                 const struct table1_public *known)
{
    const double unit = query->family == REGRESS_LINEAR ? (query->high - query->low) / 2 : 1;
    const size_t last = query->variable_count + (query->family != REGRESS_HAZARD ? 1U : 0U);
    double intercept[REGRESS_TERMS_MAX] = {0};
    char needed[QUERY_NEEDED_BYTES];
    query_regress_intercept(intercept, query);
    for (size_t i = 1; i < last; i++) {
        const bool is_slope = i < query->variable_count;
        const struct query_variable *variable = &query->variable[is_slope ? i : 0];
        struct terms_line *line = query_add_expected(terms);
        if (line == NULL) {
            return STATUS_NO_MEMORY;
        }
        const struct regress_expected expected =
            is_slope ? regress_expect(design, i, known->records, known->variance)
                     : regress_expect_sum(design, intercept, known->records, known->variance);
        query_say_needed(needed, "that",
                         is_slope ? regress_fewest(design, i, known->variance, 1)
                                  : regress_fewest_of_sum(design, intercept, known->variance, 1),
                         known->records, !isnan(expected.half));
        (void)snprintf(line->what, sizeof line->what, "%s: the same of %s%s; %s", query->text,
                       is_slope ? variable->column.name : "the intercept",
                       !is_slope                                ? ""
                       : variable->column.kind == COLUMN_NUMBER ? " over half of its range"
                       : variable->levels > 2 ? "'s second category, and its others"
                                              : "'s second category",
                       needed);
        char row[TERMS_ROW_BYTES];
        query_name_term(row, is_slope ? variable : NULL);
        (void)snprintf(line->unit, sizeof line->unit, "coefficient");
        line->bar = expected.half * unit;
        query_place(line, query, row, TERMS_OF_ALL, known->records,
                    is_slope ? regress_fewest(design, i, known->variance, 1)
                             : regress_fewest_of_sum(design, intercept, known->variance, 1));
        line->measure = query->family == REGRESS_LINEAR
                            ? "half of the interval is half of the range"
                            : "half of the interval is 1";
    }
    return STATUS_OK;
}

static bool has_events(const struct query *query)
{
    return query->family == REGRESS_LOGISTIC || query->family == REGRESS_HAZARD;
}

/* How many records there are in which nothing is missing, and how many events, which a refusal may be for. */
static enum status describe_counts(struct terms *terms, const struct query *query,
                                   const struct regress_design *design, double variance,
                                   double records)
{
    const double m = (double)query->cell_count;
    const double points = (m - 1) / (double)design->outcomes;
    const double of_point = query->family == REGRESS_LOGISTIC ? 1 : (double)design->intervals;
    const double cells[] = {m - 1, points * of_point};
    const char *const of[] = {"the number of records in which nothing is missing",
                              "the number of events"};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (has_events(query) ? 2 : 1) && status == STATUS_OK; i++) {
        const double noise = sqrt(variance * cells[i] * (1 - cells[i] / m));
        status =
            query_add_count(terms, query,
                            &(struct query_counted){of[i], "that", ESTIMATE_Z_NOISE * noise,
                                                    i == 0 ? "records without a gap" : "events",
                                                    TERMS_OF_ALL, records});
    }
    return status;
}

enum status query_terms_regress(struct terms *terms, const struct query *query,
                                const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct query_variable *first = &query->variable[0];
    const bool is_number = first->column.kind == COLUMN_NUMBER;
    struct query_regress regress;
    char needed[QUERY_NEEDED_BYTES];
    struct terms_line *cell = terms_add_line(terms);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_regress_design(&regress, query);
    const struct regress_expected expected =
        regress_expect(&regress.design, 0, records, deviation * deviation);
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells", query->text,
                   query->cell_count);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = deviation;
    cell->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    query_place(cell, query, "", TERMS_OF_NONE, 0, 0);
    cell->place.taken = has_events(query)
                            ? "records are even over the points and a fifth have the event"
                            : "records are even over the points";
    const enum status status =
        describe_counts(terms, query, &regress.design, deviation * deviation, records);
    struct terms_line *line = status == STATUS_OK ? query_add_expected(terms) : NULL;
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_needed(needed, "that", regress_fewest(&regress.design, 0, deviation * deviation, 1),
                     records, !isnan(expected.half));
    (void)snprintf(line->what, sizeof line->what,
                   "%s: half of the 95 %% interval of %s%s, if records are even over %zu points%s",
                   query->text, first->column.name,
                   is_number ? " over half of its range" : "'s second category",
                   regress_points(&regress.design),
                   has_events(query) ? " and a fifth have the event" : "");
    query_append_needed(line, needed);
    char row[TERMS_ROW_BYTES];
    query_name_term(row, first);
    query_place(line, query, row, TERMS_OF_ALL, records,
                regress_fewest(&regress.design, 0, deviation * deviation, 1));
    (void)snprintf(line->unit, sizeof line->unit, "coefficient");
    line->bar = query->family == REGRESS_LINEAR ? expected.half * (query->high - query->low) / 2
                                                : expected.half;
    line->noise_to_signal = isnan(expected.half) ? 2 : expected.half;
    line->measure = query->family == REGRESS_LINEAR ? "half of the interval is half of the range"
                                                    : "half of the interval is 1";
    return describe_rest(terms, query, &regress.design,
                         &(struct table1_public){
                             .records = records, .groups = 1, .variance = deviation * deviation});
}
