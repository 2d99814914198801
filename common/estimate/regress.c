/* regress.c - Newton's steps on noisy cells, and what a coefficient's interval is made of: regress.h. */

#include "estimate/regress.h"

#include "base/check.h"
#include "estimate/cells.h"
#include "estimate/regress_counts.h"
#include "estimate/regress_density.h"
#include "estimate/regress_score.h"
#include "estimate/regress_weights.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { STEPS_MAX = 100 };

static const double step_most = 1;     /* of a term, so that a first step does not overshoot */
static const double step_last = 1e-10; /* then the steps end */
static const double term_most = 25;
static const double events_least = 1.5; /* deviations of their noise, and of records without */

size_t regress_points(const struct regress_design *design)
{
    size_t points = 1;
    for (size_t i = 0; i < design->predictors; i++) {
        points *= design->predictor[i].levels;
    }
    return points;
}

size_t regress_slopes(const struct regress_design *design)
{
    size_t slopes = 0;
    for (size_t i = 0; i < design->predictors; i++) {
        slopes += design->predictor[i].is_number ? 1 : design->predictor[i].levels - 1;
    }
    return slopes;
}

/* Baselines and slopes. */
static size_t terms_of(const struct regress_design *design)
{
    return design->intervals + regress_slopes(design);
}

/* Adds a point's part, g = sum of score[i] z_i and the curves, to U and the lower half of H. */
static void add_point(double *u, double *h, const struct regress_design *design,
                      const struct regress_point *point, const struct regress_score *sum)
{
    const size_t k = design->intervals;
    const size_t n = terms_of(design);
    double score = 0;
    double curve = 0;
    for (size_t i = 0; i < k; i++) {
        u[i] += sum->score[i];
        h[i * n + i] += sum->curve[i];
        score += sum->score[i];
        curve += sum->curve[i];
    }
    for (size_t a = k; a < n; a++) {
        u[a] += score * point->x[a - k];
        for (size_t i = 0; i < k; i++) {
            h[a * n + i] += sum->curve[i] * point->x[a - k];
        }
        for (size_t c = k; c <= a; c++) {
            h[a * n + c] += curve * point->x[a - k] * point->x[c - k];
        }
    }
}

/* A slope that is left out stays at 0, and moves no other. */
static void keep_out(double *u, struct regress_fit *fit)
{
    const size_t n = fit->terms;
    for (size_t a = 0; a < n; a++) {
        for (size_t c = 0; c <= a; c++) {
            if (fit->is_out[a] || fit->is_out[c]) {
                fit->factor[a * n + c] = a == c ? 1 : 0;
            }
        }
        u[a] = fit->is_out[a] ? 0 : u[a];
    }
}

/* U and H at fit->b, H in fit->factor. */
static void derive(double *u, struct regress_fit *fit)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_asked asked = {design, fit->leaving, fit->is_out};
    const double *cell = fit->cells->cell;
    const double *weight = fit->weight;
    const double *raised = fit->raised;
    struct regress_point point;
    memset(u, 0, fit->terms * sizeof *u);
    memset(fit->factor, 0, sizeof fit->factor);
    regress_point_first(&point, design, fit->placed);
    do {
        double eta[REGRESS_INTERVALS_MAX];
        struct regress_score sum = {.count = design->intervals};
        regress_set_eta(eta, design, fit->b, &point);
        for (size_t y = 0; y < design->outcomes; y++, cell++) {
            struct regress_score one;
            regress_score(&one, &asked, eta, y);
            for (size_t i = 0; i < one.count; i++) {
                sum.score[i] += *weight * (*cell - fit->lifted[y] - *raised) * one.score[i];
                sum.curve[i] += *weight * (*cell - fit->lifted[y] - *raised) * one.curve[i];
            }
        }
        weight++;
        raised++;
        add_point(u, fit->factor, design, &point, &sum);
    } while (regress_point_next(&point, design));
    keep_out(u, fit);
}

