/* standin.c - the rows are normal numbers of a fixed seed (features_normal.h), centred, then
 * multiplied by the symmetric root of their covariance's inverse, so that no chance is left in their
 * first two moments. A step is Newton's method, each of whose equations conjugate gradients solve:
 * the Hessian is never formed. Undamped, Newton's method diverges where the ridge is small and the
 * solution far away. Such a ridge is refused anyway, so the method stops once that is sure. */

#include "learn/standin.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/features_normal.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MIN = 800, PER_FEATURE = 40, COUNT_MAX = 2560, SEED = 7 };
enum { NEWTON_STEPS_MAX = 10, CONJUGATE_STEPS_MAX = 40 };

#define SCORE_MOST  40.0   /* beyond, p is 0 or 1 in doubles */
#define TINY        1e-300 /* a norm that no division minds */
#define CURVE_LEAST 1e-12  /* where all p are 0 or 1 */
#define RADIUS      3.0    /* a move further than this trusts the rows too much */
#define RIDGE_MOST  1e6
#define STEP_ENOUGH 1e-8
#define REST_ENOUGH 1e-4          /* of an equation, of its beginning */
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
static enum status whiten(struct standin *standin, const double *x, double *matrix)
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
        standin->norm[i] =
            standin->gaussian ? sqrt(dense_dot(u, u, d + 1)) : cblas_dasum(n + 1, u, 1);
    }
    return STATUS_OK;
}

/* Room for the rows of a standin whose sizes are set. */
static enum status reserve(struct standin *standin)
{
    const size_t count = standin->count;
    const size_t outputs = standin->outputs;
    standin->row = calloc(count * standin->width, sizeof *standin->row);
    standin->norm = calloc(count * (3 * outputs + 5), sizeof *standin->norm);
    if (standin->row == NULL || standin->norm == NULL) {
        standin_free(standin);
        return STATUS_NO_MEMORY;
    }
    standin->p = standin->norm + count;
    standin->spare = standin->p + count * outputs;
    return STATUS_OK;
}

enum status standin_copy(struct standin *copy, const struct standin *standin)
{
    *copy = (struct standin){.count = standin->count,
                             .width = standin->width,
                             .outputs = standin->outputs,
                             .gaussian = standin->gaussian};
    const enum status status = reserve(copy);
    if (status == STATUS_OK) {
        memcpy(copy->row, standin->row, copy->count * copy->width * sizeof *copy->row);
        memcpy(copy->norm, standin->norm, copy->count * sizeof *copy->norm);
    }
    return status;
}

enum status standin_init(struct standin *standin, size_t feature_count, size_t outputs,
                         bool gaussian)
{
    return standin_init_rows(standin, standin_count(feature_count), feature_count, outputs,
                             gaussian);
}

enum status standin_init_rows(struct standin *standin, size_t count, size_t feature_count,
                              size_t outputs, bool gaussian)
{
    const size_t width = feature_count + 1;
    double *x = calloc(count * feature_count, sizeof *x);
    double *matrix = calloc(2 * feature_count * feature_count, sizeof *matrix);
    enum status status = STATUS_NO_MEMORY;
    CHECK(feature_count > 0 && feature_count <= STANDIN_FEATURES_MAX && outputs > 0 &&
          outputs != 2 && count > feature_count);
    *standin =
        (struct standin){.count = count, .width = width, .outputs = outputs, .gaussian = gaussian};
    if (x != NULL && matrix != NULL && reserve(standin) == STATUS_OK) {
        draw(x, count, feature_count);
        status = whiten(standin, x, matrix);
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

/* Labels: 0 and 1, or one for each output. */
static size_t label_count(const struct standin *standin)
{
    return standin->outputs == 1 ? 2 : standin->outputs;
}

/* p is a row's probabilities (m); those of label 1 alone where there is one output. */
static double chance_of(const double *p, size_t outputs, size_t label)
{
    return outputs > 1 ? p[label] : label == 1 ? p[0] : 1 - p[0];
}

static double target_of(size_t outputs, size_t output, size_t label)
{
    return (outputs == 1 ? label == 1 : label == output) ? 1 : 0;
}

/* The norm of row i's gradient (p - y) u under the label. */
static double gradient_norm(const struct standin *standin, size_t i, size_t label)
{
    const size_t m = standin->outputs;
    const double *p = standin->p + i * m;
    const double missed = m > 1 ? 1 - p[label] : label == 1 ? 1 - p[0] : p[0];
    if (m == 1) {
        return missed * standin->norm[i];
    }
    if (!standin->gaussian) {
        return 2 * missed * standin->norm[i];
    }
    const double squares = dense_dot(p, p, m) - p[label] * p[label] + missed * missed;
    return sqrt(squares) * standin->norm[i];
}

/* One row's scores (m) become probabilities. */
static void normalise(double *p, size_t m)
{
    double most = -HUGE_VAL;
    double sum = 0;
    if (m == 1) {
        p[0] = 1 / (1 + exp(-fmin(fmax(p[0], -SCORE_MOST), SCORE_MOST)));
        return;
    }
    for (size_t o = 0; o < m; o++) {
        most = fmax(most, p[o]);
    }
    for (size_t o = 0; o < m; o++) {
        p[o] = exp(fmax(p[o] - most, -SCORE_MOST));
        sum += p[o];
    }
    for (size_t o = 0; o < m; o++) {
        p[o] /= sum;
    }
}

/* out (N, m) = <u_i, v_o> */
static void scores(double *out, const struct standin *standin, const double *v)
{
    if (standin->outputs == 1) { /* a matrix of one column costs more to pack than to multiply */
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)standin->count, (int)standin->width, 1,
                    standin->row, (int)standin->width, v, 1, 0, out, 1);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)standin->count, (int)standin->outputs,
                (int)standin->width, 1, standin->row, (int)standin->width, v, (int)standin->width,
                0, out, (int)standin->outputs);
}

