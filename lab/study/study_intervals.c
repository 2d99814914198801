/* Do intervals hold what they are said to hold? Simulated studies with known truth, by size, epsilon and trust. Answers that are
 * shown count; how many are shown stands beside. */

#include "lab/study/study_intervals.h"

#include "lab/study/study.h"

#include <math.h>
#include <stdio.h>

enum { RUNS = 2000, TEXT = INTERVALS_TEXT };

static const double shown_least = 0.1; /* as intervals_take_least */

/* The worst of all settings. */
struct worst {
    double point, band, mean, difference, median, noise, rejected, width;
};

static void judge(struct worst *worst, const struct intervals_survival *found,
                  const struct intervals_setting *setting)
{
    intervals_take_least(&worst->point, &found->point, setting->runs);
    intervals_take_least(&worst->band, &found->band, setting->runs);
    intervals_take_least(&worst->mean, &found->mean, setting->runs);
    intervals_take_least(&worst->difference, &found->difference, setting->runs);
    intervals_take_least(&worst->median, &found->median, setting->runs);
    intervals_take_least(&worst->noise, &found->noise, setting->runs);
    if (setting->is_null && (double)found->rejected.all >= shown_least * (double)setting->runs) {
        worst->rejected = fmax(worst->rejected, intervals_share(&found->rejected));
    }
    if (isfinite(found->width_true)) {
        worst->width = fmax(worst->width, found->width_true);
    }
}

static void tell(struct study *study, const struct intervals_survival *found,
                 const struct intervals_setting *setting)
{
    char text[8][TEXT];
    char name[TEXT];
    intervals_setting_name(name, "", setting);
    (void)snprintf(text[0], TEXT, "%.64s%s", name, setting->is_null ? ", null" : "");
    (void)snprintf(text[1], TEXT, "%zu", found->intervals);
    (void)snprintf(text[2], TEXT, "%.2f", intervals_share(&found->shown));
    (void)snprintf(text[3], TEXT, "%.3f, %.3f", intervals_share(&found->point), found->worst_point);
    (void)snprintf(text[4], TEXT, "%.3f", intervals_share(&found->band));
    (void)snprintf(text[5], TEXT, "%.3f, %.3f", intervals_share(&found->mean),
                   intervals_share(&found->difference));
    (void)snprintf(text[6], TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / (double)setting->runs);
    (void)snprintf(text[7], TEXT, "%.2f, %.2f", found->width_free, found->width_true);
    study_row(study, 8,
              (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                                    text[7]});
}

static enum status run_all(struct study *study, struct worst *worst,
                           const struct study_request *request, size_t runs)
{
    struct intervals_setting setting;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && intervals_setting_at(&setting, request, i / 2); i++) {
        struct intervals_survival found;
        setting.is_null = i % 2 == 1;
        setting.runs = setting.site_records > 1000 ? runs / 2 : runs;
        setting.seed = request->seed * 1000 + i;
        setting.planted = request->planted ? 0.5 : 1;
        status = intervals_survival(&found, &setting);
        judge(worst, &found, &setting);
        tell(study, &found, &setting);
        if (i % 12 == 11) {
            study_progress(request, "intervals: survival, %d records a site",
                           (int)setting.site_records);
        }
    }
    return status;
}

/* The worst of all settings. */
struct worst_table {
    double share, difference, odds, rejected;
};

static void tell_table(struct study *study, const struct intervals_crosstab *found,
                       const struct intervals_setting *setting)
{
    const double runs = (double)setting->runs;
    char text[8][TEXT];
    char name[TEXT];
    intervals_setting_name(name, "cross table, ", setting);
    (void)snprintf(text[0], TEXT, "%.64s%s%s", name, setting->is_rare ? ", rare" : "",
                   setting->is_null ? ", null" : "");
    (void)snprintf(text[1], TEXT, "-");
    (void)snprintf(text[2], TEXT, "odds ratio %.2f", (double)found->odds.all / runs);
    (void)snprintf(text[3], TEXT, "share %.3f", intervals_share(&found->share));
    (void)snprintf(text[4], TEXT, "difference %.3f", intervals_share(&found->difference));
    (void)snprintf(text[5], TEXT, "odds ratio %.3f", intervals_share(&found->odds));
    (void)snprintf(text[6], TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / runs);
    (void)snprintf(text[7], TEXT, "-");
    study_row(study, 8,
              (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                                    text[7]});
}

/* Tables take little time: twice the studies, as there are twice the settings to be the worst of. */
static enum status run_tables(struct study *study, struct worst_table *worst,
                              const struct study_request *request, size_t runs)
{
    enum status status = STATUS_OK;
    struct intervals_setting setting;
    for (size_t i = 0; status == STATUS_OK && intervals_setting_at(&setting, request, i / 4); i++) {
        setting.is_rare = i / 2 % 2 == 1;
        setting.is_null = i % 2 == 1;
        setting.runs = 2 * runs;
        setting.seed = request->seed * 1000 + 500 + i;
        setting.planted = request->planted ? 0.5 : 1;
        struct intervals_crosstab found;
        status = intervals_crosstab(&found, &setting);
        intervals_take_least(&worst->share, &found.share, setting.runs);
        intervals_take_least(&worst->difference, &found.difference, setting.runs);
        intervals_take_least(&worst->odds, &found.odds, setting.runs);
        if (setting.is_null && (double)found.rejected.all >= shown_least * (double)setting.runs) {
            worst->rejected = fmax(worst->rejected, intervals_share(&found.rejected));
        }
        tell_table(study, &found, &setting);
    }
    study_progress(request, "intervals: cross tables");
    return status;
}

