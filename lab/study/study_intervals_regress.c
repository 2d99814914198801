/* Regressions of known coefficients. Each family has two designs. The estimator was built on the first; the second was
 * simulated when nothing was changed any more:
 *
 *   built      a nearly normal column, one of two even categories, a skewed column
 *   confirmed  a column, another that correlates with it by 0.7, three categories of 55, 33 and 12 %, a slope of 0
 *
 * Outcomes follow the model at the predictors' levels, which is what the question is about. Numbers lie in [-1, 1]. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

enum { INTERVALS = 4, OUTCOME_LEVELS = 8, PREDICTORS = 3 };

static const double most_counted = 7; /* of a Poisson outcome */

/* A family's baseline and its slopes; of hazards one baseline for all intervals. */
struct model {
    double baseline;
    double slope[2][4]; /* of the built design, three; of the confirmed one, four */
    double spread;      /* of a number */
};

static const struct model models[] = {
    [REGRESS_LOGISTIC] = {-1, {{1.2, 0.6, 0.8}, {1.3, -0.9, 0, 0.6}}, 0},
    [REGRESS_LINEAR] = {-0.1, {{0.3, 0.1, 0.2}, {0.35, -0.25, 0, -0.12}}, 0.2},
    [REGRESS_POISSON] = {-0.2, {{0.5, 0.3, 0.4}, {0.45, -0.35, 0, 0.3}}, 0},
    [REGRESS_HAZARD] = {-2.2, {{0.9, 0.4, 0.6}, {1.2, -0.7, 0, -0.4}}, 0},
};

static double draw_normal(struct seeded_random *seeded)
{
    const double radius = sqrt(-2 * log(1 - seeded_random_unit(seeded)));
    return radius * cos(2 * 3.14159265358979323846 * seeded_random_unit(seeded));
}

static size_t level_of(const struct regress_predictor *predictor, double x)
{
    const double place = floor((x + 1) / 2 * (double)predictor->levels);
    return (size_t)fmin(fmax(place, 0), (double)predictor->levels - 1);
}

static void draw_levels(size_t *level, const struct regress_predictor *predictor, bool confirmed,
                        struct seeded_random *seeded)
{
    const double first = draw_normal(seeded);
    const double second = draw_normal(seeded);
    const double unit = seeded_random_unit(seeded);
    level[0] = level_of(&predictor[0], 0.4 * first);
    if (confirmed) {
        level[1] = level_of(&predictor[1], 0.05 + 0.35 * (0.7 * first + 0.714 * second));
        level[2] = unit < 0.55 ? 0 : unit < 0.88 ? 1 : 2;
    } else {
        level[1] = unit < 0.5 ? 0 : 1;
        level[2] = level_of(&predictor[2], -1 + 0.35 * exp(0.6 * second));
    }
}

struct simulated {
    struct regress_design design;
    struct regress_predictor predictor[PREDICTORS];
    double outcome[OUTCOME_LEVELS];
    bool confirmed;
};

static void set_levels(struct simulated *out, size_t levels)
{
    for (size_t i = 0; i < PREDICTORS; i++) {
        struct regress_predictor *predictor = &out->predictor[i];
        predictor->is_number = out->confirmed ? i < 2 : i != 1;
        predictor->levels = predictor->is_number ? levels : out->confirmed ? 3 : 2;
        regress_set_even(predictor);
    }
}

static void simulated_init(struct simulated *out, const struct intervals_setting *setting,
                           enum regress_family family, double variance)
{
    static const size_t outcomes[] = {2, OUTCOME_LEVELS, OUTCOME_LEVELS, 2 * INTERVALS + 1};
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    memset(out, 0, sizeof *out);
    out->confirmed = setting->is_wide;
    out->design = (struct regress_design){.family = family,
                                          .predictor = out->predictor,
                                          .predictors = PREDICTORS,
                                          .intervals = family == REGRESS_HAZARD ? INTERVALS : 1,
                                          .outcomes = outcomes[family],
                                          .outcome = out->outcome};
    for (size_t y = 0; y < OUTCOME_LEVELS; y++) {
        const double share = (double)y / (OUTCOME_LEVELS - 1);
        out->outcome[y] = family == REGRESS_POISSON ? most_counted * share : 2 * share - 1;
    }
    set_levels(out, REGRESS_PLAN_MOST);
    set_levels(out, regress_plan(&out->design, out->predictor, records, variance));
}

