/* regress_place.c - where the values of numbers lie within their levels, told by the released cells.
 *
 * A slope over the middles of levels is not that of the column: values lie towards where records are many. So a number counts by
 * the mean of its level. Of one column the density is e^(sum of a_d P_d(x)), P_d Legendre's polynomials, that fits its released
 * levels best (Fisher's scoring; a_d are taken to be normal about 0, which only binds where levels tell little). Columns that go
 * together move each other's means within a level: with x_i a number, z the other columns, and their covariances as released
 *
 *   f(x_i | z) ~ f(x_i) exp(t x_i - q (x_i - mu_i)^2/2),  t = p_i b_i'(z - mu),  q = p_i - 1/var(x_i)
 *
 * b_i the regression of x_i on z, and 1/p_i what it leaves of its variance: exact for normal columns. Covariances of levels' means are
 * those of values times var(mean)/var(x) of each number. What noise may have made of one is taken off (James and Stein).
 *
 * Replacing a value by its mean given what is released of the record is regression calibration (Carroll, Ruppert, Stefanski and
 * Crainiceanu 2006, chapter 4): exact in linear models. */

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>
#include <string.h>

enum {
    NODES = 12, /* of a level */
    STEPS_MAX = 60,
    ROUNDS = 3, /* of means that move each other */
    COLUMNS_MAX = REGRESS_SLOPES_MAX
};

/* The deviations of a_1 to a_4 that are taken for granted. */
static const double deviation[REGRESS_SHAPE] = {30, 30, 4, 2, 1, 0.5};
static const double share_at_end = 0.15; /* a deviation, of a first or last level's records */
static const double noise_most = 0.15; /* of a level's records, over an even level's, of numbers */
static const double noise_most_of_categories = 0.25;
static const double records_most =
    1e9; /* more tell no more, and leave the terms' own variances no digits */
static const double step_most = 3;
static const double step_last = 1e-6;
static const double told_most = 0.9;   /* of a number's variance, by the other columns */
static const double steep_least = 200; /* a power of e over a level: its square is a double */

struct density {
    size_t levels;
    double p[REGRESS_LEVELS_MAX * NODES][REGRESS_SHAPE]; /* polynomials at each node */
    double at[REGRESS_LEVELS_MAX * NODES]; /* of each node; their sum is 1, or a level's most is */
    double log_at[REGRESS_LEVELS_MAX * NODES]; /* once narrowed, its logarithm */
    double mean[REGRESS_LEVELS_MAX];           /* of each level */
    double centre, variance;
    double kept; /* the variance of levels' means, over it */
};

static double node(size_t i, size_t levels)
{
    return (double)(2 * i + 1) / (double)(levels * NODES) - 1;
}

/* P_1(x) to P_count(x): out (count) */
static void legendre(double *out, double x, size_t count)
{
    double before = 1;
    out[0] = x;
    for (size_t d = 1; d < count; d++) {
        const double n = (double)d;
        out[d] = ((2 * n + 1) * x * out[d - 1] - n * (d > 1 ? out[d - 2] : before)) / (n + 1);
    }
}

static void set_density(struct density *out, const double *a)
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

