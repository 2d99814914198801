/* regress_place.c - where the values of numbers lie within their levels, told by the released cells.
 *
 * A slope over the middles of levels is not that of the column: values lie towards where records are many. So a number counts by
 * the mean of its level, by the density that fits its released levels (regress_density.h). Columns that go together move each
 * other's means within a level: with x_i a number, z the other columns, and their covariances as released
 *
 *   f(x_i | z) ~ f(x_i) exp(t x_i - q (x_i - mu_i)^2/2),  t = p_i b_i'(z - mu),  q = p_i - 1/var(x_i)
 *
 * b_i the regression of x_i on z, and 1/p_i what it leaves of its variance: exact for normal columns. Covariances of levels' means are
 * those of values times var(mean)/var(x) of each number. What noise may have made of one is taken off (James and Stein).
 *
 * Replacing a value by its mean given what is released of the record is regression calibration (Carroll, Ruppert, Stefanski and
 * Crainiceanu 2006, chapter 4): exact in linear models. */

#include "estimate/cells.h"
#include "estimate/regress.h"
#include "estimate/regress_density.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>
#include <string.h>

enum {
    ROUNDS = 3, /* of means that move each other */
    COLUMNS_MAX = REGRESS_SLOPES_MAX
};

static const double noise_most = 0.15; /* of a level's records, over an even level's, of numbers */
static const double noise_most_of_categories = 0.25;
static const double told_most = 0.9; /* of a number's variance, by the other columns */

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
                        const struct regress_density *density)
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
                         const struct regress_fit *fit, const struct regress_density *density)
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
                         const struct told *told, const struct regress_density *density)
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
                    placed[i] =
                        regress_density_mean(&density[i], point.level[i],
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
    struct regress_density density[REGRESS_PREDICTORS_MAX];
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
            regress_density_fit(&density[i], &fit->shape[i], &level[i],
                                design->predictor[i].levels);
        }
    }
    list_columns(&columns, design);
    sum_columns(&columns, noise, cells, density);
    mend_columns(&columns, noise, fit, density);
    for (size_t c = 0; c < columns.count; c++) {
        const size_t i = columns.of[c];
        tell_by_others(&told[c], &columns, c);
        if (design->predictor[i].is_number) {
            regress_density_narrow(&density[i], told[c].precision - 1 / density[i].variance);
        }
    }
    place_points(fit, &columns, told, density);
}
