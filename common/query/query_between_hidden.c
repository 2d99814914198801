/* query_between_hidden.c - whether what an effect of one site is about may have no record at all. */

#include "base/check.h"
#include "estimate/cells.h"
#include "query/query_answers.h"
#include "query/query_between.h"
#include "query/query_between_private.h"

#include <math.h>
#include <stdlib.h>

/* A sum of that many cells that is no more than its noise may be that of none: 2.5 % of those are larger. */
static bool is_drowned(double sum, size_t cells, double variance)
{
    return sum <= ESTIMATE_Z * sqrt((double)cells * variance);
}

static bool hides_in_table(const double cell[4], double variance)
{
    bool out = false;
    for (size_t i = 0; i < 2; i++) {
        out = out || is_drowned(cell[2 * i] + cell[2 * i + 1], 2, variance) ||
              is_drowned(cell[i] + cell[2 + i], 2, variance);
    }
    return out;
}

/* For a mean and a median its group; of what a group has more, and of the hazard ratio, the first one too. */
static bool hides_in_curve(const struct survival_cells *curve, size_t effect)
{
    const size_t groups = curve->groups;
    const size_t joined = 3 * groups - 2;
    const size_t cells = 2 * curve->intervals + 1;
    const bool is_pair = effect >= groups && effect < joined;
    const size_t group = effect < groups   ? effect
                         : effect < joined ? (effect - groups) / 2 + 1
                                           : effect - joined;
    return is_drowned(survival_records(curve, group), cells, curve->variance) ||
           (is_pair && is_drowned(survival_records(curve, 0), cells, curve->variance));
}

/* Any predictor's category. */
static bool hides_in_regress(const double *cell, const struct regress_design *design,
                             double variance)
{
    const size_t all = regress_points(design) * design->outcomes;
    size_t below = design->outcomes; /* cells of one level, side by side */
    bool out = false;
    for (size_t i = design->predictors; i-- > 0;) {
        const struct regress_predictor *predictor = &design->predictor[i];
        CHECK(predictor->levels > 0 && below > 0);
        for (size_t level = 0; level < predictor->levels && !predictor->is_number; level++) {
            double sum = 0;
            for (size_t c = 0; c < all; c++) {
                sum += c / below % predictor->levels == level ? cell[c] : 0;
            }
            out = out || is_drowned(sum, all / predictor->levels, variance);
        }
        below *= predictor->levels;
    }
    return out;
}

enum status joining_hides(bool *out, const struct joining *joining, size_t effect, size_t site)
{
    const struct query *query = joining->query;
    struct query_run run;
    const struct answering answering = joining_site(&run, joining, site);
    *out = false;
    if (query->kind != QUERY_CROSSTAB && query->kind != QUERY_SURVIVAL &&
        query->kind != QUERY_REGRESS) {
        return STATUS_OK;
    }
    const size_t room =
        query->kind == QUERY_SURVIVAL ? (size_t)SURVIVAL_RELEASED_MAX : query->cell_count;
    double *cell = calloc(room, sizeof *cell);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (query->kind == QUERY_SURVIVAL) {
        const struct survival_cells curve = survival_cells_of(cell, &answering);
        *out = hides_in_curve(&curve, effect);
    } else {
        query_balanced_cells(cell, &answering);
        if (query->kind == QUERY_CROSSTAB) {
            *out = hides_in_table(cell, joining->variance);
        } else {
            struct query_regress regress;
            query_regress_design(&regress, query);
            *out = hides_in_regress(cell, &regress.design, joining->variance);
        }
    }
    free(cell);
    return STATUS_OK;
}

/* How many records of a site an effect needs, by the noise alone: before anything is asked, and where too few sites
 * have an answer. */

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
