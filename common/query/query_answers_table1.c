/* query_answers_table1.c - the figures of a Table 1: of each variable, in each group and in all. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/evaluate.h"
#include "query/query_advice.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct table1_figure lower_of(const struct table1_column *column)
{
    return table1_quantile(column, 0.25);
}

static struct table1_figure median_of(const struct table1_column *column)
{
    return table1_quantile(column, 0.5);
}

static struct table1_figure upper_of(const struct table1_column *column)
{
    return table1_quantile(column, 0.75);
}

/* For a number, before the missing ones. */
static const struct {
    const char *name;
    table1_figure_of *of;
    bool is_quantile;
} figures[] = {
    {"mean", table1_mean, false},       {"standard deviation", table1_deviation, false},
    {"median", median_of, true},        {"lower quartile", lower_of, true},
    {"upper quartile", upper_of, true},
};

enum { OF_NUMBER = sizeof figures / sizeof figures[0] };

size_t table_columns(const struct query *query)
{
    const size_t groups = query_groups(query);
    return groups > 1 ? groups + 1 : 1; /* the last: all */
}

static size_t figures_of(const struct query_variable *variable)
{
    return variable->column.kind == COLUMN_NUMBER ? OF_NUMBER + 1 : 2 * variable->levels + 1;
}

size_t table1_answers(const struct query *query)
{
    size_t answers = 1; /* the size */
    for (size_t i = 0; i < query->variable_count; i++) {
        answers += figures_of(&query->variable[i]);
    }
    return table_columns(query) * answers;
}

const char *table_group(const struct query *query, size_t group)
{
    return query_groups(query) == 1       ? ""
           : group == query_groups(query) ? "all"
                                          : query_group_name(query, group);
}

void table_place(struct query_answer *answer, const struct query *query, const char *variable,
                 const char *figure, size_t group)
{
    const char *name = table_group(query, group);
    (void)snprintf(answer->table, sizeof answer->table, "%s", query->text);
    (void)snprintf(answer->variable, sizeof answer->variable, "%s", variable);
    (void)snprintf(answer->figure, sizeof answer->figure, "%s", figure);
    (void)snprintf(answer->group, sizeof answer->group, "%s", name);
    query_part_name(answer->name, query, "%s%s%s%s%.*s", variable, variable[0] == '\0' ? "" : ", ",
                    figure, name[0] == '\0' ? "" : ", ", QUERY_TEXT_BYTES, name);
}

/* What would be enough, if a figure is not given. */
static void say_refused(struct query_answer *answer, const struct answering *answering,
                        const struct table1_figure *figure, const struct advice *advice)
{
    static const char text[] = "not enough data for this question at this epsilon";
    char *end = answer->note + sizeof text - 1;
    const size_t room = sizeof answer->note - (sizeof text - 1);
    (void)snprintf(answer->note, sizeof answer->note, "%s", text);
    if (figure->needed > 0) {
        (void)snprintf(
            end, room,
            ": no record was found there, as far as the noise shows; more than %.0f would be "
            "enough",
            ceil(figure->needed));
    } else if (!advice_say(answer->note, sizeof answer->note, advice)) {
        query_say_enough(answer->note, sizeof answer->note, answering);
    }
}

void table_tell_advised(struct query_answer *answer, const struct answering *answering,
                        const struct table1_figure *figure, const char *unit,
                        const struct advice *advice)
{
    const double n = (double)answering->run->record_count;
    const bool is_count = strcmp(unit, "records") == 0;
    answer->records = n;
    /* For exact records, which a simulator asks, what least squares leave of a cell without any. */
    answer->value = fabs(figure->estimate.value) < 1e-9 ? 0 : figure->estimate.value;
    answer->error = figure->estimate.noise;
    answer->low = figure->noise_low;
    answer->high = figure->noise_high;
    answer->sampling = figure->estimate.sampling;
    answer->total_low = figure->estimate.low;
    answer->total_high = figure->estimate.high;
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", unit);
    if (is_count) {
        query_tell_count(answer, answering, answer->value, figure->estimate.noise);
    } else if (isnan(answer->value)) {
        say_refused(answer, answering, figure, advice);
    }
}

void table_tell(struct query_answer *answer, const struct answering *answering,
                const struct table1_figure *figure, const char *unit)
{
    const struct advice advice = advice_of_noise(answering, table1_factor_told(figure));
    table_tell_advised(answer, answering, figure, unit, &advice);
}

