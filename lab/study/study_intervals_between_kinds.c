/* Effects by site of sums, survival curves and tables.
 *
 *   shares         of a column of two values
 *   differences    of the two columns' shares in a table of 2 x 2, and logarithms of its odds ratio
 *   mean lives     two groups of constant hazards, the first one's from 0.65 to 0.98 by site; censoring uniform over twice the
 *                  time; the second group's mean up to 1 less the first's
 *   hazard ratios  likewise; the logarithm of the second group's hazard over the first's
 *   means          of a number in a Table 1, normal, with a deviation of 0.15 of its range
 *   few            the share of the last of three categories in a Table 1, of whom a tenth is missing: few records have it */

#include "estimate/cells.h"
#include "lab/study/study_intervals_between.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, CELLS = 4, LEVELS = 3 };

static const double hazard = 0.8;
static const double share = 0.3;

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

double drawing_variance(const struct drawing *drawing)
{
    const double planted = drawing->setting->planted;
    return planted * planted * drawing->noise_of_table.variance;
}

double drawing_told(const struct drawing *drawing)
{
    return drawing->is_clean ? 0 : drawing_variance(drawing);
}

enum status drawing_release(double *cell, size_t count, double records,
                            const struct drawing *drawing)
{
    const enum status status =
        drawing->is_clean
            ? STATUS_OK
            : intervals_noise_add(cell, count, &drawing->noise_of_table, &drawing->random);
    cells_balance(cell, count, records);
    return status;
}

enum status drawing_sums(struct between_site *out, double *truth, struct drawing *drawing)
{
    const struct intervals_setting *setting = drawing->setting;
    struct between_sum sum[DRAWING_SITES_MAX] = {{0, 0}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        truth[i] = fmin(fmax(truth[i], 0.01), 0.99);
        sum[i].records = (double)records;
        for (uint64_t j = 0; j < records; j++) {
            sum[i].sum += seeded_random_unit(&drawing->seeded) < truth[i] ? 1 : 0;
        }
        if (!drawing->is_clean) {
            status = intervals_noise_add(&sum[i].sum, 1, &drawing->noise, &drawing->random);
        }
    }
    between_shares(
        out, sum, setting->sites,
        drawing->is_clean ? 0 : setting->planted * setting->planted * drawing->noise.variance);
    return status;
}

/* Sites differ in the first row's share too, which is no part of the effect. */
enum status drawing_tables(struct between_site *out, double *truth, struct drawing *drawing,
                           bool is_odds)
{
    const struct intervals_setting *setting = drawing->setting;
    double cell[DRAWING_SITES_MAX][CELLS + 1] = {{0}};
    struct crosstab_cells table[DRAWING_SITES_MAX];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        const double p = share - 0.05 + 0.1 * seeded_random_unit(&drawing->seeded);
        const double odds = p / (1 - p) * exp(truth[i]);
        const double of_row[2] = {p, is_odds ? odds / (1 + odds)
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
                                           .variance = drawing_told(drawing)};
    }
    if (status == STATUS_OK) {
        (is_odds ? between_odds : between_differences)(out, table, setting->sites);
    }
    return status;
}

/* Up to 1. */
static double mean_life(double rate)
{
    return (1 - exp(-rate)) / rate;
}

