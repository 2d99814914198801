/* Effects between sites: a share, and of tables of two columns the difference of two shares and the logarithm of the odds
 * ratio. A site's own effect is drawn about the mean of all with a deviation of tau. A mean is judged as the share of a column
 * of two values, which spread most. Planted: a site's interval is of a tenth of the noise alone; the others' are fixed effects;
 * a width is twice as large. */

#include "lab/study/study_intervals_between.h"

#include "estimate/cells.h"

#include <math.h>

enum { SITES_MAX = DRAWING_SITES_MAX, WITHIN_LEAST = 100, CLEAN_EACH = 10 };

struct found {
    struct intervals_rate alone;    /* intervals of a site that hold its own effect */
    struct intervals_rate mean;     /* of the mean over sites that hold it */
    struct intervals_rate fixed;    /* of fixed effects, which are not told */
    struct intervals_rate next;     /* that hold the effect of another site */
    struct intervals_rate rejected; /* tests below 5 % */
    struct intervals_width width;   /* of the mean's, beside that of known variances within sites */
    struct intervals_width width_alone; /* not beside it */
    struct intervals_width width_next;
    double spread; /* that is found; summed */
    struct within {
        double sampling; /* variances; summed */
        double noise;
        double count;
    } within[SITES_MAX];
};

/* The mean of all sites' effects, and the deviation between them where they differ. */
static const struct {
    const char *name;
    double truth;
    double tau;
} effects[BETWEEN_EFFECTS] = {
    [BETWEEN_SHARE] = {"shares", 0.3, 0.06},
    [BETWEEN_DIFFERENCE] = {"differences", 0.1, 0.06},
    [BETWEEN_LOG_ODDS] = {"log odds ratios", 0.7, 0.4},
    [BETWEEN_MEAN_LIFE] = {"mean lives", -0.1, 0.06},
    [BETWEEN_HAZARD] = {"log hazard ratios", 0.5, 0.3},
    [BETWEEN_SLOPE] = {"slopes", 0.8, 0.3},
    [BETWEEN_TABLE_MEAN] = {"means of tables", 0.5, 0.03},
    [BETWEEN_NUMBERS + REGRESS_LOGISTIC] = {"logistic", -1, 0.3},
    [BETWEEN_NUMBERS + REGRESS_LINEAR] = {"linear", -0.25, 0.08},
    [BETWEEN_NUMBERS + REGRESS_POISSON] = {"Poisson", 0.4, 0.2},
    [BETWEEN_NUMBERS + REGRESS_HAZARD] = {"hazards", -0.5, 0.25},
    [BETWEEN_CATEGORIES + REGRESS_LOGISTIC] = {"logistic, category", 0.7, 0.3},
    [BETWEEN_CATEGORIES + REGRESS_LINEAR] = {"linear, category", 0.15, 0.06},
    [BETWEEN_CATEGORIES + REGRESS_POISSON] = {"Poisson, category", 0.3, 0.15},
    [BETWEEN_CATEGORIES + REGRESS_HAZARD] = {"hazards, category", 0.6, 0.25},
    [BETWEEN_TABLE_SHARE] = {"shares of tables", 0.03, 0.01},
};

/* The effect that the same studies have beside a drawn one; BETWEEN_EFFECTS: none. */
static enum effect beside(enum effect effect)
{
    return effect >= BETWEEN_NUMBERS && effect < BETWEEN_DRAWN
               ? effect - BETWEEN_NUMBERS + BETWEEN_CATEGORIES
               : BETWEEN_EFFECTS;
}

static double tau_of(const struct intervals_setting *setting, enum effect effect)
{
    return setting->has_spread ? effects[effect].tau : 0;
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
    struct between_site told[SITES_MAX]; /* cut off at the ends of what can be */
    for (size_t i = 0; i < setting->sites; i++) {
        told[i] = site[i];
        if (!isnan(site[i].value)) {
            const double width = site[i].high - site[i].low;
            intervals_count(&out->alone, holds_alone(&site[i], truth[i], is_planted));
            intervals_add_width(&out->width_alone, width, width);
        }
    }
    between_sites(&found, told, setting->sites, false);
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
    intervals_add_width(&out->width_next, found.next_high - found.next_low,
                        found.next_high - found.next_low);
    out->spread += found.spread;
}

/* What is drawn of the sites: of an effect, and of the one beside it. */
struct drawn {
    struct between_site site[SITES_MAX];
    double truth[SITES_MAX];
};

static enum status draw_slopes(struct drawn out[2], struct drawing *drawing, enum effect effect)
{
    double category[SITES_MAX];
    const bool is_fresh = effect != BETWEEN_SLOPE;
    const struct drawing_slopes slopes = {
        .family = is_fresh ? (enum regress_family)(effect - BETWEEN_NUMBERS) : REGRESS_LOGISTIC,
        .design = is_fresh ? 1 : 0,
        .number = out[0].truth,
        .category = is_fresh ? out[1].truth : category};
    for (size_t i = 0; i < SITES_MAX; i++) {
        category[i] = 0.6;
    }
    return drawing_slopes(out[0].site, out[1].site, &slopes, drawing);
}

