/* selftune.c - the state, in this order: C (1), V (m, D), if the stage looks mu (d) and W (d, d) or (d); then
 * Pv (m), steps done (1), and the iterates before V that the mean may need, the latest first. Numbers
 * from outside are held to 1e100, so that no sum or product here is infinite. */

#include "learn/selftune.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/dense.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST           1e100
#define PRIOR          3.0 /* squared length of what is to be learned, over d: Pv at first */
#define DRIFT          0.3 /* what the made-up records got wrong in one step, over d */
#define RIDGE_LEAST    1e-4
#define CLASS_LEAST    1e-3 /* of the share of a class */
#define VARIANCE_LEAST 1e-2 /* of a feature */
#define EIGEN_LEAST    1e-3
#define NOISE_EDGE     2.0 /* the eigenvalues of noise of deviation s end near 2 s sqrt(d) (Wigner) */
#define PLAIN_FACTOR   2.0 /* W without a look: z of variance 1/4 becomes u of variance 1 */

#define CLIP_MOST(d)   (16 * ((d) + 1)) /* no gradient of a made-up record is as long */

struct parts {
    size_t d;
    size_t width;  /* m D */
    double *clip;  /* (1) */
    double *v;     /* (m, D) */
    double *mu;    /* (d) NULL without a look */
    double *w;     /* (d, d), or (d) after squares; NULL without a look */
    double *prior; /* (m) */
    double *done;
    double *past; /* (window - 1, m, D) */
};

/* How many of the last iterates the model is the mean of. */
static size_t window_of(const struct selftune *stage)
{
    return stage->steps >= 5 ? 3 : stage->steps >= 3 ? 2 : 1;
}

static struct parts parts_of(double *state, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    struct parts parts = {
        .d = d, .width = stage->output_count * (d + 1), .clip = state, .v = state + 1};
    double *next = parts.v + parts.width;
    if (stage->sight != SIGHT_NONE) {
        parts.mu = next;
        parts.w = next + d;
    }
    parts.prior = state + selftune_shown_count(stage);
    parts.done = parts.prior + stage->output_count;
    parts.past = parts.done + 1;
    return parts;
}

static double held(double x)
{
    return fmin(fmax(x, -MOST), MOST);
}

static double between(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

static bool all_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static bool is_deviation(double x)
{
    return isfinite(x) && x >= 0;
}

static bool is_count(double x)
{
    return isfinite(x) && x >= 1;
}

static size_t w_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    return stage->sight == SIGHT_PRODUCTS ? d * d : stage->sight == SIGHT_SQUARES ? d : 0;
}

size_t selftune_product_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    return stage->sight == SIGHT_PRODUCTS ? d * (d + 1) / 2 : w_count(stage);
}

enum status selftune_check(const struct selftune *stage, struct why *why)
{
    CHECK((unsigned)stage->sight < SIGHTS);
    if (stage->feature_count == 0 || stage->feature_count > SELFTUNE_FEATURES_MAX) {
        return why_refuse(why, "from 1 to %d features", SELFTUNE_FEATURES_MAX);
    }
    if (stage->output_count == 0 || stage->output_count == 2 ||
        stage->output_count > SELFTUNE_OUTPUTS_MAX) {
        return why_refuse(why, "one output for two classes, or one for each of 3 to %d classes",
                          SELFTUNE_OUTPUTS_MAX);
    }
    if (stage->steps == 0 || stage->steps > SELFTUNE_STEPS_MAX) {
        return why_refuse(why, "from 1 to %d steps", SELFTUNE_STEPS_MAX);
    }
    if (!(stage->quantile > 0 && stage->quantile <= 1)) {
        return why_refuse(why, "the clip's quantile is above 0 and at most 1");
    }
    return STATUS_OK;
}

size_t selftune_shown_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    CHECK(selftune_check(stage, NULL) == STATUS_OK);
    return 1 + stage->output_count * (d + 1) + (stage->sight != SIGHT_NONE ? d : 0) +
           w_count(stage);
}

size_t selftune_class_count(const struct selftune *stage)
{
    return stage->output_count == 1 ? 2 : stage->output_count;
}

size_t selftune_state_count(const struct selftune *stage)
{
    return selftune_shown_count(stage) + stage->output_count + 1 +
           (window_of(stage) - 1) * stage->output_count * (stage->feature_count + 1);
}

/* Whether each number is a number and at most `most`. */
static bool all_within(const double *x, size_t count, double most)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(x[i]) <= most)) {
            return false;
        }
    }
    return true;
}

