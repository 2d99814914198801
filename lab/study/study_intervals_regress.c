/* Regressions of known coefficients. Each family has three designs:
 *
 *   built   a nearly normal column, one of two even categories, a skewed column: the estimator was built on it
 *   looked  a column, another that correlates with it by 0.7, three categories of 55, 33 and 12 %, a slope of 0: the first that
 *           confirmed it; what failed there was mended, so that it confirms no more
 *   fresh   a column, another that correlates with it by -0.5, two categories of which the second has a fifth of the records, more
 *           where the first column is large; a slope of 0: simulated when nothing was changed any more
 *
 * Outcomes follow the model at the predictors' levels, which is what the question is about. Numbers lie in [-1, 1]. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SLOPES = 4, DESIGNS = 3, PREDICTORS = 3, INTERVALS = 4, OUTCOME_LEVELS = 8 };
enum { FAMILIES = REGRESS_HAZARD + 1 };
enum { FINE = 64, PARTS_OF_LEVEL = 32 };

struct found {
    size_t levels; /* of a number, that were planned */
    uint64_t asked;
    struct intervals_rate slope[SLOPES];  /* intervals that hold the truth */
    struct intervals_rate rejected;       /* tests below 5 %, of a slope of 0 */
    struct intervals_width width[SLOPES]; /* without noise: of some studies, by clean_each */
};

static const double most_counted = 7; /* of a Poisson outcome */
static const double censoring_end = 1.5 * INTERVALS;

/* A family's baseline and its slopes; of hazards one baseline for all intervals. */
struct model {
    double baseline;
    double slope[SLOPES];
};

static const double spread_of_linear = 0.2;

/* How a predictor's levels come about; z is the first column's normal variable. */
struct column {
    enum { NORMAL, SKEWED, CATEGORY } kind;
    size_t categories;
    double centre, spread; /* of a number */
    double correlation;    /* with z; of a category how its odds' logarithm grows with z */
    double end[2];         /* of a category: shares up to each level but the last, at z = 0 */
};

static const struct {
    const char *name;
    size_t slopes;
    struct column column[PREDICTORS];
    struct model model[FAMILIES];
} designs[DESIGNS] = {
    {"",
     3,
     {{NORMAL, 0, 0, 0.4, 1, {0, 0}},
      {CATEGORY, 2, 0, 0, 0, {0.5, 0}},
      {SKEWED, 0, 0.35, 0.6, 0, {0, 0}}},
     {{-1, {1.2, 0.6, 0.8, 0}},
      {-0.1, {0.3, 0.1, 0.2, 0}},
      {-0.2, {0.5, 0.3, 0.4, 0}},
      {-2.2, {0.9, 0.4, 0.6, 0}}}},
    {", looked",
     4,
     {{NORMAL, 0, 0, 0.4, 1, {0, 0}},
      {NORMAL, 0, 0.05, 0.35, 0.7, {0, 0}},
      {CATEGORY, 3, 0, 0, 0, {0.55, 0.88}}},
     {{-1, {1.3, -0.9, 0, 0.6}},
      {-0.1, {0.35, -0.25, 0, -0.12}},
      {-0.2, {0.45, -0.35, 0, 0.3}},
      {-2.2, {1.2, -0.7, 0, -0.4}}}},
    {", fresh",
     3,
     {{NORMAL, 0, -0.1, 0.45, 1, {0, 0}},
      {NORMAL, 0, 0.1, 0.3, -0.5, {0, 0}},
      {CATEGORY, 2, 0, 0, 0.8, {0.82, 0}}},
     {{-1.4, {0.9, 0, 0.7, 0}},
      {-0.05, {0.25, 0, -0.2, 0}},
      {-0.4, {0.4, 0, 0.35, 0}},
      {-2, {0.7, 0, 0.5, 0}}}},
};

static enum regress_family family_of(const struct intervals_setting *setting)
{
    return (enum regress_family)(setting->variant / DESIGNS);
}

static size_t design_of(const struct intervals_setting *setting)
{
    return setting->variant % DESIGNS;
}

