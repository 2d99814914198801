/* query_between_need.c - how many records of a site an effect needs, by the noise alone: before anything is asked, and where too few sites
 * have an answer. */

#include "query/query_answers.h"
#include "query/query_between.h"

#include <math.h>

static double of_survival(const struct query *query, size_t effect, double variance)
{
    const double share = query_survival_share(query);
    const size_t groups = query_groups(query);
    const struct survival_public known = {
        .groups = groups, .variance = variance / share / share, .block = query->block};
    const bool is_hazard = effect >= groups && (effect - groups) % 2 == 1;
    if (is_hazard && effect < 3 * groups - 2) {
        return between_need_hazards(&known, query->intervals);
    }
    return (double)groups * (effect < 3 * groups - 2
                                 ? survival_smallest(&known, query->intervals)
                                 : survival_smallest_median(&known, query->intervals));
}

static size_t variable_of_slope(const struct query *query, size_t effect)
{
    size_t variable = 0;
    for (size_t end = regress_slopes_of(&query->variable[0]); end <= effect;
         end += regress_slopes_of(&query->variable[variable])) {
        variable++;
    }
    return variable;
}

static double of_regress(const struct query *query, size_t effect, double variance)
{
    struct query_regress regress;
    const size_t variable = variable_of_slope(query, effect);
    query_regress_design(&regress, query);
    return regress_fewest(&regress.design, variable, variance, BETWEEN_DOUBT_MOST);
}

static double of_table1(const struct query *query, size_t effect, double variance, double records)
{
    size_t variable = 0;
    size_t first = 0;
    size_t end = table1_effects_of(&query->variable[0]);
    while (end <= effect) {
        first = end;
        end += table1_effects_of(&query->variable[++variable]);
    }
    const struct query_variable *own = &query->variable[variable];
    const bool is_number = own->column.kind == COLUMN_NUMBER;
    const double part =
        ldexp((double)query_part_of(own, UINT64_C(1) << QUERY_BITS_MAX), -QUERY_BITS_MAX);
    const struct table1_expected expected = table1_expect(
        &(struct table1_public){records, 1, variance / part / part}, is_number, own->levels);
    return !is_number        ? expected.share.group
           : effect == first ? expected.mean.group
                             : expected.median.group;
}

bool query_between_needs_alike(const struct query *query, size_t a, size_t b)
{
    return query->kind == QUERY_REGRESS &&
           variable_of_slope(query, a) == variable_of_slope(query, b);
}

double query_between_need(const struct query *query, size_t effect, double variance, double records)
{
    switch ((int)query->kind) {
    case QUERY_SURVIVAL:
        return of_survival(query, effect, variance);
    case QUERY_REGRESS:
        return of_regress(query, effect, variance);
    case QUERY_TABLE1:
        return of_table1(query, effect, variance, records);
    case QUERY_CROSSTAB:
        return effect == 0 ? between_need_difference(variance) : between_need_odds(variance);
    default:
        return between_need_share(variance);
    }
}
