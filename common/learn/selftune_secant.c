/* selftune_secant.c - in the state stand: whether a gradient was seen (1), how steep the loss is along the steepest direction (1),
 * and of the last gradient the variance of its noise over all columns (m), V there (m, D), and what it has beyond that of white
 * columns (m, d); then E (d, d), how much more than the made-up records the columns vary, of which directions may be negative. */

#include "learn/selftune_secant.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/eigen.h"
#include "learn/tuned.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much of a secant is taken to be noise: as much as there is in the mean. Without secants steps of columns that are alike
 * overshoot, by 1 to 8 points of accuracy: docs/study-hospitals.md. */
#define SECANT_NOISE TUNED(SECANT_NOISE, 1.0)

#define ALONG_LEAST                                                                                \
    0.02 /* of a direction's second moment: by less the rule would divide by noise */
#define LITTLE 1e-12
#define MOST   1e6 /* of a number of the state that is about 1 */

struct secant {
    double *seen;
    double *steepest;
    double *noise; /* (m) */
    double *from;  /* (m, D) */
    double *rest;  /* (m, d) */
    double *e;     /* (d, d) */
};

size_t selftune_secant_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t m = stage->output_count;
    const bool has = !stage->is_number && stage->steps > 0 &&
                     (stage->sight == SIGHT_SUMS || stage->sight == SIGHT_SQUARES);
    return has ? 2 + m * (1 + d + 1 + d) + d * d : 0;
}

static struct secant secant_of(const struct selftune_parts *parts, size_t m)
{
    double *first = parts->secant;
    return (struct secant){.seen = first,
                           .steepest = first + 1,
                           .noise = first + 2,
                           .from = first + 2 + m,
                           .rest = first + 2 + m + parts->width,
                           .e = first + 2 + m + parts->width + m * parts->d};
}

double selftune_secant_steepest(const double *state, const struct selftune *stage)
{
    const size_t count = selftune_secant_count(stage);
    return count == 0 ? 1 : state[selftune_state_count(stage) - count + 1];
}

static void hold(double *x, size_t count, double least, double most)
{
    for (size_t i = 0; i < count; i++) {
        x[i] = selftune_between(x[i], least, most);
    }
}

void selftune_secant_hold(struct selftune_parts *parts, const struct selftune *stage)
{
    const size_t d = parts->d;
    const size_t m = stage->output_count;
    if (selftune_secant_count(stage) == 0) {
        return;
    }
    struct secant secant = secant_of(parts, m);
    hold(secant.seen, 1, 0, 1);
    hold(secant.steepest, 1, 1, MOST);
    hold(secant.noise, m, 0, MOST);
    hold(secant.from, parts->width, -MOST, MOST);
    hold(secant.rest, m * d, -MOST, MOST);
    hold(secant.e, d * d, -MOST, MOST);
}

void selftune_secant_begin(struct selftune_parts *parts, const struct selftune *stage,
                           const double *covariance, const double *curvature)
{
    const size_t d = parts->d;
    if (selftune_secant_count(stage) == 0) {
        return;
    }
    struct secant secant = secant_of(parts, stage->output_count);
    memset(parts->secant, 0, selftune_secant_count(stage) * sizeof *parts->secant);
    *secant.seen = 1;
    *secant.steepest = 1;
    for (size_t i = 0; i < stage->output_count * d; i++) {
        const size_t o = i / d;
        const double unsure = curvature[o] * parts->scale[i % d];
        secant.rest[i] = -covariance[i];
        secant.noise[o] += unsure * unsure * parts->prior[o * (d + 1) + i % d];
    }
}

/* E takes the secant: S + E, with S the made-up records' second moments (the columns' squared scales), times `way` becomes what the
 * gradient changed by. off (d): by how much more than S way; it is used up. noise: the variance of off, over all columns. */