static double hazard_of_mean(double mean)
{
    double low = 0.01;
    double high = 20;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(mean_life(middle) > mean ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

static void draw_lives(double *cell, size_t k, const double rate[GROUPS], uint64_t records,
                       struct drawing *drawing)
{
    memset(cell, 0, SURVIVAL_CELLS(GROUPS, k) * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        const size_t group = seeded_random_word(&drawing->seeded) >> 63;
        const double death = -log(1 - seeded_random_unit(&drawing->seeded)) / rate[group];
        const double censored = 2 * seeded_random_unit(&drawing->seeded);
        const double time = fmin(death, censored);
        double *own = cell + group * (2 * k + 1);
        if (time >= 1) {
            own[2 * k]++;
        } else {
            own[(death <= censored ? 0 : k) + (size_t)(time * (double)k)]++;
        }
    }
}

static enum status draw_curves(struct between_site *out, double *truth, struct drawing *drawing,
                               bool is_ratio)
{
    static double cell[DRAWING_SITES_MAX][SURVIVAL_CELLS_MAX];
    const struct intervals_setting *setting = drawing->setting;
    const double sites = (double)setting->sites;
    const struct survival_public known = {.records = drawing_records(setting),
                                          .groups = GROUPS,
                                          .variance = sites * drawing_variance(drawing)};
    const size_t k =
        drawing->planned > 0 ? drawing->planned : survival_plan(&known, false).intervals;
    struct survival_cells curve[DRAWING_SITES_MAX];
    enum status status = STATUS_OK;
    drawing->planned = k;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        const double first = hazard * exp(0.4 * seeded_random_unit(&drawing->seeded) - 0.2);
        double rate[GROUPS] = {first, first * exp(truth[i])};
        if (!is_ratio) {
            truth[i] = fmin(fmax(truth[i], 0.1 - mean_life(first)), 0.95 - mean_life(first));
            rate[1] = hazard_of_mean(mean_life(first) + truth[i]);
        }
        draw_lives(cell[i], k, rate, records, drawing);
        status = drawing_release(cell[i], SURVIVAL_CELLS(GROUPS, k), (double)records, drawing);
        curve[i] = (struct survival_cells){cell[i], GROUPS, k, 1, drawing_told(drawing), 0};
    }
    if (status == STATUS_OK && is_ratio) {
        between_hazards(out, curve, setting->sites, 1);
    } else if (status == STATUS_OK) {
        between_means(out, curve, setting->sites, 1, true);
    }
    return status;
}

enum status drawing_mean_lives(struct between_site *out, double *truth, struct drawing *drawing)
{
    return draw_curves(out, truth, drawing, false);
}

enum status drawing_hazards(struct between_site *out, double *truth, struct drawing *drawing)
{
    return draw_curves(out, truth, drawing, true);
}

enum status drawing_means(struct between_site *out, double *truth, struct drawing *drawing)
{
    const struct intervals_setting *setting = drawing->setting;
    const double sites = (double)setting->sites;
    const struct table1_public known = {drawing_records(setting), 1,
                                        sites * drawing_variance(drawing)};
    const size_t steps = drawing->planned > 0 ? drawing->planned : table1_plan(&known);
    struct table1_column column[DRAWING_SITES_MAX];
    double step[TABLE1_LEVELS_MAX];
    enum status status = STATUS_OK;
    drawing->planned = steps;
    for (size_t k = 0; k < steps; k++) {
        step[k] = (double)k / (double)(steps - 1);
    }
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        double cell[TABLE1_LEVELS_MAX + 2] = {0};
        struct table1_sizes sizes;
        const struct table1_block block = {cell, steps, step, drawing_told(drawing)};
        truth[i] = fmin(fmax(truth[i], 0.3), 0.7);
        for (uint64_t j = 0; j < records; j++) {
            /* Beyond 2 deviations it is the mean, so that none is clamped. */
            double z = drawing_normal(drawing);
            z = fabs(z) > 2 ? 0 : z;
            const double place = (truth[i] + 0.15 * z) * (double)(steps - 1);
            const size_t below = (size_t)fmin(floor(place), (double)steps - 2);
            cell[below + 1] += place - (double)below;
            cell[below] += 1 - (place - (double)below);
        }
        status = drawing_release(cell, steps + 2, (double)records, drawing);
        table1_agree(&sizes, &block, 1, 1, (double)records);
        table1_column_of(&column[i], &block, &sizes, 1);
    }
    if (status == STATUS_OK) {
        between_columns(out, column, setting->sites, 0);
    }
    return status;
}

enum status drawing_shares(struct between_site *out, double *truth, struct drawing *drawing)
{
    const struct intervals_setting *setting = drawing->setting;
    static const double missing = 0.1;
    struct table1_column column[DRAWING_SITES_MAX];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < setting->sites && status == STATUS_OK; i++) {
        const uint64_t records = drawing_size(setting, i);
        double cell[LEVELS + 2] = {0};
        struct table1_sizes sizes;
        const struct table1_block block = {cell, LEVELS, NULL, drawing_told(drawing)};
        truth[i] = fmax(truth[i], 0);
        for (uint64_t j = 0; j < records; j++) {
            const double unit = seeded_random_unit(&drawing->seeded);
            const size_t level = unit < truth[i] ? LEVELS - 1 : unit < 0.4 ? 0 : 1;
            cell[seeded_random_unit(&drawing->seeded) < missing ? LEVELS : level]++;
        }
        status = drawing_release(cell, LEVELS + 2, (double)records, drawing);
        table1_agree(&sizes, &block, 1, 1, (double)records);
        table1_column_of(&column[i], &block, &sizes, 1);
    }
    if (status == STATUS_OK) {
        between_columns(out, column, setting->sites, LEVELS - 1);
    }
    return status;
}

