/* query_answers_regress.c - the coefficients of a regression, as rates of what they mean, and their tests. */

#include "base/bytes.h"
#include "base/check.h"
#include "estimate/cells.h"
#include "query/query_answers.h"
#include "query/query_answers_notes.h"

#include <math.h>
#include <stdio.h>

/* What e to a slope is; NULL: nothing. */
const char *regress_ratio(const struct query *query)
{
    static const char *const names[] = {[REGRESS_LOGISTIC] = "odds ratio",
                                        [REGRESS_LINEAR] = NULL,
                                        [REGRESS_POISSON] = "rate ratio",
                                        [REGRESS_HAZARD] = "hazard ratio"};
    return names[query->family];
}

static const char *event_name(const struct query *query)
{
    return query->family == REGRESS_LOGISTIC ? "records with the event"
           : query->family == REGRESS_HAZARD ? "events"
                                             : NULL;
}

static size_t answers_of_slope(const struct query *query)
{
    return regress_ratio(query) != NULL ? 3 : 2;
}

size_t regress_answers(const struct query *query)
{
    struct query_regress regress;
    query_regress_design(&regress, query);
    return 1 + (event_name(query) != NULL ? 1U : 0U) + (query->family != REGRESS_HAZARD ? 1U : 0U) +
           regress_slopes(&regress.design) * answers_of_slope(query);
}

/* How far a slope of 1 in the design is one in the file's unit. */
static double outcome_unit(const struct query *query)
{
    return query->family == REGRESS_LINEAR ? (query->high - query->low) / 2 : 1;
}

/* The sum of `cells` balanced cells, of m in all. */
static struct table1_figure counted(double value, double cells, double m, double variance)
{
    const double noise = sqrt(variance * cells * (1 - cells / m));
    return (struct table1_figure){.estimate = {value, NAN, NAN, noise, NAN},
                                  .noise_low =
                                      fmin(fmax(0, value - ESTIMATE_Z_NOISE * noise), value),
                                  .noise_high = fmax(0, value + ESTIMATE_Z_NOISE * noise)};
}

static const double misfit_least = 0.001; /* a p-value below it is told */
static const double needed_times =
    2; /* records are seldom even, and more of them make more levels */

struct telling {
    const struct answering *answering;
    struct query_regress regress;
    struct regress_fit fit;
    struct query_regress regress_whole; /* the other reading of the same cells, if there is one */
    struct regress_fit fit_whole;
    struct regress_replay replay;         /* of every term, and the intercept after them */
    double needed[REGRESS_TERMS_MAX + 1]; /* records by the noise alone, likewise; NAN: not asked */
    double weight[REGRESS_TERMS_MAX];     /* of the figure that is told */
};

static size_t tell_counts(struct query_answer *answer, const struct answering *answering,
                          const struct regress_cells *cells)
{
    const struct query *query = answering->query;
    const size_t count = query->cell_count - 1;
    const size_t outcomes = cells->design->outcomes;
    const size_t first = query->family == REGRESS_LOGISTIC ? 1 : 0; /* of those with an event */
    const size_t events = query->family == REGRESS_LOGISTIC ? 1 : query->intervals;
    const double m = (double)cells->m;
    double all = 0;
    double with = 0;
    for (size_t c = 0; c < count; c++) {
        const size_t y = c % outcomes;
        all += cells->cell[c];
        with += y >= first && y < first + events ? cells->cell[c] : 0;
    }
    const struct table1_figure size = counted(all, (double)count, m, cells->variance);
    table_tell(&answer[0], answering, &size, "records");
    query_part_name(answer[0].name, query, "records in which nothing is missing");
    if (event_name(query) == NULL) {
        return 1;
    }
    const size_t points = count / outcomes;
    const double own = (double)(points * events);
    const struct table1_figure happened = counted(fmin(with, all), own, m, cells->variance);
    table_tell(&answer[1], answering, &happened, "records");
    query_part_name(answer[1].name, query, "%s", event_name(query));
    return 2;
}

