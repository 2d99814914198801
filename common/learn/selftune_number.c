/* selftune_number.c - the state: that of selftune.c, whose `done` stays 1, as a gain weighs all iterates and their mean
 * would not; then the intercept's expected error (1), sigma (1), steps taken (1), how wrong the columns' whitening may
 * be (1), V at the last step (D) and the gradient then, divided by its slope (D). */

#include "learn/selftune_number.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/selftune_private.h"
#include "learn/selftune_slope.h"
#include "learn/tuned.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST        100.0                   /* of a model's number in white columns */
#define SIGMA_FIRST    TUNED(SIGMA_FIRST, 0.5) /* of a label of which nothing is known */
#define SIGMA_LEAST    5e-3
#define VARIANCE_LEAST 1e-2 /* of a label that was looked at, unless its noise is more */
#define SIGMA_CHANGES                                                                              \
    TUNED(SIGMA_CHANGES, 0.1) /* how much sigma may have changed in a step, at least */
#define SIGMA_UNSURE TUNED(SIGMA_UNSURE, 0.5) /* of sigma: how much it may have changed in a step */
#define PRIOR_LEAST  1e-12
#define PRIOR_MOST   4.0
#define DRIFT        TUNED(DRIFT, 0.05) /* of the expected squared error that a step leaves, at least */
#define TURN_MOST    TUNED(TURN_MOST, 1.0)   /* a step is no longer */
#define STEEP_LEAST  TUNED(STEEP_LEAST, 0.5) /* of columns that vary half as much as white ones */
#define STEEP_FALL                                                                                 \
    TUNED(STEEP_FALL, 0.75) /* the curvature seen falls no faster from step to step */

struct parts {
    size_t d;
    double *clip;      /* (1) */
    double *v;         /* (D) */
    double *mu;        /* (d) NULL without a look */
    double *w;         /* (d, d) or (d) */
    double *prior;     /* (1) expected squared error of each number of V but the intercept */
    double *prior_end; /* (1) the intercept's */
    double *done;
    double *sigma;
    double *taken;
    double *unsure; /* (1) squared */
    double *steep;  /* (1) */
    double *past_v; /* (D) */
    double *past_q; /* (D) */
};

/* The stage as selftune.c is to see it. */
static struct selftune tune_of(const struct selftune_number *stage)
{
    struct selftune tune = stage->tune;
    tune.is_number = true;
    return tune;
}

size_t selftune_number_state_count(const struct selftune_number *stage)
{
    CHECK(stage->tune.output_count == 1 && stage->tune.sight != SIGHT_SUMS &&
          selftune_serves(&stage->loss));
    const struct selftune tune = tune_of(stage);
    return selftune_state_count(&tune) + 4 + 2 * (tune.feature_count + 1);
}

static struct parts parts_of(double *state, const struct selftune_number *stage)
{
    const struct selftune tune = tune_of(stage);
    const size_t d = tune.feature_count;
    const struct selftune_parts common = selftune_parts_of(state, &tune);
    struct parts parts = {.d = d,
                          .clip = common.clip,
                          .v = common.v,
                          .mu = common.mu,
                          .w = common.w,
                          .prior = common.prior,
                          .prior_end = common.prior + d,
                          .done = common.done};
    parts.sigma = state + selftune_state_count(&tune);
    parts.taken = parts.sigma + 1;
    parts.unsure = parts.taken + 1;
    parts.steep = parts.unsure + 1;
    parts.past_v = parts.steep + 1;
    parts.past_q = parts.past_v + d + 1;
    return parts;
}

/* The expected squared error after a step from one of `prior` whose noise is of variance `noise`. */
static double after(double prior, double noise)
{
    return prior * noise / fmax(prior + noise, PRIOR_LEAST);
}

/* The clip with the least noise and bias together. */
static void show_clip(struct parts *parts, const struct selftune_number *stage,
                      const struct standin *standin)
{
    static const double times[] = {0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};
    const double sigma = *parts->sigma;
    const double d = (double)parts->d;
    double norm = 0;
    double least = HUGE_VAL;
    for (size_t i = 0; i < standin->count; i++) {
        norm += standin->norm[i] / (double)standin->count;
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const double clip = times[i] * selftune_slope_size(&stage->loss, sigma) * norm;
        const struct selftune_slope slope = selftune_slope_of(standin, &stage->loss, clip, sigma);
        const double noise = stage->noise * clip;
        const double cost =
            d * after(*parts->prior, noise * noise / (slope.column * slope.column)) +
            after(*parts->prior_end, noise * noise / (slope.end * slope.end)) +
            slope.bias * slope.bias;
        if (cost < least) {
            least = cost;
            *parts->clip = fmax(clip, STANDIN_CLIP_LEAST);
        }
    }
}

