/* concordance.c - C is a quotient of two sums over pairs of cells, each bilinear: its gradient is a sum over the cells that a cell
 * is compared with. */

#include "estimate/concordance.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double noise_most = 0.1;
static const double pairs_noise_most = 0.2; /* of the pairs */
static const double pairs_most = 0.16;      /* the same squared, of the pairs that were found */
static const double length_most = 0.9;      /* an interval that is longer says too little */
static const double upper_hundredth = 2.3263479;
/* A group that is shown one time in a hundred is found further above the limit one time in twenty, and one time in a thousand. */
static const double near = 1;
static const double far = 2;
static const double planned_share = 0.2; /* of the records, with the event */
static const double planned_lost = 0.4;  /* last seen before the end */

/* One group, or all together. */
struct pooled {
    double cell[CONCORDANCE_GROUP_CELLS_MAX]; /* (rows, bins) */
    size_t bins;
    size_t count;    /* of its cells */
    double variance; /* of the noise on a cell, before balancing */
    double shared;   /* the covariance of two cells' noises: balancing makes it */
};

static void pool(struct pooled *out, const struct concordance_cells *cells, size_t group)
{
    const size_t bins = cells->bins;
    const double m = (double)CONCORDANCE_CELLS(cells->groups, bins);
    size_t groups = 0;
    CHECK(bins >= CONCORDANCE_BINS_MIN && bins <= CONCORDANCE_BINS_MAX && group <= cells->groups);
    *out = (struct pooled){.bins = bins, .count = bins * (2 * bins + 1)};
    for (size_t g = 0; g < cells->groups; g++) {
        for (size_t c = 0; c < out->count && (group == g || group == cells->groups); c++) {
            out->cell[c] += cells->cell[g * out->count + c];
        }
        groups += group == g || group == cells->groups ? 1 : 0;
    }
    out->variance = (double)groups * cells->variance;
    out->shared = -(double)(groups * groups) * cells->variance / m;
}

/* The variance of the noise on a sum of a_c times the cells: square is that of the a_c^2. */
static double noise_of(const struct pooled *pooled, double sum, double square)
{
    return fmax(pooled->variance * square + pooled->shared * sum * sum, 0);
}

/* The records in rows from .. to - 1. */
static struct linear rows_of(const struct pooled *pooled, size_t from, size_t to)
{
    struct linear out = {.z = ESTIMATE_Z_NOISE};
    for (size_t c = from * pooled->bins; c < to * pooled->bins; c++) {
        out.value += pooled->cell[c];
    }
    const double count = (double)((to - from) * pooled->bins);
    out.variance = noise_of(pooled, count, count);
    return out;
}

/* The first row that a death of this row's interval is compared with, deaths of later ones; and of those last seen. */
static bool is_compared(size_t death, size_t row, size_t bins)
{
    return row < bins ? row > death : row - bins >= death;
}

/* The sum over pairs of (the share won - value), and what it changes by with each cell. */
struct pairs {
    double sum;
    double gradient[CONCORDANCE_GROUP_CELLS_MAX];
    double square; /* of one pair's share, over all pairs of cells */
    double mean;   /* what the cells' shared noise adds to the sum */
};

/* scores: whether pairs are won by their scores; else all pairs count as won */
static void compare(struct pairs *out, const struct pooled *pooled, bool scores, double value)
{
    const size_t bins = pooled->bins;
    CHECK(bins >= CONCORDANCE_BINS_MIN && bins <= CONCORDANCE_BINS_MAX);
    *out = (struct pairs){.sum = 0};
    for (size_t j = 0; j < bins; j++) {
        for (size_t row = 0; row < 2 * bins + 1; row++) {
            for (size_t pair = 0; pair < bins * bins && is_compared(j, row, bins); pair++) {
                const size_t k = pair / bins;
                const size_t other = pair % bins;
                const double wins = k > other ? 1 : k == other ? 0.5 : 0;
                const double own = (scores ? wins : 1) - value;
                const double dies = pooled->cell[j * bins + k];
                const double later = pooled->cell[row * bins + other];
                out->sum += own * dies * later;
                out->gradient[j * bins + k] += own * later;
                out->gradient[row * bins + other] += own * dies;
                out->square += own * own;
                out->mean += own * pooled->shared;
            }
        }
    }
}

/* The noise on a sum over pairs, and its tail. */
static struct linear pairs_noise(const struct pairs *pairs, const struct pooled *pooled)
{
    double sum = 0;
    double square = 0;
    double fourth = 0;
    struct linear out = {.value = pairs->sum - pairs->mean, .z = ESTIMATE_Z};
    for (size_t c = 0; c < pooled->count; c++) {
        const double a = pairs->gradient[c];
        sum += a;
        square += a * a;
        fourth += a * a * a * a;
    }
    if (square > 0) {
        out.z += (ESTIMATE_Z_NOISE - ESTIMATE_Z) * fourth / (square * square);
    }
    out.variance =
        noise_of(pooled, sum, square) + pooled->variance * pooled->variance * pairs->square;
    return out;
}

