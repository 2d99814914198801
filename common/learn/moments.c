/* moments.c - the worst t of the L1 bound is searched on a grid of angles, t = cos(angle); what
 * lies between two of them is bounded by the slope. Solved by Cholesky: a matrix that is not
 * positive definite is noticed there, and needs more regularisation. */

#include "learn/moments.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "learn/dense.h"
#include "learn/steps.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ANGLES = 4096, DOUBLINGS_MAX = 200 };
enum { QUICK_BITS_MAX = 40, FLUSH_ROWS = 4096 }; /* sums of 4096 numbers up to 2^40 are exact */

#define QUARTER_TURN 1.5707963267948968 /* above pi/2 */
#define UP           (1 + 0x1p-40)      /* above all roundings, of the products x_i x_j too */

enum status moments_check(const struct moments *moments, size_t row_count, struct why *why)
{
    if (moments->feature_count == 0 || moments->feature_count > MOMENTS_FEATURES_MAX) {
        return why_refuse(why, "second moments: from 1 to %d features", MOMENTS_FEATURES_MAX);
    }
    if (moments->grid_bits > ENCODE_BITS_MAX || !(moments->bound_y > 0 && moments->bound_y <= 1)) {
        return why_refuse(why, "second moments: a grid of at most %d bits, labels within -1 .. 1",
                          ENCODE_BITS_MAX);
    }
    if (row_count > (uint64_t)ENCODE_MAX >> (moments->grid_bits + 1)) {
        return why_refuse(
            why, "the sum over %zu records may not fit into 64 bits: choose a coarser grid",
            row_count);
    }
    return STATUS_OK;
}

size_t moments_count(const struct moments *moments)
{
    return moments->feature_count * (moments->feature_count + 3) / 2;
}

static uint64_t steps_above(const struct moments *moments, double real)
{
    return (uint64_t)ceil(ldexp(real * UP, (int)moments->grid_bits));
}

uint64_t moments_sensitivity_l1(const struct moments *moments)
{
    const double d = (double)moments->feature_count;
    const double matrix = d / sqrt(2);
    const double vector = 2 * moments->bound_y * sqrt(d);
    const double step = QUARTER_TURN / ANGLES;
    double most = 0;

    CHECK(moments_check(moments, 1, NULL) == STATUS_OK);
    for (int i = 0; i <= ANGLES; i++) { /* sqrt(2 + 2 t) = 2 cos(angle/2) */
        const double angle = i * step;
        most = fmax(most, matrix * sin(angle) + vector * cos(angle / 2));
    }
    most += (matrix + vector / 2) * step / 2;
    return steps_above(moments, 1 + most) + moments_count(moments);
}

uint64_t moments_sensitivity_l2(const struct moments *moments)
{
    const double m2 = moments->bound_y * moments->bound_y;

    CHECK(moments_check(moments, 1, NULL) == STATUS_OK);
    return steps_above(moments, sqrt(2 + 2 * m2 + m2 * m2 / 2)) +
           (uint64_t)ceil(sqrt((double)moments_count(moments)) * UP);
}

uint64_t moments_range(const struct moments *moments, size_t row_count)
{
    return row_count * ((UINT64_C(1) << moments->grid_bits) + 1);
}

/* sum += encode(factor x) */
static void add_quickly(double *sum, const double *x, size_t count, double factor, double grid)
{
    for (size_t j = 0; j < count; j++) {
        sum[j] += steps_nearest(factor * x[j] * grid);
    }
}

static void add_by_the_book(int64_t *sum, const double *x, size_t count, double factor,
                            unsigned bits)
{
    for (size_t j = 0; j < count; j++) {
        sum[j] += encode_value(factor * x[j], bits);
    }
}

static void flush(int64_t *sum, double *partial, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        sum[j] += (int64_t)partial[j];
        partial[j] = 0;
    }
}

enum status moments_sum(int64_t *sum, const struct moments *moments, const double *x,
                        const double *y, size_t row_count)
{
    const size_t d = moments->feature_count;
    const size_t count = moments_count(moments);
    const bool quick = moments->grid_bits <= QUICK_BITS_MAX;
    const double grid = ldexp(1, (int)moments->grid_bits);

    CHECK(moments_check(moments, row_count, NULL) == STATUS_OK);
    memset(sum, 0, count * sizeof *sum);
    double *partial = calloc(count, sizeof *partial);
    if (partial == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t row = 0; row < row_count; row++) {
        const double *record = x + row * d;
        size_t next = 0;
        for (size_t i = 0; i <= d; i++) {
            const double label = even_min(even_max(y[row], -moments->bound_y), moments->bound_y);
            const double factor = i < d ? record[i] : label;
            const size_t first = i < d ? i : 0;
            if (quick) {
                add_quickly(partial + next, record + first, d - first, factor, grid);
            } else {
                add_by_the_book(sum + next, record + first, d - first, factor, moments->grid_bits);
            }
            next += d - first;
        }
        if (row % FLUSH_ROWS == FLUSH_ROWS - 1) {
            flush(sum, partial, count);
        }
    }
    flush(sum, partial, count);
    bytes_free(partial, count * sizeof *partial);
    return STATUS_OK;
}

/* The lower triangle of A + lambda I, and b into w. */
static void fill(double *matrix, double *w, const struct moments *moments,
                 const struct moments_release *release, double lambda)
{
    const size_t d = moments->feature_count;
    const int64_t *next = release->total;

    for (size_t i = 0; i < d; i++) {
        for (size_t j = i; j < d; j++) {
            matrix[j * d + i] = decode_value(*next++, moments->grid_bits) / release->record_count;
        }
        matrix[i * d + i] += lambda;
    }
    for (size_t i = 0; i < d; i++) {
        w[i] = decode_value(*next++, moments->grid_bits) / release->record_count;
    }
}

enum status moments_solve(double *w, double *lambda_used, const struct moments *moments,
                          const struct moments_release *release)
{
    const size_t d = moments->feature_count;
    double *matrix = calloc(d * d, sizeof *matrix);
    bool solved = false;

    CHECK(release->record_count >= 1 && release->deviation >= 0 && release->lambda >= 0);
    *lambda_used = release->lambda + 2 * sqrt((double)d) *
                                         ldexp(release->deviation, -(int)moments->grid_bits) /
                                         release->record_count;
    if (matrix == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (int i = 0; i < DOUBLINGS_MAX && !solved; i++) { /* numbers below 2^63 need fewer */
        *lambda_used = i == 0 ? *lambda_used : fmax(2 * *lambda_used, 0x1p-40);
        fill(matrix, w, moments, release, *lambda_used);
        solved = cholesky_factor(matrix, d);
    }
    CHECK(solved);
    cholesky_solve(matrix, w, d);
    free(matrix);
    return STATUS_OK;
}
