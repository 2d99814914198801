/* regress_density.c - a number's density, fitted to its released levels by Fisher's scoring, and the means of its levels. */

#include "estimate/regress_density.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 60, ROUNDS = 2 };

/* The deviations that a_1 to a_6 are taken to have about 0. */
static const double deviation[REGRESS_SHAPE] = {30, 30, 4, 2, 1, 0.5};
static const double share_at_end = 0.15; /* a deviation, of a first or last level's records */
static const double records_most =
    1e9; /* more tell no more, and leave the terms' own variances no digits */
static const double share_least =
    5e-7; /* of all records, a level's deviation: what levels tell stays below 10^12 */
static const double step_most = 3;
static const double step_last = 1e-6;
static const double steep_least = 200; /* a power of e over a level: its square is a double */
static const double variance_least = 1e-9;
static const double even_most = 1e-9; /* of a gap between nodes, by which others differ */

size_t regress_density_first(const struct regress_density *density, size_t level)
{
    return level > 0 ? density->end[level - 1] : 0;
}

bool regress_density_is_known(const struct regress_density *density)
{
    bool is_known = true;
    for (size_t k = 0; k < density->levels; k++) {
        is_known = is_known && density->end[k] - regress_density_first(density, k) == 1;
    }
    return is_known;
}

static size_t nodes_of(const struct regress_density *density)
{
    return density->end[density->levels - 1];
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
    const size_t nodes = nodes_of(out);
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
        for (size_t i = regress_density_first(density, k); i < density->end[k]; i++) {
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

/* Leaves the Cholesky factor of what a_d are told by in factor. Levels vary by what the density makes of them, which it is fitted for.
 * Where few levels hold all of very many records, what an empty one tells would leave the terms' own variances no digits, and H no
 * factor: no level is taken to vary by less than a part of all records. */
static void fit_density(struct regress_density *out, double *factor, struct released *released,
                        double noise)
{
    double a[REGRESS_SHAPE] = {0};
    const double least = share_least * released->records;
    struct likely last;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < out->levels; k++) {
            double own = released->sum[k];
            if (round > 0) {
                own = 0;
                for (size_t i = regress_density_first(out, k); i < out->end[k]; i++) {
                    own += released->records * out->at[i];
                }
            }
            released->variance[k] = fmax(fmax(own, 1) + noise * noise, least * least);
        }
        fit_terms(out, a, released);
    }
    look(&last, out, a, released);
    CHECK(cholesky(last.bend, REGRESS_SHAPE) == 0);
    memcpy(factor, last.bend, sizeof last.bend);
}

/* What is beyond the range counts at its end: how many do is not known. */
static void set_at_end(double *at_end, const struct regress_density *density,
                       const struct regress_predictor *predictor)
{
    const size_t last = density->levels - 1;
    const bool has_atoms = predictor->atoms > 0;
    const double low = has_atoms ? predictor->atom[0] : -1;
    const double high = has_atoms ? predictor->atom[predictor->atoms - 1] : 1;
    memset(at_end, 0, density->levels * sizeof *at_end);
    at_end[0] = share_at_end * fmax(density->mean[0] - low, 0);
    at_end[last] = share_at_end * fmax(high - density->mean[last], 0);
}

/* How a level's mean moves with a_d: what x and P_d go together by. */
static void set_by(double by[][REGRESS_SHAPE], const struct regress_density *density)
{
    for (size_t k = 0; k < density->levels; k++) {
        double all = 0;
        double x_mean = 0;
        double mean[REGRESS_SHAPE] = {0};
        double both[REGRESS_SHAPE] = {0};
        for (size_t i = regress_density_first(density, k); i < density->end[k]; i++) {
            const double x = density->x[i];
            const double *p = density->p[i];
            all += density->at[i];
            x_mean += density->at[i] * x;
            for (size_t d = 0; d < REGRESS_SHAPE; d++) {
                mean[d] += density->at[i] * p[d];
                both[d] += density->at[i] * p[d] * x;
            }
        }
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            by[k][d] = all > 0 ? both[d] / all - mean[d] / all * x_mean / all : 0;
        }
    }
}

/* A mean stays within its level, so a shape that is told poorly moves it by less than its slopes say. It is followed on the scale of
 * log-odds of its place in the level, to the ends of a 95 % interval. Slopes are lowered to what the further of these says, and never
 * raised. margin: of a level, beyond its first and last node */
static void keep_within(struct regress_shape *shape, const struct regress_density *density,
                        double margin)
{
    for (size_t k = 0; k < density->levels; k++) {
        double by[REGRESS_SHAPE];
        memcpy(by, shape->by[k], sizeof by);
        const double moved = ESTIMATE_Z * sqrt(cholesky_form(shape->factor, by, REGRESS_SHAPE));
        if (!(moved > 0)) {
            continue;
        }
        const double low = density->x[regress_density_first(density, k)] - margin;
        const double width = density->x[density->end[k] - 1] + margin - low;
        const double place = (density->mean[k] - low) / width;
        const double odds = log(place / (1 - place));
        const double more = moved / width / (place * (1 - place));
        const double up = 1 / (1 + exp(-odds - more)) - place;
        const double down = place - 1 / (1 + exp(-odds + more));
        const double kept = fmax(up, down) * width / moved;
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            shape->by[k][d] *= isfinite(kept) ? fmin(kept, 1) : 1;
        }
    }
}

