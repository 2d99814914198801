/* query_answers_crosstab.c - the answers of a cross table: its counts, which sum to the public number of records, and of two
 * columns shares, odds ratio, difference and test. */

#include "base/check.h"
#include "base/decimal.h"
#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "query/query_advice.h"
#include "query/query_answers.h"

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
    query_tell_count(answer, value, noise);
    (void)snprintf(answer->unit, sizeof answer->unit, "records");
}

static void name_cell(struct query_answer *answer, const struct query *query, size_t cell)
{
    char part[QUERY_NAME_BYTES] = "";
    for (size_t i = 0; i < query->factor_count; i++) {
        const struct column *column = &query->factor[i].column;
        const size_t used = strlen(part);
        (void)snprintf(part + used, sizeof part - used, "%s%s %s", i > 0 ? ", " : "", column->name,
                       column->category[query_table_level(query, cell, i)]);
    }
    query_answer_name(answer, query, part);
}

static struct query_answer *set_counts(struct query_answer *answer, const struct table *table)
{
    const struct query *query = table->answering->query;
    const size_t cells = query_table_cells(query);
    const struct query_answer *first = answer;
    for (size_t cell = 0; cell < cells; cell++, answer++) {
        set_count(answer, table, table->cell[cell], 1);
        name_cell(answer, query, cell);
    }
    for (size_t i = 0; i < query->factor_count; i++) {
        for (size_t level = 0; level < levels(query, i); level++, answer++) {
            char part[QUERY_NAME_BYTES];
            double sum = 0;
            double told = 0;
            for (size_t cell = 0; cell < cells; cell++) {
                const bool is_here = query_table_level(query, cell, i) == level;
                sum += is_here ? table->cell[cell] : 0;
                told += is_here ? first[cell].value : 0;
            }
            set_count(answer, table, sum, cells / levels(query, i));
            query_say_sum(answer, "the cells", told);
            (void)snprintf(part, sizeof part, "all %s %s", query->factor[i].column.name,
                           query->factor[i].column.category[level]);
            query_answer_name(answer, query, part);
        }
    }
    return answer;
}

static void set_estimate(struct query_answer *answer, const struct table *table,
                         const struct estimate *estimate, const char *unit)
{
    answer->records = (double)table->answering->run->record_count;
    answer->value = estimate->value;
    answer->error = isnan(estimate->value) ? NAN : estimate->noise;
    answer->low = estimate->value - ESTIMATE_Z_NOISE * estimate->noise;
    answer->high = estimate->value + ESTIMATE_Z_NOISE * estimate->noise;
    answer->sampling = estimate->sampling;
    answer->total_low = estimate->low;
    answer->total_high = estimate->high;
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", unit);
}

static bool has_share(const struct crosstab_cells *cells, size_t row)
{
    return !isnan(crosstab_share(cells, row).value);
}

static bool has_difference(const struct crosstab_cells *cells, UNUSED size_t row)
{
    return !isnan(crosstab_difference(cells).value);
}

static bool has_odds(const struct crosstab_cells *cells, UNUSED size_t row)
{
    const struct estimate odds = crosstab_odds_ratio(cells);
    return !isnan(odds.value) || !isnan(odds.low);
}

static bool is_tested(const struct crosstab_cells *cells, UNUSED size_t row)
{
    double p = NAN;
    return !isnan(crosstab_test(&p, cells));
}

/* What the test is not of: categories whose counts the noise alone may show, and that hold a tenth of all at most. */
struct hidden {
    size_t rows; /* that have records, and columns */
    size_t columns;
    bool row[CROSSTAB_CELLS_MAX];
    bool column[CROSSTAB_CELLS_MAX];
};

static bool is_hidden(double sum, size_t summed, const struct crosstab_cells *cells)
{
    const double k = (double)summed;
    double all = 0;
    for (size_t i = 0; i < cells->rows * cells->columns; i++) {
        all += cells->cell[i];
    }
    return cells_is_hidden(sum, cells_covariance(k, k, k, cells->m, cells->variance), all);
}