static void probabilities(double *out, const struct standin *standin, const double *v)
{
    scores(out, standin, v);
    for (size_t i = 0; i < standin->count; i++) {
        normalise(out + i * standin->outputs, standin->outputs);
    }
}

/* out (m, D) = the mean of factor_io u_i. factor (N, m) */
static void combine(double *out, const struct standin *standin, const double *factor)
{
    if (standin->outputs == 1) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)standin->count, (int)standin->width,
                    1 / (double)standin->count, standin->row, (int)standin->width, factor, 1, 0,
                    out, 1);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)standin->outputs, (int)standin->width,
                (int)standin->count, 1 / (double)standin->count, factor, (int)standin->outputs,
                standin->row, (int)standin->width, 0, out, (int)standin->width);
}

void standin_set(struct standin *standin, const double *v)
{
    probabilities(standin->p, standin, v);
}

void standin_curvature(double *h, const struct standin *standin)
{
    const size_t m = standin->outputs;
    for (size_t o = 0; o < m; o++) {
        double sum = 0;
        for (size_t i = 0; i < standin->count; i++) {
            sum += standin->p[i * m + o] * (1 - standin->p[i * m + o]);
        }
        h[o] = fmax(sum / (double)standin->count, CURVE_LEAST);
    }
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
    const size_t labels = label_count(standin);
    const size_t n = standin->count * labels;
    struct gradient_size *size = (struct gradient_size *)(void *)standin->spare;
    double total = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = standin->p + i / labels * standin->outputs;
        size[i].norm = gradient_norm(standin, i / labels, i % labels);
        size[i].mass = chance_of(p, standin->outputs, i % labels) * size[i].norm;
    }
    qsort(size, n, sizeof *size, by_norm);
    for (size_t i = 0; i < n; i++) {
        total += size[i].mass;
    }
    for (size_t i = 0; i < n; i++) {
        sum += size[i].mass;
        if (sum >= quantile * total) {
            return fmax(size[i].norm, STANDIN_CLIP_LEAST);
        }
    }
    return fmax(size[n - 1].norm, STANDIN_CLIP_LEAST);
}

void standin_gradient(double *mean, struct standin *standin, double clip)
{
    const size_t m = standin->outputs;
    double *factor = standin->spare;
    memset(factor, 0, standin->count * m * sizeof *factor);
    for (size_t i = 0; i < standin->count; i++) {
        const double *p = standin->p + i * m;
        for (size_t label = 0; label < label_count(standin); label++) {
            const double kept = fmin(1, clip / fmax(gradient_norm(standin, i, label), TINY));
            for (size_t o = 0; o < m; o++) {
                factor[i * m + o] +=
                    chance_of(p, m, label) * kept * (p[o] - target_of(m, o, label));
            }
        }
    }
    combine(mean, standin, factor);
}

/* One equation of standin_move(). A vector has m blocks of D numbers, one for each output. */
struct equation {
    const struct standin *standin;
    const double *from;   /* (m, D) */
    const double *kept;   /* (N) w */
    const double *target; /* (m, D) mean w u p - g */
    double *ridge;        /* (m) */
    double *p;            /* (N, m) */
    double *score;        /* (N, m) */
    double *rest;         /* (m, D) the left-hand side less the right one */
    double *step;         /* (m, D) */
    double *conjugate;    /* (3, m, D) */
};

