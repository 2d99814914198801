/* What a regression is to tell, before anything is asked. */

#include "query/query.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static void say_needed(char text[static 64], double records)
{
    (void)snprintf(text, 64, "no number of records would do");
    if (isfinite(records)) {
        (void)snprintf(text, 64, "that needs about %.0f records", records);
    }
}

/* Lines that follow the first coefficient's: each other variable's, all of whose categories are expected alike, and the intercept. */
static enum status describe_rest(struct terms *terms, const struct query *query,
                                 const struct regress_design *design,
                                 const struct table1_public *known)
{
    const double unit = query->family == REGRESS_LINEAR ? (query->high - query->low) / 2 : 1;
    const size_t last = query->variable_count + (query->family != REGRESS_HAZARD ? 1U : 0U);
    double intercept[REGRESS_TERMS_MAX] = {0};
    char needed[64];
    query_regress_intercept(intercept, query);
    for (size_t i = 1; i < last; i++) {
        const bool is_slope = i < query->variable_count;
        const struct query_variable *variable = &query->variable[is_slope ? i : 0];
        struct terms_line *line = terms_add_line(terms);
        if (line == NULL) {
            return STATUS_NO_MEMORY;
        }
        const struct regress_expected expected =
            is_slope ? regress_expect(design, i, known->records, known->variance)
                     : regress_expect_sum(design, intercept, known->records, known->variance);
        say_needed(needed, is_slope ? regress_fewest(design, i, known->variance, 1)
                                    : regress_fewest_of_sum(design, intercept, known->variance, 1));
        (void)snprintf(line->what, sizeof line->what, "%s: the same of %s%s; %s", query->text,
                       is_slope ? variable->column.name : "the intercept",
                       !is_slope                                ? ""
                       : variable->column.kind == COLUMN_NUMBER ? " over half of its range"
                       : variable->levels > 2 ? "'s second category, and its others"
                                              : "'s second category",
                       needed);
        (void)snprintf(line->unit, sizeof line->unit, "coefficient");
        line->bar = expected.half * unit;
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

/* How many events there are, which a refusal may be for. */
static enum status describe_events(struct terms *terms, const struct query *query,
                                   const struct regress_design *design, double variance)
{
    const double m = (double)query->cell_count;
    const double outcomes = (double)design->outcomes;
    const double events = query->family == REGRESS_LOGISTIC ? 1 : (double)design->intervals;
    const double own = (m - 1) / outcomes * events;
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what, "%s: the number of events", query->text);
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = sqrt(variance * own * (1 - own / m));
    return STATUS_OK;
}

enum status query_terms_regress(struct terms *terms, const struct query *query,
                                const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    const struct query_variable *first = &query->variable[0];
    const bool is_number = first->column.kind == COLUMN_NUMBER;
    struct query_regress regress;
    char needed[64];
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
    const enum status status =
        has_events(query) ? describe_events(terms, query, &regress.design, deviation * deviation)
                          : STATUS_OK;
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    say_needed(needed, regress_fewest(&regress.design, 0, deviation * deviation, 1));
    (void)snprintf(
        line->what, sizeof line->what,
        "%s: half of the 95 %% interval of %s%s, if records are even over %zu points%s; %s",
        query->text, first->column.name,
        is_number ? " over half of its range" : "'s second category",
        regress_points(&regress.design), has_events(query) ? " and a fifth have the event" : "",
        needed);
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
