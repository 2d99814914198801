/* correlate.c - correlations, their intervals and tests from noisy moments. */

#include "estimate/correlate.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/table1_private.h"

#include <math.h>

static const double variance_noise_most = 0.15; /* of a column's variance */
static const double records_of_part = 25;
static const double size_over_noise = 5;
static const double planned_deviation = 1.0 / 3; /* of values in [-1, 1] */

/* How many parts there may be, and the t distribution's 97.5 % points. */
static const struct {
    size_t parts;
    double point;
} choices[] = {{8, 2.364624251592784}, {16, 2.131449545559323}, {32, 2.039513446396408}};
enum { SHOWN_MOST = 2, SHOWN_SLOPE = 2 };
enum { CHOICES = sizeof choices / sizeof choices[0] };

size_t correlate_cells(size_t columns)
{
    return 1 + columns + columns * (columns + 1) / 2;
}

static size_t place_of(size_t columns, size_t i, size_t j)
{
    const size_t low = i < j ? i : j;
    const size_t high = i < j ? j : i;
    return 1 + columns + low * columns - low * (low + 1) / 2 + high;
}

void correlate_init(struct correlate *out, const struct correlate_moments *moments)
{
    const size_t d = moments->columns;
    const size_t cells = correlate_cells(d);
    double total[1 + CORRELATE_COLUMNS_MAX +
                 CORRELATE_COLUMNS_MAX * (CORRELATE_COLUMNS_MAX + 1) / 2] = {0};
    CHECK(d >= 2 && d <= CORRELATE_COLUMNS_MAX && moments->parts >= 1);
    for (size_t part = 0; part < moments->parts; part++) {
        for (size_t k = 0; k < cells; k++) {
            total[k] += moments->cell[part * cells + k];
        }
    }
    *out = (struct correlate){.moments = moments, .records = 2 * total[0]};
    for (size_t i = 0; i < d; i++) {
        out->mean[i] = total[1 + i] / out->records;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            const double product = total[place_of(d, i, j)] * (i == j ? 2 : 1) / out->records;
            out->covariance[i][j] = product - out->mean[i] * out->mean[j];
            out->covariance[j][i] = out->covariance[i][j];
        }
    }
}

/* Of the noise on the sum of all parts. */
static double noise_of(const struct correlate *all)
{
    return all->moments->variance * (double)all->moments->parts;
}

/* The cells that a pair follows from, and a figure's gradient in them. */
enum pair_cell { CELL_HALF, CELL_FIRST, CELL_SECOND, CELL_SQUARE, CELL_OTHER_SQUARE, CELL_PRODUCT };
enum { PAIR_CELLS = CELL_PRODUCT + 1 };

struct gradient_of_pair {
    double by[PAIR_CELLS];
};

static double squares(const struct gradient_of_pair *gradient)
{
    double sum = 0;
    for (size_t k = 0; k < PAIR_CELLS; k++) {
        sum += gradient->by[k] * gradient->by[k];
    }
    return sum;
}

/* Of a column's variance, as the first of a pair. */
static struct gradient_of_pair by_variance(const struct correlate *all, size_t i)
{
    const double n = all->records;
    const double m = all->mean[i];
    return (struct gradient_of_pair){{[CELL_HALF] = 2 * (m * m - all->covariance[i][i]) / n,
                                      [CELL_FIRST] = -2 * m / n,
                                      [CELL_SQUARE] = 2 / n}};
}

/* A column's variance is shown where it is above the rule's least: of these, noise has made more larger than smaller. So the
 * one is taken that would be, in the mean of the shown, what was found; noise as the normal distribution's. With a = its
 * distance from the least, in standard deviations of the noise: a + phi(a)/Phi(a) is what was found. */
struct shown {
    double variance;
    double slope; /* of it, by what was found */
    double share; /* what was taken off, over the noise's variance */
};

static struct shown shown_variance(const struct correlate *all, size_t i)
{
    const double found = all->covariance[i][i];
    const struct gradient_of_pair gradient = by_variance(all, i);
    const double noise = sqrt(noise_of(all) * squares(&gradient));
    if (!(noise > 1e-9 * found)) {
        return (struct shown){found, 1, 0};
    }
    const double over = found / noise - 1 / variance_noise_most;
    const double low = normal_shown(over);
    const double ratio = normal_mean_above(low);
    const double off = fmin(over - low, SHOWN_MOST);
    return (struct shown){.variance = found - noise * off,
                          .share = off / noise,
                          .slope = fmin(1 / (1 - ratio * (ratio + low)), SHOWN_SLOPE)};
}

