/* gradient.c - whole numbers held in doubles, as long as they are exact there: then the encoding,
 * the norm and the clip are plain loops that a compiler can vectorise, and give what dp/encode.h
 * gives, for
 *
 *     floor(y + 1/2), |y| < 2^50 (steps.h);
 *     trunc(v C / s), |v| C < 2^53, 0 < s: the quotient of two whole numbers that is not whole lies
 *     at least 1/s below the next, and rounding moves it by at most v C 2^-53 / s < 1/s: never
 *     across;
 *     ceil(sqrt(q)), q < 2^52: the root of k^2 + 1 lies more than 2^-28 above k, half the distance
 *     of doubles there: rounding does not bring it down to k. (From 2^52 on it does.)
 *
 * Where one of these conditions could fail for some record - which the weights, the loss, the grid and
 * the clip tell, not the records - all take dp/encode.h's own way. A record that fits goes through the
 * same multiplication and division, by its own norm. */

#include "learn/gradient.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "learn/dense.h"
#include "learn/even_math.h"
#include "learn/loss_kind.h"
#include "learn/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SQUARES_MAX 0x1p52 /* of a record, on the fast way */
#define CLIP_MAX    0x1p40 /* on the fast way */
#define SCORE_MOST  1e100

static const double slack = 1 + 0x1p-30; /* norms that exceed 1, and other roundings */

enum { LANES = 8, FLUSH_ROWS = 4096 }; /* FLUSH_ROWS * CLIP_MAX < STEPS_EXACT */

enum status gradient_check(const struct gradient *gradient, size_t row_count, struct why *why)
{
    if (gradient->output_count == 0 || gradient->feature_count == 0 ||
        gradient->output_count > SIZE_MAX / sizeof(double) / gradient->feature_count) {
        return why_refuse(why, "an update needs features, and at least one output");
    }
    if (!loss_is_learnable(gradient->loss)) {
        return why_refuse(why, "the zero-one loss has no gradient: take logistic or hinge");
    }
    if (gradient->grid_bits > ENCODE_BITS_MAX || gradient->clip < 1 ||
        gradient->clip > ENCODE_MAX) {
        return why_refuse(why,
                          "a grid of 2^-%u and a clip of %" PRId64
                          " steps: at most %d bits, and a clip of at least one step",
                          gradient->grid_bits, gradient->clip, ENCODE_BITS_MAX);
    }
    if (row_count > (uint64_t)ENCODE_MAX / (uint64_t)gradient->clip) {
        return why_refuse(
            why, "the sum over %zu records may not fit into 64 bits: choose a coarser grid",
            row_count);
    }
    return loss_check(gradient->loss, why);
}

uint64_t gradient_sensitivity(const struct gradient *gradient)
{
    return 2 * (uint64_t)gradient->clip;
}

uint64_t gradient_range(const struct gradient *gradient, size_t row_count)
{
    return row_count * (uint64_t)gradient->clip;
}

/* What one call works with; width = k d. */
struct work {
    const struct gradient *gradient;
    size_t width;
    bool is_quick;   /* whole numbers in doubles are exact for every record there can be */
    double *slope;   /* (k) of each output, for one record */
    double *step;    /* (width) the record's gradient in grid steps, whole numbers */
    int64_t *value;  /* (width) the same, on dp/encode.h's way */
    double *partial; /* (width) the sum since the last flush, whole numbers */
};

/* step = floor(slope * x * 2^bits + 1/2). Multiplying by a power of two is exact, as in ldexp. */
static void encode_steps(double *step, const double *x, size_t count, double slope, double grid)
{
    for (size_t j = 0; j < count; j++) {
        step[j] = steps_nearest(slope * x[j] * grid);
    }
}

/* Sums of non-negative whole numbers: exact when the result is below STEPS_EXACT, else at least
 * STEPS_EXACT. */
