/* The solvers: fast against plain, public numbers of steps, and what is refused. */

#include "learn/erm.h"
#include "learn/erm_core.h"

#include "tests/support/erm_reference.h"
#include "tests/support/objective.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static struct erm_problem problem_of(enum loss_kind loss, double lambda, double tolerance,
                                     const struct dataset *data)
{
    return (struct erm_problem){.loss = {.kind = loss},
                                .lambda = lambda,
                                .tolerance = tolerance,
                                .record_count = data->record_count,
                                .feature_count = data->feature_count};
}

static struct dataset random_data(uint64_t seed, size_t m, size_t d)
{
    struct seeded_random random;
    struct dataset data = {.record_count = m, .feature_count = d};
    seeded_random_init(&random, seed);
    data.x = calloc(m * d, sizeof *data.x);
    data.y = calloc(m, sizeof *data.y);
    cr_assert(data.x != NULL && data.y != NULL);
    for (size_t i = 0; i < m * d; i++) {
        data.x[i] = (2 * seeded_random_unit(&random) - 1) * schema_scale(d);
    }
    for (size_t i = 0; i < m; i++) {
        data.y[i] = seeded_random_below(&random, 2) == 0 ? 1 : -1;
    }
    return data;
}

static const struct loss every[] = {
    {LOSS_LOGISTIC, 0},       {LOSS_HINGE, 0},   {LOSS_PINBALL, 0.8}, {LOSS_ABSOLUTE, 0},
    {LOSS_INSENSITIVE, 0.25}, {LOSS_HUBER, 0.5}, {LOSS_SQUARED, 0},
};
enum { EVERY = sizeof every / sizeof *every };

static const size_t shape[][2] = {{1, 1},  {1, 9}, {9, 1},    {7, 31},
                                  {31, 7}, {8, 8}, {100, 12}, {5, 300}};
enum { SHAPES = sizeof shape / sizeof *shape };

static struct dataset data_for(struct loss loss, uint64_t seed, size_t m, size_t d)
{
    struct dataset data = random_data(seed, m, d);
    for (size_t i = 0; i < m && loss_is_regression(loss); i++) {
        data.y[i] *= (double)(i % 5) / 4;
    }
    return data;
}

Test(erm, sure_and_plain_take_the_same_steps)
{
    for (size_t i = 0; i < SHAPES; i++) {
        for (int k = 0; k < EVERY; k++) {
            struct dataset data = data_for(every[k], i, shape[i][0], shape[i][1]);
            struct erm_problem problem = problem_of(every[k].kind, 0.02, 1e-5, &data);
            double sure[300];
            double plain[300];
            problem.loss = every[k];
            cr_assert(erm_solve_slowly(sure, &problem, &data, NULL) == STATUS_OK);
            cr_assert(erm_solve_reference(plain, &problem, &data, NULL) == STATUS_OK);
            for (size_t j = 0; j < shape[i][1]; j++) {
                cr_assert(fabs(sure[j] - plain[j]) < 1e-9, "%zu %d: %g", i, k, sure[j] - plain[j]);
            }
            dataset_free(&data);
        }
    }
}

/* Two ways to one minimiser: each within its distance of it, so within twice that of each other;
 * and no worse than the other by more than the tolerance's share of the objective. */
Test(erm, fast_and_sure_agree_for_every_loss_and_shape)
{
    for (size_t i = 0; i < SHAPES; i++) {
        for (int k = 0; k < EVERY; k++) {
            struct dataset data = data_for(every[k], i, shape[i][0], shape[i][1]);
            struct erm_problem problem = problem_of(every[k].kind, 0.05, 1e-6, &data);
            struct erm_plan plan;
            double fast[300];
            double sure[300];
            double square = 0;
            problem.loss = every[k];
            cr_assert(erm_plan(&plan, &problem, NULL) == STATUS_OK);
            cr_assert(erm_solve(fast, &problem, &data, NULL) == STATUS_OK);
            cr_assert(erm_solve_slowly(sure, &problem, &data, NULL) == STATUS_OK);
            for (size_t j = 0; j < shape[i][1]; j++) {
                square += (fast[j] - sure[j]) * (fast[j] - sure[j]);
            }
            cr_assert(sqrt(square) <= 2 * plan.distance, "%zu %d", i, k);
            const double worse =
                erm_objective(fast, &problem, &data) - erm_objective(sure, &problem, &data);
            cr_assert(worse < 1e-6, "%zu %d: %g", i, k, worse);
            dataset_free(&data);
        }
    }
}

/* Two records that are so similar that each coordinate undoes the other's step: descent gives up
 * and says so. The result is the sure method's, to the last bit. */
