/* What intervals of a regression's coefficients hold, of studies whose coefficients are known. */

#include "lab/study/study_intervals_regress.h"

#include "estimate/cells.h"

#include <math.h>

struct found {
    size_t levels; /* of a number, that were planned */
    uint64_t asked;
    struct intervals_rate slope[SLOPES];  /* intervals that hold the truth */
    struct intervals_rate rejected;       /* tests below 5 %, of a slope of 0 */
    struct intervals_width width[SLOPES]; /* those without noise: of some studies, by clean_each */
};

static double width_of(const struct regress_fit *fit, size_t slope)
{
    double weight[REGRESS_TERMS_MAX] = {0};
    weight[fit->cells->design->intervals + slope] = 1;
    const struct table1_figure own = regress_figure(fit, weight);
    return intervals_width_of(&own.estimate);
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
        intervals_judge(&out->slope[i], &figure.estimate, slope[i]);
        if (slope[i] == 0) {
            intervals_count(&out->rejected, regress_test(&figure) < 0.05);
        }
        if (clean != NULL) {
            intervals_add_width(&out->width[i], width_of(fit, i), width_of(clean, i));
        } else {
            intervals_add_released(&out->width[i], width_of(fit, i));
        }
    }
}

/* Studies whose release without noise is solved too: all, if they are few. */
static size_t clean_each(const struct intervals_setting *setting)
{
    return setting->runs < 1000 ? 1 : 10;
}

/* A fit, and that of the other reading of its numbers if there is one. */
struct read {
    struct regress_fit fit;
    struct regress_fit other;
    struct regress_cells cells_of_other;
};

static void solve(struct read *out, const struct regress_cells *cells, const struct simulated *from)
{
    regress_solve(&out->fit, cells);
    if (from->is_unsaid) {
        out->cells_of_other = *cells;
        out->cells_of_other.design = &from->other;
        regress_solve(&out->other, &out->cells_of_other);
        out->fit.other = &out->other;
    }
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const size_t each = clean_each(setting);
    static double exact[REGRESS_CELLS_MAX + 1];
    static double cell[REGRESS_CELLS_MAX + 1];
    static struct read own;
    static struct read of_clean;
    static struct simulated from;
    struct intervals_studies studies;
    enum status status = intervals_studies_init(&studies, setting, &intervals_two_cells);

    regress_world_init(&from, setting, studies.noise.variance);
    const size_t cells = regress_points(&from.design) * from.design.outcomes + 1;
    const struct regress_cells noisy = {&from.design, cell, cells, studies.told};
    const struct regress_cells clean = {&from.design, exact, cells, 0};
    const struct regress_cells truth = {&from.design, exact, cells, studies.told_truth};
    *out = (struct found){.levels = from.predictor[0].levels};
    if (status == STATUS_OK) {
        status = regress_world_source(&studies.source, &from);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        status = intervals_studies_draw(cell, exact, cells, &studies);
        cells_balance(cell, cells, (double)studies.records);
        solve(&own, &noisy, &from);
        if (i % each == 0) {
            solve(&of_clean, &clean, &from);
        }
        judge(out, &own.fit, i % each == 0 ? &of_clean.fit : NULL, &from);
    }
    if (status == STATUS_OK) {
        intervals_studies_expect(exact, cells, &studies);
        solve(&own, &truth, &from);
    }
    for (size_t i = 0; i < regress_world_slope_count(&from) && status == STATUS_OK; i++) {
        out->width[i].by_true = width_of(&own.fit, i);
    }
    intervals_studies_free(&studies);
    return status;
}

enum { REJECTED = FAMILIES, WIDTH }; /* after a claim of each family */

#define CLAIM_OF(family)                                                                           \
    {                                                                                              \
        "regressions: intervals of a coefficient, " family ", the worst of all settings",          \
            INTERVALS_HOLD                                                                         \
    }

static const struct intervals_claim claims[] = {
    [REGRESS_LOGISTIC] = CLAIM_OF("logistic"),
    [REGRESS_LINEAR] = CLAIM_OF("linear"),
    [REGRESS_POISSON] = CLAIM_OF("Poisson"),
    [REGRESS_HAZARD] = CLAIM_OF("hazards"),
    [REJECTED] = {"regressions: tests that reject a coefficient of 0", INTERVALS_REJECT},
    [WIDTH] = {"regressions: widths over those that the true cells give", INTERVALS_WIDTH},
};

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    static const char *const names[FAMILIES] = {"logistic", "linear", "Poisson", "hazards"};
    struct intervals_rate all = {0, 0};
    const struct intervals_width sum = intervals_together(found->width, SLOPES);
    double over_true = NAN;
    for (size_t i = 0; i < SLOPES; i++) {
        all.all += found->slope[i].all;
        over_true = fmax(over_true, intervals_over_true(&found->width[i]));
    }
    intervals_tell(told, 0, "%s%s, ", names[regress_world_family(setting)],
                   regress_world_name(setting));
    intervals_tell_setting(told, "");
    intervals_tell(told, 1, "%zu levels", found->levels);
    intervals_tell_shown(told, 2, "", &all, found->asked);
    for (size_t i = 0; i < SLOPES; i++) {
        const char *first = i == 0 ? "slopes " : "";
        intervals_tell_share(told, 3 + i / 2, i % 2 == 0 ? first : ", ", &found->slope[i]);
    }
    intervals_tell_tests(told, &found->rejected);
    intervals_tell(told, INTERVALS_OF_WIDTHS, "%.2f, %.2f", intervals_over_exact(&sum), over_true);
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t slope = 0; slope < SLOPES; slope++) {
        intervals_take(told, regress_world_family(setting), &found.slope[slope], setting->runs,
                       &found.width[slope]);
        intervals_take_width(told, WIDTH, &found.width[slope], setting->runs);
    }
    intervals_take(told, REJECTED, &found.rejected, setting->runs, NULL);
    tell(told, &found, setting);
    return status;
}

INTERVALS_KIND(regress, .variants = DESIGNS * FAMILIES, .runs_times = 1, .planted = 0.5);
