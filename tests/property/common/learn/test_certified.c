/* Every loss on data sets made to prevent it: what erm_solve returns lies within its distance of the
 * minimiser, judged by certificates computed here, apart from the solvers and in long double. */

#include "learn/erm.h"
#include "learn/erm_core.h"

#include "attack_data.h"

enum { MOST = 40, RECORDS = 200 };

static const struct loss every[] = {
    {LOSS_LOGISTIC, 0},  {LOSS_HINGE, 0},    {LOSS_PINBALL, 0.05},
    {LOSS_PINBALL, 0.5}, {LOSS_ABSOLUTE, 0}, {LOSS_INSENSITIVE, 0.25},
    {LOSS_HUBER, 0.1},   {LOSS_HUBER, 1.5},  {LOSS_SQUARED, 0},
};
enum { EVERY = sizeof every / sizeof *every };

static long double score(const double *w, const double *x, size_t d)
{
    long double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += (long double)w[j] * x[j];
    }
    return sum;
}

/* ||grad F||, straight from the formula. */
static double gradient_norm(const double *w, const struct erm_problem *problem,
                            const struct dataset *data)
{
    const size_t d = data->feature_count;
    long double gradient[MOST];
    long double square = 0;
    for (size_t j = 0; j < d; j++) {
        gradient[j] = 2 * (long double)problem->lambda * w[j];
    }
    for (size_t i = 0; i < data->record_count; i++) {
        const double *x = data->x + i * d;
        const double f = (double)score(w, x, d);
        const double y = data->y[i];
        const double bend = problem->loss.parameter;
        const double slope = problem->loss.kind == LOSS_LOGISTIC ? -y / (1 + exp(y * f))
                             : problem->loss.kind == LOSS_HUBER  ? fmin(fmax(f - y, -bend), bend)
                                                                 : 2 * (f - y);
        for (size_t j = 0; j < d; j++) {
            gradient[j] += (long double)slope * x[j] / (long double)data->record_count;
        }
    }
    for (size_t j = 0; j < d; j++) {
        square += gradient[j] * gradient[j];
    }
    return (double)sqrtl(square);
}

/* Strong convexity at the sure method's point v, which is itself within its distance: the fast
 * point w must lie within both distances of it, and its objective above by at most the gap. */
static double share_of_promise(const double *w, const struct erm_problem *problem,
                               const struct dataset *data)
{
    struct erm_plan plan;
    cr_assert(erm_plan(&plan, problem, NULL) == STATUS_OK);
    if (loss_is_smooth(problem->loss)) {
        return gradient_norm(w, problem, data) / problem->tolerance;
    }
    struct erm_problem fine = *problem;
    struct erm_plan plan_fine;
    double best[MOST];
    fine.tolerance = problem->tolerance / 100;
    cr_assert(erm_plan(&plan_fine, &fine, NULL) == STATUS_OK);
    cr_assert(erm_solve_slowly(best, &fine, data, NULL) == STATUS_OK);
    return distance_between(w, best, data->feature_count) / (plan.distance + plan_fine.distance);
}

static double worst_share(double given, double promised)
{
    struct seeded_random random;
    double worst = 0;
    seeded_random_init(&random, 31);
    for (int attack = 0; attack < ATTACK_COUNT; attack++) {
        for (int k = 0; k < EVERY; k++) {
            const size_t m = (const size_t[]){1, 5, 60, RECORDS}[(attack + k) % 4];
            const size_t d = (const size_t[]){1, 8, 3, MOST}[seeded_random_below(&random, 4)];
            const double lambda = pow(10, -2 * seeded_random_unit(&random));
            struct dataset data = attack_data((enum attack)attack, m, d, &random);
            for (size_t i = 0; i < m && k % 2 == 0 && loss_is_regression(every[k]); i++) {
                data.y[i] *= seeded_random_unit(&random);
            }
            struct erm_problem problem = {every[k], lambda, given, m, d};
            double w[MOST];
            cr_assert(erm_solve(w, &problem, &data, NULL) == STATUS_OK);
            problem.tolerance = promised;
            const double share = share_of_promise(w, &problem, &data);
            worst = fmax(worst, share);
            dataset_free(&data);
        }
    }
    return worst;
}

Test(certified, every_loss_keeps_its_promise_on_every_attack)
{
    const double worst = worst_share(1e-4, 1e-4);
    cr_log_info("%g of the promise", worst);
    cr_assert(worst <= 1);
}

Test(certified, a_solver_that_stops_early_is_caught)
{
    const double worst = worst_share(1, 1e-4);
    cr_log_info("%g of the promise", worst);
    cr_assert(worst > 1);
}

/* The dual's certificate, on hard data and with few passes: whenever it says so, the gap is there. A
 * gap without the losses of records left out, or without the width, would be too small. */
Test(certified, the_gap_is_never_understated)
{
    struct seeded_random random;
    int said = 0;
    double nearest = 0;
    seeded_random_init(&random, 32);
    for (int round = 0; round < 1500; round++) {
        const struct loss loss = every[1 + seeded_random_below(&random, 5)];
        const enum attack attack = (enum attack)seeded_random_below(&random, ATTACK_COUNT);
        const size_t m = 1 + seeded_random_below(&random, 60);
        struct dataset data = attack_data(attack, m, 4, &random);
        for (size_t i = 0; i < m && loss_is_regression(loss); i++) {
            data.y[i] *= seeded_random_unit(&random);
        }
        struct erm_problem problem = {loss, pow(10, -2 * seeded_random_unit(&random)), 1, m, 4};
        problem.tolerance = pow(10, -1 - 3 * seeded_random_unit(&random));
        const struct core core = {.loss = loss,
                                  .lambda = problem.lambda,
                                  .tolerance = problem.tolerance,
                                  .kappa = 1,
                                  .m = m,
                                  .d = 4,
                                  .x = data.x,
                                  .y = data.y};
        bool certified = false;
        double w[4];
        double best[4];
        cr_assert(dual_descend(w, &certified, &core, seeded_random_below(&random, 6)) == STATUS_OK);
        problem.tolerance = 1e-6;
        cr_assert(erm_solve(best, &problem, &data, NULL) == STATUS_OK);
        const double above =
            erm_objective(w, &problem, &data) - erm_objective(best, &problem, &data);
        said += certified ? 1 : 0;
        nearest = fmax(nearest, certified ? above / core.tolerance : 0);
        cr_assert(!certified || above <= core.tolerance, "round %d: %g", round, above);
        dataset_free(&data);
    }
    cr_log_info("%d of 1500 certified, up to %g of the tolerance", said, nearest);
    cr_assert(said > 300 && said < 1400);
    cr_assert(nearest > 0.5, "a gap of half its size would be caught");
}
