/* Linear models that follow released answers. */

#include "learn/distil.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { Q = 40, D = 6 };

struct fixture {
    double point[Q * D];
    double answer[Q];
    double w[D];
    struct distil problem;
};

static void fixture_init(struct fixture *f, uint64_t seed, size_t q, double deviation)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, seed);
    *f = (struct fixture){
        .problem = {
            .point = f->point, .point_count = q, .feature_count = D, .deviation = deviation}};
    for (size_t i = 0; i < q * D; i++) {
        f->point[i] = (2 * seeded_random_unit(&seeded) - 1) / sqrt(D);
    }
    for (size_t i = 0; i < q; i++) {
        f->answer[i] = 3 * seeded_random_unit(&seeded) - 1.5;
    }
}

/* The largest coordinate of (1/q) X^T (X w - pi(y)) + lambda w. */
static double slope(const struct fixture *f, double lambda)
{
    double largest = 0;
    for (size_t j = 0; j < D; j++) {
        double sum = lambda * f->w[j];
        for (size_t i = 0; i < f->problem.point_count; i++) {
            double wrong = -fmin(fmax(f->answer[i], -1), 1);
            for (size_t k = 0; k < D; k++) {
                wrong += f->w[k] * f->point[i * D + k];
            }
            sum += wrong * f->point[i * D + j] / (double)f->problem.point_count;
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

Test(distil, minimises_at_the_ridge_that_the_noise_calls_for)
{
    static const double deviation[] = {0, 0.05, 0.5, 1, 30};
    static const double ridge[] = {1e-4, 1e-4, 0.25 / Q, 1.0 / Q, 1.0 / Q};
    for (size_t i = 0; i < sizeof ridge / sizeof ridge[0]; i++) {
        struct fixture f;
        fixture_init(&f, i, Q, deviation[i]);
        cr_assert_eq(distil(f.w, &f.problem, f.answer), STATUS_OK);
        cr_assert_lt(slope(&f, ridge[i]), 1e-10);
        cr_assert_gt(slope(&f, 2 * ridge[i]), 1e-6, "another ridge would be noticed");
    }
}

Test(distil, fewer_points_than_features_will_do)
{
    struct fixture f;
    fixture_init(&f, 9, 2, 0.1);
    cr_assert_eq(distil(f.w, &f.problem, f.answer), STATUS_OK);
    cr_assert_lt(slope(&f, 0.01 / 2), 1e-10);
}

Test(distil, follows_answers_of_a_linear_model)
{
    struct fixture f;
    static const double truth[D] = {0.5, -0.3, 0.2, 0, 0.1, 0.4};
    fixture_init(&f, 10, Q, 0);
    for (size_t i = 0; i < Q; i++) {
        f.answer[i] = 0;
        for (size_t j = 0; j < D; j++) {
            f.answer[i] += truth[j] * f.point[i * D + j];
        }
    }
    cr_assert_eq(distil(f.w, &f.problem, f.answer), STATUS_OK);
    for (size_t j = 0; j < D; j++) {
        cr_assert_float_eq(f.w[j], truth[j], 0.01);
    }
}

/* As many points as a job may have, against more features than that. */
Test(distil, the_largest_sizes_are_judged_by_their_cost)
{
    struct distil problem = {.point_count = 4096, .feature_count = 16385};
    cr_assert_eq(distil_check(&problem, NULL), STATUS_OK);
    cr_assert_gt(distil_flops(&problem), ldexp(1, 36));
    problem.point_count = 64;
    cr_assert_lt(distil_flops(&problem), ldexp(1, 28));
}
