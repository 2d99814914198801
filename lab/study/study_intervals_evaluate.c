/* A score of two groups, 70 and 30 % of the records, of whom a fifth have the event. The score is normal, and higher where the
 * event is: by one standard deviation in the first group (AUC about 0.76), by a half in the second (0.64). It is rounded to
 * levels, and these are what is true: of each the probability follows from the normal distribution.
 *
 * The other design has 45 and 55 %, an event that a third have, and scores that spread more about a lower centre. It confirms:
 * what is shown of a net benefit was mended on the first. */

#include "estimate/cells.h"
#include "estimate/evaluate.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

/* Figures of a group: calibration in each eighth, and net benefit from each on but the first. */
enum figure {
    AUC,
    ACCURACY,
    SENSITIVITY,
    LARGE, /* calibration in the large */
    BAND,
    BENEFIT = BAND + EVALUATE_BANDS - 1, /* its own first is at BENEFIT + 1 */
    FIGURES = BENEFIT + EVALUATE_BANDS
};

struct found {
    size_t levels; /* that were planned */
    struct intervals_rate figure[FIGURES];
    struct intervals_width width[FIGURES]; /* of the first group */
};

enum { GROUPS = 2, CELLS_MAX = GROUPS * (TABLE1_LEVELS_MAX + 1) + 1 };

enum { DESIGNS = 2 };

static const struct design {
    double first_share;
    double event_share;
    double spread;
    double centre; /* without the event */
} designs[DESIGNS] = {{0.7, 0.2, 0.15, 0.35}, {0.45, 0.33, 0.2, 0.25}};

static double centre(const struct design *design, size_t group, bool event)
{
    return design->centre + (event ? (group == 0 ? design->spread : design->spread / 2) : 0);
}

/* group: GROUPS for both together */
static double share_of_first(const struct design *design, size_t group)
{
    return group == 1 ? 0 : group == 0 ? 1 : design->first_share;
}

static double share_of_event(const struct design *design, bool event)
{
    return event ? design->event_share : 1 - design->event_share;
}

/* For a record of the group and class to be in a level: what lies beyond the range is in its last. */
static double chance(const struct design *design, size_t group, bool event, size_t level,
                     size_t levels)
{
    const double low = level == 0 ? -INFINITY : (double)level / (double)levels;
    const double high = level + 1 == levels ? INFINITY : (double)(level + 1) / (double)levels;
    const double c = centre(design, group, event);
    const double wide = design->spread * sqrt(2);
    return (erfc((low - c) / wide) - erfc((high - c) / wide)) / 2;
}

static double odds_of(size_t band)
{
    return (double)band / (double)(EVALUATE_BANDS - band);
}

/* For a score that is clamped to 0 .. 1. */
static double mean_score(const struct design *design, size_t group, bool event)
{
    enum { FINE = 4000 };
    double sum = 0;
    for (size_t i = 0; i < FINE; i++) { /* P(score > t), added up */
        const double t = ((double)i + 0.5) / FINE;
        sum += erfc((t - centre(design, group, event)) / design->spread / sqrt(2)) / 2 / FINE;
    }
    return sum;
}

/* group: GROUPS for both together */
static void set_truth(double out[FIGURES], const struct design *design, size_t group, size_t levels,
                      size_t cut)
{
    const double first = share_of_first(design, group);
    const double with = design->event_share;
    double cell[2][EVALUATE_LEVELS_MAX];
    double below = 0;
    double all = 0;
    memset(out, 0, FIGURES * sizeof *out);
    for (size_t k = 0; k < levels; k++) {
        for (int event = 0; event < 2; event++) {
            cell[event][k] = share_of_event(design, event == 1) *
                             (first * chance(design, 0, event == 1, k, levels) +
                              (1 - first) * chance(design, 1, event == 1, k, levels));
        }
    }
    for (size_t k = 0; k < levels; k++) {
        out[AUC] += cell[1][k] * (below + cell[0][k] / 2) / (with * (1 - with));
        below += cell[0][k];
        out[ACCURACY] += k < cut ? cell[0][k] : cell[1][k];
        out[SENSITIVITY] += k < cut ? 0 : cell[1][k] / with;
    }
    for (size_t band = 0; band < EVALUATE_BANDS; band++) {
        const size_t wide = levels / EVALUATE_BANDS;
        all = 0;
        for (size_t k = band * wide; k < (band + 1) * wide; k++) {
            out[BAND + band] += cell[1][k];
            all += cell[0][k] + cell[1][k];
        }
        out[BAND + band] /= all;
        for (size_t k = band * wide; k < levels && band > 0; k++) {
            out[BENEFIT + band] += cell[1][k] - odds_of(band) * cell[0][k];
        }
    }
    out[LARGE] = with;
    for (int event = 0; event < 2; event++) {
        out[LARGE] -=
            share_of_event(design, event == 1) * (first * mean_score(design, 0, event == 1) +
                                                  (1 - first) * mean_score(design, 1, event == 1));
    }
}

