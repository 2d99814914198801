/* correlate.c - correlations, their intervals and tests from noisy moments. */

#include "estimate/correlate.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/correlate_private.h"
#include "estimate/table1_private.h"

#include <math.h>

/* An interval that is longer than this says too little to be shown: of 2. */
static const double length_most = 1.8;
static const double doubtful = 3; /* deviations of the noise of a variance */

/* What a column's noise does to a covariance goes with what it does to the variance. That is so on average: large noise is one
 * cell's, and some cells move the covariance more, one not at all. */
static const double share_most = 1.75;
static const double share_least = 0.5;

size_t correlate_cells(size_t columns)
{
    return 1 + columns + columns * (columns + 1) / 2;
}

size_t correlate_place(size_t columns, size_t i, size_t j)
{
    const size_t low = i < j ? i : j;
    const size_t high = i < j ? j : i;
    return 1 + columns + low * columns - low * (low + 1) / 2 + high;
}

size_t correlate_fourth_cells(size_t columns)
{
    return 2 * columns + 5 * (columns * (columns - 1) / 2);
}

size_t correlate_fourth_place(double *times, const struct correlate_moments *moments,
                              const size_t *pair, const unsigned *power)
{
    const size_t d = moments->columns;
    const size_t low = pair[0] < pair[1] ? 0 : 1;
    const size_t i = pair[low];
    const unsigned a = power[low];
    const unsigned b = power[1 - low];
    const double of = 1 / (double)moments->fourth;
    CHECK(moments->fourth > 0 && a + b >= 3 && a + b <= 4);
    if (a == 0 || b == 0) {
        *times = of / 4;
        return correlate_cells(d) + 2 * (b == 0 ? i : pair[1 - low]) + (a + b - 3);
    }
    *times = a + b == 3 || a == b ? of : of / 2;
    const size_t before = i * (d - 1) - i * (i - 1) / 2 + (pair[1 - low] - i - 1); /* pairs */
    return correlate_cells(d) + 2 * d + 5 * before + (a + b == 3 ? b - 1 : 1 + b);
}

/* By how many columns have different signs in the two records. A product that is odd in such columns is as far apart as the sum
 * of its sizes, any other one as the difference, which is one size at most. */
struct apart {
    uint64_t none, one, both; /* of a pair, by how many of its columns differ */
    uint64_t same, other;     /* of a column */
};

static uint64_t farthest(const struct apart *apart, uint64_t columns)
{
    uint64_t most = 0;
    for (uint64_t k = 0; k <= columns; k++) {
        const uint64_t rest = columns - k;
        const uint64_t sum = apart->none * (rest * (rest - 1) / 2) + apart->one * k * rest +
                             apart->both * (k * (k - 1) / 2) + apart->same * rest +
                             apart->other * k;
        most = sum > most ? sum : most;
    }
    return most;
}

/* The sizes are 4, 4, 2, 4 and 2 of a pair, 1 and 1 of a column. For one that differs the first, or the second, and the third and
 * fifth of the pair are odd; of both the first two. */
uint64_t correlate_fourth_moves(size_t columns)
{
    return farthest(&(struct apart){.none = 16, .one = 24, .both = 24, .same = 2, .other = 3},
                    columns);
}

uint64_t correlate_fourth_squared(size_t columns)
{
    return farthest(&(struct apart){.none = 56, .one = 128, .both = 152, .same = 2, .other = 5},
                    columns);
}

void correlate_init(struct correlate *out, const struct correlate_moments *moments)
{
    const size_t d = moments->columns;
    const double *total = moments->cell;
    CHECK(d >= 2 && d <= CORRELATE_COLUMNS_MAX);
    *out = (struct correlate){.moments = moments, .records = 2 * total[0]};
    for (size_t i = 0; i < d; i++) {
        out->mean[i] = total[1 + i] / out->records;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            const double product =
                total[correlate_place(d, i, j)] * (i == j ? 2 : 1) / out->records;
            out->covariance[i][j] = product - out->mean[i] * out->mean[j];
            out->covariance[j][i] = out->covariance[i][j];
        }
    }
}

static double sd_of_size(const struct correlate *all)
{
    return 2 * sqrt(all->moments->variance);
}

bool correlate_is_flat(const struct correlate *all, size_t i)
{
    static const double planned = 1.0 / 9; /* values that spread by a sixth of [-1, 1] */
    const double variance = all->covariance[i][i];
    const double doubt = doubtful * correlate_noise_of_variance(all, i);
    return all->records > 0 && variance <= fmax(doubt, 1e-9) && variance + doubt < planned / 4;
}

/* How much more is needed, for each of the rules. What only noise can have made is not counted: there are no more records than
 * all, and no column varies more than one whose values are all at the ends of its range. */
static double factor_of(const struct correlate *all, size_t i, size_t j)
{
    const double n = all->records;
    const double most = all->moments->records;
    double factor =
        fmax(correlate_size_over_noise * sd_of_size(all), correlate_records_least) / fmin(n, most);
    const size_t both[] = {i, j};
    if (!(n > 0)) {
        return NAN;
    }
    for (size_t k = 0; k < 2; k++) {
        const double variance = all->covariance[both[k]][both[k]];
        if (!(variance > 1e-9)) {
            return NAN;
        }
        factor = fmax(factor, correlate_noise_of_variance(all, both[k]) / fmin(variance, most / n) /
                                  correlate_variance_noise_most);
    }
    return factor;
}

/* What is told of a pair: all that it may be, as it was found and as it would be if noise had let one of its columns through. */
struct judged {
    struct correlate_ends ends;
    double r;     /* as it was found */
    double least; /* of all r */
    double most;  /* likewise */
    double p;     /* the largest */
};