/* The same counts of deaths, censorings and those still there, evenly over the bins: of such cells rules are told, as they look at
 * nothing that noise makes larger or smaller. */
static bool even_out(struct pooled *out, const struct pooled *pooled)
{
    const size_t bins = pooled->bins;
    const size_t end[] = {0, bins, 2 * bins, 2 * bins + 1};
    *out = *pooled;
    for (size_t i = 0; i < 3; i++) {
        const double count = rows_of(pooled, end[i], end[i + 1]).value;
        const double each = fmax(count, 0) / (double)((end[i + 1] - end[i]) * bins);
        for (size_t c = end[i] * bins; c < end[i + 1] * bins; c++) {
            out->cell[c] = each;
        }
        if (i == 0 && !(count > 1)) {
            return false;
        }
    }
    return true;
}

static double sampling_of(const struct pairs *pairs, const struct pooled *pooled)
{
    double sum = 0;
    for (size_t c = 0; c < pooled->count; c++) {
        sum += pooled->cell[c] * pairs->gradient[c] * pairs->gradient[c];
    }
    return sqrt(fmax(sum, 0));
}

/* What even cells expect of an index of 1/2. */
struct expected {
    double pairs;
    double pairs_noise; /* standard deviations */
    double noise;
    double sampling;
};

static struct expected expect(const struct pooled *even)
{
    struct pairs pairs;
    struct expected out = {.pairs = 0};
    compare(&pairs, even, false, 0);
    const struct linear all = pairs_noise(&pairs, even);
    out.pairs = pairs.sum;
    out.pairs_noise = sqrt(all.variance);
    compare(&pairs, even, true, 0.5);
    out.noise = sqrt(pairs_noise(&pairs, even).variance) / out.pairs;
    out.sampling = sampling_of(&pairs, even) / out.pairs;
    return out;
}

/* NAN: nobody has the event, or nobody is there to be compared with. */
static double factor_of(const struct pooled *pooled)
{
    const struct linear events = rows_of(pooled, 0, pooled->bins);
    const double enough = size_factor(&events);
    struct pooled even;
    if (isnan(enough) || !even_out(&even, pooled)) {
        return NAN;
    }
    const struct expected expected = expect(&even);
    const double of_pairs = expected.pairs_noise / expected.pairs / pairs_noise_most;
    return fmax(enough, fmax(of_pairs, expected.noise / noise_most));
}

static struct table1_figure counted_rows(const struct concordance_cells *cells, size_t group,
                                         size_t to)
{
    struct pooled pooled;
    pool(&pooled, cells, group);
    const struct linear count = rows_of(&pooled, 0, to);
    return figure_counted(count.value, count.variance);
}

struct table1_figure concordance_size(const struct concordance_cells *cells, size_t group)
{
    return counted_rows(cells, group, 2 * cells->bins + 1);
}

struct table1_figure concordance_events(const struct concordance_cells *cells, size_t group)
{
    return counted_rows(cells, group, cells->bins);
}

/* Those with the event, less this many, evenly over their cells. */
static void take_off(struct pooled *out, const struct pooled *pooled, double events)
{
    const size_t cells = pooled->bins * pooled->bins;
    *out = *pooled;
    for (size_t c = 0; c < cells; c++) {
        out->cell[c] -= events / (double)cells;
    }
}

static bool is_given_without(const struct pooled *pooled, double events)
{
    struct pooled fewer;
    take_off(&fewer, pooled, events);
    return factor_of(&fewer) < 1;
}

/* How many events are found above the fewest with which an index is given, in deviations of their noise; INFINITY: not near.
 * Many cells make this noise, so that it is nearly normal. */
static double events_over(const struct pooled *pooled, double deviation)
{
    enum { HALVINGS = 8 };
    double low = 0;
    double high = far;
    if (!(deviation > 0) || is_given_without(pooled, far * deviation)) {
        return INFINITY;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        *(is_given_without(pooled, middle * deviation) ? &low : &high) = middle;
    }
    return high;
}

/* An index with what it may be off by. */
struct index {
    double value;
    double noise; /* standard deviations */
    double sampling;
    double z; /* of the noise */
    double
        wide; /* a quotient of two noisy sums: wider as Fieller's is, most where it is shown just yet */
};

static struct index found_index(const struct pooled *pooled)
{
    struct pairs pairs;
    compare(&pairs, pooled, false, 0);
    const struct linear quotient = pairs_noise(&pairs, pooled);
    const double all = quotient.value;
    if (!(all > 0)) {
        return (struct index){.value = NAN};
    }
    compare(&pairs, pooled, true, 0);
    const double value = fmin(fmax((pairs.sum - pairs.mean) / all, 0), 1);
    compare(&pairs, pooled, true, value);
    const struct linear own = pairs_noise(&pairs, pooled);
    return (struct index){.value = value,
                          .noise = sqrt(own.variance) / all,
                          .sampling = sampling_of(&pairs, pooled) / all,
                          .z = own.z,
                          .wide = 1 / (1 - ESTIMATE_Z * ESTIMATE_Z *
                                               fmin(quotient.variance / (all * all), pairs_most))};
}

