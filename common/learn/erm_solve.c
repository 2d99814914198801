/* The fast method, then the sure one. What both need. */

#include "learn/erm_core.h"

#include "base/bytes.h"
#include "base/check.h"
#include "learn/dense.h"
#include "learn/erm.h"
#include "learn/kernel.h"

#include <cblas.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 512 };
static const size_t huge_page = (size_t)2 << 20;

/* A large matrix in huge pages: most of its first touch is the kernel's work. */
double *core_numbers(size_t rows, size_t columns)
{
    if (rows > SIZE_MAX / 2 / sizeof(double) / (columns + 1)) {
        return NULL;
    }
    const size_t size = (rows * columns + 1) * sizeof(double);
    if (size < 2 * huge_page) {
        return calloc(rows * columns + 1, sizeof(double));
    }
    double *number = aligned_alloc(huge_page, (size + huge_page - 1) / huge_page * huge_page);
    if (number != NULL) {
        (void)madvise(number, size, MADV_HUGEPAGE);
        memset(number, 0, size);
    }
    return number;
}

void core_numbers_free(double *number, size_t count)
{
    bytes_free(number, count * sizeof *number);
}

/* BLAS keeps at least four partial sums on every machine it has kernels for. */
double core_terms(size_t n)
{
    return n <= BLOCK ? (double)n / 4 : (double)BLOCK / 4 + (double)n / BLOCK + 1;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Square by square, each read once for both of its products. */
static void scores_by_gram(double *f, const struct core *core, const double *c)
{
    const size_t m = core->m;
    memset(f, 0, m * sizeof *f);
    for (size_t top = 0; top < m; top += BLOCK) {
        const int rows = (int)least(BLOCK, m - top);
        const double *gram = core->gram + top * m;
        cblas_dsymv(CblasRowMajor, CblasUpper, rows, 1, gram + top, (int)m, c + top, 1, 1, f + top,
                    1);
        for (size_t left = top + BLOCK; left < m; left += BLOCK) {
            const int columns = (int)least(BLOCK, m - left);
            cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, columns, 1, gram + left, (int)m,
                        c + left, 1, 1, f + top, 1);
            cblas_dgemv(CblasRowMajor, CblasTrans, rows, columns, 1, gram + left, (int)m, c + top,
                        1, 1, f + left, 1);
        }
    }
}

void core_scores(double *f, const struct core *core, const double *w)
{
    CHECK(core->m <= INT_MAX && core->d <= INT_MAX);
    if (core->by_gram) {
        scores_by_gram(f, core, w);
        return;
    }
    for (size_t left = 0; left < core->d; left += BLOCK) {
        const int columns = (int)least(BLOCK, core->d - left);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)core->m, columns, 1, core->x + left,
                    (int)core->d, w + left, 1, left == 0 ? 0 : 1, f, 1);
    }
}

void core_combine(double *w, double *scratch, const struct core *core, const double *c)
{
    const size_t d = core->d;
    CHECK(core->x != NULL && core->m <= INT_MAX && d <= INT_MAX);
    memset(w, 0, d * sizeof *w);
    for (size_t top = 0; top < core->m; top += BLOCK) {
        const int rows = (int)least(BLOCK, core->m - top);
        cblas_dgemv(CblasRowMajor, CblasTrans, rows, (int)d, 1, core->x + top * d, (int)d, c + top,
                    1, 0, scratch, 1);
        dense_axpy(w, 1, scratch, d);
    }
}

double core_square(const struct core *core, const double *w, const double *f)
{
    return core->by_gram ? dense_dot(w, f, core->m) : dense_dot(w, w, core->d);
}

/* Least squares: F does not grow, so mean (f-y)^2 <= 1 and the mean size of its slopes is at most
 * 2. */
double core_slope(struct loss loss)
{
    return loss.kind == LOSS_SQUARED ? 2 : loss_lipschitz(loss, 1, 1, 1);
}

enum status core_solve(double *w, const struct core *core, struct why *why)
{
    struct erm_plan plan;
    bool certified = false;
    enum status status = core_plan(&plan, core, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = loss_is_smooth(core->loss)
                 ? newton_descend(w, &certified, core, core_patience(core, plan.steps))
                 : dual_descend(w, &certified, core, core_patience(core, plan.steps));
    if (status == STATUS_OK && !certified) {
        return core_solve_slowly(w, core, why);
    }
    if (status != STATUS_OK) {
        why_set(why, "not enough memory for the fit");
    }
    return status;
}

/* Explicit features. With more of them than records, the linear kernel's Gram matrix is smaller
 * than the records are. */

static struct core core_of(const struct erm_problem *problem)
{
    return (struct core){.loss = problem->loss,
                         .lambda = problem->lambda,
                         .tolerance = problem->tolerance,
                         .kappa = 1,
                         .m = problem->record_count,
                         .d = problem->feature_count,
                         .by_gram = problem->feature_count > problem->record_count,
                         .entry_error = kernel_rounding((struct kernel){.kind = KERNEL_LINEAR},
                                                        problem->feature_count)};
}

static void check_shape(const struct erm_problem *problem, const struct dataset *data)
{
    CHECK(data->record_count == problem->record_count);
    CHECK(data->feature_count == problem->feature_count);
    CHECK(data->y != NULL);
}

enum status erm_plan(struct erm_plan *plan, const struct erm_problem *problem, struct why *why)
{
    const struct core core = core_of(problem);
    return core_plan(plan, &core, why);
}

static enum status solve_by_gram(double *w, struct core *core, bool slowly, struct why *why)
{
    const size_t m = core->m;
    const struct core features = {.m = m, .d = core->d, .x = core->x};
    double *gram = core_numbers(m, m);
    double *c = core_numbers(m, 1);
    double *scratch = core_numbers(core->d, 1);
    enum status status = STATUS_NO_MEMORY;
    if (gram == NULL || c == NULL || scratch == NULL) {
        why_set(why, "not enough memory for the fit");
        goto done;
    }
    /* A smooth loss reads half of the matrix. */
    (loss_is_smooth(core->loss) ? kernel_gram_upper : kernel_gram)(
        gram, (struct kernel){.kind = KERNEL_LINEAR}, core->x, m, core->d);
    core->gram = gram;
    core->x = NULL;
    status = slowly ? core_solve_slowly(c, core, why) : core_solve(c, core, why);
    if (status == STATUS_OK) {
        core_combine(w, scratch, &features, c);
    }
done:
    core_numbers_free(gram, m * m);
    core_numbers_free(c, m);
    core_numbers_free(scratch, core->d);
    return status;
}

static enum status solve(double *w, const struct erm_problem *problem, const struct dataset *data,
                         bool slowly, struct why *why)
{
    struct core core = core_of(problem);
    struct erm_plan plan;
    check_shape(problem, data);
    core.x = data->x;
    core.y = data->y;
    if (!core.by_gram) {
        return slowly ? core_solve_slowly(w, &core, why) : core_solve(w, &core, why);
    }
    const enum status status = core_plan(&plan, &core, why);
    return status == STATUS_OK ? solve_by_gram(w, &core, slowly, why) : status;
}

enum status erm_solve(double *w, const struct erm_problem *problem, const struct dataset *data,
                      struct why *why)
{
    return solve(w, problem, data, false, why);
}

enum status erm_solve_slowly(double *w, const struct erm_problem *problem,
                             const struct dataset *data, struct why *why)
{
    return solve(w, problem, data, true, why);
}
