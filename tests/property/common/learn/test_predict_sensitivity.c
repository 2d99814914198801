/* No pair of neighbours moves a kernel machine's answer at any point by more than its sensitivity;
 * a pair that reaches the bound shows that half of it would be caught. */

#include "learn/kernel_machine.h"
#include "learn/sensitivity.h"

#include "attack_data.h"

enum { D = 3, RECORDS_MAX = 20, POINTS = 12 };

static const struct loss every[] = {
    {LOSS_LOGISTIC, 0},       {LOSS_HINGE, 0},   {LOSS_PINBALL, 0.8}, {LOSS_ABSOLUTE, 0},
    {LOSS_INSENSITIVE, 0.25}, {LOSS_HUBER, 0.5}, {LOSS_SQUARED, 0},
};
enum { EVERY = sizeof every / sizeof *every };

static const struct kernel kernels[] = {
    {.kind = KERNEL_LINEAR},
    {.kind = KERNEL_GAUSSIAN, .rate = 0.5},
    {.kind = KERNEL_GAUSSIAN, .rate = 100},
    {.kind = KERNEL_LAPLACIAN, .rate = 2},
    {.kind = KERNEL_POLYNOMIAL, .offset = 1, .degree = 2},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* The largest move of an answer when record 0 becomes (x, y): at both versions of it, at other
 * records and at points elsewhere. */
static double moved(const struct kernel_problem *problem, struct dataset *data, const double *x,
                    double y, struct seeded_random *random)
{
    double points[POINTS * D];
    double f[2][POINTS];
    struct kernel_model model;
    double unused = 0;
    double most = 0;
    for (size_t i = 0; i < POINTS; i++) {
        attack_record(points + i * D, &unused, D, i, i < 6 ? ATTACK_RANDOM : ATTACK_AXES, random);
    }
    for (size_t j = 0; j < D; j++) {
        points[j] = data->x[j];
        points[D + j] = x[j];
    }
    for (int side = 0; side < 2; side++) {
        struct why why = {{0}};
        cr_assert(kernel_fit(&model, problem, data, &why) == STATUS_OK, "%s", why.text);
        kernel_predict(f[side], &model, points, POINTS);
        kernel_model_free(&model);
        for (size_t j = 0; j < D; j++) {
            data->x[j] = x[j];
        }
        data->y[0] = y;
    }
    for (size_t i = 0; i < POINTS; i++) {
        most = fmax(most, fabs(f[0][i] - f[1][i]));
    }
    return most;
}

Test(predict_sensitivity, holds_for_every_loss_and_kernel)
{
    struct seeded_random random;
    seeded_random_init(&random, 41);
    double largest = 0;
    for (int round = 0; round < 1000; round++) {
        const struct loss loss = every[round % EVERY];
        const size_t m = 1 + seeded_random_below(&random, RECORDS_MAX);
        const enum attack attack = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        struct dataset data = attack_data(attack, m, D, &random);
        const struct kernel_problem problem = {
            .loss = loss,
            .kernel = kernels[seeded_random_below(&random, KERNELS)],
            .lambda = pow(10, -1.5 * seeded_random_unit(&random)),
            .tolerance = 1e-4,
            .record_count = m,
            .feature_count = D};
        double x[D];
        double y = 0;
        double bound = 0;
        attack_record(x, &y, D, 0, (enum attack)seeded_random_below(&random, ATTACK_COUNT),
                      &random);
        for (size_t j = 0; j < D && round % 2 == 0; j++) {
            x[j] = data.x[j];
        }
        y = round % 2 == 0 ? -data.y[0] : y;
        cr_assert(sensitivity_predict(&bound, &problem, NULL) == STATUS_OK);
        const double most = moved(&problem, &data, x, y, &random);
        cr_assert(most <= bound, "round %d: %g of %g", round, most, bound);
        largest = fmax(largest, most / bound);
        dataset_free(&data);
    }
    cr_log_info("up to %g of the bound", largest);
    cr_assert(largest > 0.5, "half the bound would be caught");
}

/* Records far from each other in a narrow kernel: each has its coefficient to itself, y/(2 lambda
 * m) for the hinge, and f there turns by 1/(lambda m): the whole bound. */
Test(predict_sensitivity, is_reached_by_the_hinge)
{
    struct seeded_random random;
    double bound = 0;
    seeded_random_init(&random, 42);
    struct dataset data = attack_data(ATTACK_AXES, 3, D, &random);
    const double x[D] = {1, 0, 0};
    const struct kernel_problem problem = {.loss = {LOSS_HINGE, 0},
                                           .kernel = kernels[2],
                                           .lambda = 1,
                                           .tolerance = 1e-6,
                                           .record_count = 3,
                                           .feature_count = D};
    cr_assert(sensitivity_predict(&bound, &problem, NULL) == STATUS_OK);
    const double most = moved(&problem, &data, x, -1, &random);
    cr_log_info("%g of %g", most, bound);
    cr_assert(most <= bound && most > 0.98 * bound);
    dataset_free(&data);
}

Test(predict_sensitivity, on_the_grid_takes_known_values)
{
    struct kernel_problem problem = {.loss = {LOSS_HINGE, 0},
                                     .kernel = kernels[1],
                                     .lambda = 0.01,
                                     .tolerance = 1e-4,
                                     .record_count = 1000,
                                     .feature_count = D};
    const double exact = 1 / 10.0 + 2 * sqrt(1e-4 / 0.01);
    uint64_t delta = 0;
    cr_assert(sensitivity_predict_l1(&delta, &problem, 5, 10, NULL) == STATUS_OK);
    cr_assert(delta == 5 * (uint64_t)ceil(exact * 1024 * (1 + 1e-9)));
    problem.record_count = 1; /* the projection to [-1, 1] is all there is */
    cr_assert(sensitivity_predict_l1(&delta, &problem, 5, 10, NULL) == STATUS_OK);
    cr_assert(delta == 5 * 2048);
    cr_assert(sensitivity_predict_l1(&delta, &problem, 5, 60, NULL) == STATUS_INVALID);
    problem.kernel.rate = 0;
    cr_assert(sensitivity_predict_l1(&delta, &problem, 5, 10, NULL) == STATUS_INVALID);
}