static enum status draw(struct drawn out[2], struct drawing *drawing, enum effect effect)
{
    struct between_site *site = out[0].site;
    double *truth = out[0].truth;
    if (effect == BETWEEN_TABLE_SHARE) {
        return drawing_shares(site, truth, drawing);
    }
    if (effect >= BETWEEN_NUMBERS || effect == BETWEEN_SLOPE) {
        return draw_slopes(out, drawing, effect);
    }
    return effect == BETWEEN_SHARE       ? drawing_sums(site, truth, drawing)
           : effect == BETWEEN_MEAN_LIFE ? drawing_mean_lives(site, truth, drawing)
           : effect == BETWEEN_HAZARD    ? drawing_hazards(site, truth, drawing)
           : effect == BETWEEN_TABLE_MEAN
               ? drawing_means(site, truth, drawing)
               : drawing_tables(site, truth, drawing, effect == BETWEEN_LOG_ODDS);
}

static void draw_truth(double *truth, struct drawing *drawing, enum effect effect)
{
    for (size_t i = 0; i < drawing->setting->sites; i++) {
        truth[i] =
            effects[effect].truth + tau_of(drawing->setting, effect) * drawing_normal(drawing);
    }
}

/* An effect and the one beside it, of all sites. */
static enum status draw_both(struct drawn out[2], struct drawing *drawing, enum effect effect)
{
    draw_truth(out[0].truth, drawing, effect);
    if (beside(effect) < BETWEEN_EFFECTS) {
        draw_truth(out[1].truth, drawing, beside(effect));
    }
    return draw(out, drawing, effect);
}

/* The width without noise is a mean over other studies: it stands beside each that was added. */
static void put_exact(struct intervals_width *width, const struct intervals_width *clean)
{
    width->exact = clean->released / (double)clean->count * (double)width->count;
}

static enum status compare_widths(struct found out[2], struct drawing *drawing, enum effect effect)
{
    struct intervals_width mean[2] = {{.count = 0}};
    struct intervals_width alone[2] = {{.count = 0}};
    struct intervals_width next[2] = {{.count = 0}};
    enum status status = STATUS_OK;
    drawing->is_clean = true;
    for (size_t run = 0; run < drawing->setting->runs && status == STATUS_OK; run += CLEAN_EACH) {
        struct drawn drawn[2] = {{.truth = {0}}};
        struct between found;
        status = draw_both(drawn, drawing, effect);
        for (size_t k = 0; k < (beside(effect) < BETWEEN_EFFECTS ? 2 : 1) && status == STATUS_OK;
             k++) {
            for (size_t i = 0; i < drawing->setting->sites; i++) {
                const double width = drawn[k].site[i].high - drawn[k].site[i].low;
                intervals_add_width(&alone[k], width, width);
            }
            between_sites(&found, drawn[k].site, drawing->setting->sites, false);
            intervals_add_width(&mean[k], found.high - found.low, found.high - found.low);
            intervals_add_width(&next[k], found.next_high - found.next_low,
                                found.next_high - found.next_low);
        }
    }
    for (size_t k = 0; k < 2; k++) {
        put_exact(&out[k].width, &mean[k]);
        put_exact(&out[k].width_alone, &alone[k]);
        put_exact(&out[k].width_next, &next[k]);
        out[k].width_alone.by_true = out[k].width_next.by_true = NAN;
    }
    return status;
}

static enum status simulate(struct found out[2], const struct intervals_setting *setting)
{
    struct drawing drawing = {.setting = setting};
    static const struct intervals_moves one_cell = {1, 1};
    const enum effect effect = (enum effect)setting->variant;
    out[0] = (struct found){.spread = 0};
    out[1] = out[0];
    seeded_random_init(&drawing.seeded, setting->seed);
    drawing.random = seeded_random_interface(&drawing.seeded);
    enum status status = intervals_noise_init(&drawing.noise, setting, &one_cell);
    if (status == STATUS_OK) {
        status = intervals_noise_init(&drawing.noise_of_table, setting, &intervals_two_cells);
    }
    for (size_t run = 0; run < setting->runs && status == STATUS_OK; run++) {
        struct drawn drawn[2] = {{.truth = {0}}};
        status = draw_both(drawn, &drawing, effect);
        if (status == STATUS_OK) {
            judge(&out[0], drawn[0].site, drawn[0].truth, &drawing, effect);
        }
        if (status == STATUS_OK && beside(effect) < BETWEEN_EFFECTS) {
            judge(&out[1], drawn[1].site, drawn[1].truth, &drawing, beside(effect));
        }
    }
    if (status == STATUS_OK) {
        status = compare_widths(out, &drawing, effect);
    }
    intervals_noise_free(&drawing.noise);
    intervals_noise_free(&drawing.noise_of_table);
    return status;
}

