/* study_intervals_regress_world.c - how records of a design come about, and which cells they are in. */

#include "lab/study/study_intervals_regress.h"

#include <math.h>
#include <string.h>

enum { FINE = 16, PARTS = 4, PARTS_OF_LEVEL = 32 };

static const double farthest = 5; /* of the first column's variable */

static const double most_counted = 7; /* of a Poisson outcome */
static const double censoring_end = 1.5 * INTERVALS;

static const double spread_of_linear = 0.2;

static bool is_whole(const struct column *column)
{
    return column->kind == WHOLE || column->kind == UNSAID;
}

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

/* The value that a normal variable is below with this chance, in (-8, 8). */
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
    case WHOLE:
    case UNSAID:
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
    case WHOLE:
    case UNSAID:
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

/* The chance of a whole number to be below another. */
static double whole_below(const struct column *column, size_t number, double z)
{
    if (number == 0 || number == column->categories) {
        return number == 0 ? 0 : 1;
    }
    const double w = normal_at(sqrt((double)number / (double)column->categories));
    return normal_below((w - column->correlation * z) /
                        sqrt(1 - column->correlation * column->correlation));
}

static void set_atoms(struct regress_predictor *out, size_t count)
{
    out->atoms = count;
    for (size_t i = 0; i < count; i++) {
        out->atom[i] = 2 * (double)i / (double)(count - 1) - 1;
    }
}

/* Whole numbers by the edges of levels that are even over [-1, 1]. */
static void place_atoms(struct regress_predictor *out, size_t count)
{
    size_t next = 0;
    set_atoms(out, count);
    for (size_t k = 0; k < out->levels; k++) {
        const double edge = 2 * (double)(k + 1) / (double)out->levels - 1;
        while (next < count && (k + 1 == out->levels || out->atom[next] < edge - 1e-9)) {
            next++;
        }
        out->atom_end[k] = next;
    }
}

static void set_levels(struct simulated *out, size_t levels)
{
    out->is_unsaid = false;
    for (size_t i = 0; i < PREDICTORS; i++) {
        struct regress_predictor *predictor = &out->predictor[i];
        const struct column *column = &regress_world_designs[out->which].column[i];
        predictor->is_number = column->kind != CATEGORY;
        predictor->levels = predictor->is_number ? levels : column->categories;
        if (column->kind == WHOLE) {
            set_atoms(predictor, column->categories);
        }
        regress_set_even(predictor);
        out->whole[i] = *predictor;
        if (column->kind == UNSAID) {
            place_atoms(&out->whole[i], column->categories);
            out->is_unsaid = true;
        }
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
    out->other = out->design;
    out->other.predictor = out->whole;
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

/* A record's predictors; the cell says their levels. */
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
    const struct model *model = &regress_world_designs[from->which].model[from->design.family];
    const struct column *column = &regress_world_designs[from->which].column[k];
    if (k == PREDICTORS) {
        add_outcomes(own, from->design.family, at->chance, at->eta);
        return;
    }
    const struct regress_predictor *predictor = &from->predictor[k];
    const size_t level = at->level[k];
    const size_t parts = predictor->is_number ? PARTS : 1;
    if (is_whole(column)) {
        const struct regress_predictor *whole = &from->whole[k];
        for (size_t v = level > 0 ? whole->atom_end[level - 1] : 0; v < whole->atom_end[level];
             v++) {
            struct place next = *at;
            next.chance *= whole_below(column, v + 1, at->z) - whole_below(column, v, at->z);
            next.eta += model->slope[slope] * whole->atom[v];
            add_parts(own, from, &next, k + 1, slope + 1);
        }
        return;
    }
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
    const struct model *model = &regress_world_designs[from->which].model[from->design.family];
    const struct column *column = regress_world_designs[from->which].column;
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
    return regress_world_designs[design_of(setting)].name;
}

const double *regress_world_slopes(const struct simulated *from)
{
    return regress_world_designs[from->which].model[from->design.family].slope;
}

size_t regress_world_slope_count(const struct simulated *from)
{
    return regress_world_designs[from->which].slopes;
}