static void set_means(struct regress_density *out, const struct regress_predictor *predictor)
{
    double square = 0;
    double of_means = 0;
    out->centre = 0;
    for (size_t k = 0; k < out->levels; k++) {
        double all = 0;
        double sum = 0;
        for (size_t i = regress_density_first(out, k); i < out->end[k]; i++) {
            const double x = out->x[i];
            all += out->at[i];
            sum += out->at[i] * x;
            square += out->at[i] * x * x;
        }
        out->mean[k] = all > 0 ? sum / all : predictor->value[k];
        out->centre += sum;
        of_means += all > 0 ? sum * sum / all : 0;
    }
    out->variance = fmax(square - out->centre * out->centre, variance_least);
    out->kept =
        regress_density_is_known(out) ? 1 : (of_means - out->centre * out->centre) / out->variance;
}

static void set_nodes(struct regress_density *out, const struct regress_predictor *predictor)
{
    const size_t count =
        predictor->atoms > 0 ? predictor->atoms : predictor->levels * REGRESS_NODES;
    out->levels = predictor->levels;
    for (size_t i = 0; i < count; i++) {
        out->x[i] =
            predictor->atoms > 0 ? predictor->atom[i] : (double)(2 * i + 1) / (double)count - 1;
        legendre(out->p[i], out->x[i], REGRESS_SHAPE);
    }
    for (size_t k = 0; k < out->levels; k++) {
        out->end[k] = predictor->atoms > 0 ? predictor->atom_end[k] : (k + 1) * REGRESS_NODES;
    }
    out->width = (out->x[count - 1] - out->x[0]) / (double)(count - 1);
    for (size_t i = 1; i < count; i++) {
        const double own = out->x[i] - out->x[i - 1];
        out->width = fabs(own - out->width) <= even_most * own ? out->width : 0;
    }
}

void regress_density_fit(struct regress_density *out, struct regress_shape *shape,
                         const struct regress_levels *level,
                         const struct regress_predictor *predictor)
{
    const size_t levels = predictor->levels;
    struct released released = {.records = 0};
    CHECK(levels > 0 && levels <= REGRESS_LEVELS_MAX && predictor->atoms <= REGRESS_ATOMS_MAX);
    set_nodes(out, predictor);
    for (size_t k = 0; k < levels; k++) {
        released.records += level->sum[k];
    }
    const double worth = fmin(records_most / fmax(released.records, 1), 1);
    for (size_t k = 0; k < levels; k++) {
        released.sum[k] = worth * level->sum[k];
    }
    released.records = worth * fmax(released.records, 1);
    fit_density(out, shape->factor, &released, worth * level->noise);
    set_means(out, predictor);
    set_by(shape->by, out);
    keep_within(shape, out, predictor->atoms > 0 ? 0 : out->width / 2);
    set_at_end(shape->at_end, out, predictor);
}

void regress_density_narrow(struct regress_density *density, double q)
{
    for (size_t k = 0; k < density->levels; k++) {
        double most = -INFINITY;
        for (size_t i = regress_density_first(density, k); i < density->end[k]; i++) {
            const double away = density->x[i] - density->centre;
            density->log_at[i] = log(density->at[i]) - q * away * away / 2;
            most = fmax(most, density->log_at[i]);
        }
        for (size_t i = regress_density_first(density, k); i < density->end[k]; i++) {
            density->log_at[i] -= most;
            density->at[i] = exp(density->log_at[i]);
        }
    }
}

/* The mean place of `count` nodes, in nodes, under f(x) exp(t x), and its variance. width: of a node */
static double place_within(double *variance, const double *at, size_t count, double t, double width)
{
    const double times = exp(t * width);
    double all = 0;
    double sum = 0;
    double square = 0;
    double more = 1;
    for (size_t i = 0; i < count; i++) {
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

/* The mean of `count` nodes where they are not even, or the powers of e might not be doubles. */
static double place_anywhere(double *variance, const double *log_at, const double *x, size_t count,
                             double t)
{
    double most = -INFINITY;
    double all = 0;
    double sum = 0;
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, log_at[i] + t * x[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const double own = exp(log_at[i] + t * x[i] - most);
        const double away = x[i] - x[0];
        all += own;
        sum += own * away;
        square += own * away * away;
    }
    *variance = fmax(square / all - sum * sum / all / all, 0);
    return x[0] + sum / all;
}

double regress_density_mean(double *variance, const struct regress_density *density, size_t level,
                            double t)
{
    const size_t first = regress_density_first(density, level);
    const size_t count = density->end[level] - first;
    const double width = density->width;
    if (count == 0) {
        *variance = 0;
        return density->mean[level];
    }
    if (!(width > 0) || fabs(t) * width * (double)count > steep_least) {
        return place_anywhere(variance, &density->log_at[first], &density->x[first], count, t);
    }
    const double place = place_within(variance, &density->at[first], count, t, width);
    *variance *= width * width;
    return density->x[first] + place * width;
}
