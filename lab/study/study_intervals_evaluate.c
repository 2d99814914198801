/* A score of two groups, 70 and 30 % of the records, of whom a fifth have the event. The score is normal, and higher where the
 * event is: by one standard deviation in the first group (AUC about 0.76), by a half in the second (0.64). It is rounded to
 * levels, and these are what is true: of each the probability follows from the normal distribution. */

#include "estimate/cells.h"
#include "estimate/evaluate.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, CELLS_MAX = GROUPS * (TABLE1_LEVELS_MAX + 1) + 1 };

static const double first_share = 0.7;
static const double event_share = 0.2;
static const double spread = 0.15;
static const double centre_without = 0.35;

static double centre(size_t group, bool event)
{
    return centre_without + (event ? (group == 0 ? spread : spread / 2) : 0);
}

/* Of a record of the group and class to be in a level: what lies beyond the range is in its last. */
static double chance(size_t group, bool event, size_t level, size_t levels)
{
    const double low = level == 0 ? -INFINITY : (double)level / (double)levels;
    const double high = level + 1 == levels ? INFINITY : (double)(level + 1) / (double)levels;
    const double c = centre(group, event);
    return (erfc((low - c) / spread / sqrt(2)) - erfc((high - c) / spread / sqrt(2))) / 2;
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
static double mean_score(size_t group, bool event)
{
    enum { FINE = 4000 };
    double sum = 0;
    for (size_t i = 0; i < FINE; i++) { /* P(score > t), added up */
        const double t = ((double)i + 0.5) / FINE;
        sum += erfc((t - centre(group, event)) / spread / sqrt(2)) / 2 / FINE;
    }
    return sum;
}

/* group: GROUPS for both together */
static struct truth truth_of(size_t group, size_t levels, size_t cut)
{
    struct truth out = {.auc = 0};
    double cell[2][EVALUATE_LEVELS_MAX];
    double below = 0;
    double all = 0;
    for (size_t k = 0; k < levels; k++) {
        for (int event = 0; event < 2; event++) {
            const double first = group == 1 ? 0 : group == 0 ? 1 : first_share;
            cell[event][k] = (event == 1 ? event_share : 1 - event_share) *
                             (first * chance(0, event == 1, k, levels) +
                              (1 - first) * chance(1, event == 1, k, levels));
        }
    }
    for (size_t k = 0; k < levels; k++) {
        out.auc += cell[1][k] * (below + cell[0][k] / 2) / (event_share * (1 - event_share));
        below += cell[0][k];
        out.accuracy += k < cut ? cell[0][k] : cell[1][k];
        out.sensitivity += k < cut ? 0 : cell[1][k] / event_share;
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
    const double first = group == 1 ? 0 : group == 0 ? 1 : first_share;
    out.large = event_share;
    for (int event = 0; event < 2; event++) {
        out.large -= (event == 1 ? event_share : 1 - event_share) *
                     (first * mean_score(0, event == 1) + (1 - first) * mean_score(1, event == 1));
    }
    return out;
}

static double draw_normal(struct seeded_random *seeded)
{
    const double radius = sqrt(-2 * log(1 - seeded_random_unit(seeded)));
    return radius * cos(2 * 3.14159265358979323846 * seeded_random_unit(seeded));
}

static void draw_cells(double *cell, size_t levels, const struct intervals_setting *setting,
                       struct seeded_random *seeded)
{
    memset(cell, 0, CELLS_MAX * sizeof *cell);
    for (uint64_t i = 0; i < INTERVALS_SITES * setting->site_records; i++) {
        const size_t group = seeded_random_unit(seeded) < first_share ? 0 : 1;
        const bool event = seeded_random_unit(seeded) < event_share;
        const double score = centre(group, event) + spread * draw_normal(seeded);
        const double place = floor(score * (double)levels);
        const size_t level = (size_t)fmin(fmax(place, 0), (double)levels - 1);
        cell[group * (2 * levels + 1) + (event ? levels : 0) + level]++;
    }
}

static void judge(struct intervals_rate *rate, const struct table1_figure *figure, double truth)
{
    if (!isnan(figure->estimate.value)) {
        intervals_count(rate, figure->estimate.low <= truth && truth <= figure->estimate.high);
    }
}

enum status intervals_evaluate(struct intervals_evaluate *out,
                               const struct intervals_setting *setting)
{
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    struct intervals_noise noise;
    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);
    const struct table1_public known = {records, GROUPS, noise.variance};
    const double told = setting->planted * setting->planted * noise.variance;
    const size_t levels = evaluate_plan(&known);
    const size_t cut = levels / 2;
    const size_t wide = levels / EVALUATE_BANDS;
    double edge[EVALUATE_LEVELS_MAX + 1];
    const size_t cells = GROUPS * (2 * levels + 1) + 1;
    struct seeded_random seeded;
    struct truth truth[GROUPS + 1];

    *out = (struct intervals_evaluate){.levels = levels};
    for (size_t g = 0; g <= GROUPS; g++) {
        truth[g] = truth_of(g, levels, cut);
    }
    for (size_t k = 0; k <= levels; k++) {
        edge[k] = (double)k / (double)levels;
    }
    seeded_random_init(&seeded, setting->seed);
    const struct random random = seeded_random_interface(&seeded);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double exact[CELLS_MAX];
        double cell[CELLS_MAX];
        struct table1_sizes sizes;
        struct table1_column column;
        struct table1_column without;
        draw_cells(exact, levels, setting, &seeded);
        memcpy(cell, exact, sizeof cell);
        status = intervals_noise_add(cell, cells, &noise, &random);
        const struct table1_block block = {cell, 2 * levels, NULL, told};
        const struct table1_block clean = {exact, 2 * levels, NULL, 0};
        table1_agree(&sizes, &clean, 1, GROUPS, records);
        table1_column_of(&without, &clean, &sizes, 0);
        table1_agree(&sizes, &block, 1, GROUPS, records);
        for (size_t g = 0; g <= GROUPS; g++) {
            table1_column_of(&column, &block, &sizes, g);
            const struct table1_figure auc = evaluate_auc(&column);
            const struct evaluate_cut of_cut = evaluate_cut(&column, cut);
            const struct table1_figure large = evaluate_in_the_large(&column, edge);
            judge(&out->large, &large, truth[g].large);
            judge(&out->auc, &auc, truth[g].auc);
            judge(&out->cut, &of_cut.accuracy, truth[g].accuracy);
            judge(&out->cut, &of_cut.sensitivity, truth[g].sensitivity);
            for (size_t band = 0; band < EVALUATE_BANDS; band++) {
                const struct table1_figure own = evaluate_band(&column, band);
                judge(&out->band, &own, truth[g].band[band]);
                if (band > 0) {
                    const struct table1_figure benefit =
                        evaluate_net_benefit(&column, band * wide, (double)band / EVALUATE_BANDS);
                    judge(&out->benefit[band], &benefit, truth[g].benefit[band]);
                }
            }
            if (g == 0 && !isnan(auc.estimate.value)) {
                const struct table1_figure free = evaluate_auc(&without);
                out->width += auc.estimate.high - auc.estimate.low;
                out->width_free += free.estimate.high - free.estimate.low;
            }
        }
    }
    intervals_noise_free(&noise);
    return status;
}
