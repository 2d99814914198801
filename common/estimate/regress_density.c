/* regress_density.c - a number's density, fitted to its released levels by Fisher's scoring, and the means of its levels. */

#include "estimate/regress_density.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>
#include <string.h>

enum { NODES = REGRESS_NODES, STEPS_MAX = 60, ROUNDS = 2 };

/* The deviations that a_1 to a_6 are taken to have about 0. */
static const double deviation[REGRESS_SHAPE] = {30, 30, 4, 2, 1, 0.5};
static const double share_at_end = 0.15; /* a deviation, of a first or last level's records */
static const double records_most =
    1e9; /* more tell no more, and leave the terms' own variances no digits */
static const double step_most = 3;
static const double step_last = 1e-6;
static const double steep_least = 200; /* a power of e over a level: its square is a double */

static double node(size_t i, size_t levels)
{
    return (double)(2 * i + 1) / (double)(levels * NODES) - 1;
}

/* P_1(x) to P_count(x): out (count) */
static void legendre(double *out, double x, size_t count)
{
    out[0] = x;
    for (size_t d = 1; d < count; d++) {
        const double n = (double)d;
        out[d] = ((2 * n + 1) * x * out[d - 1] - n * (d > 1 ? out[d - 2] : 1)) / (n + 1);
    }
}

static void set_density(struct regress_density *out, const double *a)
{
    const size_t nodes = out->levels * NODES;
    double most = -INFINITY;
    double all = 0;
    for (size_t i = 0; i < nodes; i++) {
        const double *p = out->p[i];
        out->at[i] = 0;
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            out->at[i] += a[d] * p[d];
        }
        most = fmax(most, out->at[i]);
    }
    for (size_t i = 0; i < nodes; i++) {
        out->at[i] = exp(out->at[i] - most) + 1e-12;
        all += out->at[i];
    }
    for (size_t i = 0; i < nodes; i++) {
        out->at[i] /= all;
    }
}

/* What levels are as likely as, a logarithm, with what a_d are taken to be; its slope, and what it bends by. */
struct likely {
    double value;
    double slope[REGRESS_SHAPE];
    double bend[REGRESS_SHAPE * REGRESS_SHAPE];
};

/* What is released of the levels: normal about what the density makes of them. */
struct released {
    double records;
    double sum[REGRESS_LEVELS_MAX];      /* (levels) unit: records */
    double variance[REGRESS_LEVELS_MAX]; /* (levels) of sampling and noise */
};

static void look(struct likely *out, const struct regress_density *density, const double *a,
                 const struct released *released)
{
    double own[REGRESS_LEVELS_MAX][REGRESS_SHAPE] = {{0}};
    double all[REGRESS_LEVELS_MAX] = {0};
    double mean[REGRESS_SHAPE] = {0};
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < density->levels; k++) {
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            const double *p = density->p[i];
            all[k] += density->at[i];
            for (size_t d = 0; d < REGRESS_SHAPE; d++) {
                own[k][d] += density->at[i] * p[d];
            }
        }
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            mean[d] += own[k][d];
        }
    }
    for (size_t k = 0; k < density->levels; k++) {
        const double away = released->sum[k] - released->records * all[k];
        out->value -= away * away / released->variance[k] / 2;
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            own[k][d] = released->records * (own[k][d] - all[k] * mean[d]);
            out->slope[d] += own[k][d] * away / released->variance[k];
            for (size_t e = 0; e <= d; e++) {
                out->bend[d * REGRESS_SHAPE + e] += own[k][d] * own[k][e] / released->variance[k];
            }
        }
    }
    for (size_t d = 0; d < REGRESS_SHAPE; d++) {
        const double held = 1 / (deviation[d] * deviation[d]);
        out->value -= held * a[d] * a[d] / 2;
        out->slope[d] -= held * a[d];
        out->bend[d * REGRESS_SHAPE + d] += held;
    }
}

/* Goes on from a, and leaves there what fits best. */
static void fit_terms(struct regress_density *out, double *a, const struct released *released)
{
    struct likely now;
    double largest = INFINITY;
    set_density(out, a);
    look(&now, out, a, released);
    for (int i = 0; i < STEPS_MAX && largest > step_last; i++) {
        double step[REGRESS_SHAPE];
        double next[REGRESS_SHAPE];
        struct likely then = {.value = -INFINITY};
        memcpy(step, now.slope, sizeof step);
        CHECK(cholesky(now.bend, REGRESS_SHAPE) == 0);
        cells_solve(now.bend, step, REGRESS_SHAPE);
        largest = 0;
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            largest = fmax(largest, fabs(step[d]));
        }
        double length = largest > step_most ? step_most / largest : 1;
        while (then.value < now.value && length * largest > step_last) {
            for (size_t d = 0; d < REGRESS_SHAPE; d++) {
                next[d] = a[d] + length * step[d];
            }
            set_density(out, next);
            look(&then, out, next, released);
            length /= 2;
        }
        if (then.value < now.value) {
            break;
        }
        memcpy(a, next, sizeof next);
        now = then;
    }
    set_density(out, a);
}