static double mean_outcome(const struct regress_design *design, const double *sum)
{
    double all = 0;
    double weighted = 0;
    for (size_t y = 0; y < design->outcomes; y++) {
        all += sum[y];
        weighted += sum[y] * design->outcome[y];
    }
    return weighted / all;
}

/* Baselines for which slopes of 0 fit, and the shares that leave, as far as noise lets it be told. */
static void start(struct regress_fit *out, const double *sum)
{
    const struct regress_design *design = out->cells->design;
    const size_t k = design->intervals;
    switch (design->family) {
    case REGRESS_LOGISTIC: {
        const double p = cells_within(sum[1] / (sum[0] + sum[1]), 1e-3, 1 - 1e-3);
        out->b[0] = log(p / (1 - p));
        return;
    }
    case REGRESS_LINEAR:
        out->b[0] = mean_outcome(design, sum);
        return;
    case REGRESS_POISSON:
        out->b[0] = log(fmax(mean_outcome(design, sum), 1e-3));
        return;
    case REGRESS_HAZARD: {
        double later = sum[2 * k];
        for (size_t i = k; i-- > 0;) {
            later += sum[i] + sum[k + i];
            const double chance = sum[i] / (later - sum[k + i] / 2);
            out->b[i] = log(-log1p(-cells_within(chance, 1e-4, 0.9)));
            out->leaving[i] = cells_within(sum[k + i] / (later - sum[i] / 2), 0, 1);
        }
        return;
    }
    }
}

/* Begins with zeros. The arrays of points are long, so only the design's own points are cleared. */
static void clear(struct regress_fit *out, const struct regress_design *design)
{
    const size_t points = regress_points(design);
    const size_t places = points * design->predictors;
    const size_t behind = offsetof(struct regress_fit, columns);
    CHECK(points <= REGRESS_POINTS_MAX && design->predictors <= REGRESS_PREDICTORS_MAX);
    memset(out, 0, offsetof(struct regress_fit, weight));
    memset(out->weight, 0, points * sizeof *out->weight);
    memset(out->raised, 0, points * sizeof *out->raised);
    memset(out->placed, 0, places * sizeof *out->placed);
    memset(out->within, 0, places * sizeof *out->within);
    memset((char *)out + behind, 0, sizeof *out - behind);
}

void regress_solve(struct regress_fit *out, const struct regress_cells *cells)
{
    const struct regress_design *design = cells->design;
    double u[REGRESS_TERMS_MAX];
    double sum[REGRESS_OUTCOMES_MAX];
    struct regress_events events;
    clear(out, design);
    out->cells = cells;
    out->terms = terms_of(design);
    CHECK(out->terms <= REGRESS_TERMS_MAX && design->outcomes <= REGRESS_OUTCOMES_MAX);
    regress_sum_outcomes(sum, cells);
    out->mean_noise = regress_mean_noise(cells, sum);
    if (!(out->mean_noise <= REGRESS_MEAN_NOISE_MOST) ||
        (regress_sum_events(&events, cells, sum) &&
         fmin(events.with, events.without) <= events_least * events.noise)) {
        return;
    }
    regress_set_lifted(out, sum);
    start(out, sum);
    regress_leave_intervals_out(out, sum);
    regress_set_weights(out, sum);
    regress_place(out);
    for (int i = 0; i < STEPS_MAX && isfinite(out->b[0]); i++) {
        double largest = 0;
        derive(u, out);
        if (cholesky(out->factor, out->terms) != 0) {
            return;
        }
        cells_solve(out->factor, u, out->terms);
        for (size_t a = 0; a < out->terms; a++) {
            largest = fmax(largest, fabs(u[a]));
        }
        const double shorter = largest > step_most ? step_most / largest : 1;
        for (size_t a = 0; a < out->terms; a++) {
            out->b[a] += shorter * u[a];
            if (!(fabs(out->b[a]) <= term_most)) {
                return;
            }
        }
        if (largest < step_last) {
            out->is_solved = true;
            return;
        }
    }
}

