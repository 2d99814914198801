/* regress_weights.c - weights of a regression's points, by its predictors alone; and levels that no record was found in. */

#include "estimate/regress_weights.h"

#include "estimate/regress_score.h"

#include <math.h>
#include <string.h>

/* Deviations of noise: of a level's records, where its slope would be refused, too; and of all levels' but one. */
static const double found_least = 2;
static const double others_least = 3;
static const double events_least = 3;     /* likewise: of an interval's events */
static const double records_least = 1e-6; /* where there is no noise: less is rounding */

void regress_sum_outcomes(double *sum, const struct regress_cells *cells)
{
    const size_t outcomes = cells->design->outcomes;
    memset(sum, 0, outcomes * sizeof *sum);
    for (size_t c = 0; c < regress_points(cells->design) * outcomes; c++) {
        sum[c % outcomes] += cells->cell[c];
    }
}

/* A level by itself is told apart from an empty one where a third of an even level would be. All levels but one are told to be
 * empty where all of these together are, and even ones would not be. */
static void find_levels(struct regress_levels *level, const struct regress_predictor *predictor)
{
    const double noise = fmax(level->noise, records_least);
    const double others = (double)(predictor->levels - 1);
    const double noise_of_others = others_least * sqrt(others) * noise;
    double all = 0;
    size_t largest = 0;
    for (size_t k = 0; k < predictor->levels; k++) {
        all += level->sum[k];
        largest = level->sum[k] > level->sum[largest] ? k : largest;
    }
    const double even = all / (double)predictor->levels;
    const double most = fmin(noise_of_others, others * even - noise_of_others);
    level->is_alone =
        level->sum[largest] > others_least * noise && all - level->sum[largest] <= most;
    level->is_told = level->is_alone || 3 * found_least * noise <= even;
    const double least = predictor->is_number ? 0 : REGRESS_RECORDS_LEAST - 0.5;
    for (size_t k = 0; k < predictor->levels; k++) {
        level->is_found[k] =
            level->is_alone ? k == largest : level->sum[k] > fmax(found_least * noise, least);
    }
}

void regress_sum_levels(struct regress_levels *level, const struct regress_cells *cells)
{
    const struct regress_design *design = cells->design;
    const double *cell = cells->cell;
    const double count = (double)(regress_points(design) * design->outcomes);
    struct regress_point point;
    memset(level, 0, design->predictors * sizeof *level);
    regress_point_first(&point, design, NULL);
    do {
        double own = 0;
        for (size_t y = 0; y < design->outcomes; y++) {
            own += *cell++;
        }
        for (size_t i = 0; i < design->predictors; i++) {
            level[i].sum[point.level[i]] += own;
        }
    } while (regress_point_next(&point, design));
    for (size_t i = 0; i < design->predictors; i++) {
        level[i].noise = sqrt(cells->variance * count / (double)design->predictor[i].levels);
        find_levels(&level[i], &design->predictor[i]);
    }
}

/* What noise is worth in records of a point, where slopes are 0: a record's curvature is h, the noise's variance v t. */
static double worth_of_noise(const struct regress_fit *fit, const double *sum)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_asked asked = {design, fit->leaving, fit->is_out};
    double all = 0, h = 0, t = 0;
    for (size_t y = 0; y < design->outcomes; y++) {
        struct regress_score one;
        double score = 0;
        regress_score(&one, &asked, fit->b, y);
        for (size_t i = 0; i < one.count; i++) {
            h += fmax(sum[y], 0) * one.curve[i];
            score += one.score[i];
        }
        t += score * score;
        all += fmax(sum[y], 0);
    }
    return fit->cells->variance * t * all / h;
}

bool regress_sum_events(struct regress_events *out, const struct regress_cells *cells,
                        const double *sum)
{
    const struct regress_design *design = cells->design;
    const size_t first = design->family == REGRESS_LOGISTIC ? 1 : 0;
    const size_t count = design->family == REGRESS_LOGISTIC ? 1 : design->intervals;
    *out = (struct regress_events){
        .noise = sqrt(cells->variance * (double)(regress_points(design) * count))};
    for (size_t y = 0; y < design->outcomes; y++) {
        *(y >= first && y < first + count ? &out->with : &out->without) += sum[y];
    }
    out->is_hidden = fmin(out->with, out->without) <= events_least * out->noise;
    return design->family == REGRESS_LOGISTIC || design->family == REGRESS_HAZARD;
}

/* Whether something of a predictor is left out: a level of a category, or all levels but one. */
static bool leaves_out(const struct regress_predictor *predictor,
                       const struct regress_levels *level)
{
    return level->is_alone || (level->is_told && !predictor->is_number);
}

/* Leaves out of a predictor's slopes, from term on, what its levels do not let be told. A category whose first level is
 * empty is compared to the first that is not, and none of its slopes is told. */