/* share: of each level, of so many records */
static void look(struct likely *out, const struct density *density, const double *a,
                 const double *share, double records)
{
    double own[REGRESS_LEVELS_MAX][REGRESS_SHAPE] = {{0}};
    double mean[REGRESS_SHAPE] = {0};
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < density->levels; k++) {
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            const double *p = density->p[i];
            for (size_t d = 0; d < REGRESS_SHAPE; d++) {
                own[k][d] += density->at[i] * p[d];
            }
        }
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            mean[d] += own[k][d];
        }
    }
    for (size_t k = 0; k < density->levels; k++) {
        double all = 0;
        for (size_t i = k * NODES; i < (k + 1) * NODES; i++) {
            all += density->at[i];
        }
        out->value += records * share[k] * log(all);
        for (size_t d = 0; d < REGRESS_SHAPE; d++) {
            own[k][d] = own[k][d] / all - mean[d];
            out->slope[d] += records * share[k] * own[k][d];
            for (size_t e = 0; e <= d; e++) {
                out->bend[d * REGRESS_SHAPE + e] += records * all * own[k][d] * own[k][e];
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

/* Leaves the Cholesky factor of what a_d are told by in factor. */
static void fit_density(struct density *out, double *factor, const double *share, double records)
{
    double a[REGRESS_SHAPE] = {0};
    struct likely now;
    double largest = INFINITY;
    set_density(out, a);
    look(&now, out, a, share, records);
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
            look(&then, out, next, share, records);
            length /= 2;
        }
        if (then.value < now.value) {
            break;
        }
        memcpy(a, next, sizeof a);
        now = then;
    }
    set_density(out, a);
    look(&now, out, a, share, records);
    CHECK(cholesky(now.bend, REGRESS_SHAPE) == 0);
    memcpy(factor, now.bend, sizeof now.bend);
}

/* What is beyond the range counts at its end: how many do is not known. */
static void set_at_end(double *at_end, const struct density *density)
{
    const size_t last = density->levels - 1;
    memset(at_end, 0, density->levels * sizeof *at_end);
    at_end[0] = share_at_end * (density->mean[0] + 1);
    at_end[last] = share_at_end * (1 - density->mean[last]);
}

/* How a level's mean moves with a_d: what x and P_d go together by. */
static void set_by(double by[][REGRESS_SHAPE], const struct density *density)
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

static void set_means(struct density *out)
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

static void set_one(struct density *out, struct regress_shape *shape,
                    const struct regress_levels *level, size_t levels)
{
    double share[REGRESS_LEVELS_MAX];
    double all = 0;
    CHECK(levels > 0 && levels <= REGRESS_LEVELS_MAX);
    out->levels = levels;
    for (size_t i = 0; i < levels * NODES; i++) {
        legendre(out->p[i], node(i, levels), REGRESS_SHAPE);
    }
    for (size_t k = 0; k < levels; k++) {
        share[k] = fmax(level->sum[k], level->noise);
        all += share[k];
    }
    for (size_t k = 0; k < levels; k++) {
        share[k] = all > 0 ? share[k] / all : 1 / (double)levels;
    }
    const double even = fmax(all, 1) / (double)levels;
    const double worth = fmax(all, 1) / (1 + level->noise * level->noise / even);
    fit_density(out, shape->factor, share, fmin(worth, records_most));
    set_means(out);
    set_by(shape->by, out);
    set_at_end(shape->at_end, out);
}

/* Predictors as columns of numbers: a number's value, or whether a record is in each category but the first. */
struct columns {
    size_t count;
    size_t of[COLUMNS_MAX];    /* the predictor */
    size_t level[COLUMNS_MAX]; /* of a category */
    double mean[COLUMNS_MAX];
    double together[COLUMNS_MAX * COLUMNS_MAX];
};

static double column_at(const struct columns *columns, size_t c,
                        const struct regress_design *design, const size_t *level,
                        const double *value)
{
    const size_t i = columns->of[c];
    return design->predictor[i].is_number ? value[i] : level[i] == columns->level[c] ? 1 : 0;
}

static void list_columns(struct columns *out, const struct regress_design *design)
{
    out->count = 0;
    for (size_t i = 0; i < design->predictors; i++) {
        const struct regress_predictor *predictor = &design->predictor[i];
        for (size_t k = 1; k < (predictor->is_number ? 2 : predictor->levels); k++) {
            out->of[out->count] = i;
            out->level[out->count++] = k;
        }
    }
}

/* Means and covariances of columns by the released points, numbers being their levels' means. noise: of each covariance. */
static void sum_columns(struct columns *out, double *noise, const struct regress_cells *cells,
                        const struct density *density)
{
    const struct regress_design *design = cells->design;
    const size_t n = out->count;
    const double variance = cells->variance * (double)design->outcomes;
    double all = 0;
    memset(out->mean, 0, sizeof out->mean);
    memset(out->together, 0, sizeof out->together);
    memset(noise, 0, n * n * sizeof *noise);
    for (int pass = 0; pass < 2; pass++) {
        const double *cell = cells->cell;
        struct regress_point point;
        regress_point_first(&point, design, NULL);
        do {
            double own = 0;
            double x[COLUMNS_MAX];
            double value[REGRESS_PREDICTORS_MAX] = {0};
            for (size_t y = 0; y < design->outcomes; y++) {
                own += *cell++;
            }
            for (size_t i = 0; i < design->predictors; i++) {
                value[i] = design->predictor[i].is_number ? density[i].mean[point.level[i]] : 0;
            }
            all += pass == 0 ? own : 0;
            for (size_t c = 0; c < n; c++) {
                x[c] = column_at(out, c, design, point.level, value);
                if (pass == 0) {
                    out->mean[c] += own * x[c];
                    continue;
                }
                x[c] -= out->mean[c];
                for (size_t e = 0; e <= c; e++) {
                    const double both = x[c] * x[e];
                    out->together[c * n + e] += own * both / all;
                    noise[c * n + e] += variance * both * both / all / all;
                }
            }
        } while (regress_point_next(&point, design));
        all = fmax(all, 1); /* noise alone may be below 0 */
        for (size_t c = 0; c < n && pass == 0; c++) {
            out->mean[c] = fmin(fmax(out->mean[c] / all, -1), 1);
        }
    }
}

/* Of values in place of levels' means, less what noise may have made of them. */
static void mend_columns(struct columns *columns, const double *noise,
                         const struct regress_fit *fit, const struct density *density)
{
    const struct regress_design *design = fit->cells->design;
    const size_t n = columns->count;
    for (size_t c = 0; c < n; c++) {
        for (size_t e = 0; e <= c; e++) {
            double *own = &columns->together[c * n + e];
            const size_t i = columns->of[c];
            const size_t j = columns->of[e];
            if (c == e && design->predictor[i].is_number) {
                *own = density[i].variance;
            } else if (c == e) {
                const double share = fmin(fmax(columns->mean[c], 0.01), 0.99);
                *own = share * (1 - share);
            } else if (fit->shape[i].is_hidden || fit->shape[j].is_hidden) {
                *own = 0;
            } else if (i != j) {
                const double square = *own * *own;
                *own *= square > noise[c * n + e] ? 1 - noise[c * n + e] / square : 0;
                *own /= design->predictor[i].is_number ? density[i].kept : 1;
                *own /= design->predictor[j].is_number ? density[j].kept : 1;
            } else {
                *own = -fmax(columns->mean[c], 0) * fmax(columns->mean[e], 0);
            }
            columns->together[e * n + c] = *own;
        }
    }
}

/* What the other columns tell of a number: slope (columns), and the precision of what is left. */
struct told {
    double slope[COLUMNS_MAX];
    double precision;
};

static void tell_by_others(struct told *out, const struct columns *columns, size_t c)
{
    const size_t n = columns->count;
    double a[COLUMNS_MAX * COLUMNS_MAX];
    double b[COLUMNS_MAX];
    size_t other[COLUMNS_MAX];
    size_t others = 0;
    double explained = 0;
    const double own = columns->together[c * n + c];
    *out = (struct told){.precision = 1 / own};
    for (size_t e = 0; e < n; e++) {
        if (e != c && columns->together[c * n + e] != 0) {
            other[others++] = e;
        }
    }
    for (size_t i = 0; i < others; i++) {
        b[i] = columns->together[c * n + other[i]];
        for (size_t j = 0; j < others; j++) {
            a[i * others + j] = columns->together[other[i] * n + other[j]];
        }
        a[i * others + i] *= 1 + 1e-3;
    }
    if (others == 0 || cholesky(a, others) != 0) {
        return;
    }
    cells_solve(a, b, others);
    for (size_t i = 0; i < others; i++) {
        explained += b[i] * columns->together[c * n + other[i]];
    }
    const double shorter = explained > told_most * own ? told_most * own / explained : 1;
    for (size_t i = 0; i < others; i++) {
        out->slope[other[i]] = shorter * b[i];
    }
    out->precision = 1 / (own - shorter * fmax(explained, 0));
}

/* f(x) exp(-q (x - centre)^2/2) at each node, over the most of its level: far from the centre it is below what a double can hold. */
static void narrow(struct density *density, double q)
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

/* The mean place of a level's nodes, in nodes, under f(x) exp(t x). width: of a node */
static double place_within(const double *at, double t, double width)
{
    const double times = exp(t * width);
    double all = 0;
    double sum = 0;
    double more = 1;
    for (size_t i = 0; i < NODES; i++) {
        all += more * at[i];
        sum += more * at[i] * (double)i;
        more *= times;
    }
    return sum / all;
}

/* The same where the powers of e might not be doubles. */
static double place_within_steep(const double *log_at, double t, double width)
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
    return place_within(own, 0, width);
}

