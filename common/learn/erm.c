/* Explicit features. With more of them than records, the linear kernel's Gram matrix is smaller
 * than the records are. */

#include "learn/erm.h"

#include "base/check.h"
#include "learn/erm_core.h"
#include "learn/kernel.h"

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