static void leave_out(struct regress_fit *fit, const struct regress_predictor *predictor,
                      const struct regress_levels *level, size_t term)
{
    const size_t slopes = predictor->is_number ? 1 : predictor->levels - 1;
    size_t first = 0;
    if (!leaves_out(predictor, level)) {
        return;
    }
    while (first + 1 < predictor->levels && !level->is_found[first]) {
        first++;
    }
    for (size_t k = 1; k <= slopes; k++) {
        const size_t at = term + k - 1;
        fit->is_out[at] = predictor->is_number || !level->is_found[k] || k == first;
        fit->lack[at] = level->is_alone       ? REGRESS_LACKS_LEVELS
                        : first > 0           ? REGRESS_LACKS_FIRST
                        : !level->is_found[k] ? REGRESS_LACKS_RECORDS
                                              : REGRESS_LACKS_NOTHING;
    }
    if (first > 0 || predictor->is_number) { /* the baselines are those of another level than 0 */
        fit->lack_of_first = level->is_alone ? REGRESS_LACKS_LEVELS : REGRESS_LACKS_FIRST;
    }
}

static void leave_slopes_out(struct regress_fit *fit, const struct regress_levels *level)
{
    const struct regress_design *design = fit->cells->design;
    size_t term = design->intervals;
    for (size_t i = 0; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        leave_out(fit, predictor, &level[i], term);
        term += predictor->is_number ? 1 : predictor->levels - 1;
    }
}

/* Whether none of a number's few values lies in a level. */
static bool has_no_value(const struct regress_predictor *predictor, size_t level)
{
    const size_t before = level > 0 ? predictor->atom_end[level - 1] : 0;
    return predictor->is_number && predictor->atoms > 0 && predictor->atom_end[level] == before;
}

/* A point counts by its records over them and the noise: n/(n + v t/h). Its number of records is taken from each predictor's
 * levels as if these were independent, which has little of the point's own noise in it. That little makes points count more whose
 * noise is above 0: weight times cell is more, in the mean, by the covariance of both, v dw/dn. It is taken off again as what is in
 * each cell: v (dw/dn)/w, with dw/w = (1 - w) dn/n, and dn/n the sum over the predictors of 1/(records of their level), less what
 * balancing takes. */
void regress_set_weights(struct regress_fit *fit, const double *outcomes)
{
    const struct regress_design *design = fit->cells->design;
    const double worth = worth_of_noise(fit, outcomes);
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    double all = 0;
    double *weight = fit->weight;
    double *raised = fit->raised;
    struct regress_point point;
    regress_sum_levels(level, fit->cells);
    leave_slopes_out(fit, level);
    for (size_t y = 0; y < design->outcomes; y++) {
        all += outcomes[y];
    }
    regress_point_first(&point, design, NULL);
    do {
        double records = all;
        double grows = 0; /* the records, over them, with one more in each cell of the point */
        bool is_out = false;
        for (size_t i = 0; i < design->predictors; i++) {
            const size_t k = point.level[i];
            const double others = 1 - 1 / (double)design->predictor[i].levels;
            records *= fmax(level[i].sum[k], level[i].noise) / all;
            grows += level[i].sum[k] > level[i].noise ? others / level[i].sum[k] : 0;
            is_out = is_out || has_no_value(&design->predictor[i], k) ||
                     (leaves_out(&design->predictor[i], &level[i]) && !level[i].is_found[k]);
        }
        *weight = is_out ? 0 : worth > 0 ? records / (records + worth) : 1;
        *raised++ = fit->cells->variance * (1 - *weight) * grows;
        weight++;
    } while (regress_point_next(&point, design));
}

/* An interval without events has no hazard's logarithm. It is told from others where a third of the largest's events would be.
 * What the others tell of the slopes has nothing of it: each interval's scores have a mean of 0. */
void regress_leave_intervals_out(struct regress_fit *fit, const double *outcomes)
{
    const struct regress_design *design = fit->cells->design;
    const size_t k = design->intervals;
    const double noise =
        fmax(sqrt(fit->cells->variance * (double)regress_points(design)), records_least);
    double most = 0;
    for (size_t i = 0; i < k && design->family == REGRESS_HAZARD; i++) {
        most = fmax(most, outcomes[i]);
    }
    const bool is_told = 3 * events_least * noise <= most;
    for (size_t i = 0; i < k && is_told; i++) {
        fit->is_out[i] = outcomes[i] <= events_least * noise;
        fit->lack[i] = fit->is_out[i] ? REGRESS_LACKS_EVENTS : REGRESS_LACKS_NOTHING;
        fit->b[i] = fit->is_out[i] ? 0 : fit->b[i];
    }
}

enum regress_lack regress_lacks(const struct regress_fit *fit, const double *weight)
{
    for (size_t i = fit->cells->design->intervals; i < fit->terms; i++) {
        if (weight[i] != 0 && fit->lack[i] != REGRESS_LACKS_NOTHING) {
            return fit->lack[i];
        }
    }
    for (size_t i = 0; i < fit->cells->design->intervals; i++) {
        if (weight[i] != 0) {
            return fit->lack[i] != REGRESS_LACKS_NOTHING ? fit->lack[i] : fit->lack_of_first;
        }
    }
    return REGRESS_LACKS_NOTHING;
}
