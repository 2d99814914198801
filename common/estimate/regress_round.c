/* regress_round.c - how much nearer to 0 rounding makes a number's coefficient, told by its released levels.
 *
 * With x a value and r the middle of its level, the slope of the rounded column is cov(x, r)/var(r) of the column's own, where
 * the outcome follows x alone. Values are taken to have the density e^(a x + c x^2) over the public range: a normal's part, an
 * even one, one that falls from an end. a and c are those that fit the released levels best, found by EM's gradient steps (Lange
 * 1995), which take levels below 0 as they are. For fine levels of a normal it is 1 - w^2/12/var(r), Sheppard's correction. */

#include "estimate/regress.h"
#include "estimate/regress_weights.h"

#include <math.h>

enum { GRID = 960, STEPS_MAX = 300 };

static const double step_last = 1e-5;
static const double bend_most = 2;

struct density {
    double a, c;
    double at[GRID]; /* shares */
};

/* Of x and x^2: means, and what goes together. */
struct moments {
    double x, xx, var_x, var_xx, together;
};

static double middle(size_t i, size_t count)
{
    return (double)(2 * i + 1) / (double)count - 1;
}

static size_t level_of(size_t i, size_t levels)
{
    return (2 * i + 1) * levels / (2 * (size_t)GRID);
}

static void set_density(struct density *out)
{
    double most = -INFINITY;
    double all = 0;
    for (size_t i = 0; i < GRID; i++) {
        const double x = middle(i, GRID);
        out->at[i] = out->a * x + out->c * x * x;
        most = fmax(most, out->at[i]);
    }
    for (size_t i = 0; i < GRID; i++) {
        out->at[i] = exp(out->at[i] - most);
        all += out->at[i];
    }
    for (size_t i = 0; i < GRID; i++) {
        out->at[i] /= all;
    }
}

static void set_moments(struct moments *out, const struct density *density)
{
    double third = 0;
    double fourth = 0;
    *out = (struct moments){.x = 0};
    for (size_t i = 0; i < GRID; i++) {
        const double x = middle(i, GRID);
        out->x += density->at[i] * x;
        out->xx += density->at[i] * x * x;
        third += density->at[i] * x * x * x;
        fourth += density->at[i] * x * x * x * x;
    }
    out->var_x = out->xx - out->x * out->x;
    out->var_xx = fourth - out->xx * out->xx;
    out->together = third - out->x * out->xx;
}

/* The means of x and x^2 where levels have these shares, and values lie within them by the density. */
static void set_expected(double *x, double *xx, const struct density *density, const double *share,
                         size_t levels)
{
    double all[REGRESS_LEVELS_MAX] = {0};
    double first[REGRESS_LEVELS_MAX] = {0};
    double second[REGRESS_LEVELS_MAX] = {0};
    for (size_t i = 0; i < GRID; i++) {
        const double at = middle(i, GRID);
        const size_t k = level_of(i, levels);
        const double own = density->at[i] + 1e-300; /* of a level that the density does not reach */
        all[k] += own;
        first[k] += own * at;
        second[k] += own * at * at;
    }
    *x = 0;
    *xx = 0;
    for (size_t k = 0; k < levels; k++) {
        *x += share[k] * first[k] / all[k];
        *xx += share[k] * second[k] / all[k];
    }
}

/* A density is not narrower than what levels can tell: a deviation of a quarter of one. */
static void hold(struct density *density, size_t levels)
{
    const double n = (double)levels;
    const double narrowest = -2 * n * n;
    const double most = 4 * n * n;
    density->c = fmin(fmax(density->c, narrowest), bend_most);
    density->a = fmin(fmax(density->a, -most), most);
}

/* Where Sheppard's correction leads, from which few steps are left. */
static void start(struct density *out, const double *share, size_t levels)
{
    const double width = 2 / (double)levels;
    double mean = 0;
    double square = 0;
    for (size_t k = 0; k < levels; k++) {
        const double r = middle(k, levels);
        mean += share[k] * r;
        square += share[k] * r * r;
    }
    const double variance = fmax(square - mean * mean - width * width / 12, width * width / 16);
    out->c = -1 / (2 * variance);
    out->a = mean / variance;
    hold(out, levels);
}

static void fit(struct density *out, const double *share, size_t levels)
{
    start(out, share, levels);
    set_density(out);
    for (int i = 0; i < STEPS_MAX; i++) {
        struct moments own;
        double x;
        double xx;
        const double a = out->a;
        const double c = out->c;
        set_moments(&own, out);
        set_expected(&x, &xx, out, share, levels);
        const double area = own.var_x * own.var_xx - own.together * own.together;
        if (!(area > 0)) {
            return;
        }
        out->a += (own.var_xx * (x - own.x) - own.together * (xx - own.xx)) / area;
        out->c += (own.var_x * (xx - own.xx) - own.together * (x - own.x)) / area;
        hold(out, levels);
        set_density(out);
        if (fabs(out->a - a) + fabs(out->c - c) < step_last * (1 + fabs(c))) {
            return;
        }
    }
}

/* 1 - cov(x, r)/var(r) */
static double nearer(const struct density *density, size_t levels)
{
    double x = 0, r = 0, rr = 0, xr = 0;
    for (size_t i = 0; i < GRID; i++) {
        const double own = density->at[i];
        const double at = middle(i, GRID);
        const double rounded = middle(level_of(i, levels), levels);
        x += own * at;
        r += own * rounded;
        rr += own * rounded * rounded;
        xr += own * at * rounded;
    }
    const double variance = rr - r * r;
    return variance > 0 ? fmin(fmax(1 - (xr - x * r) / variance, 0), 1) : 1;
}

void regress_rounding(double *nearer_by, const struct regress_cells *cells, size_t predictor)
{
    struct regress_levels level[REGRESS_PREDICTORS_MAX];
    struct density density;
    const size_t levels = cells->design->predictor[predictor].levels;
    double all = 0;
    regress_sum_levels(level, cells);
    double *share = level[predictor].sum;
    for (size_t k = 0; k < levels; k++) {
        all += share[k];
    }
    for (size_t k = 0; k < levels; k++) {
        share[k] = all > 0 ? share[k] / all : 1 / (double)levels;
    }
    fit(&density, share, levels);
    for (size_t n = 2; n <= REGRESS_LEVELS_MAX; n++) {
        nearer_by[n] = nearer(&density, n);
    }
}
