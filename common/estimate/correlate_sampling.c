/* correlate_sampling.c - what the sample does to a correlation, and the interval of it and the noise. */

#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include <math.h>

/* What the gradient's cells are sums of: z_i^a z_j^b, that many times. */
static const struct {
    unsigned power[2];
    double times;
} of_cell[PAIR_CELLS] = {
    [CELL_HALF] = {{0, 0}, 0.5},         [CELL_FIRST] = {{1, 0}, 1},
    [CELL_SECOND] = {{0, 1}, 1},         [CELL_SQUARE] = {{2, 0}, 0.5},
    [CELL_OTHER_SQUARE] = {{0, 2}, 0.5}, [CELL_PRODUCT] = {{1, 1}, 1},
};

enum { POWERS = 5 }; /* 0 .. 4 */

/* The place of the sum of z_i^a z_j^b. */
static size_t place_of(double *times, const struct correlate *all, const struct correlate_two *pair,
                       unsigned a, unsigned b)
{
    const size_t both[] = {pair->i, pair->j};
    const unsigned power[] = {a, b};
    const size_t d = all->moments->columns;
    if (a + b > 2) {
        return correlate_fourth_place(times, all->moments, both, power);
    }
    *times = a + b == 0 || a == 2 || b == 2 ? 0.5 : 1;
    return a + b == 0 ? 0
           : a + b == 1
               ? 1 + (a == 1 ? pair->i : pair->j)
               : correlate_place(d, b == 2 ? pair->j : pair->i, a == 2 ? pair->i : pair->j);
}

double correlate_sampling(double *doubt, const struct correlate *all,
                          const struct correlate_gradient *gradient,
                          const struct correlate_two *pair)
{
    double square[POWERS][POWERS] = {{0}}; /* of psi, as a polynomial */
    double sum = 0;
    double noise = 0;
    for (size_t k = 0; k < PAIR_CELLS; k++) {
        for (size_t l = 0; l < PAIR_CELLS; l++) {
            const unsigned *x = of_cell[k].power;
            const unsigned *y = of_cell[l].power;
            square[x[0] + y[0]][x[1] + y[1]] +=
                gradient->by[k] * of_cell[k].times * gradient->by[l] * of_cell[l].times;
        }
    }
    for (unsigned a = 0; a < POWERS; a++) {
        for (unsigned b = 0; a + b < POWERS; b++) {
            double times = 1;
            const size_t place = place_of(&times, all, pair, a, b);
            const double by = square[a][b] / times;
            sum += by * all->moments->cell[place];
            noise += by * by * all->moments->variance;
        }
    }
    *doubt = sqrt(noise);
    return fmax(sum, 0);
}

/* A variance that is as often too small as too large lets intervals miss more often than one that is known. The share of the
 * doubt that mends this, whatever the sampling error is, is 0.18 where the doubt is half of the noise, 0.28 where it is as
 * large, 0.45 where it is four times as large: docs/STUDY.md. */
double correlate_doubt_added(double doubt, double noise)
{
    return doubt > 0 ? 0.55 * doubt * doubt / (doubt + noise) : 0;
}

/* Beyond this, of either sign, few records differ. */
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

/* Two columns of two values, whose cells follow from the moments and from what their correlation is. */
struct table_of_two {
    double mean[2];
    double spread; /* the product of their deviations */
    double records;
    double range[2][2]; /* in their deviations */
};

/* The mean of psi^2 in the table that has the correlation `at`. Half a record is in each cell at the least: what few records
 * differ in may be found in none. */