static enum status make_source(struct intervals_source *out, const struct design *design,
                               size_t levels)
{
    intervals_source_init(out, CELLS_MAX);
    for (size_t i = 0; i < GROUPS * 2 * levels; i++) {
        const size_t group = i / (2 * levels);
        const bool event = i / levels % 2 == 1;
        const double share = (group == 0 ? design->first_share : 1 - design->first_share) *
                             share_of_event(design, event);
        intervals_source_put(out, share * chance(design, group, event, i % levels, levels),
                             i + group, 0);
    }
    return intervals_source_ready(out);
}

static void estimate(struct estimate out[FIGURES], const struct table1_column *column,
                     const double *edge, size_t levels)
{
    const size_t wide = levels / EVALUATE_BANDS;
    const struct evaluate_cut cut = evaluate_cut(column, levels / 2);
    out[AUC] = evaluate_auc(column).estimate;
    out[ACCURACY] = cut.accuracy.estimate;
    out[SENSITIVITY] = cut.sensitivity.estimate;
    out[LARGE] = evaluate_in_the_large(column, edge).estimate;
    for (size_t band = 0; band < EVALUATE_BANDS; band++) {
        out[BAND + band] = evaluate_band(column, band).estimate;
        if (band > 0) {
            out[BENEFIT + band] =
                evaluate_net_benefit(column, band * wide, (double)band / EVALUATE_BANDS).estimate;
        }
    }
}

/* A study's figures of a group, GROUPS: of all; without: of the same records, NULL where no widths are asked */
static void judge(struct found *out, const struct table1_column *column, const double *truth,
                  const double *edge, const struct table1_column *without)
{
    struct estimate own[FIGURES];
    struct estimate clean[FIGURES];
    estimate(own, column, edge, out->levels);
    if (without != NULL) {
        estimate(clean, without, edge, out->levels);
    }
    for (size_t i = 0; i < FIGURES; i++) {
        intervals_judge(&out->figure[i], &own[i], truth[i]);
        if (without != NULL) {
            intervals_add_width(&out->width[i], intervals_width_of(&own[i]),
                                intervals_width_of(&clean[i]));
        }
    }
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const struct design *design = &designs[setting->variant];
    struct intervals_studies studies;
    enum status status = intervals_studies_init(&studies, setting, &intervals_two_cells);
    const double records = (double)studies.records;
    const struct table1_public known = {records, GROUPS, studies.noise.variance};
    const size_t levels = evaluate_plan(&known);
    double edge[EVALUATE_LEVELS_MAX + 1];
    const size_t cells = GROUPS * (2 * levels + 1) + 1;
    double exact[CELLS_MAX];
    struct table1_sizes sizes;
    struct table1_column without;
    double truth[GROUPS + 1][FIGURES];
    struct estimate by_true[FIGURES];

    *out = (struct found){.levels = levels};
    for (size_t g = 0; g <= GROUPS; g++) {
        set_truth(truth[g], design, g, levels, levels / 2);
    }
    for (size_t k = 0; k <= levels; k++) {
        edge[k] = (double)k / (double)levels;
    }
    if (status == STATUS_OK) {
        status = make_source(&studies.source, design, levels);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double cell[CELLS_MAX];
        struct table1_column column;
        status = intervals_studies_draw(cell, exact, cells, &studies);
        const struct table1_block block = {cell, 2 * levels, NULL, studies.told};
        const struct table1_block clean = {exact, 2 * levels, NULL, 0};
        table1_agree(&sizes, &clean, 1, GROUPS, records);
        table1_column_of(&without, &clean, &sizes, 0);
        table1_agree(&sizes, &block, 1, GROUPS, records);
        for (size_t g = 0; g <= GROUPS; g++) {
            table1_column_of(&column, &block, &sizes, g);
            judge(out, &column, truth[g], edge, g == 0 ? &without : NULL);
        }
    }
    if (status == STATUS_OK) {
        const struct table1_block expected = {exact, 2 * levels, NULL, studies.told_truth};
        intervals_studies_expect(exact, cells, &studies);
        table1_agree(&sizes, &expected, 1, GROUPS, records);
        table1_column_of(&without, &expected, &sizes, 0);
        estimate(by_true, &without, edge, levels);
        for (size_t i = 0; i < FIGURES; i++) {
            out->width[i].by_true = intervals_width_of(&by_true[i]);
        }
    }
    intervals_studies_free(&studies);
    return status;
}

