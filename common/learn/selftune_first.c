/* selftune_first.c - the first model, from the sums of each class that a look releases: a linear discriminant of the columns
 * that the look has whitened, each of its numbers shrunken by its noise. For two classes a look at products has none, as there
 * the first step is a better use of epsilon: their first model has but an intercept.
 *
 * After products of several classes it is that of normal classes with one covariance (Fisher 1936). W whitens the columns of
 * all records, so B = A A', A_c = sqrt(p_c) (mean of class c - mean of all), is what the classes explain of it, and within
 * classes the columns have the inverse covariance (I - B)^-1. A is shrunken where its noise is not alike: along W's
 * eigenvectors.
 *
 * After sums and squares columns are scaled by themselves, and B says nothing. */

#include "base/check.h"
#include "learn/dense.h"
#include "learn/eigen.h"
#include "learn/selftune_private.h"
#include "learn/selftune_secant.h"
#include "learn/shrink.h"
#include "learn/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The correlation of two columns that a model weighs, about: if columns are taken to be less alike, the first model is too sure of
 * itself, and if more, too unsure. And how long its score may be then: its deviation. */
#define ALIKE   TUNED(ALIKE, 0.35)
#define LONGEST TUNED(LONGEST, 2.0)

/* Of several classes a model's length: only where noise is small is one longer, and there steps would begin too far off. And that of a
 * discriminant after products, as steps are of 3 at most: no table has a longer one. */
#define LONGEST_MANY  3.0
#define LONGEST_WHITE 5.0
#define UNEXPLAINED                                                                                \
    0.05 /* of a direction's variance: classes leave so much at least, or it would be divided by 0 */
#define MIDDLE_PLAIN    0.5 /* how far a softmax's intercepts trust the lengths of models */
#define VARIANCE_LITTLE 1e-24

/* Output o's label, against the other classes: its covariance with a column over `curvature` is a number of the model. */
struct contrast {
    size_t class;
    double curvature;
    double noise; /* variance of the covariance's noise, over that of a number of the sums */
};

struct first {
    struct selftune_parts *parts;
    const struct selftune *stage;
    const struct selftune_classes *classes;
    size_t d;
    size_t m;
    double *x;        /* (m, d) contrasts over the roots of their curvatures, then the models */
    double *variance; /* (m, d) */
    double *other;    /* (m, d) */
    double *
        basis; /* (d, d) W's eigenvectors, one after another, and (d) its eigenvalues; after products */
    double *within;                       /* (2, m, m) */
    double lowered[SELFTUNE_OUTPUTS_MAX]; /* twice what is taken off the intercepts */
};

static struct contrast contrast_of(const struct first *first, size_t output)
{
    const struct selftune_classes *classes = first->classes;
    const size_t class = first->m == 1 ? 1 : output;
    const double p = classes->share[class];
    const double rest = (double)(classes->count - 1) * p * p;
    return (struct contrast){class, first->m == 1 ? p * classes->share[0] : p,
                             (1 - p) * (1 - p) + rest};
}

/* x, in columns as they stand. sum: (K, d) */
static void set_contrasts(struct first *first, const double *sum)
{
    const size_t d = first->d;
    for (size_t j = 0; j < d; j++) {
        double total = 0;
        for (size_t c = 0; c < first->classes->count; c++) {
            total += sum[c * d + j];
        }
        for (size_t o = 0; o < first->m; o++) {
            const struct contrast contrast = contrast_of(first, o);
            const double p = first->classes->share[contrast.class];
            first->x[o * d + j] =
                (sum[contrast.class * d + j] - p * total) / sqrt(contrast.curvature);
        }
    }
}

static enum status find_basis(struct first *first)
{
    const size_t d = first->d;
    memcpy(first->basis, first->parts->w, d * d * sizeof *first->basis);
    return eigen_symmetric(first->basis, first->basis + d * d, d);
}

