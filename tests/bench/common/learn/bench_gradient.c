/* bench_gradient.c - nanoseconds per record of gradient_sum, beside the plain definition
 * (encode_value and the clip of dp/encode.h, one record after the other), and per record of
 * moments_sum. */

#include "base/check.h"
#include "dp/encode.h"
#include "learn/dense.h"
#include "learn/gradient.h"
#include "learn/moments.h"
#include "tests/support/bench_clock.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1 << 20, GRID_BITS = 16, REPEATS = 5 };

static void sum_plainly(int64_t *sum, const struct gradient *gradient, const double *weights,
                        const struct gradient_rows *rows, double *real, int64_t *value)
{
    const size_t d = gradient->feature_count;
    memset(sum, 0, d * sizeof *sum);
    for (size_t i = 0; i < rows->row_count; i++) {
        const double *x = rows->x + i * d;
        const double slope = loss_derivative(gradient->loss, dense_dot(weights, x, d), rows->y[i]);
        for (size_t j = 0; j < d; j++) {
            real[j] = slope * x[j];
        }
        encode_vector(value, real, d, gradient->grid_bits);
        if (gradient->norm == GRADIENT_L1) {
            clip_l1(value, d, gradient->clip);
        } else {
            clip_l2(value, d, gradient->clip);
        }
        for (size_t j = 0; j < d; j++) {
            sum[j] += value[j];
        }
    }
}

static void bench(size_t d, enum gradient_norm norm)
{
    const size_t n = NUMBERS / d;
    double *x = calloc(n * d, sizeof *x);
    double *y = calloc(n, sizeof *y);
    double *weights = calloc(2 * d, sizeof *weights);
    int64_t *sum = calloc(3 * d, sizeof *sum);
    struct seeded_random seeded;
    double fast = INFINITY;
    double plain = INFINITY;

    CHECK(x != NULL && y != NULL && weights != NULL && sum != NULL);
    seeded_random_init(&seeded, d);
    for (size_t i = 0; i < n * d; i++) {
        x[i] = (2 * seeded_random_unit(&seeded) - 1) / sqrt((double)d);
    }
    for (size_t i = 0; i < n; i++) {
        y[i] = seeded_random_below(&seeded, 2) == 0 ? -1 : 1;
    }
    for (size_t j = 0; j < d; j++) {
        weights[j] = seeded_random_unit(&seeded);
    }
    const struct gradient gradient = {
        .output_count = 1,
        .feature_count = d,
        .grid_bits = GRID_BITS,
        .norm = norm,
        .clip = norm == GRADIENT_L1 ? (int64_t)(0.25 * sqrt((double)d) * 0x1p16) : 1 << 14};
    const struct gradient_rows rows = {.x = x, .y = y, .row_count = n};
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double from = now_ns();
        CHECK(gradient_sum(sum, &gradient, weights, &rows) == STATUS_OK);
        fast = fmin(fast, now_ns() - from);
        from = now_ns();
        sum_plainly(sum + d, &gradient, weights, &rows, weights + d, sum + 2 * d);
        plain = fmin(plain, now_ns() - from);
        CHECK(memcmp(sum, sum + d, d * sizeof *sum) == 0);
    }
    printf("gradient d = %4zu %s: %8.1f ns a record, by the definition %8.1f\n", d,
           norm == GRADIENT_L1 ? "L1" : "L2", fast / (double)n, plain / (double)n);
    const struct moments moments = {.feature_count = d, .grid_bits = GRID_BITS, .bound_y = 1};
    int64_t *all = calloc(moments_count(&moments), sizeof *all);
    CHECK(all != NULL);
    if (norm == GRADIENT_L1) {
        const double from = now_ns();
        CHECK(moments_sum(all, &moments, x, y, n) == STATUS_OK);
        printf("moments  d = %4zu   : %8.1f ns a record\n", d, (now_ns() - from) / (double)n);
    }
    free(all);
    free(x);
    free(y);
    free(weights);
    free(sum);
}

int main(void)
{
    static const size_t d[] = {8, 31, 100, 1000};
    for (size_t i = 0; i < sizeof d / sizeof d[0]; i++) {
        bench(d[i], GRADIENT_L1);
        bench(d[i], GRADIENT_L2);
    }
    return 0;
}
