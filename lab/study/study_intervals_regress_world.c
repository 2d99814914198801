/* Regressions of known coefficients. Each family has three designs:
 *
 *   built   a nearly normal column, one of two even categories, a skewed column: the estimator was built on it
 *   looked  a column, another that correlates with it by 0.7, three categories of 55, 33 and 12 %, a slope of 0: the first that
 *           confirmed it; what failed there was mended, so that it confirms no more
 *   fresh   a column, another that correlates with it by -0.5, two categories of which the second has a fifth of the records, more
 *           where the first column is large; a slope of 0: simulated when nothing was changed any more
 *
 * Outcomes follow the model at the predictors' levels, which is what the question is about. Numbers lie in [-1, 1]. */

#include "lab/study/study_intervals_regress.h"

#include <math.h>
#include <string.h>

enum { FINE = 64, PARTS_OF_LEVEL = 32 };

/* A family's baseline and its slopes; of hazards one baseline for all intervals. */
struct model {
    double baseline;
    double slope[SLOPES];
};

/* How a predictor's levels come about; z is the first column's normal variable. */
struct column {
    enum { NORMAL, SKEWED, CATEGORY } kind;
    size_t categories;
    double centre, spread; /* of a number */
    double correlation;    /* with z; of a category how its odds' logarithm grows with z */
    double end[2];         /* of a category: shares up to each level but the last, at z = 0 */
};

static const double most_counted = 7; /* of a Poisson outcome */
static const double censoring_end = 1.5 * INTERVALS;

static const double spread_of_linear = 0.2;

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

enum regress_family regress_world_family(const struct intervals_setting *setting)
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

void regress_world_init(struct simulated *out, const struct intervals_setting *setting,
                        double variance)
{
    static const size_t outcomes[] = {2, OUTCOME_LEVELS, OUTCOME_LEVELS, 2 * INTERVALS + 1};
    const enum regress_family family = regress_world_family(setting);
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

enum status regress_world_source(struct intervals_source *out, const struct simulated *from)
{
    const size_t points = regress_points(&from->design);
    const size_t each =
        from->design.family == REGRESS_LINEAR ? OUTCOME_LEVELS * PARTS_OF_LEVEL : 2 * INTERVALS + 1;
    intervals_source_init(out, points * each);
    for (size_t point = 0; point < points; point++) {
        size_t level[PREDICTORS];
        size_t rest = point;
        for (size_t k = PREDICTORS; k-- > 0;) {
            level[k] = rest % from->predictor[k].levels;
            rest /= from->predictor[k].levels;
        }
        put_outcomes(out, from->design.family, point * from->design.outcomes,
                     chance_of(from, level), eta_of(from, level));
    }
    return intervals_source_ready(out);
}

const char *regress_world_name(const struct intervals_setting *setting)
{
    return designs[design_of(setting)].name;
}

const double *regress_world_slopes(const struct simulated *from)
{
    return designs[from->which].model[from->design.family].slope;
}

size_t regress_world_slope_count(const struct simulated *from)
{
    return designs[from->which].slopes;
}