/* The settings of studies between sites: each effect, number and size of sites, epsilon and noise, once with a spread and once alike. */

static const size_t counts[] = {3, 5, 10};
static const size_t counts_of_few[] = {3, 10, 40}; /* what is cut off adds up with the sites */
static const double epsilons[] = {0.25, 1, 4};
/* Where about one site in ten, or one in four, is refused: ten sites of 1,000 records that differ. */
static const double between_epsilons[] = {0.3, 0.35, 0.45, 0.55};
static const uint64_t sizes[] = {200, 1000, 0}; /* 0: from 200 to 5,000, each another */

enum {
    COUNTS = sizeof counts / sizeof counts[0],
    EPSILONS = sizeof epsilons / sizeof epsilons[0],
    SIZES = sizeof sizes / sizeof sizes[0],
    SETTINGS = SIZES * COUNTS * EPSILONS * 2,
    NOISES = 2,
    ALL = NOISES * SETTINGS * BETWEEN_DRAWN,
    BETWEEN = sizeof between_epsilons / sizeof between_epsilons[0]
};

bool between_is_withheld(const struct intervals_setting *setting)
{
    const enum effect effect = (enum effect)setting->variant;
    return setting->is_gaussian && effect != BETWEEN_SHARE && effect != BETWEEN_DIFFERENCE &&
           effect != BETWEEN_LOG_ODDS && effect != BETWEEN_TABLE_MEAN &&
           effect != BETWEEN_TABLE_SHARE;
}

/* Behind all others: of mean lives, then of hazard ratios. */
static void set_between(struct intervals_setting *out, size_t i)
{
    *out = (struct intervals_setting){.site_records = 1000,
                                      .sites = 10,
                                      .epsilon = between_epsilons[i % BETWEEN],
                                      .has_spread = true,
                                      .draws = 1,
                                      .variant = i < BETWEEN ? BETWEEN_MEAN_LIFE : BETWEEN_HAZARD};
}

static void set_at(struct intervals_setting *out, size_t at)
{
    const bool is_of_few = at >= ALL + 2 * BETWEEN;
    const size_t own = is_of_few ? at - ALL - 2 * BETWEEN : at;
    const size_t i = own % SETTINGS;
    const size_t of_sites = i / 2 / EPSILONS % COUNTS;
    *out = (struct intervals_setting){
        .site_records = sizes[i / 2 / EPSILONS / COUNTS],
        .sites = is_of_few ? counts_of_few[of_sites] : counts[of_sites],
        .epsilon = epsilons[i / 2 % EPSILONS],
        .has_spread = i % 2 == 1,
        .draws = 1,
        .is_gaussian = own >= (is_of_few ? SETTINGS : SETTINGS * BETWEEN_DRAWN),
        .variant = is_of_few ? BETWEEN_TABLE_SHARE : own / SETTINGS % BETWEEN_DRAWN};
    if (at >= ALL && !is_of_few) {
        set_between(out, at - ALL);
    }
}

/* Added settings come after the others, so that the others keep their seeds. A short run leaves out what it would not
 * judge. */
bool between_at(struct intervals_setting *out, const struct study_request *request, size_t *at)
{
    for (; *at < ALL + 2 * BETWEEN + NOISES * SETTINGS; (*at)++) {
        const bool is_between = *at >= ALL && *at < ALL + 2 * BETWEEN;
        set_at(out, *at);
        if (request->rounds == 0 || (is_between && request->rounds >= 1000) ||
            (!is_between && out->site_records > 0 && out->site_records <= request->rounds &&
             !between_is_withheld(out))) {
            return true;
        }
    }
    return false;
}
