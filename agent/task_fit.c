/* Output perturbation: Nie and Wang, "Perturbation of convex risk minimization", 2017, in the form
 * of explicit features: the weights are released, not a function plus one number (which would
 * protect one evaluated point only). */

#include "agent/task_fit.h"

#include "base/check.h"
#include "dp/encode.h"
#include "learn/erm.h"
#include "learn/sensitivity.h"

#include <stdlib.h>

static struct erm_problem problem_of(const struct stage *stage, uint32_t within,
                                     size_t record_count, size_t feature_count)
{
    return (struct erm_problem){.loss = stage->loss,
                                .lambda = stage->lambda[within],
                                .tolerance = stage->tolerance,
                                .record_count = record_count,
                                .feature_count = feature_count};
}

enum status task_fit_check(const struct stage *stage, size_t record_count, size_t feature_count,
                           struct why *why)
{
    for (uint32_t within = 0; within < stage->rounds; within++) {
        struct erm_problem problem = problem_of(stage, within, record_count, feature_count);
        uint64_t ignored;
        enum status status = sensitivity_fit_l1(&ignored, &problem, stage->grid_bits, why);
        if (status == STATUS_OK) {
            status = sensitivity_fit_range(&ignored, &problem, stage->grid_bits, why);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

enum status task_fit_sensitivity(uint64_t *sensitivity_l1, const struct stage *stage,
                                 uint32_t within, size_t record_count, size_t feature_count,
                                 struct why *why)
{
    struct erm_problem problem = problem_of(stage, within, record_count, feature_count);
    return sensitivity_fit_l1(sensitivity_l1, &problem, stage->grid_bits, why);
}

enum status task_fit(struct private_vector *out, const struct task_input *input, struct why *why)
{
    const struct dataset *data = input->data;
    size_t d = data->feature_count;
    struct erm_problem problem = problem_of(input->stage, input->within, data->record_count, d);
    uint64_t range = 0;
    double *w = NULL;
    enum status status;

    out->value = calloc(d, sizeof *out->value);
    w = calloc(d, sizeof *w);
    out->count = d;
    if (out->value == NULL || w == NULL) {
        status = STATUS_NO_MEMORY;
        goto done;
    }
    status = sensitivity_fit_l1(&out->sensitivity_l1, &problem, input->stage->grid_bits, why);
    if (status != STATUS_OK) {
        goto done;
    }
    status = sensitivity_fit_range(&range, &problem, input->stage->grid_bits, why);
    if (status != STATUS_OK) {
        goto done;
    }
    status = erm_solve(w, &problem, data, why);
    if (status != STATUS_OK) {
        goto done;
    }
    encode_vector(out->value, w, d, input->stage->grid_bits);
    out->high = (int64_t)range;
    out->low = -(int64_t)range;
done:
    if (w != NULL) {
        bytes_wipe(w, d * sizeof *w);
        free(w);
    }
    return status;
}
