#include "learn/kernel_machine.h"

#include "base/check.h"
#include "learn/dense.h"
#include "learn/erm_core.h"

#include <string.h>

static struct core core_of(const struct kernel_problem *problem)
{
    return (struct core){.loss = problem->loss,
                         .lambda = problem->lambda,
                         .tolerance = problem->tolerance,
                         .kappa = kernel_kappa(problem->kernel),
                         .m = problem->record_count,
                         .d = problem->feature_count,
                         .by_gram = true,
                         .entry_error = kernel_rounding(problem->kernel, problem->feature_count)};
}

enum status kernel_plan(struct erm_plan *plan, const struct kernel_problem *problem,
                        struct why *why)
{
    *plan = (struct erm_plan){0};
    const enum status status = kernel_check(problem->kernel, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (problem->record_count > KERNEL_RECORDS_MAX) {
        return why_refuse(why,
                          "a kernel machine takes at most %d records: take random features instead",
                          KERNEL_RECORDS_MAX);
    }
    const struct core core = core_of(problem);
    return core_plan(plan, &core, why);
}

static bool model_init(struct kernel_model *model, const struct kernel_problem *problem,
                       const struct dataset *data)
{
    const size_t m = problem->record_count;
    const size_t d = problem->feature_count;
    *model =
        (struct kernel_model){.kernel = problem->kernel, .record_count = m, .feature_count = d};
    model->x = core_numbers(m, d);
    model->alpha = core_numbers(m, 1);
    if (model->x != NULL) {
        memcpy(model->x, data->x, m * d * sizeof *model->x);
    }
    return model->x != NULL && model->alpha != NULL;
}

enum status kernel_fit(struct kernel_model *model, const struct kernel_problem *problem,
                       const struct dataset *data, struct why *why)
{
    const size_t m = problem->record_count;
    struct erm_plan plan;
    struct core core = core_of(problem);
    double *gram = NULL;
    CHECK(data->record_count == m && data->feature_count == problem->feature_count);
    CHECK(data->y != NULL);
    *model = (struct kernel_model){.kernel = problem->kernel};
    enum status status = kernel_plan(&plan, problem, why);
    if (status != STATUS_OK) {
        return status;
    }
    gram = core_numbers(m, m);
    if (!model_init(model, problem, data) || gram == NULL) {
        why_set(why, "not enough memory for the Gram matrix");
        status = STATUS_NO_MEMORY;
        goto done;
    }
    /* A smooth loss reads half of the matrix. */
    (loss_is_smooth(problem->loss) ? kernel_gram_upper : kernel_gram)(gram, problem->kernel,
                                                                      data->x, m, core.d);
    core.gram = gram;
    core.y = data->y;
    status = core_solve(model->alpha, &core, why);
done:
    if (status != STATUS_OK) {
        kernel_model_free(model);
    }
    core_numbers_free(gram, m * m);
    return status;
}

/* If terms were added one by one, their roundings could sum to more than erm_plan.c counts. */
void kernel_predict(double *f, const struct kernel_model *model, const double *points, size_t count)
{
    const size_t d = model->feature_count;
    for (size_t i = 0; i < count; i++) {
        struct dense_sum sum = {0};
        for (size_t j = 0; j < model->record_count; j++) {
            dense_add(&sum, model->alpha[j] *
                                kernel_value(model->kernel, points + i * d, model->x + j * d, d));
        }
        f[i] = sum.value;
    }
}

void kernel_model_free(struct kernel_model *model)
{
    core_numbers_free(model->x, model->record_count * model->feature_count);
    core_numbers_free(model->alpha, model->record_count);
    *model = (struct kernel_model){0};
}