/* How the noise of c_ij goes with that of c_ii: their covariance, through the sum of z_i and the count. */
static double shared_noise(const struct correlate *all, size_t i, size_t j)
{
    const double n = all->records;
    const struct gradient_of_pair gradient = by_variance(all, i);
    const double by_half = 2 * (all->mean[i] * all->mean[j] - all->covariance[i][j]) / n;
    return noise_of(all) *
           (by_half * gradient.by[CELL_HALF] - all->mean[j] / n * gradient.by[CELL_FIRST]);
}

/* Two columns and their correlation. */
struct pair {
    size_t i, j;
    struct shown first, second;
    double r; /* maybe beyond 1 */
};

static struct pair pair_of(const struct correlate *all, size_t i, size_t j)
{
    struct pair out = {i, j, shown_variance(all, i), shown_variance(all, j), 0};
    const double covariance = all->covariance[i][j] - out.first.share * shared_noise(all, i, j) -
                              out.second.share * shared_noise(all, j, i);
    out.r = covariance / sqrt(out.first.variance * out.second.variance);
    return out;
}

/* Of r, as if it were `at`: the gradient of c_ij / s_i s_j less at/2 that of log c_ii and log c_jj. */
static struct gradient_of_pair by_pair(const struct correlate *all, const struct pair *pair,
                                       double at)
{
    const double n = all->records;
    const double m_i = all->mean[pair->i];
    const double m_j = all->mean[pair->j];
    const double spread = sqrt(pair->first.variance * pair->second.variance);
    const struct gradient_of_pair first = by_variance(all, pair->i);
    const struct gradient_of_pair second = by_variance(all, pair->j);
    const double of_first = at / 2 * pair->first.slope / pair->first.variance;
    const double of_second = at / 2 * pair->second.slope / pair->second.variance;
    struct gradient_of_pair out = {{0}};
    out.by[CELL_HALF] = 2 * (m_i * m_j - all->covariance[pair->i][pair->j]) / n / spread -
                        of_first * first.by[CELL_HALF] - of_second * second.by[CELL_HALF];
    out.by[CELL_FIRST] = -m_j / n / spread - of_first * first.by[CELL_FIRST];
    out.by[CELL_SECOND] = -m_i / n / spread - of_second * second.by[CELL_FIRST];
    out.by[CELL_SQUARE] = -of_first * first.by[CELL_SQUARE];
    out.by[CELL_OTHER_SQUARE] = -of_second * second.by[CELL_SQUARE];
    out.by[CELL_PRODUCT] = 1 / n / spread;
    return out;
}

/* The variance of a sum over the parts, by their spread: of sampling and noise together. */
static double spread_of_parts(const struct correlate *all, const struct gradient_of_pair *gradient,
                              const struct pair *pair)
{
    const struct correlate_moments *moments = all->moments;
    const size_t i = pair->i;
    const size_t j = pair->j;
    const size_t d = moments->columns;
    const double parts = (double)moments->parts;
    double sum = 0;
    double square = 0;
    for (size_t part = 0; part < moments->parts; part++) {
        const double *cell = moments->cell + part * correlate_cells(d);
        const double *by = gradient->by;
        const double own = by[CELL_HALF] * cell[0] + by[CELL_FIRST] * cell[1 + i] +
                           by[CELL_SECOND] * cell[1 + j] +
                           by[CELL_SQUARE] * cell[place_of(d, i, i)] +
                           by[CELL_OTHER_SQUARE] * cell[place_of(d, j, j)] +
                           by[CELL_PRODUCT] * cell[place_of(d, i, j)];
        sum += own;
        square += own * own;
    }
    return fmax(square - sum * sum / parts, 0) * parts / (parts - 1);
}

static double influence(double x, double y, double r)
{
    return x * y - r * (x * x + y * y) / 2;
}

/* The largest |psi| on the ranges: at a corner, or on an edge where its slope along it is 0. */
static double largest_influence(const double *x, const double *y, double r)
{
    double most = 0;
    for (size_t a = 0; a < 2; a++) {
        for (size_t b = 0; b < 2; b++) {
            most = fmax(most, fabs(influence(x[a], y[b], r)));
        }
        const double at_y = r == 0 ? INFINITY : x[a] / r;
        const double at_x = r == 0 ? INFINITY : y[a] / r;
        if (at_y > y[0] && at_y < y[1]) {
            most = fmax(most, fabs(influence(x[a], at_y, r)));
        }
        if (at_x > x[0] && at_x < x[1]) {
            most = fmax(most, fabs(influence(at_x, y[a], r)));
        }
    }
    return most;
}

