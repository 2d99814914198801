/* Survival of two groups. The first one's hazard is constant, the second one's rises or falls (or is the first's: a true null).
 * Censoring is uniform from the beginning on. The rules were built on the first three designs, and the fourth confirms. */

#include "estimate/cells.h"
#include "estimate/survival.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
    size_t intervals;            /* that were planned */
    size_t block;                /* likewise */
    struct intervals_rate shown; /* points */
    struct intervals_rate point; /* intervals of points that hold the truth */
    double worst_point; /* the least share over points that nine runs in ten show; NAN: none */
    struct intervals_rate band;
    struct intervals_rate noise; /* intervals of the noise that hold the curve without noise */
    struct intervals_rate mean;
    struct intervals_rate difference;
    struct intervals_rate median;
    struct intervals_rate medians;  /* differences of two */
    struct intervals_rate rejected; /* log-rank tests below 5 % */
    struct intervals_width width;   /* at the end */
};

enum { GROUPS = 2, FINE = 64 };

/* In each the first group's hazard is constant and the second one's is a power of the time, or the first one's. */
static const struct design {
    const char *name;
    double first_hazard;
    double second_hazard;
    double power;         /* of time, in the second group's cumulative hazard */
    double censoring_end; /* censoring is uniform up to it */
    double first_share;   /* of the records, in the first group */
} designs[] = {
    {"", 0.8, 0.6, 1.5, 2, 0.5},
    {", second", 1.1, 0.9, 1.5, 2, 0.5},
    {", third", 1.3, 1, 0.8, 1.6, 0.6},
    {", fourth", 1.6, 1.2, 1.2, 2.4, 0.45},
};
enum { DESIGNS = sizeof designs / sizeof designs[0] };

static bool is_null_of(const struct intervals_setting *setting)
{
    return setting->variant % 2 == 1;
}

static const struct design *design_of(const struct intervals_setting *setting)
{
    return &designs[setting->variant / 2];
}

static double cumulative(size_t group, const struct intervals_setting *setting, double t)
{
    const struct design *design = design_of(setting);
    return group == 0 || is_null_of(setting) ? design->first_hazard * t
                                             : design->second_hazard * pow(t, design->power);
}

static double time_of_death(size_t group, const struct intervals_setting *setting,
                            double exponential)
{
    const struct design *design = design_of(setting);
    return group == 0 || is_null_of(setting)
               ? exponential / design->first_hazard
               : pow(exponential / design->second_hazard, 1 / design->power);
}

static double mean_survival(size_t group, const struct intervals_setting *setting)
{
    enum { STEPS = 4096 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        sum += exp(-cumulative(group, setting, (i + 0.5) / STEPS));
    }
    return sum / STEPS;
}

/* The time at which half are left; both groups reach it before 1 or not at all. */
static double median_of(size_t group, const struct intervals_setting *setting)
{
    return time_of_death(group, setting, log(2));
}

/* Each interval's deaths and censorings by steps of it. */
static enum status make_source(struct intervals_source *out, size_t k,
                               const struct intervals_setting *setting)
{
    const double censoring_end = design_of(setting)->censoring_end;
    const enum status status = intervals_source_init(out, GROUPS * (2 * FINE * k + 1));
    for (size_t g = 0; g < GROUPS && status == STATUS_OK; g++) {
        const size_t first = g * (2 * k + 1);
        const double share = design_of(setting)->first_share;
        const double own = g == 0 ? share : 1 - share;
        for (size_t i = 0; i < FINE * k; i++) {
            const double t = (double)i / (double)(FINE * k);
            const double next = (double)(i + 1) / (double)(FINE * k);
            const double alive = exp(-cumulative(g, setting, t));
            const double later = exp(-cumulative(g, setting, next));
            const double kept = 1 - (t + next) / 2 / censoring_end;
            intervals_source_put(out, own * (alive - later) * kept, first + i / FINE, 0);
            intervals_source_put(out, own * (alive + later) / 2 * (next - t) / censoring_end,
                                 first + k + i / FINE, 0);
        }
        intervals_source_put(out, own * exp(-cumulative(g, setting, 1)) * (1 - 1 / censoring_end),
                             first + 2 * k, 0);
    }
    return status == STATUS_OK ? intervals_source_ready(out) : status;
}

/* Behind the cells the sums of blocks of them. */
static void put_sums(double *cell, size_t k, size_t block)
{
    double *sum = cell + SURVIVAL_CELLS(GROUPS, k);
    for (size_t g = 0; g < GROUPS && block > 0; g++) {
        const double *own = cell + g * (2 * k + 1);
        for (size_t tree = 0; tree < 2; tree++) {
            const size_t end = tree == 0 ? k : 2 * k + 1;
            for (size_t first = tree * k; first < end; first += block, sum++) {
                *sum = 0;
                for (size_t i = first; i < end && i < first + block; i++) {
                    *sum += own[i];
                }
            }
        }
    }
}

