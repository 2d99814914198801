/* Effects between sites: a share, and of tables of two columns the difference of two shares and the logarithm of the odds ratio. A
 * site's own effect is drawn about the mean of all with a deviation of tau. A mean is judged as the share of a column of two values,
 * which spread most. Planted: a site's interval is of a tenth of the noise alone; the others' are fixed effects. */

#include "lab/study/study_intervals.h"

#include "estimate/between.h"
#include "estimate/cells.h"
#include "noise/laplace.h"

#include <math.h>
#include <stdio.h>

enum { CELLS = 4, GRID_LOG2 = 10, SITES_MAX = 10, TEXT = 80 };

static const size_t counts[] = {3, 5, 10};
static const double epsilons[] = {0.25, 1, 4};
static const uint64_t sizes[] = {200, 1000, 0}; /* 0: from 200 to 5,000, each another */

static const double share = 0.3;
static const double difference = 0.1;
static const double log_odds = 0.7;

static const char *const effects[] = {"shares", "differences", "log odds ratios"};

static double tau_of(const struct intervals_between_setting *setting, enum intervals_effect effect)
{
    return !setting->has_spread ? 0 : effect == INTERVALS_LOG_ODDS ? 0.4 : 0.06;
}

static double truth_of(enum intervals_effect effect)
{
    static const double truth[] = {share, difference, log_odds};
    return truth[effect];
}

static double normal(struct seeded_random *seeded)
{
    const double unit = seeded_random_unit(seeded);
    return sqrt(-2 * log(1 - unit)) * cos(2 * acos(-1) * seeded_random_unit(seeded));
}

static uint64_t size_of(const struct intervals_between_setting *setting, size_t site)
{
    const double way = (double)site / (double)(setting->sites - 1);
    return setting->site_records > 0 ? setting->site_records : (uint64_t)(200 * pow(25, way));
}

struct drawing {
    const struct intervals_between_setting *setting;
    struct seeded_random seeded;
    struct random random;
    struct noise_laplace noise; /* of one cell, of a sensitivity of 1 and of 2 */
    struct noise_laplace noise_of_table;
};

static enum status add_noise(double *cell, size_t count, const struct noise_laplace *noise,
                             const struct drawing *drawing)
{
    int64_t steps[CELLS + 1] = {0};
    const enum status status = noise_laplace_add(noise, &drawing->random, steps, count);
    for (size_t i = 0; i < count; i++) {
        cell[i] += ldexp((double)steps[i], -GRID_LOG2);
    }
    return status;
}

static double variance_of(const struct intervals_between_setting *setting, double moves)
{
    const double scale = setting->planted * moves / setting->epsilon;
    return 2 * scale * scale;
}

static enum status draw_sums(struct between_site *out, double *truth, struct drawing *drawing)
{
    const struct intervals_between_setting *setting = drawing->setting;
    struct between_sum sum[SITES_MAX] = {{0, 0}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = size_of(setting, i);
        truth[i] = fmin(fmax(truth[i], 0.01), 0.99);
        sum[i].records = (double)records;
        for (uint64_t j = 0; j < records; j++) {
            sum[i].sum += seeded_random_unit(&drawing->seeded) < truth[i] ? 1 : 0;
        }
        status = add_noise(&sum[i].sum, 1, &drawing->noise, drawing);
    }
    between_shares(out, sum, setting->sites, variance_of(setting, 1));
    return status;
}

/* Sites differ in the first row's share too, which is no part of the effect. */
static enum status draw_tables(struct between_site *out, double *truth, struct drawing *drawing,
                               enum intervals_effect effect)
{
    const struct intervals_between_setting *setting = drawing->setting;
    double cell[SITES_MAX][CELLS + 1] = {{0}};
    struct crosstab_cells table[SITES_MAX];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = size_of(setting, i);
        const double p = share - 0.05 + 0.1 * seeded_random_unit(&drawing->seeded);
        const double odds = p / (1 - p) * exp(truth[i]);
        const double of_row[2] = {p, effect == INTERVALS_LOG_ODDS
                                         ? odds / (1 + odds)
                                         : fmin(fmax(p + truth[i], 0.01), 0.99)};
        for (uint64_t j = 0; j < records; j++) {
            const size_t row = seeded_random_word(&drawing->seeded) >> 63;
            cell[i][2 * row + (seeded_random_unit(&drawing->seeded) < of_row[row] ? 1 : 0)]++;
        }
        status = add_noise(cell[i], CELLS + 1, &drawing->noise_of_table, drawing);
        cells_balance(cell[i], CELLS + 1, (double)records);
        table[i] = (struct crosstab_cells){.cell = cell[i],
                                           .rows = 2,
                                           .columns = 2,
                                           .m = CELLS + 1,
                                           .variance = variance_of(setting, 2)};
    }
    if (status == STATUS_OK) {
        (effect == INTERVALS_LOG_ODDS ? between_odds : between_differences)(out, table,
                                                                            setting->sites);
    }
    return status;
}