enum { OF_AUC, OF_CUT, OF_BAND, OF_LARGE, OF_BENEFIT, WIDTH };

static const struct intervals_claim claims[] = {
    [OF_AUC] = {"scores: intervals of the AUC, the worst of all settings", INTERVALS_HOLD},
    [OF_CUT] = {"scores: intervals of accuracy and sensitivity at a cut", INTERVALS_HOLD},
    [OF_BAND] = {"scores: intervals of the calibration", INTERVALS_HOLD},
    [OF_LARGE] = {"scores: intervals of the calibration in the large", INTERVALS_HOLD},
    [OF_BENEFIT] = {"scores: intervals of the net benefit, the worst threshold", INTERVALS_HOLD},
    [WIDTH] = {"scores: widths of the AUC over those that the true cells give", INTERVALS_WIDTH},
};

static struct intervals_rate sum_of(const struct intervals_rate *rate, size_t count)
{
    struct intervals_rate sum = {0, 0};
    for (size_t i = 0; i < count; i++) {
        sum.yes += rate[i].yes;
        sum.all += rate[i].all;
    }
    return sum;
}

/* The worst share of intervals that hold, over cuts where at least a tenth of the answers are
 * shown. */
static double worst_benefit(const struct found *found, double asked)
{
    double worst = 1;
    for (size_t band = 1; band < EVALUATE_BANDS; band++) {
        const struct intervals_rate *rate = &found->figure[BENEFIT + band];
        worst = (double)rate->all >= asked / 10 ? fmin(worst, intervals_share(rate)) : worst;
    }
    return worst;
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const size_t asked = (GROUPS + 1) * setting->runs;
    const enum status status = simulate(&found, setting);
    const struct intervals_rate cut = sum_of(&found.figure[ACCURACY], 2);
    const struct intervals_rate band = sum_of(&found.figure[BAND], EVALUATE_BANDS);
    const struct intervals_width cuts = intervals_together(&found.width[ACCURACY], 2);
    const struct intervals_width bands = intervals_together(&found.width[BAND], EVALUATE_BANDS);
    intervals_take(told, OF_AUC, &found.figure[AUC], asked, &found.width[AUC]);
    intervals_take(told, OF_CUT, &cut, 2 * asked, &cuts);
    intervals_take(told, OF_BAND, &band, EVALUATE_BANDS * asked, &bands);
    intervals_take(told, OF_LARGE, &found.figure[LARGE], asked, &found.width[LARGE]);
    intervals_take_width(told, WIDTH, &found.width[AUC], setting->runs);
    for (size_t i = BENEFIT + 1; i < FIGURES; i++) {
        intervals_take(told, OF_BENEFIT, &found.figure[i], asked, &found.width[i]);
    }
    intervals_tell_setting(told, setting->variant == 0 ? "score, " : "other score, ");
    intervals_tell(told, 1, "%zu levels", found.levels);
    intervals_tell_shown(told, 2, "AUC ", &found.figure[AUC], asked);
    intervals_tell_shown(told, 2, ", band ", &band, EVALUATE_BANDS * asked);
    intervals_tell_share(told, 3, "AUC ", &found.figure[AUC]);
    intervals_tell_share(told, 4, "at a cut ", &cut);
    intervals_tell_share(told, 5, "calibration ", &band);
    intervals_tell_share(told, 6, "in the large ", &found.figure[LARGE]);
    intervals_tell(told, 6, ", worst net benefit %.3f", worst_benefit(&found, (double)asked));
    intervals_tell_width(told, "AUC ", &found.width[AUC]);
    return status;
}

INTERVALS_KIND(evaluate, .variants = DESIGNS, .runs_times = 2, .planted = 0.25);
