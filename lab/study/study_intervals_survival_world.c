/* Survival of two groups, and of three and four. The first one's hazard is constant, the others' rise or fall (or are the
 * first's: a true null). Censoring is uniform from the beginning on. The rules were built on the first three designs, and the
 * fourth confirms. On those of more groups nothing was built. */

#include "lab/study/study_intervals_survival.h"

#include <math.h>
#include <string.h>

enum { FINE = 64, GROUPS_MAX = 4 };

/* A cumulative hazard is hazard * t^power. */
static const struct design {
    const char *name;
    size_t groups;
    double hazard[GROUPS_MAX];
    double power[GROUPS_MAX];
    double censoring_end;     /* censoring is uniform up to it */
    double share[GROUPS_MAX]; /* of the records */
} designs[WORLD_DESIGNS_OF_TWO + WORLD_DESIGNS_OF_GROUPS] = {
    {"", 2, {0.8, 0.6}, {1, 1.5}, 2, {0.5, 0.5}},
    {", second", 2, {1.1, 0.9}, {1, 1.5}, 2, {0.5, 0.5}},
    {", third", 2, {1.3, 1}, {1, 0.8}, 1.6, {0.6, 0.4}},
    {", fourth", 2, {1.6, 1.2}, {1, 1.2}, 2.4, {0.45, 0.55}},
    {", three", 3, {1.2, 0.9, 1.6}, {1, 1.3, 0.9}, 2, {0.5, 0.3, 0.2}},
    {", four", 4, {1.1, 0.8, 1.4, 1.9}, {1, 1.2, 1, 0.8}, 2.2, {0.4, 0.3, 0.2, 0.1}},
};

static const struct design *design_of(const struct intervals_setting *setting)
{
    return &designs[setting->variant / 2];
}

bool world_is_null(const struct intervals_setting *setting)
{
    return setting->variant % 2 == 1;
}

const char *world_name(const struct intervals_setting *setting)
{
    return design_of(setting)->name;
}

size_t world_groups(const struct intervals_setting *setting)
{
    return design_of(setting)->groups;
}

double world_cumulative(size_t group, const struct intervals_setting *setting, double t)
{
    const struct design *design = design_of(setting);
    return group == 0 || world_is_null(setting)
               ? design->hazard[0] * t
               : design->hazard[group] * pow(t, design->power[group]);
}

double world_mean(size_t group, const struct intervals_setting *setting)
{
    enum { STEPS = 4096 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        sum += exp(-world_cumulative(group, setting, (i + 0.5) / STEPS));
    }
    return sum / STEPS;
}

/* All groups reach it before 1 or not at all. */
double world_median(size_t group, const struct intervals_setting *setting)
{
    const struct design *design = design_of(setting);
    return group == 0 || world_is_null(setting)
               ? log(2) / design->hazard[0]
               : pow(log(2) / design->hazard[group], 1 / design->power[group]);
}

/* By the records and noise of all sites. */
static enum status plan(struct world_lives *out, const struct intervals_setting *setting)
{
    const double sites = setting->sites == 1 ? INTERVALS_SITES : 1; /* one of them is alone */
    enum status status = intervals_studies_init(&out->studies, setting, &intervals_two_cells);
    out->groups = world_groups(setting);
    out->release =
        survival_plan(&(struct survival_public){.records = sites * (double)out->studies.records,
                                                .groups = out->groups,
                                                .variance = sites * out->studies.noise.variance},
                      setting->is_gaussian);
    if (status == STATUS_OK && out->release.block > 0) {
        /* A cell and a sum, and others. */
        intervals_studies_free(&out->studies);
        status = intervals_studies_init(&out->studies, setting, &(struct intervals_moves){4, 2});
    }
    return status;
}

/* Each interval's deaths and censorings by steps of it. */
static enum status make_source(struct intervals_source *out, size_t k,
                               const struct intervals_setting *setting)
{
    const struct design *design = design_of(setting);
    const double censoring_end = design->censoring_end;
    intervals_source_init(out, design->groups * (2 * FINE * k + 1));
    for (size_t g = 0; g < design->groups; g++) {
        const size_t first = g * (2 * k + 1);
        const double own = design->share[g];
        for (size_t i = 0; i < FINE * k; i++) {
            const double t = (double)i / (double)(FINE * k);
            const double next = (double)(i + 1) / (double)(FINE * k);
            const double alive = exp(-world_cumulative(g, setting, t));
            const double later = exp(-world_cumulative(g, setting, next));
            const double kept = 1 - (t + next) / 2 / censoring_end;
            intervals_source_put(out, own * (alive - later) * kept, first + i / FINE, 0);
            intervals_source_put(out, own * (alive + later) / 2 * (next - t) / censoring_end,
                                 first + k + i / FINE, 0);
        }
        intervals_source_put(out,
                             own * exp(-world_cumulative(g, setting, 1)) * (1 - 1 / censoring_end),
                             first + 2 * k, 0);
    }
    return intervals_source_ready(out);
}

enum status world_init(struct world_lives *out, const struct intervals_setting *setting)
{
    const enum status status = plan(out, setting);
    return status == STATUS_OK ? make_source(&out->studies.source, out->release.intervals, setting)
                               : status;
}

/* Writes the sums of blocks after the cells. */
static void put_sums(double *cell, size_t groups, size_t k, size_t block)
{
    double *sum = cell + SURVIVAL_CELLS(groups, k);
    for (size_t g = 0; g < groups && block > 0; g++) {
        const double *own = cell + g * (2 * k + 1);
        for (size_t tree = 0; tree < 2; tree++) {
            const size_t end = tree == 0 ? k : 2 * k + 1;
            for (size_t first = tree * k; first < end; first += block, sum++) {
                *sum = 0;
                for (size_t i = first; i < end && i < first + block; i++) {
                    *sum += own[i];
                }
            }
        }
    }
}

struct survival_cells world_cells(const struct world_lives *lives, const double *cell,
                                  double variance)
{
    return (struct survival_cells){cell, lives->groups, lives->release.intervals,
                                   1,    variance,      lives->release.block};
}

enum status world_draw(double *cell, double *exact, struct world_lives *lives)
{
    struct intervals_studies *studies = &lives->studies;
    const size_t k = lives->release.intervals;
    const size_t block = lives->release.block;
    const size_t count = SURVIVAL_CELLS(lives->groups, k);
    const struct survival_cells released = world_cells(lives, cell, studies->told);
    memset(exact, 0, count * sizeof *exact);
    intervals_source_draw(exact, &studies->source, studies->records, &studies->seeded);
    memcpy(cell, exact, count * sizeof *exact);
    put_sums(cell, lives->groups, k, block);
    const enum status status = intervals_noise_add(cell, survival_released(lives->groups, k, block),
                                                   &studies->noise, &studies->random);
    survival_balance(cell, &released, (double)studies->records);
    return status;
}