static double normal_below(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

/* The chance of a column to be below an edge of its levels, or of its categories, where the first one's variable is z. */
static double below(const struct column *column, size_t edge, size_t levels, double z)
{
    if (edge == 0 || edge == levels) {
        return edge == 0 ? 0 : 1;
    }
    const double value = 2 * (double)edge / (double)levels - 1;
    if (column->kind == CATEGORY) {
        const double odds = column->end[edge - 1] / (1 - column->end[edge - 1]);
        return 1 / (1 + exp(column->correlation * z) / odds);
    }
    return column->kind == SKEWED
               ? normal_below(log((value + 1) / column->centre) / column->spread)
               : normal_below(
                     ((value - column->centre) / column->spread - column->correlation * z) /
                     sqrt(1 - column->correlation * column->correlation));
}

struct simulated {
    struct regress_design design;
    struct regress_predictor predictor[PREDICTORS];
    double outcome[OUTCOME_LEVELS];
    size_t which; /* of designs */
};

static void set_levels(struct simulated *out, size_t levels)
{
    for (size_t i = 0; i < PREDICTORS; i++) {
        struct regress_predictor *predictor = &out->predictor[i];
        const struct column *column = &designs[out->which].column[i];
        predictor->is_number = column->kind != CATEGORY;
        predictor->levels = predictor->is_number ? levels : column->categories;
        regress_set_even(predictor);
    }
}

static void simulated_init(struct simulated *out, const struct intervals_setting *setting,
                           double variance)
{
    static const size_t outcomes[] = {2, OUTCOME_LEVELS, OUTCOME_LEVELS, 2 * INTERVALS + 1};
    const enum regress_family family = family_of(setting);
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    memset(out, 0, sizeof *out);
    out->which = design_of(setting);
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

/* Adds the outcomes of a point, whose first cell is `at`. A number between two levels counts in both. */
static void put_outcomes(struct intervals_source *source, enum regress_family family, size_t at,
                         double chance, double eta)
{
    const double u = exp(eta);
    double left = 1;
    switch (family) {
    case REGRESS_LOGISTIC:
        intervals_source_put(source, chance / (1 + u), at, 0);
        intervals_source_put(source, chance * u / (1 + u), at + 1, 0);
        return;
    case REGRESS_LINEAR:
        for (size_t i = 0; i <= (OUTCOME_LEVELS - 1) * PARTS_OF_LEVEL; i++) {
            const size_t steps = (OUTCOME_LEVELS - 1) * PARTS_OF_LEVEL;
            const double edge = 2 * ((double)i + 0.5) / (double)steps - 1;
            const double above = i == steps ? 0 : 1 - normal_below((edge - eta) / spread_of_linear);
            intervals_source_put(source, chance * (left - above), at + i / PARTS_OF_LEVEL,
                                 (double)(i % PARTS_OF_LEVEL) / PARTS_OF_LEVEL);
            left = above;
        }
        return;
    case REGRESS_POISSON: {
        double own = exp(-u);
        for (size_t y = 0; y < OUTCOME_LEVELS; y++) {
            intervals_source_put(source, chance * (y + 1 < OUTCOME_LEVELS ? own : left), at + y, 0);
            left -= own;
            own *= u / (double)(y + 1);
        }
        return;
    }
    case REGRESS_HAZARD: /* intervals are of length 1; censoring is even over a time and a half */
        for (size_t j = 0; j < INTERVALS; j++) {
            const double here = exp(-u * (double)j);
            const double next = exp(-u * (double)(j + 1));
            const double lost = (here - next) / u / censoring_end;
            const double died = here * (1 - (double)j / censoring_end) -
                                next * (1 - (double)(j + 1) / censoring_end) - lost;
            intervals_source_put(source, chance * died, at + j, 0);
            intervals_source_put(source, chance * lost, at + INTERVALS + j, 0);
        }
        intervals_source_put(source, chance * exp(-u * INTERVALS) * (1 - INTERVALS / censoring_end),
                             at + 2 * INTERVALS, 0);
        return;
    }
}

static double eta_of(const struct simulated *from, const size_t *level)
{
    const struct model *model = &designs[from->which].model[from->design.family];
    double eta = model->baseline;
    for (size_t k = 0, at = 0; k < PREDICTORS; k++) {
        const struct regress_predictor *predictor = &from->predictor[k];
        if (predictor->is_number) {
            eta += model->slope[at++] * predictor->value[level[k]];
        } else {
            eta += level[k] > 0 ? model->slope[at + level[k] - 1] : 0;
            at += predictor->levels - 1;
        }
    }
    return eta;
}

/* The chance of a point: the first column's variable in FINE parts of its level. */
static double chance_of(const struct simulated *from, const size_t *level)
{
    const struct column *column = designs[from->which].column;
    const size_t levels = from->predictor[0].levels;
    double end[2];
    double sum = 0;
    for (size_t i = 0; i < 2; i++) {
        const double value = 2 * (double)(level[0] + i) / (double)levels - 1;
        const double z = (value - column[0].centre) / column[0].spread;
        end[i] = level[0] + i == 0 ? -8 : level[0] + i == levels ? 8 : z;
    }
    for (size_t i = 0; i < FINE; i++) {
        const double z = end[0] + (end[1] - end[0]) * (double)i / FINE;
        const double next = end[0] + (end[1] - end[0]) * (double)(i + 1) / FINE;
        double chance = normal_below(next) - normal_below(z);
        for (size_t k = 1; k < PREDICTORS; k++) {
            const size_t own = from->predictor[k].levels;
            chance *= below(&column[k], level[k] + 1, own, (z + next) / 2) -
                      below(&column[k], level[k], own, (z + next) / 2);
        }
        sum += chance;
    }
    return sum;
}

static enum status make_source(struct intervals_source *out, const struct simulated *from)
{
    const size_t points = regress_points(&from->design);
    const size_t each =
        from->design.family == REGRESS_LINEAR ? OUTCOME_LEVELS * PARTS_OF_LEVEL : 2 * INTERVALS + 1;
    const enum status status = intervals_source_init(out, points * each);
    for (size_t point = 0; point < points && status == STATUS_OK; point++) {
        size_t level[PREDICTORS];
        size_t rest = point;
        for (size_t k = PREDICTORS; k-- > 0;) {
            level[k] = rest % from->predictor[k].levels;
            rest /= from->predictor[k].levels;
        }
        put_outcomes(out, from->design.family, point * from->design.outcomes,
                     chance_of(from, level), eta_of(from, level));
    }
    return status == STATUS_OK ? intervals_source_ready(out) : status;
}

static double width_of(const struct regress_fit *fit, size_t slope)
{
    double weight[REGRESS_TERMS_MAX] = {0};
    weight[fit->cells->design->intervals + slope] = 1;
    const struct estimate own = regress_figure(fit, weight).estimate;
    return own.high - own.low;
}

/* clean: NULL where it is not asked */
static void judge(struct found *out, const struct regress_fit *fit, const struct regress_fit *clean,
                  const struct simulated *from)
{
    const size_t k = from->design.intervals;
    const double *slope = designs[from->which].model[from->design.family].slope;
    for (size_t i = 0; k + i < fit->terms; i++) {
        double weight[REGRESS_TERMS_MAX] = {0};
        weight[k + i] = 1;
        const struct table1_figure figure = regress_figure(fit, weight);
        out->asked++;
        if (isnan(figure.estimate.value)) {
            continue;
        }
        intervals_count(&out->slope[i],
                        figure.estimate.low <= slope[i] && slope[i] <= figure.estimate.high);
        if (slope[i] == 0) {
            intervals_count(&out->rejected, regress_test(&figure) < 0.05);
        }
        if (clean != NULL) {
            intervals_add_width(&out->width[i], figure.estimate.high - figure.estimate.low,
                                width_of(clean, i));
        }
    }
}

/* Studies for each of which the release without noise is solved, too: of few all. */
static size_t clean_each(const struct intervals_setting *setting)
{
    return setting->runs < 1000 ? 1 : 10;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const size_t each = clean_each(setting);
    static double exact[REGRESS_CELLS_MAX + 1];
    static double cell[REGRESS_CELLS_MAX + 1];
    static struct regress_fit fit;
    static struct regress_fit fit_of_clean;
    const uint64_t records = INTERVALS_SITES * setting->site_records;
    struct simulated from;
    struct intervals_source source = {.atom = NULL};
    struct seeded_random seeded;
    struct intervals_noise noise;
    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);

    simulated_init(&from, setting, noise.variance);
    const size_t cells = regress_points(&from.design) * from.design.outcomes + 1;
    const struct regress_cells noisy = {&from.design, cell, cells,
                                        setting->planted * setting->planted * noise.variance};
    const struct regress_cells clean = {&from.design, exact, cells, 0};
    const struct regress_cells truth = {&from.design, exact, cells,
                                        setting->planted < 1 ? 0 : noise.variance};
    *out = (struct found){.levels = from.predictor[0].levels};
    seeded_random_init(&seeded, setting->seed);
    const struct random random = seeded_random_interface(&seeded);
    if (status == STATUS_OK) {
        status = make_source(&source, &from);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        memset(exact, 0, cells * sizeof *exact);
        intervals_source_draw(exact, &source, records, &seeded);
        memcpy(cell, exact, cells * sizeof *cell);
        status = intervals_noise_add(cell, cells, &noise, &random);
        cells_balance(cell, cells, (double)records);
        regress_solve(&fit, &noisy);
        if (i % each == 0) {
            regress_solve(&fit_of_clean, &clean);
        }
        judge(out, &fit, i % each == 0 ? &fit_of_clean : NULL, &from);
    }
    memset(exact, 0, cells * sizeof *exact);
    if (status == STATUS_OK) {
        intervals_source_expect(exact, &source, (double)records);
        regress_solve(&fit, &truth);
    }
    for (size_t i = 0; i < designs[from.which].slopes && status == STATUS_OK; i++) {
        out->width[i].by_true = width_of(&fit, i);
    }
    intervals_source_free(&source);
    intervals_noise_free(&noise);
    return status;
}

enum { REJECTED = FAMILIES, WIDTH }; /* behind a claim of each family */

static const struct intervals_claim claims[] = {
    [REGRESS_LOGISTIC] = {"regressions: intervals of a coefficient, logistic, the worst of all "
                          "settings",
                          INTERVALS_HOLD},
    [REGRESS_LINEAR] =
        {"regressions: intervals of a coefficient, linear, the worst of all settings",
         INTERVALS_HOLD},
    [REGRESS_POISSON] = {"regressions: intervals of a coefficient, Poisson, the worst of all "
                         "settings",
                         INTERVALS_HOLD},
    [REGRESS_HAZARD] =
        {"regressions: intervals of a coefficient, hazards, the worst of all settings",
         INTERVALS_HOLD},
    [REJECTED] = {"regressions: tests that reject a coefficient of 0", INTERVALS_REJECT},
    [WIDTH] = {"regressions: widths over those that the true cells give", INTERVALS_WIDTH},
};

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    static const char *const names[FAMILIES] = {"logistic", "linear", "Poisson", "hazards"};
    const struct intervals_rate *slope = found->slope;
    char(*text)[INTERVALS_TEXT] = told->text;
    uint64_t shown = 0;
    struct intervals_width sum = {.count = 0};
    double over_true = NAN;
    for (size_t i = 0; i < SLOPES; i++) {
        const double own = intervals_over_true(&found->width[i]);
        shown += slope[i].all;
        sum.released += found->width[i].released;
        sum.exact += found->width[i].exact;
        over_true = fmax(over_true, own);
    }
    char kind[INTERVALS_TEXT];
    (void)snprintf(kind, sizeof kind, "%s%s, ", names[family_of(setting)],
                   designs[design_of(setting)].name);
    intervals_setting_name(text[0], kind, setting);
    (void)snprintf(text[1], INTERVALS_TEXT, "%zu levels", found->levels);
    (void)snprintf(text[2], INTERVALS_TEXT, "%.2f", (double)shown / (double)found->asked);
    (void)snprintf(text[3], INTERVALS_TEXT, "slopes %.3f, %.3f", intervals_share(&slope[0]),
                   intervals_share(&slope[1]));
    (void)snprintf(text[4], INTERVALS_TEXT, "%.3f, %.3f", intervals_share(&slope[2]),
                   intervals_share(&slope[3]));
    (void)snprintf(text[5], INTERVALS_TEXT, "-");
    (void)snprintf(text[6], INTERVALS_TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / (double)setting->runs);
    (void)snprintf(text[7], INTERVALS_TEXT, "%.2f, %.2f", intervals_over_exact(&sum), over_true);
}

static enum status run(struct intervals_told *told, struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t slope = 0; slope < SLOPES; slope++) {
        intervals_take(told, family_of(setting), &found.slope[slope], setting->runs);
        intervals_take_width(told, WIDTH, &found.width[slope], setting->runs / clean_each(setting));
    }
    intervals_take(told, REJECTED, &found.rejected, setting->runs);
    tell(told, &found, setting);
    return status;
}

const struct intervals_kind intervals_regress = {
    .name = "regress",
    .variants = DESIGNS * FAMILIES,
    .runs_times = 1,
    .planted = 0.5,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};