/* A figure whose unit is `unit` times larger and whose value is `added` more. */
static struct table1_figure in_unit(struct table1_figure figure, double unit, double added)
{
    double *const member[] = {&figure.estimate.value, &figure.estimate.low, &figure.estimate.high};
    for (size_t i = 0; i < sizeof member / sizeof *member; i++) {
        *member[i] = *member[i] * unit + added;
    }
    figure.estimate.noise *= unit;
    figure.estimate.sampling *= unit;
    figure.factor = NAN; /* say_lack tells what would be enough */
    return figure;
}

/* e to a figure; its deviations by the slope there. */
static struct table1_figure ratio(struct table1_figure figure)
{
    const double value = exp(figure.estimate.value);
    figure.estimate =
        (struct estimate){value, exp(figure.estimate.low), exp(figure.estimate.high),
                          value * figure.estimate.noise, value * figure.estimate.sampling};
    return figure;
}

static void place(struct query_answer *answer, const struct telling *telling, const char *variable,
                  const char *row, const char *column)
{
    const struct query *query = telling->answering->query;
    table_place(answer, query, variable, row, 0);
    (void)snprintf(answer->group, sizeof answer->group, "%s", column);
    query_part_name(answer->name, query, "%s, %s, %s", variable, row, column);
}

/* The number that a lack is of: of a term its own, of the intercept the first. */
static const struct query_variable *lacking_number(const struct telling *telling,
                                                   const struct regress_fit *fit, size_t at,
                                                   enum regress_lack why)
{
    const struct query *query = telling->answering->query;
    size_t term = telling->regress.design.intervals;
    for (size_t i = 0; i < query->variable_count && why == REGRESS_LACKS_SMOOTH; i++) {
        if (at == term || (at >= fit->terms && fit->lack[term] == why)) {
            return &query->variable[i];
        }
        term += regress_slopes_of(&query->variable[i]);
    }
    return &query->variable[fit->narrow];
}

/* What takes a number's whole values so that each has a level of its own; NULL: nothing does. */
static const char *function_of(const struct query_variable *variable)
{
    const size_t count = variable->is_whole ? 0 : query_whole_numbers(&variable->column);
    return count < 2                                          ? NULL
           : count <= REGRESS_PLAN_MOST                       ? "whole"
           : count <= REGRESS_LEVELS_MAX && !variable->is_log ? "factor"
                                                              : NULL;
}

/* at: the term, or all terms for the intercept, whose weight is told */
static enum regress_lack lack_of(const struct telling *telling, const struct regress_fit *fit,
                                 size_t at)
{
    return at < fit->terms                               ? fit->lack[at]
           : fit->lack_of_first != REGRESS_LACKS_NOTHING ? fit->lack_of_first
                                                         : regress_lacks(fit, telling->weight);
}

/* What is missing, or which factor of the epsilon would be enough. at: the term, or all terms for the intercept, whose weight
 * is told */
static void say_lack(struct query_answer *answer, const struct telling *telling, size_t at)
{
    const struct query *query = telling->answering->query;
    const struct regress_fit *fit = &telling->fit;
    enum regress_lack why = lack_of(telling, fit, at);
    if (why == REGRESS_LACKS_NOTHING && fit->other != NULL) {
        fit = fit->other;
        why = lack_of(telling, fit, at);
    }
    const struct query_variable *number = lacking_number(telling, fit, at, why);
    struct regress_slope named;
    regress_slope_of(&named, query, number, 0);
    const struct regress_lacking lacking = {
        .why = why,
        .replay = &telling->replay,
        .factor = telling->replay.factor[at],
        .advice = advice_of_noise(telling->answering, telling->replay.factor[at]),
        .needed = telling->needed[at],
        .number = named.variable,
        .function = function_of(number),
        .column = number->column.name,
        .is_log = number->is_log,
    };
    if (isnan(answer->value)) {
        regress_say_lack(answer, query, &lacking);
    }
}