/* A level's mean under f(x) exp(t x) */
static double mean_within(const struct density *density, size_t level, double t)
{
    const size_t first = level * NODES;
    const double width = 2 / (double)(density->levels * NODES);
    const double place = fabs(t) * width * NODES <= steep_least
                             ? place_within(&density->at[first], t, width)
                             : place_within_steep(&density->log_at[first], t, width);
    return node(first, density->levels) + place * width;
}

static double tilt(const struct told *told, const struct columns *columns,
                   const struct regress_design *design, const struct regress_point *point,
                   const double *placed)
{
    double t = 0;
    for (size_t e = 0; e < columns->count; e++) {
        if (told->slope[e] != 0) {
            t += told->slope[e] *
                 (column_at(columns, e, design, point->level, placed) - columns->mean[e]);
        }
    }
    return told->precision * t;
}

static void place_points(struct regress_fit *fit, const struct columns *columns,
                         const struct told *told, const struct density *density)
{
    const struct regress_design *design = fit->cells->design;
    double *placed = fit->placed;
    struct regress_point point;
    regress_point_first(&point, design, NULL);
    do {
        for (size_t i = 0; i < design->predictors; i++) {
            placed[i] = design->predictor[i].value[point.level[i]];
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (size_t c = 0; c < columns->count; c++) {
                const size_t i = columns->of[c];
                if (design->predictor[i].is_number && !fit->shape[i].is_hidden) {
                    placed[i] = mean_within(&density[i], point.level[i],
                                            tilt(&told[c], columns, design, &point, placed));
                }
            }
        }
        placed += design->predictors;
    } while (regress_point_next(&point, design));
}