void table_say_empty(struct query_answer *answer, const struct answering *answering,
                     const struct table1_figure *size)
{
    const double noise = size->estimate.noise;
    const double all = (double)answering->run->record_count;
    if (isnan(answer->value) && strcmp(answer->unit, "records") != 0 &&
        cells_is_hidden(size->estimate.value, noise * noise, all)) {
        (void)snprintf(
            answer->note, sizeof answer->note,
            "not enough data for this question at this epsilon: no record was found in the group, "
            "as far as the noise shows");
        query_say_enough(answer->note, sizeof answer->note, answering);
    }
}

void table_tell_sizes(struct query_answer *answer, double told[static TABLE_COLUMNS_MAX],
                      const struct answering *answering, const struct table1_sizes *sizes)
{
    const struct query *query = answering->query;
    const size_t columns = table_columns(query);
    const size_t groups = query_groups(query);
    const double n = (double)answering->run->record_count;
    double all = 0;
    for (size_t group = 0; group < groups; group++) {
        told[group] = table1_size(sizes, group).estimate.value;
        all += told[group];
    }
    told[groups] = n - all; /* in no group */
    query_agree(told, groups + 1, n);
    told[groups] = n - told[groups];
    for (size_t group = 0; group < columns; group++) {
        const struct table1_figure size = table1_size(sizes, group);
        table_tell(&answer[group], answering, &size, "records");
        table_place(&answer[group], query, "", "records", group);
        query_tell_agreed(&answer[group], told[group]);
    }
}

static size_t tell_number(struct query_answer *answer, const struct table1 *table, size_t at,
                          const struct table1_column *column, size_t group)
{
    const struct answering *answering = table->answering;
    const struct query_variable *variable = &answering->query->variable[at];
    const char *unit = variable->column.name;
    for (size_t i = 0; i < OF_NUMBER; i++) {
        const struct table1_figure figure = figures[i].of(column);
        const struct table1_refused refused = {column, group, at, 1, figures[i].of, 0};
        struct advice advice = {NAN, NAN};
        if (isnan(figure.estimate.value)) {
            advice = table1_advice(answering, &refused);
        }
        table_tell_advised(&answer[i], answering, &figure, unit, &advice);
        table_place(&answer[i], answering->query, unit, figures[i].name, group);
        if (!isnan(answer[i].value) && figures[i].is_quantile) {
            (void)snprintf(answer[i].note, sizeof answer[i].note,
                           "the interval is in %zu steps over the public range", variable->levels);
        }
    }
    if (!isnan(answer[0].value)) {
        (void)snprintf(answer[0].note, sizeof answer[0].note, "values are clamped to %.6g .. %.6g",
                       variable->step[0], variable->step[variable->levels - 1]);
    }
    const struct table1_figure missing = table1_count(column, column->levels);
    table_tell(&answer[OF_NUMBER], answering, &missing, "records");
    table_place(&answer[OF_NUMBER], answering->query, unit, "missing", group);
    return OF_NUMBER + 1;
}

static size_t tell_category(struct query_answer *answer, const struct table1 *table,
                            const struct query_variable *variable,
                            const struct table1_column *column, size_t group)
{
    const struct query *query = table->answering->query;
    for (size_t k = 0; k <= variable->levels; k++) {
        const bool is_there = k < variable->levels;
        const char *name = is_there ? variable->column.category[k] : "missing";
        const struct table1_figure count = table1_count(column, k);
        table_tell(&answer[2 * k], table->answering, &count, "records");
        table_place(&answer[2 * k], query, variable->column.name, name, group);
        if (is_there) {
            const struct table1_figure share = table1_share(column, k);
            char what[SCHEMA_NAME_BYTES + 16];
            (void)snprintf(what, sizeof what, "%s, share", name);
            table_tell(&answer[2 * k + 1], table->answering, &share, "share");
            table_place(&answer[2 * k + 1], query, variable->column.name, what, group);
        }
    }
    return 2 * variable->levels + 1;
}

void table1_set_blocks(struct table1 *table)
{
    const struct answering *answering = table->answering;
    const struct query *query = answering->query;
    const unsigned bits = answering->run->set->grid_bits;
    const double deviation = query_noise_deviation(&answering->run->noise);
    const int64_t *sum = answering->sum;
    double *cell = table->cell;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        const size_t cells = query_variable_cells(query, variable);
        const double part = (double)query_part_of(variable, UINT64_C(1) << bits);
        const double noise = deviation / part;
        table->block[i] = (struct table1_block){
            .cell = cell,
            .levels = variable->levels,
            .step = variable->column.kind == COLUMN_NUMBER ? variable->step : NULL,
            .variance = noise * noise};
        for (size_t k = 0; k < cells; k++) {
            *cell++ = (double)*sum++ / part;
        }
    }
    table1_agree(&table->sizes, table->block, query->variable_count, query_groups(query),
                 (double)answering->run->record_count);
}