static double influence_of_two(const struct table_of_two *table, double at)
{
    const double product = at * table->spread + table->mean[0] * table->mean[1];
    double sum = 0;
    double whole = 0;
    for (size_t a = 0; a < 2; a++) {
        for (size_t b = 0; b < 2; b++) {
            const double u = a == 0 ? -1 : 1;
            const double v = b == 0 ? -1 : 1;
            const double own = (1 + u * table->mean[0] + v * table->mean[1] + u * v * product) / 4;
            const double share = fmax(own, 0.5 / table->records);
            const double psi = influence(table->range[0][a], table->range[1][b], at);
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
    const struct table_of_two
        *two; /* NULL, or the table that tells the sampling error at each place */
};

/* For two values the sampling error at rho is that of the table with this correlation. That at r says too little where few
 * records have both of two rare values: where none was found, it says that hardly any can be. */
static double sampling_at(const struct inversion *inversion, double rho)
{
    const double left = 1 - rho * rho;
    if (inversion->two != NULL) {
        return ESTIMATE_Z * ESTIMATE_Z * influence_of_two(inversion->two, rho) /
               inversion->two->records;
    }
    return inversion->sampling * (inversion->is_bound ? left : left * left);
}

static bool is_kept(const struct inversion *inversion, double rho)
{
    const double gap = inversion->r - rho;
    return gap * gap <= sampling_at(inversion, rho) + inversion->noise;
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

static struct table_of_two table_of(const struct correlate *all, const struct correlate_two *pair)
{
    const struct correlate_shown variance[] = {pair->first, pair->second};
    const size_t index[] = {pair->i, pair->j};
    struct table_of_two out = {.spread = sqrt(pair->first.variance * pair->second.variance),
                               .records = all->records};
    for (size_t k = 0; k < 2; k++) {
        const double deviation = sqrt(variance[k].variance);
        out.mean[k] = all->mean[index[k]];
        out.range[k][0] = (-1 - out.mean[k]) / deviation;
        out.range[k][1] = (1 - out.mean[k]) / deviation;
    }
    return out;
}

/* What holds for every distribution on the ranges; of two values what is so. influence: the largest |psi| */
static double bound_of(double *influence, const struct table_of_two *table, bool are_two,
                       double near)
{
    *influence = largest_influence(table->range[0], table->range[1], near);
    return (are_two ? influence_of_two(table, near) : (1 - near * near) * *influence) /
           table->records;
}

/* Where a few records make most of the sampling error, the sum of their squares is in doubt: of n squares of at most m^2 the
 * variance is m^2 times their sum at most, and where no such record is in the sample, some may be there. Half of the deviation
 * serves, and all of it where few records differ, and where less was found than half of one such record makes: less holds too
 * seldom (docs/STUDY.md). */
static double doubt_of_few(double sampling, double most, double r)
{
    const double found = sampling / (most * most); /* such records */
    const double share = fmin(fmax(1.5 - found, 0.5), 1);
    return (fabs(r) > close ? 1 : share) * most * sqrt(sampling + most * most);
}

/* The inversion's variances are those at r; below, where r is beyond 1, at what is nearly 1. */
static struct inversion inversion_of(const struct correlate *all, const struct correlate_two *pair,
                                     const struct table_of_two *table, double *noise,
                                     double *sampling)
{
    const double near = fmin(fmax(pair->r, -0.999), 0.999);
    const struct correlate_gradient gradient = correlate_by_pair(all, pair, near);
    const double left = 1 - near * near;
    struct inversion out = {.r = pair->r};
    const struct correlate_gradient left_over = correlate_by_pair_noise(all, pair, near);
    const bool are_two = all->moments->is_two[pair->i] && all->moments->is_two[pair->j];
    double influence = 0;
    double doubt = 0;
    *noise = correlate_noise_by(all, &left_over);
    const double bound = bound_of(&influence, table, are_two, near);
    out.noise = ESTIMATE_Z_NOISE * ESTIMATE_Z_NOISE * *noise;
    *sampling = bound;
    if (all->moments->fourth > 0 && !are_two) {
        *sampling = correlate_sampling(&doubt, all, &gradient, pair);
        doubt = correlate_doubt_added(doubt, *noise);
        doubt += doubt_of_few(*sampling, influence / all->records, pair->r);
    }
    if (all->moments->fourth == 0 || are_two || *sampling + doubt > bound) {
        *sampling = bound;
        out.is_bound = true;
        out.two = are_two ? table : NULL;
        out.sampling = ESTIMATE_Z * ESTIMATE_Z * bound / left;
        return out;
    }
    const double base = fmax(left, 2 * sqrt(*sampling + doubt + *noise));
    out.sampling = ESTIMATE_Z * ESTIMATE_Z * *sampling / (base * base);
    out.noise += ESTIMATE_Z * ESTIMATE_Z * doubt;
    return out;
}

struct correlate_ends correlate_ends_of(const struct correlate *all,
                                        const struct correlate_two *pair)
{
    double noise = 0;
    double sampling = 0;
    const struct table_of_two table = table_of(all, pair);
    const struct inversion inversion = inversion_of(all, pair, &table, &noise, &sampling);
    const double value = fmin(fmax(pair->r, -1), 1);
    const double bar = ESTIMATE_Z_NOISE * sqrt(noise);
    const double noise_low = fmax(value - bar, -1);
    const double noise_high = fmin(value + bar, 1);
    /* Noise may bring r beyond what a correlation can be, and all that can be is rejected: what the noise admits of the end
     * stays. */
    return (struct correlate_ends){
        .low = fmin(fmax(last_kept(&inversion, -1), -1), pair->r > 1 ? noise_low : value),
        .high = fmax(fmin(last_kept(&inversion, 1), 1), pair->r < -1 ? noise_high : value),
        .noise_low = noise_low,
        .noise_high = noise_high,
        .noise = sqrt(noise),
        .sampling = sqrt(sampling)};
}
