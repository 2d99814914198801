/* A Table 1 of two groups, the first with 70 % of the records: an age in whole years, a level whose public range is of its
 * logarithm, and a category of 60, 35 and 5 %. Of each, 3 % are missing. The second group is four years older and a third
 * higher. The age has steps between its years and years between its steps: intervals may not rest on how values lie. */

#include "estimate/cells.h"
#include "estimate/table1.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, FINE = 40000, VARIABLES = 3, CATEGORIES = 3 };
enum { STEPS_BEFORE_PLAN = 32, CELLS_MAX = GROUPS * (TABLE1_LEVELS_MAX + 1) + 1 };

static const double first_share = 0.7;
static const double missing_share = 0.03;
static const double category_end[CATEGORIES] = {0.6, 0.95, 1};
static const double range[2][2] = {{50, 98}, {0.15, 1.95}}; /* the second: of log(1 + level) */

/* A value by its rank in (0, 1). Beyond the public range it is clamped. */
static double normal_at(double rank)
{
    double low = -9;
    double high = 9;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(erfc(-middle / sqrt(2)) / 2 < rank ? &low : &high) = middle;
    }
    return low;
}

static double value_of(size_t variable, size_t group, double normal)
{
    if (variable == 0) {
        return fmin(fmax(floor(68 + 4 * (double)group + 10 * normal), range[0][0]), range[0][1]);
    }
    const double level = exp(0.3 + 0.3 * (double)group + 0.5 * normal);
    return fmin(fmax(level, expm1(range[1][0])), expm1(range[1][1]));
}

/* What is true of a number in a group, or in both. */
struct truth {
    double mean;
    double deviation;
    double quantile[3];
};

/* values: (GROUPS, FINE), each rising */
static struct truth truth_of(double values[GROUPS][FINE], size_t group)
{
    const double weight[GROUPS] = {group == 1 ? 0 : first_share, group == 0 ? 0 : 1 - first_share};
    const double all = weight[0] + weight[1];
    struct truth out = {.mean = 0};
    double square = 0;
    size_t at[GROUPS] = {0};
    double below = 0;
    size_t found = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        for (size_t i = 0; i < FINE; i++) {
            out.mean += weight[g] / all * values[g][i] / FINE;
            square += weight[g] / all * values[g][i] * values[g][i] / FINE;
        }
    }
    out.deviation = sqrt(square - out.mean * out.mean);
    while (found < 3) {
        const size_t g =
            at[1] == FINE || (at[0] < FINE && values[0][at[0]] <= values[1][at[1]]) ? 0 : 1;
        below += weight[g] / all / FINE;
        if (below >= 0.25 * (double)(found + 1) - 1e-9) {
            out.quantile[found++] = values[g][at[g]];
        }
        at[g]++;
    }
    return out;
}

struct world {
    const struct intervals_setting *setting;
    struct truth truth[2][GROUPS + 1];
    size_t steps;
    double step[2][TABLE1_LEVELS_MAX];
    double variance[VARIABLES]; /* that the analysis is told */
    struct intervals_noise noise[VARIABLES];
};

