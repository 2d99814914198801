/* Output perturbation: Nie and Wang, "Perturbation of convex risk minimization", 2017, in the form
 * of explicit features: the weights are released, not a function plus one number (which would
 * protect one evaluated point only). */

#include "task/answer.h"
#include "learn/erm.h"

static enum status solve(double *w, const struct task_input *input, const struct dataset *data)
{
    const struct erm_problem problem = {.loss = input->stage->loss,
                                        .lambda = input->stage->lambda[input->within],
                                        .tolerance = input->stage->tolerance,
                                        .record_count = data->record_count,
                                        .feature_count = data->feature_count};
    return erm_solve(w, &problem, data, input->why);
}

enum status answer_fit(int64_t *value, const struct task_input *input)
{
    return task_answer_outputs(value, input, input->data->feature_count, solve);
}
