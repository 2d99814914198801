/* query_answers_crosstab.c - the answers of a cross table: its counts, which sum to the public number of records, and of two
 * columns shares, odds ratio, difference and test. */

#include "base/check.h"
#include "base/decimal.h"
#include "base/text.h"
#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "query/query_answers_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct table {
    const struct answering *answering;
    double cell[CROSSTAB_CELLS_MAX + 1];
    struct crosstab_cells cells;
};

static size_t levels(const struct query *query, size_t factor)
{
    return query->factor[factor].column.category_count;
}

bool crosstab_has_test(const struct query *query)
{
    return query->factor_count == 2 &&
           (levels(query, 0) - 1) * (levels(query, 1) - 1) <= CROSSTAB_BLOCK_MAX &&
           levels(query, 0) > 1 && levels(query, 1) > 1;
}

bool crosstab_has_shares(const struct query *query)
{
    return query->factor_count == 2 && levels(query, 1) == 2;
}

bool crosstab_is_fourfold(const struct query *query)
{
    return crosstab_has_shares(query) && levels(query, 0) == 2;
}

size_t crosstab_answers(const struct query *query)
{
    size_t count = query_table_cells(query);
    for (size_t i = 0; i < query->factor_count; i++) {
        count += levels(query, i);
    }
    return count + (crosstab_has_shares(query) ? levels(query, 0) : 0) +
           (crosstab_is_fourfold(query) ? 2 : 0) + (crosstab_has_test(query) ? 1 : 0);
}

static void set_count(struct query_answer *answer, const struct table *table, double value,
                      size_t summed)
{
    const double n = (double)table->answering->run->record_count;
    const double k = (double)summed;
    const double noise =
        sqrt(fmax(0, cells_covariance(k, k, k, table->cells.m, table->cells.variance)));
    const double share = fmin(fmax(value / n, 0), 1);
    answer->records = n;
    answer->sampling = sqrt(n * share * (1 - share));
    query_tell_count(answer, table->answering, value, noise);
    (void)snprintf(answer->unit, sizeof answer->unit, "records");
}

static void name_cell(struct query_answer *answer, const struct query *query, size_t cell)
{
    char part[QUERY_NAME_BYTES] = "";
    for (size_t i = 0; i < query->factor_count; i++) {
        const struct column *column = &query->factor[i].column;
        text_add(part, sizeof part, "%s%s %s", i > 0 ? ", " : "", column->name,
                 column->category[query_table_level(query, cell, i)]);
    }
    if (strlen(query->text) + sizeof ": " + strlen(part) >
        QUERY_NAME_BYTES) { /* or two are called the same */
        (void)snprintf(part, sizeof part, "cell %zu of %zu", cell + 1, query_table_cells(query));
    }
    query_part_name(answer->name, query, "%s", part);
}

static struct query_answer *set_counts(struct query_answer *answer, const struct table *table)
{
    const struct query *query = table->answering->query;
    const size_t cells = query_table_cells(query);
    double agreed[CROSSTAB_CELLS_MAX + 1]; /* the records in no cell, after the others */
    memcpy(agreed, table->cell, query->cell_count * sizeof *agreed);
    query_agree(agreed, query->cell_count, (double)table->answering->run->record_count);
    for (size_t cell = 0; cell < cells; cell++, answer++) {
        set_count(answer, table, table->cell[cell], 1);
        query_tell_agreed(answer, agreed[cell]);
        name_cell(answer, query, cell);
    }
    for (size_t i = 0; i < query->factor_count; i++) {
        for (size_t level = 0; level < levels(query, i); level++, answer++) {
            double sum = 0;
            double told = 0;
            for (size_t cell = 0; cell < cells; cell++) {
                const bool is_here = query_table_level(query, cell, i) == level;
                sum += is_here ? table->cell[cell] : 0;
                told += is_here ? agreed[cell] : 0;
            }
            set_count(answer, table, sum, cells / levels(query, i));
            query_tell_agreed(answer, told);
            query_part_name(answer->name, query, "all %s %s", query->factor[i].column.name,
                            query->factor[i].column.category[level]);
        }
    }
    return answer;
}

/* least, most: of what the figure can be */
static void set_estimate(struct query_answer *answer, const struct table *table,
                         const struct estimate *estimate, double least, double most,
                         const char *unit)
{
    answer->records = (double)table->answering->run->record_count;
    answer->value = estimate->value;
    answer->error = isnan(estimate->value) ? NAN : estimate->noise;
    answer->low = fmax(estimate->value - ESTIMATE_Z_NOISE * estimate->noise, least);
    answer->high = fmin(estimate->value + ESTIMATE_Z_NOISE * estimate->noise, most);
    if (isnan(answer->error)) {
        answer->low = answer->high = NAN;
    }
    answer->sampling = estimate->sampling;
    answer->total_low = estimate->low;
    answer->total_high = estimate->high;
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", unit);
}

static void name_part(char name[static QUERY_NAME_BYTES], const struct query *query,
                      const char *begin, const char *against)
{
    const struct column *rows = &query->factor[0].column;
    const struct column *columns = &query->factor[1].column;
    query_part_name(name, query, "%s of %s %s, %s %s %s %s", begin, columns->name,
                    columns->category[1], rows->name, rows->category[1], against,
                    rows->category[0]);
}

void crosstab_name_difference(char name[static QUERY_NAME_BYTES], const struct query *query)
{
    name_part(name, query, "share", "less");
}

void crosstab_name_odds(char name[static QUERY_NAME_BYTES], const struct query *query)
{
    name_part(name, query, "odds ratio", "against");
}