static size_t tell_slope(struct query_answer *answer, const struct telling *telling,
                         const struct table1_figure *figure, const struct regress_slope *named,
                         size_t at)
{
    const char *variable = named->variable;
    const char *row = named->row;
    const struct answering *answering = telling->answering;
    const struct query *query = answering->query;
    const double p = regress_test(figure);
    const struct table1_figure test = {.estimate = {p, NAN, NAN, NAN, NAN},
                                       .noise_low = NAN,
                                       .noise_high = NAN,
                                       .factor = figure->factor};
    size_t count = 0;
    table_tell(&answer[count], answering, figure, "coefficient");
    place(&answer[count++], telling, variable, row, "coefficient");
    if (regress_ratio(query) != NULL) {
        const struct table1_figure grown = ratio(*figure);
        table_tell(&answer[count], answering, &grown, regress_ratio(query));
        place(&answer[count++], telling, variable, row, regress_ratio(query));
    }
    table_tell(&answer[count], answering, &test, "p-value");
    answer[count].value = p; /* however small */
    place(&answer[count++], telling, variable, row, "p-value");
    for (size_t i = 0; i < count; i++) {
        say_lack(&answer[i], telling, at);
    }
    return count;
}

size_t regress_slopes_of(const struct query_variable *variable)
{
    return variable->column.kind == COLUMN_NUMBER ? 1 : variable->levels - 1;
}

void regress_slope_of(struct regress_slope *out, const struct query *query,
                      const struct query_variable *variable, size_t slope)
{
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const bool is_log1p = is_number && variable->column.transform == TRANSFORM_LOG1P;
    double centre = 0;
    double half = 1;
    (void)snprintf(out->variable, sizeof out->variable, "%s%.*s%s",
                   variable->is_log      ? "log("
                   : is_log1p            ? "log1p("
                   : variable->is_factor ? "factor("
                                         : "",
                   letters_within(variable->column.name, 54), variable->column.name,
                   variable->is_log || is_log1p || variable->is_factor ? ")" : "");
    (void)snprintf(out->row, sizeof out->row, "by 1");
    if (is_number) {
        query_regress_unit(&centre, &half, variable);
    } else {
        const char *own = variable->column.category[slope + 1];
        const char *first = variable->column.category[0];
        (void)snprintf(out->row, sizeof out->row, "%.*s to %.*s", letters_within(own, 37), own,
                       letters_within(first, 37), first);
    }
    out->unit = outcome_unit(query) / half;
}

/* For a coefficient that is given: which levels it is from, and which intervals of time tell nothing. */
static void say_what_it_is_of(struct query_answer *answer, size_t count,
                              const struct telling *telling, size_t index)
{
    const struct query *query = telling->answering->query;
    const struct query_variable *variable = &query->variable[index];
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    struct regress_slope named;
    const bool is_bent = is_number && regress_misfit(&telling->fit, index) < misfit_least;
    const bool covers_both = regress_covers_both(&telling->fit, telling->weight);
    regress_slope_of(&named, query, variable, 0);
    for (size_t i = 0; i < count; i++) {
        if (is_number) {
            regress_say_rounded(&answer[i], variable, named.variable, is_bent, covers_both);
        }
        regress_say_intervals(&answer[i], query, &telling->fit);
    }
}

/* slope: its first one */
static size_t tell_variable(struct query_answer *answer, struct telling *telling, size_t index,
                            size_t slope)
{
    const struct query_variable *variable = &telling->answering->query->variable[index];
    size_t count = 0;
    for (size_t k = 0; k < regress_slopes_of(variable); k++) {
        struct regress_slope named;
        const size_t at = telling->regress.design.intervals + slope + k;
        double *weight = &telling->weight[at];
        regress_slope_of(&named, telling->answering->query, variable, k);
        *weight = 1;
        const struct table1_figure figure =
            in_unit(regress_figure(&telling->fit, telling->weight), named.unit, 0);
        struct query_answer *first = &answer[count];
        const size_t told = tell_slope(first, telling, &figure, &named, at);
        count += told;
        if (!isnan(figure.estimate.value)) {
            say_what_it_is_of(first, told, telling, index);
        }
        *weight = 0;
    }
    return count;
}