enum status selftune_check_shown(const double *shown, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t count = selftune_shown_count(stage);
    const size_t width = stage->output_count * (d + 1);
    const double *v = shown + 1;
    const double *mu = v + width;
    bool good = shown[0] >= STANDIN_CLIP_LEAST && shown[0] <= CLIP_MOST((double)d) &&
                all_within(v, width, MOST);
    if (stage->sight != SIGHT_NONE) {
        good = good && all_within(mu, d, 1) && all_within(mu + d, w_count(stage), 32);
        for (const double *w = mu + d; w < shown + count; w++) {
            good = good && dense_flushed(*w) == *w;
        }
    }
    return good ? STATUS_OK : STATUS_INVALID;
}

/* V's intercepts from noisy counts: of two classes the logarithm of their ratio, else each class's, less their mean. No
 * count is taken to be below its noise, or, of several, below its part of it: else rare classes would together outweigh
 * the others. */
static void set_intercepts(struct parts *parts, const struct selftune *stage, const double *count,
                           double deviation)
{
    const size_t classes = selftune_class_count(stage);
    const double floor = fmax(deviation / (stage->output_count > 1 ? (double)classes : 1), 1e-9);
    double share[SELFTUNE_OUTPUTS_MAX];
    double total = 0;
    double mean = 0;
    for (size_t c = 0; c < classes; c++) {
        share[c] = fmin(fmax(count[c], floor), MOST);
        total += share[c];
    }
    for (size_t c = 0; c < classes; c++) {
        share[c] = log(between(share[c] / total, CLASS_LEAST, 1));
        mean += share[c] / (double)classes;
    }
    if (stage->output_count == 1) {
        parts->v[parts->d] = share[1] - share[0];
        return;
    }
    for (size_t c = 0; c < classes; c++) {
        parts->v[c * (parts->d + 1) + parts->d] = share[c] - mean;
    }
}

static void set_prior(struct parts *parts, const struct selftune *stage)
{
    for (size_t o = 0; o < stage->output_count; o++) {
        parts->prior[o] = PRIOR / (double)parts->d;
    }
}

static void show_clip(struct parts *parts, const struct selftune *stage, struct standin *standin)
{
    standin_set(standin, parts->v);
    *parts->clip = standin_clip(standin, stage->quantile);
}

static enum status make_standin(struct standin *standin, const struct selftune *stage)
{
    return stage->rows != NULL
               ? standin_copy(standin, stage->rows)
               : standin_init(standin, stage->feature_count, stage->output_count, stage->gaussian);
}

enum status selftune_begin(double *state, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    struct parts parts = parts_of(state, stage);
    struct standin standin = {0};
    memset(state, 0, selftune_state_count(stage) * sizeof *state);
    for (size_t i = 0; i < w_count(stage); i += stage->sight == SIGHT_PRODUCTS ? d + 1 : 1) {
        parts.w[i] = PLAIN_FACTOR;
    }
    set_prior(&parts, stage);
    const enum status status = make_standin(&standin, stage);
    if (status == STATUS_OK) {
        show_clip(&parts, stage, &standin);
    }
    standin_free(&standin);
    return status;
}

/* Fills the covariance (d, d) that the look shows. Its off-diagonals are multiplied by
 * max(0, 1 - s^2/their mean square), s the noise's deviation. Returns what the diagonal has to be
 * raised by in the end, for the noise left in the off-diagonals. */
static double covariance(double *matrix, const double *mu, size_t d,
                         const struct selftune_look *look)
{
    const double s = held(look->product_deviation / look->record_count);
    const double *next = look->product;
    double square = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            const double c = held(*next++ / look->record_count) - mu[i] * mu[j];
            matrix[i * d + j] = i == j ? between(c, fmax(VARIANCE_LEAST, s), 1) : c;
            square += i == j ? 0 : 2 * c * c;
        }
    }
    const double mean = square / fmax(1, (double)(d * (d - 1)));
    const double shrink = mean > 0 ? fmax(0, 1 - s * s / mean) : 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            matrix[i * d + j] *= shrink;
            matrix[j * d + i] = matrix[i * d + j];
        }
    }
    return NOISE_EDGE * shrink * s * sqrt((double)d);
}

/* w (d) = the inverse roots of the variances that the look shows, none taken to be below its noise. */
static void scale(double *w, const double *mu, size_t d, const struct selftune_look *look)
{
    const double s = held(look->product_deviation / look->record_count);
    for (size_t i = 0; i < d; i++) {
        const double variance = held(look->product[i] / look->record_count) - mu[i] * mu[i];
        w[i] = 1 / sqrt(between(variance, fmin(fmax(VARIANCE_LEAST, s), 1), 1));
    }
}

