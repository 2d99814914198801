/* Regressions of known coefficients. Each family has six designs:
 *
 *   built   a nearly normal column, one of two even categories, a skewed column: the estimator was built on it
 *   looked  a column, another that correlates with it by 0.7, three categories of 55, 33 and 12 %, a slope of 0: the first that
 *           confirmed it; what failed there was mended, so that it confirms no more
 *   fresh   a column, another that correlates with it by -0.5, two categories of which the second has a fifth of the records, more
 *           where the first column is large; a slope of 0: simulated when nothing was changed any more
 *   other   a column that is even over its range, another that falls from its range's first end and goes with it, 0.5 of their
 *           normal variables, two categories of which the second has three in ten records, more where the first column is large; a
 *           slope of 0: simulated when nothing was changed any more
 *   last    a column that falls from its range's first end, another that correlates with it by 0.4, three categories; a slope of 0
 *   strong  two columns that correlate by -0.7, with slopes twice those of the others, two categories: simulated once, for the
 *           noise of covariances
 *
 * Outcomes follow the model at the predictors' own values. Numbers lie in [-1, 1]. */

#include "lab/study/study_intervals_regress.h"

#include <math.h>
#include <string.h>

enum { FINE = 16, PARTS = 4, PARTS_OF_LEVEL = 32 };

static const double farthest = 5; /* of the first column's variable */

/* A family's baseline and its slopes; of hazards one baseline for all intervals. */
struct model {
    double baseline;
    double slope[SLOPES];
};