/* The interval that no answer has: of a mean by the variances within sites alone. */
static bool holds_fixed(const struct between_site *site, size_t count, double truth)
{
    double weights = 0;
    double mean = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(site[i].value)) {
            const double w =
                1 / (site[i].sampling * site[i].sampling + site[i].noise * site[i].noise);
            weights += w;
            mean += w * site[i].value;
        }
    }
    return fabs(mean / weights - truth) <= ESTIMATE_Z / sqrt(weights);
}

static bool holds_alone(const struct between_site *site, double truth, bool is_planted)
{
    return is_planted ? fabs(site->value - truth) <= ESTIMATE_Z_NOISE * site->noise
                      : !(site->low > truth) && !(site->high < truth);
}

static void judge(struct intervals_between *out, struct between_site *site, const double *truth,
                  struct drawing *drawing, enum intervals_effect effect)
{
    const struct intervals_between_setting *setting = drawing->setting;
    const bool is_planted = setting->planted < 1;
    const double mean = truth_of(effect);
    const double next = mean + tau_of(setting, effect) * normal(&drawing->seeded);
    struct between found;
    for (size_t i = 0; i < setting->sites; i++) {
        if (!isnan(site[i].value)) {
            intervals_count(&out->alone, holds_alone(&site[i], truth[i], is_planted));
        }
    }
    between_sites(&found, site, setting->sites, false);
    if (isnan(found.value)) {
        return;
    }
    const bool by_fixed = holds_fixed(site, setting->sites, mean);
    intervals_count(&out->fixed, by_fixed);
    intervals_count(&out->mean, is_planted ? by_fixed : found.low <= mean && mean <= found.high);
    intervals_count(&out->next, is_planted ? holds_fixed(site, setting->sites, next)
                                           : found.next_low <= next && next <= found.next_high);
    intervals_count(&out->rejected, found.p < 0.05);
    out->width += found.high - found.low;
    out->spread += found.spread;
}

enum status intervals_between(struct intervals_between *out,
                              const struct intervals_between_setting *setting,
                              enum intervals_effect effect)
{
    struct drawing drawing = {.setting = setting};
    const uint64_t one = UINT64_C(1000000) << GRID_LOG2;
    const uint64_t epsilon = (uint64_t)(setting->epsilon * 1e6);

    *out = (struct intervals_between){.runs = setting->runs};
    seeded_random_init(&drawing.seeded, setting->seed);
    drawing.random = seeded_random_interface(&drawing.seeded);
    enum status status = noise_laplace_init(&drawing.noise, (struct noise_scale){one, epsilon});
    if (status == STATUS_OK) {
        status =
            noise_laplace_init(&drawing.noise_of_table, (struct noise_scale){2 * one, epsilon});
    }
    for (size_t run = 0; run < setting->runs && status == STATUS_OK; run++) {
        struct between_site site[SITES_MAX] = {{0}};
        double truth[SITES_MAX] = {0};
        for (size_t i = 0; i < setting->sites; i++) {
            truth[i] = truth_of(effect) + tau_of(setting, effect) * normal(&drawing.seeded);
        }
        status = effect == INTERVALS_SITE_SHARE ? draw_sums(site, truth, &drawing)
                                                : draw_tables(site, truth, &drawing, effect);
        if (status == STATUS_OK) {
            judge(out, site, truth, &drawing, effect);
        }
    }
    return status;
}

