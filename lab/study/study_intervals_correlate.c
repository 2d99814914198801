/* Correlations of eight columns, each pair as a question of two columns and all as one of eight:
 *
 *   0, 1  sums of four uniform numbers, two of them shared: nearly normal, correlation 1/2
 *   2, 3  the 12th power of a uniform number: skewed (2.9); shared with a probability whose square is 0.3, the correlation
 *   4, 5  two values, of which 10 % have the second; shared likewise
 *   6     the size of column 0 with a sign of its own: dependent, and not correlated
 *   7     column 0 of the same record, or in 5 % a number of its own: correlation 0.95 */

#include "estimate/cells.h"
#include "estimate/correlate.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <string.h>

enum { D = 8, CELLS = 1 + D + D * (D + 1) / 2, PARTS = CORRELATE_PARTS_MAX };

/* Pairs of columns. */
enum pair {
    EVEN,
    SKEWED,
    TWO_VALUES,
    CLOSE,
    NULL_EVEN, /* independent, as the next */
    NULL_SKEWED,
    UNCORRELATED, /* and dependent */
    PAIRS
};

struct found {
    size_t columns;
    size_t parts;                          /* that were planned */
    struct intervals_rate pair[PAIRS];     /* intervals that hold the truth */
    struct intervals_rate noise[PAIRS];    /* that hold the correlation without noise */
    struct intervals_rate rejected[PAIRS]; /* tests below 5 % */
    struct intervals_width width[PAIRS];
    double sum[PAIRS]; /* of the estimates */
    double squares[PAIRS];
};

static const double shared = 0.5477225575051661; /* its square is 0.3 */
static const double rare = 0.1;
static const double close = 0.95;
static const bool is_two[D] = {[4] = true, [5] = true};

static const struct {
    size_t i, j;
    double truth;
} pairs[PAIRS] = {
    [EVEN] = {0, 1, 0.5},    [SKEWED] = {2, 3, 0.3},    [TWO_VALUES] = {4, 5, 0.3},
    [NULL_EVEN] = {0, 2, 0}, [NULL_SKEWED] = {2, 4, 0}, [UNCORRELATED] = {0, 6, 0},
    [CLOSE] = {0, 7, 0.95},
};

static double sum_of(struct seeded_random *seeded, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += (seeded_random_unit(seeded) - 0.5) / 2;
    }
    return sum;
}

static double skewed(struct seeded_random *seeded)
{
    const double u = seeded_random_unit(seeded);
    const double u3 = u * u * u;
    const double u6 = u3 * u3;
    return 2 * u6 * u6 - 1;
}

static double seldom(struct seeded_random *seeded)
{
    return seeded_random_unit(seeded) < rare ? 1 : -1;
}

/* One of a pair that has a number in common with a probability whose square is their correlation. */
static double share(struct seeded_random *seeded, double common, double own)
{
    return seeded_random_unit(seeded) < shared ? common : own;
}

static void draw_record(double *z, struct seeded_random *seeded)
{
    const double common = sum_of(seeded, 2);
    const double skew = skewed(seeded);
    const double two = seldom(seeded);
    z[0] = common + sum_of(seeded, 2);
    z[1] = common + sum_of(seeded, 2);
    z[2] = share(seeded, skew, skewed(seeded));
    z[3] = share(seeded, skew, skewed(seeded));
    z[4] = share(seeded, two, seldom(seeded));
    z[5] = share(seeded, two, seldom(seeded));
    z[6] = seeded_random_unit(seeded) < 0.5 ? z[0] : -z[0];
    z[7] = seeded_random_unit(seeded) < close ? z[0] : sum_of(seeded, 4);
}

/* cell: (PARTS, CELLS) */
static void draw_cells(double *cell, uint64_t records, struct seeded_random *seeded)
{
    memset(cell, 0, (size_t)PARTS * CELLS * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        double *own = cell + i % PARTS * CELLS;
        double z[D];
        draw_record(z, seeded);
        *own++ += 0.5;
        for (size_t a = 0; a < D; a++) {
            *own++ += z[a];
        }
        for (size_t a = 0; a < D; a++) {
            for (size_t b = a; b < D; b++) {
                *own++ += z[a] * z[b] * (a == b ? 0.5 : 1);
            }
        }
    }
}

static size_t product_of(size_t i, size_t j)
{
    return 1 + D + i * D - i * (i + 1) / 2 + j;
}

