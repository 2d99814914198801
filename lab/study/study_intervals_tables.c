/* Cross tables that are not of two categories each: of two columns the chi-squared test, with two categories in the second column the
 * shares of the rows, and of two to four columns the counts of cells and of margins. Not null: cells whose levels sum to an even number
 * are more than independence would have them. On the fresh designs nothing was built: they confirm what the test allows for its least cell. */

#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "lab/study/study_intervals.h"

#include <math.h>

enum { FACTORS_MAX = 4, LEVELS_MAX = 5, CELLS_MAX = 24, CLEAN_EACH = 10 };

static const struct design {
    const char *name;
    size_t factors;
    size_t levels[FACTORS_MAX];
    double share[FACTORS_MAX][LEVELS_MAX]; /* of a column's categories, where it is null */
    double more;                           /* how many times as many even cells have; 1: null */
} designs[] = {
    {", 3 x 4", 2, {3, 4}, {{0.5, 0.3, 0.2}, {0.4, 0.3, 0.2, 0.1}}, 1.4},
    {", 3 x 4, null", 2, {3, 4}, {{0.5, 0.3, 0.2}, {0.4, 0.3, 0.2, 0.1}}, 1},
    {", 3 x 4, rare", 2, {3, 4}, {{0.6, 0.3, 0.1}, {0.6, 0.3, 0.07, 0.03}}, 1.4},
    {", 3 x 4, rare, null", 2, {3, 4}, {{0.6, 0.3, 0.1}, {0.6, 0.3, 0.07, 0.03}}, 1},
    {", 4 x 2", 2, {4, 2}, {{0.4, 0.3, 0.2, 0.1}, {0.7, 0.3}}, 1.4},
    {", 4 x 2, null", 2, {4, 2}, {{0.4, 0.3, 0.2, 0.1}, {0.7, 0.3}}, 1},
    {", 4 x 2, rare", 2, {4, 2}, {{0.4, 0.3, 0.2, 0.1}, {0.95, 0.05}}, 1.4},
    {", 4 x 2, rare, null", 2, {4, 2}, {{0.4, 0.3, 0.2, 0.1}, {0.95, 0.05}}, 1},
    {", 2 x 2 x 2", 3, {2, 2, 2}, {{0.6, 0.4}, {0.7, 0.3}, {0.95, 0.05}}, 1.4},
    {", 3 x 2 x 2 x 2",
     4,
     {3, 2, 2, 2},
     {{0.5, 0.3, 0.2}, {0.6, 0.4}, {0.7, 0.3}, {0.9, 0.1}},
     1.4},
    {", 5 x 3, fresh", 2, {5, 3}, {{0.35, 0.25, 0.2, 0.12, 0.08}, {0.5, 0.35, 0.15}}, 1.4},
    {", 5 x 3, fresh, null", 2, {5, 3}, {{0.35, 0.25, 0.2, 0.12, 0.08}, {0.5, 0.35, 0.15}}, 1},
    {", 2 x 5, fresh, null", 2, {2, 5}, {{0.8, 0.2}, {0.55, 0.2, 0.13, 0.08, 0.04}}, 1},
};
enum { DESIGNS = sizeof designs / sizeof designs[0] };

struct found {
    struct intervals_rate cell;     /* bars of the noise that hold the count without noise */
    struct intervals_rate margin;   /* likewise */
    struct intervals_rate share;    /* intervals of a row's share that hold the truth */
    struct intervals_rate rejected; /* chi-squared tests below 5 % */
    struct intervals_width width[LEVELS_MAX]; /* of the rows' shares */
};

static const struct design *design_of(const struct intervals_setting *setting)
{
    return &designs[setting->variant];
}

static bool is_null(const struct design *design)
{
    return design->more <= 1;
}

static bool has_shares(const struct design *design)
{
    return design->factors == 2 && design->levels[1] == 2;
}

static size_t cells_of(const struct design *design)
{
    size_t cells = 1;
    for (size_t i = 0; i < design->factors; i++) {
        cells *= design->levels[i];
    }
    return cells;
}

static size_t level_of(const struct design *design, size_t cell, size_t factor)
{
    for (size_t i = design->factors; i-- > factor + 1;) {
        cell /= design->levels[i];
    }
    return cell % design->levels[factor];
}

static enum status make_source(struct intervals_source *out, const struct design *design)
{
    const size_t cells = cells_of(design);
    intervals_source_init(out, cells);
    for (size_t cell = 0; cell < cells; cell++) {
        double chance = 1;
        size_t sum = 0;
        for (size_t i = 0; i < design->factors; i++) {
            const size_t level = level_of(design, cell, i);
            chance *= design->share[i][level];
            sum += level;
        }
        intervals_source_put(out, chance * (sum % 2 == 0 ? design->more : 1), cell, 0);
    }
    return intervals_source_ready(out);
}

/* A sum of `summed` cells, as answer_crosstab tells it. */
static void judge_count(struct intervals_rate *rate, double told, double exact, size_t summed,
                        const struct crosstab_cells *cells)
{
    const double k = (double)summed;
    const double noise = sqrt(fmax(0, cells_covariance(k, k, k, cells->m, cells->variance)));
    intervals_count(rate, fabs(told - exact) <= ESTIMATE_Z_NOISE * noise);
}