static void hold(struct parts *parts, const struct selftune_number *stage)
{
    const double most = 16.0 * ((double)parts->d + 1);
    *parts->clip = selftune_between(*parts->clip, STANDIN_CLIP_LEAST, most);
    for (size_t j = 0; j <= parts->d; j++) {
        parts->v[j] = selftune_between(parts->v[j], -LONGEST, LONGEST);
        parts->past_v[j] = selftune_between(parts->past_v[j], -LONGEST, LONGEST);
        parts->past_q[j] = selftune_held(parts->past_q[j]);
    }
    for (size_t j = 0; parts->mu != NULL && j < parts->d; j++) {
        parts->mu[j] = selftune_between(parts->mu[j], -1, 1);
    }
    for (size_t i = 0; parts->w != NULL && i < selftune_white_count(&stage->tune); i++) {
        parts->w[i] = dense_flushed(selftune_between(parts->w[i], -32, 32));
    }
    *parts->done = 1;
    *parts->prior = selftune_between(*parts->prior, PRIOR_LEAST, PRIOR_MOST);
    *parts->prior_end = selftune_between(*parts->prior_end, PRIOR_LEAST, PRIOR_MOST);
    *parts->sigma = selftune_between(*parts->sigma, SIGMA_LEAST, 1);
    *parts->taken = selftune_between(floor(*parts->taken), 0, stage->tune.steps);
    *parts->unsure = selftune_between(*parts->unsure, 0, 1);
    *parts->steep = selftune_between(*parts->steep, STEEP_LEAST, (double)parts->d + 1);
}

static enum status make_standin(struct standin *standin, const struct selftune_number *stage)
{
    return stage->tune.rows != NULL
               ? standin_copy(standin, stage->tune.rows)
               : standin_init(standin, stage->tune.feature_count, 1, stage->tune.gaussian);
}

enum status selftune_number_begin(double *state, const struct selftune_number *stage)
{
    const struct selftune tune = tune_of(stage);
    struct parts parts = parts_of(state, stage);
    struct standin standin = {0};
    enum status status = selftune_begin(state, &tune);
    if (status == STATUS_OK) {
        status = make_standin(&standin, stage);
    }
    if (status == STATUS_OK) {
        memset(parts.sigma, 0, (4 + 2 * (parts.d + 1)) * sizeof *state);
        *parts.prior = SIGMA_FIRST * SIGMA_FIRST / (double)parts.d;
        *parts.prior_end = SIGMA_FIRST * SIGMA_FIRST;
        *parts.sigma = SIGMA_FIRST;
        *parts.unsure = 1;
        *parts.steep = fmax(1, (double)parts.d / 2);
        hold(&parts, stage);
        show_clip(&parts, stage, &standin);
        hold(&parts, stage);
    }
    standin_free(&standin);
    return status;
}

/* V = W times the label's covariances with the columns, shortened so far that it explains no more than there is, and by
 * what of it is noise; its expected error. T, of which W is the inverse root, errs too: in each direction by at most the noise's spectral norm. */
static void solve(struct parts *parts, const struct selftune_number_look *look, double variance)
{
    const size_t d = parts->d;
    const double s = selftune_held(look->product_deviation / look->record_count);
    const double mean = look->sum[0] / look->record_count;
    const double squares = cblas_ddot((int)(d * d), parts->w, 1, parts->w, 1);
    double *v = parts->v;
    for (size_t j = 0; j < d; j++) {
        const double covariance =
            selftune_held(look->product[1 + j] / look->record_count) - mean * parts->mu[j];
        dense_axpy(v, covariance, parts->w + j * d, d);
    }
    const double found = dense_dot(v, v, d);
    const double noise = s * s * squares / (double)d * (1 + variance);
    const double signal = fmax(fmin(found, variance) / (double)d - noise, 0);
    const double kept = signal / fmax(signal + noise, PRIOR_LEAST) *
                        sqrt(fmin(1, variance / fmax(found, PRIOR_LEAST)));
    for (size_t j = 0; j < d; j++) {
        v[j] = selftune_between(v[j] * kept, -LONGEST, LONGEST);
    }
    const double off = 2 * s * sqrt((double)d) * squares / (double)d;
    *parts->unsure = fmin(1, off * off + DRIFT);
    *parts->prior =
        after(fmax(signal, variance / (double)d * 0.1), noise) + *parts->unsure * signal;
    *parts->steep = 1;
    *parts->sigma = sqrt(fmax(variance - dense_dot(v, v, d), 0.02 * variance));
}

