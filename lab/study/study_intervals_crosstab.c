/* Cross tables of two columns with two categories each: half of the records in either row, and a share of the second column of 30 %
 * (5 % where it is rare) in the first row. In the second row it is a half more, or the same: a true null. */

#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "lab/study/study_intervals.h"

#include <math.h>

/* What is told of a table. */
enum { SHARE, DIFFERENCE, ODDS, ESTIMATES };

enum { CELLS = 4, CLEAN_EACH = 10 };

struct found {
    struct intervals_rate rate[ESTIMATES];   /* intervals that hold the truth */
    struct intervals_rate rejected;          /* chi-squared tests below 5 % */
    struct intervals_width width[ESTIMATES]; /* of the odds ratio's logarithm; clean: a tenth */
};

static bool is_rare(const struct intervals_setting *setting)
{
    return setting->variant / 2 == 1; /* 5 % instead of 30 % */
}

static bool is_null(const struct intervals_setting *setting)
{
    return setting->variant % 2 == 1;
}

static double share_of(size_t row, const struct intervals_setting *setting)
{
    const double first = is_rare(setting) ? 0.05 : 0.3;
    return row == 0 || is_null(setting) ? first : 1.5 * first;
}

static enum status make_source(struct intervals_source *out,
                               const struct intervals_setting *setting)
{
    intervals_source_init(out, CELLS);
    for (size_t row = 0; row < 2; row++) {
        const double share = share_of(row, setting);
        intervals_source_put(out, (1 - share) / 2, 2 * row, 0);
        intervals_source_put(out, share / 2, 2 * row + 1, 0);
    }
    return intervals_source_ready(out);
}

static void estimate(struct estimate *out, double *width, const struct crosstab_cells *cells)
{
    out[SHARE] = crosstab_share(cells, 1);
    out[DIFFERENCE] = crosstab_difference(cells);
    out[ODDS] = crosstab_odds_ratio(cells);
    width[SHARE] = intervals_width_of(&out[SHARE]);
    width[DIFFERENCE] = intervals_width_of(&out[DIFFERENCE]);
    width[ODDS] = log(out[ODDS].high / out[ODDS].low);
}

static void judge(struct intervals_rate *rate, const struct estimate *estimate, double truth)
{
    if (!isnan(estimate->low)) {
        const double high = isnan(estimate->high) ? INFINITY : estimate->high;
        intervals_count(rate, estimate->low <= truth && truth <= high);
    }
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    const double p = share_of(0, setting);
    const double q = share_of(1, setting);
    const double truth[ESTIMATES] = {q, q - p, q / (1 - q) / (p / (1 - p))};
    struct intervals_studies studies;
    struct estimate found[ESTIMATES];
    double width[ESTIMATES] = {0};
    double exact[CELLS + 1];
    double cell[CELLS + 1];
    enum status status = intervals_studies_init(&studies, setting, &intervals_two_cells);
    const struct crosstab_cells clean = {
        .cell = exact, .rows = 2, .columns = 2, .m = CELLS + 1, .variance = 0};
    struct crosstab_cells cells = clean;

    *out = (struct found){.rate = {{0, 0}}};
    cells.cell = cell;
    cells.variance = studies.told;
    if (status == STATUS_OK) {
        status = make_source(&studies.source, setting);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double tested = NAN;
        double free[ESTIMATES];
        status = intervals_studies_draw(cell, exact, CELLS + 1, &studies);
        cells_balance(cell, CELLS + 1, (double)studies.records);
        if (i % CLEAN_EACH == 0) {
            estimate(found, free, &clean);
        }
        estimate(found, width, &cells);
        for (size_t k = 0; k < ESTIMATES; k++) {
            judge(&out->rate[k], &found[k], truth[k]);
            if (i % CLEAN_EACH == 0) {
                intervals_add_width(&out->width[k], width[k], free[k]);
            }
        }
        (void)crosstab_test(&tested, &cells);
        if (!isnan(tested)) {
            intervals_count(&out->rejected, tested < 0.05);
        }
    }
    if (status == STATUS_OK) {
        intervals_studies_expect(exact, CELLS + 1, &studies);
        cells = clean;
        cells.variance = studies.told_truth;
        estimate(found, width, &cells);
    }
    for (size_t k = 0; k < ESTIMATES; k++) {
        out->width[k].by_true = width[k];
    }
    intervals_studies_free(&studies);
    return status;
}

enum { REJECTED = ESTIMATES, WIDTH }; /* after a claim of each */

static const struct intervals_claim claims[] = {
    [SHARE] = {"cross tables: intervals of a share, the worst of all settings", INTERVALS_HOLD},
    [DIFFERENCE] = {"cross tables: intervals of the difference of two shares", INTERVALS_HOLD},
    [ODDS] = {"cross tables: intervals of the odds ratio", INTERVALS_HOLD},
    [REJECTED] = {"cross tables: chi-squared tests that reject a true null", INTERVALS_REJECT},
    [WIDTH] = {"cross tables: widths over those that the true cells give", INTERVALS_WIDTH},
};

static void tell(struct intervals_told *told, const struct found *found,
                 const struct intervals_setting *setting)
{
    intervals_tell_setting(told, "cross table, ");
    intervals_tell(told, 0, "%s%s", is_rare(setting) ? ", rare" : "",
                   is_null(setting) ? ", null" : "");
    intervals_tell_shown(told, 2, "odds ratio ", &found->rate[ODDS], setting->runs);
    intervals_tell_share(told, 3, "share ", &found->rate[SHARE]);
    intervals_tell_share(told, 4, "difference ", &found->rate[DIFFERENCE]);
    intervals_tell_share(told, 5, "odds ratio ", &found->rate[ODDS]);
    intervals_tell_tests(told, &found->rejected);
    for (size_t k = 0; k < ESTIMATES; k++) {
        intervals_tell_width(told, k == 0 ? "" : "; ", &found->width[k]);
    }
}

static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t i = 0; i < ESTIMATES; i++) {
        intervals_take(told, i, &found.rate[i], setting->runs, &found.width[i]);
        intervals_take_width(told, WIDTH, &found.width[i], setting->runs / CLEAN_EACH);
    }
    if (is_null(setting)) {
        intervals_take(told, REJECTED, &found.rejected, setting->runs, NULL);
    }
    tell(told, &found, setting);
    return status;
}

INTERVALS_KIND(crosstab, .variants = 4, .runs_times = 2, .planted = 0.5);
