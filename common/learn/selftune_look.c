/* selftune_look.c - what a look makes of the state: the columns' means and whitening, the intercepts, and, from the sums
 * of each class, the first model. That is the linear discriminant of white columns, each of its numbers shrunken by its noise. */

#include "base/check.h"
#include "learn/dense.h"
#include "learn/selftune_private.h"
#include "learn/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where noise could make a logarithm, a root or a quotient of anything: nothing that is taken is below these. Four times as much
 * and a quarter change no table by more than its error. */
#define CLASS_LEAST    1e-3 /* of the share of a class, where it is divided by */
#define VARIANCE_LEAST 1e-2 /* of a feature */
#define EIGEN_LEAST    1e-3
#define SHARE_LEAST    0.01 /* of a class of two; of several, over their number */
#define KEPT_LEAST     0.05 /* of the mean share of a record that its clip leaves */
#define MEANS_LEAST    1e-4 /* mean square of columns' means */

/* The eigenvalues of noise of deviation s end near 2 s sqrt(d) (Wigner). */
#define NOISE_EDGE TUNED(NOISE_EDGE, 2.0)

/* Noisy numbers are drawn to what they are like to be, by how much they vary from table to table: the share of a class; what a clip
 * leaves of a record whose columns are 0.45 from the middle on average; and how classes differ in that, over the mean. */
#define SHARE_SPREAD      TUNED(SHARE_SPREAD, 0.2)
#define KEPT_LIKELY       0.65
#define KEPT_SPREAD       0.2
#define KEPT_SPREAD_CLASS TUNED(KEPT_SPREAD_CLASS, 0.15)

/* Fills the covariance (d, d) that the look shows. Its off-diagonals are multiplied by
 * max(0, 1 - s^2/their mean square), s the noise's deviation. Returns what the diagonal has to be
 * raised by in the end, for the noise left in the off-diagonals. */
static double covariance(double *matrix, size_t d, const struct selftune_columns *columns)
{
    const double s = columns->deviation;
    const double *mu = columns->mean;
    const double *next = columns->product;
    double square = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            const double c = *next++ - mu[i] * mu[j];
            matrix[i * d + j] = i == j ? selftune_between(c, fmax(VARIANCE_LEAST, s), 1) : c;
            square += i == j ? 0 : 2 * c * c;
        }
    }
    const double mean = square / fmax(1, (double)(d * (d - 1)));
    const double shrunken = mean > 0 ? fmax(0, 1 - s * s / mean) : 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            matrix[i * d + j] *= shrunken;
            matrix[j * d + i] = matrix[i * d + j];
        }
    }
    return NOISE_EDGE * shrunken * s * sqrt((double)d);
}

/* W (d) = the inverse roots of the variances that the look shows, none taken to be below its noise. */
static void scale(double *w, size_t d, const struct selftune_columns *columns)
{
    const double least = fmin(fmax(VARIANCE_LEAST, columns->deviation), 1);
    for (size_t i = 0; i < d; i++) {
        const double variance =
            columns->product == NULL
                ? SELFTUNE_VARIANCE_PLAIN
                : selftune_between(columns->product[i] - columns->mean[i] * columns->mean[i], least,
                                   1);
        w[i] = 1 / sqrt(variance);
    }
}

enum status selftune_whiten(double *w, const struct selftune *stage,
                            const struct selftune_columns *columns)
{
    const size_t d = stage->feature_count;
    if (stage->sight != SIGHT_PRODUCTS) {
        scale(w, d, columns);
        return STATUS_OK;
    }
    CHECK(d > 0 && columns->product != NULL);
    double *matrix = malloc(d * d * sizeof *matrix);
    if (matrix == NULL) {
        return STATUS_NO_MEMORY;
    }
    const double added = covariance(matrix, d, columns);
    const enum status status = standin_root(w, matrix, d, EIGEN_LEAST, added);
    for (size_t i = 0; status == STATUS_OK && i < d * d; i++) {
        w[i] = dense_flushed(w[i]);
    }
    free(matrix);
    return status;
}

