/* Output perturbation: Nie and Wang, "Perturbation of convex risk minimization", 2017, in the form
 * of explicit features: the weights are released, not a function plus one number (which would
 * protect one evaluated point only). */

#include "task/answer.h"
#include "base/bytes.h"
#include "dp/encode.h"
#include "learn/erm.h"

#include <stdlib.h>

enum status answer_fit(int64_t *value, const struct task_input *input)
{
    const struct dataset *data = input->data;
    const size_t d = data->feature_count;
    const size_t outputs = schema_output_count(&input->job->schema);
    const struct erm_problem problem = {.loss = input->stage->loss,
                                        .lambda = input->stage->lambda[input->within],
                                        .tolerance = input->stage->tolerance,
                                        .record_count = data->record_count,
                                        .feature_count = d};
    double *w = calloc(d, sizeof *w);
    struct dataset one = *data; /* with the labels of one class against the rest */
    double *y = outputs > 1 ? malloc(data->record_count * sizeof *y) : NULL;
    enum status status = w == NULL || (outputs > 1 && y == NULL) ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t output = 0; output < outputs && status == STATUS_OK; output++) {
        for (size_t i = 0; outputs > 1 && i < data->record_count; i++) {
            y[i] = data->y[i] == (double)output ? 1 : -1;
        }
        one.y = outputs > 1 ? y : data->y;
        status = erm_solve(w, &problem, &one, input->why);
        if (status == STATUS_OK) {
            encode_vector(value + output * d, w, d, input->stage->grid_bits);
        }
    }
    if (w != NULL) {
        bytes_wipe(w, d * sizeof *w);
        free(w);
    }
    if (y != NULL) {
        bytes_wipe(y, data->record_count * sizeof *y);
        free(y);
    }
    return status;
}