/* Adds one record to the cells of its point. A number between two levels counts in both. */
static void draw_outcome(double *cell, const struct simulated *from, double eta,
                         struct seeded_random *seeded)
{
    const enum regress_family family = from->design.family;
    double place = 0;
    if (family == REGRESS_LOGISTIC) {
        cell[seeded_random_unit(seeded) < 1 / (1 + exp(-eta)) ? 1 : 0]++;
        return;
    }
    if (family ==
        REGRESS_HAZARD) { /* times from exponential variables; intervals are of length 1 */
        const double death = -log(1 - seeded_random_unit(seeded)) / exp(eta);
        const double censoring = 1.5 * INTERVALS * seeded_random_unit(seeded);
        const double time = fmin(death, censoring);
        const size_t at = (size_t)fmin(time, INTERVALS);
        cell[at == INTERVALS ? 2 * INTERVALS : at + (death <= censoring ? 0 : INTERVALS)]++;
        return;
    }
    if (family == REGRESS_LINEAR) {
        const double y = eta + models[family].spread * draw_normal(seeded);
        place = (y + 1) / 2 * (OUTCOME_LEVELS - 1);
    } else {
        double left = exp(-exp(eta)); /* of the uniform, that the count 0 takes */
        double chance = left;
        for (double unit = seeded_random_unit(seeded); unit >= left && place < 60;) {
            place++;
            chance *= exp(eta) / place;
            left += chance;
        }
        place *= (OUTCOME_LEVELS - 1) / most_counted;
    }
    place = fmin(fmax(place, 0), OUTCOME_LEVELS - 1);
    const size_t below = (size_t)fmin(floor(place), OUTCOME_LEVELS - 2);
    cell[below + 1] += place - (double)below;
    cell[below] += 1 - (place - (double)below);
}

static void draw_cells(double *cell, const struct simulated *from, uint64_t records,
                       struct seeded_random *seeded)
{
    const struct model *model = &models[from->design.family];
    const double *slope = model->slope[from->confirmed];
    memset(cell, 0, (REGRESS_CELLS_MAX + 1) * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        size_t level[PREDICTORS];
        size_t point = 0;
        double eta = model->baseline;
        draw_levels(level, from->predictor, from->confirmed, seeded);
        for (size_t k = 0, at = 0; k < PREDICTORS; k++) {
            const struct regress_predictor *predictor = &from->predictor[k];
            point = point * predictor->levels + level[k];
            if (predictor->is_number) {
                eta += slope[at++] * predictor->value[level[k]];
            } else {
                eta += level[k] > 0 ? slope[at + level[k] - 1] : 0;
                at += predictor->levels - 1;
            }
        }
        draw_outcome(&cell[point * from->design.outcomes], from, eta, seeded);
    }
}

static void judge(struct intervals_regress *out, const struct regress_fit *fit,
                  const struct regress_fit *clean, const struct simulated *from)
{
    const size_t k = from->design.intervals;
    const double *slope = models[from->design.family].slope[from->confirmed];
    for (size_t i = 0; k + i < fit->terms; i++) {
        double weight[REGRESS_TERMS_MAX] = {0};
        weight[k + i] = 1;
        const struct table1_figure figure = regress_figure(fit, weight);
        const struct table1_figure free = regress_figure(clean, weight);
        out->asked++;
        if (isnan(figure.estimate.value)) {
            continue;
        }
        intervals_count(&out->slope[i],
                        figure.estimate.low <= slope[i] && slope[i] <= figure.estimate.high);
        if (slope[i] == 0) {
            intervals_count(&out->rejected, regress_test(&figure) < 0.05);
        }
        if (!isnan(free.estimate.value)) {
            out->width += figure.estimate.high - figure.estimate.low;
            out->width_free += free.estimate.high - free.estimate.low;
        }
    }
}

enum status intervals_regress(struct intervals_regress *out,
                              const struct intervals_setting *setting, enum regress_family family)
{
    const uint64_t records = INTERVALS_SITES * setting->site_records;
    struct simulated from;
    struct seeded_random seeded;
    struct intervals_noise noise;
    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);

    simulated_init(&from, setting, family, noise.variance);
    const size_t cells = regress_points(&from.design) * from.design.outcomes + 1;
    const double told = setting->planted * setting->planted * noise.variance;
    *out = (struct intervals_regress){.levels = from.predictor[0].levels};
    seeded_random_init(&seeded, setting->seed);
    const struct random random = seeded_random_interface(&seeded);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        static double exact[REGRESS_CELLS_MAX + 1];
        static double cell[REGRESS_CELLS_MAX + 1];
        const struct regress_cells noisy = {&from.design, cell, cells, told};
        const struct regress_cells clean = {&from.design, exact, cells, 0};
        struct regress_fit fit;
        struct regress_fit fit_of_clean;
        draw_cells(exact, &from, records, &seeded);
        memcpy(cell, exact, cells * sizeof *cell);
        status = intervals_noise_add(cell, cells, &noise, &random);
        cells_balance(cell, cells, (double)records);
        regress_solve(&fit, &noisy);
        regress_solve(&fit_of_clean, &clean);
        judge(out, &fit, &fit_of_clean, &from);
    }
    intervals_noise_free(&noise);
    return status;
}
