/* Effects between sites: a share, and of tables of two columns the difference of two shares and the logarithm of the odds ratio. A
 * site's own effect is drawn about the mean of all with a deviation of tau. A mean is judged as the share of a column of two values,
 * which spread most. Planted: a site's interval is of a tenth of the noise alone; the others' are fixed effects; a width is
 * twice as large. */

#include "lab/study/study_intervals_between.h"

#include "estimate/cells.h"
#include "noise/laplace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 4, GRID_LOG2 = 10, SITES_MAX = DRAWING_SITES_MAX, WITHIN_LEAST = 100 };

enum effect { SHARE, DIFFERENCE, LOG_ODDS, MEAN_LIFE, HAZARD, SLOPE, TABLE_MEAN, EFFECTS };

struct found {
    struct intervals_rate alone;    /* intervals of a site that hold its own effect */
    struct intervals_rate mean;     /* of the mean over sites that hold it */
    struct intervals_rate fixed;    /* of fixed effects, which are not told */
    struct intervals_rate next;     /* that hold the effect of another site */
    struct intervals_rate rejected; /* tests below 5 % */
    struct intervals_width width;   /* of the mean's, beside that of known variances within sites */
    double spread;                  /* that is found; summed */
    struct within {
        double sampling; /* variances; summed */
        double noise;
        double count;
    } within[SITES_MAX];
};

static const size_t counts[] = {3, 5, 10};
static const double epsilons[] = {0.25, 1, 4};
static const uint64_t sizes[] = {200, 1000, 0}; /* 0: from 200 to 5,000, each another */

/* The mean of all sites' effects, and the deviation between them where they differ. */
static const struct {
    const char *name;
    double truth;
    double tau;
} effects[EFFECTS] = {
    [SHARE] = {"shares", 0.3, 0.06},
    [DIFFERENCE] = {"differences", 0.1, 0.06},
    [LOG_ODDS] = {"log odds ratios", 0.7, 0.4},
    [MEAN_LIFE] = {"mean lives", -0.1, 0.06},
    [HAZARD] = {"log hazard ratios", 0.5, 0.3},
    [SLOPE] = {"slopes", 0.8, 0.3},
    [TABLE_MEAN] = {"means of tables", 0.5, 0.03},
};

static double tau_of(const struct intervals_setting *setting, enum effect effect)
{
    return setting->has_spread ? effects[effect].tau : 0;
}

double drawing_normal(struct drawing *drawing)
{
    const double unit = seeded_random_unit(&drawing->seeded);
    return sqrt(-2 * log(1 - unit)) * cos(2 * acos(-1) * seeded_random_unit(&drawing->seeded));
}

uint64_t drawing_size(const struct intervals_setting *setting, size_t site)
{
    const double way = (double)site / (double)(setting->sites - 1);
    return setting->site_records > 0 ? setting->site_records : (uint64_t)(200 * pow(25, way));
}

double drawing_records(const struct intervals_setting *setting)
{
    double sum = 0;
    for (size_t i = 0; i < setting->sites; i++) {
        sum += (double)drawing_size(setting, i);
    }
    return sum;
}

static enum status add_noise(double *cell, size_t count, const struct noise_laplace *noise,
                             const struct drawing *drawing)
{
    static int64_t steps[REGRESS_CELLS_MAX + 1];
    memset(steps, 0, count * sizeof *steps);
    const enum status status = noise_laplace_add(noise, &drawing->random, steps, count);
    for (size_t i = 0; i < count; i++) {
        cell[i] += ldexp((double)steps[i], -GRID_LOG2);
    }
    return status;
}

double drawing_variance(const struct intervals_setting *setting, double moves)
{
    const double scale = setting->planted * moves / setting->epsilon;
    return 2 * scale * scale;
}

enum status drawing_release(double *cell, size_t count, double records,
                            const struct drawing *drawing)
{
    const enum status status = add_noise(cell, count, &drawing->noise_of_table, drawing);
    cells_balance(cell, count, records);
    return status;
}

static enum status draw_sums(struct between_site *out, double *truth, struct drawing *drawing)
{
    const struct intervals_setting *setting = drawing->setting;
    struct between_sum sum[SITES_MAX] = {{0, 0}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        truth[i] = fmin(fmax(truth[i], 0.01), 0.99);
        sum[i].records = (double)records;
        for (uint64_t j = 0; j < records; j++) {
            sum[i].sum += seeded_random_unit(&drawing->seeded) < truth[i] ? 1 : 0;
        }
        status = add_noise(&sum[i].sum, 1, &drawing->noise, drawing);
    }
    between_shares(out, sum, setting->sites, drawing_variance(setting, 1));
    return status;
}