/* The counts of a group sum to its size, and those of all are the groups'. summed: in/out */
static void agree(struct query_answer *answer, double *summed,
                  const struct query_variable *variable, bool is_group, double size)
{
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const size_t count = is_number ? 2 : variable->levels + 1;
    double told[TABLE1_LEVELS_MAX + 1] = {0};
    for (size_t k = 0; k < count; k++) {
        told[k] = answer[is_number ? (size_t)OF_NUMBER : 2 * k].value;
    }
    if (is_number) { /* those whose value is there are not told */
        told[0] = size - told[1];
    }
    if (isnan(told[count - 1]) || isnan(size)) {
        summed[count - 1] = NAN;
        return;
    }
    if (is_group) {
        query_agree(told, count, size);
    }
    for (size_t k = is_number ? 1 : 0; k < count; k++) {
        summed[k] = is_group ? summed[k] + told[k] : summed[k];
        query_tell_agreed(&answer[is_number ? (size_t)OF_NUMBER : 2 * k],
                          is_group || isnan(summed[count - 1]) ? told[k] : summed[k]);
    }
}

void answer_table1(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    const size_t columns = table_columns(query);
    struct table1 table = {.answering = answering};
    double size_told[TABLE_COLUMNS_MAX];
    table1_set_blocks(&table);
    table_tell_sizes(answer, size_told, answering, &table.sizes);
    answer += columns;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        double summed[TABLE1_LEVELS_MAX + 1] = {0}; /* over the groups */
        for (size_t group = 0; group < columns; group++) {
            struct table1_column column;
            table1_column_of(&column, &table.block[i], &table.sizes, group);
            const struct table1_figure size = table1_size(&table.sizes, group);
            const size_t told = variable->column.kind == COLUMN_NUMBER
                                    ? tell_number(answer, &table, i, &column, group)
                                    : tell_category(answer, &table, variable, &column, group);
            agree(answer, summed, variable, group < query_groups(query), size_told[group]);
            for (size_t k = 0; k < told; k++, answer++) {
                table_say_empty(answer, answering, &size);
            }
        }
    }
}

/* With how much more a table1's or evaluate's figure would be given. */

/* A question's columns as they would be released; no cells. */
static void lay_out(struct table1_column *out, const struct advised *advised,
                    const struct table1_refused *refused)
{
    const struct query *query = &advised->query;
    const bool is_score = query->kind == QUERY_EVALUATE;
    const size_t groups = query_groups(query);
    double none[SURVIVAL_GROUPS_MAX * (TABLE1_LEVELS_MAX + 1) + 1] = {0};
    struct table1_block block[QUERY_VARIABLES_MAX];
    struct table1_sizes sizes;
    CHECK(is_score || query->kind == QUERY_TABLE1);
    for (size_t i = 0; i < query->variable_count && !is_score; i++) {
        const struct query_variable *variable = &query->variable[i];
        const double share =
            ldexp((double)query_part_of(variable, UINT64_C(1) << QUERY_BITS_MAX), -QUERY_BITS_MAX);
        block[i] = (struct table1_block){
            .cell = none,
            .levels = variable->levels,
            .step = variable->column.kind == COLUMN_NUMBER ? variable->step : NULL,
            .variance = advised->variance / (share * share)};
    }
    if (is_score) {
        block[0] = (struct table1_block){none, 2 * query->intervals, NULL, advised->variance};
    }
    table1_agree(&sizes, block, is_score ? 1 : query->variable_count, groups, 0);
    table1_column_of(out, &block[is_score ? 0 : refused->variable], &sizes, refused->group);
}

static bool does(const struct advised *advised, const void *of)
{
    const struct table1_refused *refused = of;
    struct table1_column column;
    lay_out(&column, advised, refused);
    if (refused->parts != 0) {
        return evaluate_share_again(&column, refused->column, advised->times, refused->parts);
    }
    return table1_column_again(&column, refused->column, advised->times, refused->classes) &&
           !isnan(refused->figure(&column).estimate.value);
}

struct advice table1_advice(const struct answering *answering, const struct table1_refused *refused)
{
    return advice_search(answering, does, refused);
}
