/* Every loss on hard data sets, with lambdas from 1e-9 to 1e3. The results of erm_solve and of the
 * sure method lie within their distance of the minimiser. This file computes its own certificates,
 * in long double. */

#include "learn/erm.h"
#include "learn/erm_core.h"

#include "attack_data.h"
#include "tests/support/objective.h"

#include <string.h>

enum { MOST = 40, RECORDS = 40, PASSES = 200 };

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

/* A loss without curvature is the largest a (y - f) - width |a|, low <= a <= high. */
struct dual_term {
    long double low;
    long double high;
    long double width;
};

static struct dual_term term_of(struct loss loss, double y)
{
    if (loss.kind == LOSS_HINGE) {
        return (struct dual_term){fminl(y, 0), fmaxl(y, 0), 0};
    }
    if (loss.kind == LOSS_PINBALL) {
        return (struct dual_term){(long double)loss.parameter - 1, loss.parameter, 0};
    }
    return (struct dual_term){-1, 1, loss.parameter};
}

static long double term_loss(struct dual_term term, long double residual)
{
    const long double above = term.high * (residual - term.width);
    const long double below = term.low * (residual + term.width);
    return fmaxl(fmaxl(above, below), 0);
}

/* One coordinate of the dual at its maximum; v follows. */
static void ascend(long double *v, long double *a, const struct erm_problem *problem,
                   const struct dataset *data, size_t i)
{
    const size_t d = data->feature_count;
    const long double factor =
        1 / (2 * (long double)problem->lambda * (long double)data->record_count);
    const struct dual_term term = term_of(problem->loss, data->y[i]);
    long double f = 0;
    long double square = 0;
    for (size_t j = 0; j < d; j++) {
        f += v[j] * data->x[i * d + j];
        square += (long double)data->x[i * d + j] * data->x[i * d + j];
    }
    const long double pull = data->y[i] - f + factor * square * *a;
    const long double reach = copysignl(fmaxl(fabsl(pull) - term.width, 0), pull);
    const long double best = square > 0  ? reach / (factor * square)
                             : reach > 0 ? 1
                             : reach < 0 ? -1
                                         : 0;
    const long double next = fminl(fmaxl(best, term.low), term.high);
    for (size_t j = 0; j < d; j++) {
        v[j] += factor * (next - *a) * data->x[i * d + j];
    }
    *a = next;
}

/* Returns the duality gap at a, and w(a). */
static long double gap_at(long double *v, const long double *a, const struct erm_problem *problem,
                          const struct dataset *data)
{
    const size_t d = data->feature_count;
    const long double m = (long double)data->record_count;
    long double gap = 0;
    memset(v, 0, d * sizeof *v);
    for (size_t i = 0; i < data->record_count; i++) {
        for (size_t j = 0; j < d; j++) {
            v[j] += a[i] / (2 * (long double)problem->lambda * m) * data->x[i * d + j];
        }
    }
    for (size_t i = 0; i < data->record_count; i++) {
        long double f = 0;
        for (size_t j = 0; j < d; j++) {
            f += v[j] * data->x[i * d + j];
        }
        const struct dual_term term = term_of(problem->loss, data->y[i]);
        const long double residual = data->y[i] - f;
        gap += term_loss(term, residual) - a[i] * residual + term.width * fabsl(a[i]);
    }
    return fmaxl(gap / m, 0);
}

/* Plain dual ascent. Returns how far v can still be from the minimiser: 2 lambda ||v - w*||^2 is at
 * most the gap. */
static double ascended(long double *v, const struct erm_problem *problem,
                       const struct dataset *data)
{
    long double a[RECORDS] = {0};
    long double gap = 1;
    memset(v, 0, data->feature_count * sizeof *v);
    for (int pass = 0; pass < PASSES && gap > 1e-4L * problem->tolerance; pass++) {
        for (size_t i = 0; i < data->record_count; i++) {
            ascend(v, &a[i], problem, data, i);
        }
        gap = pass % 20 == 19 ? gap_at(v, a, problem, data) : gap;
    }
    return (double)sqrtl(gap / (2 * (long double)problem->lambda));
}

/* Which part of the promised gradient norm, or distance, is used; 0 if this file's own ascent is
 * not near enough to tell. */