/* The cells of a question: of all columns, or of a pair (column: NULL or 2 of them). */
static void take_cells(double *out, const double *cell, size_t parts, const size_t *column)
{
    const size_t cells = correlate_cells(column == NULL ? D : 2);
    memset(out, 0, parts * cells * sizeof *out);
    for (size_t part = 0; part < PARTS; part++, cell += CELLS) {
        double *own = out + part % parts * cells;
        for (size_t k = 0; column == NULL && k < CELLS; k++) {
            own[k] += cell[k];
        }
        if (column != NULL) {
            own[0] += cell[0];
            own[1] += cell[1 + column[0]];
            own[2] += cell[1 + column[1]];
            own[3] += cell[product_of(column[0], column[0])];
            own[4] += cell[product_of(column[0], column[1])];
            own[5] += cell[product_of(column[1], column[1])];
        }
    }
}

struct asking {
    const struct intervals_setting *setting;
    struct random random;
    struct intervals_noise noise;
    size_t parts;
    size_t columns;
};

static enum status start(struct asking *out, const struct intervals_setting *setting,
                         struct seeded_random *seeded, size_t columns)
{
    const double d1 = (double)(columns + 1);
    const struct intervals_moves moves = {d1 * d1 / 2, sqrt(d1 * d1 - (columns % 2 == 0 ? 1 : 0))};
    *out = (struct asking){
        .setting = setting, .random = seeded_random_interface(seeded), .columns = columns};
    const enum status status = intervals_noise_init(&out->noise, setting, &moves);
    out->parts = correlate_plan(&(struct correlate_public){
        (double)(INTERVALS_SITES * setting->site_records), out->noise.variance});
    return status;
}

static void judge(struct found *out, size_t pair, const struct correlate *all,
                  const struct correlate *clean, size_t i, size_t j)
{
    const struct table1_figure figure = correlate_pair(all, i, j);
    const struct table1_figure free = correlate_pair(clean, i, j);
    if (!isnan(figure.estimate.value)) {
        intervals_judge(&out->pair[pair], &figure.estimate, pairs[pair].truth);
        intervals_count(&out->rejected[pair], correlate_test(all, i, j) < 0.05);
        intervals_count(&out->noise[pair], figure.noise_low <= free.estimate.value &&
                                               free.estimate.value <= figure.noise_high);
        const double width = intervals_width_of(&figure.estimate);
        intervals_add_width(&out->width[pair], width, intervals_width_of(&free.estimate));
        out->sum[pair] += figure.estimate.value;
        out->squares[pair] += figure.estimate.value * figure.estimate.value;
    }
}

static struct correlate_moments moments_of(const double *cell, const struct asking *asking,
                                           const bool *two, double variance)
{
    return (struct correlate_moments){
        .cell = cell,
        .columns = asking->columns,
        .parts = asking->parts,
        .is_two = two,
        .variance = variance,
        .records = (double)(INTERVALS_SITES * asking->setting->site_records)};
}

static void name_two(bool *two, const size_t *column)
{
    for (size_t k = 0; k < D; k++) {
        two[k] = is_two[column == NULL ? k : column[k % 2]];
    }
}

/* What intervals of 1.96 true standard deviations are: those of all studies' estimates. True cells do not say it, as parts tell what
 * they differ by. */
static void set_true(struct found *out)
{
    for (size_t pair = 0; pair < PAIRS; pair++) {
        const double count = (double)out->width[pair].count;
        const double mean = out->sum[pair] / count;
        const double variance = fmax(out->squares[pair] / count - mean * mean, 0);
        out->width[pair].by_true = 2 * ESTIMATE_Z * sqrt(variance);
    }
}

/* column: as take_cells */
static enum status ask(struct found *out, const double *exact, struct asking *asking, size_t pair)
{
    const size_t both[] = {pairs[pair].i, pairs[pair].j};
    const size_t *column = asking->columns == D ? NULL : both;
    const double told =
        asking->setting->planted * asking->setting->planted * asking->noise.variance;
    bool two[D];
    double free[PARTS * CELLS];
    double cell[PARTS * CELLS];
    name_two(two, column);
    take_cells(free, exact, asking->parts, column);
    memcpy(cell, free, sizeof cell);
    const enum status status = intervals_noise_add(
        cell, asking->parts * correlate_cells(asking->columns), &asking->noise, &asking->random);
    const struct correlate_moments noisy = moments_of(cell, asking, two, told);
    const struct correlate_moments none = moments_of(free, asking, two, 0);
    struct correlate all;
    struct correlate clean;
    correlate_init(&all, &noisy);
    correlate_init(&clean, &none);
    for (size_t k = 0; k < PAIRS && column == NULL; k++) {
        judge(out, k, &all, &clean, pairs[k].i, pairs[k].j);
    }
    if (column != NULL) {
        judge(out, pair, &all, &clean, 0, 1);
    }
    return status;
}

