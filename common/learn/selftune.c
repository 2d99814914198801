/* selftune.c - how classes are learned from a stage's rounds: the first state, the steps, and the model that they make. */

#include "learn/selftune.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/dense.h"
#include "learn/selftune_bend.h"
#include "learn/selftune_private.h"
#include "learn/selftune_secant.h"
#include "learn/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST   1e-9 /* of Pv */
#define LARGEST 1e6
#define RIDGE_LEAST                                                                                \
    1e-4 /* so that a step without noise has one solution; a quarter of it and four times it change nothing */
#define PLAIN_FACTOR                                                                               \
    (1 / sqrt(SELFTUNE_VARIANCE_PLAIN)) /* W of columns of which nothing is known */

/* How much steeper than in white columns the loss of several classes is taken to be, where columns are not white, and where they
 * are. Longer steps overshoot where columns are alike, shorter ones lag. */
#define STEEP_MANY  TUNED(STEEP_MANY, 2.0)
#define STEEP_WHITE TUNED(STEEP_WHITE, 1.2)

static bool is_count(double x)
{
    return isfinite(x) && x >= 1;
}

double selftune_shortened(const double *state, const struct selftune *stage)
{
    const double most = (double)stage->feature_count + 1;
    const double steep = state[selftune_steep_place(stage)];
    const double alike = selftune_secant_steepest(state, stage);
    return fmax(stage->output_count == 1 ? selftune_between(steep, 1, most) : 1,
                selftune_between(alike, 1, most));
}

/* The rows, whose columns vary as those of u do. */
static enum status make_standin(struct standin *standin, const struct selftune *stage,
                                const double *scale)
{
    enum status status = stage->rows != NULL ? standin_copy(standin, stage->rows)
                                             : standin_init(standin, stage->feature_count,
                                                            stage->output_count, stage->gaussian);
    if (status == STATUS_OK && stage->bends) {
        status = selftune_bend_rows(standin);
    }
    if (status == STATUS_OK) {
        standin_scale(standin, scale);
    }
    return status;
}

static void show_clip(struct selftune_parts *parts, const struct selftune *stage,
                      struct standin *standin)
{
    standin_set(standin, parts->v);
    *parts->clip = standin_clip(standin, selftune_bend_quantile(parts, stage));
}

enum status selftune_show_clip(struct selftune_parts *parts, const struct selftune *stage)
{
    struct standin standin = {0};
    const enum status status = make_standin(&standin, stage, parts->scale);
    if (status == STATUS_OK) {
        show_clip(parts, stage, &standin);
    }
    standin_free(&standin);
    return status;
}

enum status selftune_begin(double *state, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    struct selftune_parts parts = selftune_parts_of(state, stage);
    memset(state, 0, selftune_state_count(stage) * sizeof *state);
    for (size_t i = 0; i < selftune_white_count(stage);
         i += stage->sight == SIGHT_PRODUCTS ? d + 1 : 1) {
        parts.w[i] = PLAIN_FACTOR;
    }
    for (size_t i = 0; i < parts.width; i++) {
        parts.prior[i] = SELFTUNE_PRIOR / (double)d;
    }
    for (size_t j = 0; j < d; j++) {
        parts.scale[j] = 1;
    }
    *parts.steep = 1;
    return selftune_show_clip(&parts, stage);
}

/* Brings into its range what a step or an agent uses of a state that may come from a journal. The
 * iterates before V are held where they are used. */
static void hold(struct selftune_parts *parts, const struct selftune *stage)
{
    const double e = (double)parts->e;
    for (size_t i = 0; i < parts->width; i++) {
        parts->v[i] = selftune_held(parts->v[i]);
    }
    *parts->clip = selftune_between(*parts->clip, STANDIN_CLIP_LEAST, SELFTUNE_CLIP_MOST(e));
    for (size_t i = 0; stage->sight != SIGHT_NONE && i < parts->d; i++) {
        parts->mu[i] = selftune_between(parts->mu[i], -1, 1);
    }
    for (size_t i = 0; i < selftune_white_count(stage); i++) {
        parts->w[i] = dense_flushed(selftune_between(parts->w[i], -32, 32));
    }
    for (size_t i = 0; i < parts->width; i++) {
        parts->prior[i] = selftune_between(parts->prior[i], LEAST, LARGEST);
    }
    for (size_t j = 0; j < parts->d; j++) {
        parts->scale[j] = selftune_between(parts->scale[j], SELFTUNE_SCALE_LEAST, 1);
    }
    for (size_t j = parts->d; j < parts->e; j++) {
        parts->bend[j - parts->d] =
            dense_flushed(selftune_between(parts->bend[j - parts->d], 0, 1));
        parts->scale[j] = parts->bend[j - parts->d];
    }
    *parts->steep = selftune_between(*parts->steep, 1, (double)parts->d + 1);
    *parts->done = selftune_between(floor(*parts->done), 0, stage->steps);
    selftune_secant_hold(parts, stage);
}

/* g (m, D) = the released mean gradient less the one that the model itself would give. A softmax's
 * gradients sum to 0 over the classes: what does not is noise. */
