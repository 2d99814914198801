/* Survival of two groups. The first one's hazard is constant, the second one's rises (or is the first's: a true null). Censoring
 * is uniform over twice the time, from the beginning on. Deaths by the end: 55 and 45 of 100 before censoring. */

#include "estimate/cells.h"
#include "estimate/survival.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 2, FINE = 4096 };

static const double first_hazard = 0.8;
static const double second_hazard = 0.6; /* of t^1.5 */
static const double censoring_end = 2;

static double cumulative(size_t group, bool is_null, double t)
{
    return group == 0 || is_null ? first_hazard * t : second_hazard * pow(t, 1.5);
}

static double time_of_death(size_t group, bool is_null, double exponential)
{
    return group == 0 || is_null ? exponential / first_hazard
                                 : pow(exponential / second_hazard, 1 / 1.5);
}

static double mean_survival(size_t group, bool is_null)
{
    double sum = 0;
    for (int i = 0; i < FINE; i++) {
        sum += exp(-cumulative(group, is_null, (i + 0.5) / FINE));
    }
    return sum / FINE;
}

/* The time at which half are left; both groups reach it before 1 or not at all. */
static double median_of(size_t group, bool is_null)
{
    return time_of_death(group, is_null, log(2));
}

static void draw_cells(double *cell, size_t k, const struct intervals_setting *setting,
                       struct seeded_random *seeded)
{
    const uint64_t records = INTERVALS_SITES * setting->site_records;
    memset(cell, 0, SURVIVAL_CELLS(GROUPS, k) * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        const size_t group = i % GROUPS;
        const double exponential = -log(1 - seeded_random_unit(seeded));
        const double death = time_of_death(group, setting->is_null, exponential);
        const double censored = censoring_end * seeded_random_unit(seeded);
        const double time = fmin(death, censored);
        double *own = cell + group * (2 * k + 1);
        if (time >= 1) {
            own[2 * k]++;
        } else {
            own[(death <= censored ? 0 : k) + (size_t)(time * (double)k)]++;
        }
    }
}

/* What the cells are on average. */
static void expect_cells(double *cell, size_t k, const struct intervals_setting *setting)
{
    const double records = (double)(INTERVALS_SITES * setting->site_records) / GROUPS;
    memset(cell, 0, SURVIVAL_CELLS(GROUPS, k) * sizeof *cell);
    for (size_t g = 0; g < GROUPS; g++) {
        double *own = cell + g * (2 * k + 1);
        for (size_t i = 0; i < FINE; i++) {
            const double t = (double)i / FINE;
            const double next = (double)(i + 1) / FINE;
            const double alive = exp(-cumulative(g, setting->is_null, t));
            const double dies = alive - exp(-cumulative(g, setting->is_null, next));
            const size_t at = (size_t)(t * (double)k);
            own[at] += records * dies * (1 - t / censoring_end);
            own[k + at] += records * alive / FINE / censoring_end;
        }
        own[2 * k] = records * exp(-cumulative(g, setting->is_null, 1)) * (1 - 1 / censoring_end);
    }
}

static bool holds(const struct estimate *estimate, double truth)
{
    return estimate->low <= truth && truth <= estimate->high;
}

/* at: (k) of the points, over all runs and both groups */
static void judge_curve(struct intervals_survival *out, struct intervals_rate *at,
                        const struct survival_curve *curve, const struct survival_curve *exact,
                        size_t group, const struct intervals_setting *setting)
{
    bool band = true;
    for (size_t j = 0; j < out->intervals; j++) {
        const struct survival_point *point = &curve->point[j];
        const double truth = exp(-cumulative(group, setting->is_null, point->time));
        const bool is_shown = !isnan(point->survival.value);
        intervals_count(&out->shown, is_shown);
        if (is_shown) {
            intervals_count(&out->point, holds(&point->survival, truth));
            intervals_count(&at[j], holds(&point->survival, truth));
            band = band && point->band_low <= truth && truth <= point->band_high;
            if (!isnan(exact->point[j].survival.value)) {
                const double without = exact->point[j].survival.value;
                intervals_count(&out->noise,
                                point->noise_low <= without && without <= point->noise_high);
            }
        }
    }
    if (curve->shown > 0) {
        intervals_count(&out->band, band);
    }
    if (!isnan(curve->mean.value)) {
        intervals_count(&out->mean, holds(&curve->mean, mean_survival(group, setting->is_null)));
    }
    if (curve->shown > 0) {
        const double median = median_of(group, setting->is_null);
        const double high = isnan(curve->median.high) ? INFINITY : curve->median.high;
        /* Not reached: every point's interval reaches above one half, so nothing beyond is ruled out. */
        const bool covers = curve->median_beyond || (curve->median.low <= median && median <= high);
        intervals_count(&out->median, covers);
    }
}

