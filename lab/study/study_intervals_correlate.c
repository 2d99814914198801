/* Correlations of eight columns, each pair as a question of two columns and all as one of eight:
 *
 *   0, 1  sums of four uniform numbers, two of them shared: nearly normal, correlation 1/2
 *   2, 3  the 12th power of a uniform number: skewed (2.9); shared with a probability whose square is 0.3, the correlation
 *   4, 5  two values, of which 10 % have the second; shared likewise
 *   6     the size of column 0 with a sign of its own: dependent, and not correlated
 *   7     column 0 of the same record, or in 5 % a number of its own: correlation 0.95 */

#include "estimate/cells.h"
#include "estimate/correlate_private.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    D = 8,
    MOMENTS = 1 + D + D * (D + 1) / 2,
    CELLS = MOMENTS + 2 * D + 5 * D * (D - 1) / 2,
    PAIR_MOMENTS = 6
};

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
    uint32_t fourth;                       /* weight of the fourth moments, as planned */
    struct intervals_rate pair[PAIRS];     /* intervals that hold the truth */
    struct intervals_rate noise[PAIRS];    /* that hold the correlation without noise */
    struct intervals_rate rejected[PAIRS]; /* tests below 5 % */
    struct intervals_width width[PAIRS];
    double *r; /* (PAIRS, runs) of those that are given: as they are found, maybe beyond 1; owned */
    size_t runs;
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

/* With fourth moments of weight 1. cell: (CELLS) */
static void draw_cells(double *cell, uint64_t records, struct seeded_random *seeded)
{
    memset(cell, 0, CELLS * sizeof *cell);
    for (uint64_t i = 0; i < records; i++) {
        double *own = cell;
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
        for (size_t a = 0; a < D; a++) {
            *own++ += z[a] * z[a] * z[a] / 4;
            *own++ += z[a] * z[a] * z[a] * z[a] / 4;
        }
        for (size_t a = 0; a < D; a++) {
            for (size_t b = a + 1; b < D; b++) {
                const double product = z[a] * z[b];
                *own++ += product * z[a];
                *own++ += product * z[b];
                *own++ += product * z[a] * z[a] / 2;
                *own++ += product * product;
                *own++ += product * z[b] * z[b] / 2;
            }
        }
    }
}

static size_t product_of(size_t i, size_t j)
{
    return 1 + D + i * D - i * (i + 1) / 2 + j;
}

/* The cells of a question: of all columns, or of a pair (column: NULL or 2 of them); fourth moments by their weight, 0: none. */
static void take_cells(double *out, const double *cell, uint32_t fourth, const size_t *column)
{
    const size_t moments = correlate_cells(column == NULL ? D : 2);
    const size_t cells = moments + correlate_fourth_cells(column == NULL ? D : 2);
    if (column == NULL) {
        memcpy(out, cell, CELLS * sizeof *out);
    } else {
        const size_t i = column[0];
        const size_t j = column[1];
        const size_t place[] = {
            0, 1 + i, 1 + j, product_of(i, i), product_of(i, j), product_of(j, j)};
        const size_t place_fourth = MOMENTS + 2 * D + 5 * (i * (D - 1) - i * (i + 1) / 2 + j - 1);
        for (size_t k = 0; k < PAIR_MOMENTS; k++) {
            out[k] = cell[place[k]];
        }
        memcpy(out + PAIR_MOMENTS, cell + MOMENTS + 2 * i, 2 * sizeof *out);
        memcpy(out + PAIR_MOMENTS + 2, cell + MOMENTS + 2 * j, 2 * sizeof *out);
        memcpy(out + PAIR_MOMENTS + 4, cell + place_fourth, 5 * sizeof *out);
    }
    for (size_t k = moments; k < cells; k++) {
        out[k] = fourth > 0 ? out[k] / fourth : 0;
    }
}

struct asking {
    const struct intervals_setting *setting;
    struct random random;
    struct intervals_noise noise;
    uint32_t fourth;
    size_t columns;
};

/* How far a record moves the cells, with fourth moments of a weight. */
static struct intervals_moves moves_of(size_t columns, uint32_t fourth)
{
    const double d1 = (double)(columns + 1);
    const double by = fourth > 0 ? 1 / (double)fourth : 0;
    const double odd = columns % 2 == 0 ? 1 : 0;
    return (struct intervals_moves){
        d1 * d1 / 2 + (double)correlate_fourth_moves(columns) / 4 * by,
        sqrt(d1 * d1 - odd + (double)correlate_fourth_squared(columns) / 16 * by * by)};
}

static enum status start(struct asking *out, const struct intervals_setting *setting,
                         struct seeded_random *seeded, size_t columns, uint32_t fourth_most)
{
    struct intervals_moves moves = moves_of(columns, 0);
    *out = (struct asking){
        .setting = setting, .random = seeded_random_interface(seeded), .columns = columns};
    enum status status = intervals_noise_init(&out->noise, setting, &moves);
    out->fourth = correlate_plan(
        &(struct correlate_public){.records = (double)(INTERVALS_SITES * setting->site_records),
                                   .variance = out->noise.variance,
                                   .columns = columns,
                                   .is_gaussian = setting->is_gaussian},
        fourth_most);
    if (status == STATUS_OK && out->fourth > 0) {
        intervals_noise_free(&out->noise);
        moves = moves_of(columns, out->fourth);
        status = intervals_noise_init(&out->noise, setting, &moves);
    }
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
        intervals_add_width(&out->width[pair], intervals_width_of(&figure.estimate),
                            intervals_width_of(&free.estimate));
        out->r[pair * out->runs + out->width[pair].count - 1] = correlate_found(all, i, j).r;
    }
}

