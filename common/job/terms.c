/* The figures follow the mechanisms: discrete Laplace noise of scale s varies by less than 2 s^2,
 * independent noises add their variances, and under central trust there is one for all agents. What
 * counts as drowned is a rule of thumb, and each line says which. */

#include "job/terms.h"

#include "base/check.h"
#include "job/reach.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct price terms_price(const struct filter *filter, const struct cost *sums)
{
    const uint64_t converted = filter_epsilon(filter, sums);
    return converted < sums->epsilon_micro ? (struct price){converted, filter->limit.delta_atto}
                                           : (struct price){sums->epsilon_micro, sums->delta_atto};
}

void terms_free(struct terms *terms)
{
    if (terms != NULL) {
        free(terms->line);
        *terms = (struct terms){0};
    }
}

struct terms_line *terms_add_line(struct terms *terms)
{
    struct terms_line *grown = realloc(terms->line, (terms->line_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    terms->line = grown;
    struct terms_line *line = &grown[terms->line_count++];
    *line = (struct terms_line){.noise = NAN, .bar = NAN, .noise_to_signal = NAN, .measure = ""};
    return line;
}

enum status terms_noise(struct query_noise *noise, const struct terms_setting *setting,
                        uint32_t within, struct why *why)
{
    struct round_bounds bounds;
    enum status status = round_bounds(&bounds, setting->job, setting->stage, within,
                                      setting->records, setting->experts, why);
    if (status == STATUS_OK) {
        *noise = round_noise(setting->job, setting->stage, &bounds, setting->agents);
    }
    return status;
}

/* Standard deviation of the noise on one whole number of the sum over all agents: grid steps. */
enum status terms_deviation(double *steps, const struct terms_setting *setting, uint32_t within,
                            struct why *why)
{
    struct query_noise noise = {0};
    enum status status = terms_noise(&noise, setting, within, why);
    *steps = query_noise_deviation(&noise);
    return status;
}

enum status terms_begin_line(struct terms_line **line, double *steps, struct terms *terms,
                             const struct terms_setting *setting, uint32_t within, struct why *why)
{
    const enum status status = terms_deviation(steps, setting, within, why);
    *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    return status == STATUS_OK && *line == NULL ? STATUS_NO_MEMORY : status;
}

/* A number of the agents' average, in units of the label's half_width as predictions are. */
enum status terms_describe_score(struct terms *terms, const struct terms_setting *setting,
                                 uint32_t within, const char *what, struct why *why)
{
    const struct label *label = &setting->job->schema.label;
    const bool is_number = label->kind == LABEL_NUMBER;
    double steps = 0;
    struct terms_line *line = NULL;
    const enum status status = terms_begin_line(&line, &steps, terms, setting, within, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double noise = ldexp(steps, -(int)setting->stage->grid_bits) / (double)setting->agents;
    (void)snprintf(line->what, sizeof line->what, "%s", what);
    (void)snprintf(line->unit, sizeof line->unit, "%s",
                   !is_number               ? "score"
                   : label->name[0] != '\0' ? label->name
                                            : "the label's unit");
    line->noise = noise * (is_number ? label->half_width : 1);
    line->noise_to_signal = 2 * noise;
    line->measure = is_number ? "half the label's half_width" : "half a score of 1";
    return STATUS_OK;
}

static const char *procedure_of(const struct terms_setting *setting)
{
    const struct stage *stage = setting->stage;
    if (round_is_drawn(setting->job, stage)) {
        return stage->strategy == STRATEGY_EPOCHS             ? "report noisy min"
               : stage->strategy == STRATEGY_PERMUTE_AND_FLIP ? "permute-and-flip"
                                                              : "exponential mechanism";
    }
    return stage->charge.mechanism == MECHANISM_PURE ? "discrete Laplace" : "discrete Gaussian";
}

static void describe_price(struct terms *terms, const struct terms_setting *setting)
{
    const struct stage *stage = setting->stage;
    const struct charge charge = stage->charge;
    const struct cost cost = reach_cost(setting->job, stage, &setting->job->filter, stage->rounds);
    terms->passes = reach_passes(setting->job, stage, stage->rounds);
    terms->mechanism = procedure_of(setting);
    terms->charge = (struct price){charge.epsilon_micro, charge.delta_atto};
    terms->sigma = charge.sigma_micro > 0 ? (double)charge.sigma_micro * 1e-6 : NAN;
    terms->sampling = (double)charge_sampling_nano(&charge) / (double)SAMPLING_NANO_ONE;
    terms->price = terms_price(&setting->job->filter, &cost);
}

/* stage: kept as long as the setting. */
static struct terms_setting setting_of(struct stage *stage, const struct job *job, size_t index,
                                       struct terms_size size)
{
    const uint64_t needed = job_records_min(job);
    const uint64_t records = size.records > needed ? size.records : needed;
    CHECK(index < job->stage_count && size.agents >= 1 && size.agents <= JOB_AGENTS_MAX);
    *stage = round_stage_at(&job->stage[index], records);
    return (struct terms_setting){.job = job,
                                  .stage = stage,
                                  .index = index,
                                  .agents = size.agents,
                                  .records = records,
                                  .experts = job_experts_at(job, index, size.agents)};
}

bool terms_can_rehearse(const struct job *job, size_t index)
{
    return task_bounds(job->stage[index].task)->rehearse != NULL;
}

enum status terms_rehearse(struct rehearsal *out, const struct job *job, size_t index,
                           struct terms_size size, struct why *why)
{
    struct stage stage;
    const struct terms_setting setting = setting_of(&stage, job, index, size);
    return task_bounds(stage.task)->rehearse(out, &setting, why);
}

enum status terms_of_stage(struct terms *terms, const struct job *job, size_t index,
                           struct terms_size size, struct why *why)
{
    struct stage stage;
    const struct terms_setting setting = setting_of(&stage, job, index, size);
    enum status status = STATUS_OK;
    *terms = (struct terms){
        .regret = NAN, .regret_free = NAN, .best_chance = NAN, .changed_chance = NAN};
    describe_price(terms, &setting);
    status = task_bounds(setting.stage->task)->describe(terms, &setting, why);
    if (status != STATUS_OK) {
        terms_free(terms);
    }
    return status;
}
