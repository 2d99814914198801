/* What a cross table is to tell, before anything is asked. */

#include "estimate/crosstab.h"
#include "query/query_answers.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static const double log_odds_half = 0.5;
static const double effect_medium = 0.3; /* of Cohen's w, by his own words */

/* What the test of two columns finds. */
static enum status describe_test(struct terms *terms, const struct query *query, double records,
                                 double variance)
{
    const size_t rows = query->factor[0].column.category_count;
    const size_t columns = query->factor[1].column.category_count;
    const double effect = crosstab_expect_test(records, rows, columns, variance);
    struct terms_line *line = query_add_expected(terms);
    char needed[QUERY_NEEDED_BYTES];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_needed(needed, "a row", crosstab_row_of_test(columns, variance),
                     records / (double)rows, !isnan(effect));
    (void)snprintf(line->what, sizeof line->what,
                   "%s: the chi-squared test finds an effect (Cohen's w) in four of five studies, "
                   "if all cells are nearly alike; %s",
                   query->text, needed);
    (void)snprintf(line->unit, sizeof line->unit, "w");
    line->bar = effect;
    query_place(line, query, "effect w found in 4 of 5 studies", TERMS_OF_ALIKE,
                records / (double)rows, crosstab_row_of_test(columns, variance));
    line->noise_to_signal = isnan(effect) ? 2 : effect / effect_medium;
    line->measure = "a medium effect, 0.3, is found";
    return STATUS_OK;
}

enum { OF_BYTES = 96 };

/* Shares of a second column of two categories, where rows are alike or the first one is small. */
static enum status describe_shares(struct terms *terms, const struct query *query,
                                   const struct crosstab_expected *expected,
                                   const struct query_group *row)
{
    const struct {
        const char *of;
        const char *unit;
        const char *measure;
        double width;
        double most;
        double needed;
    } told[] = {{"share", "share", "half of the interval is a tenth", expected->share, TERMS_TENTH,
                 expected->row},
                {"difference of the shares", "share", "half of the interval is a tenth",
                 expected->difference, TERMS_TENTH, expected->row},
                {"odds ratio's logarithm", "logarithm", "half of the interval is one half",
                 expected->log_odds, log_odds_half, expected->row_of_odds}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (crosstab_is_fourfold(query) ? 3 : 1) && status == STATUS_OK; i++) {
        char of[OF_BYTES];
        (void)snprintf(of, sizeof of, "%s%s", told[i].of, row->where);
        status = query_add_half(terms, query,
                                &(struct query_half){.of = of,
                                                     .unit = told[i].unit,
                                                     .measure = told[i].measure,
                                                     .width = told[i].width,
                                                     .most = told[i].most,
                                                     .group = told[i].needed,
                                                     .is_beside = row->is_beside,
                                                     .has = row->has,
                                                     .who = row->who,
                                                     .row = told[i].of,
                                                     .column = row->column});
    }
    return status;
}

static enum status describe_rows(struct terms *terms, const struct query *query, double records,
                                 double variance)
{
    const size_t rows = query->factor[0].column.category_count;
    const struct crosstab_cells shape = {NULL, rows, 2, query->cell_count, variance};
    const struct crosstab_expected alike =
        crosstab_expect(records, rows, query->cell_count, variance);
    enum status status =
        describe_shares(terms, query, &alike,
                        &(struct query_group){", if all cells are alike", records / (double)rows,
                                              false, "a row", TERMS_OF_ALIKE});
    if (status == STATUS_OK && rows > 1) {
        const struct crosstab_expected small = crosstab_expect_small(records, TERMS_TENTH, &shape);
        status =
            describe_shares(terms, query, &small,
                            &(struct query_group){", if a row has a tenth of the records",
                                                  records / 10, true, "a row", TERMS_OF_SMALL});
    }
    return status;
}

/* The sums of cells that the table shows: of each column's categories. */
static enum status describe_totals(struct terms *terms, const struct query *query, double variance,
                                   double records)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < query->factor_count && status == STATUS_OK; i++) {
        const struct column *column = &query->factor[i].column;
        const size_t summed = query_table_cells(query) / column->category_count;
        char of[OF_BYTES];
        (void)snprintf(of, sizeof of, "each total of %.64s", column->name);
        status = query_add_count(
            terms, query,
            &(struct query_counted){of, "that",
                                    crosstab_expect_count(summed, query->cell_count, variance), of,
                                    TERMS_OF_ALL, records});
    }
    return status;
}

enum status query_terms_crosstab(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    struct terms_line *line = terms_add_line(terms);
    char needed[QUERY_NEEDED_BYTES];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = deviation;
    line->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    line->noise_to_signal = line->bar * (double)query_table_cells(query) / records;
    line->measure = "the 95 % bar is the mean cell";
    /* A count says something where it cannot be none. */
    query_say_needed(needed, "a cell", line->bar, 0, true);
    (void)snprintf(line->what, sizeof line->what, "%s: each of %zu cells; %s", query->text,
                   query_table_cells(query), needed);
    query_place(line, query, "", TERMS_OF_NONE, 0, 0);
    line->place.taken = crosstab_has_shares(query) || crosstab_has_test(query)
                            ? "cells are alike; a group is a row"
                            : NULL;
    enum status status = describe_totals(terms, query, deviation * deviation, records);
    if (status == STATUS_OK && crosstab_has_shares(query)) {
        status = describe_rows(terms, query, records, deviation * deviation);
    }
    if (status == STATUS_OK && crosstab_has_test(query)) {
        status = describe_test(terms, query, records, deviation * deviation);
    }
    return status;
}