static void place_at_values(struct regress_fit *fit)
{
    const struct regress_design *design = fit->cells->design;
    double *placed = fit->placed;
    struct regress_point point;
    regress_point_first(&point, design, NULL);
    do {
        for (size_t i = 0; i < design->predictors; i++) {
            *placed++ = design->predictor[i].value[point.level[i]];
        }
    } while (regress_point_next(&point, design));
}

static void set_noise(struct regress_shape *shape, const struct regress_predictor *predictor,
                      const struct regress_levels *level)
{
    double all = 0;
    for (size_t k = 0; k < predictor->levels; k++) {
        all += level->sum[k];
    }
    shape->noise = level->noise * (double)predictor->levels / fmax(all, 1) /
                   (predictor->is_number ? noise_most : noise_most_of_categories);
    shape->is_hidden = predictor->is_number && !(shape->noise < 1);
}

void regress_place(struct regress_fit *fit)
{
    const struct regress_cells *cells = fit->cells;
    const struct regress_design *design = cells->design;
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    struct density density[REGRESS_PREDICTORS_MAX];
    struct columns columns;
    double noise[COLUMNS_MAX * COLUMNS_MAX];
    struct told told[COLUMNS_MAX];
    if (!design->is_rounded) {
        place_at_values(fit);
        return;
    }
    regress_sum_levels(level, cells);
    for (size_t i = 0; i < design->predictors; i++) {
        set_noise(&fit->shape[i], &design->predictor[i], &level[i]);
        if (design->predictor[i].is_number) {
            set_one(&density[i], &fit->shape[i], &level[i], design->predictor[i].levels);
        }
    }
    list_columns(&columns, design);
    sum_columns(&columns, noise, cells, density);
    mend_columns(&columns, noise, fit, density);
    for (size_t c = 0; c < columns.count; c++) {
        const size_t i = columns.of[c];
        tell_by_others(&told[c], &columns, c);
        if (design->predictor[i].is_number) {
            narrow(&density[i], told[c].precision - 1 / density[i].variance);
        }
    }
    place_points(fit, &columns, told, density);
}
