/* `losses`: the experts' mean losses of the round, noisy as they arrive, feed the Randomized Weighted
 * Majority with eta = sqrt(8 ln k/T), which picks the model to broadcast: post-processing. Where the
 * job does not say how many rounds there will be, it forgets and starts anew with T = 1, 2, 4, .. After the
 * stage's last round nothing is left to explore: the leader, the expert of largest weight. Source:
 * Dwork and Roth, chapter 11, algorithm 16. Deviation: the last pick is the mode. */

#include "task/close.h"
#include "task/losses/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Experts that the job itself writes down: nothing is looked at, and nothing need be journaled. */
enum status closing_add_forecasters(struct outcome *outcome, const struct stage *stage)
{
    const struct losses_stage *own = losses_stage(stage);
    const size_t count = own->forecaster_count;
    struct outcome_expert *expert = NULL;
    if (count == 0) {
        return STATUS_OK;
    }
    enum status status = outcome_add_experts(
        &expert, outcome, count,
        (struct slice){own->forecaster_weights, count * outcome->width * sizeof(double)});
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        (void)snprintf(expert[i].name, OUTCOME_NAME_BYTES, "%s", own->forecaster[i]);
        expert[i].is_written = true;
    }
    return status;
}

static void mean_losses(double *mean, const struct stage *stage, const struct record *record)
{
    const double records = (double)closing_records(stage, record);
    for (size_t i = 0; i < record->as.round.sum_count; i++) {
        mean[i] = ldexp((double)record->as.round.sum[i], -(int)stage->grid_bits) / records;
    }
}

/* The experts' weights as the job gives them. */
static enum status begin(struct rwm *rwm, const struct outcome *outcome, const struct stage *stage,
                         uint32_t within)
{
    size_t k = outcome->expert_count;
    uint64_t rounds =
        losses_stage(stage)->doubling ? UINT64_C(1) << hedge_segment(within) : stage->rounds;
    double *weight = malloc(k * sizeof *weight);
    enum status status =
        weight == NULL ? STATUS_NO_MEMORY : rwm_init(rwm, k, rwm_eta_free(k, rounds));
    if (status == STATUS_OK) {
        for (size_t i = 0; i < k; i++) {
            weight[i] = outcome->expert[i].weight;
        }
        rwm_set_prior(rwm, weight);
    }
    free(weight);
    return status;
}

/* Whether the play starts anew at this round. */
static bool begins(const struct stage *stage, uint32_t within)
{
    return within == 0 || (losses_stage(stage)->doubling && hedge_segment_begins(within));
}

/* The weights from which the next round's expert is drawn: of what was seen since the play began, or,
 * where it begins anew with that round, those that it begins with. */
static enum status weigh(struct rwm *rwm, const struct closing *closing)
{
    const struct outcome *outcome = closing->outcome;
    const struct stage *stage = closing->stage;
    const size_t k = outcome->expert_count;
    const uint32_t next = closing->within + 1;
    if (next < stage->rounds && begins(stage, next)) {
        return begin(rwm, outcome, stage, next);
    }
    double *mean = malloc(k * sizeof *mean);
    enum status status = mean == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        status = begins(stage, closing->within) ? begin(rwm, outcome, stage, closing->within)
                                                : rwm_init(rwm, k, outcome->rwm.eta);
    }
    if (status == STATUS_OK) {
        if (!begins(stage, closing->within)) {
            rwm_observe(rwm, outcome->rwm.loss); /* with what the experts began with */
        }
        mean_losses(mean, stage, closing->record);
        rwm_observe(rwm, mean);
    }
    free(mean);
    return status;
}

static enum status close(struct closing *closing)
{
    struct rwm rwm = {0};
    size_t pick = 0;

    closing_keep_sum(closing);
    enum status status = weigh(&rwm, closing);
    if (status == STATUS_OK && closing->within + 1 == closing->stage->rounds) {
        pick = rwm_leader(&rwm);
    } else if (status == STATUS_OK) {
        status = rwm_draw(&rwm, closing->random, &pick);
    }
    closing->record->as.round.chosen = (uint32_t)pick;
    rwm_free(&rwm);
    return status;
}

/* Of the noise on the experts' mean losses. Unit: loss^2. */
static double variance_of(const struct outcome *outcome, const struct job *job,
                          const struct stage *stage, const struct record *record)
{
    const struct query_noise noise =
        closing_noise(outcome, job, stage, 0, record->as.round.agent_count);
    const double deviation = ldexp(query_noise_deviation(&noise), -(int)stage->grid_bits) /
                             (double)closing_records(stage, record);
    return deviation * deviation;
}

static enum status observe(struct outcome *outcome, const struct job *job,
                           const struct stage *stage, const struct record *record)
{
    size_t k = outcome->expert_count;
    double *loss = malloc(k * sizeof *loss);
    double *probability = malloc(k * sizeof *probability);
    enum status status = loss == NULL || probability == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    if (status == STATUS_OK) {
        mean_losses(loss, stage, record);
        rwm_probabilities(probability, &outcome->rwm);
        regret_observe(&outcome->regret, probability, loss);
        rwm_observe(&outcome->rwm, loss);
        outcome->segment_rounds++;
        outcome->variance_sum += variance_of(outcome, job, stage, record);
    }
    free(loss);
    free(probability);
    return status;
}

static enum status add(struct outcome *outcome, const struct job *job, const struct stage *stage,
                       uint32_t within, const struct record *record, struct slice blob)
{
    size_t k = outcome->expert_count;
    enum status status = STATUS_OK;

    if (blob.size != 0 || k == 0 || record->as.round.sum_count != k ||
        record->as.round.agent_count == 0) {
        return STATUS_CORRUPT;
    }
    if (within == 0) {
        outcome_forget_stage(outcome);
        status = regret_init(&outcome->regret, k);
    } else if (begins(stage, within)) {
        outcome_end_segment(outcome);
    }
    if (status == STATUS_OK && begins(stage, within)) {
        status = begin(&outcome->rwm, outcome, stage, within);
    }
    return status == STATUS_OK ? observe(outcome, job, stage, record) : status;
}

static enum status describe(struct outcome_round *round, const struct outcome *outcome,
                            const struct job *job, const struct stage *stage,
                            const struct record *record)
{
    size_t k = outcome->expert_count;
    round->loss = malloc(k * sizeof *round->loss);
    round->weight = malloc(k * sizeof *round->weight);
    if (round->loss == NULL || round->weight == NULL) {
        return STATUS_NO_MEMORY;
    }
    mean_losses(round->loss, stage, record);
    rwm_probabilities(round->weight, &outcome->rwm);
    round->weight_noise = outcome->rwm.eta * sqrt(outcome->variance_sum);
    round->regret_average = outcome_regret_average(outcome);
    round->regret_bound = outcome_regret_bound(outcome).tight;
    return closing_tell_plays(round, outcome, job, record);
}

const struct task_close task_close_losses = {.start = closing_add_forecasters,
                                             .drawn = &task_close_losses_drawn,
                                             .close = close,
                                             .add = add,
                                             .describe = describe,
                                             .is_shown = true};