static double distance(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* Whether the solution is further than RADIUS from `from` in some block, seen from the rest r at some v.
 * As r grows with v, <r, v - solution> >= 0; within the radius that is at most
 * <r, v - from> + RADIUS sum |r_o|. */
static bool leads_too_far(const struct equation *equation, const double *v)
{
    const size_t width = equation->standin->width;
    double most = 0;
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        const double *r = equation->rest + o * width;
        for (size_t j = 0; j < width; j++) {
            most += r[j] * (v[o * width + j] - equation->from[o * width + j]);
        }
        most += RADIUS * UP * cblas_dnrm2((int)width, r, 1);
    }
    return most < 0;
}

/* Pulls v's blocks back to twice the radius: from there the method converges where it else diverges. */
static void pull_back(const struct equation *equation, double *v)
{
    const size_t width = equation->standin->width;
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        const double *from = equation->from + o * width;
        double *block = v + o * width;
        const double length = distance(block, from, width);
        for (size_t j = 0; length > 2 * RADIUS && j < width; j++) {
            block[j] = from[j] + (block[j] - from[j]) * (2 * RADIUS / length);
        }
    }
}

/* rest = mean w u p(v) + ridge (v - from) - target */
static void find_rest(struct equation *equation, const double *v)
{
    const struct standin *standin = equation->standin;
    const size_t m = standin->outputs;
    probabilities(equation->p, standin, v);
    for (size_t i = 0; i < standin->count * m; i++) {
        equation->score[i] = equation->kept[i / m] * equation->p[i];
    }
    combine(equation->rest, standin, equation->score);
    for (size_t j = 0; j < m * standin->width; j++) {
        equation->rest[j] +=
            equation->ridge[j / standin->width] * (v[j] - equation->from[j]) - equation->target[j];
    }
}

/* out (m, D) = the Hessian times x: mean w u J <u, x> + ridge x, J = diag p - p p', or p (1 - p). */
static void multiply(double *out, const struct equation *equation, const double *x)
{
    const struct standin *standin = equation->standin;
    const size_t m = standin->outputs;
    scores(equation->score, standin, x);
    for (size_t i = 0; i < standin->count; i++) {
        const double *p = equation->p + i * m;
        double *t = equation->score + i * m;
        const double mean = dense_dot(p, t, m); /* also of one output, whose other label scores 0 */
        for (size_t o = 0; o < m; o++) {
            t[o] = equation->kept[i] * p[o] * (t[o] - mean);
        }
    }
    combine(out, standin, equation->score);
    for (size_t j = 0; j < m * standin->width; j++) {
        out[j] += equation->ridge[j / standin->width] * x[j];
    }
}

/* factor (m): about the Hessian's diagonal in each block, as the mean of u u' is I. */
static void find_scale(double *factor, const struct equation *equation)
{
    const struct standin *standin = equation->standin;
    const size_t m = standin->outputs;
    for (size_t o = 0; o < m; o++) {
        double sum = 0;
        for (size_t i = 0; i < standin->count; i++) {
            const double p = equation->p[i * m + o];
            sum += equation->kept[i] * p * (1 - p);
        }
        factor[o] = 1 / (sum / (double)standin->count + equation->ridge[o]);
    }
}

/* step = the Hessian's inverse times rest, by conjugate gradients; rest is used up. */
static void find_step(struct equation *equation)
{
    const size_t width = equation->standin->width;
    const size_t count = equation->standin->outputs * width;
    double factor[STANDIN_OUTPUTS_MAX];
    double *rest = equation->rest;
    double *scaled = equation->conjugate;
    double *along = scaled + count;
    double *turned = along + count;
    double power = 0;
    find_scale(factor, equation);
    memset(equation->step, 0, count * sizeof *equation->step);
    const double enough = REST_ENOUGH * cblas_dnrm2((int)count, rest, 1);
    for (int i = 0; i < CONJUGATE_STEPS_MAX && cblas_dnrm2((int)count, rest, 1) > enough; i++) {
        for (size_t j = 0; j < count; j++) {
            scaled[j] = factor[j / width] * rest[j];
        }
        const double next = dense_dot(rest, scaled, count);
        for (size_t j = 0; j < count; j++) {
            along[j] = scaled[j] + (i == 0 ? 0 : next / power * along[j]);
        }
        power = next;
        multiply(turned, equation, along);
        const double length = power / dense_dot(along, turned, count);
        dense_axpy(equation->step, length, along, count);
        dense_axpy(rest, -length, turned, count);
    }
}

/* Whether a block of v is further than RADIUS from where it was. */
static bool is_far(const struct equation *equation, const double *v, size_t output)
{
    const size_t width = equation->standin->width;
    return distance(v + output * width, equation->from + output * width, width) > RADIUS;
}

