/* standin.c - the rows are normal numbers of a fixed seed (features_normal.h), centred, then
 * multiplied by the symmetric root of their covariance's inverse, so that no chance is left in their
 * first two moments. A step is Newton's method. Undamped, it diverges where the ridge is small and
 * the solution far away. Such a ridge is refused anyway, so the method stops once that is sure. */

#include "learn/standin.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/features_normal.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MIN = 800, PER_FEATURE = 40, COUNT_MAX = 2560, SEED = 7, BLOCK_ROWS = 128 };
enum { NEWTON_STEPS_MAX = 30 };

#define SCORE_MOST  40.0   /* beyond, p is 0 or 1 in doubles */
#define TINY        1e-300 /* a norm that no division minds */
#define CURVE_LEAST 1e-12  /* where all p are 0 or 1 */
#define RADIUS      3.0    /* a move further than this trusts the rows too much */
#define RIDGE_MOST  1e6
#define STEP_ENOUGH 1e-8
#define UP          (1 + 0x1p-20) /* above all roundings of a comparison */

size_t standin_count(size_t feature_count)
{
    const size_t count = PER_FEATURE * feature_count;
    return count < COUNT_MIN ? COUNT_MIN : count > COUNT_MAX ? COUNT_MAX : count;
}

/* Draws x (N, d), centred by column. */
static void draw(double *x, size_t count, size_t d)
{
    struct public_random random = public_random_from(SEED);
    for (size_t i = 0; i < count * d; i++) {
        x[i] = public_random_normal(&random);
    }
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += x[i * d + j];
        }
        for (size_t i = 0; i < count; i++) {
            x[i * d + j] -= sum / (double)count;
        }
    }
}

enum status standin_root(double *root, const double *matrix, size_t n, double floor, double added)
{
    double *vector = calloc(2 * n * n + n, sizeof *vector); /* (n, n) one behind the other */
    enum status status = STATUS_NO_MEMORY;
    if (vector == NULL) {
        return status;
    }
    double *scaled = vector + n * n;
    double *value = scaled + n * n;
    memcpy(vector, matrix, n * n * sizeof *matrix);
    const lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, vector, (lapack_int)n, value);
    if (info != 0) {
        status = info == LAPACK_WORK_MEMORY_ERROR ? STATUS_NO_MEMORY : STATUS_INVALID;
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        const double factor = 1 / sqrt(fmax(value[i], floor) + added);
        for (size_t j = 0; j < n; j++) {
            scaled[i * n + j] = factor * vector[i * n + j];
        }
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, scaled, (int)n,
                vector, (int)n, 0, root, (int)n);
    status = STATUS_OK;
done:
    free(vector);
    return status;
}

/* Fills the rows with x times the inverse root of its covariance, a constant, and their norms. */
static enum status whiten(struct standin *standin, const double *x, double *matrix, bool gaussian)
{
    const size_t d = standin->width - 1;
    const int n = (int)d;
    double *root = matrix + d * d;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, (int)standin->count,
                1 / (double)standin->count, x, n, x, n, 0, matrix, n);
    const enum status status = standin_root(root, matrix, d, CURVE_LEAST, 0);
    if (status != STATUS_OK) {
        return status;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)standin->count, n, n, 1, x, n, root,
                n, 0, standin->row, n + 1);
    for (size_t i = 0; i < standin->count; i++) {
        double *u = standin->row + i * standin->width;
        u[d] = 1;
        standin->norm[i] = gaussian ? sqrt(dense_dot(u, u, d + 1)) : cblas_dasum(n + 1, u, 1);
    }
    return STATUS_OK;
}

enum status standin_init(struct standin *standin, size_t feature_count, bool gaussian)
{
    const size_t count = standin_count(feature_count);
    const size_t width = feature_count + 1;
    double *x = calloc(count * feature_count, sizeof *x);
    double *matrix = calloc(2 * feature_count * feature_count, sizeof *matrix);
    enum status status = STATUS_NO_MEMORY;
    CHECK(feature_count > 0 && feature_count <= STANDIN_FEATURES_MAX);
    *standin = (struct standin){.count = count, .width = width};
    standin->row = calloc(count * width, sizeof *standin->row);
    standin->norm = calloc(count * 6, sizeof *standin->norm);
    if (x != NULL && matrix != NULL && standin->row != NULL && standin->norm != NULL) {
        standin->p = standin->norm + count;
        standin->spare = standin->p + count;
        draw(x, count, feature_count);
        status = whiten(standin, x, matrix, gaussian);
    }
    free(x);
    free(matrix);
    if (status != STATUS_OK) {
        standin_free(standin);
    }
    return status;
}