static struct query_answer *set_fourfold(struct query_answer *answer, const struct table *table)
{
    const struct query *query = table->answering->query;
    const struct estimate difference = crosstab_difference(&table->cells);
    const struct estimate odds = crosstab_odds_ratio(&table->cells);
    set_estimate(&answer[0], table, &difference, -1, 1, "share");
    set_estimate(&answer[1], table, &odds, 0, INFINITY, "odds ratio");
    crosstab_say_refused(&answer[0], table->answering, &table->cells, CROSSTAB_DIFFERENCE, 0);
    crosstab_say_refused(&answer[1], table->answering, &table->cells, CROSSTAB_ODDS, 0);
    if (isnan(odds.value) && answer[1].note[0] == '\0') {
        (void)snprintf(answer[1].note, sizeof answer[1].note,
                       "no ratio: a cell is empty, as far as the noise shows");
    }
    crosstab_name_difference(answer[0].name, query);
    crosstab_name_odds(answer[1].name, query);
    return answer + 2;
}

static void say_not_of(struct query_answer *answer, const struct query *query,
                       const struct crosstab_kept *kept)
{
    for (size_t factor = 0; factor < 2; factor++) {
        const struct column *column = &query->factor[factor].column;
        const bool *is_kept = factor == 0 ? kept->row : kept->column;
        for (size_t i = 0; i < column->category_count; i++) {
            if (!is_kept[i]) {
                query_say_left_out(answer, column->name, column->category[i]);
            }
        }
    }
}

/* What a statistic that is lowered was found as. */
static void say_lowered(struct query_answer *answer, double statistic, double found)
{
    if (found > 1.005 * statistic) { /* else it is the same as it is told */
        query_say(answer,
                  "; lowered from %s, as its smallest expected cell is near the least that is "
                  "tested, where noise may have made it larger",
                  decimal_short(found, 4).text);
    }
}

static void set_test(struct query_answer *answer, const struct table *table)
{
    const struct query *query = table->answering->query;
    double p = NAN;
    const double statistic = crosstab_test(&p, &table->cells);
    const struct estimate estimate = {p, NAN, NAN, NAN, NAN};
    set_estimate(answer, table, &estimate, 0, 1, "p-value");
    query_part_name(answer->name, query, "chi-squared test that the columns are independent");
    if (!isnan(p)) {
        struct crosstab_kept kept;
        crosstab_keep(&kept, &table->cells);
        const size_t freedom = (kept.rows - 1) * (kept.columns - 1);
        (void)snprintf(answer->note, sizeof answer->note,
                       "chi-squared %s with %zu degree%s of freedom; its reference distribution "
                       "has the noise in it",
                       decimal_short(statistic, 4).text, freedom, freedom > 1 ? "s" : "");
        say_lowered(answer, statistic, crosstab_test_found(&table->cells));
        say_not_of(answer, query, &kept);
        return;
    }
    crosstab_say_refused(answer, table->answering, &table->cells, CROSSTAB_TEST, 0);
}

enum { INSTEAD_BYTES = 3 * SCHEMA_NAME_BYTES + 80 };

/* What would tell the rest, of two columns. */
static void say_instead(char text[static INSTEAD_BYTES], const struct query *query)
{
    const char *row = query->factor[0].column.name;
    const char *column = query->factor[1].column.name;
    text[0] = '\0';
    if (crosstab_has_shares(query)) {
        (void)snprintf(text, INSTEAD_BYTES,
                       "; a regress of %s by %s gives the odds ratio of each category to the first",
                       column, row);
    } else if (query->factor[0].column.category_count == 2) {
        (void)snprintf(text, INSTEAD_BYTES, "; write %s x %s for the shares of %s in each category",
                       column, row, row);
    }
}

/* Which figures a table's shape does not have, and what tells them. */
static void say_kind(struct query_answer *answer, const struct query *query)
{
    char instead[INSTEAD_BYTES] = "";
    const size_t used = strlen(answer->note);
    const char *begin = used > 0 ? "; " : "";
    if (crosstab_is_fourfold(query)) {
        return;
    }
    if (query->factor_count > 2) {
        query_say(
            answer,
            "%sa table of more than two columns has only counts: no share, no odds ratio and no "
            "test",
            begin);
        return;
    }
    say_instead(instead, query);
    query_say(answer, "%sonly tables of 2 x 2 have the odds ratio and the difference of shares%s%s",
              begin, crosstab_has_test(query) ? "" : ", and the test of smaller tables", instead);
}

void answer_crosstab(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    struct table table = {.answering = answering};
    query_balanced_cells(table.cell, answering);
    table.cells = (struct crosstab_cells){.cell = table.cell,
                                          .rows = levels(query, 0),
                                          .columns = levels(query, 1),
                                          .m = query->cell_count,
                                          .variance = query_cell_variance(answering->run)};
    struct query_answer *const first = answer;
    answer = set_counts(answer, &table);
    say_kind(first, query);
    if (crosstab_has_shares(query)) {
        for (size_t row = 0; row < table.cells.rows; row++, answer++) {
            const struct column *rows = &query->factor[0].column;
            const struct column *columns = &query->factor[1].column;
            const struct estimate share = crosstab_share(&table.cells, row);
            set_estimate(answer, &table, &share, 0, 1, "share");
            crosstab_say_refused(answer, answering, &table.cells, CROSSTAB_SHARE, row);
            query_part_name(answer->name, query, "share of %s %s, %s %s", columns->name,
                            columns->category[1], rows->name, rows->category[row]);
        }
    }
    answer = crosstab_is_fourfold(query) ? set_fourfold(answer, &table) : answer;
    if (crosstab_has_test(query)) {
        set_test(answer, &table);
    }
}
