/* How far a record moves a kernel model's answers. */

#include "learn/kernel_machine.h"
#include "learn/sensitivity.h"
#include "task/predict/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static size_t answer_count(const struct round_asked *asked)
{
    return schema_output_count(&asked->job->schema) * predict_stage(asked->stage)->point_count;
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const struct kernel_problem problem = {.loss = asked->stage->loss,
                                           .kernel = predict_stage(asked->stage)->kernel,
                                           .lambda = asked->stage->lambda[asked->within],
                                           .tolerance = asked->stage->tolerance,
                                           .record_count = (size_t)asked->records,
                                           .feature_count = asked->stage->block.count};
    out->high = INT64_C(1) << asked->stage->grid_bits;
    out->low = -out->high;
    return sensitivity_predict_l1(&out->sensitivity, &problem, answer_count(asked),
                                  asked->stage->grid_bits, asked->why);
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    const struct stage *stage = view->stage;
    for (size_t i = 0; i < stage->lambda_count; i++) {
        const struct kernel_problem problem = {.loss = stage->loss,
                                               .kernel = predict_stage(stage)->kernel,
                                               .lambda = stage->lambda[i],
                                               .tolerance = stage->tolerance,
                                               .record_count = (size_t)view->m,
                                               .feature_count = (size_t)view->d};
        struct erm_plan plan;
        enum status status = kernel_plan(&plan, &problem, view->why);
        if (status != STATUS_OK) {
            return status;
        }
        const double answers = 2 * (double)predict_stage(stage)->point_count * view->m * view->d;
        out->flops = fmax(out->flops, (plan.flops + answers) * view->outputs);
    }
    out->bytes =
        WORK_NUMBER * (view->m * view->m + view->m * view->d + WORK_SOLVER_VECTORS * view->m);
    return STATUS_OK;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        char what[TERMS_TEXT_BYTES];
        (void)snprintf(what, sizeof what, "each of the average's %zu answers, lambda %g",
                       round_answer_count(setting->job, stage, within, setting->experts),
                       stage->lambda[within]);
        status = terms_describe_score(terms, setting, within, what, why);
    }
    return status;
}

const struct task_bounds task_bounds_predict = {.input = INPUT_NONE,
                                                .helps = HELP_RECORDS | HELP_LAMBDA,
                                                .rounds_differ = true,
                                                .experts = task_experts_of_fit,
                                                .answer_count = answer_count,
                                                .bounds = bounds,
                                                .need = need,
                                                .describe = describe};