/* As query_table1.c plans and splits the price. */
static enum status world_init(struct world *world, const struct intervals_setting *setting)
{
    static double values[GROUPS][FINE];
    const double records = (double)(INTERVALS_SITES * setting->site_records);
    enum status status = STATUS_OK;
    *world = (struct world){.setting = setting, .steps = STEPS_BEFORE_PLAN};
    for (int planned = 0; planned < 2; planned++) {
        double part[VARIABLES];
        double sum = 0;
        double squares = 0;
        for (size_t v = 0; v < VARIABLES; v++) {
            const double need = table1_need(v < 2, v < 2 ? world->steps : CATEGORIES) /
                                table1_need(true, world->steps);
            part[v] = setting->is_gaussian ? cbrt(need) : sqrt(need);
            sum += part[v];
            squares += part[v] * part[v];
        }
        for (size_t v = 0; v < VARIABLES && status == STATUS_OK; v++) {
            const struct intervals_moves moves = {2 * sum / part[v], sqrt(2 * squares) / part[v]};
            intervals_noise_free(&world->noise[v]);
            status = intervals_noise_init(&world->noise[v], setting, &moves);
            world->variance[v] = world->noise[v].variance;
        }
        if (planned == 0) {
            world->steps = table1_plan(&(struct table1_public){
                .records = records, .groups = GROUPS, .variance = world->variance[0]});
        }
    }
    for (size_t v = 0; v < VARIABLES; v++) {
        world->variance[v] *= setting->planted * setting->planted;
    }
    for (size_t v = 0; v < 2; v++) {
        for (size_t k = 0; k < world->steps; k++) {
            const double at =
                range[v][0] + (range[v][1] - range[v][0]) * (double)k / (double)(world->steps - 1);
            world->step[v][k] = v == 0 ? at : expm1(at);
        }
        for (size_t g = 0; g < GROUPS; g++) {
            for (size_t i = 0; i < FINE; i++) {
                values[g][i] = value_of(v, g, normal_at(((double)i + 0.5) / FINE));
            }
        }
        for (size_t g = 0; g <= GROUPS; g++) {
            world->truth[v][g] = truth_of(values, g);
        }
    }
    return status;
}

static void put_number(double *own, const struct world *world, size_t variable, double value)
{
    const double *step = world->step[variable];
    const double at = variable == 0 ? value : log1p(value);
    const double place = (at - range[variable][0]) / (range[variable][1] - range[variable][0]) *
                         (double)(world->steps - 1);
    const size_t k = (size_t)fmin(fmax(floor(place), 0), (double)world->steps - 2);
    const double above = fmin(fmax((value - step[k]) / (step[k + 1] - step[k]), 0), 1);
    own[k] += 1 - above;
    own[k + 1] += above;
}

static double draw_normal(struct seeded_random *seeded)
{
    const double radius = sqrt(-2 * log(1 - seeded_random_unit(seeded)));
    return radius * cos(2 * 3.14159265358979323846 * seeded_random_unit(seeded));
}

static void draw_cells(double cell[VARIABLES][CELLS_MAX], const struct world *world,
                       struct seeded_random *seeded)
{
    const uint64_t records = INTERVALS_SITES * world->setting->site_records;
    memset(cell, 0, VARIABLES * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        const size_t group = seeded_random_unit(seeded) < first_share ? 0 : 1;
        for (size_t v = 0; v < VARIABLES; v++) {
            const size_t levels = v < 2 ? world->steps : CATEGORIES;
            double *own = cell[v] + group * (levels + 1);
            if (seeded_random_unit(seeded) < missing_share) {
                own[levels]++;
            } else if (v < 2) {
                put_number(own, world, v, value_of(v, group, draw_normal(seeded)));
            } else {
                const double u = seeded_random_unit(seeded);
                own[u < category_end[0] ? 0 : u < category_end[1] ? 1 : 2]++;
            }
        }
    }
}

static void judge(struct intervals_table1 *out, enum intervals_figure which,
                  const struct table1_figure *figure, double truth)
{
    out->asked[which]++;
    if (!isnan(figure->estimate.value)) {
        intervals_count(&out->figure[which],
                        figure->estimate.low <= truth && truth <= figure->estimate.high);
    }
}

static void judge_number(struct intervals_table1 *out, const struct world *world, size_t variable,
                         const struct table1_column *column, size_t group)
{
    const struct truth *truth = &world->truth[variable][group];
    const enum intervals_figure first = variable == 0 ? INTERVALS_AGE_MEAN : INTERVALS_LEVEL_MEAN;
    const struct table1_figure mean = table1_mean(column);
    const struct table1_figure deviation = table1_deviation(column);
    judge(out, first, &mean, truth->mean);
    judge(out, first + 1, &deviation, truth->deviation);
    for (size_t i = 0; i < 3; i++) {
        const struct table1_figure quantile = table1_quantile(column, 0.25 * (double)(i + 1));
        judge(out, first + 2 + (enum intervals_figure)i, &quantile, truth->quantile[i]);
    }
}

