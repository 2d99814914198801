/* query_answers_table1_advice.c - with how much more a table1's or evaluate's figure would be given. */

#include "query/query_advice.h"

#include "base/check.h"
#include "estimate/evaluate.h"

#include <math.h>

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