/* How a predictor's levels come about; z is the first column's normal variable. */
struct column {
    enum { NORMAL, SKEWED, EVEN, FALLING, CATEGORY } kind;
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
    {", other",
     3,
     {{EVEN, 0, 0, 0, 1, {0, 0}},
      {FALLING, 0, 0, 0.5, 0.5, {0, 0}},
      {CATEGORY, 2, 0, 0, 0.6, {0.7, 0}}},
     {{-1.3, {0.8, -0.7, 0, 0}},
      {0.05, {0.2, -0.25, 0, 0}},
      {-0.5, {0.3, -0.35, 0, 0}},
      {-2.1, {0.6, -0.6, 0, 0}}}},
    {", last",
     4,
     {{FALLING, 0, 0, 0.7, 1, {0, 0}},
      {NORMAL, 0, -0.05, 0.35, 0.4, {0, 0}},
      {CATEGORY, 3, 0, 0, -0.5, {0.5, 0.8}}},
     {{-1, {-0.8, 1, 0.5, 0}},
      {0, {-0.2, 0.3, -0.15, 0}},
      {-0.3, {-0.3, 0.4, 0.3, 0}},
      {-2.3, {-0.6, 0.8, 0.4, 0}}}},
    {", strong",
     3,
     {{NORMAL, 0, 0, 0.3, 1, {0, 0}},
      {NORMAL, 0, 0, 0.35, -0.7, {0, 0}},
      {CATEGORY, 2, 0, 0, 0.5, {0.6, 0}}},
     {{-1.2, {1.7, 1.2, 0.5, 0}},
      {0, {0.6, 0.4, 0.2, 0}},
      {-0.3, {0.8, 0.6, 0.3, 0}},
      {-2.2, {1.5, 1.1, 0.4, 0}}}},
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

/* The normal variable of which below it has this chance, in (-8, 8). */
static double normal_at(double chance)
{
    double low = -8;
    double high = 8;
    while (high - low > 1e-9) {
        const double middle = (low + high) / 2;
        *(normal_below(middle) < chance ? &low : &high) = middle;
    }
    return low;
}

/* A number as a function of a normal variable, and back. */
static double value_at(const struct column *column, double w)
{
    switch (column->kind) {
    case SKEWED:
        return column->centre * exp(column->spread * w) - 1;
    case EVEN:
        return 2 * normal_below(w) - 1;
    case FALLING:
        return -1 - column->spread * log(normal_below(-w));
    case NORMAL:
    case CATEGORY:
        break;
    }
    return column->centre + column->spread * w;
}

static double variable_at(const struct column *column, double value)
{
    switch (column->kind) {
    case SKEWED:
        return log((value + 1) / column->centre) / column->spread;
    case EVEN:
        return normal_at((value + 1) / 2);
    case FALLING:
        return -normal_at(exp(-(value + 1) / column->spread));
    case NORMAL:
    case CATEGORY:
        break;
    }
    return (value - column->centre) / column->spread;
}

/* The chance of a column to be below an edge of its levels, or of its categories, where the first one's variable is z. */
static double below(const struct column *column, double edge, size_t levels, double z)
{
    if (edge <= 0 || edge >= (double)levels) {
        return edge <= 0 ? 0 : 1;
    }
    if (column->kind == CATEGORY) {
        const double odds = column->end[(size_t)edge - 1] / (1 - column->end[(size_t)edge - 1]);
        return 1 / (1 + exp(column->correlation * z) / odds);
    }
    const double w = variable_at(column, 2 * edge / (double)levels - 1);
    return normal_below((w - column->correlation * z) /
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
                                          .outcome = out->outcome,
                                          .is_rounded = true};
    for (size_t y = 0; y < OUTCOME_LEVELS; y++) {
        const double share = (double)y / (OUTCOME_LEVELS - 1);
        out->outcome[y] = family == REGRESS_POISSON ? most_counted * share : 2 * share - 1;
    }
    set_levels(out, REGRESS_PLAN_MOST);
    set_levels(out, regress_plan(&out->design, out->predictor, records, variance));
}

/* Adds the outcomes of a part of a point: own[i] is of outcome i, of a linear regression of the one i/PARTS_OF_LEVEL. */
static void add_outcomes(double *own, enum regress_family family, double chance, double eta)
{
    const double u = exp(eta);
    double left = 1;
    switch (family) {
    case REGRESS_LOGISTIC:
        own[0] += chance / (1 + u);
        own[1] += chance * u / (1 + u);
        return;
    case REGRESS_LINEAR:
        for (size_t i = 0; i <= (OUTCOME_LEVELS - 1) * PARTS_OF_LEVEL; i++) {
            const size_t steps = (OUTCOME_LEVELS - 1) * PARTS_OF_LEVEL;
            const double edge = 2 * ((double)i + 0.5) / (double)steps - 1;
            const double above = i == steps ? 0 : 1 - normal_below((edge - eta) / spread_of_linear);
            own[i] += chance * (left - above);
            left = above;
        }
        return;
    case REGRESS_POISSON: {
        double here = exp(-u);
        for (size_t y = 0; y < OUTCOME_LEVELS; y++) {
            own[y] += chance * (y + 1 < OUTCOME_LEVELS ? here : left);
            left -= here;
            here *= u / (double)(y + 1);
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
            own[j] += chance * died;
            own[INTERVALS + j] += chance * lost;
        }
        own[2 * INTERVALS] += chance * exp(-u * INTERVALS) * (1 - INTERVALS / censoring_end);
        return;
    }
}

/* What a record's predictors are, of which level says the cell. */
struct place {
    double z; /* of the first column */
    double chance;
    double eta;
    const size_t *level;
};

/* Goes through the parts of the levels of the columns from k on. */
static void add_parts(double *own, const struct simulated *from, const struct place *at, size_t k,
                      size_t slope)
{
    const struct model *model = &designs[from->which].model[from->design.family];
    const struct column *column = &designs[from->which].column[k];
    if (k == PREDICTORS) {
        add_outcomes(own, from->design.family, at->chance, at->eta);
        return;
    }
    const struct regress_predictor *predictor = &from->predictor[k];
    const size_t level = at->level[k];
    const size_t parts = predictor->is_number ? PARTS : 1;
    for (size_t i = 0; i < parts; i++) {
        const double low = (double)level + (double)i / (double)parts;
        const double high = (double)level + (double)(i + 1) / (double)parts;
        struct place next = *at;
        const double x = (low + high) / (double)predictor->levels - 1;
        next.chance *= below(column, high, predictor->levels, at->z) -
                       below(column, low, predictor->levels, at->z);
        next.eta += predictor->is_number ? model->slope[slope] * x
                    : level > 0          ? model->slope[slope + level - 1]
                                         : 0;
        add_parts(own, from, &next, k + 1,
                  slope + (predictor->is_number ? 1 : predictor->levels - 1));
    }
}

/* The first column is in FINE parts of its level. */
static void add_point(double *own, const struct simulated *from, const size_t *level)
{
    const struct model *model = &designs[from->which].model[from->design.family];
    const struct column *column = designs[from->which].column;
    const size_t levels = from->predictor[0].levels;
    double end[2];
    for (size_t i = 0; i < 2; i++) {
        const double value = 2 * (double)(level[0] + i) / (double)levels - 1;
        end[i] = level[0] + i == 0        ? -farthest
                 : level[0] + i == levels ? farthest
                                          : variable_at(&column[0], value);
    }
    for (size_t i = 0; i < FINE; i++) {
        const double z = end[0] + (end[1] - end[0]) * (double)i / FINE;
        const double next = end[0] + (end[1] - end[0]) * (double)(i + 1) / FINE;
        const double middle = (z + next) / 2;
        const double x = fmin(fmax(value_at(&column[0], middle), -1), 1);
        const struct place at = {middle, normal_below(next) - normal_below(z),
                                 model->baseline + model->slope[0] * x, level};
        add_parts(own, from, &at, 1, 1);
    }
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
        double own[OUTCOME_LEVELS * PARTS_OF_LEVEL] = {0};
        add_point(own, from, level);
        for (size_t i = 0; i < each; i++) {
            const size_t parts = from->design.family == REGRESS_LINEAR ? PARTS_OF_LEVEL : 1;
            intervals_source_put(out, own[i], point * from->design.outcomes + i / parts,
                                 (double)(i % parts) / (double)parts);
        }
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