static bool look_is_good(const struct selftune_look *look, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    return is_count(look->record_count) && is_deviation(look->count_deviation) &&
           is_deviation(look->product_deviation) &&
           all_finite(look->count, selftune_class_count(stage)) && all_finite(look->mean, d) &&
           all_finite(look->product, selftune_product_count(stage));
}

enum status selftune_take_look(double *state, const struct selftune *stage,
                               const struct selftune_look *look)
{
    const size_t d = stage->feature_count;
    const size_t count = selftune_state_count(stage);
    CHECK(stage->sight != SIGHT_NONE);
    if (!look_is_good(look, stage)) {
        return STATUS_INVALID;
    }
    double *fresh = calloc(count + d * d, sizeof *fresh);
    struct standin standin = {0};
    enum status status = STATUS_NO_MEMORY;
    if (fresh == NULL) {
        goto done;
    }
    struct parts parts = parts_of(fresh, stage);
    double *matrix = fresh + count;
    for (size_t i = 0; i < d; i++) {
        parts.mu[i] = between(look->mean[i] / look->record_count, -1, 1);
    }
    if (stage->sight == SIGHT_SQUARES) {
        scale(parts.w, parts.mu, d, look);
        status = STATUS_OK;
    } else {
        const double added = covariance(matrix, parts.mu, d, look);
        status = standin_root(parts.w, matrix, d, EIGEN_LEAST, added);
    }
    if (status == STATUS_OK) {
        status = make_standin(&standin, stage);
    }
    if (status == STATUS_OK) {
        for (size_t i = 0; i < w_count(stage); i++) {
            parts.w[i] = dense_flushed(parts.w[i]);
        }
        set_intercepts(&parts, stage, look->count, look->count_deviation);
        set_prior(&parts, stage);
        show_clip(&parts, stage, &standin);
        memcpy(state, fresh, count * sizeof *state);
    }
done:
    standin_free(&standin);
    free(fresh);
    return status;
}

/* Brings into its range what a step or an agent uses of a state that may come from a journal. The
 * iterates before V are held where they are used. */
static void hold(struct parts *parts, const struct selftune *stage)
{
    const double d = (double)parts->d;
    for (size_t i = 0; i < parts->width; i++) {
        parts->v[i] = held(parts->v[i]);
    }
    *parts->clip = between(*parts->clip, STANDIN_CLIP_LEAST, CLIP_MOST(d));
    for (size_t i = 0; stage->sight != SIGHT_NONE && i < parts->d; i++) {
        parts->mu[i] = between(parts->mu[i], -1, 1);
    }
    for (size_t i = 0; i < w_count(stage); i++) {
        parts->w[i] = dense_flushed(between(parts->w[i], -32, 32));
    }
    for (size_t o = 0; o < stage->output_count; o++) {
        parts->prior[o] = between(parts->prior[o], DRIFT / d, (PRIOR + DRIFT * stage->steps) / d);
    }
    *parts->done = between(floor(*parts->done), 0, stage->steps);
}

/* g (m, D) = the released mean gradient less the one that the model itself would give. A softmax's
 * gradients sum to 0 over the classes: what does not is noise. At the first step the counts know the
 * intercepts better. */
