/* Effects by site of survival curves, regressions and tables.
 *
 *   mean lives     two groups of constant hazards, the first one's from 0.65 to 0.98 by site; censoring uniform over twice the
 *                  time; the second group's mean up to 1 less the first's
 *   hazard ratios  likewise; the logarithm of the second group's hazard over the first's
 *   slopes         of a logistic regression by a nearly normal number and two categories: the number's. The second category has a
 *                  fifth of the records, more where the number is large; the rule for slopes by site was chosen on another design
 *   means          of a number in a Table 1, normal, with a deviation of 0.15 of its range */

#include "estimate/cells.h"
#include "lab/study/study_intervals_between.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, PREDICTORS = 2 };

static const double hazard = 0.8;

/* Up to 1. */
static double mean_life(double rate)
{
    return (1 - exp(-rate)) / rate;
}

static double hazard_of_mean(double mean)
{
    double low = 0.01;
    double high = 20;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(mean_life(middle) > mean ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

static void draw_lives(double *cell, size_t k, const double rate[GROUPS], uint64_t records,
                       struct drawing *drawing)
{
    memset(cell, 0, SURVIVAL_CELLS(GROUPS, k) * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        const size_t group = seeded_random_word(&drawing->seeded) >> 63;
        const double death = -log(1 - seeded_random_unit(&drawing->seeded)) / rate[group];
        const double censored = 2 * seeded_random_unit(&drawing->seeded);
        const double time = fmin(death, censored);
        double *own = cell + group * (2 * k + 1);
        if (time >= 1) {
            own[2 * k]++;
        } else {
            own[(death <= censored ? 0 : k) + (size_t)(time * (double)k)]++;
        }
    }
}

static enum status draw_curves(struct between_site *out, double *truth, struct drawing *drawing,
                               bool is_ratio)
{
    static double cell[DRAWING_SITES_MAX][SURVIVAL_CELLS_MAX];
    const struct intervals_setting *setting = drawing->setting;
    const double sites = (double)setting->sites;
    const struct survival_public known = {.records = drawing_records(setting),
                                          .groups = GROUPS,
                                          .variance = sites * drawing_variance(setting, 2)};
    const size_t k =
        drawing->planned > 0 ? drawing->planned : survival_plan(&known, false).intervals;
    struct survival_cells curve[DRAWING_SITES_MAX];
    enum status status = STATUS_OK;
    drawing->planned = k;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        const double first = hazard * exp(0.4 * seeded_random_unit(&drawing->seeded) - 0.2);
        double rate[GROUPS] = {first, first * exp(truth[i])};
        if (!is_ratio) {
            truth[i] = fmin(fmax(truth[i], 0.1 - mean_life(first)), 0.95 - mean_life(first));
            rate[1] = hazard_of_mean(mean_life(first) + truth[i]);
        }
        draw_lives(cell[i], k, rate, records, drawing);
        status = drawing_release(cell[i], SURVIVAL_CELLS(GROUPS, k), (double)records, drawing);
        curve[i] = (struct survival_cells){cell[i], GROUPS, k, 1, drawing_variance(setting, 2), 0};
    }
    if (status == STATUS_OK && is_ratio) {
        between_hazards(out, curve, setting->sites, 1);
    } else if (status == STATUS_OK) {
        between_means(out, curve, setting->sites, 1, true);
    }
    return status;
}

enum status drawing_mean_lives(struct between_site *out, double *truth, struct drawing *drawing)
{
    return draw_curves(out, truth, drawing, false);
}

enum status drawing_hazards(struct between_site *out, double *truth, struct drawing *drawing)
{
    return draw_curves(out, truth, drawing, true);
}

/* As query_plan_regress plans it: for one site. */
static void plan(struct regress_design *design, struct regress_predictor predictor[PREDICTORS],
                 struct drawing *drawing)
{
    const struct intervals_setting *setting = drawing->setting;
    *design = (struct regress_design){.family = REGRESS_LOGISTIC,
                                      .predictor = predictor,
                                      .predictors = PREDICTORS,
                                      .intervals = 1,
                                      .outcomes = 2};
    predictor[0] = (struct regress_predictor){.levels = REGRESS_PLAN_MOST, .is_number = true};
    predictor[1] = (struct regress_predictor){.levels = 2, .is_number = false};
    regress_set_even(&predictor[0]);
    if (drawing->planned == 0) {
        drawing->planned =
            regress_plan(design, predictor, drawing_records(setting) / (double)setting->sites,
                         drawing_variance(setting, 2));
    }
    predictor[0].levels = drawing->planned;
    regress_set_even(&predictor[0]);
}

enum status drawing_slopes(struct between_site *out, double *truth, struct drawing *drawing)
{
    enum { CELLS_MAX = REGRESS_LEVELS_MAX * 2 * 2 + 1 };
    static struct regress_fit fit;
    static const double weight[REGRESS_TERMS_MAX] = {0, 1};
    const struct intervals_setting *setting = drawing->setting;
    struct regress_predictor predictor[PREDICTORS];
    struct regress_design design;
    enum status status = STATUS_OK;
    plan(&design, predictor, drawing);
    const size_t levels = predictor[0].levels;
    const size_t count = levels * 2 * 2 + 1;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        const double baseline = -1.5 + 0.4 * seeded_random_unit(&drawing->seeded);
        double cell[CELLS_MAX] = {0};
        const struct regress_cells cells = {&design, cell, count, drawing_variance(setting, 2)};
        for (uint64_t j = 0; j < records; j++) {
            const double z = drawing_normal(drawing);
            const double place = floor((0.45 * z + 0.9) / 2 * (double)levels);
            const size_t level = (size_t)fmin(fmax(place, 0), (double)levels - 1);
            const double unit = seeded_random_unit(&drawing->seeded);
            const size_t second = unit < 1 / (1 + exp(1.5 - 0.8 * z)) ? 1 : 0;
            const double eta =
                baseline + truth[i] * predictor[0].value[level] + 0.6 * (double)second;
            const bool event = seeded_random_unit(&drawing->seeded) < 1 / (1 + exp(-eta));
            cell[(level * 2 + second) * 2 + event]++;
        }
        status = drawing_release(cell, count, (double)records, drawing);
        regress_solve(&fit, &cells);
        between_slope(&out[i], &fit, weight);
    }
    return status;
}

