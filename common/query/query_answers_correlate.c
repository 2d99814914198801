/* query_answers_correlate.c - the correlations of each two columns, and the test of each. */

#include "dp/encode.h"
#include "query/query_advice.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double records_least = 2; /* deviations of their noise */

size_t correlate_answers(const struct query *query)
{
    return 1 + query->variable_count * (query->variable_count - 1);
}

static void say_how(struct query_answer *answer, const struct query *query, bool are_two)
{
    if (isnan(answer->value)) {
        return;
    }
    (void)snprintf(answer->note, sizeof answer->note, "%s",
                   are_two ? "the interval follows from the table of the two columns"
                   : query->fourth > 0
                       ? "the interval takes the sampling error from sums of fourth powers"
                       : "the interval allows any distribution on the public ranges");
}

/* Whether there are records at all; what of a pair may not vary: no factor is told of it then. Else, where there is none, that it varies too little. */
static void say_doubtful(struct query_answer *answer, const struct correlate *all, size_t i,
                         size_t j, const struct query *query)
{
    const size_t first = correlate_is_doubtful(all, i) ? i : j;
    if (!(all->records > records_least * sqrt(all->moments->variance))) {
        query_say(answer, ": no record was found in which nothing is missing");
    } else if (correlate_is_doubtful(all, first)) {
        query_say(
            answer,
            ": the standard deviation of %s is at most %.2g of its public range, as far as the "
            "noise shows; a narrower range would help, if it varies at all",
            query->variable[first].column.name, correlate_deviation_most(all, first));
    } else if (strstr(answer->note, "would be enough") == NULL) {
        query_say(answer,
                  ": its interval would be nearly all of -1 to 1; a narrower public range of "
                  "the columns would help");
    }
}

/* What of a pair hardly varies, in place of a number. */
static void say_flat(struct query_answer *answer, const struct correlate *all, size_t i, size_t j,
                     const struct query *query)
{
    const size_t flat = correlate_is_flat(all, i) ? i : j;
    if (isnan(answer->value) && correlate_is_flat(all, flat)) {
        (void)snprintf(
            answer->note, sizeof answer->note,
            "not enough data for this question at this epsilon: %s hardly varies over its "
            "public range; a narrower range would help, if it varies at all",
            query->variable[flat].column.name);
    } else if (isnan(answer->value)) {
        say_doubtful(answer, all, i, j, query);
    }
}

/* A pair that was refused. */
struct pair_refused {
    const struct correlate *all;
    size_t i, j;
};

static bool does_pair(const struct advised *advised, const void *of)
{
    const struct pair_refused *pair = of;
    const struct correlate_again again = {(double)advised->query.parts * advised->variance,
                                          advised->times, advised->query.fourth};
    return correlate_would_do(pair->all, pair->i, pair->j, &again);
}

static void tell_pair(struct query_answer *answer, const struct answering *answering,
                      const struct correlate *all, size_t i, size_t j)
{
    const struct query *query = answering->query;
    const char *first = query->variable[i].column.name;
    const char *second = query->variable[j].column.name;
    const struct table1_figure figure = correlate_pair(all, i, j);
    const double p = correlate_test(all, i, j);
    const struct table1_figure test = {.estimate = {p, NAN, NAN, NAN, NAN},
                                       .noise_low = NAN,
                                       .noise_high = NAN,
                                       .factor = figure.factor};
    const struct pair_refused refused = {all, i, j};
    struct advice advice = {NAN, NAN};
    if (isfinite(figure.factor) && isnan(figure.estimate.value)) {
        advice = advice_search(answering, does_pair, &refused);
    }
    table_tell_advised(&answer[0], answering, &figure, "correlation", &advice);
    say_how(&answer[0], query, all->moments->is_two[i] && all->moments->is_two[j]);
    query_part_name(answer[0].name, query, "%s with %s", first, second);
    table_tell_advised(&answer[1], answering, &test, "p-value", &advice);
    say_flat(&answer[0], all, i, j, query);
    say_flat(&answer[1], all, i, j, query);
    answer[1].value = p;             /* however small */
    for (size_t k = 0; k < 2; k++) { /* its place in a matrix */
        (void)snprintf(answer[k].variable, sizeof answer[k].variable, "%s", first);
        (void)snprintf(answer[k].group, sizeof answer[k].group, "%s", second);
        (void)snprintf(answer[k].figure, sizeof answer[k].figure,
                       k == 0 ? "correlation" : "p-value");
    }
    query_part_name(answer[1].name, query, "%s with %s, test that %s", first, second,
                    query->fourth > 0 ? "it is 0" : "they are independent");
}

void query_moments(struct correlate_moments *out, double *cell, bool *is_two,
                   const struct answering *answering)
{
    const struct query *query = answering->query;
    const size_t cells = query->cell_count / query->parts;
    for (size_t k = 0; k < cells; k++) {
        cell[k] = 0;
        for (size_t part = 0; part < query->parts; part++) {
            cell[k] +=
                decode_value(answering->sum[part * cells + k], answering->run->set->grid_bits);
        }
    }
    for (size_t i = 0; i < query->variable_count; i++) {
        is_two[i] = query->variable[i].column.kind == COLUMN_CATEGORY;
    }
    *out = (struct correlate_moments){.cell = cell,
                                      .columns = query->variable_count,
                                      .fourth = query->fourth,
                                      .is_two = is_two,
                                      .variance = (double)query->parts *
                                                  query_cell_variance(answering->run),
                                      .records = (double)answering->run->record_count};
}

void answer_correlate(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    const size_t d = query->variable_count;
    double cell[CORRELATE_CELLS_MAX];
    bool is_two[CORRELATE_COLUMNS_MAX];
    struct correlate_moments moments;
    struct correlate all;
    query_moments(&moments, cell, is_two, answering);
    correlate_init(&all, &moments);
    const struct table1_figure size = correlate_size(&all);
    table_tell(answer, answering, &size, "records");
    query_part_name((answer++)->name, query, "records in which no column is missing");
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++, answer += 2) {
            tell_pair(answer, answering, &all, i, j);
        }
    }
}
