/* Output perturbation: Nie and Wang, "Perturbation of convex risk minimization", 2017, in the form
 * of explicit features: the weights are released, not a function plus one number (which would
 * protect one evaluated point only). */

#include "agent/task_fit.h"

#include "base/bytes.h"
#include "dp/encode.h"
#include "learn/erm.h"

#include <stdlib.h>

enum status task_fit(int64_t *value, const struct task_input *input, struct why *why)
{
    const struct dataset *data = input->data;
    const size_t d = data->feature_count;
    const struct erm_problem problem = {.loss = input->stage->loss,
                                        .lambda = input->stage->lambda[input->within],
                                        .tolerance = input->stage->tolerance,
                                        .record_count = data->record_count,
                                        .feature_count = d};
    double *w = calloc(d, sizeof *w);
    enum status status = w == NULL ? STATUS_NO_MEMORY : erm_solve(w, &problem, data, why);

    if (status == STATUS_OK) {
        encode_vector(value, w, d, input->stage->grid_bits);
    }
    if (w != NULL) {
        bytes_wipe(w, d * sizeof *w);
        free(w);
    }
    return status;
}