static void find_hidden(struct hidden *out, const struct crosstab_cells *cells)
{
    *out = (struct hidden){.rows = 0};
    for (size_t i = 0; i < cells->rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < cells->columns; j++) {
            sum += cells->cell[i * cells->columns + j];
        }
        out->row[i] = is_hidden(sum, cells->columns, cells);
        out->rows += !out->row[i];
    }
    for (size_t j = 0; j < cells->columns; j++) {
        double sum = 0;
        for (size_t i = 0; i < cells->rows; i++) {
            sum += cells->cell[i * cells->columns + j];
        }
        out->column[j] = is_hidden(sum, cells->rows, cells);
        out->columns += !out->column[j];
    }
}

/* The cells without what the noise made of empty categories, which more epsilon would take off. */
static void without_hidden(double *cell, const struct hidden *hidden,
                           const struct crosstab_cells *cells)
{
    for (size_t i = 0; i < cells->rows; i++) {
        for (size_t j = 0; j < cells->columns; j++) {
            const size_t at = i * cells->columns + j;
            cell[at] = hidden->row[i] || hidden->column[j] ? 0 : cells->cell[at];
        }
    }
}

/* Of two categories with records there is no test, and nothing that would do, where one has all. */
static bool say_one_category(struct query_answer *answer, const struct table *table,
                             const struct hidden *hidden)
{
    const size_t factor = hidden->rows == 1 ? 0 : 1;
    if (hidden->rows != 1 && hidden->columns != 1) {
        return false;
    }
    (void)snprintf(answer->note, sizeof answer->note,
                   "not enough data for this question at this epsilon: %s has records in one "
                   "category alone, as far as the noise lets it be told",
                   table->answering->query->factor[factor].column.name);
    return true;
}

static void say_too_few(struct query_answer *answer, const struct table *table,
                        crosstab_is_given *given, size_t row);

/* Whether nobody was found in a row, as far as the noise tells, of all that were asked. */
static bool is_row_hidden(const struct crosstab_cells *cells, size_t row, double records)
{
    const double k = (double)cells->columns;
    double sum = 0;
    for (size_t j = 0; j < cells->columns; j++) {
        sum += cells->cell[row * cells->columns + j];
    }
    return cells_is_hidden(sum, cells_covariance(k, k, k, cells->m, cells->variance), records);
}

/* A share, a difference or an odds ratio of rows of which one has nobody: no more epsilon would do. */
static bool say_no_row(struct query_answer *answer, const struct table *table,
                       crosstab_is_given *given, size_t row)
{
    const size_t end = given == has_share ? row + 1 : table->cells.rows;
    size_t at = given == has_share ? row : 0;
    while (at < end && !is_row_hidden(&table->cells, at, answer->records)) {
        at++;
    }
    if (at == end || given == is_tested) {
        return false;
    }
    const struct column *column = &table->answering->query->factor[0].column;
    (void)snprintf(answer->note, sizeof answer->note,
                   "not enough data for this question at this epsilon: no record was found in %s "
                   "%s, as far as the noise lets it be told",
                   column->name, column->category[at]);
    query_say_enough(answer->note, sizeof answer->note, table->answering);
    return true;
}

static void say_no_test(struct query_answer *answer, const struct table *table)
{
    struct table with = *table;
    struct hidden hidden;
    find_hidden(&hidden, &table->cells);
    if (say_one_category(answer, table, &hidden)) {
        return;
    }
    without_hidden(with.cell, &hidden, &table->cells);
    with.cells.cell = with.cell;
    say_too_few(answer, &with, is_tested, 0);
}