void standin_free(struct standin *standin)
{
    free(standin->row);
    free(standin->norm);
    *standin = (struct standin){0};
}

/* out (N) = the probabilities of label 1 under v. */
static void probabilities(double *out, const struct standin *standin, const double *v)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)standin->count, (int)standin->width, 1,
                standin->row, (int)standin->width, v, 1, 0, out, 1);
    for (size_t i = 0; i < standin->count; i++) {
        out[i] = 1 / (1 + exp(-fmin(fmax(out[i], -SCORE_MOST), SCORE_MOST)));
    }
}

/* out (D) = the mean of factor_i u_i. */
static void combine(double *out, const struct standin *standin, const double *factor)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)standin->count, (int)standin->width,
                1 / (double)standin->count, standin->row, (int)standin->width, factor, 1, 0, out,
                1);
}

void standin_set(struct standin *standin, const double *v)
{
    probabilities(standin->p, standin, v);
}

double standin_curvature(const struct standin *standin)
{
    double sum = 0;
    for (size_t i = 0; i < standin->count; i++) {
        sum += standin->p[i] * (1 - standin->p[i]);
    }
    return fmax(sum / (double)standin->count, CURVE_LEAST);
}

/* The norm of a row's gradient under one label, and how much it adds to the total in expectation. */
struct gradient_size {
    double norm;
    double mass;
};

static int by_norm(const void *a, const void *b)
{
    const double left = ((const struct gradient_size *)a)->norm;
    const double right = ((const struct gradient_size *)b)->norm;
    return (left > right) - (left < right);
}

double standin_clip(struct standin *standin, double quantile)
{
    const size_t n = standin->count;
    struct gradient_size *size = (struct gradient_size *)(void *)standin->spare;
    double total = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double p = standin->p[i];
        size[2 * i].norm = (1 - p) * standin->norm[i];
        size[2 * i].mass = p * size[2 * i].norm;
        size[2 * i + 1].norm = p * standin->norm[i];
        size[2 * i + 1].mass = (1 - p) * size[2 * i + 1].norm;
    }
    qsort(size, 2 * n, sizeof *size, by_norm);
    for (size_t i = 0; i < 2 * n; i++) {
        total += size[i].mass;
    }
    for (size_t i = 0; i < 2 * n; i++) {
        sum += size[i].mass;
        if (sum >= quantile * total) {
            return fmax(size[i].norm, STANDIN_CLIP_LEAST);
        }
    }
    return fmax(size[2 * n - 1].norm, STANDIN_CLIP_LEAST);
}

void standin_gradient(double *mean, struct standin *standin, double clip)
{
    double *factor = standin->spare;
    for (size_t i = 0; i < standin->count; i++) {
        const double p = standin->p[i];
        const double of_one = fmin(1, clip / fmax((1 - p) * standin->norm[i], TINY));
        const double of_zero = fmin(1, clip / fmax(p * standin->norm[i], TINY));
        factor[i] = p * (p - 1) * of_one + (1 - p) * p * of_zero;
    }
    combine(mean, standin, factor);
}

/* matrix (D, D), lower triangle = mean curve_i u_i u_i' + ridge I */
static void hessian(double *matrix, double *block, const struct standin *standin,
                    const double *curve, double ridge)
{
    const size_t width = standin->width;
    memset(matrix, 0, width * width * sizeof *matrix);
    for (size_t first = 0; first < standin->count; first += BLOCK_ROWS) {
        const size_t left = standin->count - first;
        const size_t rows = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        for (size_t i = 0; i < rows; i++) {
            const double root = sqrt(curve[first + i] / (double)standin->count);
            const double *u = standin->row + (first + i) * width;
            for (size_t j = 0; j < width; j++) {
                block[i * width + j] = root * u[j];
            }
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)width, (int)rows, 1, block,
                    (int)width, 1, matrix, (int)width);
    }
    for (size_t j = 0; j < width; j++) {
        matrix[j * width + j] += ridge;
    }
}

/* One equation of standin_move(). */
struct equation {
    const struct standin *standin;
    const double *from;   /* (D) */
    const double *kept;   /* (N) w */
    const double *target; /* (D) mean w u p - g */
    double ridge;
    double *matrix; /* (D, D) */
    double *block;  /* (BLOCK_ROWS, D) */
    double *p;      /* (N) */
    double *curve;  /* (N) */
    double *step;   /* (D) */
};