static void widen(struct table1_figure *figure, const struct index *index)
{
    const double of_noise = index->wide * index->z * index->noise;
    const double both = index->wide * hypot(index->z * index->noise, ESTIMATE_Z * index->sampling);
    struct estimate *estimate = &figure->estimate;
    estimate->low = fmin(estimate->low, fmax(index->value - both, 0));
    estimate->high = fmax(estimate->high, fmin(index->value + both, 1));
    figure->noise_low = fmin(figure->noise_low, fmax(index->value - of_noise, 0));
    figure->noise_high = fmax(figure->noise_high, fmin(index->value + of_noise, 1));
}

/* As it was found and, near the limit, as it would be if noise had let the group through. */
static struct table1_figure index_of(const struct pooled *pooled)
{
    const double factor = factor_of(pooled);
    if (!(factor < 1)) {
        return figure_refused(factor);
    }
    const struct index found = found_index(pooled);
    if (isnan(found.value)) {
        return figure_refused(NAN);
    }
    struct table1_figure out = {.estimate = {.value = found.value,
                                             .low = 1,
                                             .high = 0,
                                             .noise = found.noise,
                                             .sampling = found.sampling},
                                .noise_low = 1,
                                .noise_high = 0,
                                .factor = factor};
    widen(&out, &found);
    const double deviation = sqrt(rows_of(pooled, 0, pooled->bins).variance);
    const double over = events_over(pooled, deviation);
    if (over < far) {
        struct pooled fewer;
        const double off = (over + upper_hundredth) * fmin((far - over) / (far - near), 1);
        take_off(&fewer, pooled, off * deviation);
        struct index index = found_index(&fewer);
        if (isnan(index.value)) {
            return figure_refused(NAN);
        }
        index.wide = 1; /* the pairs are those of a number of events that was chosen */
        widen(&out, &index);
    }
    const double length = out.estimate.high - out.estimate.low;
    return length > length_most ? figure_refused(NAN) : out;
}

struct table1_figure concordance_index(const struct concordance_cells *cells, size_t group)
{
    struct pooled pooled;
    pool(&pooled, cells, group);
    return index_of(&pooled);
}

/* Groups as they are planned for: one, or that many together. */
static void plan_groups(struct pooled *out, const struct table1_public *known, size_t bins,
                        size_t groups)
{
    const double count = (double)groups;
    const double n = count * known->records / (double)known->groups;
    const double cells = (double)(bins * bins);
    const double m = (double)CONCORDANCE_CELLS(known->groups, bins);
    *out = (struct pooled){.bins = bins,
                           .count = bins * (2 * bins + 1),
                           .variance = count * known->variance,
                           .shared = -count * count * known->variance / m};
    for (size_t c = 0; c < out->count; c++) {
        const size_t row = c / bins;
        out->cell[c] = row < bins       ? planned_share * n / cells
                       : row < 2 * bins ? planned_lost * n / cells
                                        : (1 - planned_share - planned_lost) * n / (double)bins;
    }
}

size_t concordance_plan(const struct table1_public *known)
{
    struct pooled even;
    size_t bins = CONCORDANCE_BINS_MAX;
    for (; bins > CONCORDANCE_BINS_MIN; bins -= 2) {
        plan_groups(&even, known, bins, 1);
        const struct expected expected = expect(&even);
        if (expected.noise <= expected.sampling) {
            break;
        }
    }
    return bins;
}

struct asked_of_group {
    const struct table1_public *known;
    size_t bins;
    size_t groups; /* one, or all together */
};

static bool has_index(double records, const void *of)
{
    const struct asked_of_group *asked = of;
    struct table1_public with = *asked->known;
    struct pooled even;
    with.records = records * (double)with.groups / (double)asked->groups;
    plan_groups(&even, &with, asked->bins, asked->groups);
    return !isnan(index_of(&even).estimate.value);
}

static double expect_index(double *needed, const struct asked_of_group *asked)
{
    struct pooled even;
    plan_groups(&even, asked->known, asked->bins, asked->groups);
    const struct table1_figure index = index_of(&even);
    *needed = cells_fewest_records(has_index, asked);
    return (index.estimate.high - index.estimate.low) / 2;
}

double concordance_expect(double *group, const struct table1_public *known, size_t bins)
{
    return expect_index(group, &(struct asked_of_group){known, bins, 1});
}

double concordance_expect_all(double *records, const struct table1_public *known, size_t bins)
{
    return expect_index(records, &(struct asked_of_group){known, bins, known->groups});
}
