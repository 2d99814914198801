/* What a cross table is to tell, before anything is asked. */

#include "estimate/crosstab.h"
#include "query/query_answers.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum { OF_BYTES = 96 };

static const double log_odds_half = 0.5;
static const double effect_medium = 0.3; /* of Cohen's w, by his own words */

static double variance_of(const struct query_asking *asking)
{
    return asking->deviation * asking->deviation;
}

/* What the test of two columns finds. */
static enum status describe_test(const struct query_asking *asking)
{
    const size_t rows = asking->query->factor[0].column.category_count;
    const size_t columns = asking->query->factor[1].column.category_count;
    const double effect = crosstab_expect_test(asking->records, rows, columns, variance_of(asking));
    struct terms_line *line = query_add_width(
        asking,
        &(struct query_width){"effect w found in 4 of 5 studies", TERMS_OF_ALIKE, "w", "a row",
                              crosstab_row_of_test(columns, variance_of(asking)),
                              asking->records / (double)rows, !isnan(effect)},
        "the chi-squared test finds an effect (Cohen's w) in four of five studies, if all cells "
        "are nearly alike");
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->bar = effect;
    line->noise_to_signal = isnan(effect) ? 2 : effect / effect_medium;
    line->measure = "a medium effect, 0.3, is found";
    return STATUS_OK;
}

/* Shares of a second column of two categories, where rows are alike or the first one is small. */
static enum status describe_shares(const struct query_asking *asking,
                                   const struct crosstab_expected *expected,
                                   const struct query_group *row)
{
    const struct query_half told[] = {
        {"share", "share", "half of the interval is a tenth", expected->share, TERMS_TENTH,
         expected->row, false},
        {"difference of the shares", "share", "half of the interval is a tenth",
         expected->difference, TERMS_TENTH, expected->row, false},
        {"odds ratio's logarithm", "logarithm", "half of the interval is one half",
         expected->log_odds, log_odds_half, expected->row_of_odds, false}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (crosstab_is_fourfold(asking->query) ? 3 : 1) && status == STATUS_OK;
         i++) {
        status = query_add_half(asking, &told[i], row, "%s%s", told[i].row, row->where);
    }
    return status;
}

static enum status describe_rows(const struct query_asking *asking)
{
    const double records = asking->records;
    const size_t cells = asking->query->cell_count;
    const size_t rows = asking->query->factor[0].column.category_count;
    const struct crosstab_cells shape = {NULL, rows, 2, cells, variance_of(asking)};
    const struct crosstab_expected alike =
        crosstab_expect(records, rows, cells, variance_of(asking));
    enum status status =
        describe_shares(asking, &alike,
                        &(struct query_group){", if all cells are alike", records / (double)rows,
                                              false, "a row", TERMS_OF_ALIKE});
    if (status == STATUS_OK && rows > 1) {
        const struct crosstab_expected small = crosstab_expect_small(records, TERMS_TENTH, &shape);
        status =
            describe_shares(asking, &small,
                            &(struct query_group){", if a row has a tenth of the records",
                                                  records / 10, true, "a row", TERMS_OF_SMALL});
    }
    return status;
}

/* The sums of cells that the table shows: of each column's categories. */
static enum status describe_totals(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < query->factor_count && status == STATUS_OK; i++) {
        const struct column *column = &query->factor[i].column;
        const size_t summed = query_table_cells(query) / column->category_count;
        char of[OF_BYTES];
        (void)snprintf(of, sizeof of, "each total of %.64s", column->name);
        const struct query_counted counted = {
            of, "that", crosstab_expect_count(summed, query->cell_count, variance_of(asking)),
            TERMS_OF_ALL};
        status = query_add_count(asking, &counted, "%s", of);
    }
    return status;
}

enum status query_terms_crosstab(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    const bool has_test = crosstab_has_test(query);
    const bool has_shares = crosstab_has_shares(query);
    struct terms_line *line =
        query_add_cell(asking, has_shares || has_test ? "cells are alike; a group is a row" : NULL,
                       "each of %zu cells", query_table_cells(query));
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->noise_to_signal = line->bar * (double)query_table_cells(query) / asking->records;
    line->measure = "the 95 % bar is the mean cell";
    /* A count says something where it cannot be none. */
    query_say_needed(line, "a cell", line->bar, 0, true);
    enum status status = describe_totals(asking);
    if (status == STATUS_OK && has_shares) {
        status = describe_rows(asking);
    }
    return status == STATUS_OK && has_test ? describe_test(asking) : status;
}
