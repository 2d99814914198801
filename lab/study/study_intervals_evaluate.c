/* A score of two groups, 70 and 30 % of the records, of whom a fifth have the event. The score is normal, and higher where the
 * event is: by one standard deviation in the first group (AUC about 0.76), by a half in the second (0.64). It is rounded to
 * levels, and these are what is true: of each the probability follows from the normal distribution.
 *
 * The other design has 45 and 55 %, an event that a third have, and scores that spread more about a lower centre. It confirms: what is
 * shown of a net benefit was mended on the first. */

#include "estimate/cells.h"
#include "estimate/evaluate.h"
#include "lab/study/study_intervals.h"

#include <math.h>

struct found {
    size_t levels; /* that were planned */
    struct intervals_rate auc;
    struct intervals_rate cut;   /* accuracy and sensitivity */
    struct intervals_rate band;  /* calibration */
    struct intervals_rate large; /* calibration in the large */
    struct intervals_rate
        benefit[EVALUATE_BANDS];  /* net benefit from each eighth on but the first */
    struct intervals_width width; /* of the first group's AUC */
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

/* Of a record of the group and class to be in a level: what lies beyond the range is in its last. */
static double chance(const struct design *design, size_t group, bool event, size_t level,
                     size_t levels)
{
    const double low = level == 0 ? -INFINITY : (double)level / (double)levels;
    const double high = level + 1 == levels ? INFINITY : (double)(level + 1) / (double)levels;
    const double c = centre(design, group, event);
    const double wide = design->spread * sqrt(2);
    return (erfc((low - c) / wide) - erfc((high - c) / wide)) / 2;
}

struct truth {
    double auc;
    double accuracy;
    double sensitivity;
    double band[EVALUATE_BANDS];
    double benefit[EVALUATE_BANDS]; /* from each band on */
    double large;                   /* the share with the event less the mean score */
};

static double odds_of(size_t band)
{
    return (double)band / (double)(EVALUATE_BANDS - band);
}

/* Of a score that is clamped to 0 .. 1. */
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
static struct truth truth_of(const struct design *design, size_t group, size_t levels, size_t cut)
{
    struct truth out = {.auc = 0};
    const double first = share_of_first(design, group);
    const double with = design->event_share;
    double cell[2][EVALUATE_LEVELS_MAX];
    double below = 0;
    double all = 0;
    for (size_t k = 0; k < levels; k++) {
        for (int event = 0; event < 2; event++) {
            cell[event][k] = share_of_event(design, event == 1) *
                             (first * chance(design, 0, event == 1, k, levels) +
                              (1 - first) * chance(design, 1, event == 1, k, levels));
        }
    }
    for (size_t k = 0; k < levels; k++) {
        out.auc += cell[1][k] * (below + cell[0][k] / 2) / (with * (1 - with));
        below += cell[0][k];
        out.accuracy += k < cut ? cell[0][k] : cell[1][k];
        out.sensitivity += k < cut ? 0 : cell[1][k] / with;
    }
    for (size_t band = 0; band < EVALUATE_BANDS; band++) {
        const size_t wide = levels / EVALUATE_BANDS;
        all = 0;
        for (size_t k = band * wide; k < (band + 1) * wide; k++) {
            out.band[band] += cell[1][k];
            all += cell[0][k] + cell[1][k];
        }
        out.band[band] /= all;
        for (size_t k = band * wide; k < levels; k++) {
            out.benefit[band] += cell[1][k] - odds_of(band) * cell[0][k];
        }
    }
    out.large = with;
    for (int event = 0; event < 2; event++) {
        out.large -=
            share_of_event(design, event == 1) * (first * mean_score(design, 0, event == 1) +
                                                  (1 - first) * mean_score(design, 1, event == 1));
    }
    return out;
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

static double width_of_auc(const struct table1_column *column)
{
    const struct table1_figure auc = evaluate_auc(column);
    return intervals_width_of(&auc.estimate);
}

/* A study's figures of a group, GROUPS: of all. */
static void judge(struct found *out, const struct table1_column *column, const struct truth *truth,
                  const double *edge)
{
    const size_t wide = out->levels / EVALUATE_BANDS;
    const struct table1_figure auc = evaluate_auc(column);
    const struct evaluate_cut of_cut = evaluate_cut(column, out->levels / 2);
    const struct table1_figure large = evaluate_in_the_large(column, edge);
    intervals_judge(&out->large, &large.estimate, truth->large);
    intervals_judge(&out->auc, &auc.estimate, truth->auc);
    intervals_judge(&out->cut, &of_cut.accuracy.estimate, truth->accuracy);
    intervals_judge(&out->cut, &of_cut.sensitivity.estimate, truth->sensitivity);
    for (size_t band = 0; band < EVALUATE_BANDS; band++) {
        const struct table1_figure own = evaluate_band(column, band);
        intervals_judge(&out->band, &own.estimate, truth->band[band]);
        if (band > 0) {
            const struct table1_figure benefit =
                evaluate_net_benefit(column, band * wide, (double)band / EVALUATE_BANDS);
            intervals_judge(&out->benefit[band], &benefit.estimate, truth->benefit[band]);
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
    struct truth truth[GROUPS + 1];

    *out = (struct found){.levels = levels};
    for (size_t g = 0; g <= GROUPS; g++) {
        truth[g] = truth_of(design, g, levels, levels / 2);
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
            judge(out, &column, &truth[g], edge);
            if (g == 0) {
                intervals_add_width(&out->width, width_of_auc(&column), width_of_auc(&without));
            }
        }
    }
    if (status == STATUS_OK) {
        const struct table1_block expected = {exact, 2 * levels, NULL, studies.told_truth};
        intervals_studies_expect(exact, cells, &studies);
        table1_agree(&sizes, &expected, 1, GROUPS, records);
        table1_column_of(&without, &expected, &sizes, 0);
        out->width.by_true = width_of_auc(&without);
    }
    intervals_studies_free(&studies);
    return status;
}

enum { AUC, CUT, BAND, LARGE, BENEFIT, WIDTH };

static const struct intervals_claim claims[] = {
    [AUC] = {"scores: intervals of the AUC, the worst of all settings", INTERVALS_HOLD},
    [CUT] = {"scores: intervals of accuracy and sensitivity at a cut", INTERVALS_HOLD},
    [BAND] = {"scores: intervals of the calibration", INTERVALS_HOLD},
    [LARGE] = {"scores: intervals of the calibration in the large", INTERVALS_HOLD},
    [BENEFIT] = {"scores: intervals of the net benefit, the worst threshold", INTERVALS_HOLD},
    [WIDTH] = {"scores: widths of the AUC over those that the true cells give", INTERVALS_WIDTH},
};

/* Of a tenth of what is asked, as intervals_take. */
static double worst_benefit(const struct found *found, double asked)
{
    double worst = 1;
    for (size_t band = 1; band < EVALUATE_BANDS; band++) {
        const struct intervals_rate *rate = &found->benefit[band];
        worst = (double)rate->all >= asked / 10 ? fmin(worst, intervals_share(rate)) : worst;
    }
    return worst;
}

static void tell(struct intervals_told *told, const struct found *found, size_t asked)
{
    intervals_tell_setting(told, told->setting->variant == 0 ? "score, " : "other score, ");
    intervals_tell(told, 1, "%zu levels", found->levels);
    intervals_tell_shown(told, 2, "AUC ", &found->auc, asked);
    intervals_tell_shown(told, 2, ", band ", &found->band, EVALUATE_BANDS * asked);
    intervals_tell_share(told, 3, "AUC ", &found->auc);
    intervals_tell_share(told, 4, "at a cut ", &found->cut);
    intervals_tell_share(told, 5, "calibration ", &found->band);
    intervals_tell_share(told, 6, "in the large ", &found->large);
    intervals_tell(told, 6, ", worst net benefit %.3f", worst_benefit(found, (double)asked));
    intervals_tell_width(told, "AUC ", &found->width);
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const size_t asked = (GROUPS + 1) * setting->runs;
    const enum status status = simulate(&found, setting);
    intervals_take(told, AUC, &found.auc, asked);
    intervals_take(told, CUT, &found.cut, 2 * asked);
    intervals_take(told, BAND, &found.band, EVALUATE_BANDS * asked);
    intervals_take(told, LARGE, &found.large, asked);
    intervals_take_width(told, WIDTH, &found.width, setting->runs);
    for (size_t band = 1; band < EVALUATE_BANDS; band++) {
        intervals_take(told, BENEFIT, &found.benefit[band], asked);
    }
    tell(told, &found, asked);
    return status;
}

INTERVALS_KIND(evaluate, .variants = DESIGNS, .runs_times = 2, .planted = 0.25);
