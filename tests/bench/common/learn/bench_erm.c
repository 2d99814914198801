/* bench_erm.c - the solvers beside Debian's liblinear (where it is installed) on synthetic records,
 * at the same gap, and kernel ridge beside the bare Cholesky factorisation of a matrix of its size.
 *
 *     bench_erm [RECORDS [FEATURES [KERNEL_RECORDS]]]      100000, 100 and 4000 unless told
 */

#include "learn/dense.h"
#include "learn/erm.h"
#include "learn/erm_core.h"
#include "learn/kernel_machine.h"
#include "tests/support/objective.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef BENCH_LIBLINEAR
#include <linear.h>
#endif

/* The processor time of this thread. Other programs on the machine do not add to it. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Correlated features, norms at most 1, labels by a noisy plane: about a tenth on its wrong
 * side. */
static struct dataset draw(size_t m, size_t d)
{
    struct seeded_random random;
    struct dataset data = {.record_count = m, .feature_count = d};
    seeded_random_init(&random, 7);
    data.x = calloc(m * d, sizeof *data.x);
    data.y = calloc(m, sizeof *data.y);
    if (data.x == NULL || data.y == NULL) {
        abort();
    }
    for (size_t i = 0; i < m; i++) {
        const double common = 2 * seeded_random_unit(&random) - 1;
        double plane = 0;
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            double *x = &data.x[i * d + j];
            *x = 2 * seeded_random_unit(&random) - 1 + (j % 3 == 0 ? common : 0);
            plane += *x * (j % 2 == 0 ? 1 : -1) / (double)(1 + j);
            square += *x * *x;
        }
        for (size_t j = 0; j < d; j++) {
            data.x[i * d + j] /= sqrt(square) * (1 + 1e-12);
        }
        data.y[i] = plane + 0.5 * (2 * seeded_random_unit(&random) - 1) > 0 ? 1 : -1;
    }
    return data;
}

/* The fast method alone: finer than can be promised on every data set, but certified on this one.
 * Returns whether it is. */
static bool certified_fit(double *w, const struct dataset *data, struct loss loss, double lambda,
                          double tolerance)
{
    struct core core = {.loss = loss,
                        .lambda = lambda,
                        .kappa = 1,
                        .m = data->record_count,
                        .d = data->feature_count,
                        .x = data->x,
                        .y = data->y};
    bool certified = false;
    core.tolerance = fmax(tolerance, 8 * core_rounding(&core));
    const enum status status = loss_is_smooth(loss) ? newton_descend(w, &certified, &core, 50)
                                                    : dual_descend(w, &certified, &core, 20000);
    return status == STATUS_OK && certified;
}

/* The least objective that double precision can certify. */
static double optimum(const struct dataset *data, struct loss loss, double lambda)
{
    const struct erm_problem problem = {.loss = loss,
                                        .lambda = lambda,
                                        .record_count = data->record_count,
                                        .feature_count = data->feature_count};
    double *w = calloc(data->feature_count, sizeof *w);
    if (w == NULL || !certified_fit(w, data, loss, lambda, 0)) {
        abort();
    }
    const double objective = erm_objective(w, &problem, data);
    free(w);
    return objective;
}

/* Fits to the tolerance and prints. */
static void ours(const struct dataset *data, struct loss loss, double lambda, double tolerance,
                 double best, const char *what)
{
    const struct erm_problem problem = {.loss = loss,
                                        .lambda = lambda,
                                        .tolerance = fmin(tolerance, 1),
                                        .record_count = data->record_count,
                                        .feature_count = data->feature_count};
    double *w = calloc(data->feature_count, sizeof *w);
    const double start = seconds();
    if (w == NULL || (erm_solve(w, &problem, data, NULL) != STATUS_OK &&
                      !certified_fit(w, data, loss, lambda, problem.tolerance))) {
        abort();
    }
    const double took = seconds() - start;
    printf("  %-34s %8.3f s   above the optimum by %.2e\n", what, took,
           erm_objective(w, &problem, data) - best);
    free(w);
}

#ifdef BENCH_LIBLINEAR
static void quiet(UNUSED const char *text)
{
}

static struct feature_node **nodes(const struct dataset *data)
{
    const size_t d = data->feature_count;
    struct feature_node **row = calloc(data->record_count, sizeof *row);
    struct feature_node *all = calloc(data->record_count * (d + 1), sizeof *all);
    if (row == NULL || all == NULL) {
        abort();
    }
    for (size_t i = 0; i < data->record_count; i++) {
        row[i] = all + i * (d + 1);
        for (size_t j = 0; j < d; j++) {
            row[i][j] = (struct feature_node){(int)j + 1, data->x[i * d + j]};
        }
        row[i][d].index = -1;
    }
    return row;
}