static bool look_is_good(const struct selftune_number_look *look,
                         const struct selftune_number *stage)
{
    const size_t width = stage->tune.feature_count + 1;
    const size_t products = stage->tune.sight == SIGHT_PRODUCTS ? width * (width + 1) / 2 : width;
    return isfinite(look->record_count) && look->record_count >= 1 &&
           selftune_is_deviation(look->sum_deviation) &&
           selftune_is_deviation(look->product_deviation) &&
           selftune_all_finite(look->sum, width) && selftune_all_finite(look->product, products);
}

/* mu and W, from the columns without the label. */
static enum status take_columns(struct parts *parts, const struct selftune_number *stage,
                                const struct selftune_number_look *look)
{
    const size_t d = parts->d;
    const size_t skip = stage->tune.sight == SIGHT_PRODUCTS ? d + 1 : 1;
    const size_t products = selftune_product_count(&stage->tune);
    const size_t white = selftune_white_count(&stage->tune);
    const double n = look->record_count;
    double *mean = malloc((d + products + white) * sizeof *mean);
    if (mean == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *product = mean + d;
    double *w = product + products;
    for (size_t j = 0; j < d; j++) {
        mean[j] = selftune_between(look->sum[1 + j] / n, -1, 1);
    }
    for (size_t i = 0; i < products; i++) {
        product[i] = selftune_held(look->product[skip + i] / n);
    }
    const struct selftune_columns columns = {
        .mean = mean, .product = product, .deviation = selftune_held(look->product_deviation / n)};
    const enum status status = selftune_whiten(w, &stage->tune, &columns);
    if (status == STATUS_OK) {
        memcpy(parts->mu, mean, d * sizeof *mean);
        memcpy(parts->w, w, white * sizeof *w);
    }
    free(mean);
    return status;
}

enum status selftune_number_take_look(double *state, const struct selftune_number *stage,
                                      const struct selftune_number_look *look)
{
    CHECK(stage->tune.sight != SIGHT_NONE);
    if (!look_is_good(look, stage)) {
        return STATUS_INVALID;
    }
    struct parts parts = parts_of(state, stage);
    struct standin standin = {0};
    enum status status = make_standin(&standin, stage);
    if (status == STATUS_OK) {
        status = take_columns(&parts, stage, look);
    }
    if (status == STATUS_OK) {
        const double s = selftune_held(look->sum_deviation / look->record_count);
        const double mean = selftune_between(look->sum[0] / look->record_count, -1, 1);
        const double off = selftune_held(look->product_deviation / look->record_count);
        const double variance =
            selftune_between(selftune_held(look->product[0] / look->record_count) - mean * mean,
                             fmin(fmax(VARIANCE_LEAST, off), 1), 1);
        memset(parts.v, 0, (parts.d + 1) * sizeof *parts.v);
        *parts.taken = 0;
        if (stage->tune.sight == SIGHT_PRODUCTS) {
            solve(&parts, look, variance);
        } else {
            *parts.unsure = 1;
            *parts.steep = fmax(1, (double)parts.d / 2);
            *parts.prior = variance / (double)parts.d;
            *parts.sigma = sqrt(variance);
        }
        const double doubt = selftune_slope_doubt(&stage->loss, *parts.sigma);
        parts.v[parts.d] =
            selftune_between(mean + selftune_slope_start(&stage->loss, *parts.sigma), -1, 1);
        *parts.prior_end = s * s + doubt * doubt;
        *parts.prior +=
            doubt * doubt / (double)parts.d; /* quantiles may lean otherwise than means */
        hold(&parts, stage);
        show_clip(&parts, stage, &standin);
        hold(&parts, stage);
    }
    standin_free(&standin);
    return status;
}

/* How much steeper the loss is along the last step than white columns would have it, as far as noise of variance
 * `noise` lets one say. Source: Barzilai, Borwein 1988, by the columns alone. */
static double steepness(const struct parts *parts, const double *q, double noise)
{
    double moved = 0;
    double turned = 0;
    for (size_t j = 0; j < parts->d; j++) {
        const double step = parts->v[j] - parts->past_v[j];
        moved += step * step;
        turned += step * (q[j] - parts->past_q[j]);
    }
    if (*parts->taken < 1 || moved < PRIOR_LEAST) {
        return *parts->steep;
    }
    const double spread = 2 * noise / moved;
    const double doubt = *parts->unsure * *parts->steep * *parts->steep;
    const double blend = (turned / moved * doubt + *parts->steep * spread) / (doubt + spread);
    return selftune_between(blend, fmax(STEEP_LEAST, *parts->steep * STEEP_FALL),
                            (double)parts->d + 1);
}

/* q (D): how far the model is from the best, by the released gradient. */
static void step(struct parts *parts, const struct selftune_slope *slope, double *q,
                 double deviation)
{
    const size_t d = parts->d;
    const double noise = deviation * deviation / (slope->column * slope->column);
    const double noise_end = deviation * deviation / (slope->end * slope->end);
    *parts->steep = steepness(parts, q, noise);
    const double gain = *parts->prior / fmax(*parts->prior + noise, PRIOR_LEAST) / *parts->steep;
    const double gain_end = *parts->prior_end / fmax(*parts->prior_end + noise_end, PRIOR_LEAST);
    const double length = gain * sqrt(dense_dot(q, q, d));
    const double held_back = fmin(1, TURN_MOST / fmax(length, PRIOR_LEAST));
    memcpy(parts->past_v, parts->v, (d + 1) * sizeof *q);
    memcpy(parts->past_q, q, (d + 1) * sizeof *q);
    for (size_t j = 0; j < d; j++) {
        parts->v[j] -= gain * held_back * q[j];
    }
    parts->v[d] -= gain_end * q[d];
    *parts->prior = after(*parts->prior, noise) + *parts->unsure * *parts->prior / 2;
    *parts->prior_end = after(*parts->prior_end, noise_end) + DRIFT * *parts->prior_end;
    *parts->taken += 1;
}

/* Sigma as the release and what was known before it say. Where a quantile's model is far off, most labels are on one side
 * of it, and miss it by more than their spread. */
static void take_size(struct parts *parts, const struct selftune_number *stage,
                      const struct standin *standin, const struct selftune_number_release *release)
{
    const double n = release->record_count;
    const struct selftune_slope slope =
        selftune_slope_of(standin, &stage->loss, *parts->clip, *parts->sigma);
    const double off = selftune_held(release->deviation / n) / slope.end;
    const double chance =
        selftune_slope_chance(&slope, &stage->loss, selftune_held(release->gradient[parts->d] / n),
                              *parts->prior_end / fmax(*parts->prior_end + off * off, PRIOR_LEAST));
    const double sigma_per_size = selftune_slope_sigma(&stage->loss, 1, chance);
    const double seen = sigma_per_size * selftune_held(release->size / n);
    const double noise = sigma_per_size * selftune_held(release->size_deviation / n);
    const double known = fmax(SIGMA_UNSURE * *parts->sigma, SIGMA_CHANGES);
    const double gain = known * known / fmax(known * known + noise * noise, PRIOR_LEAST);
    *parts->sigma = selftune_between(*parts->sigma + gain * (seen - *parts->sigma), SIGMA_LEAST, 1);
}

enum status selftune_number_take_gradient(double *state, const struct selftune_number *stage,
                                          const struct selftune_number_release *release)
{
    const size_t d = stage->tune.feature_count;
    if (!isfinite(release->record_count) || release->record_count < 1 ||
        !selftune_all_finite(release->gradient, d + 1) ||
        !selftune_is_deviation(release->deviation) || !isfinite(release->size) ||
        !selftune_is_deviation(release->size_deviation)) {
        return STATUS_INVALID;
    }
    double q[SELFTUNE_FEATURES_MAX + 1] = {0};
    struct standin standin = {0};
    CHECK(d <= SELFTUNE_FEATURES_MAX);
    const enum status status = make_standin(&standin, stage);
    if (status == STATUS_OK) {
        struct parts parts = parts_of(state, stage);
        hold(&parts, stage);
        take_size(&parts, stage, &standin, release);
        const struct selftune_slope slope =
            selftune_slope_of(&standin, &stage->loss, *parts.clip, *parts.sigma);
        for (size_t j = 0; j <= d; j++) {
            const double mean = selftune_held(release->gradient[j] / release->record_count);
            q[j] = j < d ? mean / slope.column
                         : selftune_slope_end(&slope, &stage->loss, *parts.sigma, mean);
        }
        step(&parts, &slope, q, selftune_held(release->deviation / release->record_count));
        hold(&parts, stage);
        show_clip(&parts, stage, &standin);
        hold(&parts, stage);
    }
    standin_free(&standin);
    return status;
}