static void news_of(double *g, const struct parts *parts, const struct selftune *stage,
                    const struct selftune_release *release)
{
    const size_t row = parts->d + 1;
    const size_t m = stage->output_count;
    for (size_t i = 0; i < parts->width; i++) {
        g[i] = held(release->gradient[i] / release->record_count) - g[i];
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
    for (size_t o = 0; release->step == 0 && o < m; o++) {
        g[o * row + parts->d] = 0;
    }
}

/* V becomes the next iterate, and what was V stands among those before it. */
static enum status step(struct parts *parts, const struct selftune *stage, struct standin *standin,
                        const struct selftune_release *release)
{
    const size_t width = parts->width;
    const size_t m = stage->output_count;
    const double noise = held(release->deviation / release->record_count);
    const double s2 = noise * noise * (m > 1 ? 1 - 1 / (double)m : 1);
    double h[SELFTUNE_OUTPUTS_MAX];
    double ridge[SELFTUNE_OUTPUTS_MAX];
    double *g = calloc(2 * width, sizeof *g);
    if (g == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *v = g + width;
    const double clip = *parts->clip; /* what agents were shown */
    standin_set(standin, parts->v);
    standin_curvature(h, standin);
    standin_gradient(g, standin, clip);
    news_of(g, parts, stage, release);
    for (size_t o = 0; o < m; o++) {
        ridge[o] = s2 / (h[o] * parts->prior[o]) + RIDGE_LEAST;
    }
    memcpy(v, parts->v, width * sizeof *v);
    const enum status status = standin_move(v, standin, g, clip, ridge);
    if (status == STATUS_OK) {
        const size_t kept = window_of(stage) - 1;
        if (kept > 0) {
            memmove(parts->past + width, parts->past, (kept - 1) * width * sizeof *v);
            memcpy(parts->past, parts->v, width * sizeof *v);
        }
        for (size_t i = 0; i < width; i++) {
            parts->v[i] = held(v[i]);
        }
        if (release->count != NULL) {
            set_intercepts(parts, stage, release->count, release->count_deviation);
        }
        for (size_t o = 0; o < m; o++) {
            parts->prior[o] =
                1 / (1 / parts->prior[o] + h[o] * h[o] / s2) + DRIFT / (double)parts->d;
        }
        *parts->done = release->step + 1.0;
    }
    free(g);
    return status;
}

static bool release_is_good(const struct selftune_release *release, const struct selftune *stage)
{
    const bool counts = release->step == 0 && stage->sight == SIGHT_NONE;
    return release->step < stage->steps && counts == (release->count != NULL) &&
           is_count(release->record_count) && is_deviation(release->deviation) &&
           all_finite(release->gradient, stage->output_count * (stage->feature_count + 1)) &&
           (!counts || (all_finite(release->count, selftune_class_count(stage)) &&
                        is_deviation(release->count_deviation)));
}

enum status selftune_take_gradient(double *state, const struct selftune *stage,
                                   const struct selftune_release *release)
{
    const size_t count = selftune_state_count(stage);
    if (!release_is_good(release, stage)) {
        return STATUS_INVALID;
    }
    double *fresh = calloc(count, sizeof *fresh);
    struct standin standin = {0};
    enum status status = STATUS_NO_MEMORY;
    if (fresh != NULL) {
        memcpy(fresh, state, count * sizeof *state);
        status = make_standin(&standin, stage);
    }
    if (status == STATUS_OK) {
        struct parts parts = parts_of(fresh, stage);
        hold(&parts, stage);
        status = step(&parts, stage, &standin, release);
        if (status == STATUS_OK) {
            show_clip(&parts, stage, &standin);
            memcpy(state, fresh, count * sizeof *state);
        }
    }
    standin_free(&standin);
    free(fresh);
    return status;
}

/* w (D) becomes the model in z of v, the model in u; v is not w. mu is followed by W. */
static void return_to_columns(double *w, const double *v, const double *mu,
                              const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    w[d] = v[d];
    for (size_t i = 0; i < d; i++) {
        if (stage->sight == SIGHT_NONE) {
            w[i] = PLAIN_FACTOR * v[i];
            continue;
        }
        w[i] = stage->sight == SIGHT_SQUARES ? held(mu[d + i]) * v[i] : 0;
        for (size_t j = 0; stage->sight == SIGHT_PRODUCTS && j < d; j++) {
            w[i] += held(mu[d + i * d + j]) * v[j];
        }
        w[d] -= held(mu[i]) * w[i];
    }
}

void selftune_model(double *w, const double *state, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t width = stage->output_count * (d + 1);
    const double *v = state + 1;
    const double *done = state + selftune_shown_count(stage) + stage->output_count;
    const double count = between(floor(*done), 1, (double)window_of(stage));
    double mean[SELFTUNE_FEATURES_MAX + 1];
    for (size_t o = 0; o < stage->output_count; o++) {
        for (size_t j = 0; j <= d; j++) {
            const size_t at = o * (d + 1) + j;
            mean[j] = held(v[at]) / count;
            for (size_t i = 0; i + 1 < (size_t)count; i++) {
                mean[j] += held(done[1 + i * width + at]) / count;
            }
        }
        return_to_columns(w + o * (d + 1), mean, v + width, stage);
    }
}

void selftune_transform(double *u, const double *z, const double *shown,
                        const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const double *mu = shown + 1 + stage->output_count * (d + 1);
    for (size_t j = 0; j < d; j++) {
        const double x = even_flushed(z[j]);
        u[j] = stage->sight == SIGHT_NONE      ? PLAIN_FACTOR * x
               : stage->sight == SIGHT_SQUARES ? even_flushed(x - even_flushed(mu[j])) * mu[d + j]
                                               : 0;
    }
    u[d] = 1;
    for (size_t i = 0; stage->sight == SIGHT_PRODUCTS && i < d; i++) {
        const double off = even_flushed(even_flushed(z[i]) - even_flushed(mu[i]));
        dense_axpy(u, off, mu + d + i * d, d);
    }
}
