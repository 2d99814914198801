/* regress_columns.c - how the columns of a regression go together, as released. */

#include "estimate/regress_columns.h"
#include "estimate/cells.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = REGRESS_SLOPES_MAX };

static const double told_most = 0.9; /* of a number's variance, by the other columns */
static const double told_least = 0.3;

double regress_column_at(const struct regress_columns *columns, size_t c,
                         const struct regress_design *design, const size_t *level,
                         const double *value)
{
    const size_t i = columns->of[c];
    return design->predictor[i].is_number ? value[i] : level[i] == columns->level[c] ? 1 : 0;
}

static void list_columns(struct regress_columns *out, const struct regress_design *design)
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
static void sum_columns(struct regress_columns *out, double *noise,
                        const struct regress_cells *cells, const struct regress_density *density)
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
                x[c] = regress_column_at(out, c, design, point.level, value);
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

/* For values in place of levels' means, less what noise may have made of them. */
static void mend_columns(struct regress_columns *columns, const double *noise,
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

/* The deviation of a covariance of two columns by noise; 0: neither moves the other's values. */
static double noise_of(const struct regress_fit *fit, const double *noise,
                       const struct regress_density *density, size_t c, size_t e)
{
    const struct regress_design *design = fit->cells->design;
    const size_t of[2] = {fit->columns.of[c], fit->columns.of[e]};
    double deviation = sqrt(noise[c * fit->columns.count + e]);
    bool has_number = false;
    for (size_t k = 0; k < 2; k++) {
        const bool is_number = design->predictor[of[k]].is_number;
        if (fit->shape[of[k]].is_hidden) {
            return 0;
        }
        has_number = has_number || is_number;
        deviation /= is_number ? density[of[k]].kept : 1;
    }
    return has_number && of[0] != of[1] ? deviation : 0;
}

/* A share of a variance that is told by a correlation is noisy by twice the correlation's deviation at most: what noise makes
 * of it is not to tell nearly all. */
static void set_most(struct regress_fit *fit, const double *noise,
                     const struct regress_density *density)
{
    struct regress_columns *columns = &fit->columns;
    const size_t n = columns->count;
    for (size_t c = 0; c < n; c++) {
        double deviation = 0;
        for (size_t e = 0; e < n; e++) {
            const double both = sqrt(columns->together[c * n + c] * columns->together[e * n + e]);
            const double own =
                e == c ? 0 : noise_of(fit, noise, density, e < c ? c : e, e < c ? e : c);
            deviation = fmax(deviation, own / both);
        }
        columns->most[c] = fmax(told_most - 2 * deviation, told_least);
    }
}

void regress_set_columns(struct regress_fit *fit, double *noise,
                         const struct regress_density *density)
{
    list_columns(&fit->columns, fit->cells->design);
    sum_columns(&fit->columns, noise, fit->cells, density);
    mend_columns(&fit->columns, noise, fit, density);
    set_most(fit, noise, density);
}

void regress_tell_by_others(struct regress_told *out, const struct regress_columns *columns,
                            size_t c)
{
    const size_t n = columns->count;
    double a[COLUMNS_MAX * COLUMNS_MAX];
    double b[COLUMNS_MAX];
    size_t other[COLUMNS_MAX];
    size_t others = 0;
    double explained = 0;
    const double own = columns->together[c * n + c];
    *out = (struct regress_told){.precision = 1 / own};
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
    const double most = columns->most[c] * own;
    const double shorter = explained > most ? most / explained : 1;
    for (size_t i = 0; i < others; i++) {
        out->slope[other[i]] = shorter * b[i];
    }
    out->precision = 1 / (own - shorter * fmax(explained, 0));
}

void regress_set_pairs(struct regress_fit *fit, const struct regress_told *told,
                       const double *noise, const struct regress_density *density)
{
    struct regress_columns *columns = &fit->columns;
    const size_t n = columns->count;
    fit->pairs = 0;
    for (size_t c = 0; c < n; c++) {
        for (size_t e = 0; e < c; e++) {
            struct regress_pair *pair = &fit->pair[fit->pairs];
            double *const own[2] = {&columns->together[c * n + e], &columns->together[e * n + c]};
            const size_t side[2] = {c, e};
            const double was = *own[0];
            const double deviation = noise_of(fit, noise, density, c, e);
            if (!(deviation > 0)) {
                continue;
            }
            const double sign = was > 0 ? -1 : 1;
            *own[0] = *own[1] = was + sign * deviation;
            pair->by = sign * sqrt(noise[c * n + e]);
            for (size_t k = 0; k < 2; k++) {
                const struct regress_told *now = &told[side[k]];
                struct regress_told then;
                regress_tell_by_others(&then, columns, side[k]);
                pair->column[k] = side[k];
                pair->precision[k] = then.precision - now->precision;
                for (size_t i = 0; i < n; i++) {
                    pair->tilt[k][i] =
                        then.precision * then.slope[i] - now->precision * now->slope[i];
                }
            }
            *own[0] = *own[1] = was;
            fit->pairs++;
        }
    }
}