/* What a column's covariance with a label has of chance, as fewer records tell of it than of the others: a variance, white. */
static double chance_of(const struct selftune_classes *classes, size_t column)
{
    return classes->part == NULL ? 0 : (1 / classes->part[column] - 1) / classes->records;
}

/* x and its noise in white columns, or along W's eigenvectors. */
static void whiten(struct first *first)
{
    const size_t d = first->d;
    memcpy(first->other, first->x, first->m * d * sizeof *first->x);
    for (size_t o = 0; o < first->m; o++) {
        const struct contrast contrast = contrast_of(first, o);
        const double s2 = first->classes->deviation * first->classes->deviation * contrast.noise /
                          contrast.curvature;
        for (size_t j = 0; j < d; j++) {
            const double *own = first->other + o * d;
            const double by = first->basis != NULL ? first->basis[d * d + j] : first->parts->w[j];
            first->x[o * d + j] =
                by * (first->basis != NULL ? dense_dot(own, first->basis + j * d, d) : own[j]);
            const double factor = selftune_factor(first->classes->factor, j);
            const double less = chance_of(first->classes, j);
            first->variance[o * d + j] =
                isinf(factor) ? HUGE_VAL
                              : fmax(s2 * by * by * factor * factor + less, VARIANCE_LITTLE);
        }
    }
}

/* x from W's eigenvectors to white columns. */
static void turn_back(struct first *first)
{
    const size_t d = first->d;
    for (size_t o = 0; o < first->m; o++) {
        double *own = first->other + o * d;
        memset(own, 0, d * sizeof *own);
        for (size_t j = 0; j < d; j++) {
            dense_axpy(own, first->x[o * d + j], first->basis + j * d, d);
        }
        memcpy(first->x + o * d, own, d * sizeof *own);
    }
}

/* x = (I - B)^-1 x: what tells classes apart within them. */
static enum status look_within(struct first *first)
{
    const size_t d = first->d;
    const size_t m = first->m;
    double *root = first->within + m * m;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            first->within[i * m + j] = (i == j) - dense_dot(first->x + i * d, first->x + j * d, d);
        }
    }
    const enum status status = standin_root(root, first->within, m, UNEXPLAINED, 0);
    for (size_t times = 0; status == STATUS_OK && times < 2; times++) {
        memset(first->other, 0, m * d * sizeof *first->other);
        for (size_t o = 0; o < m; o++) {
            for (size_t c = 0; c < m; c++) {
                dense_axpy(first->other + o * d, root[o * m + c], first->x + c * d, d);
            }
        }
        memcpy(first->x, first->other, m * d * sizeof *first->x);
    }
    return status;
}

/* For products: how much lower a class's intercept is for its mean's distance from that of all, twice: of two classes for both,
 * each with its sign. `before` is A (m, d). */
static void lower(struct first *first, const double *before)
{
    for (size_t o = 0; o < first->m; o++) {
        const double p = first->classes->share[first->m == 1 ? 1 : o];
        const double of_two = first->m == 1 ? (1 - 2 * p) / (1 - p) : 1;
        first->lowered[o] =
            of_two / p * dense_dot(before + o * first->d, first->x + o * first->d, first->d);
    }
}

static enum status discriminate(struct first *first)
{
    const size_t count = first->m * first->d;
    CHECK(count > 0);
    double *before = malloc(count * sizeof *before);
    if (before == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(before, first->x, count * sizeof *before);
    const enum status status = look_within(first);
    if (status == STATUS_OK) {
        lower(first, before);
        turn_back(first);
    }
    free(before);
    return status;
}

/* How much steeper the loss is along a model v (d) than in white columns: columns that a model weighs are taken to be alike, as
 * each of them goes with the label. It weighs about |v|_1^2/|v|_2^2 of them. */
static double steepness(const double *v, size_t d)
{
    double size = 0;
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        size += fabs(v[j]);
        square += v[j] * v[j];
    }
    return square > 0 ? 1 + ALIKE * fmax(size * (size / square) - 1, 0) : 1;
}