static void add_up(struct intervals_table1 *out, const struct table1_figure *released,
                   const struct table1_figure *exact, size_t which)
{
    if (!isnan(released->estimate.value) && !isnan(exact->estimate.value)) {
        out->width[which] += released->estimate.high - released->estimate.low;
        out->width_free[which] += exact->estimate.high - exact->estimate.low;
    }
}

static void balance(struct table1_sizes *sizes, struct table1_block *block,
                    double cell[VARIABLES][CELLS_MAX], const struct world *world, double variance)
{
    for (size_t v = 0; v < VARIABLES; v++) {
        block[v] = (struct table1_block){.cell = cell[v],
                                         .levels = v < 2 ? world->steps : CATEGORIES,
                                         .step = v < 2 ? world->step[v] : NULL,
                                         .variance = variance * world->variance[v]};
    }
    table1_agree(sizes, block, VARIABLES, GROUPS,
                 (double)(INTERVALS_SITES * world->setting->site_records));
}

static enum status run_one(struct intervals_table1 *out, const struct world *world,
                           struct seeded_random *seeded)
{
    static double exact_cell[VARIABLES][CELLS_MAX];
    static double cell[VARIABLES][CELLS_MAX];
    const struct random random = seeded_random_interface(seeded);
    struct table1_sizes sizes[2];
    struct table1_block block[2][VARIABLES];
    struct table1_column column[2];
    enum status status = STATUS_OK;

    draw_cells(exact_cell, world, seeded);
    memcpy(cell, exact_cell, sizeof cell);
    for (size_t v = 0; v < VARIABLES && status == STATUS_OK; v++) {
        const size_t cells = GROUPS * ((v < 2 ? world->steps : CATEGORIES) + 1) + 1;
        status = intervals_noise_add(cell[v], cells, &world->noise[v], &random);
    }
    balance(&sizes[0], block[0], cell, world, 1);
    balance(&sizes[1], block[1], exact_cell, world, 0);
    for (size_t g = 0; g <= GROUPS; g++) {
        for (size_t v = 0; v < VARIABLES; v++) {
            table1_column_of(&column[0], &block[0][v], &sizes[0], g);
            table1_column_of(&column[1], &block[1][v], &sizes[1], g);
            if (v < 2) {
                const struct table1_figure mean[2] = {table1_mean(&column[0]),
                                                      table1_mean(&column[1])};
                const struct table1_figure median[2] = {table1_quantile(&column[0], 0.5),
                                                        table1_quantile(&column[1], 0.5)};
                judge_number(out, world, v, &column[0], g);
                add_up(out, &mean[0], &mean[1], 0);
                add_up(out, &median[0], &median[1], 1);
                continue;
            }
            for (size_t k = 0; k < CATEGORIES; k++) {
                const struct table1_figure share[2] = {table1_share(&column[0], k),
                                                       table1_share(&column[1], k)};
                const double truth = category_end[k] - (k > 0 ? category_end[k - 1] : 0);
                judge(out, k == 2 ? INTERVALS_RARE_SHARE : INTERVALS_SHARE, &share[0], truth);
                add_up(out, &share[0], &share[1], 2);
            }
        }
    }
    return status;
}

enum status intervals_table1(struct intervals_table1 *out, const struct intervals_setting *setting)
{
    static struct world world;
    struct seeded_random seeded;
    *out = (struct intervals_table1){.runs = setting->runs};
    enum status status = world_init(&world, setting);
    out->steps = world.steps;
    seeded_random_init(&seeded, setting->seed);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_one(out, &world, &seeded);
    }
    for (size_t v = 0; v < VARIABLES; v++) {
        intervals_noise_free(&world.noise[v]);
    }
    return status;
}
