/* Medians of one of five sites alone, as answers by site tell them under trust local: what is released was planned for all
 * five, and the site has its own noise. Of a Table 1 those of two numbers, all groups together; of survival those of each
 * group. Medians end at steps, so that no width beside that of the true cells is claimed. */

#include "estimate/between.h"
#include "lab/study/study_intervals_survival.h"
#include "lab/study/study_intervals_table1.h"

#include <math.h>
#include <string.h>

enum { TABLE1, SURVIVAL_FIRST, SURVIVAL_FOURTH, VARIANTS };
enum { QUESTIONS = 2 }; /* the two numbers, or the two groups */
enum { MIDDLE = 1 };    /* of the quartiles */
enum { CLEAN_EACH = 10 };

struct found {
    struct intervals_rate of[QUESTIONS];     /* intervals that hold the truth */
    struct intervals_width width[QUESTIONS]; /* without noise: of each tenth study */
    size_t parts;                            /* steps or intervals that were planned */
};

/* An end that is not there is open. */
static void judge(struct intervals_rate *rate, const struct between_site *site, double truth)
{
    if (!isnan(site->value)) {
        intervals_count(rate, !(truth < site->low) && !(truth > site->high));
    }
}

/* of: QUESTIONS; told: the share of the noise that the analysis is told */
static void tell_table1(struct between_site *of, double cell[VARIABLES][CELLS_MAX],
                        const struct world *world, double told)
{
    struct table1_sizes sizes;
    struct table1_block block[VARIABLES];
    table1_world_agree(&sizes, block, cell, world, told);
    for (size_t v = 0; v < QUESTIONS; v++) {
        struct table1_column column;
        table1_column_of(&column, &block[v], &sizes, GROUPS);
        between_quantiles(&of[v], &column, 1);
    }
}

static void compare_widths(struct found *out, const struct between_site *own,
                           const struct between_site *clean)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        intervals_add_width(&out->width[i], own[i].high - own[i].low, clean[i].high - clean[i].low);
    }
}

static enum status run_table1(struct found *out, const struct world *world,
                              struct seeded_random *seeded, bool is_compared)
{
    static double exact[VARIABLES][CELLS_MAX];
    static double cell[VARIABLES][CELLS_MAX];
    struct between_site own[QUESTIONS];
    struct between_site clean[QUESTIONS];
    table1_world_draw(exact, world, seeded);
    memcpy(cell, exact, sizeof cell);
    const enum status status = table1_world_add_noise(cell, world, seeded);
    tell_table1(own, cell, world, world->setting->planted);
    for (size_t v = 0; v < QUESTIONS && status == STATUS_OK; v++) {
        judge(&out->of[v], &own[v], world->truth[v][GROUPS].quantile[MIDDLE]);
    }
    if (is_compared) {
        tell_table1(clean, exact, world, 0);
        compare_widths(out, own, clean);
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
        status = run_table1(out, &world, &seeded, i % CLEAN_EACH == 0);
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
    struct survival_cells clean = world_cells(&lives, exact, 0);
    clean.block = 0; /* cells alone, without the sums after them */
    out->parts = lives.release.intervals;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = world_draw(cell, exact, &lives);
        struct between_site own[QUESTIONS];
        struct between_site without[QUESTIONS];
        for (size_t g = 0; g < QUESTIONS; g++) {
            between_medians(&own[g], &cells, 1, g);
            judge(&out->of[g], &own[g], world_median(g, setting));
            if (i % CLEAN_EACH == 0) {
                between_medians(&without[g], &clean, 1, g);
            }
        }
        if (i % CLEAN_EACH == 0) {
            compare_widths(out, own, without);
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
    struct found found = {.width = {{.by_true = NAN}, {.by_true = NAN}}};
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
                       setting->runs, &found.width[i]);
        intervals_tell_shown(told, 2, i == 0 ? "" : ", ", &found.of[i], setting->runs);
        intervals_tell_share(told, 3, i == 0 ? "medians " : ", ", &found.of[i]);
    }
    return status;
}

INTERVALS_KIND(medians, .variants = VARIANTS, .runs_times = 1, .planted = 0.1, .at = at);