/* For each effect four, and after them all two. Mean lives are not joined with an interval: each site's alone is judged. */
enum { MEAN, ALONE, NEXT, REJECTED, CLAIMS, WIDTH = CLAIMS * (BETWEEN_EFFECTS - 1), LIVES };
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
    CLAIMS_OF("log hazard ratios"),
    CLAIMS_OF("slopes"),
    CLAIMS_OF("means of tables"),
    CLAIMS_OF("numbers, logistic"),
    CLAIMS_OF("numbers, linear"),
    CLAIMS_OF("numbers, Poisson"),
    CLAIMS_OF("numbers, hazards"),
    CLAIMS_OF("categories, logistic"),
    CLAIMS_OF("categories, linear"),
    CLAIMS_OF("categories, Poisson"),
    CLAIMS_OF("categories, hazards"),
    CLAIMS_OF("shares of tables"),
    {"sites: widths of the mean over sites over those that known variances within sites give",
     INTERVALS_WIDTH},
    {"sites: intervals of each site alone, mean lives", INTERVALS_HOLD},
};

/* For an effect, and of the one beside it: 0.951, 0.949. */
static void tell_rates(struct intervals_told *told, size_t column, const char *words,
                       const struct intervals_rate *own, const struct intervals_rate *other)
{
    intervals_tell_share(told, column, words, own);
    if (other->all > 0) {
        intervals_tell_share(told, column, ", ", other);
    }
}

static void tell(struct intervals_told *told, const struct found found[2],
                 const struct intervals_setting *setting)
{
    intervals_tell(told, 0, "sites: %s%s, %zu x ", effects[setting->variant].name,
                   setting->is_gaussian ? ", Gaussian" : "", setting->sites);
    if (setting->site_records > 0) {
        intervals_tell(told, 0, "%d", (int)setting->site_records);
    } else {
        intervals_tell(told, 0, "200 to 5000");
    }
    intervals_tell(told, 0, ", epsilon %g%s", setting->epsilon,
                   setting->has_spread ? "" : ", alike");
    intervals_tell_shown(told, 2, "", &found[0].mean, setting->runs);
    if (beside((enum effect)setting->variant) < BETWEEN_EFFECTS) {
        intervals_tell_shown(told, 2, ", ", &found[1].mean, setting->runs);
    }
    tell_rates(told, 3, "sites alone ", &found[0].alone, &found[1].alone);
    tell_rates(told, 4, "mean of sites ", &found[0].mean, &found[1].mean);
    tell_rates(told, 4, "; fixed effects ", &found[0].fixed, &found[1].fixed);
    tell_rates(told, 5, "another site ", &found[0].next, &found[1].next);
    tell_rates(told, INTERVALS_OF_TESTS, "", &found[0].rejected, &found[1].rejected);
    intervals_tell(told, INTERVALS_OF_WIDTHS, "width %.3g, tau %.3g; over true %.2f",
                   found->width.released / (double)found->width.count,
                   found->spread / (double)found->mean.all, intervals_over_true(&found->width));
}

static void take(struct intervals_told *told, enum effect effect, const struct found *found,
                 const struct intervals_setting *setting)
{
    if (effect == BETWEEN_MEAN_LIFE) {
        intervals_take(told, LIVES, &found->alone, setting->sites * setting->runs,
                       &found->width_alone);
        return;
    }
    const size_t first = (size_t)CLAIMS * (effect < BETWEEN_MEAN_LIFE ? effect : effect - 1);
    const size_t judged =
        setting->runs > WITHIN_LEAST ? setting->runs - WITHIN_LEAST : setting->runs;
    intervals_take(told, first + MEAN, &found->mean, setting->runs, &found->width);
    intervals_take(told, first + ALONE, &found->alone, setting->sites * setting->runs,
                   &found->width_alone);
    intervals_take(told, first + NEXT, &found->next, setting->runs, &found->width_next);
    intervals_take_width(told, WIDTH, &found->width, judged);
    if (!setting->has_spread) {
        intervals_take(told, first + REJECTED, &found->rejected, setting->runs, NULL);
    }
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found[2];
    const enum effect effect = (enum effect)setting->variant;
    const enum status status = simulate(found, setting);
    if (!between_is_withheld(setting)) {
        take(told, effect, &found[0], setting);
        if (beside(effect) < BETWEEN_EFFECTS) {
            take(told, beside(effect), &found[1], setting);
        }
    }
    tell(told, found, setting);
    return status;
}

INTERVALS_KIND(between, .variants = BETWEEN_DRAWN, .runs_times = 1, .planted = 0.1,
               .at = between_at);
