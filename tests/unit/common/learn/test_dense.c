/* The fast kernels against plain loops, at every length around the number of lanes. */

#include "learn/dense.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST = 67 };

static void fill(struct seeded_random *random, double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        x[i] = 2 * seeded_random_unit(random) - 1;
    }
}

Test(dense, dot_and_axpy_agree_with_plain_loops)
{
    struct seeded_random random;
    seeded_random_init(&random, 1);
    for (size_t count = 0; count <= MOST; count++) {
        double a[MOST];
        double b[MOST];
        double sum = 0;
        fill(&random, a, count);
        fill(&random, b, count);
        for (size_t i = 0; i < count; i++) {
            sum += a[i] * b[i];
        }
        cr_assert(fabs(dense_dot(a, b, count) - sum) < 1e-14);
        dense_axpy(a, 0, b, count);
        const double before = count > 0 ? a[count - 1] : 0;
        dense_axpy(a, -2, b, count);
        cr_assert(count == 0 || a[count - 1] == before - 2 * b[count - 1]);
    }
}

Test(dense, flushes_what_would_lead_to_subnormal_numbers)
{
    cr_assert(dense_flushed(1e-310) == 0 && dense_flushed(-1e-200) == 0);
    cr_assert(dense_flushed(1e-100) == 1e-100 && dense_flushed(-2) == -2);
    cr_assert(dense_flushed(INFINITY) == INFINITY && isnan(dense_flushed(NAN)));
}

/* 2^20 thirds: each plain addition rounds, and most in the same direction. */
Test(dense, a_long_sum_errs_by_two_roundings)
{
    struct dense_sum sum = {0};
    double plain = 0;
    for (int i = 0; i < 1 << 20; i++) {
        dense_add(&sum, 1 / 3.0);
        plain += 1 / 3.0;
    }
    const double exact = ldexp(1 / 3.0, 20);
    cr_assert(fabs(sum.value - exact) <= 2 * 0x1p-53 * exact);
    cr_assert(fabs(plain - exact) > 1000 * 0x1p-53 * exact);
}

/* The oracle: plain loops. */
static void dense_scores_reference(double *f, const double *weight, size_t expert_count,
                                   const double *x, size_t record_count, size_t feature_count)
{
    for (size_t i = 0; i < record_count; i++) {
        for (size_t expert = 0; expert < expert_count; expert++) {
            double sum = 0;
            for (size_t j = 0; j < feature_count; j++) {
                sum += weight[expert * feature_count + j] * x[i * feature_count + j];
            }
            f[i * expert_count + expert] = sum;
        }
    }
}

Test(dense, scores_agree_with_plain_loops)
{
    static double weight[150 * 20];
    static double x[20 * 20];
    static double fast[20 * 150];
    static double plain[20 * 150];
    struct seeded_random random;
    seeded_random_init(&random, 4);
    for (size_t i = 0; i < 150 * 20; i++) {
        weight[i] = seeded_random_unit(&random) - 0.5;
    }
    for (size_t i = 0; i < 20 * 20; i++) {
        x[i] = seeded_random_unit(&random) - 0.5;
    }
    const size_t experts[] = {1, 8, 63, 64, 65, 150};
    for (int i = 0; i < 6; i++) {
        for (size_t m = 1; m <= 20; m += 19) {
            for (size_t d = 1; d <= 20; d += 19) {
                dense_scores(fast, weight, experts[i], x, m, d);
                dense_scores_reference(plain, weight, experts[i], x, m, d);
                for (size_t j = 0; j < m * experts[i]; j++) {
                    cr_assert(fabs(fast[j] - plain[j]) < 1e-13);
                }
            }
        }
    }
}