/* A noisy number drawn to what it is like to be, by its noise's variance and by that of such numbers. */
static double drawn(double x, double likely, double spread, double noise)
{
    return likely + (x - likely) * spread * spread / (spread * spread + noise);
}

/* Shares are drawn to those of equal classes. For several, none is taken to be below its part of the noise: else rare classes
 * would be lost to it. */
static void set_shares(struct selftune_classes *classes, const struct selftune *stage,
                       const struct selftune_look *look)
{
    const double equal = 1 / (double)classes->count;
    const double s = selftune_held(look->count_deviation / look->record_count);
    const double floor =
        stage->output_count > 1 ? fmax(s * equal, SHARE_LEAST * equal) : SHARE_LEAST;
    double total = 0;
    for (size_t c = 0; c < classes->count; c++) {
        const double share = selftune_held(look->count[c] / look->record_count);
        classes->share[c] = fmax(drawn(share, equal, SHARE_SPREAD, s * s), floor);
        total += classes->share[c];
    }
    for (size_t c = 0; c < classes->count; c++) {
        classes->share[c] = selftune_between(classes->share[c] / total, CLASS_LEAST, 1);
    }
}

double selftune_mean_kept(const struct selftune_look *look, size_t classes)
{
    const double n = look->record_count;
    const double s = selftune_held(look->kept_deviation / n);
    double mean = 0;
    for (size_t c = 0; c < classes; c++) {
        mean += selftune_held(look->kept[c] / n);
    }
    return selftune_between(drawn(mean, KEPT_LIKELY, KEPT_SPREAD, (double)classes * s * s),
                            KEPT_LEAST, 1);
}

/* What the clip keeps of a record: on average, then of each class. */
static void set_kept(struct selftune_classes *classes, const struct selftune_look *look)
{
    const double n = look->record_count;
    const double s = selftune_held(look->kept_deviation / n);
    const double counted = selftune_held(look->count_deviation / n);
    for (size_t c = 0; c < classes->count; c++) {
        classes->kept[c] = 1;
    }
    const double mean = look->kept == NULL ? 1 : selftune_mean_kept(look, classes->count);
    classes->deviation = selftune_held(look->sum_deviation / n) / mean;
    for (size_t c = 0; look->kept != NULL && c < classes->count; c++) {
        const double share = classes->share[c];
        const double noise = (s * s + mean * mean * counted * counted) / (share * share);
        const double own =
            selftune_between(selftune_held(look->kept[c] / n) / share, mean / 2, fmin(1, 2 * mean));
        classes->kept[c] = drawn(own, mean, KEPT_SPREAD_CLASS * mean, noise);
    }
}

void selftune_draw_means(double *mu, size_t d, double noise, const double *factor)
{
    double square = 0;
    double told = 0;
    for (size_t j = 0; j < d; j++) {
        const double own = selftune_factor(factor, j);
        square += isinf(own) ? 0 : mu[j] * mu[j] - noise * own * own;
        told += isinf(own) ? 0 : 1;
    }
    const double signal = fmax(square / fmax(told, 1), MEANS_LEAST);
    for (size_t j = 0; j < d; j++) {
        const double own = selftune_factor(factor, j);
        mu[j] = isinf(own)
                    ? 0
                    : selftune_between(mu[j] * (signal / (signal + noise * own * own)), -1, 1);
    }
}

/* mu and, in mean (K, d), each class's sum over all records. Means that noise drowns are drawn to 0. */
static void set_means(struct selftune_parts *parts, double *sum,
                      const struct selftune_classes *classes, const struct selftune_look *look)
{
    const size_t d = parts->d;
    const double noise =
        classes->deviation * classes->deviation * (double)classes->count; /* of a column's mean */
    for (size_t j = 0; j < d; j++) {
        parts->mu[j] = 0;
        for (size_t c = 0; c < classes->count; c++) {
            sum[c * d + j] = selftune_between(
                selftune_held(look->sum[c * d + j] / look->record_count) / classes->kept[c], -1e6,
                1e6);
            parts->mu[j] += sum[c * d + j];
        }
    }
    selftune_draw_means(parts->mu, d, noise, look->factor);
}

