/* Kernel machines: against explicit features, fast against sure, answers, and what is refused. */

#include "learn/dense.h"
#include "learn/erm.h"
#include "learn/erm_core.h"
#include "learn/kernel_machine.h"

#include "tests/support/objective.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { D = 4 };

static const struct loss every[] = {
    {LOSS_LOGISTIC, 0},       {LOSS_HINGE, 0},   {LOSS_PINBALL, 0.8}, {LOSS_ABSOLUTE, 0},
    {LOSS_INSENSITIVE, 0.25}, {LOSS_HUBER, 0.5}, {LOSS_SQUARED, 0},
};
enum { EVERY = sizeof every / sizeof *every };

static const struct kernel kernels[] = {
    {.kind = KERNEL_LINEAR},
    {.kind = KERNEL_GAUSSIAN, .rate = 3},
    {.kind = KERNEL_LAPLACIAN, .rate = 2},
    {.kind = KERNEL_POLYNOMIAL, .offset = 1, .degree = 2},
};

static struct dataset data_for(struct loss loss, uint64_t seed, size_t m)
{
    struct seeded_random random;
    struct dataset data = {.record_count = m, .feature_count = D};
    seeded_random_init(&random, seed);
    data.x = calloc(m * D, sizeof *data.x);
    data.y = calloc(m, sizeof *data.y);
    cr_assert(data.x != NULL && data.y != NULL);
    for (size_t i = 0; i < m * D; i++) {
        data.x[i] = (2 * seeded_random_unit(&random) - 1) / 2;
    }
    for (size_t i = 0; i < m; i++) {
        const double y = sin(5 * data.x[i * D]) * 0.8 + 0.2 * seeded_random_unit(&random);
        data.y[i] = loss_is_regression(loss) ? fmin(y, 1) : y > 0 ? 1 : -1;
    }
    return data;
}

static struct kernel_problem problem_of(struct loss loss, struct kernel kernel, double lambda,
                                        const struct dataset *data)
{
    return (struct kernel_problem){.loss = loss,
                                   .kernel = kernel,
                                   .lambda = lambda,
                                   .tolerance = 1e-6,
                                   .record_count = data->record_count,
                                   .feature_count = data->feature_count};
}

/* The linear kernel's f is <w, x>. */
Test(kernel_machine, with_the_linear_kernel_is_the_fit_by_features)
{
    for (int k = 0; k < EVERY; k++) {
        struct dataset data = data_for(every[k], 1, 90);
        const struct kernel_problem problem = problem_of(every[k], kernels[0], 0.02, &data);
        const struct erm_problem explicit = {every[k], 0.02, 1e-6, 90, D};
        struct kernel_model model;
        struct erm_plan plan;
        double w[D];
        double f[90];
        cr_assert(kernel_plan(&plan, &problem, NULL) == STATUS_OK);
        cr_assert(kernel_fit(&model, &problem, &data, NULL) == STATUS_OK);
        cr_assert(erm_solve(w, &explicit, &data, NULL) == STATUS_OK);
        kernel_predict(f, &model, data.x, 90);
        for (size_t i = 0; i < 90; i++) {
            cr_assert(fabs(f[i] - dense_dot(w, data.x + i * D, D)) <= 2 * plan.distance, "%d", k);
        }
        const double worse =
            kernel_objective(&model, &problem, data.y) - erm_objective(w, &explicit, &data);
        cr_assert(fabs(worse) < 1e-6, "%d: %g", k, worse);
        kernel_model_free(&model);
        dataset_free(&data);
    }
}

/* The same Gram matrix by both methods, for every loss and kernel: ||f - f'||_K within the
 * distances. m beyond a block of the products. */