static double sum_of_sizes(const double *step, size_t count)
{
    double lane[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        for (size_t i = 0; i < LANES; i++) {
            lane[i] += fabs(step[j + i]);
        }
    }
    for (size_t i = 0; j + i < count; i++) {
        lane[i] += fabs(step[j + i]);
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* partial += trunc(step * times / by), or nothing when take is 0. */
static void add_scaled(double *partial, const double *step, size_t count, double times, double by,
                       double take)
{
    for (size_t j = 0; j < count; j++) {
        partial[j] += take * copysign(steps_floor(fabs(step[j]) * times / by), step[j]);
    }
}

/* ceil(y), 0 <= y < STEPS_MAX */
static double ceiling(double y)
{
    const double near = (y + STEPS_WHOLE) - STEPS_WHOLE;
    return near + even_keep(mask_of(near < y), 1);
}

/* What takes part is added. A record beyond the bounds that is_quick counts with, which features.h rules
 * out, would be left out, so that the sensitivity holds whatever x is. */
static void add_quickly(const struct work *work, uint64_t take)
{
    const struct gradient *gradient = work->gradient;
    const double clip = (double)gradient->clip;
    const double sizes = sum_of_sizes(work->step, work->width);
    double norm = sizes;
    uint64_t is_exact = mask_of(sizes * clip < STEPS_EXACT);

    if (gradient->norm == GRADIENT_L2) {
        const double squares = dense_dot(work->step, work->step, work->width);
        is_exact &= mask_of(squares < SQUARES_MAX);
        norm = ceiling(sqrt(squares));
    }
    add_scaled(work->partial, work->step, work->width, even_min(clip, norm), even_max(norm, 1),
               even_keep(take & is_exact, 1));
}

/* The label that output o sees. */
static double label_of(const struct gradient *gradient, double y, size_t output)
{
    if (gradient->output_count == 1) {
        return y;
    }
    return even_choose(mask_of(y == (double)output), 1, -1);
}

/* Scores become p - y, p their softmax, at even pace. Scores that are no numbers give slopes that are. */
static void subtract_label(double *slope, size_t count, double y)
{
    double most = -SCORE_MOST;
    double sum = 0;
    for (size_t o = 0; o < count; o++) {
        slope[o] = even_choose(even_is_nan(slope[o]), 0, slope[o]);
        slope[o] = even_max(even_min(slope[o], SCORE_MOST), -SCORE_MOST);
        most = even_max(most, slope[o]);
    }
    for (size_t o = 0; o < count; o++) {
        slope[o] = even_exp(even_max(slope[o] - most, -LOSS_MARGIN_MAX));
        sum += slope[o];
    }
    for (size_t o = 0; o < count; o++) {
        slope[o] = even_flushed(slope[o] / sum - even_keep(mask_of(y == (double)o), 1));
    }
}

/* Fills work->slope. A slope below 2^-100 is encoded as 0 is, and its products would be slow. */
static void find_slopes(const struct work *work, const double *weights, const double *x, double y)
{
    const struct gradient *gradient = work->gradient;
    const size_t d = gradient->feature_count;
    for (size_t o = 0; o < gradient->output_count; o++) {
        const double f = dense_dot(weights + o * d, x, d);
        work->slope[o] =
            gradient->softmax
                ? f
                : even_flushed(loss_derivative(gradient->loss, f, label_of(gradient, y, o)));
    }
    if (gradient->softmax) {
        subtract_label(work->slope, gradient->output_count, y);
    }
}

static void add_by_the_book(const struct work *work, int64_t *sum, const double *weights,
                            const double *x, double y, uint64_t take)
{
    const struct gradient *gradient = work->gradient;
    const size_t d = gradient->feature_count;

    find_slopes(work, weights, x, y);
    for (size_t o = 0; o < gradient->output_count; o++) {
        for (size_t j = 0; j < d; j++) {
            work->value[o * d + j] = encode_value(work->slope[o] * x[j], gradient->grid_bits);
        }
    }
    if (gradient->norm == GRADIENT_L1) {
        clip_l1(work->value, work->width, gradient->clip);
    } else {
        clip_l2(work->value, work->width, gradient->clip);
    }
    for (size_t j = 0; j < work->width; j++) {
        sum[j] += (int64_t)((uint64_t)work->value[j] & take);
    }
}

static void add_record(const struct work *work, int64_t *sum, const double *weights,
                       const double *x, double y, uint64_t take)
{
    const struct gradient *gradient = work->gradient;
    const size_t d = gradient->feature_count;
    const double grid = ldexp(1, (int)gradient->grid_bits);

    if (!work->is_quick) {
        add_by_the_book(work, sum, weights, x, y, take);
        return;
    }
    find_slopes(work, weights, x, y);
    for (size_t o = 0; o < gradient->output_count; o++) {
        encode_steps(work->step + o * d, x, d, work->slope[o], grid);
    }
    add_quickly(work, take);
}

/* The steepest that a loss is at these weights for any record: it is convex, scores lie within the norm
 * of the weights, and labels are at most 1. */
static double steepest(const struct gradient *gradient, const double *weights)
{
    const size_t d = gradient->feature_count;
    double most = 0;
    if (gradient->softmax) {
        return 1;
    }
    for (size_t o = 0; o < gradient->output_count; o++) {
        const double reach = sqrt(dense_dot(weights + o * d, weights + o * d, d)) * slack;
        for (int corner = 0; corner < 4; corner++) {
            const double slope = loss_derivative(gradient->loss, corner < 2 ? reach : -reach,
                                                 corner % 2 == 0 ? 1 : -1);
            most = fabs(slope) <= most ? most : fabs(slope); /* no number counts as the most */
        }
    }
    return most;
}

/* Whether whole numbers in doubles are exact for every record whose norm is at most 1. */
static bool is_quick(const struct gradient *gradient, const double *weights)
{
    const double grid = ldexp(1, (int)gradient->grid_bits);
    const double width = (double)(gradient->output_count * gradient->feature_count);
    const double slope = steepest(gradient, weights);
    const double l2 = (slope * sqrt((double)gradient->output_count) * grid + sqrt(width)) * slack;
    return gradient->clip < (int64_t)CLIP_MAX && slope * grid < STEPS_MAX &&
           l2 * sqrt(width) * (double)gradient->clip < STEPS_EXACT &&
           (gradient->norm == GRADIENT_L1 || l2 * l2 < SQUARES_MAX);
}

static void flush(const struct work *work, int64_t *sum)
{
    for (size_t j = 0; j < work->width; j++) {
        sum[j] += (int64_t)work->partial[j];
        work->partial[j] = 0;
    }
}

enum status gradient_sum(int64_t *sum, const struct gradient *gradient, const double *weights,
                         const struct gradient_rows *rows)
{
    const size_t d = gradient->feature_count;
    struct work work = {.gradient = gradient,
                        .width = gradient->output_count * d,
                        .is_quick = is_quick(gradient, weights)};
    enum status status = STATUS_NO_MEMORY;

    CHECK(gradient_check(gradient, rows->row_count, NULL) == STATUS_OK);
    memset(sum, 0, work.width * sizeof *sum);
    work.slope = calloc(gradient->output_count, sizeof *work.slope);
    work.step = calloc(work.width, sizeof *work.step);
    work.value = calloc(work.width, sizeof *work.value);
    work.partial = calloc(work.width, sizeof *work.partial);
    if (work.slope == NULL || work.step == NULL || work.value == NULL || work.partial == NULL) {
        goto done;
    }
    for (size_t i = 0; i < rows->row_count; i++) {
        const size_t row = rows->row == NULL ? i : rows->row[i];
        const uint64_t take = rows->taking == NULL ? UINT64_MAX : mask_of(rows->taking[i] != 0);
        add_record(&work, sum, weights, rows->x + row * d, rows->y[row], take);
        if (i % FLUSH_ROWS == FLUSH_ROWS - 1) {
            flush(&work, sum);
        }
    }
    flush(&work, sum);
    status = STATUS_OK;
done:
    bytes_free(work.slope, gradient->output_count * sizeof *work.slope);
    bytes_free(work.step, work.width * sizeof *work.step);
    bytes_free(work.value, work.width * sizeof *work.value);
    bytes_free(work.partial, work.width * sizeof *work.partial);
    return status;
}

void gradient_mean(double *mean, const int64_t *total, size_t count, unsigned grid_bits,
                   double record_count)
{
    CHECK(record_count > 0);
    for (size_t j = 0; j < count; j++) {
        mean[j] = decode_value(total[j], grid_bits) / record_count;
    }
}