/* Sites differ in the first row's share too, which is no part of the effect. */
static enum status draw_tables(struct between_site *out, double *truth, struct drawing *drawing,
                               enum effect effect)
{
    const struct intervals_setting *setting = drawing->setting;
    double cell[SITES_MAX][CELLS + 1] = {{0}};
    struct crosstab_cells table[SITES_MAX];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        const double p = effects[SHARE].truth - 0.05 + 0.1 * seeded_random_unit(&drawing->seeded);
        const double odds = p / (1 - p) * exp(truth[i]);
        const double of_row[2] = {p, effect == LOG_ODDS ? odds / (1 + odds)
                                                        : fmin(fmax(p + truth[i], 0.01), 0.99)};
        for (uint64_t j = 0; j < records; j++) {
            const size_t row = seeded_random_word(&drawing->seeded) >> 63;
            cell[i][2 * row + (seeded_random_unit(&drawing->seeded) < of_row[row] ? 1 : 0)]++;
        }
        status = drawing_release(cell[i], CELLS + 1, (double)records, drawing);
        table[i] = (struct crosstab_cells){.cell = cell[i],
                                           .rows = 2,
                                           .columns = 2,
                                           .m = CELLS + 1,
                                           .variance = drawing_variance(setting, 2)};
    }
    if (status == STATUS_OK) {
        (effect == LOG_ODDS ? between_odds : between_differences)(out, table, setting->sites);
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

/* Adds a width beside that of the same answers whose variances within the sites are known: the mean of all studies so far, which is
 * near what the true cells give. */
static void judge_width(struct found *out, const struct between *found,
                        const struct between_site *site, const struct intervals_setting *setting)
{
    struct between_site known[SITES_MAX];
    struct between by_true;
    bool is_known = true;
    for (size_t i = 0; i < setting->sites; i++) {
        struct within *within = &out->within[i];
        known[i] = site[i];
        if (!isnan(site[i].value)) {
            known[i].sampling = sqrt(within->sampling / within->count);
            known[i].noise = sqrt(within->noise / within->count);
            is_known = is_known && within->count >= WITHIN_LEAST;
            within->sampling += site[i].sampling * site[i].sampling;
            within->noise += site[i].noise * site[i].noise;
            within->count++;
        }
    }
    if (is_known) {
        between_sites(&by_true, known, setting->sites, false);
        const double width = (setting->planted < 1 ? 2 : 1) * (found->high - found->low);
        intervals_add_width(&out->width, width, width);
        out->width.true_logarithms += log(by_true.high - by_true.low);
    }
}

static void judge(struct found *out, struct between_site *site, const double *truth,
                  struct drawing *drawing, enum effect effect)
{
    const struct intervals_setting *setting = drawing->setting;
    const bool is_planted = setting->planted < 1;
    const double mean = effects[effect].truth;
    const double next = mean + tau_of(setting, effect) * drawing_normal(drawing);
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
    judge_width(out, &found, site, setting);
    out->spread += found.spread;
}

static enum status draw(struct between_site *out, double *truth, struct drawing *drawing,
                        enum effect effect)
{
    switch (effect) {
    case SHARE:
        return draw_sums(out, truth, drawing);
    case MEAN_LIFE:
        return drawing_mean_lives(out, truth, drawing);
    case HAZARD:
        return drawing_hazards(out, truth, drawing);
    case SLOPE:
        return drawing_slopes(out, truth, drawing);
    case TABLE_MEAN:
        return drawing_means(out, truth, drawing);
    case DIFFERENCE:
    case LOG_ODDS:
    case EFFECTS:
        break;
    }
    return draw_tables(out, truth, drawing, effect);
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    struct drawing drawing = {.setting = setting};
    const uint64_t one = UINT64_C(1000000) << GRID_LOG2;
    const uint64_t epsilon = (uint64_t)(setting->epsilon * 1e6);

    const enum effect effect = (enum effect)setting->variant;
    *out = (struct found){.spread = 0};
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
            truth[i] = effects[effect].truth + tau_of(setting, effect) * drawing_normal(&drawing);
        }
        status = draw(site, truth, &drawing, effect);
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

/* Of each effect four, and behind them all one. */
enum { MEAN, ALONE, NEXT, REJECTED, CLAIMS, WIDTH = CLAIMS * EFFECTS };
#define CLAIMS_OF(name)                                                                            \
    {"sites: intervals of the mean over sites, " name ", the worst of all settings",               \
     INTERVALS_HOLD},                                                                              \
        {"sites: intervals of each site alone, " name, INTERVALS_HOLD},                            \
        {"sites: intervals of another site's effect, " name, INTERVALS_HOLD},                      \
    {                                                                                              \
        "sites: tests that reject sites that are alike, " name, true                               \
    }
static const struct intervals_claim claims[] = {
    CLAIMS_OF("shares"),
    CLAIMS_OF("differences"),
    CLAIMS_OF("log odds ratios"),
    CLAIMS_OF("mean lives"),
    CLAIMS_OF("log hazard ratios"),
    CLAIMS_OF("slopes"),
    CLAIMS_OF("means of tables"),
    {"sites: widths of the mean over sites over those that known variances within sites give",
     INTERVALS_WIDTH},
};

static bool at(struct intervals_setting *out, const struct study_request *request, size_t *at)
{
    for (; *at < SETTINGS * EFFECTS; (*at)++) {
        const size_t i = *at % SETTINGS;
        *out = (struct intervals_setting){.site_records = sizes[i / 2 / EPSILONS / COUNTS],
                                          .sites = counts[i / 2 / EPSILONS % COUNTS],
                                          .epsilon = epsilons[i / 2 % EPSILONS],
                                          .has_spread = i % 2 == 1,
                                          .variant = *at / SETTINGS};
        if (request->rounds == 0 ||
            (out->site_records > 0 && out->site_records <= request->rounds)) {
            return true;
        }
    }
    return false;
}

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    const double shown = (double)found->mean.all;
    char(*text)[INTERVALS_TEXT] = told->text;
    char records[INTERVALS_TEXT] = "200 to 5000";
    if (setting->site_records > 0) {
        (void)snprintf(records, sizeof records, "%d", (int)setting->site_records);
    }
    (void)snprintf(text[0], INTERVALS_TEXT, "sites: %s, %zu x %s, epsilon %g%s",
                   effects[setting->variant].name, setting->sites, records, setting->epsilon,
                   setting->has_spread ? "" : ", alike");
    (void)snprintf(text[1], INTERVALS_TEXT, "-");
    (void)snprintf(text[2], INTERVALS_TEXT, "%.2f", shown / (double)setting->runs);
    (void)snprintf(text[3], INTERVALS_TEXT, "sites alone %.3f", intervals_share(&found->alone));
    (void)snprintf(text[4], INTERVALS_TEXT, "mean of sites %.3f; fixed effects %.3f",
                   intervals_share(&found->mean), intervals_share(&found->fixed));
    (void)snprintf(text[5], INTERVALS_TEXT, "another site %.3f", intervals_share(&found->next));
    (void)snprintf(text[6], INTERVALS_TEXT, "%.3f", intervals_share(&found->rejected));
    (void)snprintf(text[7], INTERVALS_TEXT, "width %.3g, tau %.3g; over true %.2f",
                   found->width.released / (double)found->width.count, found->spread / shown,
                   intervals_over_true(&found->width));
}

static enum status run(struct intervals_told *told, struct intervals_setting *setting)
{
    struct found found;
    const size_t first = CLAIMS * setting->variant;
    const enum status status = simulate(&found, setting);
    intervals_take(told, first + MEAN, &found.mean, setting->runs);
    intervals_take(told, first + ALONE, &found.alone, setting->sites * setting->runs);
    intervals_take(told, first + NEXT, &found.next, setting->runs);
    const size_t judged =
        setting->runs > WITHIN_LEAST ? setting->runs - WITHIN_LEAST : setting->runs;
    intervals_take_width(told, WIDTH, &found.width, judged);
    if (!setting->has_spread) {
        intervals_take(told, first + REJECTED, &found.rejected, setting->runs);
    }
    tell(told, &found, setting);
    return status;
}

const struct intervals_kind intervals_between = {
    .name = "between",
    .variants = EFFECTS,
    .runs_times = 1,
    .planted = 0.1,
    .at = at,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};