Test(kernel_machine, fast_and_sure_agree)
{
    for (int k = 0; k < EVERY; k++) {
        for (int j = 0; j < 4; j++) {
            const size_t m = k == 1 ? 530 : 60;
            struct dataset data = data_for(every[k], 2, m);
            double *gram = calloc(m * m, sizeof *gram);
            double *c = calloc(3 * m, sizeof *c);
            const struct core core = {.loss = every[k],
                                      .lambda = 0.1,
                                      .tolerance = 1e-5,
                                      .kappa = kernel_kappa(kernels[j]),
                                      .m = m,
                                      .d = D,
                                      .by_gram = true,
                                      .gram = gram,
                                      .y = data.y};
            struct erm_plan plan;
            bool certified = false;
            cr_assert(gram != NULL && c != NULL);
            kernel_gram(gram, kernels[j], data.x, m, D);
            cr_assert(core_plan(&plan, &core, NULL) == STATUS_OK);
            cr_assert(core_solve_slowly(c, &core, NULL) == STATUS_OK);
            cr_assert((loss_is_smooth(every[k]) ? newton_descend : dual_descend)(
                          c + m, &certified, &core, 1000) == STATUS_OK);
            cr_assert(certified, "%d %d", k, j);
            for (size_t i = 0; i < m; i++) {
                c[m + i] -= c[i];
            }
            core_scores(c, &core, c + m);
            cr_assert(core_square(&core, c + m, c) <= 4 * plan.distance * plan.distance);
            free(gram);
            free(c);
            dataset_free(&data);
        }
    }
}

/* Without any time the fast methods must say that they certify nothing. */
Test(kernel_machine, what_is_not_reached_is_not_certified)
{
    for (int k = 0; k < EVERY; k++) {
        struct dataset data = data_for(every[k], 3, 40);
        double w[D] = {0};
        bool certified = true;
        const struct core core = {.loss = every[k],
                                  .lambda = 0.001,
                                  .tolerance = 1e-5,
                                  .kappa = 1,
                                  .m = 40,
                                  .d = D,
                                  .x = data.x,
                                  .y = data.y};
        cr_assert((loss_is_smooth(every[k]) ? newton_descend : dual_descend)(
                      w, &certified, &core, loss_is_smooth(every[k]) ? 1 : 0) == STATUS_OK);
        cr_assert_not(certified, "%d", k);
        dataset_free(&data);
    }
}

/* (K + lambda m I) alpha = y, by hand for two records. */
Test(kernel_machine, ridge_meets_the_closed_form)
{
    double x[2 * D] = {0.5, 0, 0, 0, 0, 0.5, 0, 0};
    double y[2] = {1, -0.5};
    const struct dataset data = {.record_count = 2, .feature_count = D, .x = x, .y = y};
    const struct kernel_problem problem = problem_of(every[6], kernels[1], 0.25, &data);
    const double side = exp(-1.5);
    const double determinant = 1.5 * 1.5 - side * side;
    struct kernel_model model;
    cr_assert(kernel_fit(&model, &problem, &data, NULL) == STATUS_OK);
    cr_assert(fabs(model.alpha[0] - (1.5 + 0.5 * side) / determinant) < 1e-14);
    cr_assert(fabs(model.alpha[1] - (-0.75 - side) / determinant) < 1e-14);
    double f = 0;
    kernel_predict(&f, &model, x, 1);
    cr_assert(fabs(f - (model.alpha[0] + side * model.alpha[1])) < 1e-15);
    kernel_model_free(&model);
    kernel_model_free(&model);
}