bool regress_make_plain(struct regress_fit *out, const struct regress_fit *fit)
{
    double sum[REGRESS_OUTCOMES_MAX];
    double u[REGRESS_TERMS_MAX];
    *out = *fit;
    memset(out->b, 0, sizeof out->b);
    regress_sum_outcomes(sum, fit->cells);
    start(out, sum);
    derive(u, out);
    return cholesky(out->factor, out->terms) == 0;
}

/* Of a figure w'b. With A = H^-1 w it moves by A's_c with each record of a cell, and with noise by what that makes of covariances. */
struct moved {
    double value;
    double inverse;  /* w' H^-1 w */
    double sampling; /* variances */
    double noise;
    double z;             /* the 97.5 % point of the noise's standard deviations: heavier than a
                             normal's where few cells carry it */
    double inverse_noise; /* the deviation of inverse by noise, over it */
    double with_inverse;  /* how far value moves where that noise is one deviation */
    struct regress_counted counted;
};

static struct moved moved_by(const struct regress_fit *fit, const double *weight)
{
    const struct regress_design *design = fit->cells->design;
    const struct regress_asked asked = {design, fit->leaving, fit->is_out};
    const double *cell = fit->cells->cell;
    const double *of_point = fit->weight;
    const double m = (double)fit->cells->m;
    struct moved out = {.z = ESTIMATE_Z};
    struct regress_point point;
    double a[REGRESS_TERMS_MAX];
    double by[REGRESS_POINTS_MAX];
    const double *by_point = by;
    double sum = 0, square = 0, fourth = 0, bend_sum = 0, bend_square = 0, joint = 0;
    struct regress_counting counting = {.all = {.sum = 0}};

    memcpy(a, weight, fit->terms * sizeof *a);
    cells_solve(fit->factor, a, fit->terms);
    for (size_t i = 0; i < fit->terms; i++) {
        out.value += weight[i] * fit->b[i];
        out.inverse += weight[i] * a[i];
    }
    regress_by_covariance(by, fit, a);
    regress_point_first(&point, design, fit->placed);
    do {
        double eta[REGRESS_INTERVALS_MAX];
        double along[REGRESS_INTERVALS_MAX] = {0}; /* A'z_i */
        regress_set_eta(eta, design, fit->b, &point);
        regress_set_eta(along, design, a, &point);
        for (size_t y = 0; y < design->outcomes; y++, cell++) {
            struct regress_score one;
            double moves = 0;
            double bends = 0;
            regress_score(&one, &asked, eta, y);
            for (size_t i = 0; i < one.count; i++) {
                moves += one.score[i] * along[i];
                bends += one.curve[i] * along[i] * along[i];
            }
            moves *= *of_point;
            bends *= *of_point;
            out.sampling += (*cell - fit->lifted[y]) * moves * moves;
            moves += *by_point;
            sum += moves;
            square += moves * moves;
            fourth += moves * moves * moves * moves;
            if (design->family == REGRESS_POISSON) {
                const double tells = *of_point * along[0] * along[0];
                regress_count(&counting.all, design->outcome[y], moves);
                regress_count(&counting.own, tells * design->outcome[y], moves);
            }
            bend_sum += bends;
            bend_square += bends * bends;
            joint += moves * bends;
        }
        of_point++;
        by_point++;
    } while (regress_point_next(&point, design));
    out.sampling = fmax(out.sampling, 0);
    out.noise = fit->cells->variance * fmax(square - sum * sum / m, 0);
    out.counted = regress_counted(fit, weight, &counting, sum, out.inverse);
    out.sampling += regress_by_shape(fit, weight, a, out.sampling + out.noise);
    out.z += square > 0 ? (ESTIMATE_Z_NOISE - ESTIMATE_Z) * fourth / (square * square) : 0;
    const double bent = sqrt(fit->cells->variance * fmax(bend_square - bend_sum * bend_sum / m, 0));
    out.inverse_noise = bent / out.inverse;
    out.with_inverse = bent > 0 ? fit->cells->variance * (joint - sum * bend_sum / m) / bent : 0;
    return out;
}

