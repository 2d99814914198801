/* regress_replay.c - with how much less noise a coefficient that is not given would be.
 *
 * The design is solved again with less and less noise, on cells that are like those released: of each predictor the share of
 * its levels, of the outcomes theirs, and of how predictors go together what is above the noise (James and Stein's share of
 * it). Where the noise hides a predictor's levels or the events, what the plan assumes is taken, and the answer says so. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>
#include <string.h>

static const double records_least =
    2; /* deviations of their noise: balanced cells have that of one together */
static const double event_assumed = 0.2;
static const double step = 1.2;

enum { DRAWS = 8 }; /* of noise, in all of which a coefficient must be given */

/* The margins of what is released, and what of them is assumed. */
struct margins {
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    double outcome[REGRESS_OUTCOMES_MAX]; /* shares */
    double all;
};

static void set_level_shares(struct margins *out, const struct regress_design *design,
                             struct regress_replay *told)
{
    for (size_t i = 0; i < design->predictors; i++) {
        struct regress_levels *level = &out->level[i];
        const double levels = (double)design->predictor[i].levels;
        double all = 0;
        for (size_t k = 0; k < design->predictor[i].levels; k++) {
            level->sum[k] = level->is_told ? fmax(level->sum[k] - level->noise, 0) : 1;
            all += level->sum[k];
        }
        for (size_t k = 0; k < design->predictor[i].levels; k++) {
            level->sum[k] = all > 0 ? level->sum[k] / all : 1 / levels;
        }
        told->is_even = told->is_even || !level->is_told;
    }
}

static void set_outcome_shares(struct margins *out, const struct regress_fit *fit,
                               struct regress_replay *told)
{
    const struct regress_cells *cells = fit->cells;
    const struct regress_design *design = cells->design;
    double sum[REGRESS_OUTCOMES_MAX];
    double kept = 0;
    struct regress_events events;
    regress_sum_outcomes(sum, cells);
    const bool has_events = regress_sum_events(&events, cells, sum);
    out->all = events.with + events.without;
    told->events_most = fmax(events.with + ESTIMATE_Z_NOISE * events.noise, 0);
    if (has_events && events.is_hidden) {
        const double others_most = events.without + ESTIMATE_Z_NOISE * events.noise;
        told->has_few_events = told->events_most < event_assumed * out->all;
        told->has_all_events = !told->has_few_events && others_most < event_assumed * out->all;
        told->is_event_assumed = !told->has_few_events && !told->has_all_events;
        regress_expect_outcomes(out->outcome, design);
        return;
    }
    for (size_t y = 0; y < design->outcomes; y++) {
        const bool is_empty = y < design->intervals && fit->lack[y] == REGRESS_LACKS_EVENTS;
        out->outcome[y] = is_empty ? 0 : fmax(sum[y], 0);
        kept += out->outcome[y];
    }
    for (size_t y = 0; y < design->outcomes; y++) {
        out->outcome[y] /= kept;
    }
}

static double independent(const struct margins *margins, const struct regress_point *point,
                          size_t predictors)
{
    double share = 1;
    for (size_t i = 0; i < predictors; i++) {
        share *= margins->level[i].sum[point->level[i]];
    }
    return share * margins->all;
}

/* Records by point: (points) */
static void set_points(double *records, const struct margins *margins,
                       const struct regress_cells *cells)
{
    const struct regress_design *design = cells->design;
    const double *cell = cells->cell;
    double square = 0;
    double sum = 0;
    size_t points = 0;
    struct regress_point point;
    regress_point_first(&point, design, NULL);
    do {
        double own = -independent(margins, &point, design->predictors);
        for (size_t y = 0; y < design->outcomes; y++) {
            own += *cell++;
        }
        records[points++] = own;
        square += own * own;
    } while (regress_point_next(&point, design));
    const double noise = cells->variance * (double)(points * design->outcomes);
    const double kept = square > noise ? 1 - noise / square : 0;
    points = 0;
    regress_point_first(&point, design, NULL);
    do {
        const double mean = independent(margins, &point, design->predictors);
        records[points] = fmax(mean + kept * records[points], 0);
        sum += records[points++];
    } while (regress_point_next(&point, design));
    for (size_t i = 0; i < points; i++) {
        records[i] *= margins->all / sum;
    }
}