static double width_at_end(const struct survival *survival, size_t k)
{
    const struct estimate *end = &survival->curve[0].point[k - 1].survival;
    return end->high - end->low;
}

struct widths {
    double estimated, free, by_truth;
    uint64_t runs;
};

static enum status run_one(struct intervals_survival *out, struct intervals_rate *at,
                           struct widths *widths, const struct intervals_noise *noise,
                           const struct intervals_setting *setting, struct seeded_random *seeded)
{
    const size_t k = out->intervals;
    const size_t m = SURVIVAL_CELLS(GROUPS, k);
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    const double told_variance = setting->planted * setting->planted * noise->variance;
    const struct random random = seeded_random_interface(seeded);
    static double exact_cell[SURVIVAL_CELLS_MAX];
    static double cell[SURVIVAL_CELLS_MAX];
    static struct survival exact;
    static struct survival told;

    draw_cells(exact_cell, k, setting, seeded);
    memcpy(cell, exact_cell, sizeof cell);
    enum status status = intervals_noise_add(cell, m, noise, &random);
    cells_balance(cell, m, records);
    survival_estimate(&exact, &(struct survival_cells){exact_cell, GROUPS, k, 1, 0});
    const struct survival_cells released = {cell, GROUPS, k, 1, told_variance};
    survival_estimate(&told, &released);
    for (size_t g = 0; g < GROUPS; g++) {
        judge_curve(out, at, &told.curve[g], &exact.curve[g], g, setting);
    }
    if (!isnan(told.mean_difference[1].value)) {
        const double truth =
            mean_survival(1, setting->is_null) - mean_survival(0, setting->is_null);
        intervals_count(&out->difference, holds(&told.mean_difference[1], truth));
    }
    if (!isnan(told.log_rank_p)) {
        intervals_count(&out->rejected, told.log_rank_p < 0.05);
    }
    if (!isnan(width_at_end(&told, k))) {
        widths->estimated += width_at_end(&told, k);
        widths->free += width_at_end(&exact, k);
        widths->runs++;
    }
    return status;
}

enum status intervals_survival(struct intervals_survival *out,
                               const struct intervals_setting *setting)
{
    struct survival_public known = {.records = (double)(INTERVALS_SITES * setting->site_records),
                                    .groups = GROUPS};
    struct intervals_rate at[SURVIVAL_INTERVALS_MAX] = {{0}};
    double truth[SURVIVAL_CELLS_MAX];
    struct widths widths = {0};
    struct seeded_random seeded;
    struct intervals_noise noise;
    static struct survival by_truth;

    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);
    known.variance = noise.variance;
    *out = (struct intervals_survival){.intervals = survival_plan(&known), .worst_point = NAN};
    seeded_random_init(&seeded, setting->seed);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, at, &widths, &noise, setting, &seeded);
    }
    intervals_noise_free(&noise);
    expect_cells(truth, out->intervals, setting);
    survival_estimate(&by_truth,
                      &(struct survival_cells){truth, GROUPS, out->intervals, 1, known.variance});
    widths.by_truth = width_at_end(&by_truth, out->intervals);
    out->width_free = widths.estimated / widths.free;
    out->width_true = widths.estimated / (double)widths.runs / widths.by_truth;
    for (size_t j = 0; j < out->intervals; j++) {
        if (10 * at[j].all >= 9 * GROUPS * setting->runs) {
            out->worst_point =
                fmin(intervals_share(&at[j]), isnan(out->worst_point) ? 1 : out->worst_point);
        }
    }
    return status;
}
