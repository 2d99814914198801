/* correlate_sampling.c - what the sample does to a correlation, and the interval of it and the noise. */

#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include <math.h>

double correlate_spread(const struct correlate *all, const struct correlate_gradient *gradient,
                        const struct correlate_two *pair)
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
                           by[CELL_SQUARE] * cell[correlate_place(d, i, i)] +
                           by[CELL_OTHER_SQUARE] * cell[correlate_place(d, j, j)] +
                           by[CELL_PRODUCT] * cell[correlate_place(d, i, j)];
        sum += own;
        square += own * own;
    }
    return fmax(square - sum * sum / parts, 0) * parts / (parts - 1);
}

/* Beyond these, of either sign, few records differ, in few of the parts: their spread says little. Of columns of two values, and of others. */
static const double close_of_two = 0.9;
static const double close = 0.95;

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

/* Of two columns of two values: the cells of their table follow from the moments. Half a record is in each: what few records differ in
 * may be found in none. */
static double influence_of_two(const struct correlate *all, const struct correlate_two *pair,
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
            const double share =
                fmax((1 + u * m_i + v * m_j + u * v * product) / 4, 0.5 / all->records);
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

/* The inversion's variances are those at r; below, where r is beyond 1, at what is nearly 1. */
static struct inversion inversion_of(const struct correlate *all, const struct correlate_two *pair,
                                     double *noise, double *sampling)
{
    const size_t parts = all->moments->parts;
    const double near = fmin(fmax(pair->r, -0.999), 0.999);
    const struct correlate_gradient gradient = correlate_by_pair(all, pair, near);
    const double left = 1 - near * near;
    struct inversion out = {.r = pair->r};
    const struct correlate_gradient left_over = correlate_by_pair_noise(all, pair, near);
    const double all_noise = correlate_noise_by(all, &gradient);
    *noise = correlate_noise_by(all, &left_over);
    const bool are_two = all->moments->is_two[pair->i] && all->moments->is_two[pair->j];
    if (parts > 1 && !(fabs(pair->r) > (are_two ? close_of_two : close))) {
        const double both = correlate_spread(all, &gradient, pair);
        const double point = correlate_point(parts);
        *sampling = fmax(both - all_noise, 0);
        const double base = fmax(left, 2 * sqrt(both));
        out.sampling = point * point * *sampling / (base * base);
        /* Parts may differ by less than the noise that there is, by chance. What is above it is taken for sampling, which is small near
         * 1: the noise would be too small on average. */
        const double of_parts = point * point * (both - *sampling);
        out.noise = fmax(of_parts, ESTIMATE_Z * ESTIMATE_Z * all_noise) *
                    (all_noise > 0 ? *noise / all_noise : 1);
        return out;
    }
    const struct correlate_shown variance[] = {pair->first, pair->second};
    const size_t index[] = {pair->i, pair->j};
    double range[2][2];
    for (size_t k = 0; k < 2; k++) {
        const double deviation = sqrt(variance[k].variance);
        range[k][0] = (-1 - all->mean[index[k]]) / deviation;
        range[k][1] = (1 - all->mean[index[k]]) / deviation;
    }
    const double square = are_two ? influence_of_two(all, pair, range[0], range[1], near)
                                  : left * largest_influence(range[0], range[1], near);
    *sampling = square / all->records;
    out.is_bound = true;
    out.sampling = ESTIMATE_Z * ESTIMATE_Z * *sampling / left;
    out.noise = ESTIMATE_Z_NOISE * ESTIMATE_Z_NOISE * *noise;
    return out;
}

struct correlate_ends correlate_ends_of(const struct correlate *all,
                                        const struct correlate_two *pair)
{
    double noise = 0;
    double sampling = 0;
    const struct inversion inversion = inversion_of(all, pair, &noise, &sampling);
    const double value = fmin(fmax(pair->r, -1), 1);
    const double bar = ESTIMATE_Z_NOISE * sqrt(noise);
    const double noise_low = fmax(value - bar, -1);
    const double noise_high = fmin(value + bar, 1);
    /* Noise may bring r beyond what a correlation can be, and all that can be is rejected: what the noise admits of the end stays. */
    return (struct correlate_ends){
        .low = fmin(fmax(last_kept(&inversion, -1), -1), pair->r > 1 ? noise_low : value),
        .high = fmax(fmin(last_kept(&inversion, 1), 1), pair->r < -1 ? noise_high : value),
        .noise_low = noise_low,
        .noise_high = noise_high,
        .noise = sqrt(noise),
        .sampling = sqrt(sampling)};
}