/* Balanced cells with another noise of this variance. cell: (m) out; exact: (m) */
static void release(double *cell, const double *exact, size_t m, double total, double variance,
                    uint64_t *state)
{
    const double deviation = sqrt(variance);
    for (size_t c = 0; c < m; c += 2) {
        double z[2];
        cells_normals(z, state);
        cell[c] = exact[c] + deviation * z[0];
        if (c + 1 < m) {
            cell[c + 1] = exact[c + 1] + deviation * z[1];
        }
    }
    cells_balance(cell, m, total);
}

/* What is asked of less noise: the sums that were given in none less. */
struct replaying {
    const struct regress_fit *fit;
    const double *weight; /* (count, REGRESS_TERMS_MAX) */
    size_t count;
    double exact[REGRESS_CELLS_MAX + 1];
    double all;
};

/* Which sums are given in all draws: (count). Returns whether one is. */
static bool replay(bool *is_given, const struct replaying *asked, double factor)
{
    const struct regress_cells *cells = asked->fit->cells;
    const double variance = cells->variance / factor / factor;
    double cell[REGRESS_CELLS_MAX + 1];
    const struct regress_cells less = {cells->design, cell, cells->m, variance};
    uint64_t state = 1;
    bool is_any = true;
    for (size_t draw = 0; draw < DRAWS && is_any; draw++) {
        struct regress_fit again;
        is_any = false;
        release(cell, asked->exact, cells->m, asked->all, variance, &state);
        regress_solve(&again, &less);
        for (size_t i = 0; i < asked->count; i++) {
            const double *weight = &asked->weight[i * REGRESS_TERMS_MAX];
            is_given[i] = is_given[i] && !isnan(regress_figure(&again, weight).estimate.value);
            is_any = is_any || is_given[i];
        }
    }
    return is_any;
}

/* What a release is like, from this one. */
static void set_exact(struct replaying *out, struct margins *margins,
                      const struct regress_cells *cells)
{
    const size_t outcomes = cells->design->outcomes;
    const size_t count = regress_points(cells->design) * outcomes;
    double records[REGRESS_POINTS_MAX] = {0};
    set_points(records, margins, cells);
    memset(out->exact, 0, cells->m * sizeof *out->exact);
    out->all = 0;
    for (size_t c = 0; c < count; c++) {
        out->exact[c] = records[c / outcomes] * margins->outcome[c % outcomes];
        out->all += out->exact[c];
    }
}

void regress_replay(struct regress_replay *out, const struct regress_fit *fit, const double *weight,
                    size_t count)
{
    const struct regress_design *design = fit->cells->design;
    struct replaying asked = {.fit = fit, .weight = weight, .count = count};
    struct margins margins = {.all = 0};
    size_t left = count;
    CHECK(count <= REGRESS_TERMS_MAX && fit->cells->m <= REGRESS_CELLS_MAX + 1);
    *out = (struct regress_replay){.events_most = NAN};
    for (size_t i = 0; i < count; i++) {
        const enum regress_lack lack = regress_lacks(fit, &weight[i * REGRESS_TERMS_MAX]);
        out->factor[i] = NAN;
        left -= lack == REGRESS_LACKS_RANGE || lack == REGRESS_LACKS_SMOOTH
                    ? 1
                    : 0; /* less noise does not move values */
    }
    regress_sum_levels(margins.level, fit->cells);
    set_level_shares(&margins, design, out);
    set_outcome_shares(&margins, fit, out);
    out->has_no_records = margins.all <= records_least * sqrt(fit->cells->variance);
    if (out->has_few_events || out->has_all_events || out->has_no_records) {
        return;
    }
    set_exact(&asked, &margins, fit->cells);
    double factor = 1;
    while (factor * step <= REGRESS_REPLAY_MOST && left > 0) {
        bool is_given[REGRESS_TERMS_MAX + 1] = {false};
        for (size_t i = 0; i < count; i++) {
            is_given[i] = isnan(out->factor[i]);
        }
        const bool is_any = replay(is_given, &asked, factor);
        for (size_t i = 0; i < count && is_any; i++) {
            /* A step more, as the released cells are themselves by chance what they are. */
            out->factor[i] = !is_given[i] ? out->factor[i] : factor > 1 ? factor * step : 1;
            left -= is_given[i] ? 1 : 0;
        }
        factor *= step;
    }
}
