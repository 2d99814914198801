/* Accuracy and AUC against their definitions. */

#include "learn/metrics.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

Test(metrics, accuracy_counts_a_zero_score_as_wrong)
{
    double y[] = {1, 1, -1, -1};
    const double f[] = {2, 0, -1, 0};
    const struct dataset data = {.record_count = 4, .feature_count = 1, .y = y};
    cr_assert(metrics_accuracy(f, &data) == 0.5);
    cr_assert(metrics_majority(&data) == 0.5);
}

Test(metrics, auc_is_the_share_of_pairs_in_order_with_ties_half)
{
    struct seeded_random random;
    seeded_random_init(&random, 3);
    for (int round = 0; round < 50; round++) {
        double y[60];
        double f[60];
        const struct dataset data = {.record_count = 60, .feature_count = 1, .y = y};
        double right = 0;
        double pairs = 0;
        double auc = -1;
        for (int i = 0; i < 60; i++) {
            y[i] = seeded_random_below(&random, 3) == 0 ? 1 : -1;
            f[i] = (double)seeded_random_below(&random, round % 2 == 0 ? 5 : 100000);
        }
        for (int i = 0; i < 60; i++) {
            for (int j = 0; j < 60; j++) {
                if (y[i] > 0 && y[j] < 0) {
                    pairs++;
                    right += f[i] > f[j] ? 1 : f[i] == f[j] ? 0.5 : 0;
                }
            }
        }
        cr_assert(metrics_auc(&auc, f, &data) == STATUS_OK);
        cr_assert(fabs(auc - right / pairs) < 1e-12);
    }
}

Test(metrics, one_class_only_is_a_data_set_like_another)
{
    double y[] = {1, 1};
    const double f[] = {2, 3};
    const struct dataset data = {.record_count = 2, .feature_count = 1, .y = y};
    double auc = 0;
    cr_assert(metrics_auc(&auc, f, &data) == STATUS_OK && auc == 0.5);
    cr_assert(metrics_majority(&data) == 1);
}

Test(metrics, scores_are_inner_products)
{
    double x[] = {1, 2, 3, 4};
    const double w[] = {10, 1};
    double f[2];
    const struct dataset data = {.record_count = 2, .feature_count = 2, .x = x};
    metrics_scores(f, w, &data);
    cr_assert(f[0] == 12 && f[1] == 34);
}

Test(metrics, several_classes_take_the_largest_score)
{
    double x[] = {1, 0, 0, 1, 1, 1};
    double y[] = {0, 1, 2};
    const double w[] = {2, 0, 0, 3, 1, 1};
    double f[9];
    const struct dataset data = {.record_count = 3, .feature_count = 2, .x = x, .y = y};
    metrics_class_scores(f, w, 3, &data);
    const double expected[] = {2, 0, 1, 0, 3, 1, 2, 3, 2};
    for (int i = 0; i < 9; i++) {
        cr_assert(f[i] == expected[i], "%d", i);
    }
    cr_assert(metrics_largest(f + 6, 3) == 1 && metrics_largest(f + 6, 1) == 0);
    cr_assert(fabs(metrics_class_accuracy(f, 3, &data) - 2.0 / 3) < 1e-15);
    y[2] = 1;
    cr_assert(metrics_class_accuracy(f, 3, &data) == 1);
    f[6] = 3;
    cr_assert(fabs(metrics_class_accuracy(f, 3, &data) - 2.0 / 3) < 1e-15, "a tie is wrong");
    cr_assert(fabs(metrics_majority(&data) - 2.0 / 3) < 1e-15);
}

Test(metrics, numbers_are_judged_within_their_range)
{
    double y[] = {0.5, -1, 0, 1};
    const double f[] = {0.25, -7, 0.5, 0.5}; /* clamped: errors 0.25, 0, -0.5, 0.5 */
    const struct dataset data = {.record_count = 4, .feature_count = 1, .y = y};
    cr_assert(fabs(metrics_root_mean_square(f, &data) - sqrt(0.5625 / 4)) < 1e-15);
    cr_assert(fabs(metrics_mean_absolute(f, &data) - 1.25 / 4) < 1e-15);
    cr_assert(fabs(metrics_pinball(f, 0.9, &data) - (0.9 * 0.75 + 0.1 * 0.5) / 4) < 1e-15);
}