Test(kernel_machine, refuses_what_it_cannot_promise)
{
    const struct kernel_problem good = {
        {LOSS_HINGE, 0}, {.kind = KERNEL_GAUSSIAN, .rate = 1}, 0.01, 1e-5, 100, D};
    struct erm_plan plan;
    struct why why = {{0}};
    cr_assert(kernel_plan(&plan, &good, NULL) == STATUS_OK);
    struct kernel_problem bad = good;
    bad.kernel.rate = 0;
    cr_assert(kernel_plan(&plan, &bad, &why) == STATUS_INVALID && why.text[0] != '\0');
    bad = good;
    bad.record_count = KERNEL_RECORDS_MAX + 1;
    cr_assert(kernel_plan(&plan, &bad, &why) == STATUS_INVALID);
    bad = good;
    bad.loss.kind = LOSS_ZERO_ONE;
    cr_assert(kernel_plan(&plan, &bad, &why) == STATUS_INVALID);
    bad = good;
    bad.loss = (struct loss){LOSS_LOGISTIC, 0}; /* fifty factorisations of 32768^3/3 */
    bad.record_count = KERNEL_RECORDS_MAX;
    cr_assert(kernel_plan(&plan, &bad, &why) == STATUS_INVALID);
}

/* The records of one class in one place, every coefficient at the end of its box, as the hinge has
 * it: each of the 32768 additions rounds the same way. One by one they err by nearly twice what a
 * prediction's sensitivity counts. */
Test(kernel_machine, an_answer_errs_by_no_more_than_its_sensitivity_counts)
{
    enum { MANY = KERNEL_RECORDS_MAX };
    struct kernel_problem problem = {.loss = {LOSS_HINGE, 0},
                                     .kernel = {.kind = KERNEL_LINEAR},
                                     .tolerance = 0.001,
                                     .record_count = MANY,
                                     .feature_count = 1};
    struct kernel_model model = {
        .kernel = problem.kernel, .record_count = MANY, .feature_count = 1};
    double naive_most = 0;
    model.x = calloc(MANY, sizeof *model.x);
    model.alpha = calloc(MANY, sizeof *model.alpha);
    cr_assert(model.x != NULL && model.alpha != NULL);
    for (unsigned lambda = 0; lambda < 8; lambda++) {
        struct erm_plan plan;
        const double point = 1;
        double f = 0;
        double naive = 0;
        problem.lambda = 1 - (double)lambda / 37;
        cr_assert_eq(kernel_plan(&plan, &problem, NULL), STATUS_OK);
        const double exact = 1 / (2 * problem.lambda);
        for (size_t i = 0; i < MANY; i++) {
            model.x[i] = 1;
            model.alpha[i] = exact / MANY; /* MANY is a power of two: nothing is rounded */
            naive += model.alpha[i];
        }
        kernel_predict(&f, &model, &point, 1);
        cr_expect_leq(fabs(f - exact), plan.rounding, "lambda %g: %g, and %g is counted",
                      problem.lambda, fabs(f - exact), plan.rounding);
        naive_most = fmax(naive_most, fabs(naive - exact) / plan.rounding);
    }
    cr_expect_gt(naive_most, 1.5, "the sum one by one errs by %g of the bound only", naive_most);
    kernel_model_free(&model);
}

/* A certificate grants coefficients three times the size that slopes have. For the logistic loss,
 * whose curvature is a quarter, the certificate's own rounding error would not cover an answer. */
Test(kernel_machine, what_an_answer_may_err_by_covers_every_coefficient_that_is_certified)
{
    for (int k = 0; k < EVERY; k++) {
        for (int j = 0; j < 4; j++) {
            const double slope =
                every[k].kind == LOSS_SQUARED ? 2 : loss_lipschitz(every[k], 1, 1, 1);
            const double kappa = kernel_kappa(kernels[j]);
            for (int power = -3; power <= 2; power++) {
                const double lambda = pow(10, power);
                struct kernel_problem problem = {every[k], kernels[j], lambda, 0.01, 500, 1000};
                struct erm_plan plan;
                const double size = 3 * slope / (2 * lambda);
                const double entry = (kernel_rounding(kernels[j], 1000) + 2) * kappa * kappa;
                cr_assert(kernel_plan(&plan, &problem, NULL) == STATUS_OK);
                cr_assert(plan.rounding >= entry * size * 0x1p-53, "%d %d %g", k, j, lambda);
            }
        }
    }
}
