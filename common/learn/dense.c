/* Eight partial sums let the compiler use vector registers without being allowed to reorder
 * floating point on its own; the same order on every machine. */

#include "learn/dense.h"

#include "base/check.h"
#include "learn/lapack.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>

enum { LANES = 8 };

double dense_flushed(double x)
{
    return fabs(x) < 0x1p-400 ? 0 : x;
}

double dense_dot(const double *a, const double *b, size_t count)
{
    double lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            lane[j] += a[i + j] * b[i + j];
        }
    }
    for (size_t j = 0; i + j < count; j++) {
        lane[j] += a[i + j] * b[i + j];
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

void dense_add(struct dense_sum *sum, double term)
{
    const double whole = term - sum->lost;
    const double next = sum->value + whole;
    sum->lost = (next - sum->value) - whole;
    sum->value = next;
}

void dense_axpy(double *y, double factor, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[i] += factor * x[i];
    }
}

/* LAPACK stores columns: our lower triangle, row by row, is its upper one. */

bool cholesky_factor(double *a, size_t n)
{
    CHECK(n <= INT_MAX);
    const int order = (int)n;
    int info = 0;
    dpotrf_("U", &order, a, &order, &info, 1);
    return info == 0;
}

void cholesky_solve(const double *a, double *b, size_t n)
{
    CHECK(n <= INT_MAX);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)n, a, (int)n, b, 1);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, a, (int)n, b, 1);
}

/* As many models at a time as keep their weights in the cache while all records pass by. */
enum { SCORES_BLOCK = 64 };

void dense_scores(double *f, const double *weight, size_t model_count, const double *x,
                  size_t record_count, size_t feature_count)
{
    for (size_t block = 0; block < model_count; block += SCORES_BLOCK) {
        const size_t left = model_count - block;
        const size_t end = block + (left < SCORES_BLOCK ? left : SCORES_BLOCK);
        for (size_t i = 0; i < record_count; i++) {
            for (size_t model = block; model < end; model++) {
                f[i * model_count + model] =
                    dense_dot(weight + model * feature_count, x + i * feature_count, feature_count);
            }
        }
    }
}
