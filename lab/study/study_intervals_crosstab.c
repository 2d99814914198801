/* Cross tables of two columns with two categories each: half of the records in either row, and a share of the second column of 30 %
 * (5 % where it is rare) in the first row. In the second row it is a half more, or the same: a true null. */

#include "estimate/cells.h"
#include "estimate/crosstab.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is told of a table. */
enum { SHARE, DIFFERENCE, ODDS, ESTIMATES };

enum { CELLS = 4, CLEAN_EACH = 10 };

struct found {
    struct intervals_rate rate[ESTIMATES]; /* intervals that hold the truth */
    struct intervals_rate rejected;        /* chi-squared tests below 5 % */
    struct intervals_width
        width[ESTIMATES]; /* of the odds ratio's logarithm; without noise: of each tenth study */
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
    const enum status status = intervals_source_init(out, CELLS);
    for (size_t row = 0; row < 2 && status == STATUS_OK; row++) {
        const double share = share_of(row, setting);
        intervals_source_put(out, (1 - share) / 2, 2 * row, 0);
        intervals_source_put(out, share / 2, 2 * row + 1, 0);
    }
    return status == STATUS_OK ? intervals_source_ready(out) : status;
}

static void estimate(struct estimate *out, double *width, const struct crosstab_cells *cells)
{
    out[SHARE] = crosstab_share(cells, 1);
    out[DIFFERENCE] = crosstab_difference(cells);
    out[ODDS] = crosstab_odds_ratio(cells);
    width[SHARE] = out[SHARE].high - out[SHARE].low;
    width[DIFFERENCE] = out[DIFFERENCE].high - out[DIFFERENCE].low;
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
    const uint64_t records = INTERVALS_SITES * setting->site_records;
    const double p = share_of(0, setting);
    const double q = share_of(1, setting);
    const double truth[ESTIMATES] = {q, q - p, q / (1 - q) / (p / (1 - p))};
    struct intervals_source source = {.atom = NULL};
    struct seeded_random seeded;
    struct intervals_noise noise;
    struct estimate found[ESTIMATES];
    double width[ESTIMATES] = {0};
    double exact[CELLS + 1];
    double cell[CELLS + 1];
    const struct crosstab_cells clean = {
        .cell = exact, .rows = 2, .columns = 2, .m = CELLS + 1, .variance = 0};
    struct crosstab_cells cells = clean;
    enum status status = intervals_noise_init(&noise, setting, &intervals_two_cells);

    *out = (struct found){.rate = {{0, 0}}};
    seeded_random_init(&seeded, setting->seed);
    const struct random random = seeded_random_interface(&seeded);
    cells.cell = cell;
    cells.variance = setting->planted * setting->planted * noise.variance;
    if (status == STATUS_OK) {
        status = make_source(&source, setting);
    }
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double tested = NAN;
        double free[ESTIMATES];
        memset(exact, 0, sizeof exact);
        intervals_source_draw(exact, &source, records, &seeded);
        memcpy(cell, exact, sizeof cell);
        status = intervals_noise_add(cell, CELLS + 1, &noise, &random);
        cells_balance(cell, CELLS + 1, (double)records);
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
        memset(exact, 0, sizeof exact);
        intervals_source_expect(exact, &source, (double)records);
        cells = clean;
        cells.variance = setting->planted < 1 ? 0 : noise.variance;
        estimate(found, width, &cells);
    }
    for (size_t k = 0; k < ESTIMATES; k++) {
        out->width[k].by_true = width[k];
    }
    intervals_source_free(&source);
    intervals_noise_free(&noise);
    return status;
}

enum { REJECTED = ESTIMATES, WIDTH }; /* behind a claim of each */

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
    const double runs = (double)setting->runs;
    char(*text)[INTERVALS_TEXT] = told->text;
    char name[INTERVALS_TEXT];
    intervals_setting_name(name, "cross table, ", setting);
    (void)snprintf(text[0], INTERVALS_TEXT, "%.64s%s%s", name, is_rare(setting) ? ", rare" : "",
                   is_null(setting) ? ", null" : "");
    (void)snprintf(text[1], INTERVALS_TEXT, "-");
    (void)snprintf(text[2], INTERVALS_TEXT, "odds ratio %.2f",
                   (double)found->rate[ODDS].all / runs);
    (void)snprintf(text[3], INTERVALS_TEXT, "share %.3f", intervals_share(&found->rate[SHARE]));
    (void)snprintf(text[4], INTERVALS_TEXT, "difference %.3f",
                   intervals_share(&found->rate[DIFFERENCE]));
    (void)snprintf(text[5], INTERVALS_TEXT, "odds ratio %.3f", intervals_share(&found->rate[ODDS]));
    (void)snprintf(text[6], INTERVALS_TEXT, "%.3f of %.2f", intervals_share(&found->rejected),
                   (double)found->rejected.all / runs);
    (void)snprintf(
        text[7], INTERVALS_TEXT, "%.2f, %.2f; %.2f, %.2f; %.2f, %.2f",
        intervals_over_exact(&found->width[SHARE]), intervals_over_true(&found->width[SHARE]),
        intervals_over_exact(&found->width[DIFFERENCE]),
        intervals_over_true(&found->width[DIFFERENCE]), intervals_over_exact(&found->width[ODDS]),
        intervals_over_true(&found->width[ODDS]));
}

static enum status run(struct intervals_told *told, struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t i = 0; i < ESTIMATES; i++) {
        intervals_take(told, i, &found.rate[i], setting->runs);
        intervals_take_width(told, WIDTH, &found.width[i], setting->runs / CLEAN_EACH);
    }
    if (is_null(setting)) {
        intervals_take(told, REJECTED, &found.rejected, setting->runs);
    }
    tell(told, &found, setting);
    return status;
}

const struct intervals_kind intervals_crosstab = {
    .name = "crosstab",
    .variants = 4,
    .runs_times = 2,
    .planted = 0.5,
    .run = run,
    .claim = claims,
    .claim_count = sizeof claims / sizeof claims[0],
};
