/* The blocked kernel against plain loops, across the block's edge. */

#include "experts/experts.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

/* The oracle: plain loops. */
static void experts_scores_reference(double *f, const double *weight, size_t expert_count,
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

Test(experts, scores_agree_with_plain_loops)
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
                experts_scores(fast, weight, experts[i], x, m, d);
                experts_scores_reference(plain, weight, experts[i], x, m, d);
                for (size_t j = 0; j < m * experts[i]; j++) {
                    cr_assert(fabs(fast[j] - plain[j]) < 1e-13);
                }
            }
        }
    }
}