static double longest(const struct first *first, const double *v)
{
    return first->basis != NULL ? LONGEST_WHITE
           : first->m > 1       ? LONGEST_MANY
                                : LONGEST / sqrt(steepness(v, first->d));
}

/* mu of two classes, from that part of their sums whose noise has nothing to do with the contrast's. Noise that both share would
 * move the intercept by its square. The part is sum p_c (sum of class c) = q mu + (2 p - 1) contrast, q = sum p_c^2, with p the
 * share of the second class, and the contrast as it has been shrunken. sum: (2, d) */
static void centre(struct first *first, const double *sum)
{
    const struct selftune_classes *classes = first->classes;
    const size_t d = first->d;
    const double p = classes->share[1];
    const double q = (1 - p) * (1 - p) + p * p;
    const double weight = (2 * p - 1) * sqrt(contrast_of(first, 0).curvature);
    double *mu = first->parts->mu;
    for (size_t j = 0; j < d; j++) {
        const double part = (1 - p) * sum[j] + p * sum[d + j];
        mu[j] = (part - weight * first->x[j] / first->parts->w[j]) / q;
    }
    selftune_draw_means(mu, d, classes->deviation * classes->deviation / q, classes->factor);
}

/* V but the intercepts, and Pv. A softmax's models have the mean 0, and none is longer than it may be. */
static void set_models(struct first *first)
{
    const size_t d = first->d;
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t o = 0; o < first->m; o++) {
            const double curvature = contrast_of(first, o).curvature;
            first->x[o * d + j] /= sqrt(curvature);
            first->variance[o * d + j] /= curvature;
            mean += first->m > 1 ? first->x[o * d + j] / (double)first->m : 0;
        }
        for (size_t o = 0; o < first->m; o++) {
            first->parts->v[o * (first->parts->e + 1) + j] = first->x[o * d + j] - mean;
        }
    }
    for (size_t o = 0; o < first->m; o++) {
        double *v = first->parts->v + o * (first->parts->e + 1);
        double unsure = 0;
        for (size_t j = 0; j < d; j++) {
            unsure += first->variance[o * d + j] / (double)d;
        }
        const double square = dense_dot(v, v, d);
        double *prior = first->parts->prior + o * (first->parts->e + 1);
        const double shorter = fmin(1, longest(first, v) / sqrt(fmax(square, VARIANCE_LITTLE)));
        const double left = SELFTUNE_DRIFT * shorter * shorter;
        for (size_t j = 0; j < d; j++) {
            const double own = first->variance[o * d + j] + left * v[j] * v[j];
            const double mean = unsure + left * square / (double)d;
            prior[j] = own + SELFTUNE_SHARED * (mean - own);
            v[j] *= shorter;
        }
        prior[first->parts->e] = unsure + left * square / (double)d;
        first->lowered[o] *= shorter;
    }
}

/* For two classes the logarithm of their ratio, else each class's, less their mean. Classes whose model is long start lower, as
 * in a discriminant of normal classes: of several, by half of what the models' squared lengths say where the columns' variances
 * are not known. */
static void set_intercepts(struct first *first)
{
    const size_t row = first->parts->e + 1;
    const double *share = first->classes->share;
    double *v = first->parts->v;
    double mean = 0;
    for (size_t o = 0; o < first->m; o++) {
        if (first->basis == NULL && first->m > 1) {
            first->lowered[o] = (first->stage->sight == SIGHT_SUMS ? MIDDLE_PLAIN : 1) *
                                dense_dot(v + o * row, v + o * row, first->d);
        }
        v[o * row + row - 1] =
            (first->m == 1 ? log(share[1] / share[0]) : log(share[o])) - first->lowered[o] / 2;
        mean += v[o * row + row - 1] / (double)first->m;
    }
    for (size_t o = 0; first->m > 1 && o < first->m; o++) {
        v[o * row + row - 1] -= mean;
    }
}

/* Every column adds to a gradient's norm, so to the clip, and so to the noise on all. A column about which little is to be
 * learned is scaled down: by the root of its Pv over the largest. */