static bool factors_are_good(const double *factor, const double *part, size_t d)
{
    bool good = true;
    for (size_t j = 0; factor != NULL && j < d; j++) {
        good = good && factor[j] > 0;
    }
    for (size_t j = 0; part != NULL && j < d; j++) {
        good = good && part[j] <= 1 && (part[j] > 0 || isinf(selftune_factor(factor, j)));
    }
    return good;
}

bool selftune_look_is_good(const struct selftune_look *look, const struct selftune *stage)
{
    const size_t classes = selftune_class_count(stage);
    return isfinite(look->record_count) && look->record_count >= 1 &&
           selftune_is_deviation(look->count_deviation) &&
           selftune_is_deviation(look->sum_deviation) &&
           selftune_is_deviation(look->product_deviation) &&
           selftune_all_finite(look->count, classes) &&
           selftune_all_finite(look->sum, selftune_sum_count(stage)) &&
           selftune_all_finite(look->product, selftune_product_count(stage)) &&
           factors_are_good(look->factor, look->part, stage->feature_count) &&
           (look->kept != NULL) == (stage->sight == SIGHT_SUMS) &&
           (look->kept == NULL || (selftune_all_finite(look->kept, classes) &&
                                   selftune_is_deviation(look->kept_deviation)));
}

/* fresh: the state, then (K, d) and the products over the records */
static enum status take(double *fresh, const struct selftune *stage,
                        const struct selftune_look *look, struct selftune_unsure *unsure)
{
    const size_t products = selftune_product_count(stage);
    struct selftune_parts parts = selftune_parts_of(fresh, stage);
    struct selftune_classes classes = {.count = selftune_class_count(stage),
                                       .factor = look->factor,
                                       .part = look->part,
                                       .records = look->record_count,
                                       .unsure = unsure};
    double *sum = fresh + selftune_state_count(stage);
    double *product = sum + selftune_sum_count(stage);
    const double n = look->record_count;
    set_shares(&classes, stage, look);
    set_kept(&classes, look);
    const bool by_class = selftune_sum_count(stage) > parts.d;
    if (by_class) {
        set_means(&parts, sum, &classes, look);
    } else {
        for (size_t j = 0; j < parts.d; j++) {
            parts.mu[j] = selftune_between(look->sum[j] / n, -1, 1);
        }
    }
    for (size_t i = 0; i < products; i++) {
        product[i] = selftune_held(look->product[i] / n);
    }
    const struct selftune_columns columns = {.mean = parts.mu,
                                             .product = products > 0 ? product : NULL,
                                             .deviation =
                                                 selftune_held(look->product_deviation / n)};
    enum status status = selftune_whiten(parts.w, stage, &columns);
    if (status == STATUS_OK) {
        status = selftune_first_model(&parts, stage, &classes, by_class ? sum : NULL);
    }
    return status == STATUS_OK ? selftune_show_clip(&parts, stage) : status;
}

enum status selftune_take_look_unsure(double *state, const struct selftune *stage,
                                      const struct selftune_look *look,
                                      struct selftune_unsure *unsure)
{
    const size_t count = selftune_state_count(stage);
    CHECK(stage->sight != SIGHT_NONE);
    if (!selftune_look_is_good(look, stage)) {
        return STATUS_INVALID;
    }
    double *fresh =
        calloc(count + selftune_sum_count(stage) + selftune_product_count(stage), sizeof *fresh);
    if (fresh == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = take(fresh, stage, look, unsure);
    if (status == STATUS_OK) {
        memcpy(state, fresh, count * sizeof *state);
    }
    free(fresh);
    return status;
}

enum status selftune_take_look(double *state, const struct selftune *stage,
                               const struct selftune_look *look)
{
    return selftune_take_look_unsure(state, stage, look, NULL);
}
