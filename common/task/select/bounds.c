/* How far a record moves the candidates' scores. */

#include "dp/encode.h"
#include "learn/sensitivity.h"
#include "task/select/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static size_t answer_count(const struct round_asked *asked)
{
    const struct select_stage *own = select_stage(asked->stage);
    return own->among_experts ? asked->experts : candidates_cells(&own->candidates);
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const bool drawn = round_is_drawn(asked->job, asked->stage);
    if (asked->stage->batch > ENCODE_MAX >> asked->stage->grid_bits) {
        return why_fail(asked->why, STATUS_INVALID,
                        "a batch's losses overflow: lower batch or grid_bits");
    }
    out->high = (int64_t)asked->stage->batch << asked->stage->grid_bits;
    out->low = select_stage(asked->stage)->among_experts ? 0 : -out->high;
    if (select_stage(asked->stage)->among_experts) {
        return sensitivity_losses_l1(&out->sensitivity, drawn ? 1 : asked->experts,
                                     asked->stage->grid_bits, asked->why);
    }
    out->sensitivity = drawn ? CANDIDATES_SCORE_SENSITIVITY
                             : candidates_sensitivity_l1(&select_stage(asked->stage)->candidates);
    return STATUS_OK;
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    if (select_stage(view->stage)->among_experts) {
        return task_bounds_losses.need(out, view);
    }
    const double cells = (double)candidates_cells(&select_stage(view->stage)->candidates);
    out->flops = view->rows * cells * WORK_PREDICATE_FLOPS;
    out->bytes = WORK_NUMBER * cells;
    return STATUS_OK;
}

/* Deviation of the noise on one candidate's errors, or summed losses: records. */
static double select_noise(const struct terms_setting *setting, size_t count,
                           const struct query_noise *noise)
{
    const struct stage *stage = setting->stage;
    double most = 0;
    if (select_stage(stage)->among_experts) {
        return ldexp(query_noise_deviation(noise), -(int)stage->grid_bits);
    }
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, candidates_error_deviation(&select_stage(stage)->candidates, i, noise));
    }
    return most;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const struct select_stage *own = select_stage(stage);
    const bool among_experts = own->among_experts;
    const size_t count = among_experts ? setting->experts : candidates_count(&own->candidates);
    const double records = (double)setting->agents * (double)stage->batch;
    const char *what = among_experts ? "experts" : "candidates";
    struct query_noise noise = {0};
    enum status status = terms_noise(&noise, setting, 0, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    (void)snprintf(line->unit, sizeof line->unit, "records");
    if (round_is_drawn(setting->job, stage)) {
        /* Scores of sensitivity S at epsilon: at most 2 S ln(count/beta)/epsilon above the least,
         * but for beta; a candidate's score is twice its errors. */
        const double above = 2 * noise.scale * log((double)count / TERMS_BAR_MISSES);
        (void)snprintf(line->what, sizeof line->what,
                       "one of %zu %s: its errors beyond the best one's", count, what);
        line->bar = among_experts ? ldexp(above, -(int)stage->grid_bits) : above / 2;
        line->noise_to_signal = line->bar / (TERMS_TENTH * records);
        line->measure = "with 95 % it errs on a tenth of the records more than the best";
        return STATUS_OK;
    }
    (void)snprintf(line->what, sizeof line->what, "the errors of each of %zu %s", count, what);
    line->noise = select_noise(setting, count, &noise);
    line->noise_to_signal = 2 * line->noise / (TERMS_TENTH * records);
    line->measure = "twice the deviation is a tenth of the records";
    return STATUS_OK;
}

static enum round_input input_of(const struct stage *stage, UNUSED uint32_t within)
{
    return select_stage(stage)->among_experts ? INPUT_EXPERTS : INPUT_NONE;
}

const struct task_bounds task_bounds_select = {.input_of = input_of,
                                               .helps = HELP_RECORDS | HELP_FEWER_EXPERTS,
                                               .is_drawn = true,
                                               .time_is_public = true,
                                               .answer_count = answer_count,
                                               .bounds = bounds,
                                               .need = need,
                                               .describe = describe};
