/* How far one record moves a regularised minimiser, and what its weights are worth under that noise. */

#include "job/reach.h"
#include "learn/erm.h"
#include "learn/sensitivity.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const struct erm_problem problem = {.loss = asked->stage->loss,
                                        .lambda = asked->stage->lambda[asked->within],
                                        .tolerance = asked->stage->tolerance,
                                        .record_count = (size_t)asked->records,
                                        .feature_count = asked->stage->block.count};
    uint64_t range = 0;
    enum status status =
        sensitivity_fit_l1(&out->sensitivity, &problem, asked->stage->grid_bits, asked->why);
    if (status == STATUS_OK) {
        status = sensitivity_fit_range(&range, &problem, asked->stage->grid_bits, asked->why);
    }
    out->sensitivity *=
        schema_output_count(&asked->job->schema); /* one-versus-rest: that many fits */
    out->high = (int64_t)range;
    out->low = -out->high;
    return status;
}

/* As erm_solve.c: by Gram where there are more features than records. */
static enum status need(struct work_need *out, const struct work_view *view)
{
    const struct stage *stage = view->stage;
    const bool by_gram = view->d > view->m;
    const double matrix = by_gram                       ? view->m * view->m
                          : loss_is_smooth(stage->loss) ? view->d * view->d
                                                        : 0;
    for (size_t i = 0; i < stage->lambda_count; i++) {
        const struct erm_problem problem = {.loss = stage->loss,
                                            .lambda = stage->lambda[i],
                                            .tolerance = stage->tolerance,
                                            .record_count = (size_t)view->m,
                                            .feature_count = (size_t)view->d};
        struct erm_plan plan;
        enum status status = erm_plan(&plan, &problem, view->why);
        if (status != STATUS_OK) {
            return status;
        }
        out->flops = fmax(out->flops, plan.flops * view->outputs);
    }
    out->bytes = WORK_NUMBER *
                 (matrix + WORK_SOLVER_ROWS * view->d + WORK_SOLVER_VECTORS * (view->m + view->d));
    return STATUS_OK;
}

/* Features have a norm of at most 1: a prediction's noise is at most a weight's. */
static enum status describe_prediction(struct terms *terms, const struct terms_setting *setting,
                                       uint32_t within, double weight_noise)
{
    const struct label *label = &setting->job->schema.label;
    struct terms_line *line = terms_add_line(terms);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(line->what, sizeof line->what, "one prediction of the average, lambda %g",
                   setting->stage->lambda[within]);
    (void)snprintf(line->unit, sizeof line->unit, "%s",
                   label->name[0] != '\0' ? label->name : "the label's unit");
    line->noise = weight_noise * label->half_width;
    line->noise_to_signal = 2 * weight_noise;
    line->measure = "half the label's half_width";
    return STATUS_OK;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const double agents = (double)setting->agents;
    const double features = (double)stage->block.count;
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        double steps = 0;
        struct terms_line *line = NULL;
        status = terms_begin_line(&line, &steps, terms, setting, within, why);
        if (status != STATUS_OK) {
            return status;
        }
        const double ball = loss_ball(stage->loss, 1, 1, stage->lambda[within]);
        (void)snprintf(line->what, sizeof line->what,
                       "each of the average's %zu weights, lambda %g", round_stage_width(stage),
                       stage->lambda[within]);
        (void)snprintf(line->unit, sizeof line->unit, "weight");
        line->noise = ldexp(steps, -(int)stage->grid_bits) / agents;
        line->noise_to_signal = sqrt(features) * line->noise / (ball / 2);
        line->measure = "all weights' noise together is half the ball that they lie in";
        if (setting->job->schema.label.kind == LABEL_NUMBER) {
            status = describe_prediction(terms, setting, within, line->noise);
        }
    }
    return status;
}

const struct task_bounds task_bounds_fit = {.input = INPUT_NONE,
                                            .helps = HELP_RECORDS | HELP_LAMBDA | HELP_FEATURES,
                                            .rounds_differ = true,
                                            .experts = task_experts_of_fit,
                                            .bounds = bounds,
                                            .need = need,
                                            .describe = describe};