static double distance(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* Whether the solution is further than RADIUS from `from`, seen from the left-hand side r at some v. As
 * r grows with v, <r, v - solution> >= 0; within the radius that is at most
 * <r, v - from> + RADIUS |r|. */
static bool leads_too_far(const double *r, const double *v, const double *from, size_t width)
{
    double along = 0;
    for (size_t j = 0; j < width; j++) {
        along += r[j] * (v[j] - from[j]);
    }
    return along + RADIUS * UP * cblas_dnrm2((int)width, r, 1) < 0;
}

/* Pulls v back to twice the radius: from there the method converges where it else diverges. */
static void pull_back(double *v, const double *from, size_t width)
{
    const double length = distance(v, from, width);
    for (size_t j = 0; length > 2 * RADIUS && j < width; j++) {
        v[j] = from[j] + (v[j] - from[j]) * (2 * RADIUS / length);
    }
}

/* Solves it by Newton's method from `from`; v out (D). If it may not go `anywhere`, returns false as
 * soon as the solution is known to be too far away. */
static bool solve(double *v, const struct equation *equation, bool anywhere)
{
    const struct standin *standin = equation->standin;
    const size_t width = standin->width;
    double *r = equation->step;
    double largest = HUGE_VAL;
    memcpy(v, equation->from, width * sizeof *v);
    for (int i = 0; i < NEWTON_STEPS_MAX && largest >= STEP_ENOUGH; i++) {
        double *p = equation->p;
        probabilities(p, standin, v);
        for (size_t j = 0; j < standin->count; j++) {
            equation->curve[j] = equation->kept[j] * p[j] * (1 - p[j]);
            p[j] *= equation->kept[j];
        }
        combine(r, standin, p);
        for (size_t j = 0; j < width; j++) {
            r[j] += equation->ridge * (v[j] - equation->from[j]) - equation->target[j];
        }
        if (!anywhere && leads_too_far(r, v, equation->from, width)) {
            return false;
        }
        hessian(equation->matrix, equation->block, standin, equation->curve, equation->ridge);
        if (!cholesky_factor(equation->matrix, width)) {
            break;
        }
        cholesky_solve(equation->matrix, r, width);
        dense_axpy(v, -1, r, width);
        if (!anywhere) {
            pull_back(v, equation->from, width);
        }
        largest = fabs(r[cblas_idamax((int)width, r, 1)]);
    }
    return anywhere || distance(v, equation->from, width) <= RADIUS;
}

/* Tries larger ridges until the move is short. No eigenvalue of mean w p (1 - p) u u' is above 1/4,
 * as the mean of u u' is I. So the move is at least |g|/(1/4 + ridge), and a ridge for which that is
 * too far need not be tried. */
static void move(double *v, struct equation *equation, const double *g)
{
    const size_t width = equation->standin->width;
    const double norm = cblas_dnrm2((int)width, g, 1);
    for (bool done = false; !done;) {
        const bool last = equation->ridge > RIDGE_MOST;
        done = (last || norm <= RADIUS * UP * (0.25 + equation->ridge)) && solve(v, equation, last);
        equation->ridge *= 3;
    }
}

enum status standin_move(double *v, struct standin *standin, const double *g, double clip,
                         double ridge)
{
    const size_t n = standin->count;
    const size_t width = standin->width;
    double *own = calloc(width * (width + BLOCK_ROWS + 3), sizeof *own);
    double *kept = standin->spare;
    if (own == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *target = own + width * (width + BLOCK_ROWS);
    double *from = target + width;
    struct equation equation = {.standin = standin,
                                .from = from,
                                .kept = kept,
                                .target = target,
                                .ridge = ridge,
                                .matrix = own,
                                .block = own + width * width,
                                .p = kept + n,
                                .curve = kept + 2 * n,
                                .step = from + width};
    for (size_t i = 0; i < n; i++) {
        const double p = standin->p[i];
        kept[i] =
            p * ((1 - p) * standin->norm[i] <= clip) + (1 - p) * (p * standin->norm[i] <= clip);
        equation.p[i] = kept[i] * p;
    }
    combine(target, standin, equation.p);
    dense_axpy(target, -1, g, width);
    memcpy(from, v, width * sizeof *v);
    move(v, &equation, g);
    free(own);
    return STATUS_OK;
}