static void claim_tables(struct study *study, const struct worst_table *worst, double allowed)
{
    study_claim(study, STUDY_AT_LEAST, worst->share, INTERVALS_COVERS_LEAST - allowed,
                "cross tables: intervals of a share, the worst of all settings");
    study_claim(study, STUDY_AT_LEAST, worst->difference, INTERVALS_COVERS_LEAST - allowed,
                "cross tables: intervals of the difference of two shares");
    study_claim(study, STUDY_AT_LEAST, worst->odds, INTERVALS_COVERS_LEAST - allowed,
                "cross tables: intervals of the odds ratio");
    study_claim(study, STUDY_AT_MOST, worst->rejected, INTERVALS_REJECTS_MOST + allowed,
                "cross tables: chi-squared tests that reject a true null");
}

/* Kinds of figures, each with the figures that are of it. */
struct figure_kind {
    const char *name;
    uint32_t figures; /* a bit each */
};

#define OF(figure)    (1u << (figure))
#define THREE(figure) (7u << (figure))
static const struct figure_kind figure_kinds[] = {
    {"means", OF(INTERVALS_AGE_MEAN) | OF(INTERVALS_LEVEL_MEAN)},
    {"standard deviations", OF(INTERVALS_AGE_DEVIATION) | OF(INTERVALS_LEVEL_DEVIATION)},
    {"medians and quartiles", THREE(INTERVALS_AGE_QUARTILE) | THREE(INTERVALS_LEVEL_QUARTILE)},
    {"shares", OF(INTERVALS_SHARE) | OF(INTERVALS_RARE_SHARE)},
};
#undef OF
#undef THREE
enum { FIGURE_KINDS = sizeof figure_kinds / sizeof figure_kinds[0] };

static double shown_share(const struct intervals_table1 *found, size_t which)
{
    return (double)found->figure[which].all / (double)found->asked[which];
}

static void tell_table1(struct study *study, const struct intervals_table1 *found,
                        const struct intervals_setting *setting)
{
    char text[8][TEXT];
    const struct intervals_rate *rate = found->figure;
    intervals_setting_name(text[0], "table 1, ", setting);
    (void)snprintf(text[1], TEXT, "%zu steps", found->steps);
    (void)snprintf(
        text[2], TEXT, "mean %.2f, SD %.2f, median %.2f, share %.2f",
        shown_share(found, INTERVALS_AGE_MEAN), shown_share(found, INTERVALS_AGE_DEVIATION),
        shown_share(found, INTERVALS_AGE_QUARTILE + 1), shown_share(found, INTERVALS_SHARE));
    (void)snprintf(text[3], TEXT, "means %.3f, %.3f", intervals_share(&rate[INTERVALS_AGE_MEAN]),
                   intervals_share(&rate[INTERVALS_LEVEL_MEAN]));
    (void)snprintf(text[4], TEXT, "SDs %.3f, %.3f", intervals_share(&rate[INTERVALS_AGE_DEVIATION]),
                   intervals_share(&rate[INTERVALS_LEVEL_DEVIATION]));
    (void)snprintf(text[5], TEXT, "medians %.3f, %.3f",
                   intervals_share(&rate[INTERVALS_AGE_QUARTILE + 1]),
                   intervals_share(&rate[INTERVALS_LEVEL_QUARTILE + 1]));
    (void)snprintf(text[6], TEXT, "shares %.3f, %.3f", intervals_share(&rate[INTERVALS_SHARE]),
                   intervals_share(&rate[INTERVALS_RARE_SHARE]));
    (void)snprintf(text[7], TEXT, "mean %.2f, median %.2f, share %.2f",
                   found->width[0] / found->width_free[0], found->width[1] / found->width_free[1],
                   found->width[2] / found->width_free[2]);
    study_row(study, 8,
              (const char *const[]){text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                                    text[7]});
}

/* Twice the studies, as for tables. Intervals of quartiles end at steps, so that half of the noise would do for them: a tenth is
 * planted. */
