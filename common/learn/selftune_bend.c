/* selftune_bend.c - which products of columns a learner takes, and how far it then goes. Chosen on made-up and real tables:
 * docs/study-hospitals.md. */

#include "learn/selftune_bend.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/dense.h"
#include "learn/shrink.h"
#include "learn/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_HALF 0.70710678118654752

enum { TRYING = 1 }; /* the step that tries all products */

/* Products are tried at that scale: at 1 a step of linear tables loses more, and at 1/4 products are lost in noise. */
#define TRIED_SCALE TUNED(TRIED_SCALE, 0.5)

/* Of the clip, with products: where it keeps less, skewed columns look as if they bent. */
#define QUANTILE 0.6

/* They stay if they stand out of the noise: standard deviations of their sum of squares, if all are noise, or of one number. */
#define STAND_OUT     3.0
#define STAND_ALONE   6.0
#define KURTOSIS_MOST 6.0 /* of the noise: one draw from Laplace's distribution */
#define STAYS         0.5 /* the chance that a product is no noise, about */
#define UNKNOWN       1e3 /* Pv of a product before it was tried: the choice has shrunken it already */
/* Standard deviations of the noise: by less a step does not point back. Without looking back steps of skewed columns overshoot, whose
 * products are not white. */
#define SURE     2.0

#define STEEPEST 8.0 /* steps become no shorter than by that */
#define LITTLE   1e-24

void selftune_products(double *q, const double *u, const double *scale, size_t d)
{
    for (size_t i = 0; i < d; i++) {
        const double x = even_flushed(u[i]);
        *q++ = even_flushed(*scale++ * even_flushed(ROOT_HALF * even_flushed(x * x - 1)));
        for (size_t j = i + 1; j < d; j++) {
            *q++ = even_flushed(*scale++ * even_flushed(x * even_flushed(u[j])));
        }
    }
}

enum status selftune_bend_rows(struct standin *standin)
{
    const size_t d = standin->width - 1;
    const size_t q = d * (d + 1) / 2;
    const size_t width = d + q + 1;
    CHECK(d > 0 && standin->count > 0);
    double *row = calloc(standin->count * width, sizeof *row);
    double *one = calloc(q, sizeof *one);
    if (row == NULL || one == NULL) {
        free(row);
        free(one);
        standin_free(standin);
        return STATUS_NO_MEMORY;
    }
    for (size_t j = 0; j < q; j++) {
        one[j] = 1;
    }
    for (size_t i = 0; i < standin->count; i++) {
        double *u = row + i * width;
        memcpy(u, standin->row + i * (d + 1), d * sizeof *u);
        selftune_products(u + d, u, one, d);
        u[d + q] = 1;
    }
    free(one);
    free(standin->row);
    standin->row = row;
    standin->width = width;
    return STATUS_OK;
}

size_t selftune_bent_count(const double *state, const struct selftune *stage)
{
    const size_t products = selftune_column_count(stage) - stage->feature_count;
    const double *bend = state + selftune_shown_count(stage) - products;
    size_t count = 0;
    for (size_t j = 0; j < products; j++) {
        count += bend[j] > 0;
    }
    return count;
}

double selftune_bend_quantile(const struct selftune_parts *parts, const struct selftune *stage)
{
    bool bent = false;
    for (size_t j = parts->d; j < parts->e; j++) {
        bent = bent || parts->scale[j] > 0;
    }
    return bent ? fmax(stage->quantile, QUANTILE) : stage->quantile;
}

/* Whether x, with noise of these variances, stand out together or one alone. */
static bool stand_out(const double *x, const double *variance, size_t count)
{
    double sum = 0;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double square = x[i] * x[i] / variance[i];
        sum += square;
        most = fmax(most, square);
    }
    const double spread = sqrt((KURTOSIS_MOST - 1) * (double)count);
    return sum - (double)count > STAND_OUT * spread || most > STAND_ALONE * STAND_ALONE;
}

/* Product j stays if some output's number of it is less shrunken than by half. left: (m, q) what shrinking leaves of each. */
static void keep_or_drop(struct selftune_parts *parts, double *g, const double *left, size_t m,
                         size_t j)
{
    const size_t q = parts->e - parts->d;
    double most = 0;
    for (size_t o = 0; o < m; o++) {
        most = fmax(most, left[o * q + j]);
    }
    parts->scale[parts->d + j] = most >= STAYS ? 1 : 0;
    for (size_t o = 0; o < m; o++) {
        const size_t at = o * (parts->e + 1) + parts->d + j;
        g[at] *= most >= STAYS ? left[o * q + j] : 0;
        parts->v[at] = 0;
        parts->prior[at] = UNKNOWN;
    }
}

/* A product's number in a model is about -g/curvature, up to its scale; its noise is that of privacy, and that of chance. Products
 * of skewed columns vary more than those of normal ones, here twice as much. */