/* The curve and the width of its end's interval, without noise. */
struct exact {
    double survival[GROUPS][SURVIVAL_INTERVALS_MAX];
    double width;
};

static void follow(struct exact *out, const double *cell, size_t k)
{
    for (size_t g = 0; g < GROUPS; g++) {
        const double *own = cell + g * (2 * k + 1);
        double at_risk = own[2 * k];
        double share = 1;
        double greenwood = 0;
        for (size_t j = 0; j < 2 * k; j++) {
            at_risk += own[j];
        }
        for (size_t j = 0; j < k; j++) {
            const double y = at_risk - own[k + j] / 2;
            share *= 1 - own[j] / y;
            greenwood += own[j] / (y * (y - own[j]));
            at_risk -= own[j] + own[k + j];
            out->survival[g][j] = share;
        }
        if (g == 0) {
            const double reach = ESTIMATE_Z * sqrt(greenwood);
            out->width = fmin(share * exp(reach), 1) - share * exp(-reach);
        }
    }
}

static bool holds(const struct estimate *estimate, double truth)
{
    return estimate->low <= truth && truth <= estimate->high;
}

/* at: (k) of the points, over all runs and both groups */
static void judge_curve(struct found *out, struct intervals_rate *at,
                        const struct survival_curve *curve, const double *exact, size_t group,
                        const struct intervals_setting *setting)
{
    bool band = true;
    for (size_t j = 0; j < out->intervals; j++) {
        const struct survival_point *point = &curve->point[j];
        const double truth = exp(-cumulative(group, setting, point->time));
        const bool is_shown = !isnan(point->survival.value);
        intervals_count(&out->shown, is_shown);
        if (is_shown) {
            intervals_count(&out->point, holds(&point->survival, truth));
            intervals_count(&at[j], holds(&point->survival, truth));
            band = band && point->band_low <= truth && truth <= point->band_high;
            intervals_count(&out->noise,
                            point->noise_low <= exact[j] && exact[j] <= point->noise_high);
        }
    }
    if (curve->shown > 0) {
        intervals_count(&out->band, band);
    }
    if (!isnan(curve->mean.value)) {
        intervals_count(&out->mean, holds(&curve->mean, mean_survival(group, setting)));
    }
    if (curve->shown > 0) {
        const double median = median_of(group, setting);
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

static enum status run_one(struct found *out, struct intervals_rate *at,
                           const struct intervals_source *source,
                           const struct intervals_noise *noise,
                           const struct intervals_setting *setting, struct seeded_random *seeded)
{
    const size_t k = out->intervals;
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    const double told_variance = setting->planted * setting->planted * noise->variance;
    const struct random random = seeded_random_interface(seeded);
    static double exact_cell[SURVIVAL_CELLS_MAX];
    static double cell[SURVIVAL_RELEASED_MAX];
    struct exact exact;
    static struct survival told;

    memset(exact_cell, 0, sizeof exact_cell);
    intervals_source_draw(exact_cell, source, INTERVALS_SITES * setting->site_records, seeded);
    memcpy(cell, exact_cell, sizeof exact_cell);
    put_sums(cell, k, out->block);
    const struct survival_cells released = {cell, GROUPS, k, 1, told_variance, out->block};
    enum status status =
        intervals_noise_add(cell, survival_released(GROUPS, k, out->block), noise, &random);
    survival_balance(cell, &released, records);
    follow(&exact, exact_cell, k);
    survival_estimate(&told, &released);
    for (size_t g = 0; g < GROUPS; g++) {
        judge_curve(out, at, &told.curve[g], exact.survival[g], g, setting);
    }
    if (!isnan(told.mean_difference[1].value)) {
        const double truth = mean_survival(1, setting) - mean_survival(0, setting);
        intervals_count(&out->difference, holds(&told.mean_difference[1], truth));
    }
    if (!isnan(told.median_difference[1].value)) {
        const struct estimate *between = &told.median_difference[1];
        const double truth = median_of(1, setting) - median_of(0, setting);
        intervals_count(&out->medians, !(truth < between->low) && !(truth > between->high));
    }
    if (!isnan(told.log_rank_p)) {
        intervals_count(&out->rejected, told.log_rank_p < 0.05);
    }
    intervals_add_width(&out->width, width_at_end(&told, k), exact.width);
    return status;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    struct survival_public known = {.records = (double)(INTERVALS_SITES * setting->site_records),
                                    .groups = GROUPS};
    struct intervals_rate at[SURVIVAL_INTERVALS_MAX] = {{0}};
    double truth[SURVIVAL_CELLS_MAX] = {0};
    struct intervals_source source = {.atom = NULL};
    struct seeded_random seeded;
    struct intervals_noise noise;
    static struct survival by_truth;

    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);
    known.variance = noise.variance;
    const struct survival_release release = survival_plan(&known, setting->is_gaussian);
    *out =
        (struct found){.intervals = release.intervals, .block = release.block, .worst_point = NAN};
    if (status == STATUS_OK && release.block > 0) {
        /* A cell and a sum, and others. */
        intervals_noise_free(&noise);
        status = intervals_noise_init(&noise, setting, &(struct intervals_moves){4, 2});
        known.variance = noise.variance;
    }
    seeded_random_init(&seeded, setting->seed);
    if (status == STATUS_OK) {
        status = make_source(&source, out->intervals, setting);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, at, &source, &noise, setting, &seeded);
    }
    if (status == STATUS_OK) {
        intervals_source_expect(truth, &source, known.records);
        survival_estimate(&by_truth, &(struct survival_cells){
                                         truth, GROUPS, out->intervals, 1,
                                         setting->planted < 1 ? 0 : known.variance, out->block});
        out->width.by_true = width_at_end(&by_truth, out->intervals);
    }
    intervals_source_free(&source);
    intervals_noise_free(&noise);
    for (size_t j = 0; j < out->intervals; j++) {
        if (10 * at[j].all >= 9 * GROUPS * setting->runs) {
            out->worst_point =
                fmin(intervals_share(&at[j]), isnan(out->worst_point) ? 1 : out->worst_point);
        }
    }
    return status;
}