/* A category's coefficient of a linear regression is a sum divided by its records. It is given only where these are many, so that noise
 * has often added some: as many, at most, as one study in a hundred has. Without them the sum is divided by less, and so are sampling
 * and noise. Returns how many times less, 1 where it is no such coefficient; *by: how far that moves the coefficient. Intervals of
 * logistic regressions and hazards are wide enough (docs/STUDY.md), and regress_counts.c does it for counts. */
static double moved_by_choice(double *by, const struct regress_fit *fit, const struct moved *moved,
                              const double *weight)
{
    *by = 0;
    if (fit->cells->design->family != REGRESS_LINEAR || !(moved->inverse_noise > 0) ||
        !regress_is_of_category(fit, weight)) {
        return 1;
    }
    const double by_chance = normal_shown_most(1 / moved->inverse_noise - 1 / REGRESS_NOISE_MOST);
    const double times = 1 / (1 - by_chance * moved->inverse_noise);
    *by = -by_chance * moved->with_inverse * times;
    return times;
}

static struct table1_figure figure_of(const struct regress_fit *fit, const double *weight)
{
    struct table1_figure out = {
        .estimate = {NAN, NAN, NAN, NAN, NAN}, .noise_low = NAN, .noise_high = NAN, .factor = NAN};
    if (!fit->is_solved || regress_lacks(fit, weight) != REGRESS_LACKS_NOTHING) {
        return out;
    }
    const struct moved moved = moved_by(fit, weight);
    const double heavier = moved.z / ESTIMATE_Z;
    const double doubt = hypot(moved.inverse_noise, fit->mean_noise);
    const double kept = 1 - ESTIMATE_Z * ESTIMATE_Z * doubt * doubt;
    const enum regress_family family = fit->cells->design->family;
    const double fieller =
        family == REGRESS_LOGISTIC || family == REGRESS_LINEAR ? sqrt(kept) : kept;
    const double sampling = sqrt(moved.sampling) * regress_by_few(fit, weight);
    const double half = ESTIMATE_Z * hypot(sampling, heavier * sqrt(moved.noise)) / fieller +
                        moved.counted.moved_by_all;
    const double hidden = regress_level_noise(fit, weight);
    out.factor = fmax(moved.inverse_noise / REGRESS_NOISE_MOST, moved.counted.factor);
    out.factor = hidden < 1 ? out.factor : fmax(out.factor, hidden);
    if (!(out.factor < 1) || !(half > 0)) {
        return out;
    }
    double by = 0;
    const double times = moved_by_choice(&by, fit, &moved, weight);
    const double further = (times - 1) * half;
    out.estimate = (struct estimate){
        moved.value, moved.value - half - fmax(moved.counted.too_high, further - by),
        moved.value + half + fmax(moved.counted.too_low, further + by), sqrt(moved.noise),
        sqrt(moved.sampling)};
    return out;
}

/* Whether the released levels cannot be those of a reading. */
static bool is_ruled_out(const struct regress_fit *fit, const double *weight)
{
    return regress_lacks(fit, weight) == REGRESS_LACKS_SMOOTH;
}

struct table1_figure regress_figure(const struct regress_fit *fit, const double *weight)
{
    struct table1_figure out = figure_of(fit, weight);
    if (fit->other == NULL || isnan(out.estimate.value) || is_ruled_out(fit->other, weight)) {
        return out;
    }
    const struct table1_figure other = figure_of(fit->other, weight);
    if (isnan(other.estimate.value)) {
        return other;
    }
    out.estimate.low = fmin(out.estimate.low, other.estimate.low);
    out.estimate.high = fmax(out.estimate.high, other.estimate.high);
    return out;
}

bool regress_covers_both(const struct regress_fit *fit, const double *weight)
{
    return fit->other != NULL && !is_ruled_out(fit->other, weight);
}

double regress_test(const struct table1_figure *figure)
{
    const struct estimate *own = &figure->estimate;
    const double half = own->value > 0 ? own->value - own->low : own->high - own->value;
    return erfc(ESTIMATE_Z * fabs(own->value) / half / sqrt(2));
}