static void news_of(double *g, const struct selftune_parts *parts, const struct selftune *stage,
                    const struct selftune_release *release)
{
    const size_t row = parts->e + 1;
    const size_t m = stage->output_count;
    for (size_t i = 0; i < parts->width; i++) {
        g[i] = selftune_held(release->gradient[i] / release->record_count) - g[i];
    }
    for (size_t j = 0; m > 1 && j < row; j++) {
        double mean = 0;
        for (size_t o = 0; o < m; o++) {
            mean += g[o * row + j] / (double)m;
        }
        for (size_t o = 0; o < m; o++) {
            g[o * row + j] -= mean;
        }
    }
}

/* Pv after a step from V with noise of variance s2. What the step may have got wrong is larger where V is. */
static void learn(struct selftune_parts *parts, size_t output, double curvature, double s2)
{
    const size_t d = parts->d;
    const size_t e = parts->e;
    const double *v = parts->v + output * (e + 1);
    double *prior = parts->prior + output * (e + 1);
    double square = 0;
    for (size_t j = 0; j < e; j++) {
        square += parts->scale[j] * parts->scale[j] * v[j] * v[j];
    }
    for (size_t j = 0; j <= e; j++) {
        const double scale = j < e ? parts->scale[j] : 1;
        const double own = scale * scale * v[j] * v[j] / fmax(square / (double)d, LEAST);
        const double drift = j < e ? SELFTUNE_SHARED + (1 - SELFTUNE_SHARED) * own : 1;
        prior[j] = 1 / (1 / prior[j] + curvature * curvature * scale * scale / s2) +
                   SELFTUNE_DRIFT / (double)d * drift;
    }
}

/* How much steeper than in white columns the loss is taken to be, along all directions. */
static double steepness(const struct selftune_parts *parts, const struct selftune *stage)
{
    const bool two = stage->output_count == 1;
    return two                              ? *parts->steep
           : stage->bends                   ? fmax(STEEP_WHITE, *parts->steep)
           : stage->sight == SIGHT_PRODUCTS ? STEEP_WHITE
                                            : STEEP_MANY;
}