/* Prints, and returns the objective in our units. */
static double theirs(const struct problem *problem, const struct dataset *data, int solver,
                     struct loss loss, double lambda, double stop, double best)
{
    struct parameter parameter = {
        .solver_type = solver, .eps = stop, .C = 1 / (2 * lambda * (double)data->record_count)};
    const struct erm_problem own = {.loss = loss,
                                    .lambda = lambda,
                                    .record_count = data->record_count,
                                    .feature_count = data->feature_count};
    double *w = calloc(data->feature_count, sizeof *w);
    const double start = seconds();
    struct model *model = train(problem, &parameter);
    const double took = seconds() - start;
    for (size_t j = 0; j < data->feature_count; j++) {
        w[j] = model->w[j] * model->label[0]; /* label[0] is the positive side */
    }
    const double objective = erm_objective(w, &own, data);
    printf("  liblinear -s %d -e %-18g %8.3f s   above the optimum by %.2e\n", solver, stop, took,
           objective - best);
    free_and_destroy_model(&model);
    free(w);
    return objective;
}

static void beside_liblinear(const struct dataset *data)
{
    struct feature_node **x = nodes(data);
    const struct problem problem = {.l = (int)data->record_count,
                                    .n = (int)data->feature_count,
                                    .y = data->y,
                                    .x = x,
                                    .bias = -1};
    set_print_string_function(quiet);
    const double lambdas[] = {1e-3, 1e-4, 1e-5};
    const double stops[] = {0.1, 0.01, 0.001};
    for (int l = 0; l < 3; l++) {
        const double lambda = lambdas[l];
        const struct loss hinge = {LOSS_HINGE, 0};
        const struct loss logistic = {LOSS_LOGISTIC, 0};
        double best = optimum(data, hinge, lambda);
        printf("hinge, lambda %g\n", lambda);
        for (int i = 0; i < 2; i++) {
            const double reached =
                theirs(&problem, data, L2R_L1LOSS_SVC_DUAL, hinge, lambda, stops[i], best);
            ours(data, hinge, lambda, 16 * fmax(reached - best, 1e-8), best, "ours, to that gap");
        }
        best = optimum(data, logistic, lambda);
        printf("logistic, lambda %g\n", lambda);
        for (int solver = L2R_LR; solver <= L2R_LR_DUAL; solver += L2R_LR_DUAL - L2R_LR) {
            for (int i = 1; i < 3; i++) {
                const double gap =
                    theirs(&problem, data, solver, logistic, lambda, stops[i], best) - best;
                /* F - F* <= |grad|^2/(4 lambda) */
                ours(data, logistic, lambda, 16 * sqrt(4 * lambda * fmax(gap, 1e-14)), best,
                     "ours, to that gap");
            }
        }
    }
    free(x[0]);
    free(x);
}
#else
static void beside_liblinear(const struct dataset *data)
{
    const struct loss losses[] = {{LOSS_HINGE, 0}, {LOSS_LOGISTIC, 0}};
    for (int i = 0; i < 2; i++) {
        printf("%s, lambda 0.001 (no liblinear here)\n", loss_name(losses[i].kind));
        ours(data, losses[i], 1e-3, 1e-4, 0, "ours");
    }
}
#endif

static void ridge(size_t m)
{
    struct dataset data = draw(m, 20);
    const struct kernel_problem problem = {
        .loss = {LOSS_SQUARED, 0},
        .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 1},
        .lambda = 0.01,
        .tolerance = 1e-3,
        .record_count = m,
        .feature_count = 20,
    };
    double *matrix = calloc(m * m, sizeof *matrix);
    double bare = HUGE_VAL;
    double whole = HUGE_VAL;
    for (int i = 0; i < 10 && matrix != NULL; i++) {
        struct kernel_model model;
        struct why why = {{0}};
        kernel_gram(matrix, problem.kernel, data.x, m, 20);
        for (size_t j = 0; j < m; j++) {
            matrix[j * m + j] += 0.01 * (double)m;
        }
        double start = seconds();
        const bool good = cholesky_factor(matrix, m);
        bare = fmin(bare, good ? seconds() - start : HUGE_VAL);
        start = seconds();
        if (kernel_fit(&model, &problem, &data, &why) != STATUS_OK) {
            printf("refused: %s\n", why.text);
            break;
        }
        whole = fmin(whole, seconds() - start);
        kernel_model_free(&model);
    }
    const double flops = (double)m * (double)m * (double)m / 3;
    printf("dpotrf, m = %zu: %.3f s (%.1f GFLOP/s)\nkernel ridge, Gram matrix and all: %.3f s, "
           "%.0f %% of that rate\n",
           m, bare, flops / bare * 1e-9, whole, 100 * bare / whole);
    free(matrix);
    dataset_free(&data);
}

int main(int argc, char **argv)
{
    const size_t m = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const size_t d = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    struct dataset data = draw(m, d);
    ridge(argc > 3 ? strtoull(argv[3], NULL, 10) : 4000);
    beside_liblinear(&data);
    dataset_free(&data);
    return 0;
}