enum {
    COUNTS = sizeof counts / sizeof counts[0],
    EPSILONS = sizeof epsilons / sizeof epsilons[0],
    SIZES = sizeof sizes / sizeof sizes[0],
    SETTINGS = SIZES * COUNTS * EPSILONS * 2
};

static void tell(struct study *study, const struct intervals_between *found,
                 const struct intervals_between_setting *setting, enum intervals_effect effect)
{
    const double shown = (double)found->mean.all;
    char text[8][TEXT];
    char records[TEXT] = "200 to 5000";
    if (setting->site_records > 0) {
        (void)snprintf(records, sizeof records, "%d", (int)setting->site_records);
    }
    (void)snprintf(text[0], TEXT, "sites: %s, %zu x %s, epsilon %g%s", effects[effect],
                   setting->sites, records, setting->epsilon, setting->has_spread ? "" : ", alike");
    (void)snprintf(text[1], TEXT, "-");
    (void)snprintf(text[2], TEXT, "%.2f", shown / (double)found->runs);
    (void)snprintf(text[3], TEXT, "sites alone %.3f", intervals_share(&found->alone));
    (void)snprintf(text[4], TEXT, "mean of sites %.3f; fixed effects %.3f",
                   intervals_share(&found->mean), intervals_share(&found->fixed));
    (void)snprintf(text[5], TEXT, "another site %.3f", intervals_share(&found->next));
    (void)snprintf(text[6], TEXT, "%.3f", intervals_share(&found->rejected));
    (void)snprintf(text[7], TEXT, "width %.3g, tau %.3g", found->width / shown,
                   found->spread / shown);
    study_row(study, 8,
              (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                                    text[7]});
}

/* Twice the studies, as for tables. */
enum status intervals_sites(struct study *study, struct intervals_worst_between *worst,
                            const struct study_request *request, size_t runs)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < SETTINGS * INTERVALS_EFFECTS && status == STATUS_OK; i++) {
        const enum intervals_effect effect = (enum intervals_effect)(i / SETTINGS);
        const size_t at = i % SETTINGS;
        const struct intervals_between_setting setting = {
            .site_records = sizes[at / 2 / EPSILONS / COUNTS],
            .sites = counts[at / 2 / EPSILONS % COUNTS],
            .epsilon = epsilons[at / 2 % EPSILONS],
            .has_spread = at % 2 == 1,
            .runs = 2 * runs,
            .seed = request->seed * 1000 + 5000 + i,
            .planted = request->planted ? 0.1 : 1};
        struct intervals_between found;
        if (request->rounds > 0 &&
            (setting.site_records == 0 || setting.site_records > request->rounds)) {
            continue;
        }
        status = intervals_between(&found, &setting, effect);
        intervals_take_least(&worst->mean[effect], &found.mean, setting.runs);
        intervals_take_least(&worst->alone[effect], &found.alone, setting.sites * setting.runs);
        intervals_take_least(&worst->next[effect], &found.next, setting.runs);
        if (!setting.has_spread && found.rejected.all * 10 >= setting.runs) {
            worst->rejected[effect] =
                fmax(worst->rejected[effect], intervals_share(&found.rejected));
        }
        tell(study, &found, &setting, effect);
    }
    study_progress(request, "intervals: between sites");
    return status;
}

void intervals_claim_sites(struct study *study, const struct intervals_worst_between *worst,
                           double allowed)
{
    for (size_t i = 0; i < INTERVALS_EFFECTS; i++) {
        study_claim(study, STUDY_AT_LEAST, worst->mean[i], INTERVALS_COVERS_LEAST - allowed,
                    "sites: intervals of the mean over sites, %s, the worst of all settings",
                    effects[i]);
        study_claim(study, STUDY_AT_LEAST, worst->alone[i], INTERVALS_COVERS_LEAST - allowed,
                    "sites: intervals of each site alone, %s", effects[i]);
        study_claim(study, STUDY_AT_LEAST, worst->next[i], INTERVALS_COVERS_LEAST - allowed,
                    "sites: intervals of another site's effect, %s", effects[i]);
        study_claim(study, STUDY_AT_MOST, worst->rejected[i], INTERVALS_REJECTS_MOST + allowed,
                    "sites: tests that reject sites that are alike, %s", effects[i]);
    }
}
