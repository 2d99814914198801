/* Medians of one of five sites alone, as answers by site tell them under trust local: what is released was planned for all five, and the
 * site has its own noise. Of a Table 1 those of two numbers, all groups together; of survival those of each group. Medians end at steps,
 * so that no width beside that of the true cells is claimed. */

#include "estimate/between.h"
#include "lab/study/study_intervals_survival.h"
#include "lab/study/study_intervals_table1.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TABLE1, SURVIVAL_FIRST, SURVIVAL_FOURTH, VARIANTS };
enum { QUESTIONS = 2 }; /* the two numbers, or the two groups */
enum { MIDDLE = 1 };    /* of the quartiles */

struct found {
    struct intervals_rate of[QUESTIONS]; /* intervals that hold the truth */
    size_t parts;                        /* steps or intervals that were planned */
};

/* An end that is not there is open. */
static void judge(struct intervals_rate *rate, const struct between_site *site, double truth)
{
    if (!isnan(site->value)) {
        intervals_count(rate, !(truth < site->low) && !(truth > site->high));
    }
}

static enum status run_table1(struct found *out, const struct world *world,
                              struct seeded_random *seeded)
{
    static double cell[VARIABLES][CELLS_MAX];
    const struct intervals_setting *setting = world->setting;
    const struct random random = seeded_random_interface(seeded);
    const double told = setting->planted * setting->planted;
    struct table1_sizes sizes;
    struct table1_block block[VARIABLES];
    enum status status = STATUS_OK;

    table1_world_draw(cell, world, seeded);
    for (size_t v = 0; v < VARIABLES && status == STATUS_OK; v++) {
        const size_t levels = table1_world_levels(world, v);
        status = intervals_noise_add(cell[v], GROUPS * (levels + 1) + 1, &world->noise[v], &random);
        block[v] = (struct table1_block){.cell = cell[v],
                                         .levels = levels,
                                         .step = v < 2 ? world->step[v] : NULL,
                                         .variance = told * world->variance[v]};
    }
    if (status != STATUS_OK) {
        return status;
    }
    table1_agree(&sizes, block, VARIABLES, GROUPS, (double)intervals_records(setting));
    for (size_t v = 0; v < QUESTIONS; v++) {
        struct table1_column column;
        struct between_site site;
        table1_column_of(&column, &block[v], &sizes, GROUPS);
        between_quantiles(&site, &column, 1);
        judge(&out->of[v], &site, world->truth[v][GROUPS].quantile[MIDDLE]);
    }
    return STATUS_OK;
}

static enum status simulate_table1(struct found *out, const struct intervals_setting *setting,
                                   struct seeded_random *seeded)
{
    static struct world world;
    enum status status = table1_world_init(&world, setting);
    out->parts = world.steps;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_table1(out, &world, seeded);
    }
    table1_world_free(&world);
    return status;
}

static enum status simulate_survival(struct found *out, const struct intervals_setting *setting,
                                     struct seeded_random *seeded)
{
    static double cell[SURVIVAL_RELEASED_MAX];
    const struct random random = seeded_random_interface(seeded);
    const size_t groups = world_groups(setting);
    struct intervals_source source = {.atom = NULL};
    struct intervals_noise noise;
    struct survival_public known;
    struct survival_release release;
    enum status status = world_plan(&known, &release, &noise, setting);
    if (status == STATUS_OK) {
        status = world_source(&source, release.intervals, setting);
    }
    out->parts = release.intervals;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        const struct survival_cells cells = {cell,
                                             groups,
                                             release.intervals,
                                             1,
                                             setting->planted * setting->planted * noise.variance,
                                             release.block};
        memset(cell, 0, sizeof cell);
        intervals_source_draw(cell, &source, intervals_records(setting), seeded);
        world_put_sums(cell, groups, release.intervals, release.block);
        status = intervals_noise_add(
            cell, survival_released(groups, release.intervals, release.block), &noise, &random);
        survival_balance(cell, &cells, (double)intervals_records(setting));
        for (size_t g = 0; g < QUESTIONS; g++) {
            struct between_site site;
            between_medians(&site, &cells, 1, g);
            judge(&out->of[g], &site, world_median(g, setting));
        }
    }
    intervals_source_free(&source);
    intervals_noise_free(&noise);
    return status;
}

/* A short run has one design of survival. */
static bool at(struct intervals_setting *out, const struct study_request *request, size_t *at)
{
    for (; intervals_setting_at(out, request, *at / VARIANTS); (*at)++) {
        const bool is_left_out = request->rounds > 0 && *at % VARIANTS == SURVIVAL_FOURTH;
        if (out->draws == INTERVALS_SITES && out->shares == 0 && !is_left_out) {
            out->variant = *at % VARIANTS;
            out->sites = 1;
            out->draws = 1;
            return true;
        }
    }
    return false;
}

enum { OF_TABLE1, OF_SURVIVAL };

static const struct intervals_claim claims[] = {
    [OF_TABLE1] = {"medians: intervals of a site's median in a Table 1, the worst of all settings",
                   INTERVALS_HOLD},
    [OF_SURVIVAL] = {"medians: intervals of a site's median survival", INTERVALS_HOLD},
};

static enum status run(struct intervals_told *told, struct intervals_setting *setting)
{
    static const char *const names[VARIANTS] = {"Table 1", "survival", "survival, fourth"};
    const size_t variant = setting->variant;
    const double runs = (double)setting->runs;
    struct found found = {.parts = 0};
    struct seeded_random seeded;
    struct intervals_setting own = *setting;
    char(*text)[INTERVALS_TEXT] = told->text;

    own.variant = variant == SURVIVAL_FOURTH ? 2 * (WORLD_DESIGNS_OF_TWO - 1) : 0;
    seeded_random_init(&seeded, setting->seed);
    const enum status status = variant == TABLE1 ? simulate_table1(&found, &own, &seeded)
                                                 : simulate_survival(&found, &own, &seeded);
    for (size_t i = 0; i < QUESTIONS && status == STATUS_OK; i++) {
        intervals_take(told, variant == TABLE1 ? OF_TABLE1 : OF_SURVIVAL, &found.of[i],
                       setting->runs);
    }
    for (size_t i = 1; i < INTERVALS_COLUMNS; i++) {
        (void)snprintf(text[i], INTERVALS_TEXT, "-");
    }
    (void)snprintf(text[0], INTERVALS_TEXT, "site alone, %s%s, %d of 5 x %d, epsilon %g",
                   names[variant], setting->is_gaussian ? ", Gaussian" : "",
                   (int)setting->site_records, (int)setting->site_records, setting->epsilon);
    (void)snprintf(text[1], INTERVALS_TEXT, "%zu", found.parts);
    (void)snprintf(text[2], INTERVALS_TEXT, "%.2f, %.2f", (double)found.of[0].all / runs,
                   (double)found.of[1].all / runs);
    (void)snprintf(text[3], INTERVALS_TEXT, "medians %.3f, %.3f", intervals_share(&found.of[0]),
                   intervals_share(&found.of[1]));
    return status;
}

const struct intervals_kind intervals_medians = {
    .name = "medians",
    .variants = VARIANTS,
    .runs_times = 1,
    .planted = 0.1,
    .at = at,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};