static double share_of_promise(const double *w, const struct erm_problem *problem,
                               const struct dataset *data)
{
    struct erm_plan plan;
    long double v[MOST];
    long double square = 0;
    cr_assert(erm_plan(&plan, problem, NULL) == STATUS_OK);
    if (loss_is_smooth(problem->loss)) {
        return gradient_norm(w, problem, data) / problem->tolerance;
    }
    const double known = ascended(v, problem, data);
    for (size_t j = 0; j < data->feature_count; j++) {
        square += (w[j] - v[j]) * (w[j] - v[j]);
    }
    return known < plan.distance ? (double)sqrtl(square) / (plan.distance + known) : 0;
}

/* The finest tolerance that is promised for this lambda: 0 if none is. */
static double finest(struct erm_problem problem)
{
    struct erm_plan plan;
    const double choice[] = {1e-6, 1e-4, 1e-2, 1};
    for (int i = 0; i < 4; i++) {
        problem.tolerance = choice[i];
        if (erm_plan(&plan, &problem, NULL) == STATUS_OK && plan.flops < 3e8) {
            return choice[i];
        }
    }
    return 0;
}

typedef enum status solver(double *w, const struct erm_problem *problem, const struct dataset *data,
                           struct why *why);

static const double lambdas[] = {1e-9, 1e-6, 1e-4, 1e-2, 0.1, 1, 1e3};
enum { LAMBDAS = sizeof lambdas / sizeof *lambdas };

struct outcome {
    double worst; /* share of a promise */
    int judged[LAMBDAS];
};

static double judged(solver *solve, struct erm_problem problem, const struct dataset *data,
                     double coarser)
{
    double w[MOST];
    const double promised = problem.tolerance;
    problem.tolerance = fmin(promised * coarser, 1);
    cr_assert(solve(w, &problem, data, NULL) == STATUS_OK);
    problem.tolerance = promised;
    return share_of_promise(w, &problem, data);
}

/* Solves with a tolerance that many times coarser than what is promised. */
static struct outcome attacked(solver *solve, double coarser)
{
    struct seeded_random random;
    struct outcome outcome = {0};
    seeded_random_init(&random, 31);
    for (int attack = 0; attack < ATTACK_COUNT; attack++) {
        for (int k = 0; k < EVERY * LAMBDAS; k++) {
            const struct loss loss = every[k % EVERY];
            const size_t m = (const size_t[]){1, 2, 9, RECORDS}[seeded_random_below(&random, 4)];
            const size_t d = (const size_t[]){1, 8, 3, MOST}[seeded_random_below(&random, 4)];
            struct dataset data = attack_data((enum attack)attack, m, d, &random);
            for (size_t i = 0; i < m && k % 2 == 0 && loss_is_regression(loss); i++) {
                data.y[i] *= seeded_random_unit(&random);
            }
            struct erm_problem problem = {loss, lambdas[k / EVERY], 0, m, d};
            problem.tolerance = finest(problem);
            if (problem.tolerance > 0) {
                const double share = judged(solve, problem, &data, coarser);
                outcome.worst = fmax(outcome.worst, share);
                outcome.judged[k / EVERY] += share > 0 ? 1 : 0;
            }
            dataset_free(&data);
        }
    }
    return outcome;
}

static void check_promises(solver *solve)
{
    const struct outcome outcome = attacked(solve, 1);
    for (int i = 0; i < LAMBDAS; i++) {
        cr_log_info("lambda %g: %d judged", lambdas[i], outcome.judged[i]);
        cr_assert(outcome.judged[i] > 20);
    }
    cr_log_info("up to %g of the promise", outcome.worst);
    cr_assert(outcome.worst <= 1);
}

Test(certified, every_loss_keeps_its_promise_on_every_attack)
{
    check_promises(erm_solve);
}

Test(certified, the_sure_method_keeps_its_promise_on_every_attack)
{
    check_promises(erm_solve_slowly);
}

Test(certified, solvers_that_stop_early_are_caught)
{
    cr_assert(attacked(erm_solve, 100).worst > 1);
    cr_assert(attacked(erm_solve_slowly, 100).worst > 1);
}

/* The dual's certificate, on hard data and with few passes: whenever it certifies a gap, the gap
 * is reached. A gap without the losses of records left out, or without the width, would be too
 * small. */
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
