/* How far a record moves the experts' losses, and what that does to the pick. */

#include "dp/encode.h"
#include "experts/best.h"
#include "experts/regret.h"
#include "experts/rwm.h"
#include "job/trust.h"
#include "learn/sensitivity.h"
#include "task/losses/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static size_t answer_count(const struct round_asked *asked)
{
    return trust_of(asked->job)->exact_answers && asked->stage->strategy == STRATEGY_DARTBOARD
               ? 2 * asked->experts
               : asked->experts;
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const bool drawn = trust_of(asked->job)->exact_answers;
    const uint64_t records = (uint64_t)asked->stage->batch * (drawn ? asked->stage->rounds : 1);
    if (records > (uint64_t)ENCODE_MAX >> asked->stage->grid_bits) {
        return why_fail(asked->why, STATUS_INVALID,
                        "a batch's losses overflow: lower batch or grid_bits");
    }
    out->low = 0;
    out->high = (int64_t)(records << asked->stage->grid_bits);
    return sensitivity_losses_l1(&out->sensitivity, drawn ? 1 : asked->experts,
                                 asked->stage->grid_bits, asked->why);
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    const double scores = view->experts * view->outputs;
    const double all = (double)schema_feature_count(&view->job->schema);
    out->flops = view->rows * scores * (2 * all + 50);
    out->bytes = WORK_NUMBER * scores;
    return STATUS_OK;
}

static double prior_least(const struct terms_setting *setting)
{
    double least = 1;
    double sum = (double)losses_stage(setting->stage)->forecaster_count;
    for (size_t i = 0; i < setting->index; i++) {
        const struct stage *stage = &setting->job->stage[i];
        const size_t all = job_experts_of_stage(stage, setting->agents);
        const bool has_own = stage->experts_own && setting->agents > 1;
        const size_t own = has_own ? (size_t)stage->rounds * setting->agents : 0;
        const struct task_bounds *task = task_bounds(stage->task);
        const size_t changed = task->experts_changed != NULL ? task->experts_changed(stage) : 0;
        const double doubt = changed > 0 ? task_doubt(setting->job, stage) : 1;
        sum += (double)(all - own - changed) + (double)own * stage->own_weight +
               (double)changed * doubt;
        least = fmin(least, fmin(own > 0 ? stage->own_weight : 1, doubt));
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
        const uint64_t length = losses_stage(stage)->doubling ? first + 1 : rounds;
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
    const uint64_t before = losses_stage(stage)->doubling && stage->rounds > 0
                                ? (UINT64_C(1) << hedge_segment(last)) - 1
                                : 0;
    return (double)(stage->rounds - before);
}

/* By how much a model's losses begin lower than those of the same one changed, by the prior weights, where the last pick
 * looks at that many rounds. Unit: loss. */
static double start_of(const struct terms_setting *setting, double rounds)
{
    double least = 1;
    for (size_t i = 0; i < setting->index; i++) {
        const struct stage *maker = &setting->job->stage[i];
        if (task_bounds(maker->task)->experts_changed != NULL) {
            least = fmin(least, task_doubt(setting->job, maker));
        }
    }
    return least < 1 ? -log(least) / rwm_eta_free(setting->experts, (uint64_t)rounds) : 0;
}

static enum status describe_losses(struct terms *terms, const struct terms_setting *setting,
                                   struct why *why)
{
    const struct stage *stage = setting->stage;
    const double records = (double)setting->agents * (double)stage->batch;
    double steps = 0;
    struct terms_line *line = NULL;
    const enum status status = terms_begin_line(&line, &steps, terms, setting, 0, why);
    if (status != STATUS_OK) {
        return status;
    }
    (void)snprintf(line->what, sizeof line->what,
                   "the mean loss of each of %zu experts (rounds: %u)", setting->experts,
                   stage->rounds);
    (void)snprintf(line->unit, sizeof line->unit, "loss");
    line->noise = ldexp(steps, -(int)stage->grid_bits) / records;
    line->noise_to_signal = line->noise / sqrt((double)stage->rounds) / TERMS_TENTH;
    line->measure = "over all rounds an expert's mean loss is a tenth off";
    const double rounds = rounds_judged(stage);
    const double lead = TERMS_LEAD * sqrt(rounds) / line->noise;
    const double start = start_of(setting, rounds) / (sqrt(rounds) * line->noise);
    terms->best_chance = best_of_normal(setting->experts, lead + start, 0);
    if (start > 0) {
        terms->changed_chance = best_of_normal(setting->experts, lead, start);
    }
    terms->regret = play_bound(setting, line->noise);
    terms->regret_free = play_bound(setting, 0);
    return STATUS_OK;
}

/* Epochs pick on the last whole segment; the others on all rounds of the last game. */
static double best_of_play(const struct stage *stage, size_t experts)
{
    const struct losses_stage *own = losses_stage(stage);
    const struct hedge_run *game = &own->plays.game[own->plays.game_count - 1];
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

static enum status describe_play(struct terms *terms, const struct terms_setting *setting,
                                 struct why *why)
{
    const struct stage *stage = setting->stage;
    const struct losses_stage *own = losses_stage(stage);
    const struct hedge_problem problem = {.experts = setting->experts,
                                          .rounds = (uint64_t)stage->rounds + 1};
    struct hedge_plan free_plan;
    enum status status = hedge_plan_not_private(&free_plan, &problem, why);
    struct terms_line *line = status == STATUS_OK ? terms_add_line(terms) : NULL;
    if (line == NULL) {
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    terms->best_chance = best_of_play(stage, setting->experts);
    terms->regret = fmin(own->plays.plan.regret_bound + own->plays.plan.cap_probability, 1);
    terms->regret_free = own->doubling ? play_bound(setting, 0) : free_plan.regret_bound;
    (void)snprintf(line->what, sizeof line->what,
                   "the expert played, of %zu%s: regret that privacy adds to the bound",
                   setting->experts, own->doubling ? ", anew after 1, 2, 4, .. rounds" : "");
    (void)snprintf(line->unit, sizeof line->unit, "loss");
    line->bar = fmax(terms->regret - terms->regret_free, 0);
    line->noise_to_signal = line->bar / TERMS_TENTH;
    line->measure = "privacy adds a tenth to the bound on the regret";
    return STATUS_OK;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    return round_is_drawn(setting->job, setting->stage) ? describe_play(terms, setting, why)
                                                        : describe_losses(terms, setting, why);
}

static const struct round_plays *plays(const struct stage *stage)
{
    const struct losses_stage *own = losses_stage(stage);
    return own->plays.game_count > 0 ? &own->plays : NULL;
}

static size_t experts_at_start(const struct stage *stage)
{
    return losses_stage(stage)->forecaster_count;
}

const struct task_bounds task_bounds_losses = {.plays = plays,
                                               .experts_at_start = experts_at_start,
                                               .input = INPUT_EXPERTS,
                                               .is_drawn = true,
                                               .draws_means = true, /* losses/answer.c */
                                               .helps = HELP_RECORDS | HELP_FEWER_EXPERTS |
                                                        HELP_FEWER_LARGER_ROUNDS,
                                               .time_is_public = true,
                                               .answer_count = answer_count,
                                               .bounds = bounds,
                                               .need = need,
                                               .describe = describe};
