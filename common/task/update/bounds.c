/* How far a record moves a sum of clipped gradients. */

#include "task/task.h"
#include "task/update/stage.h"

#include <math.h>
#include <stdio.h>

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    if (gradient_check(&update_stage(asked->stage)->gradient, asked->stage->batch, asked->why) !=
        STATUS_OK) {
        return STATUS_INVALID;
    }
    out->sensitivity = gradient_sensitivity(&update_stage(asked->stage)->gradient);
    out->norm_max = (uint64_t)update_stage(asked->stage)->clip_sum;
    out->high = (int64_t)gradient_range(&update_stage(asked->stage)->gradient, asked->stage->batch);
    out->low = -out->high;
    return STATUS_OK;
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    const double width = view->d * view->outputs;
    out->flops = view->rows * width * 20;
    out->bytes = WORK_NUMBER * (3 * width + view->rows);
    return STATUS_OK;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const double width = (double)round_stage_width(stage);
    const double records = (double)setting->agents * (double)stage->batch * terms->sampling;
    double steps = 0;
    struct terms_line *line = NULL;
    const enum status status = terms_begin_line(&line, &steps, terms, setting, 0, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double clip = ldexp((double)update_stage(stage)->gradient.clip, -(int)stage->grid_bits);
    (void)snprintf(line->what, sizeof line->what,
                   "each of %zu coordinates of the mean gradient (rounds: %u)",
                   round_stage_width(stage), stage->rounds);
    (void)snprintf(line->unit, sizeof line->unit, "gradient");
    line->noise = ldexp(steps, -(int)stage->grid_bits) / records;
    const double averaged = line->noise * sqrt(width / (double)stage->rounds) / (clip / 2);
    const double single = line->noise * sqrt(width) / clip;
    line->noise_to_signal = fmax(averaged, single);
    line->measure = averaged >= single
                        ? "averaged over the rounds, the noise is half the clip"
                        : "one round's noise is as large as the clip: it moves more than any "
                          "gradient";
    return STATUS_OK;
}

static size_t experts_at_end(const struct stage *stage)
{
    return 1 + stage->shift_count;
}

const struct task_bounds task_bounds_update = {.input = INPUT_STATE,
                                               .helps =
                                                   HELP_RECORDS | HELP_FEWER_ROUNDS | HELP_FEATURES,
                                               .time_is_public = true,
                                               .experts_at_end = experts_at_end,
                                               .bounds = bounds,
                                               .need = need,
                                               .describe = describe};