enum status drawing_means(struct between_site *out, double *truth, struct drawing *drawing)
{
    const struct intervals_setting *setting = drawing->setting;
    const double sites = (double)setting->sites;
    const struct table1_public known = {drawing_records(setting), 1,
                                        sites * drawing_variance(setting, 2)};
    const size_t steps = drawing->planned > 0 ? drawing->planned : table1_plan(&known);
    struct table1_column column[DRAWING_SITES_MAX];
    double step[TABLE1_LEVELS_MAX];
    enum status status = STATUS_OK;
    drawing->planned = steps;
    for (size_t k = 0; k < steps; k++) {
        step[k] = (double)k / (double)(steps - 1);
    }
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        double cell[TABLE1_LEVELS_MAX + 2] = {0};
        struct table1_sizes sizes;
        const struct table1_block block = {cell, steps, step, drawing_variance(setting, 2)};
        truth[i] = fmin(fmax(truth[i], 0.3), 0.7);
        for (uint64_t j = 0; j < records; j++) {
            /* Beyond 2 deviations it is the mean, so that none is clamped. */
            double z = drawing_normal(drawing);
            z = fabs(z) > 2 ? 0 : z;
            const double place = (truth[i] + 0.15 * z) * (double)(steps - 1);
            const size_t below = (size_t)fmin(floor(place), (double)steps - 2);
            cell[below + 1] += place - (double)below;
            cell[below] += 1 - (place - (double)below);
        }
        status = drawing_release(cell, steps + 2, (double)records, drawing);
        table1_agree(&sizes, &block, 1, 1, (double)records);
        table1_column_of(&column[i], &block, &sizes, 1);
    }
    if (status == STATUS_OK) {
        between_columns(out, column, setting->sites, 0);
    }
    return status;
}
