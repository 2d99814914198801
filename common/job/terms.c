/* The figures follow the mechanisms: discrete Laplace noise of scale s varies by less than 2 s^2,
 * independent noises add their variances, and under central trust there is one for all agents. What
 * counts as drowned is a rule of thumb, and each line says which. */

#include "job/terms_lines.h"

#include "base/check.h"
#include "experts/best.h"
#include "experts/regret.h"
#include "experts/rwm.h"
#include "job/kind.h"
#include "job/reach.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static enum status deviation(double *steps, const struct terms_setting *setting, uint32_t within,
                             struct why *why)
{
    struct query_noise noise = {0};
    enum status status = terms_noise(&noise, setting, within, why);
    *steps = query_noise_deviation(&noise);
    return status;
}

struct terms_line *terms_add_line(struct terms *terms)
{
    struct terms_line *grown = realloc(terms->line, (terms->line_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    terms->line = grown;
    struct terms_line *line = &grown[terms->line_count++];
    *line = (struct terms_line){.noise = NAN, .bar = NAN, .burden = NAN, .measure = ""};
    return line;
}

/* Features have a norm of at most 1: a prediction's noise is at most a weight's. */
static enum status tell_prediction(struct terms *terms, const struct terms_setting *setting,
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
    line->burden = 2 * weight_noise;
    line->measure = "half the label's half_width";
    return STATUS_OK;
}

static enum status tell_fit(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const double agents = (double)setting->agents;
    const double features = (double)stage->block.count;
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        double steps = 0;
        status = deviation(&steps, setting, within, why);
        struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
        if (line == NULL) {
            return status == STATUS_OK ? STATUS_NO_MEMORY : status;
        }
        const double ball = loss_ball(stage->loss, 1, 1, stage->lambda[within]);
        (void)snprintf(line->what, sizeof line->what,
                       "each of the average's %zu weights, lambda %g", round_stage_width(stage),
                       stage->lambda[within]);
        (void)snprintf(line->unit, sizeof line->unit, "weight");
        line->noise = ldexp(steps, -(int)stage->grid_bits) / agents;
        line->burden = sqrt(features) * line->noise / (ball / 2);
        line->measure = "all weights' noise together is half the ball that they lie in";
        if (setting->job->schema.label.kind == LABEL_NUMBER) {
            status = tell_prediction(terms, setting, within, line->noise);
        }
    }
    return status;
}

/* A number of the agents' average, in units of the label's half_width as predictions are. */
static enum status tell_score(struct terms *terms, const struct terms_setting *setting,
                              uint32_t within, const char *what, struct why *why)
{
    const struct label *label = &setting->job->schema.label;
    const bool is_number = label->kind == LABEL_NUMBER;
    double steps = 0;
    enum status status = deviation(&steps, setting, within, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    const double noise = ldexp(steps, -(int)setting->stage->grid_bits) / (double)setting->agents;
    (void)snprintf(line->what, sizeof line->what, "%s", what);
    (void)snprintf(line->unit, sizeof line->unit, "%s",
                   !is_number               ? "score"
                   : label->name[0] != '\0' ? label->name
                                            : "the label's unit");
    line->noise = noise * (is_number ? label->half_width : 1);
    line->burden = 2 * noise;
    line->measure = is_number ? "half the label's half_width" : "half a score of 1";
    return STATUS_OK;
}

static enum status tell_predict(struct terms *terms, const struct terms_setting *setting,
                                struct why *why)
{
    const struct stage *stage = setting->stage;
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        char what[TERMS_TEXT_BYTES];
        (void)snprintf(what, sizeof what, "each of the average's %zu answers, lambda %g",
                       round_answer_count(setting->job, stage, within, setting->experts),
                       stage->lambda[within]);
        status = tell_score(terms, setting, within, what, why);
    }
    return status;
}

static enum status tell_online(struct terms *terms, const struct terms_setting *setting,
                               struct why *why)
{
    const struct stage *stage = setting->stage;
    enum status status = STATUS_OK;
    for (uint32_t within = 0; within < stage->rounds && status == STATUS_OK; within++) {
        char what[TERMS_TEXT_BYTES];
        const struct round_rows rows = round_rows(stage, within, setting->records);
        (void)snprintf(what, sizeof what, "one prediction of the average after %" PRIu64 " records",
                       rows.first + rows.count);
        status = tell_score(terms, setting, within, what, why);
    }
    return status;
}

static enum status tell_moments(struct terms *terms, const struct terms_setting *setting,
                                struct why *why)
{
    const struct stage *stage = setting->stage;
    const double features = (double)stage->block.count;
    double steps = 0;
    enum status status = deviation(&steps, setting, 0, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    (void)snprintf(line->what, sizeof line->what, "each of %zu mean second moments",
                   round_answer_count(setting->job, stage, 0, setting->experts));
    (void)snprintf(line->unit, sizeof line->unit, "moment");
    line->noise =
        ldexp(steps, -(int)stage->grid_bits) / ((double)setting->agents * (double)stage->batch);
    line->burden = 2 * sqrt(features) * line->noise / 0.5;
    line->measure = "as a matrix the noise, about 2 sqrt(d) of it, is half of the largest moments "
                    "there can be";
    return STATUS_OK;
}

static double prior_least(const struct terms_setting *setting)
{
    double least = 1;
    double sum = (double)setting->stage->forecaster_count;
    for (size_t i = 0; i < setting->index; i++) {
        const struct stage *stage = &setting->job->stage[i];
        const size_t all = job_experts_of_stage(stage, setting->agents);
        const bool has_own = stage->experts_own && setting->agents > 1;
        const size_t own = has_own ? (size_t)stage->rounds * setting->agents : 0;
        sum += (double)(all - own) + (double)own * stage->own_weight;
        least = own > 0 ? fmin(least, stage->own_weight) : least;
    }
    return least / sum;
}

/* Where the horizon is unknown the play forgets after 1, 2, 4, .. rounds, each with its own eta. The best
 * expert of all rounds is no better than the best of each segment: their bounds add up. */
static double play_bound(const struct terms_setting *setting, double noise)
{
    const struct stage *stage = setting->stage;
    const size_t k = setting->experts;
    const uint64_t rounds = stage->rounds;
    double sum = 0;
    for (uint64_t first = 0; first < rounds;) {
        const uint64_t length = stage->doubling ? first + 1 : rounds;
        const uint64_t played = length < rounds - first ? length : rounds - first;
        const double bound =
            regret_bound(k, prior_least(setting), played, rwm_eta_free(k, length), noise).tight;
        sum += (double)played * fmin(1, bound);
        first += played;
    }
    return sum / (double)rounds;
}

/* Rounds whose losses the last pick looks at. */
static double rounds_judged(const struct stage *stage)
{
    const uint64_t last = stage->rounds - 1;
    const uint64_t before =
        stage->doubling && stage->rounds > 0 ? (UINT64_C(1) << hedge_segment(last)) - 1 : 0;
    return (double)(stage->rounds - before);
}

static enum status tell_losses(struct terms *terms, const struct terms_setting *setting,
                               struct why *why)
{
    const struct stage *stage = setting->stage;
    const double records = (double)setting->agents * (double)stage->batch;
    double steps = 0;
    enum status status = deviation(&steps, setting, 0, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    (void)snprintf(line->what, sizeof line->what,
                   "the mean loss of each of %zu experts (rounds: %u)", setting->experts,
                   stage->rounds);
    (void)snprintf(line->unit, sizeof line->unit, "loss");
    line->noise = ldexp(steps, -(int)stage->grid_bits) / records;
    line->burden = line->noise / sqrt((double)stage->rounds) / TERMS_TENTH;
    line->measure = "over all rounds an expert's mean loss is a tenth off";
    const double rounds = rounds_judged(stage);
    terms->best_chance = best_of_normal(setting->experts, TERMS_LEAD * sqrt(rounds) / line->noise);
    terms->regret = play_bound(setting, line->noise);
    terms->regret_free = play_bound(setting, 0);
    return STATUS_OK;
}

/* Epochs pick on the last whole segment; the others on all rounds of the last game. */
static double best_of_play(const struct stage *stage, size_t experts)
{
    const struct hedge_game *game = &stage->game[stage->game_count - 1];
    const double lead = TERMS_LEAD * (double)game->one;
    const double last = (double)game->last_micro * 1e-6 / (2 * (double)game->moved);
    const double draw = (double)game->draw_micro * 1e-6 / (2 * (double)game->sensitivity);
    if (experts < 2) {
        return 1;
    }
    if (stage->strategy == STRATEGY_EPOCHS) {
        const unsigned segment = hedge_segment(stage->rounds) - 1;
        return best_of_laplace(experts, ldexp(lead, (int)segment) * draw);
    }
    const double gap = lead * rounds_judged(stage);
    return game->last_micro == 0                    ? best_exponential(experts, gap * draw)
           : game->last_mechanism == MECHANISM_PURE ? best_permute_and_flip(experts, gap * last)
                                                    : best_exponential(experts, gap * last);
}

static enum status tell_play(struct terms *terms, const struct terms_setting *setting,
                             struct why *why)
{
    const struct stage *stage = setting->stage;
    const struct hedge_problem problem = {.experts = setting->experts,
                                          .rounds = (uint64_t)stage->rounds + 1};
    struct hedge_plan free_plan;
    enum status status = hedge_plan_not_private(&free_plan, &problem, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    terms->best_chance = best_of_play(stage, setting->experts);
    terms->regret = fmin(stage->plan.regret_bound + stage->plan.cap_probability, 1);
    terms->regret_free = stage->doubling ? play_bound(setting, 0) : free_plan.regret_bound;
    (void)snprintf(line->what, sizeof line->what,
                   "the expert played, of %zu%s: regret that privacy adds to the bound",
                   setting->experts, stage->doubling ? ", anew after 1, 2, 4, .. rounds" : "");
    (void)snprintf(line->unit, sizeof line->unit, "loss");
    line->bar = fmax(terms->regret - terms->regret_free, 0);
    line->burden = line->bar / TERMS_TENTH;
    line->measure = "privacy adds a tenth to the bound on the regret";
    return STATUS_OK;
}

static enum status tell_update(struct terms *terms, const struct terms_setting *setting,
                               struct why *why)
{
    const struct stage *stage = setting->stage;
    const double width = (double)round_stage_width(stage);
    const double records = (double)setting->agents * (double)stage->batch * terms->sampling;
    double steps = 0;
    enum status status = deviation(&steps, setting, 0, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    const double clip = ldexp((double)stage->gradient.clip, -(int)stage->grid_bits);
    (void)snprintf(line->what, sizeof line->what,
                   "each of %zu coordinates of the mean gradient (rounds: %u)",
                   round_stage_width(stage), stage->rounds);
    (void)snprintf(line->unit, sizeof line->unit, "gradient");
    line->noise = ldexp(steps, -(int)stage->grid_bits) / records;
    const double averaged = line->noise * sqrt(width / (double)stage->rounds) / (clip / 2);
    const double single = line->noise * sqrt(width) / clip;
    line->burden = fmax(averaged, single);
    line->measure = averaged >= single
                        ? "averaged over the rounds, the noise is half the clip"
                        : "one round's noise is as large as the clip: it moves more than any "
                          "gradient";
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

static void tell_price(struct terms *terms, const struct terms_setting *setting)
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

static enum status tell_judged(struct terms *terms, const struct terms_setting *setting,
                               struct why *why)
{
    return round_is_drawn(setting->job, setting->stage) ? tell_play(terms, setting, why)
                                                        : tell_losses(terms, setting, why);
}

static enum status (*const tell[])(struct terms *, const struct terms_setting *,
                                   struct why *) = {[TASK_FIT] = tell_fit,
                                                    [TASK_LOSSES] = tell_judged,
                                                    [TASK_ONLINE] = tell_online,
                                                    [TASK_PREDICT] = tell_predict,
                                                    [TASK_QUERY] = terms_tell_queries,
                                                    [TASK_SELECT] = terms_tell_select,
                                                    [TASK_STATISTICS] = tell_moments,
                                                    [TASK_UPDATE] = tell_update};
CHECK_TABLE(tell, TASK_COUNT);

enum status terms_of_stage(struct terms *terms, const struct job *job, size_t index,
                           struct terms_size size, struct why *why)
{
    const uint64_t needed = job_records_min(job);
    const uint64_t records = size.records > needed ? size.records : needed;
    const struct stage stage = round_stage_at(&job->stage[index], records);
    const struct terms_setting setting = {.job = job,
                                          .stage = &stage,
                                          .index = index,
                                          .agents = size.agents,
                                          .records = records,
                                          .experts = job_experts_at(job, index, size.agents)};
    enum status status = STATUS_OK;
    CHECK(index < job->stage_count && size.agents >= 1 && size.agents <= JOB_AGENTS_MAX);
    *terms = (struct terms){.regret = NAN, .regret_free = NAN, .best_chance = NAN};
    tell_price(terms, &setting);
    status = tell[setting.stage->task](terms, &setting, why);
    if (status != STATUS_OK) {
        terms_free(terms);
    }
    return status;
}