/* V becomes the next iterate, and what was V stands among those before it. */
static enum status step(struct selftune_parts *parts, const struct selftune *stage,
                        struct standin *standin, const struct selftune_release *release)
{
    const size_t width = parts->width;
    const size_t m = stage->output_count;
    const double noise = selftune_held(release->deviation / release->record_count);
    const double s2 = noise * noise * (m > 1 ? 1 - 1 / (double)m : 1);
    double h[SELFTUNE_OUTPUTS_MAX];
    CHECK(width > 0);
    const size_t square = selftune_secant_count(stage) > 0 ? parts->d * parts->d : 0;
    double *g = calloc(3 * width + square, sizeof *g);
    if (g == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *v = g + width;
    double *ridge = v + width;
    double *more = square > 0 ? ridge + width : NULL;
    const double clip = *parts->clip; /* what agents were shown */
    standin_set(standin, parts->v);
    standin_curvature(h, standin);
    standin_gradient(g, standin, clip);
    news_of(g, parts, stage, release);
    const size_t row = parts->e + 1;
    CHECK(row > 1);
    enum status status = STATUS_OK;
    const struct selftune_news news = {
        .step = release->step, .record_count = release->record_count, .noise = s2, .curvature = h};
    if (stage->bends) {
        status = selftune_bend(parts, stage, g, &news);
    } else if (more != NULL) {
        status = selftune_secant_learn(more, parts, stage, standin, g, &news);
        if (m == 1 && selftune_window(stage) > 1 && release->step > 0) {
            selftune_look_back(parts, m, g, &news); /* a secant tells of one direction */
        }
    }
    for (size_t i = 0; i < width; i++) {
        const double curvature = h[i / row];
        ridge[i] = s2 / (curvature * parts->prior[i]) + RIDGE_LEAST;
        ridge[i] += (steepness(parts, stage) - 1) * curvature;
    }
    memcpy(v, parts->v, width * sizeof *v);
    if (status == STATUS_OK) {
        status = standin_move(v, standin, g, clip, ridge, more);
    }
    if (status == STATUS_OK) {
        const size_t kept = selftune_window(stage) - 1;
        if (kept > 0) {
            memmove(parts->past + width, parts->past, (kept - 1) * width * sizeof *v);
            memcpy(parts->past, parts->v, width * sizeof *v);
        }
        for (size_t i = 0; i < width; i++) {
            parts->v[i] = selftune_held(v[i]);
        }
        for (size_t o = 0; o < m; o++) {
            learn(parts, o, h[o], s2);
        }
        if (stage->bends) {
            selftune_bend_next(parts, m, release->step);
        }
        *parts->done = release->step + 1.0;
    }
    free(g);
    return status;
}

static bool release_is_good(const struct selftune_release *release, const struct selftune *stage)
{
    return release->step < stage->steps && is_count(release->record_count) &&
           selftune_is_deviation(release->deviation) &&
           selftune_all_finite(release->gradient,
                               stage->output_count * (selftune_column_count(stage) + 1));
}

enum status selftune_take_gradient(double *state, const struct selftune *stage,
                                   const struct selftune_release *release)
{
    const size_t count = selftune_state_count(stage);
    if (!release_is_good(release, stage)) {
        return STATUS_INVALID;
    }
    double *fresh = calloc(count, sizeof *fresh);
    struct selftune_parts parts;
    struct standin standin = {0};
    enum status status = STATUS_NO_MEMORY;
    if (fresh != NULL) {
        memcpy(fresh, state, count * sizeof *state);
        parts = selftune_parts_of(fresh, stage);
        hold(&parts, stage);
        status = make_standin(&standin, stage, parts.scale);
    }
    if (status == STATUS_OK) {
        status = step(&parts, stage, &standin, release);
        if (status == STATUS_OK && stage->bends) {
            status = selftune_show_clip(&parts, stage);
        } else if (status == STATUS_OK) {
            show_clip(&parts, stage, &standin);
        }
        if (status == STATUS_OK) {
            memcpy(state, fresh, count * sizeof *state);
        }
    }
    standin_free(&standin);
    free(fresh);
    return status;
}

/* w (d + 1) becomes the model in z of v, (d) and an intercept, the model in u; v is not w. mu is followed by W. */
static void return_to_columns(double *w, const double *v, double intercept, const double *mu,
                              const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    double middle = 0;
    for (size_t i = 0; i < d; i++) {
        if (stage->sight == SIGHT_NONE) {
            w[i] = PLAIN_FACTOR * v[i];
            continue;
        }
        w[i] = stage->sight != SIGHT_PRODUCTS ? selftune_held(mu[d + i]) * v[i] : 0;
        for (size_t j = 0; stage->sight == SIGHT_PRODUCTS && j < d; j++) {
            w[i] += selftune_held(mu[d + i * d + j]) * v[j];
        }
        middle -= selftune_held(mu[i]) * w[i];
    }
    w[selftune_column_count(stage)] = intercept + middle;
}

/* How many of the last iterates there are, up to as many as the mean is of. */
static double iterates_of(const double *state, const struct selftune *stage)
{
    const double done = state[selftune_steep_place(stage) + 1];
    return selftune_between(floor(done), 1, (double)selftune_window(stage));
}

/* The mean of the last `count` iterates' number `at`. */
static double mean_of(const double *state, const struct selftune *stage, double count, size_t at)
{
    const size_t width = stage->output_count * (selftune_column_count(stage) + 1);
    const double *done = state + selftune_steep_place(stage) + 1;
    double mean = selftune_held(state[1 + at]) / count;
    for (size_t i = 0; i + 1 < (size_t)count; i++) {
        mean += selftune_held(done[1 + i * width + at]) / count;
    }
    return mean;
}

static void model_of(double *w, const double *state, const struct selftune *stage, double count)
{
    const size_t e = selftune_column_count(stage);
    const double *mu = state + 1 + stage->output_count * (e + 1);
    double mean[SELFTUNE_FEATURES_MAX + 1] = {0};
    for (size_t o = 0; o < stage->output_count; o++) {
        for (size_t j = 0; j <= e; j++) {
            mean[j] = mean_of(state, stage, count, o * (e + 1) + j);
        }
        return_to_columns(w + o * (e + 1), mean, mean[e], mu, stage);
        if (stage->bends) {
            selftune_unbend(w + o * (e + 1), mean, mu, stage);
        }
    }
}

void selftune_model(double *w, const double *state, const struct selftune *stage)
{
    model_of(w, state, stage, iterates_of(state, stage));
}

void selftune_last_iterate(double *w, const double *state, const struct selftune *stage)
{
    model_of(w, state, stage, 1);
}

void selftune_weaken(double *w, const double *state, const struct selftune *stage, double part)
{
    const size_t e = selftune_column_count(stage);
    const double count = iterates_of(state, stage);
    for (size_t o = 0; o < stage->output_count; o++, w += e + 1) {
        for (size_t j = 0; j <= e; j++) {
            w[j] *= part;
        }
        w[e] += (1 - part) * mean_of(state, stage, count, o * (e + 1) + e);
    }
}

void selftune_transform(double *u, const double *z, const double *shown,
                        const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t e = selftune_column_count(stage);
    const double *mu = shown + 1 + stage->output_count * (e + 1);
    for (size_t j = 0; j < d; j++) {
        const double x = even_flushed(z[j]);
        u[j] = stage->sight == SIGHT_NONE       ? PLAIN_FACTOR * x
               : stage->sight == SIGHT_PRODUCTS ? 0
                                                : even_flushed(x - even_flushed(mu[j])) * mu[d + j];
    }
    u[e] = 1;
    for (size_t i = 0; stage->sight == SIGHT_PRODUCTS && i < d; i++) {
        const double off = even_flushed(even_flushed(z[i]) - even_flushed(mu[i]));
        dense_axpy(u, off, mu + d + i * d, d);
    }
    if (stage->bends) {
        selftune_products(u + d, u, mu + d + d * d, d);
    }
}
