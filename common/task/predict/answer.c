/* Nie and Wang, "Perturbation of convex risk minimization", 2017: pi(f(x)) + b, pi the projection to
 * the labels' range. Deviation: b is drawn anew for every point, as one number protects one evaluated
 * point alone. Several classes: one model each against the rest. */

#include "task/answer.h"
#include "learn/kernel_machine.h"
#include "task/predict/stage.h"

#include <math.h>

/* One model's answers f (q). */
static enum status solve(double *f, const struct task_input *input, const struct dataset *data)
{
    const struct stage *stage = input->stage;
    const size_t q = predict_stage(stage)->point_count;
    const struct kernel_problem problem = {.loss = stage->loss,
                                           .kernel = predict_stage(stage)->kernel,
                                           .lambda = stage->lambda[input->within],
                                           .tolerance = stage->tolerance,
                                           .record_count = data->record_count,
                                           .feature_count = data->feature_count};
    struct kernel_model model;
    enum status status = kernel_fit(&model, &problem, data, input->why);
    if (status == STATUS_OK) {
        kernel_predict(f, &model, predict_stage(stage)->point, q);
    }
    for (size_t j = 0; j < q && status == STATUS_OK; j++) {
        f[j] = fmin(fmax(f[j], -1), 1);
    }
    kernel_model_free(&model);
    return status;
}

enum status answer_predict(int64_t *value, const struct task_input *input)
{
    return task_answer_outputs(value, input, predict_stage(input->stage)->point_count, solve);
}