/* Of two columns of two values: the cells of their table follow from the moments. */
static double influence_of_two(const struct correlate *all, const struct pair *pair,
                               const double *x, const double *y, double r)
{
    const double m_i = all->mean[pair->i];
    const double m_j = all->mean[pair->j];
    const double product = all->covariance[pair->i][pair->j] + m_i * m_j;
    double sum = 0;
    double whole = 0;
    for (size_t a = 0; a < 2; a++) {
        for (size_t b = 0; b < 2; b++) {
            const double u = a == 0 ? -1 : 1;
            const double v = b == 0 ? -1 : 1;
            const double share = fmax((1 + u * m_i + v * m_j + u * v * product) / 4, 0);
            const double psi = influence(x[a], y[b], r);
            sum += share * psi * psi;
            whole += share;
        }
    }
    return sum / whole;
}

/* What is known of an estimate at its own place, and how its sampling error changes with the place. */
struct inversion {
    double r;        /* as it is, maybe beyond 1 */
    double sampling; /* variances, each with the square of its point of the distribution */
    double noise;
    bool is_bound; /* sampling: of 1 - rho^2, not of its square */
};

static bool is_kept(const struct inversion *inversion, double rho)
{
    const double gap = inversion->r - rho;
    const double left = 1 - rho * rho;
    return gap * gap <=
           inversion->sampling * (inversion->is_bound ? left : left * left) + inversion->noise;
}

/* The outermost rho that is kept, from an end inwards; the end's value where there is none. */
static double last_kept(const struct inversion *inversion, double end)
{
    enum { STEPS = 512, HALVINGS = 40 };
    double out = end;
    double in = end;
    for (int step = 0; step <= STEPS && !is_kept(inversion, in); step++) {
        out = in;
        in = end * (1 - 2.0 * step / STEPS);
    }
    if (!is_kept(inversion, in)) {
        return inversion->r; /* between two steps: the interval is shorter than they are apart */
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (in + out) / 2;
        *(is_kept(inversion, middle) ? &in : &out) = middle;
    }
    return in;
}

static double point_of(size_t parts)
{
    for (size_t i = 0; i < CHOICES; i++) {
        if (choices[i].parts == parts) {
            return choices[i].point;
        }
    }
    CHECK(parts == 1);
    return ESTIMATE_Z;
}

static double sd_of_size(const struct correlate *all)
{
    return 2 * sqrt(noise_of(all));
}

/* How much more is needed, for each of the rules. */
static double factor_of(const struct correlate *all, size_t i, size_t j)
{
    const double n = all->records;
    double factor =
        fmax(size_over_noise * sd_of_size(all), records_of_part * (double)all->moments->parts) / n;
    const size_t both[] = {i, j};
    if (!(n > 0)) {
        return NAN;
    }
    for (size_t k = 0; k < 2; k++) {
        const double variance = all->covariance[both[k]][both[k]];
        const struct gradient_of_pair gradient = by_variance(all, both[k]);
        if (!(variance > 1e-9)) {
            return NAN;
        }
        factor =
            fmax(factor, sqrt(noise_of(all) * squares(&gradient)) / variance / variance_noise_most);
    }
    return factor;
}

/* The inversion's variances are those at r; below, where r is beyond 1, at what is nearly 1. */
static struct inversion inversion_of(const struct correlate *all, const struct pair *pair,
                                     double *noise, double *sampling)
{
    const size_t parts = all->moments->parts;
    const double near = fmin(fmax(pair->r, -0.999), 0.999);
    const struct gradient_of_pair gradient = by_pair(all, pair, near);
    const double left = 1 - near * near;
    struct inversion out = {.r = pair->r};
    *noise = noise_of(all) * squares(&gradient);
    if (parts > 1) {
        const double both = spread_of_parts(all, &gradient, pair);
        const double point = point_of(parts);
        *sampling = fmax(both - *noise, 0);
        const double base = fmax(left, 2 * sqrt(both));
        out.sampling = point * point * *sampling / (base * base);
        out.noise = point * point * (both - *sampling);
        return out;
    }
    const struct shown variance[] = {pair->first, pair->second};
    const size_t index[] = {pair->i, pair->j};
    double range[2][2];
    for (size_t k = 0; k < 2; k++) {
        const double deviation = sqrt(variance[k].variance);
        range[k][0] = (-1 - all->mean[index[k]]) / deviation;
        range[k][1] = (1 - all->mean[index[k]]) / deviation;
    }
    const bool are_two = all->moments->is_two[pair->i] && all->moments->is_two[pair->j];
    const double square = are_two ? influence_of_two(all, pair, range[0], range[1], near)
                                  : left * largest_influence(range[0], range[1], near);
    *sampling = square / all->records;
    out.is_bound = true;
    out.sampling = ESTIMATE_Z * ESTIMATE_Z * *sampling / left;
    out.noise = ESTIMATE_Z_NOISE * ESTIMATE_Z_NOISE * *noise;
    return out;
}