Test(erm, where_descent_gives_up_the_sure_method_follows)
{
    double x[] = {1, 1 - 0x1p-15};
    double y[] = {1, 0.25};
    const struct dataset data = {.record_count = 2, .feature_count = 1, .x = x, .y = y};
    const struct erm_problem problem = {{LOSS_ABSOLUTE, 0}, 1e-4, 1e-3, 2, 1};
    const struct core core = {.loss = problem.loss,
                              .lambda = 1e-4,
                              .tolerance = 1e-3,
                              .kappa = 1,
                              .m = 2,
                              .d = 1,
                              .x = x,
                              .y = y};
    struct erm_plan plan;
    bool certified = true;
    double fast = 0;
    double sure = 0;
    double w = 0;
    cr_assert(erm_plan(&plan, &problem, NULL) == STATUS_OK);
    cr_assert(dual_descend(&fast, &certified, &core, core_patience(&core, plan.steps)) ==
              STATUS_OK);
    cr_assert_not(certified);
    cr_assert(erm_solve_slowly(&sure, &problem, &data, NULL) == STATUS_OK);
    cr_assert(erm_solve(&w, &problem, &data, NULL) == STATUS_OK);
    cr_assert(w == sure && fabs(fast - w) > 0.1);
    /* Between the labels F has the slope (x_1 - x_0)/2 + 2 lambda w: it rises from the second. */
    cr_assert(fabs(w - y[1] / x[1]) <= 1e-6 && fabs(fast - w) <= 2 * plan.distance);
}

Test(erm, a_million_features_are_solved)
{
    struct dataset data = random_data(9, 4, 1000000);
    for (int loss = LOSS_LOGISTIC; loss <= LOSS_HINGE; loss++) {
        const struct erm_problem problem = problem_of(loss, 0.01, 1e-4, &data);
        double *w = calloc(data.feature_count, sizeof *w);
        cr_assert(w != NULL && erm_solve(w, &problem, &data, NULL) == STATUS_OK);
        cr_assert(erm_objective(w, &problem, &data) < loss_value(problem.loss, 0, 1));
        free(w);
    }
    dataset_free(&data);
}

Test(erm, a_hospital_takes_well_below_100_ms)
{
    struct dataset data = random_data(10, 1260, 8);
    const struct erm_problem problem = problem_of(LOSS_LOGISTIC, 0.005, 1e-6, &data);
    struct timespec before;
    struct timespec after;
    double w[8];
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    cr_assert(erm_solve(w, &problem, &data, NULL) == STATUS_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
                      (double)(after.tv_nsec - before.tv_nsec) / 1e6;
    cr_log_info("%.2f ms", ms);
    /* Sanitizers slow it down; the bound leaves room for them. */
    cr_assert(ms < 1000);
    dataset_free(&data);
}

Test(erm, steps_depend_on_public_numbers_alone)
{
    struct erm_plan plan;
    struct erm_problem problem = {{LOSS_LOGISTIC, 0}, 0.005, 1e-6, 1260, 8};
    cr_assert(erm_plan(&plan, &problem, NULL) == STATUS_OK);
    cr_log_info("logistic: %lu steps, distance %g", (unsigned long)plan.steps, plan.distance);
    /* q = 1 - sqrt(0.01/0.26), 2 L 2 ln 2 q^K <= (5e-7)^2 */
    cr_assert(plan.steps ==
              1 + (uint64_t)ceil(log(4 * 0.26 * log(2) / 25e-14) / -log(1 - sqrt(0.01 / 0.26))));
    cr_assert(plan.distance >= 1e-6 / 0.01 && plan.distance < 1.0000001e-4);
    problem.loss.kind = LOSS_HINGE;
    problem.tolerance = 1.1e-6;
    cr_assert(erm_plan(&plan, &problem, NULL) == STATUS_OK);
    cr_assert(plan.steps == 1 + (uint64_t)ceil(1 / (2 * sqrt(0.005 * 5.5e-7))));
    cr_assert(plan.distance >= sqrt(1.1e-6 / 0.005));
}

static void refused(struct erm_problem problem)
{
    struct erm_plan plan;
    struct why why = {{0}};
    cr_assert(erm_plan(&plan, &problem, &why) == STATUS_INVALID);
    cr_assert(why.text[0] != '\0');
}

Test(erm, refuses_what_it_cannot_promise)
{
    refused((struct erm_problem){{LOSS_ZERO_ONE, 0}, 0.01, 1e-6, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0, 1e-6, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, -1, 1e-6, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, NAN, 1e-6, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0.01, 0, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0.01, NAN, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0.01, 2, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0.01, 1e-15, 100, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 1e-12, 1e-3, 100, 8});
    refused((struct erm_problem){{LOSS_HINGE, 0}, 0.01, 1e-13, 100, 8});
    refused((struct erm_problem){{LOSS_HINGE, 0}, 1e-9, 1e-6, 1000000, 1000});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0.001, 1e-6, 0, 8});
    refused((struct erm_problem){{LOSS_LOGISTIC, 0}, 0.001, 1e-6, 10, 0});
}