static enum status choose(struct selftune_parts *parts, size_t m, double *g,
                          const struct selftune_news *news)
{
    const size_t q = parts->e - parts->d;
    CHECK(m * q > 0);
    double *x = malloc(2 * m * q * sizeof *x);
    if (x == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *variance = x + m * q;
    for (size_t i = 0; i < m * q; i++) {
        const double h = news->curvature[i / q];
        const double chance = 4 * TRIED_SCALE * TRIED_SCALE * h / news->record_count;
        x[i] = -g[i / q * (parts->e + 1) + parts->d + i % q] / h;
        variance[i] = fmax((news->noise + chance) / (h * h), LITTLE);
    }
    const bool any = stand_out(x, variance, m * q);
    shrink(x, variance, m * q);
    for (size_t i = 0; i < m * q; i++) {
        const double before =
            -g[i / q * (parts->e + 1) + parts->d + i % q] / news->curvature[i / q];
        x[i] = any && before != 0 ? x[i] / before : 0;
    }
    for (size_t j = 0; j < q; j++) {
        keep_or_drop(parts, g, x, m, j);
    }
    free(x);
    return STATUS_OK;
}

/* How much of the way of the last step what is released points back, beside what the curvature should make of it. */
void selftune_look_back(struct selftune_parts *parts, size_t m, const double *g,
                        const struct selftune_news *news)
{
    double back = 0;
    double square = 0;
    double curve = 0;
    for (size_t o = 0; o < m; o++) {
        for (size_t j = 0; j <= parts->e; j++) {
            const size_t at = o * (parts->e + 1) + j;
            const bool counts = j == parts->e || parts->scale[j] > 0;
            const double way = counts ? parts->v[at] - selftune_held(parts->past[at]) : 0;
            back += g[at] * way;
            square += way * way;
            curve += news->curvature[o] * way * way;
        }
    }
    /* Beside secants only what is more than half of the way: a shorter step would have been better by far. */
    const double least = parts->e > parts->d ? 0 : curve / 2;
    if (curve > LITTLE && back > least + SURE * sqrt(square * news->noise)) {
        const double most = fmin(STEEPEST, (double)parts->d + 1); /* as a state is held */
        *parts->steep = selftune_between(*parts->steep * (1 + back / curve), 1, most);
    }
}

enum status selftune_bend(struct selftune_parts *parts, const struct selftune *stage, double *g,
                          const struct selftune_news *news)
{
    const size_t m = stage->output_count;
    if (news->step == TRYING) {
        return choose(parts, m, g, news);
    }
    for (size_t o = 0; o < m; o++) {
        for (size_t j = parts->d; j < parts->e; j++) {
            g[o * (parts->e + 1) + j] *= parts->scale[j] > 0 ? 1 : 0;
        }
    }
    if (news->step > TRYING) {
        selftune_look_back(parts, m, g, news);
    }
    return STATUS_OK;
}

void selftune_bend_next(struct selftune_parts *parts, size_t m, uint32_t step)
{
    for (size_t j = parts->d; j < parts->e; j++) {
        for (size_t o = 0; o < m && step == TRYING; o++) {
            /* The model of columns at scale 1; one of scale 0 has none. */
            parts->v[o * (parts->e + 1) + j] *= parts->scale[j] > 0 ? TRIED_SCALE : 0;
        }
        parts->scale[j] = step + 1 == TRYING ? TRIED_SCALE : parts->scale[j];
        parts->bend[j - parts->d] = parts->scale[j];
    }
}

/* out (d, d) = W S W for symmetric S, W; both of at most (SELFTUNE_FEATURES_MAX) numbers. */
static void turn(double *out, const double *white, const double *s, size_t d)
{
    double half[2 * SELFTUNE_FEATURES_MAX];
    for (size_t i = 0; i < d; i++) {
        memset(half + i * d, 0, d * sizeof *half);
        for (size_t k = 0; k < d; k++) {
            dense_axpy(half + i * d, selftune_held(white[i * d + k]), s + k * d, d);
        }
    }
    for (size_t i = 0; i < d; i++) {
        memset(out + i * d, 0, d * sizeof *out);
        for (size_t k = 0; k < d; k++) {
            dense_axpy(out + i * d, half[i * d + k], white + k * d, d);
        }
    }
}

void selftune_unbend(double *w, const double *v, const double *mu, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t e = selftune_column_count(stage);
    const double *scale = mu + d + d * d;
    const double *of = v + d;
    double s[2 * SELFTUNE_FEATURES_MAX];
    double bent[2 * SELFTUNE_FEATURES_MAX];
    CHECK(d * d <= 2 * SELFTUNE_FEATURES_MAX);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            const double x = *of++ * *scale++ * (i == j ? ROOT_HALF : 0.5);
            s[i * d + j] = x;
            s[j * d + i] = x;
            w[e] -= i == j ? x : 0;
        }
    }
    turn(bent, mu + d, s, d);
    double *product = w + d;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            const double x = bent[i * d + j];
            w[i] -= 2 * x * selftune_held(mu[j]);
            w[e] += x * selftune_held(mu[i]) * selftune_held(mu[j]);
            if (j >= i) {
                *product++ = i == j ? x : 2 * x;
            }
        }
    }
}
