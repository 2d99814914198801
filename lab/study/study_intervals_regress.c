/* What intervals of a regression's coefficients hold, of studies whose coefficients are known. */

#include "lab/study/study_intervals_regress.h"

#include "estimate/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct found {
    size_t levels; /* of a number, that were planned */
    uint64_t asked;
    struct intervals_rate slope[SLOPES];  /* intervals that hold the truth */
    struct intervals_rate rejected;       /* tests below 5 %, of a slope of 0 */
    struct intervals_width width[SLOPES]; /* without noise: of some studies, by clean_each */
};

static double width_of(const struct regress_fit *fit, size_t slope)
{
    double weight[REGRESS_TERMS_MAX] = {0};
    weight[fit->cells->design->intervals + slope] = 1;
    const struct estimate own = regress_figure(fit, weight).estimate;
    return own.high - own.low;
}

/* clean: NULL where it is not asked */
static void judge(struct found *out, const struct regress_fit *fit, const struct regress_fit *clean,
                  const struct simulated *from)
{
    const size_t k = from->design.intervals;
    const double *slope = regress_world_slopes(from);
    for (size_t i = 0; k + i < fit->terms; i++) {
        double weight[REGRESS_TERMS_MAX] = {0};
        weight[k + i] = 1;
        const struct table1_figure figure = regress_figure(fit, weight);
        out->asked++;
        if (isnan(figure.estimate.value)) {
            continue;
        }
        intervals_count(&out->slope[i],
                        figure.estimate.low <= slope[i] && slope[i] <= figure.estimate.high);
        if (slope[i] == 0) {
            intervals_count(&out->rejected, regress_test(&figure) < 0.05);
        }
        if (clean != NULL) {
            intervals_add_width(&out->width[i], figure.estimate.high - figure.estimate.low,
                                width_of(clean, i));
        }
    }
}

/* Studies for each of which the release without noise is solved, too: of few all. */
static size_t clean_each(const struct intervals_setting *setting)
{
    return setting->runs < 1000 ? 1 : 10;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const size_t each = clean_each(setting);
    static double exact[REGRESS_CELLS_MAX + 1];
    static double cell[REGRESS_CELLS_MAX + 1];
    static struct regress_fit fit;
    static struct regress_fit fit_of_clean;
    const uint64_t records = INTERVALS_SITES * setting->site_records;
    struct simulated from;
    struct intervals_source source = {.atom = NULL};
    struct seeded_random seeded;
    struct intervals_noise noise;
    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);

    regress_world_init(&from, setting, noise.variance);
    const size_t cells = regress_points(&from.design) * from.design.outcomes + 1;
    const struct regress_cells noisy = {&from.design, cell, cells,
                                        setting->planted * setting->planted * noise.variance};
    const struct regress_cells clean = {&from.design, exact, cells, 0};
    const struct regress_cells truth = {&from.design, exact, cells,
                                        setting->planted < 1 ? 0 : noise.variance};
    *out = (struct found){.levels = from.predictor[0].levels};
    seeded_random_init(&seeded, setting->seed);
    const struct random random = seeded_random_interface(&seeded);
    if (status == STATUS_OK) {
        status = regress_world_source(&source, &from);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        memset(exact, 0, cells * sizeof *exact);
        intervals_source_draw(exact, &source, records, &seeded);
        memcpy(cell, exact, cells * sizeof *cell);
        status = intervals_noise_add(cell, cells, &noise, &random);
        cells_balance(cell, cells, (double)records);
        regress_solve(&fit, &noisy);
        if (i % each == 0) {
            regress_solve(&fit_of_clean, &clean);
        }
        judge(out, &fit, i % each == 0 ? &fit_of_clean : NULL, &from);
    }
    memset(exact, 0, cells * sizeof *exact);
    if (status == STATUS_OK) {
        intervals_source_expect(exact, &source, (double)records);
        regress_solve(&fit, &truth);
    }
    for (size_t i = 0; i < regress_world_slope_count(&from) && status == STATUS_OK; i++) {
        out->width[i].by_true = width_of(&fit, i);
    }
    intervals_source_free(&source);
    intervals_noise_free(&noise);
    return status;
}

enum { REJECTED = FAMILIES, WIDTH }; /* behind a claim of each family */

static const struct intervals_claim claims[] = {
    [REGRESS_LOGISTIC] = {"regressions: intervals of a coefficient, logistic, the worst of all "
                          "settings",
                          INTERVALS_HOLD},
    [REGRESS_LINEAR] =
        {"regressions: intervals of a coefficient, linear, the worst of all settings",
         INTERVALS_HOLD},
    [REGRESS_POISSON] = {"regressions: intervals of a coefficient, Poisson, the worst of all "
                         "settings",
                         INTERVALS_HOLD},
    [REGRESS_HAZARD] =
        {"regressions: intervals of a coefficient, hazards, the worst of all settings",
         INTERVALS_HOLD},
    [REJECTED] = {"regressions: tests that reject a coefficient of 0", INTERVALS_REJECT},
    [WIDTH] = {"regressions: widths over those that the true cells give", INTERVALS_WIDTH},
};

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    static const char *const names[FAMILIES] = {"logistic", "linear", "Poisson", "hazards"};
    const struct intervals_rate *slope = found->slope;
    char(*text)[INTERVALS_TEXT] = told->text;
    uint64_t shown = 0;
    struct intervals_width sum = {.count = 0};
    double over_true = NAN;
    for (size_t i = 0; i < SLOPES; i++) {
        const double own = intervals_over_true(&found->width[i]);
        shown += slope[i].all;
        sum.released += found->width[i].released;
        sum.exact += found->width[i].exact;
        over_true = fmax(over_true, own);
    }
    char kind[INTERVALS_TEXT];
    (void)snprintf(kind, sizeof kind, "%s%s, ", names[regress_world_family(setting)],
                   regress_world_name(setting));
    intervals_setting_name(text[0], kind, setting);
    (void)snprintf(text[1], INTERVALS_TEXT, "%zu levels", found->levels);
    (void)snprintf(text[2], INTERVALS_TEXT, "%.2f", (double)shown / (double)found->asked);
    (void)snprintf(text[3], INTERVALS_TEXT, "slopes %.3f, %.3f", intervals_share(&slope[0]),
                   intervals_share(&slope[1]));
    (void)snprintf(text[4], INTERVALS_TEXT, "%.3f, %.3f", intervals_share(&slope[2]),
                   intervals_share(&slope[3]));
    (void)snprintf(text[5], INTERVALS_TEXT, "-");
    (void)snprintf(text[6], INTERVALS_TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / (double)setting->runs);
    (void)snprintf(text[7], INTERVALS_TEXT, "%.2f, %.2f", intervals_over_exact(&sum), over_true);
}

static enum status run(struct intervals_told *told, struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t slope = 0; slope < SLOPES; slope++) {
        intervals_take(told, regress_world_family(setting), &found.slope[slope], setting->runs);
        intervals_take_width(told, WIDTH, &found.width[slope], setting->runs / clean_each(setting));
    }
    intervals_take(told, REJECTED, &found.rejected, setting->runs);
    tell(told, &found, setting);
    return status;
}

const struct intervals_kind intervals_regress = {
    .name = "regress",
    .variants = DESIGNS * FAMILIES,
    .runs_times = 1,
    .planted = 0.5,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};
