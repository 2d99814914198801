/* How often the intervals of survival hold, of two groups and of more: their records are study_intervals_survival_world.c's. */

#include "lab/study/study_intervals_survival.h"
#include "estimate/cells.h"

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

/* The curve and the width of its end's interval, without noise. */
struct exact {
    double survival[SURVIVAL_GROUPS_MAX][SURVIVAL_INTERVALS_MAX];
    double width;
};

static void follow(struct exact *out, const double *cell, size_t groups, size_t k)
{
    for (size_t g = 0; g < groups; g++) {
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
        const double truth = exp(-world_cumulative(group, setting, point->time));
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
        intervals_count(&out->mean, holds(&curve->mean, world_mean(group, setting)));
    }
    if (curve->shown > 0) {
        const double median = world_median(group, setting);
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

/* Of each group to the first. */
static void judge_differences(struct found *out, const struct survival *told,
                              const struct intervals_setting *setting)
{
    for (size_t g = 1; g < world_groups(setting); g++) {
        const struct estimate *means = &told->mean_difference[g];
        const struct estimate *medians = &told->median_difference[g];
        if (!isnan(means->value)) {
            const double truth = world_mean(g, setting) - world_mean(0, setting);
            intervals_count(&out->difference, holds(means, truth));
        }
        if (!isnan(medians->value)) {
            const double truth = world_median(g, setting) - world_median(0, setting);
            intervals_count(&out->medians, !(truth < medians->low) && !(truth > medians->high));
        }
    }
}

static enum status run_one(struct found *out, struct intervals_rate *at,
                           const struct intervals_source *source,
                           const struct intervals_noise *noise,
                           const struct intervals_setting *setting, struct seeded_random *seeded)
{
    const size_t k = out->intervals;
    const size_t groups = world_groups(setting);
    const double records = (double)intervals_records(setting);
    const double told_variance = setting->planted * setting->planted * noise->variance;
    const struct random random = seeded_random_interface(seeded);
    static double exact_cell[SURVIVAL_CELLS_MAX];
    static double cell[SURVIVAL_RELEASED_MAX];
    struct exact exact = {.width = 0};
    static struct survival told;

    memset(exact_cell, 0, sizeof exact_cell);
    intervals_source_draw(exact_cell, source, intervals_records(setting), seeded);
    memcpy(cell, exact_cell, sizeof exact_cell);
    world_put_sums(cell, groups, k, out->block);
    const struct survival_cells released = {cell, groups, k, 1, told_variance, out->block};
    enum status status =
        intervals_noise_add(cell, survival_released(groups, k, out->block), noise, &random);
    survival_balance(cell, &released, records);
    follow(&exact, exact_cell, groups, k);
    survival_estimate(&told, &released);
    for (size_t g = 0; g < groups; g++) {
        judge_curve(out, at, &told.curve[g], exact.survival[g], g, setting);
    }
    judge_differences(out, &told, setting);
    if (!isnan(told.log_rank_p)) {
        intervals_count(&out->rejected, told.log_rank_p < 0.05);
    }
    intervals_add_width(&out->width, width_at_end(&told, k), exact.width);
    return status;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const size_t groups = world_groups(setting);
    struct intervals_rate at[SURVIVAL_INTERVALS_MAX] = {{0}};
    double truth[SURVIVAL_CELLS_MAX] = {0};
    struct intervals_source source = {.atom = NULL};
    struct seeded_random seeded;
    struct intervals_noise noise;
    static struct survival by_truth;

    struct survival_public known;
    struct survival_release release;
    enum status status = world_plan(&known, &release, &noise, setting);
    *out =
        (struct found){.intervals = release.intervals, .block = release.block, .worst_point = NAN};
    seeded_random_init(&seeded, setting->seed);
    if (status == STATUS_OK) {
        status = world_source(&source, out->intervals, setting);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, at, &source, &noise, setting, &seeded);
    }
    if (status == STATUS_OK) {
        intervals_source_expect(truth, &source, known.records);
        survival_estimate(&by_truth, &(struct survival_cells){
                                         truth, groups, out->intervals, 1,
                                         setting->planted < 1 ? 0 : known.variance, out->block});
        out->width.by_true = width_at_end(&by_truth, out->intervals);
    }
    intervals_source_free(&source);
    intervals_noise_free(&noise);
    for (size_t j = 0; j < out->intervals; j++) {
        if (10 * at[j].all >= 9 * groups * setting->runs) {
            out->worst_point =
                fmin(intervals_share(&at[j]), isnan(out->worst_point) ? 1 : out->worst_point);
        }
    }
    return status;
}

/* Medians are told and not judged: their intervals end at steps, and hold often enough with half of the noise, too. */
enum { POINT, BAND, MEAN, DIFFERENCE, NOISE, REJECTED, WIDTH };

#define CLAIMS_OF(name)                                                                            \
    {                                                                                              \
        [POINT] = {name ": pointwise intervals of a curve that hold the truth, the worst of all "  \
                        "settings",                                                                \
                   INTERVALS_HOLD},                                                                \
        [BAND] = {name ": bands that hold the whole curve, where it is shown", INTERVALS_HOLD},    \
        [MEAN] = {name ": intervals of the restricted mean", INTERVALS_HOLD},                      \
        [DIFFERENCE] = {name ": intervals of the difference of two restricted means",              \
                        INTERVALS_HOLD},                                                           \
        [NOISE] = {name ": intervals of the noise alone that hold the curve without noise",        \
                   INTERVALS_HOLD},                                                                \
        [REJECTED] = {name ": log-rank tests that reject a true null", INTERVALS_REJECT},          \
        [WIDTH] = {                                                                                \
            name ": widths over those that the true cells give",                                   \
            INTERVALS_WIDTH                                                                        \
        }                                                                                          \
    }

static const struct intervals_claim claims[] = CLAIMS_OF("survival");
static const struct intervals_claim claims_of_groups[] = CLAIMS_OF("survival of groups");

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    char(*text)[INTERVALS_TEXT] = told->text;
    char name[INTERVALS_TEXT];
    intervals_setting_name(name, "", setting);
    (void)snprintf(text[0], INTERVALS_TEXT, "%.60s%s%s", name, world_name(setting),
                   world_is_null(setting) ? ", null" : "");
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
                   (double)found->mean.all / (double)(world_groups(setting) * setting->runs),
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
    const size_t curves = world_groups(setting) * setting->runs;
    intervals_take(told, POINT, &found.point, curves * found.intervals);
    intervals_take(told, BAND, &found.band, curves);
    intervals_take(told, MEAN, &found.mean, curves);
    intervals_take(told, DIFFERENCE, &found.difference, curves - setting->runs);
    intervals_take(told, NOISE, &found.noise, curves * found.intervals);
    intervals_take_width(told, WIDTH, &found.width, setting->runs);
    if (world_is_null(setting)) {
        intervals_take(told, REJECTED, &found.rejected, setting->runs);
    }
    tell(told, &found, setting);
    return status;
}

/* Of more than two groups. They take long: a short run has what noise each site has at one epsilon. */
static bool groups_at(struct intervals_setting *out, const struct study_request *request,
                      size_t *at)
{
    for (; intervals_setting_at(out, request, *at / WORLD_VARIANTS_OF_GROUPS); (*at)++) {
        const bool is_local = out->draws > 1 && out->shares == 0;
        if (request->rounds == 0 || (is_local && out->epsilon > 0.5 && out->epsilon < 2)) {
            out->variant = WORLD_VARIANTS_OF_TWO + *at % WORLD_VARIANTS_OF_GROUPS;
            return true;
        }
    }
    return false;
}

const struct intervals_kind intervals_survival = {
    .name = "survival",
    .variants = WORLD_VARIANTS_OF_TWO,
    .runs_times = 1,
    .planted = 0.5,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};

const struct intervals_kind intervals_groups = {
    .name = "groups",
    .variants = WORLD_VARIANTS_OF_GROUPS,
    .runs_times = 1,
    .planted = 0.5,
    .at = groups_at,
    .run = run,
    .claim = claims_of_groups,
    .claim_count = sizeof claims_of_groups / sizeof claims_of_groups[0],
};