/* Medians are told and not judged: their intervals end at steps, and hold often enough with half of the noise, too. */
enum { POINT, BAND, MEAN, DIFFERENCE, NOISE, REJECTED, WIDTH };

static const struct intervals_claim claims[] = {
    [POINT] = {"survival: pointwise intervals of a curve that hold the truth, the worst of all "
               "settings",
               INTERVALS_HOLD},
    [BAND] = {"survival: bands that hold the whole curve, where it is shown", INTERVALS_HOLD},
    [MEAN] = {"survival: intervals of the restricted mean", INTERVALS_HOLD},
    [DIFFERENCE] = {"survival: intervals of the difference of two restricted means",
                    INTERVALS_HOLD},
    [NOISE] = {"survival: intervals of the noise alone that hold the curve without noise",
               INTERVALS_HOLD},
    [REJECTED] = {"survival: log-rank tests that reject a true null", INTERVALS_REJECT},
    [WIDTH] = {"survival: widths over those that the true cells give", INTERVALS_WIDTH},
};

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    char(*text)[INTERVALS_TEXT] = told->text;
    char name[INTERVALS_TEXT];
    intervals_setting_name(name, "", setting);
    (void)snprintf(text[0], INTERVALS_TEXT, "%.60s%s%s", name, design_of(setting)->name,
                   is_null_of(setting) ? ", null" : "");
    (void)snprintf(text[1], INTERVALS_TEXT, "%zu", found->intervals);
    if (found->block > 0) {
        (void)snprintf(text[1], INTERVALS_TEXT, "%zu, blocks of %zu", found->intervals,
                       found->block);
    }
    (void)snprintf(text[2], INTERVALS_TEXT, "%.2f", intervals_share(&found->shown));
    (void)snprintf(text[3], INTERVALS_TEXT, "%.3f, %.3f", intervals_share(&found->point),
                   found->worst_point);
    (void)snprintf(text[4], INTERVALS_TEXT, "%.3f", intervals_share(&found->band));
    (void)snprintf(text[5], INTERVALS_TEXT, "%.3f of %.2f, %.3f; medians %.3f, %.3f",
                   intervals_share(&found->mean),
                   (double)found->mean.all / (double)(GROUPS * setting->runs),
                   intervals_share(&found->difference), intervals_share(&found->median),
                   intervals_share(&found->medians));
    (void)snprintf(text[6], INTERVALS_TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / (double)setting->runs);
    (void)snprintf(text[7], INTERVALS_TEXT, "%.2f, %.2f", intervals_over_exact(&found->width),
                   intervals_over_true(&found->width));
}

static enum status run(struct intervals_told *told, struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    const size_t curves = GROUPS * setting->runs;
    intervals_take(told, POINT, &found.point, curves * found.intervals);
    intervals_take(told, BAND, &found.band, curves);
    intervals_take(told, MEAN, &found.mean, curves);
    intervals_take(told, DIFFERENCE, &found.difference, setting->runs);
    intervals_take(told, NOISE, &found.noise, curves * found.intervals);
    intervals_take_width(told, WIDTH, &found.width, setting->runs);
    if (is_null_of(setting)) {
        intervals_take(told, REJECTED, &found.rejected, setting->runs);
    }
    tell(told, &found, setting);
    return status;
}

const struct intervals_kind intervals_survival = {
    .name = "survival",
    .variants = 2 * DESIGNS,
    .runs_times = 1,
    .planted = 0.5,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};
