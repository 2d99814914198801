/* How often the intervals of survival hold, of two groups and of more: their records are study_intervals_survival_world.c's. */

#include "lab/study/study_intervals_survival.h"
#include "estimate/cells.h"

#include <math.h>

enum { CLEAN_EACH = 10 };

/* Whose widths are compared: of the first curve's band at its end, of its mean, and of the second one's difference to it. */
enum { OF_BAND, OF_MEAN, OF_DIFFERENCE, WIDTHS };

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
    struct intervals_rate medians;        /* differences of two */
    struct intervals_rate rejected;       /* log-rank tests below 5 % */
    struct intervals_width width;         /* at the end */
    struct intervals_width other[WIDTHS]; /* without noise: of each tenth study */
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
        intervals_judge(&out->point, &point->survival, truth);
        intervals_judge(&at[j], &point->survival, truth);
        if (is_shown) {
            band = band && point->band_low <= truth && truth <= point->band_high;
            intervals_count(&out->noise,
                            point->noise_low <= exact[j] && exact[j] <= point->noise_high);
        }
    }
    if (curve->shown > 0) {
        intervals_count(&out->band, band);
    }
    intervals_judge(&out->mean, &curve->mean, world_mean(group, setting));
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
    return intervals_width_of(&survival->curve[0].point[k - 1].survival);
}

static void set_widths(double width[WIDTHS], const struct survival *survival, size_t k)
{
    const struct survival_point *end = &survival->curve[0].point[k - 1];
    width[OF_BAND] = end->band_high - end->band_low;
    width[OF_MEAN] = intervals_width_of(&survival->curve[0].mean);
    width[OF_DIFFERENCE] = intervals_width_of(&survival->mean_difference[1]);
}

static void compare_widths(struct found *out, const struct survival *told, const double *exact,
                           const struct world_lives *lives)
{
    static struct survival without;
    struct survival_cells cells = world_cells(lives, exact, 0);
    double own[WIDTHS];
    double clean[WIDTHS];
    cells.block = 0; /* cells alone, without the sums after them */
    survival_estimate(&without, &cells);
    set_widths(own, told, out->intervals);
    set_widths(clean, &without, out->intervals);
    for (size_t i = 0; i < WIDTHS; i++) {
        intervals_add_width(&out->other[i], own[i], clean[i]);
    }
}

/* Of each group to the first. */
static void judge_differences(struct found *out, const struct survival *told,
                              const struct intervals_setting *setting)
{
    for (size_t g = 1; g < world_groups(setting); g++) {
        const struct estimate *means = &told->mean_difference[g];
        const struct estimate *medians = &told->median_difference[g];
        intervals_judge(&out->difference, means, world_mean(g, setting) - world_mean(0, setting));
        if (!isnan(medians->value)) {
            const double truth = world_median(g, setting) - world_median(0, setting);
            intervals_count(&out->medians, !(truth < medians->low) && !(truth > medians->high));
        }
    }
}

static enum status run_one(struct found *out, struct intervals_rate *at, struct world_lives *lives,
                           const struct intervals_setting *setting, bool is_compared)
{
    static double exact_cell[SURVIVAL_CELLS_MAX];
    static double cell[SURVIVAL_RELEASED_MAX];
    struct exact exact = {.width = 0};
    static struct survival told;
    const enum status status = world_draw(cell, exact_cell, lives);
    const struct survival_cells released = world_cells(lives, cell, lives->studies.told);
    follow(&exact, exact_cell, lives->groups, out->intervals);
    survival_estimate(&told, &released);
    for (size_t g = 0; g < lives->groups; g++) {
        judge_curve(out, at, &told.curve[g], exact.survival[g], g, setting);
    }
    judge_differences(out, &told, setting);
    if (!isnan(told.log_rank_p)) {
        intervals_count(&out->rejected, told.log_rank_p < 0.05);
    }
    intervals_add_width(&out->width, width_at_end(&told, out->intervals), exact.width);
    if (is_compared) {
        compare_widths(out, &told, exact_cell, lives);
    }
    return status;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    struct intervals_rate at[SURVIVAL_INTERVALS_MAX] = {{0}};
    double truth[SURVIVAL_CELLS_MAX] = {0};
    double by_true[WIDTHS];
    struct world_lives lives;
    static struct survival by_truth;
    enum status status = world_init(&lives, setting);
    const size_t k = lives.release.intervals;
    *out = (struct found){.intervals = k, .block = lives.release.block, .worst_point = NAN};
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, at, &lives, setting, i % CLEAN_EACH == 0);
    }
    if (status == STATUS_OK) {
        const struct survival_cells cells = world_cells(&lives, truth, lives.studies.told_truth);
        intervals_studies_expect(truth, SURVIVAL_CELLS(lives.groups, k), &lives.studies);
        survival_estimate(&by_truth, &cells);
        out->width.by_true = width_at_end(&by_truth, k);
        set_widths(by_true, &by_truth, k);
        for (size_t i = 0; i < WIDTHS; i++) {
            out->other[i].by_true = by_true[i];
        }
    }
    intervals_studies_free(&lives.studies);
    for (size_t j = 0; j < k; j++) {
        if (10 * at[j].all >= 9 * lives.groups * setting->runs) {
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
    intervals_tell_setting(told, "");
    intervals_tell(told, 0, "%s%s", world_name(setting), world_is_null(setting) ? ", null" : "");
    intervals_tell(told, 1, "%zu", found->intervals);
    if (found->block > 0) {
        intervals_tell(told, 1, ", blocks of %zu", found->block);
    }
    intervals_tell(told, 2, "%.2f", intervals_share(&found->shown));
    intervals_tell_share(told, 3, "", &found->point);
    intervals_tell(told, 3, ", %.3f", found->worst_point);
    intervals_tell_share(told, 4, "", &found->band);
    intervals_tell_share(told, 5, "", &found->mean);
    intervals_tell_shown(told, 5, " of ", &found->mean, world_groups(setting) * setting->runs);
    intervals_tell_share(told, 5, ", ", &found->difference);
    intervals_tell_share(told, 5, "; medians ", &found->median);
    intervals_tell_share(told, 5, ", ", &found->medians);
    intervals_tell_tests(told, &found->rejected);
    intervals_tell_width(told, "", &found->width);
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    const size_t curves = world_groups(setting) * setting->runs;
    intervals_take(told, POINT, &found.point, curves * found.intervals, &found.width);
    intervals_take(told, BAND, &found.band, curves, &found.other[OF_BAND]);
    intervals_take(told, MEAN, &found.mean, curves, &found.other[OF_MEAN]);
    intervals_take(told, DIFFERENCE, &found.difference, curves - setting->runs,
                   &found.other[OF_DIFFERENCE]);
    intervals_take(told, NOISE, &found.noise, curves * found.intervals, NULL);
    intervals_take_width(told, WIDTH, &found.width, setting->runs);
    if (world_is_null(setting)) {
        intervals_take(told, REJECTED, &found.rejected, setting->runs, NULL);
    }
    tell(told, &found, setting);
    return status;
}

/* For more than two groups. They take long: a short run has what noise each site has at one epsilon. */
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

INTERVALS_KIND(survival, .variants = WORLD_VARIANTS_OF_TWO, .runs_times = 1, .planted = 0.5);

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