static bool any_is_far(const struct equation *equation, const double *v)
{
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        if (is_far(equation, v, o)) {
            return true;
        }
    }
    return false;
}

/* Solves it by Newton's method from `from`; v out (m, D). If it may not go `anywhere`, returns false as
 * soon as the solution is known to be too far away, and where the steps were too few: more ridge needs
 * fewer. */
static bool solve(double *v, struct equation *equation, bool anywhere)
{
    const size_t count = equation->standin->outputs * equation->standin->width;
    double largest = HUGE_VAL;
    memcpy(v, equation->from, count * sizeof *v);
    for (int i = 0; i < NEWTON_STEPS_MAX && largest >= STEP_ENOUGH; i++) {
        find_rest(equation, v);
        if (!anywhere && leads_too_far(equation, v)) {
            return false;
        }
        find_step(equation);
        dense_axpy(v, -1, equation->step, count);
        if (!anywhere) {
            pull_back(equation, v);
        }
        largest = fabs(equation->step[cblas_idamax((int)count, equation->step, 1)]);
    }
    return anywhere || (largest < STEP_ENOUGH && !any_is_far(equation, v));
}

/* Triples the ridges of the blocks that are too far, or of all if none is. */
static void raise_ridges(struct equation *equation, const double *v)
{
    const bool all = !any_is_far(equation, v);
    for (size_t o = 0; o < equation->standin->outputs; o++) {
        equation->ridge[o] *= all || is_far(equation, v, o) ? 3 : 1;
    }
}

/* Tries larger ridges until the move is short. No eigenvalue of mean w J u u' is above 1/2 (one output:
 * 1/4), as the mean of u u' is I. So the move is at least |g|/(1/2 + ridge), and ridges for which that
 * is too far need not be tried. */
static void move(double *v, struct equation *equation, const double *g)
{
    const size_t m = equation->standin->outputs;
    const double norm = cblas_dnrm2((int)(m * equation->standin->width), g, 1);
    const double steepest = m == 1 ? 0.25 : 0.5;
    for (;;) {
        const double ridge = equation->ridge[cblas_idamax((int)m, equation->ridge, 1)];
        const bool last = ridge > RIDGE_MOST;
        const bool near = norm <= sqrt((double)m) * RADIUS * UP * (steepest + ridge);
        if ((last || near) && solve(v, equation, last)) {
            return;
        }
        raise_ridges(equation, v);
    }
}

/* How much of a change of a row's probabilities the clipped gradients show, w. With k_y the share of its gradient that the
 * clip leaves under label y, a change e_y of their chances moves the mean gradient by
 *     sum e_y k_y (p - y) u,
 * of output o by -e_o (k_o (1 - p_o) + p_o k), if k is the mean of k_y over the other labels. That is exact for two labels.
 * Of more, w is the mean over o, each weighed by p_o (1 - p_o). */
static double kept_of(const struct standin *standin, size_t row, double clip)
{
    const size_t m = standin->outputs;
    const double *p = standin->p + row * m;
    double squares = 0;
    double sum = 0;
    for (size_t label = 0; label < label_count(standin); label++) {
        const double chance = chance_of(p, m, label);
        squares += chance * chance;
    }
    for (size_t label = 0; label < label_count(standin); label++) {
        const double chance = chance_of(p, m, label);
        const double kept = fmin(1, clip / fmax(gradient_norm(standin, row, label), TINY));
        sum += chance * kept * (1 - 2 * chance + squares);
    }
    return sum / fmax(1 - squares, CURVE_LEAST);
}

enum status standin_move(double *v, struct standin *standin, const double *g, double clip,
                         double *ridge)
{
    const size_t n = standin->count;
    const size_t m = standin->outputs;
    const size_t count = m * standin->width;
    double *own = calloc(7 * count, sizeof *own);
    double *kept = standin->spare;
    if (own == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct equation equation = {.standin = standin,
                                .from = own,
                                .kept = kept,
                                .target = own + count,
                                .ridge = ridge,
                                .p = kept + n,
                                .score = kept + n + n * m,
                                .rest = own + 2 * count,
                                .step = own + 3 * count,
                                .conjugate = own + 4 * count};
    for (size_t i = 0; i < n; i++) {
        kept[i] = kept_of(standin, i, clip);
        for (size_t o = 0; o < m; o++) {
            equation.score[i * m + o] = kept[i] * standin->p[i * m + o];
        }
    }
    combine(own + count, standin, equation.score);
    dense_axpy(own + count, -1, g, count);
    memcpy(own, v, count * sizeof *v);
    move(v, &equation, g);
    free(own);
    return STATUS_OK;
}