static void say_too_few(struct query_answer *answer, const struct table *table,
                        crosstab_is_given *given, size_t row)
{
    if (given(&table->cells, row) || say_no_row(answer, table, given, row)) {
        return;
    }
    const struct answering *answering = table->answering;
    const struct crosstab_cells *cells = &table->cells;
    const double factor = given == is_tested ? crosstab_advice_of(answering, cells, given, false)
                                             : crosstab_advice(answering, cells, given, row);
    const double records = isfinite(factor) || given != is_tested
                               ? NAN
                               : crosstab_advice_of(answering, cells, given, true);
    char why[CROSSTAB_WHY_BYTES] = "";
    char leave[CROSSTAB_WHY_BYTES] = "";
    char more[64] = "";
    if (given == is_tested) {
        crosstab_say_least(why, leave, table->answering->query, &table->cells);
    }
    if (isfinite(factor)) {
        (void)snprintf(more, sizeof more, "; %.3g times the epsilon%s would do", factor,
                       given == is_tested ? "" : ", or the records,");
    } else if (isfinite(records)) {
        (void)snprintf(more, sizeof more, "; %.3g times the records would do", records);
    }
    (void)snprintf(answer->note, sizeof answer->note,
                   "not enough data for this question at this epsilon%s%s%s", why, more, leave);
    if (more[0] != '\0' || leave[0] != '\0') {
        return;
    }
    if (given == has_share || given == has_difference) {
        query_say_enough(answer->note, sizeof answer->note, table->answering);
        return;
    }
    const size_t used = strlen(answer->note);
    const double needed =
        given == is_tested
            ? crosstab_row_of_test(cells->columns, cells->variance)
            : crosstab_expect(answer->records, 2, cells->m, cells->variance).row_of_odds;
    (void)snprintf(answer->note + used, sizeof answer->note - used,
                   "; by the noise, a row of about %.0f records would do if cells are alike",
                   ceil(needed));
}

static void name_part(char name[static QUERY_NAME_BYTES], const struct query *query,
                      const char *begin, const char *against)
{
    const struct column *rows = &query->factor[0].column;
    const struct column *columns = &query->factor[1].column;
    char part[QUERY_NAME_BYTES];
    (void)snprintf(part, sizeof part, "%s of %s %s, %s %s %s %s", begin, columns->name,
                   columns->category[1], rows->name, rows->category[1], against, rows->category[0]);
    query_part_name(name, query, part);
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
    set_estimate(&answer[0], table, &difference, "share");
    set_estimate(&answer[1], table, &odds, "odds ratio");
    say_too_few(&answer[0], table, has_difference, 0);
    say_too_few(&answer[1], table, has_odds, 0);
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

static void set_test(struct query_answer *answer, const struct table *table)
{
    const struct query *query = table->answering->query;
    double p = NAN;
    const double statistic = crosstab_test(&p, &table->cells);
    const struct estimate estimate = {p, NAN, NAN, NAN, NAN};
    set_estimate(answer, table, &estimate, "p-value");
    query_answer_name(answer, query, "chi-squared test that the columns are independent");
    if (!isnan(p)) {
        struct crosstab_kept kept;
        crosstab_keep(&kept, &table->cells);
        const size_t freedom = (kept.rows - 1) * (kept.columns - 1);
        (void)snprintf(answer->note, sizeof answer->note,
                       "chi-squared %s with %zu degree%s of freedom; its reference distribution "
                       "has the noise in it",
                       decimal_short(statistic, 4).text, freedom, freedom > 1 ? "s" : "");
        crosstab_say_lowered(answer, statistic, crosstab_test_found(&table->cells));
        say_not_of(answer, query, &kept);
        return;
    }
    say_no_test(answer, table);
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
    crosstab_say_kind(first, query);
    if (crosstab_has_shares(query)) {
        for (size_t row = 0; row < table.cells.rows; row++, answer++) {
            const struct column *rows = &query->factor[0].column;
            const struct column *columns = &query->factor[1].column;
            const struct estimate share = crosstab_share(&table.cells, row);
            char part[QUERY_NAME_BYTES];
            set_estimate(answer, &table, &share, "share");
            say_too_few(answer, &table, has_share, row);
            (void)snprintf(part, sizeof part, "share of %s %s, %s %s", columns->name,
                           columns->category[1], rows->name, rows->category[row]);
            query_answer_name(answer, query, part);
        }
    }
    answer = crosstab_is_fourfold(query) ? set_fourfold(answer, &table) : answer;
    if (crosstab_has_test(query)) {
        set_test(answer, &table);
    }
}
