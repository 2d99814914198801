/* Nie and Wang, "Perturbation of convex risk minimization", 2017: pi(f(x)) + b, pi the projection to
 * the labels' range. Deviation: b is drawn anew for every point, as one number protects one evaluated
 * point alone. Several classes: one model each against the rest. */

#include "task/answer.h"
#include "base/bytes.h"
#include "dp/encode.h"
#include "learn/kernel_machine.h"
#include "task/predict/stage.h"

#include <math.h>
#include <stdlib.h>

/* One model's answers f (q). */
static enum status answer(double *f, const struct task_input *input, const struct dataset *data)
{
    const struct stage *stage = input->stage;
    const struct kernel_problem problem = {.loss = stage->loss,
                                           .kernel = predict_stage(stage)->kernel,
                                           .lambda = stage->lambda[input->within],
                                           .tolerance = stage->tolerance,
                                           .record_count = data->record_count,
                                           .feature_count = data->feature_count};
    struct kernel_model model;
    enum status status = kernel_fit(&model, &problem, data, input->why);
    if (status == STATUS_OK) {
        kernel_predict(f, &model, predict_stage(stage)->point, predict_stage(stage)->point_count);
    }
    kernel_model_free(&model);
    return status;
}

enum status answer_predict(int64_t *value, const struct task_input *input)
{
    const struct dataset *data = input->data;
    const size_t q = predict_stage(input->stage)->point_count;
    const size_t outputs = schema_output_count(&input->job->schema);
    struct dataset one = *data; /* with the labels of one class against the rest */
    double *f = calloc(q, sizeof *f);
    double *y = outputs > 1 ? malloc(data->record_count * sizeof *y) : NULL;
    enum status status = f == NULL || (outputs > 1 && y == NULL) ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t output = 0; output < outputs && status == STATUS_OK; output++) {
        for (size_t i = 0; outputs > 1 && i < data->record_count; i++) {
            y[i] = data->y[i] == (double)output ? 1 : -1;
        }
        one.y = outputs > 1 ? y : data->y;
        status = answer(f, input, &one);
        for (size_t j = 0; j < q && status == STATUS_OK; j++) {
            f[j] = fmin(fmax(f[j], -1), 1);
        }
        if (status == STATUS_OK) {
            encode_vector(value + output * q, f, q, input->stage->grid_bits);
        }
    }
    if (f != NULL) {
        bytes_wipe(f, q * sizeof *f);
        free(f);
    }
    if (y != NULL) {
        bytes_wipe(y, data->record_count * sizeof *y);
        free(y);
    }
    return status;
}
