/* A Table 1 of two groups, the first with 70 % of the records: an age in whole years, a level whose public range is of its
 * logarithm, and a category of 60, 35 and 5 %. 3 % of each are missing. The second group is four years older and a third
 * higher. The age has steps between its years and years between its steps: intervals may not rest on how values lie. */

#include "lab/study/study_intervals_table1.h"

#include <math.h>
#include <string.h>

enum { FINE = 40000, STEPS_BEFORE_PLAN = 32 };

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

static size_t levels_of(const struct world *world, size_t variable)
{
    return variable < 2 ? world->steps : CATEGORIES;
}

double table1_world_group(size_t group)
{
    return group == GROUPS ? 1 : group == 0 ? first_share : 1 - first_share;
}

double table1_world_category(size_t k)
{
    return category_end[k] - (k > 0 ? category_end[k - 1] : 0);
}

double table1_world_present(void)
{
    return 1 - missing_share;
}

/* A normal variable at the middles of FINE even ranks. */
static const double *normals(void)
{
    static double normal[FINE];
    for (size_t i = 0; i < FINE && normal[FINE - 1] == 0; i++) {
        normal[i] = normal_at(((double)i + 0.5) / FINE);
    }
    return normal;
}

static void put_number(struct intervals_source *source, const struct world *world, size_t variable,
                       double value)
{
    const double *step = world->step[variable];
    const double at = variable == 0 ? value : log1p(value);
    const double place = (at - range[variable][0]) / (range[variable][1] - range[variable][0]) *
                         (double)(world->steps - 1);
    const size_t k = (size_t)fmin(fmax(floor(place), 0), (double)world->steps - 2);
    const double above = fmin(fmax((value - step[k]) / (step[k + 1] - step[k]), 0), 1);
    intervals_source_put(source, (1 - missing_share) / FINE, k, above);
}

static enum status make_source(struct intervals_source *out, const struct world *world,
                               size_t variable, size_t group)
{
    const double *normal = normals();
    intervals_source_init(out, FINE + 1);
    for (size_t i = 0; i < FINE && variable < 2; i++) {
        put_number(out, world, variable, value_of(variable, group, normal[i]));
    }
    for (size_t k = 0; k < CATEGORIES && variable == 2; k++) {
        intervals_source_put(out, (1 - missing_share) * table1_world_category(k), k, 0);
    }
    intervals_source_put(out, missing_share, levels_of(world, variable), 0);
    return intervals_source_ready(out);
}

enum status table1_world_init(struct world *world, const struct intervals_setting *setting)
{
    static double values[GROUPS][FINE];
    /* One that is alone has what was planned for all. */
    const double sites = setting->sites == 1 ? INTERVALS_SITES : 1;
    const double records = sites * (double)intervals_records(setting);
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
                .records = records, .groups = GROUPS, .variance = sites * world->variance[0]});
        }
    }
    for (size_t v = 0; v < 2; v++) {
        for (size_t k = 0; k < world->steps; k++) {
            const double at =
                range[v][0] + (range[v][1] - range[v][0]) * (double)k / (double)(world->steps - 1);
            world->step[v][k] = v == 0 ? at : expm1(at);
        }
        for (size_t g = 0; g < GROUPS; g++) {
            for (size_t i = 0; i < FINE; i++) {
                values[g][i] = value_of(v, g, normals()[i]);
            }
        }
        for (size_t g = 0; g <= GROUPS; g++) {
            world->truth[v][g] = truth_of(values, g);
        }
    }
    for (size_t i = 0; i < VARIABLES * GROUPS && status == STATUS_OK; i++) {
        status = make_source(&world->source[i / GROUPS][i % GROUPS], world, i / GROUPS, i % GROUPS);
    }
    return status;
}

void table1_world_draw(double cell[VARIABLES][CELLS_MAX], const struct world *world,
                       struct seeded_random *seeded)
{
    const uint64_t records = intervals_records(world->setting);
    uint64_t first = 0;
    memset(cell, 0, VARIABLES * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        first += seeded_random_unit(seeded) < first_share ? 1 : 0;
    }
    for (size_t i = 0; i < VARIABLES * GROUPS; i++) {
        const size_t v = i / GROUPS;
        const size_t group = i % GROUPS;
        const size_t levels = levels_of(world, v);
        intervals_source_draw(cell[v] + group * (levels + 1), &world->source[v][group],
                              group == 0 ? first : records - first, seeded);
    }
}

enum status table1_world_add_noise(double cell[VARIABLES][CELLS_MAX], const struct world *world,
                                   struct seeded_random *seeded)
{
    const struct random random = seeded_random_interface(seeded);
    enum status status = STATUS_OK;
    for (size_t v = 0; v < VARIABLES && status == STATUS_OK; v++) {
        const size_t cells = GROUPS * (levels_of(world, v) + 1) + 1;
        status = intervals_noise_add(cell[v], cells, &world->noise[v], &random);
    }
    return status;
}

void table1_world_agree(struct table1_sizes *sizes, struct table1_block *block,
                        double cell[VARIABLES][CELLS_MAX], const struct world *world, double told)
{
    for (size_t v = 0; v < VARIABLES; v++) {
        block[v] = (struct table1_block){.cell = cell[v],
                                         .levels = levels_of(world, v),
                                         .step = v < 2 ? world->step[v] : NULL,
                                         .variance = told * told * world->variance[v]};
    }
    table1_agree(sizes, block, VARIABLES, GROUPS, (double)intervals_records(world->setting));
}

void table1_world_expect(double cell[VARIABLES][CELLS_MAX], const struct world *world)
{
    const double records = (double)intervals_records(world->setting);
    memset(cell, 0, VARIABLES * sizeof *cell);
    for (size_t i = 0; i < VARIABLES * GROUPS; i++) {
        const size_t v = i / GROUPS;
        const size_t group = i % GROUPS;
        const size_t levels = levels_of(world, v);
        intervals_source_expect(cell[v] + group * (levels + 1), &world->source[v][group],
                                records * table1_world_group(group));
    }
}

void table1_world_free(struct world *world)
{
    for (size_t v = 0; v < VARIABLES; v++) {
        intervals_noise_free(&world->noise[v]);
        for (size_t g = 0; g < GROUPS; g++) {
            intervals_source_free(&world->source[v][g]);
        }
    }
}
