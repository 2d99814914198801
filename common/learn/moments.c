/* moments.c - the worst t of the L1 bound is searched on a grid of angles, t = cos(angle); what lies
 * between two of them is bounded by the slope. Solved by Cholesky: a matrix that is not positive
 * definite is noticed there, and needs more regularisation. */

#include "learn/moments.h"

#include "base/check.h"
#include "dp/encode.h"
#include "learn/cholesky.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ANGLES = 4096, DOUBLINGS_MAX = 200 };

#define QUARTER_TURN 1.5707963267948968 /* above pi/2 */
#define UP           (1 + 0x1p-40)      /* above all roundings, of the products x_i x_j too */

enum status moments_check(const struct moments *moments, size_t row_count, struct why *why)
{
    if (moments->feature_count == 0 || moments->feature_count > MOMENTS_FEATURES_MAX) {
        why_set(why, "second moments: from 1 to %d features", MOMENTS_FEATURES_MAX);
        return STATUS_INVALID;
    }
    if (moments->grid_bits > ENCODE_BITS_MAX || !(moments->bound_y > 0 && moments->bound_y <= 1)) {
        why_set(why, "second moments: a grid of at most %d bits, labels within -1 .. 1",
                ENCODE_BITS_MAX);
        return STATUS_INVALID;
    }
    if (row_count > (uint64_t)ENCODE_MAX >> (moments->grid_bits + 1)) {
        why_set(why, "the sum over %zu records may not fit into 64 bits: choose a coarser grid",
                row_count);
        return STATUS_INVALID;
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

void moments_sum(int64_t *sum, const struct moments *moments, const double *x, const double *y,
                 size_t row_count)
{
    const size_t d = moments->feature_count;

    CHECK(moments_check(moments, row_count, NULL) == STATUS_OK);
    memset(sum, 0, moments_count(moments) * sizeof *sum);
    for (size_t row = 0; row < row_count; row++) {
        const double *record = x + row * d;
        const double label = fmin(fmax(y[row], -moments->bound_y), moments->bound_y);
        int64_t *next = sum;
        for (size_t i = 0; i < d; i++) {
            for (size_t j = i; j < d; j++) {
                *next++ += encode_value(record[i] * record[j], moments->grid_bits);
            }
        }
        for (size_t i = 0; i < d; i++) {
            *next++ += encode_value(record[i] * label, moments->grid_bits);
        }
    }
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
