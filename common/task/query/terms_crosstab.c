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
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what,
                   "%s: the chi-squared test finds an effect (Cohen's w) in four of five studies, "
                   "if all cells are nearly alike; a row needs about %.0f records",
                   query->text, ceil(crosstab_row_of_test(columns, variance)));
    (void)snprintf(line->unit, sizeof line->unit, "w");
    line->bar = effect;
    line->noise_to_signal = isnan(effect) ? 2 : effect / effect_medium;
    line->measure = "a medium effect, 0.3, is found";
    return STATUS_OK;
}

/* Shares of a second column of two categories. */
static enum status describe_shares(struct terms *terms, const struct query *query, double records,
                                   double variance)
{
    const size_t rows = query->factor[0].column.category_count;
    const struct crosstab_expected expected =
        crosstab_expect(records, rows, query->cell_count, variance);
    const struct query_half half[] = {
        {"share, if all cells are alike", "share", "half of the interval is a tenth",
         expected.share, TERMS_TENTH, expected.row, false},
        {"difference of the shares, likewise", "share", "half of the interval is a tenth",
         expected.difference, TERMS_TENTH, expected.row, false},
        {"odds ratio's logarithm, likewise", "logarithm", "half of the interval is one half",
         expected.log_odds, log_odds_half, expected.row_of_odds, false},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (rows == 2 ? 3 : 1) && status == STATUS_OK; i++) {
        status = query_add_half(terms, query, &half[i]);
    }
    return status;
}

enum status query_terms_crosstab(struct terms *terms, const struct query *query,
                                 const struct query_noise *noise, double step, double records)
{
    const double deviation = step * query_noise_deviation(noise);
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what, "%s: each cell", query->text);
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = deviation;
    line->bar = step * query_noise_bar(noise, 0, TERMS_BAR_MISSES);
    line->noise_to_signal = line->bar * (double)query_table_cells(query) / records;
    line->measure = "the 95 % bar is the mean cell";
    enum status status = STATUS_OK;
    if (crosstab_has_shares(query)) {
        status = describe_shares(terms, query, records, deviation * deviation);
    }
    if (status == STATUS_OK && crosstab_has_test(query)) {
        status = describe_test(terms, query, records, deviation * deviation);
    }
    return status;
}
