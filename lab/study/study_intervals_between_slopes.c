/* Coefficients of regressions by site: of a nearly normal number, and of the second of two categories.
 *
 *   logistic  an event by the two
 *   linear    a mean by them, and a normal deviation of 0.2 that ends at two of its own
 *   Poisson   counts up to a most
 *   hazards   constant over time, in intervals; censoring uniform up to half as much again
 *
 * There are two designs. What decides when a coefficient is given was built on the first. The second confirms it. */

#include "lab/study/study_intervals_between.h"

#include <math.h>
#include <string.h>

enum { PREDICTORS = 2, CATEGORIES = 2, FAMILIES = 4, OUTCOMES_MAX = 2 * REGRESS_INTERVALS_MAX + 1 };

static const double spread_of_linear = 0.2;

static const struct columns {
    double centre, spread;        /* of the number */
    double baseline, with_number; /* of the second category's odds: their logarithm */
    size_t intervals;
    size_t levels[FAMILIES]; /* of a number that is the outcome */
    /* The outcome's baseline, and by how much a site's own is above it at most. */
    double outcome[FAMILIES], off[FAMILIES];
} designs[] = {
    {-0.1, 0.45, -1.5, 0.8, 4, {0, 8, 8, 0}, {-1.5, -0.15, -0.6, -2.2}, {0.4, 0.1, 0.2, 0.4}},
    {0.1, 0.35, -1.3, -0.6, 3, {0, 6, 5, 0}, {-0.9, 0, -1.1, -1.8}, {0.4, 0.1, 0.2, 0.4}},
};

static size_t outcomes_of(enum regress_family family, const struct columns *columns)
{
    return family == REGRESS_LOGISTIC ? 2
           : family == REGRESS_HAZARD ? 2 * columns->intervals + 1
                                      : columns->levels[family];
}

struct model {
    const struct columns *columns;
    struct regress_design design;
    struct regress_predictor predictor[PREDICTORS];
    double outcome[OUTCOMES_MAX];
};

/* As query_plan_regress plans it: for one site. */
static void plan(struct model *out, struct drawing *drawing, enum regress_family family)
{
    const struct intervals_setting *setting = drawing->setting;
    struct regress_predictor *predictor = out->predictor;
    const size_t levels = out->columns->levels[family];
    out->design =
        (struct regress_design){.family = family,
                                .predictor = predictor,
                                .predictors = PREDICTORS,
                                .intervals = family == REGRESS_HAZARD ? out->columns->intervals : 1,
                                .outcomes = outcomes_of(family, out->columns),
                                .outcome = out->outcome,
                                .is_rounded = true};
    for (size_t y = 0; y < levels; y++) {
        out->outcome[y] =
            family == REGRESS_POISSON ? (double)y : 2 * (double)y / (double)(levels - 1) - 1;
    }
    predictor[0] = (struct regress_predictor){.levels = REGRESS_PLAN_MOST, .is_number = true};
    predictor[1] = (struct regress_predictor){.levels = CATEGORIES, .is_number = false};
    regress_set_even(&predictor[0]);
    if (drawing->planned == 0) {
        drawing->planned =
            regress_plan(&out->design, predictor, drawing_records(setting) / (double)setting->sites,
                         drawing_variance(drawing));
    }
    predictor[0].levels = drawing->planned;
    regress_set_even(&predictor[0]);
}

static void add_linear(double *cell, const struct model *model, double mean,
                       struct drawing *drawing)
{
    const double last = (double)model->design.outcomes - 1;
    const double z = drawing_normal(drawing);
    const double y = mean + spread_of_linear * (fabs(z) > 2 ? 0 : z);
    const double place = (fmin(fmax(y, -1), 1) + 1) / 2 * last;
    const size_t below = (size_t)fmin(floor(place), last - 1);
    cell[below + 1] += place - (double)below;
    cell[below] += 1 - (place - (double)below);
}

static void add_count(double *cell, const struct model *model, double mean, struct drawing *drawing)
{
    double product = seeded_random_unit(&drawing->seeded);
    size_t y = 0;
    while (y + 1 < model->design.outcomes && product > exp(-mean)) {
        product *= seeded_random_unit(&drawing->seeded);
        y++;
    }
    cell[y]++;
}

static void add_time(double *cell, const struct model *model, double rate, struct drawing *drawing)
{
    const size_t intervals = model->design.intervals;
    const double end = (double)intervals;
    const double death = -log(1 - seeded_random_unit(&drawing->seeded)) / rate;
    const double censored = 1.5 * end * seeded_random_unit(&drawing->seeded);
    const double time = fmin(death, censored);
    if (time >= end) {
        cell[2 * intervals]++;
    } else {
        cell[(death <= censored ? 0 : intervals) + (size_t)time]++;
    }
}

static void add_outcome(double *cell, const struct model *model, double eta,
                        struct drawing *drawing)
{
    switch (model->design.family) {
    case REGRESS_LOGISTIC:
        cell[seeded_random_unit(&drawing->seeded) < 1 / (1 + exp(-eta)) ? 1 : 0]++;
        return;
    case REGRESS_LINEAR:
        add_linear(cell, model, eta, drawing);
        return;
    case REGRESS_POISSON:
        add_count(cell, model, exp(eta), drawing);
        return;
    case REGRESS_HAZARD:
        add_time(cell, model, exp(eta), drawing);
        return;
    }
}

/* One site's records. slope: of the number and of the second category */
static void draw_records(double *cell, const struct model *model, const double slope[2],
                         uint64_t records, struct drawing *drawing)
{
    const struct columns *columns = model->columns;
    const enum regress_family family = model->design.family;
    const double levels = (double)model->predictor[0].levels;
    const double baseline =
        columns->outcome[family] + columns->off[family] * seeded_random_unit(&drawing->seeded);
    for (uint64_t j = 0; j < records; j++) {
        const double z = drawing_normal(drawing);
        const double x = fmin(fmax(columns->spread * z + columns->centre, -1), 1);
        const size_t level = (size_t)fmin(floor((x + 1) / 2 * levels), levels - 1);
        const double unit = seeded_random_unit(&drawing->seeded);
        const double odds = columns->baseline + columns->with_number * z;
        const size_t second = unit < 1 / (1 + exp(-odds)) ? 1 : 0;
        const double eta = baseline + slope[0] * x + slope[1] * (double)second;
        add_outcome(&cell[(level * CATEGORIES + second) * model->design.outcomes], model, eta,
                    drawing);
    }
}

enum status drawing_slopes(struct between_site *out, struct between_site *of_category,
                           const struct drawing_slopes *slopes, struct drawing *drawing)
{
    static struct regress_fit fit;
    static double cell[REGRESS_CELLS_MAX + 1];
    const struct intervals_setting *setting = drawing->setting;
    struct model model = {.columns = &designs[slopes->design]};
    double weight[2][REGRESS_TERMS_MAX] = {{0}};
    enum status status = STATUS_OK;
    plan(&model, drawing, slopes->family);
    const size_t count = regress_points(&model.design) * model.design.outcomes + 1;
    const struct regress_cells cells = {&model.design, cell, count, drawing_told(drawing)};
    weight[0][model.design.intervals] = 1;
    weight[1][model.design.intervals + 1] = 1;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        memset(cell, 0, count * sizeof *cell);
        draw_records(cell, &model, (const double[]){slopes->number[i], slopes->category[i]},
                     records, drawing);
        status = drawing_release(cell, count, (double)records, drawing);
        regress_solve(&fit, &cells);
        between_slope(&out[i], &fit, weight[0]);
        between_slope(&of_category[i], &fit, weight[1]);
    }
    return status;
}