struct table1_figure correlate_pair(const struct correlate *all, size_t i, size_t j)
{
    const double factor = factor_of(all, i, j);
    double noise = 0;
    double sampling = 0;
    if (!(factor < 1)) {
        return figure_refused(factor);
    }
    const struct pair pair = pair_of(all, i, j);
    const struct inversion inversion = inversion_of(all, &pair, &noise, &sampling);
    const double value = fmin(fmax(inversion.r, -1), 1);
    const double bar = ESTIMATE_Z_NOISE * sqrt(noise);
    return (struct table1_figure){
        .estimate = {.value = value,
                     .low = fmin(fmax(last_kept(&inversion, -1), -1), value),
                     .high = fmax(fmin(last_kept(&inversion, 1), 1), value),
                     .noise = sqrt(noise),
                     .sampling = sqrt(sampling)},
        .noise_low = fmax(inversion.r - bar, -1),
        .noise_high = fmin(inversion.r + bar, 1),
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
        .noise_low = fmax(all->records - bar, 0),
        .noise_high = fmin(all->records + bar, all->moments->records),
    };
}

/* P(|T| > t) of the t distribution with an odd number of degrees. Source: Abramowitz and Stegun 26.7.3. */
static double t_outside(double t, size_t degrees)
{
    const double angle = atan(fabs(t) / sqrt((double)degrees));
    double term = cos(angle);
    double sum = term;
    CHECK(degrees % 2 == 1 && degrees > 1);
    for (size_t k = 3; k + 2 <= degrees; k += 2) {
        term *= (double)(k - 1) / (double)k * cos(angle) * cos(angle);
        sum += term;
    }
    return fmax(1 - 2 / 3.14159265358979323846 * (angle + sin(angle) * sum), 0);
}

double correlate_test(const struct correlate *all, size_t i, size_t j)
{
    const size_t parts = all->moments->parts;
    if (!(factor_of(all, i, j) < 1)) {
        return NAN;
    }
    const struct pair pair = pair_of(all, i, j);
    const struct gradient_of_pair gradient = by_pair(all, &pair, 0);
    if (parts > 1) {
        const double p =
            t_outside(pair.r / sqrt(spread_of_parts(all, &gradient, &pair)), parts - 1);
        /* The spread at a correlation of 0 says too little of columns that are shown just yet; the interval's ends allow for them. */
        const struct estimate own = correlate_pair(all, i, j).estimate;
        return own.low <= 0 && own.high >= 0 ? fmax(p, 0.05) : p;
    }
    const double heavier = ESTIMATE_Z_NOISE / ESTIMATE_Z;
    const double both = 1 / all->records + heavier * heavier * noise_of(all) * squares(&gradient);
    return erfc(fabs(pair.r) / sqrt(2 * both));
}

/* Of columns of mean 0 that are not correlated: the noise's part, one over the variance of either column. */
static double planned_width(const struct correlate_public *known, size_t parts)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    const double noise = (double)parts * known->variance / (n * n * square * square);
    const double point = point_of(parts);
    return parts == 1 ? sqrt(ESTIMATE_Z * ESTIMATE_Z / square / n +
                             ESTIMATE_Z_NOISE * ESTIMATE_Z_NOISE * noise)
                      : point * sqrt(1 / n + noise);
}

size_t correlate_plan(const struct correlate_public *known)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    size_t best = 1;
    double least = INFINITY;
    if (known->variance / (n * square * square) > 1) {
        return 1;
    }
    for (size_t i = 0; i < CHOICES && n >= 2 * records_of_part * (double)choices[i].parts; i++) {
        const double width = planned_width(known, choices[i].parts);
        best = width < least ? choices[i].parts : best;
        least = fmin(width, least);
    }
    return best;
}

double correlate_expect(double *records, const struct correlate_public *known, size_t parts)
{
    const double n = known->records;
    const double square = planned_deviation * planned_deviation;
    const double noise = sqrt((double)parts * known->variance);
    const double factor =
        fmax(fmax(2 * size_over_noise * noise, records_of_part * (double)parts),
             2 * sqrt(1 + square * square) * noise / square / variance_noise_most) /
        n;
    *records = n * factor;
    return factor < 1 ? planned_width(known, parts) : NAN;
}
