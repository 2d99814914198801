/* How far a record moves second moments. */

#include "task/statistics/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* For several classes. With one class in common the blocks differ by x - x', as for a label of 1 on
 * both sides, which moments_sensitivity has. With two, by x and by x': at most 2 sqrt(d) in L1, and
 * the root of 2 in L2, whatever t = <x, x'>. The rest of the vector adds 1 + d sqrt((1 - t^2)/2), and
 * 2 - 2 t^2 to the square: the worst t is 0. In L2 that is 4, below the 4.5 of two classes. The grid:
 * a number that is 0 on one side is off by half a step at most, so that two blocks weigh as one. */
static uint64_t sensitivity(const struct stage *stage, size_t outputs)
{
    const double d = (double)statistics_stage(stage)->moments.feature_count;
    if (stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
        return moments_sensitivity_l2(&statistics_stage(stage)->moments);
    }
    const double classes = (1 + d / sqrt(2) + 2 * sqrt(d)) * (1 + 0x1p-40);
    return outputs == 1 ? moments_sensitivity_l1(&statistics_stage(stage)->moments)
                        : (uint64_t)ceil(ldexp(classes, (int)stage->grid_bits)) +
                              moments_count(&statistics_stage(stage)->moments);
}

static size_t answer_count(const struct round_asked *asked)
{
    const struct statistics_stage *own = statistics_stage(asked->stage);
    const size_t more = schema_output_count(&asked->job->schema) - 1;
    return moments_count(&own->moments) + more * own->moments.feature_count;
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const struct statistics_stage *own = statistics_stage(asked->stage);
    if (moments_check(&own->moments, asked->stage->batch, asked->why) != STATUS_OK) {
        return STATUS_INVALID;
    }
    out->sensitivity = sensitivity(asked->stage, schema_output_count(&asked->job->schema));
    out->high = (int64_t)moments_range(&own->moments, asked->stage->batch);
    out->low = -out->high;
    return STATUS_OK;
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    const double products = view->d * (view->d + 3) / 2 + view->d * view->outputs;
    out->flops = view->rows * products * 4;
    out->bytes = WORK_NUMBER * (products + view->rows * (view->d + 1));
    return STATUS_OK;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const double features = (double)stage->block.count;
    double steps = 0;
    struct terms_line *line = NULL;
    const enum status status = terms_begin_line(&line, &steps, terms, setting, 0, why);
    if (status != STATUS_OK) {
        return status;
    }
    (void)snprintf(line->what, sizeof line->what, "each of %zu mean second moments",
                   round_answer_count(setting->job, stage, 0, setting->experts));
    (void)snprintf(line->unit, sizeof line->unit, "moment");
    line->noise =
        ldexp(steps, -(int)stage->grid_bits) / ((double)setting->agents * (double)stage->batch);
    line->noise_to_signal = 2 * sqrt(features) * line->noise / 0.5;
    line->measure = "as a matrix the noise, about 2 sqrt(d) of it, is half of the largest moments "
                    "there can be";
    return STATUS_OK;
}

static size_t experts(const struct stage *stage, size_t agent_count)
{
    (void)agent_count;
    return stage->lambda_count * (1 + stage->shift_count);
}

const struct task_bounds task_bounds_statistics = {.input = INPUT_NONE,
                                                   .helps = HELP_RECORDS | HELP_FEATURES,
                                                   .time_is_public = true,
                                                   .experts = experts,
                                                   .answer_count = answer_count,
                                                   .bounds = bounds,
                                                   .need = need,
                                                   .describe = describe};
