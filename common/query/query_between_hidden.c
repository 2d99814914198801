/* query_between_hidden.c - whether what an effect of one site is about may have no record at all. */

#include "base/check.h"
#include "estimate/cells.h"
#include "query/query_between_private.h"

#include <math.h>
#include <stdlib.h>

/* A sum of so many cells that is no more than its noise may be that of none: 2.5 % of those are larger. */
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

/* Of a mean and a median its group; of what a group has more, and of the hazard ratio, the first one too. */
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