static void take(double *e, const struct selftune_parts *parts, const double *way, double *off,
                 double noise, double *turned)
{
    const size_t d = parts->d;
    const double square = dense_dot(way, way, d);
    const double size = dense_dot(off, off, d);
    const double left = fmax(0, 1 - SECANT_NOISE * noise / fmax(size, LITTLE));
    if (square < LITTLE) {
        return;
    }
    for (size_t i = 0; i < d; i++) {
        const double white = parts->scale[i] * parts->scale[i] * way[i];
        off[i] = white + left * off[i];
        turned[i] = white + dense_dot(e + i * d, way, d);
    }
    /* No direction is taken to have more than d times what a white column has. */
    const double longest = (double)d * sqrt(square);
    const double length = sqrt(dense_dot(off, off, d));
    cblas_dscal((int)d, fmin(1, longest / fmax(length, LITTLE)), off, 1);
    const double along = dense_dot(off, way, d);
    const double before = dense_dot(turned, way, d);
    if (along < ALONG_LEAST * square || before < ALONG_LEAST * square) {
        return;
    }
    for (size_t i = 0; i < d; i++) {
        dense_axpy(e + i * d, off[i] / along, off, d);
        dense_axpy(e + i * d, -turned[i] / before, turned, d);
    }
}

/* more = E without its negative directions. Returns the largest eigenvalue, or 0, in `most`. */
static enum status keep_positive(double *more, double *most, const double *e, size_t d,
                                 double *vector)
{
    double *value = vector + d * d;
    memcpy(vector, e, d * d * sizeof *e);
    memset(more, 0, d * d * sizeof *more);
    const enum status status = eigen_symmetric(vector, value, d);
    for (size_t k = 0; status == STATUS_OK && k < d; k++) {
        value[k] = selftune_between(value[k], 0, (double)d);
        for (size_t i = 0; value[k] > 0 && i < d; i++) {
            dense_axpy(more + i * d, value[k] * vector[k * d + i], vector + k * d, d);
        }
    }
    *most = status == STATUS_OK ? value[d - 1] : 0;
    return status;
}

/* The gradient of an output, unclipped, less what it would be of white columns, becomes the last one; its change is a secant. */
static void learn_output(struct secant *secant, const struct selftune_parts *parts, size_t output,
                         const double *g, const struct selftune_news *news, double kept,
                         const double *white, double *spare)
{
    const size_t d = parts->d;
    const size_t row = d + 1;
    const double h = news->curvature[output];
    const double up = h / kept;
    const double noise = (double)d * up * up * news->noise;
    double *way = spare;
    double *off = way + d;
    for (size_t j = 0; j < d; j++) {
        const size_t at = output * row + j;
        const double rest = selftune_between(up * g[at] - white[at], -MOST, MOST);
        way[j] = parts->v[at] - secant->from[at];
        off[j] = (rest - secant->rest[output * d + j]) / h;
        secant->rest[output * d + j] = rest;
    }
    if (*secant->seen == 1) {
        take(secant->e, parts, way, off, (noise + secant->noise[output]) / (h * h), off + d);
    }
    secant->noise[output] = fmin(noise, MOST);
    for (size_t j = output * row; j < (output + 1) * row; j++) {
        secant->from[j] = selftune_between(parts->v[j], -MOST, MOST);
    }
}

enum status selftune_secant_learn(double *more, struct selftune_parts *parts,
                                  const struct selftune *stage, const struct standin *standin,
                                  const double *g, const struct selftune_news *news)
{
    const size_t d = parts->d;
    const size_t m = stage->output_count;
    struct secant secant = secant_of(parts, m);
    double kept[SELFTUNE_OUTPUTS_MAX];
    CHECK(d > 0 && selftune_secant_count(stage) > 0);
    double *white = malloc((parts->width + 3 * d + d * d + d) * sizeof *white);
    if (white == NULL) {
        return STATUS_NO_MEMORY;
    }
    double *spare = white + parts->width;
    standin_kept_curvature(kept, standin, *parts->clip);
    standin_moment(white, standin);
    for (size_t o = 0; o < m; o++) {
        learn_output(&secant, parts, o, g, news, kept[o], white, spare);
    }
    *secant.seen = 1;
    double most = 0;
    const enum status status = keep_positive(more, &most, secant.e, d, spare + 3 * d);
    *secant.steepest = 1 + most;
    free(white);
    return status;
}