static enum status simulate(struct found *out, const struct intervals_setting *setting)
{
    struct seeded_random seeded;
    struct asking asking;
    *out = (struct found){.columns = setting->variant == 1 ? D : 2};
    seeded_random_init(&seeded, setting->seed);
    enum status status = start(&asking, setting, &seeded, out->columns);
    out->parts = asking.parts;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double exact[PARTS * CELLS];
        draw_cells(exact, INTERVALS_SITES * setting->site_records, &seeded);
        for (size_t pair = 0; pair < (out->columns == D ? 1 : PAIRS) && status == STATUS_OK;
             pair++) {
            status = ask(out, exact, &asking, pair);
        }
    }
    set_true(out);
    intervals_noise_free(&asking.noise);
    return status;
}

enum { NOISE = PAIRS, REJECTED }; /* behind a claim of each pair */

static const struct intervals_claim claims[] = {
    [EVEN] = {"correlations: intervals of nearly normal columns, the worst of all settings",
              INTERVALS_HOLD},
    [SKEWED] = {"correlations: intervals of skewed columns, the worst of all settings",
                INTERVALS_HOLD},
    [TWO_VALUES] = {"correlations: intervals of columns of two values, the worst of all settings",
                    INTERVALS_HOLD},
    [CLOSE] = {"correlations: intervals of columns whose correlation is 0.95, the worst of all "
               "settings",
               INTERVALS_HOLD},
    [NULL_EVEN] =
        {"correlations: intervals of an even and a skewed column that are independent, the "
         "worst of all settings",
         INTERVALS_HOLD},
    [NULL_SKEWED] = {"correlations: intervals of a skewed column and one of two values that are "
                     "independent, the worst of all settings",
                     INTERVALS_HOLD},
    [UNCORRELATED] = {"correlations: intervals of dependent columns whose correlation is 0, the "
                      "worst of all settings",
                      INTERVALS_HOLD},
    [NOISE] = {"correlations: intervals of the noise alone that hold what is without noise",
               INTERVALS_HOLD},
    [REJECTED] = {"correlations: tests that reject independent columns", INTERVALS_REJECT},
};

static double half_of(const struct intervals_width *width)
{
    return width->released / (double)width->count / 2;
}

/* Of each of these pairs: 0.951, 0.949. */
static void tell_shares(struct intervals_told *told, size_t column, const char *words,
                        const struct intervals_rate *rate)
{
    static const enum pair nulls[] = {NULL_EVEN, NULL_SKEWED, UNCORRELATED};
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        intervals_tell_share(told, column, i == 0 ? words : ", ", &rate[nulls[i]]);
    }
}

static void tell(struct intervals_told *told, const struct found *found)
{
    const struct intervals_rate *rate = found->pair;
    double worst = NAN;
    for (size_t pair = 0; pair < PAIRS; pair++) {
        worst = fmax(worst, intervals_over_true(&found->width[pair]));
    }
    intervals_tell(told, 0, "correlations of %zu, ", found->columns);
    intervals_tell_setting(told, "");
    intervals_tell(told, 1, "%zu parts", found->parts);
    for (size_t pair = EVEN; pair <= CLOSE; pair++) {
        intervals_tell_shown(told, 2, pair == EVEN ? "" : ", ", &rate[pair], told->setting->runs);
    }
    intervals_tell_share(told, 3, "normal ", &rate[EVEN]);
    intervals_tell_share(told, 3, ", skewed ", &rate[SKEWED]);
    intervals_tell_share(told, 4, "two values ", &rate[TWO_VALUES]);
    intervals_tell_share(told, 4, ", close ", &rate[CLOSE]);
    tell_shares(told, 5, "of 0 ", rate);
    tell_shares(told, INTERVALS_OF_TESTS, "", found->rejected);
    intervals_tell(told, INTERVALS_OF_WIDTHS, "halves %.3f, %.3f, %.3f; over true %.2f",
                   half_of(&found->width[EVEN]), half_of(&found->width[SKEWED]),
                   half_of(&found->width[TWO_VALUES]), worst);
}

/* Parts tell the noise that there is: a tenth of it is planted, which the settings of one part are told. */
static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t pair = 0; pair < PAIRS; pair++) {
        intervals_take(told, pair, &found.pair[pair], setting->runs, &found.width[pair]);
        intervals_take(told, NOISE, &found.noise[pair], setting->runs, NULL);
    }
    intervals_take(told, REJECTED, &found.rejected[NULL_EVEN], setting->runs, NULL);
    intervals_take(told, REJECTED, &found.rejected[NULL_SKEWED], setting->runs, NULL);
    tell(told, &found);
    return status;
}

INTERVALS_KIND(correlate, .variants = 2, .runs_times = 1, .planted = 0.1);