static enum status run_table1(struct study *study, double *worst,
                              const struct study_request *request, size_t runs)
{
    enum status status = STATUS_OK;
    struct intervals_setting setting;
    for (size_t i = 0; status == STATUS_OK && intervals_setting_at(&setting, request, i); i++) {
        setting.runs = 2 * runs;
        setting.seed = request->seed * 1000 + 700 + i;
        setting.planted = request->planted ? 0.1 : 1;
        struct intervals_table1 found;
        status = intervals_table1(&found, &setting);
        for (size_t j = 0; j < FIGURE_KINDS * INTERVALS_FIGURES && status == STATUS_OK; j++) {
            const size_t which = j % INTERVALS_FIGURES;
            double *least = &worst[j / INTERVALS_FIGURES];
            if ((figure_kinds[j / INTERVALS_FIGURES].figures >> which & 1) != 0 &&
                shown_share(&found, which) >= shown_least) {
                *least = fmin(*least, intervals_share(&found.figure[which]));
            }
        }
        tell_table1(study, &found, &setting);
    }
    study_progress(request, "intervals: table 1");
    return status;
}

enum status study_intervals(struct study *study, const struct study_request *request,
                            struct why *why)
{
    static const char *const columns[] = {"survival",         "intervals",
                                          "points shown",     "points cover, worst",
                                          "bands cover",      "means, differences cover",
                                          "log-rank rejects", "width over no noise, true cells"};
    const size_t runs = request->runs == 0 ? RUNS : request->runs;
    /* Short runs, of a test, are allowed what chance may do: four standard errors of the larger studies' half. */
    const double allowed = runs >= RUNS ? 0 : 4 * sqrt(0.05 * 0.95 / ((double)runs / 2));
    struct worst worst = {
        .point = 1, .band = 1, .mean = 1, .difference = 1, .median = 1, .noise = 1};

    (void)snprintf(study->title, sizeof study->title, "Do intervals hold the truth?");
    (void)snprintf(
        study->lede, sizeof study->lede,
        "Simulated studies with known truth: five sites of 200, 1,000 and 5,000 records, "
        "epsilon 0.25, 1 and 4, noise once or at each site. Of the answers that are shown, "
        "95 %% intervals must hold the truth in 93.5 %% or more, and tests reject a true "
        "null in 6.5 %% or less.");
    study_columns(study, sizeof columns / sizeof columns[0], columns);
    struct worst_table worst_table = {.share = 1, .difference = 1, .odds = 1};
    struct intervals_worst_scores worst_scores = {1, 1, 1, 1, 1};
    double worst_figure[FIGURE_KINDS] = {1, 1, 1, 1};
    enum status status = run_all(study, &worst, request, runs);
    if (status == STATUS_OK) {
        status = run_tables(study, &worst_table, request, runs);
    }
    if (status == STATUS_OK) {
        status = run_table1(study, worst_figure, request, runs);
    }
    if (status == STATUS_OK) {
        status = intervals_scores(study, &worst_scores, request, runs);
    }
    struct intervals_worst_pairs worst_pairs = {.covers = {1, 1, 1, 1, 1, 1, 1}, .noise = 1};
    if (status == STATUS_OK) {
        status = intervals_pairs(study, &worst_pairs, request, runs);
    }
    struct intervals_worst_between worst_sites = {
        .alone = {1, 1, 1}, .mean = {1, 1, 1}, .next = {1, 1, 1}};
    if (status == STATUS_OK) {
        status = intervals_sites(study, &worst_sites, request, runs);
    }
    struct intervals_worst_models worst_models = {.covers = {1, 1, 1, 1}};
    if (status == STATUS_OK) {
        status = intervals_models(study, &worst_models, request, runs);
    }
    if (status != STATUS_OK) {
        why_set(why, "the studies cannot be simulated");
        return status;
    }
    study_claim(study, STUDY_AT_LEAST, worst.point, INTERVALS_COVERS_LEAST - allowed,
                "survival: pointwise intervals of a curve that hold the truth, the worst of all "
                "settings");
    study_claim(study, STUDY_AT_LEAST, worst.band, INTERVALS_COVERS_LEAST - allowed,
                "survival: bands that hold the whole curve, where it is shown");
    study_claim(study, STUDY_AT_LEAST, worst.mean, INTERVALS_COVERS_LEAST - allowed,
                "survival: intervals of the restricted mean");
    study_claim(study, STUDY_AT_LEAST, worst.difference, INTERVALS_COVERS_LEAST - allowed,
                "survival: intervals of the difference of two restricted means");
    study_claim(study, STUDY_AT_LEAST, worst.noise, INTERVALS_COVERS_LEAST - allowed,
                "survival: intervals of the noise alone that hold the curve without noise");
    study_claim(study, STUDY_AT_MOST, worst.rejected, INTERVALS_REJECTS_MOST + allowed,
                "survival: log-rank tests that reject a true null");
    claim_tables(study, &worst_table, allowed);
    for (size_t i = 0; i < FIGURE_KINDS; i++) {
        study_claim(study, STUDY_AT_LEAST, worst_figure[i], INTERVALS_COVERS_LEAST - allowed,
                    "table 1: intervals of %s, the worst of all settings", figure_kinds[i].name);
    }
    intervals_claim_scores(study, &worst_scores, allowed);
    intervals_claim_pairs(study, &worst_pairs, allowed);
    intervals_claim_models(study, &worst_models, allowed);
    intervals_claim_sites(study, &worst_sites, allowed);
    return STATUS_OK;
}