static double p_of(const struct correlate *all, const struct correlate_two *pair)
{
    const struct correlate_gradient gradient = correlate_by_pair(all, pair, 0);
    const double heavier = ESTIMATE_Z_NOISE / ESTIMATE_Z;
    const double noise = correlate_noise_by(all, &gradient);
    const bool *is_two = all->moments->is_two;
    double sampling = 1 / all->records; /* of independent columns: of two values if r is 0 */
    if (all->moments->fourth > 0 && !(is_two[pair->i] && is_two[pair->j])) {
        double doubt = 0;
        sampling = correlate_sampling(&doubt, all, &gradient, pair);
        sampling += correlate_doubt_added(doubt, noise);
    }
    const double both = sampling + heavier * heavier * noise;
    return erfc(fabs(pair->r) / sqrt(2 * both));
}

static void judge(struct judged *out, const struct correlate *all, const struct correlate_two *pair)
{
    const struct correlate_ends own = correlate_ends_of(all, pair);
    out->ends.low = fmin(out->ends.low, own.low);
    out->ends.high = fmax(out->ends.high, own.high);
    out->ends.noise_low = fmin(out->ends.noise_low, own.noise_low);
    out->ends.noise_high = fmax(out->ends.noise_high, own.noise_high);
    out->least = fmin(out->least, pair->r);
    out->most = fmax(out->most, pair->r);
    out->p = fmax(out->p, p_of(all, pair));
}

/* Where the covariance has moved little, no end is nearer than the noise alone has it. */
static void let_through(struct judged *out, const struct correlate *all, size_t i, size_t j)
{
    if (correlate_is_near(all, i)) {
        const struct correlate_two pair = correlate_let_through(all, i, j, share_most);
        const struct correlate_two less = correlate_let_through(all, i, j, share_least);
        const struct correlate_ends own = correlate_ends_of(all, &less);
        judge(out, all, &pair);
        out->ends.noise_low = fmin(out->ends.noise_low, own.noise_low);
        out->ends.noise_high = fmax(out->ends.noise_high, own.noise_high);
        out->ends.low = fmin(out->ends.low, fmin(own.noise_low, 1));
        out->ends.high = fmax(out->ends.high, fmax(own.noise_high, -1));
    }
}

static struct judged judged_of(const struct correlate *all, size_t i, size_t j)
{
    const struct correlate_two found = correlate_found(all, i, j);
    struct judged out = {.ends = correlate_ends_of(all, &found),
                         .r = found.r,
                         .least = found.r,
                         .most = found.r,
                         .p = p_of(all, &found)};
    let_through(&out, all, i, j);
    let_through(&out, all, j, i);
    return out;
}

double correlate_deviation_most(const struct correlate *all, size_t i)
{
    const double most =
        fmax(all->covariance[i][i], 0) + doubtful * correlate_noise_of_variance(all, i);
    return fmin(sqrt(most), 1) / 2; /* columns are in [-1, 1] */
}

/* With how many times the epsilon, or the records, neither column is near the least that is shown, where an interval is the hull of
 * two and longest; NAN: neither is. */
static double factor_of_length(const struct correlate *all, size_t i, size_t j)
{
    const size_t both[] = {i, j};
    double factor = NAN;
    for (size_t k = 0; k < 2; k++) {
        if (correlate_is_near(all, both[k])) {
            factor = fmax(factor, correlate_over_far * correlate_noise_of_variance(all, both[k]) /
                                      all->covariance[both[k]][both[k]]);
        }
    }
    return factor;
}

bool correlate_is_doubtful(const struct correlate *all, size_t i)
{
    return !(all->covariance[i][i] > doubtful * correlate_noise_of_variance(all, i));
}

struct table1_figure correlate_pair(const struct correlate *all, size_t i, size_t j)
{
    const double factor = factor_of(all, i, j);
    if (!(factor < 1)) {
        return figure_refused(correlate_is_flat(all, i) || correlate_is_flat(all, j) ? NAN
                                                                                     : factor);
    }
    const struct judged judged = judged_of(all, i, j);
    const struct correlate_ends *ends = &judged.ends;
    if (ends->high - ends->low > length_most) {
        return figure_refused(factor_of_length(all, i, j));
    }
    return (struct table1_figure){.estimate = {.value = fmin(fmax(judged.r, -1), 1),
                                               .low = ends->low,
                                               .high = ends->high,
                                               .noise = ends->noise,
                                               .sampling = ends->sampling},
                                  .noise_low = ends->noise_low,
                                  .noise_high = ends->noise_high,
                                  .factor = factor};
}

struct table1_figure correlate_size(const struct correlate *all)
{
    const double n = fmin(fmax(all->records, 0), all->moments->records);
    const double bar = ESTIMATE_Z_NOISE * sd_of_size(all);
    const double share = n / all->moments->records;
    return (struct table1_figure){
        .estimate = {.value = n,
                     .low = NAN,
                     .high = NAN,
                     .noise = sd_of_size(all),
                     .sampling = sqrt(fmax(n * (1 - share), 0))},
        .noise_low = fmin(fmax(all->records - bar, 0), n),
        .noise_high = fmax(fmin(all->records + bar, all->moments->records), n),
    };
}

double correlate_test(const struct correlate *all, size_t i, size_t j)
{
    if (isnan(correlate_pair(all, i, j).estimate.value)) {
        return NAN;
    }
    const struct judged judged = judged_of(all, i, j);
    if (judged.least < 0 && judged.most > 0) {
        return 1;
    }
    /* The spread at a correlation of 0 says too little of columns that are shown just yet; the interval's ends allow for them. */
    const bool holds = judged.ends.low <= 0 && judged.ends.high >= 0;
    return all->moments->fourth > 0 && holds ? fmax(judged.p, 0.05) : judged.p;
}
