/* standin.c - the rows are normal numbers of a fixed seed (features_normal.h), centred, then
 * multiplied by the symmetric root of their covariance's inverse, so that no chance is left in their
 * first two moments. standin_move() is in learn/standin_move.c. */

#include "learn/standin.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/eigen.h"
#include "learn/features_normal.h"
#include "learn/standin_private.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many rows that more of them change no table by more than its error, and fewer only what noise would hide: a quarter of each and
 * more than twice as many are within 2.5 errors on 17 settings. COUNT_MAX keeps a step below a second, but for
 * hundreds of columns and many classes without noise. */
enum { COUNT_MIN = 800, PER_FEATURE = 40, COUNT_MAX = 2560, SEED = 7 };

#define SCORE_MOST 40.0 /* beyond, p is 0 or 1 in doubles */

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
    double *vector = calloc(2 * n * n + n, sizeof *vector); /* (n, n) one after another */
    if (vector == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *scaled = vector + n * n;
    double *value = scaled + n * n;
    memcpy(vector, matrix, n * n * sizeof *matrix);
    const enum status status = eigen_symmetric(vector, value, n);
    if (status != STATUS_OK) {
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
done:
    free(vector);
    return status;
}

static void set_norms(struct standin *standin)
{
    const size_t width = standin->width;
    for (size_t i = 0; i < standin->count; i++) {
        const double *u = standin->row + i * width;
        standin->norm[i] =
            standin->gaussian ? sqrt(dense_dot(u, u, width)) : cblas_dasum((int)width, u, 1);
    }
}

/* Fills the rows with x times the inverse root of its covariance, a constant, and their norms. */
static enum status whiten(struct standin *standin, const double *x, double *matrix)
{
    const size_t d = standin->width - 1;
    const int n = (int)d;
    double *root = matrix + d * d;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, (int)standin->count,
                1 / (double)standin->count, x, n, x, n, 0, matrix, n);
    const enum status status = standin_root(root, matrix, d, STANDIN_CURVE_LEAST, 0);
    if (status != STATUS_OK) {
        return status;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)standin->count, n, n, 1, x, n, root,
                n, 0, standin->row, n + 1);
    for (size_t i = 0; i < standin->count; i++) {
        double *u = standin->row + i * standin->width;
        u[d] = 1;
    }
    set_norms(standin);
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

void standin_scale(struct standin *standin, const double *scale)
{
    for (size_t i = 0; i < standin->count; i++) {
        for (size_t j = 0; j + 1 < standin->width; j++) {
            standin->row[i * standin->width + j] *= scale[j];
        }
    }
    set_norms(standin);
}

void standin_free(struct standin *standin)
{
    free(standin->row);
    free(standin->norm);
    *standin = (struct standin){0};
}

size_t standin_label_count(const struct standin *standin)
{
    return standin->outputs == 1 ? 2 : standin->outputs;
}

double standin_chance(const double *p, size_t outputs, size_t label)
{
    return outputs > 1 ? p[label] : label == 1 ? p[0] : 1 - p[0];
}

static double target_of(size_t outputs, size_t output, size_t label)
{
    return (outputs == 1 ? label == 1 : label == output) ? 1 : 0;
}

double standin_gradient_norm(const struct standin *standin, size_t i, size_t label)
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

void standin_scores(double *out, const struct standin *standin, const double *v)
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

void standin_probabilities(double *out, const struct standin *standin, const double *v)
{
    standin_scores(out, standin, v);
    for (size_t i = 0; i < standin->count; i++) {
        normalise(out + i * standin->outputs, standin->outputs);
    }
}

void standin_combine(double *out, const struct standin *standin, const double *factor)
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
    standin_probabilities(standin->p, standin, v);
}

void standin_curvature(double *h, const struct standin *standin)
{
    const size_t m = standin->outputs;
    for (size_t o = 0; o < m; o++) {
        double sum = 0;
        for (size_t i = 0; i < standin->count; i++) {
            sum += standin->p[i * m + o] * (1 - standin->p[i * m + o]);
        }
        h[o] = fmax(sum / (double)standin->count, STANDIN_CURVE_LEAST);
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

void standin_moment(double *moment, const struct standin *standin)
{
    standin_combine(moment, standin, standin->p);
}

double standin_clip(struct standin *standin, double quantile)
{
    const size_t labels = standin_label_count(standin);
    const size_t n = standin->count * labels;
    struct gradient_size *size = (struct gradient_size *)(void *)standin->spare;
    double total = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = standin->p + i / labels * standin->outputs;
        size[i].norm = standin_gradient_norm(standin, i / labels, i % labels);
        size[i].mass = standin_chance(p, standin->outputs, i % labels) * size[i].norm;
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
        for (size_t label = 0; label < standin_label_count(standin); label++) {
            const double kept =
                fmin(1, clip / fmax(standin_gradient_norm(standin, i, label), STANDIN_TINY));
            for (size_t o = 0; o < m; o++) {
                factor[i * m + o] +=
                    standin_chance(p, m, label) * kept * (p[o] - target_of(m, o, label));
            }
        }
    }
    standin_combine(mean, standin, factor);
}