static void set_scale(struct selftune_parts *parts, size_t m)
{
    const size_t row = parts->d + 1;
    double most = 0;
    for (size_t j = 0; j < parts->d; j++) {
        parts->scale[j] = 0;
        for (size_t o = 0; o < m; o++) {
            parts->scale[j] += parts->prior[o * row + j];
        }
        most = fmax(most, parts->scale[j]);
    }
    for (size_t j = 0; j < parts->d; j++) {
        const double share = most > 0 ? sqrt(parts->scale[j] / most) : 1;
        parts->scale[j] = fmax(share, SELFTUNE_SCALE_LEAST);
        parts->w[j] = dense_flushed(parts->w[j] * parts->scale[j]);
        for (size_t o = 0; o < m; o++) {
            parts->v[o * row + j] /= parts->scale[j];
        }
    }
}

/* x are models of white columns that are not shortened. x times the curvature is the label's covariance with these, and the columns
 * that W makes are scaled. */
static void begin_secants(const struct first *first)
{
    const size_t d = first->d;
    double curvature[SELFTUNE_OUTPUTS_MAX];
    for (size_t o = 0; o < first->m; o++) {
        curvature[o] = contrast_of(first, o).curvature;
        for (size_t j = 0; j < d; j++) {
            first->x[o * d + j] *= curvature[o] * first->parts->scale[j];
        }
    }
    selftune_secant_begin(first->parts, first->stage, first->x, curvature);
}

/* Before set_models: x and its variance are then in white columns. */
static void tell_unsure(struct selftune_unsure *unsure, const struct first *first)
{
    unsure->contrast = 0;
    for (size_t j = 0; j < first->d; j++) {
        unsure->column[j] = 0;
    }
    for (size_t o = 0; o < first->m; o++) {
        const struct contrast contrast = contrast_of(first, o);
        const double w = first->parts->w[0]; /* of sums alone all columns have one */
        unsure->contrast += contrast.noise / contrast.curvature * w * w;
        for (size_t j = 0; j < first->d; j++) {
            unsure->column[j] += first->variance[o * first->d + j];
        }
    }
}

enum status selftune_first_model(struct selftune_parts *parts, const struct selftune *stage,
                                 const struct selftune_classes *classes, const double *sum)
{
    const size_t d = parts->d;
    const size_t m = stage->output_count;
    const bool products = stage->sight == SIGHT_PRODUCTS;
    struct first first = {.parts = parts, .stage = stage, .classes = classes, .d = d, .m = m};
    for (size_t j = 0; j < d; j++) {
        parts->scale[j] = 1;
    }
    *parts->steep = 1;
    if (sum == NULL) {
        for (size_t j = 0; j <= parts->e; j++) {
            parts->prior[j] = j < d || j == parts->e ? SELFTUNE_PRIOR / (double)d : 0;
        }
        set_intercepts(&first);
        return STATUS_OK;
    }
    CHECK(m > 0 && d > 0);
    double *own = malloc((3 * m * d + (products ? d * d + d + 2 * m * m : 0)) * sizeof *own);
    if (own == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    first.x = own;
    first.variance = own + m * d;
    first.other = own + 2 * m * d;
    if (products) {
        first.basis = own + 3 * m * d;
        first.within = first.basis + d * d + d;
        status = find_basis(&first);
    }
    if (status == STATUS_OK) {
        set_contrasts(&first, sum);
        whiten(&first);
        shrink(first.x, first.variance, m * d);
        status = products ? discriminate(&first) : STATUS_OK;
    }
    if (status == STATUS_OK && classes->unsure != NULL) {
        tell_unsure(classes->unsure, &first);
    }
    if (status == STATUS_OK) {
        if (stage->sight == SIGHT_SUMS && m == 1) {
            centre(&first, sum);
        }
        set_models(&first);
        set_intercepts(&first);
    }
    if (status == STATUS_OK && !products) {
        set_scale(parts, m);
        begin_secants(&first);
    }
    free(own);
    return status;
}
