/* Medians of one of five sites alone, as answers by site tell them under trust local: what is released was planned for all five, and the
 * site has its own noise. Of a Table 1 those of two numbers, all groups together; of survival those of each group. Medians end at steps,
 * so that no width beside that of the true cells is claimed. */

#include "estimate/between.h"
#include "lab/study/study_intervals_survival.h"
#include "lab/study/study_intervals_table1.h"

#include <math.h>

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
    struct table1_sizes sizes;
    struct table1_block block[VARIABLES];
    table1_world_draw(cell, world, seeded);
    const enum status status = table1_world_add_noise(cell, world, seeded);
    table1_world_agree(&sizes, block, cell, world, world->setting->planted);
    for (size_t v = 0; v < QUESTIONS && status == STATUS_OK; v++) {
        struct table1_column column;
        struct between_site site;
        table1_column_of(&column, &block[v], &sizes, GROUPS);
        between_quantiles(&site, &column, 1);
        judge(&out->of[v], &site, world->truth[v][GROUPS].quantile[MIDDLE]);
    }
    return status;
}

static enum status simulate_table1(struct found *out, const struct intervals_setting *setting)
{
    static struct world world;
    struct seeded_random seeded;
    enum status status = table1_world_init(&world, setting);
    out->parts = world.steps;
    seeded_random_init(&seeded, setting->seed);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = run_table1(out, &world, &seeded);
    }
    table1_world_free(&world);
    return status;
}

static enum status simulate_survival(struct found *out, const struct intervals_setting *setting)
{
    static double exact[SURVIVAL_CELLS_MAX];
    static double cell[SURVIVAL_RELEASED_MAX];
    struct world_lives lives;
    enum status status = world_init(&lives, setting);
    const struct survival_cells cells = world_cells(&lives, cell, lives.studies.told);
    out->parts = lives.release.intervals;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = world_draw(cell, exact, &lives);
        for (size_t g = 0; g < QUESTIONS; g++) {
            struct between_site site;
            between_medians(&site, &cells, 1, g);
            judge(&out->of[g], &site, world_median(g, setting));
        }
    }
    intervals_studies_free(&lives.studies);
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

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    static const char *const names[VARIANTS] = {"Table 1", "survival", "survival, fourth"};
    const size_t variant = setting->variant;
    struct found found = {.parts = 0};
    struct intervals_setting own = *setting;
    own.variant = variant == SURVIVAL_FOURTH ? 2 * (WORLD_DESIGNS_OF_TWO - 1) : 0;
    const enum status status =
        variant == TABLE1 ? simulate_table1(&found, &own) : simulate_survival(&found, &own);
    intervals_tell(told, 0, "site alone, %s%s, %d of 5 x %d, epsilon %g", names[variant],
                   setting->is_gaussian ? ", Gaussian" : "", (int)setting->site_records,
                   (int)setting->site_records, setting->epsilon);
    intervals_tell(told, 1, "%zu", found.parts);
    for (size_t i = 0; i < QUESTIONS; i++) {
        intervals_take(told, variant == TABLE1 ? OF_TABLE1 : OF_SURVIVAL, &found.of[i],
                       setting->runs);
        intervals_tell_shown(told, 2, i == 0 ? "" : ", ", &found.of[i], setting->runs);
        intervals_tell_share(told, 3, i == 0 ? "medians " : ", ", &found.of[i]);
    }
    return status;
}

INTERVALS_KIND(medians, .variants = VARIANTS, .runs_times = 1, .planted = 0.1, .at = at);