static void tell_intercept(struct query_answer *answer, struct telling *telling)
{
    const struct query *query = telling->answering->query;
    const bool is_linear = query->family == REGRESS_LINEAR;
    query_regress_intercept(telling->weight, query);
    const struct table1_figure figure =
        in_unit(regress_figure(&telling->fit, telling->weight), outcome_unit(query),
                is_linear ? (query->low + query->high) / 2 : 0);
    table_tell(answer, telling->answering, &figure, "coefficient");
    place(answer, telling, "(intercept)", "all at 0", "coefficient");
    say_lack(answer, telling, telling->fit.terms);
    for (size_t i = 0; i < REGRESS_TERMS_MAX; i++) {
        telling->weight[i] = 0;
    }
}

/* Whether a refused figure is told no factor. */
static bool has_no_factor(const struct telling *telling, size_t at)
{
    const struct regress_replay *told = &telling->replay;
    const struct advice advice = advice_of_noise(telling->answering, told->factor[at]);
    return told->has_no_records || told->has_few_events || !(told->factor[at] > 1) ||
           (isnan(advice.epsilon) && isnan(advice.records));
}

/* Only for figures that are not given. */
static void replay(struct telling *telling)
{
    double weight[REGRESS_TERMS_MAX + 1][REGRESS_TERMS_MAX] = {{0}};
    const size_t terms = telling->fit.terms;
    bool is_all = true;
    for (size_t i = 0; i < terms; i++) {
        weight[i][i] = 1;
    }
    const bool has_intercept = telling->answering->query->family != REGRESS_HAZARD;
    const size_t count = terms + (has_intercept ? 1 : 0);
    if (has_intercept) {
        query_regress_intercept(weight[terms], telling->answering->query);
    }
    bool is_given[REGRESS_TERMS_MAX + 1];
    for (size_t i = telling->regress.design.intervals; i < count; i++) {
        is_given[i] = !isnan(regress_figure(&telling->fit, weight[i]).estimate.value);
        is_all = is_all && is_given[i];
    }
    if (!is_all) {
        regress_replay(&telling->replay, &telling->fit, &weight[0][0], count);
    }
    for (size_t i = 0; i < count; i++) {
        const enum regress_lack lack = regress_lacks(&telling->fit, weight[i]);
        const bool is_asked = i >= telling->regress.design.intervals && !is_given[i] &&
                              (lack == REGRESS_LACKS_LEVELS ||
                               (lack == REGRESS_LACKS_NOTHING && has_no_factor(telling, i)));
        const double needed =
            is_asked ? needed_times * regress_fewest_of_sum(&telling->regress.design, weight[i],
                                                            telling->fit.cells->variance, 1)
                     : NAN;
        const bool has_as_many = needed <= (double)telling->answering->run->record_count;
        telling->needed[i] = has_as_many && !telling->replay.has_few_events ? NAN : needed;
    }
}

void answer_regress(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    const double variance = query_cell_variance(answering->run);
    double cell[REGRESS_CELLS_MAX + 1];
    struct telling telling = {.answering = answering};
    size_t slope = 0;
    CHECK(query->cell_count <= REGRESS_CELLS_MAX + 1);
    query_balanced_cells(cell, answering);
    query_regress_design(&telling.regress, query);
    const struct regress_cells cells = {&telling.regress.design, cell, query->cell_count, variance};
    const struct regress_cells cells_whole = {&telling.regress_whole.design, cell,
                                              query->cell_count, variance};
    regress_solve(&telling.fit, &cells);
    if (query_regress_design_whole(&telling.regress_whole, query)) {
        regress_solve(&telling.fit_whole, &cells_whole);
        telling.fit.other = &telling.fit_whole;
    }
    replay(&telling);
    answer += tell_counts(answer, answering, &cells);
    for (size_t i = 0; i < query->variable_count; i++) {
        answer += tell_variable(answer, &telling, i, slope);
        slope += regress_slopes_of(&query->variable[i]);
    }
    if (query->family != REGRESS_HAZARD) {
        tell_intercept(answer, &telling);
    }
}