static void judge_counts(struct found *out, const double *exact, const struct design *design,
                         const struct crosstab_cells *cells)
{
    const size_t count = cells_of(design);
    for (size_t cell = 0; cell < count; cell++) {
        judge_count(&out->cell, cells->cell[cell], exact[cell], 1, cells);
    }
    for (size_t i = 0; i < design->factors; i++) {
        for (size_t level = 0; level < design->levels[i]; level++) {
            double told = 0;
            double sum = 0;
            for (size_t cell = 0; cell < count; cell++) {
                const bool is_here = level_of(design, cell, i) == level;
                told += is_here ? cells->cell[cell] : 0;
                sum += is_here ? exact[cell] : 0;
            }
            judge_count(&out->margin, told, sum, count / design->levels[i], cells);
        }
    }
}

/* expected: the cells that are on average; exact: of this study, NULL where no widths are asked */
static void judge_shares(struct found *out, const double *expected, const double *exact,
                         const struct crosstab_cells *cells)
{
    struct crosstab_cells clean = *cells;
    clean.cell = exact;
    clean.variance = 0;
    for (size_t row = 0; row < cells->rows; row++) {
        const double *own = expected + 2 * row;
        const double truth = own[1] / (own[0] + own[1]);
        const struct estimate share = crosstab_share(cells, row);
        intervals_judge(&out->share, &share, truth);
        if (exact != NULL) {
            const struct estimate free = crosstab_share(&clean, row);
            intervals_add_width(&out->width[row], intervals_width_of(&share),
                                intervals_width_of(&free));
        }
    }
}

static void set_by_true(struct found *out, const double *expected,
                        const struct crosstab_cells *cells, double variance)
{
    struct crosstab_cells known = *cells;
    known.cell = expected;
    known.variance = variance;
    for (size_t row = 0; row < cells->rows; row++) {
        const struct estimate share = crosstab_share(&known, row);
        out->width[row].by_true = intervals_width_of(&share);
    }
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const struct design *design = design_of(setting);
    const size_t count = cells_of(design) + 1;
    double expected[CELLS_MAX + 1] = {0};
    double exact[CELLS_MAX + 1];
    double cell[CELLS_MAX + 1];
    struct intervals_studies studies;
    enum status status = intervals_studies_init(&studies, setting, &intervals_two_cells);
    const struct crosstab_cells cells = {.cell = cell,
                                         .rows = design->levels[0],
                                         .columns = design->levels[1],
                                         .m = count,
                                         .variance = studies.told};

    *out = (struct found){.cell = {0, 0}};
    if (status == STATUS_OK) {
        status = make_source(&studies.source, design);
    }
    intervals_studies_expect(expected, count, &studies);
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double p = NAN;
        status = intervals_studies_draw(cell, exact, count, &studies);
        cells_balance(cell, count, (double)studies.records);
        judge_counts(out, exact, design, &cells);
        if (has_shares(design)) {
            judge_shares(out, expected, i % CLEAN_EACH == 0 ? exact : NULL, &cells);
        }
        if (design->factors == 2) {
            (void)crosstab_test(&p, &cells);
        }
        if (!isnan(p)) {
            intervals_count(&out->rejected, p < 0.05);
        }
    }
    if (status == STATUS_OK && has_shares(design)) {
        set_by_true(out, expected, &cells, studies.told_truth);
    }
    intervals_studies_free(&studies);
    return status;
}

enum { CELL, MARGIN, SHARE, REJECTED, WIDTH };

static const struct intervals_claim claims[] = {
    [CELL] = {"tables: bars of cells that hold the count without noise, the worst of all settings",
              INTERVALS_HOLD},
    [MARGIN] = {"tables: bars of margins that hold the count without noise", INTERVALS_HOLD},
    [SHARE] = {"tables: intervals of the share of a row", INTERVALS_HOLD},
    [REJECTED] = {"tables: chi-squared tests that reject a true null", INTERVALS_REJECT},
    [WIDTH] = {"tables: widths of shares over those that the true cells give", INTERVALS_WIDTH},
};

static void tell(struct intervals_told *told, const struct found *found,
                 const struct design *design)
{
    const struct intervals_width sum = intervals_together(found->width, LEVELS_MAX);
    double over = NAN;
    for (size_t row = 0; row < LEVELS_MAX; row++) {
        over = fmax(over, intervals_over_true(&found->width[row]));
    }
    intervals_tell_setting(told, "table, ");
    intervals_tell(told, 0, "%s", design->name);
    intervals_tell_shown(told, 2, "shares ", &found->share,
                         design->levels[0] * told->setting->runs);
    intervals_tell_share(told, 3, "cells ", &found->cell);
    intervals_tell_share(told, 4, "margins ", &found->margin);
    intervals_tell_share(told, 5, "shares ", &found->share);
    intervals_tell_tests(told, &found->rejected);
    intervals_tell(told, INTERVALS_OF_WIDTHS, "%.2f, %.2f", intervals_over_exact(&sum), over);
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    const struct design *design = design_of(setting);
    struct found found;
    const enum status status = simulate(&found, setting);
    const struct intervals_width width = intervals_together(found.width, LEVELS_MAX);
    intervals_take(told, CELL, &found.cell, found.cell.all, NULL);
    intervals_take(told, MARGIN, &found.margin, found.margin.all, NULL);
    if (has_shares(design)) {
        intervals_take(told, SHARE, &found.share, design->levels[0] * setting->runs, &width);
        for (size_t row = 0; row < design->levels[0]; row++) {
            intervals_take_width(told, WIDTH, &found.width[row], setting->runs / CLEAN_EACH);
        }
    }
    if (is_null(design)) {
        intervals_take(told, REJECTED, &found.rejected, setting->runs, NULL);
    }
    tell(told, &found, design);
    return status;
}

INTERVALS_KIND(tables, .variants = DESIGNS, .runs_times = 1, .planted = 0.5);