static struct correlate_moments moments_of(const double *cell, const struct asking *asking,
                                           const bool *two, double variance)
{
    return (struct correlate_moments){
        .cell = cell,
        .columns = asking->columns,
        .fourth = asking->fourth,
        .is_two = two,
        .variance = variance,
        .records = (double)(INTERVALS_SITES * asking->setting->site_records)};
}

/* Of all studies' estimates. Planted: the widths of no noise. */
static void set_true(struct found *out, bool is_planted)
{
    for (size_t pair = 0; pair < PAIRS; pair++) {
        struct intervals_width *width = &out->width[pair];
        width->by_true = is_planted
                             ? width->exact / (double)width->exact_count
                             : intervals_true_width(out->r + pair * out->runs, width->count, -1, 1);
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
    double free[CELLS];
    double cell[CELLS];
    for (size_t k = 0; k < D; k++) {
        two[k] = is_two[column == NULL ? k : column[k % 2]];
    }
    take_cells(free, exact, asking->fourth, column);
    memcpy(cell, free, sizeof cell);
    const size_t count = correlate_cells(asking->columns) +
                         (asking->fourth > 0 ? correlate_fourth_cells(asking->columns) : 0);
    const enum status status = intervals_noise_add(cell, count, &asking->noise, &asking->random);
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
    struct asking of_two = {0}; /* values, which ask for no fourth moments */
    *out = (struct found){.columns = setting->variant == 1 ? D : 2,
                          .r = calloc(PAIRS * setting->runs, sizeof *out->r),
                          .runs = setting->runs};
    if (out->r == NULL) {
        return STATUS_NO_MEMORY;
    }
    seeded_random_init(&seeded, setting->seed);
    enum status status = start(&asking, setting, &seeded, out->columns, CORRELATE_FOURTH_MAX);
    if (status == STATUS_OK) {
        status = start(&of_two, setting, &seeded, out->columns, 0);
    }
    out->fourth = asking.fourth;
    for (size_t i = 0; i < setting->runs && status == STATUS_OK; i++) {
        double exact[CELLS];
        draw_cells(exact, INTERVALS_SITES * setting->site_records, &seeded);
        for (size_t pair = 0; pair < (out->columns == D ? 1 : PAIRS) && status == STATUS_OK;
             pair++) {
            status = ask(out, exact, pair == TWO_VALUES ? &of_two : &asking, pair);
        }
    }
    set_true(out, setting->planted < 1);
    intervals_noise_free(&asking.noise);
    intervals_noise_free(&of_two.noise);
    return status;
}

enum { NOISE = PAIRS, REJECTED, WIDTH }; /* after a claim of each pair */

#define CLAIM_OF(what)                                                                             \
    {                                                                                              \
        "correlations: intervals of " what ", the worst of all settings", INTERVALS_HOLD           \
    }

static const struct intervals_claim claims[] = {
    [EVEN] = CLAIM_OF("nearly normal columns"),
    [SKEWED] = CLAIM_OF("skewed columns"),
    [TWO_VALUES] = CLAIM_OF("columns of two values"),
    [CLOSE] = CLAIM_OF("columns whose correlation is 0.95"),
    [NULL_EVEN] = CLAIM_OF("an even and a skewed column that are independent"),
    [NULL_SKEWED] = CLAIM_OF("a skewed column and one of two values that are independent"),
    [UNCORRELATED] = CLAIM_OF("dependent columns whose correlation is 0"),
    [NOISE] = {"correlations: intervals of the noise alone that hold what is without noise",
               INTERVALS_HOLD},
    [REJECTED] = {"correlations: tests that reject independent columns", INTERVALS_REJECT},
    [WIDTH] = {"correlations: widths over those of 1.96 true standard deviations of the estimates",
               INTERVALS_WIDTH},
};

static double half_of(const struct intervals_width *width)
{
    return width->released / (double)width->count / 2;
}

/* For each of these pairs: 0.951, 0.949. */
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
    intervals_tell(told, 1, "weight %u", (unsigned)found->fourth);
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

/* A tenth of the noise that there is is planted. */
static enum status run(struct intervals_told *told, const struct intervals_setting *setting)
{
    struct found found;
    const enum status status = simulate(&found, setting);
    for (size_t pair = 0; pair < PAIRS; pair++) {
        intervals_take(told, pair, &found.pair[pair], setting->runs, &found.width[pair]);
        intervals_take(told, NOISE, &found.noise[pair], setting->runs, NULL);
        intervals_take_width(told, WIDTH, &found.width[pair], setting->runs);
    }
    intervals_take(told, REJECTED, &found.rejected[NULL_EVEN], setting->runs, NULL);
    intervals_take(told, REJECTED, &found.rejected[NULL_SKEWED], setting->runs, NULL);
    tell(told, &found);
    free(found.r);
    return status;
}

INTERVALS_KIND(correlate, .variants = 2, .runs_times = 1, .planted = 0.1);