/* Leaves the Cholesky factor of what a_d are told by in factor. Levels vary by what the density makes of them, which it is fitted for. */
static void fit_density(struct regress_density *out, double *factor, struct released *released,
                        double noise)
{
    double a[REGRESS_SHAPE] = {0};
    struct likely last;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < out->levels; k++) {
            double own = released->sum[k];
            if (round > 0) {
                own = 0;
                for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
                    own += released->records * out->at[i];
                }
            }
            released->variance[k] = fmax(own, 1) + noise * noise;
        }
        fit_terms(out, a, released);
    }
    look(&last, out, a, released);
    CHECK(cholesky(last.bend, REGRESS_SHAPE) == 0);
    memcpy(factor, last.bend, sizeof last.bend);
}

/* What is beyond the range counts at its end: how many do is not known. */
static void set_at_end(double *at_end, const struct regress_density *density)
{
    const size_t last = density->levels - 1;
    memset(at_end, 0, density->levels * sizeof *at_end);
    at_end[0] = share_at_end * (density->mean[0] + 1);
    at_end[last] = share_at_end * (1 - density->mean[last]);
}

/* How a level's mean moves with a_d: what x and P_d go together by. */
static void set_by(double by[][REGRESS_SHAPE], const struct regress_density *density)
{
    for (size_t k = 0; k < density->levels; k++) {
        double all = 0;
        double x_mean = 0;
        double mean[REGRESS_SHAPE] = {0};
        double both[REGRESS_SHAPE] = {0};
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            const double x = node(i, density->levels);
            const double *p = density->p[i];
            all += density->at[i];
            x_mean += density->at[i] * x;
            for (size_t d = 0; d < REGRESS_SHAPE; d++) {
                mean[d] += density->at[i] * p[d];
                both[d] += density->at[i] * p[d] * x;
            }
        }
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            by[k][d] = both[d] / all - mean[d] / all * x_mean / all;
        }
    }
}

static void set_means(struct regress_density *out)
{
    double square = 0;
    double of_means = 0;
    out->centre = 0;
    for (size_t k = 0; k < out->levels; k++) {
        double all = 0;
        double sum = 0;
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            const double x = node(i, out->levels);
            all += out->at[i];
            sum += out->at[i] * x;
            square += out->at[i] * x * x;
        }
        out->mean[k] = sum / all;
        out->centre += sum;
        of_means += sum * sum / all;
    }
    out->variance = square - out->centre * out->centre;
    out->kept = (of_means - out->centre * out->centre) / out->variance;
}

void regress_density_fit(struct regress_density *out, struct regress_shape *shape,
                         const struct regress_levels *level, size_t levels)
{
    struct released released = {.records = 0};
    CHECK(levels > 0 && levels <= REGRESS_LEVELS_MAX);
    out->levels = levels;
    for (size_t i = 0; i < levels * NODES; i++) {
        legendre(out->p[i], node(i, levels), REGRESS_SHAPE);
    }
    for (size_t k = 0; k < levels; k++) {
        released.records += level->sum[k];
    }
    const double worth = fmin(records_most / fmax(released.records, 1), 1);
    for (size_t k = 0; k < levels; k++) {
        released.sum[k] = worth * level->sum[k];
    }
    released.records = worth * fmax(released.records, 1);
    fit_density(out, shape->factor, &released, worth * level->noise);
    set_means(out);
    set_by(shape->by, out);
    set_at_end(shape->at_end, out);
}

void regress_density_narrow(struct regress_density *density, double q)
{
    for (size_t k = 0; k < density->levels; k++) {
        double most = -INFINITY;
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            const double away = node(i, density->levels) - density->centre;
            density->log_at[i] = log(density->at[i]) - q * away * away / 2;
            most = fmax(most, density->log_at[i]);
        }
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            density->log_at[i] -= most;
            density->at[i] = exp(density->log_at[i]);
        }
    }
}

/* The mean place of a level's nodes, in nodes, under f(x) exp(t x), and its variance. width: of a node */
static double place_within(double *variance, const double *at, double t, double width)
{
    const double times = exp(t * width);
    double all = 0;
    double sum = 0;
    double square = 0;
    double more = 1;
    for (size_t i = 0; i < NODES; i++) {
        const double own = more * at[i];
        all += own;
        sum += own * (double)i;
        square += own * (double)(i * i);
        more *= times;
    }
    const double mean = sum / all;
    *variance = fmax(square / all - mean * mean, 0);
    return mean;
}

/* The same where the powers of e might not be doubles. */
static double place_within_steep(double *variance, const double *log_at, double t, double width)
{
    double own[NODES];
    double most = -INFINITY;
    for (size_t i = 0; i < NODES; i++) {
        own[i] = log_at[i] + t * width * (double)i;
        most = fmax(most, own[i]);
    }
    for (size_t i = 0; i < NODES; i++) {
        own[i] = exp(own[i] - most);
    }
    return place_within(variance, own, 0, width);
}

double regress_density_mean(double *variance, const struct regress_density *density, size_t level,
                            double t)
{
    const size_t first = level * NODES;
    const double width = 2 / (double)(density->levels * NODES);
    const double place = fabs(t) * width * NODES <= steep_least
                             ? place_within(variance, &density->at[first], t, width)
                             : place_within_steep(variance, &density->log_at[first], t, width);
    *variance *= width * width;
    return node(first, density->levels) + place * width;
}
