#include "coordinator/outcome.h"

#include "base/check.h"
#include "crypto/digest.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void outcome_init(struct outcome *outcome, const struct job *job, bool keeps_history)
{
    *outcome = (struct outcome){.keeps_history = keeps_history,
                                .feature_count = schema_feature_count(&job->schema)};
}

static void stage_forget(struct outcome *outcome)
{
    rwm_free(&outcome->rwm);
    regret_free(&outcome->regret);
    outcome->rwm = (struct rwm){0};
    outcome->regret = (struct regret){0};
    outcome->variance_sum = 0;
}

void outcome_free(struct outcome *outcome)
{
    if (outcome == NULL) {
        return;
    }
    stage_forget(outcome);
    for (size_t i = 0; i < outcome->round_count; i++) {
        free(outcome->round[i].loss);
        free(outcome->round[i].weight);
    }
    free(outcome->round);
    free(outcome->agent);
    free(outcome->weights);
    free(outcome->expert);
    memset(outcome, 0, sizeof *outcome);
}

uint64_t outcome_epsilon_micro(const struct job *job, uint32_t rounds)
{
    uint64_t spent = 0;
    for (size_t i = 0; i < job->stage_count && rounds > 0; i++) {
        const struct stage *stage = &job->stage[i];
        uint32_t within = rounds < stage->rounds ? rounds : stage->rounds;
        spent += job_round_epsilon_micro(stage) * (stage->task == TASK_LOSSES ? 1 : within);
        rounds -= within;
    }
    return spent;
}

void outcome_mean_losses(double *mean, const struct stage *stage, const int64_t *sum,
                         size_t sum_count, size_t agent_count)
{
    double records = (double)agent_count * (double)stage->batch;
    for (size_t i = 0; i < sum_count; i++) {
        mean[i] = ldexp((double)sum[i], -(int)stage->grid_bits) / records;
    }
}

double outcome_regret_average(const struct outcome *outcome)
{
    return outcome->regret.rounds > 0 ? regret_average(&outcome->regret) : NAN;
}

struct regret_bound outcome_regret_bound(const struct outcome *outcome)
{
    if (outcome->regret.rounds == 0) {
        return (struct regret_bound){.tight = NAN, .textbook = NAN, .noise = NAN};
    }
    double least = INFINITY;
    double sum = 0;
    for (size_t i = 0; i < outcome->rwm.count; i++) {
        least = fmin(least, outcome->expert[i].weight);
        sum += outcome->expert[i].weight;
    }
    double sigma = sqrt(outcome->variance_sum / (double)outcome->regret.rounds);
    return regret_bound(outcome->rwm.count, least / sum, outcome->regret.rounds, outcome->rwm.eta,
                        sigma);
}

/* The names follow from the stage and from whose answers are in; coordinator/strategy.c makes the
 * rows in the same order: the average, its moved thresholds, the agents' own. */
static void name_experts(struct outcome_expert *expert, const struct stage *stage, uint32_t within,
                         const struct record *record)
{
    double lambda = stage->lambda[within];
    size_t rows = job_experts_of_round(stage, record->as.round.agent_count);
    bool own = rows > 1 + stage->shift_count; /* not of a single agent: that is the average */
    size_t row = 0;

    (void)snprintf(expert[row].name, OUTCOME_NAME_BYTES, "average, lambda %g", lambda);
    expert[row].weight = 1;
    expert[row++].lambda = lambda;
    for (size_t i = 0; i < stage->shift_count; i++) {
        (void)snprintf(expert[row].name, OUTCOME_NAME_BYTES, "average, lambda %g, threshold %+g",
                       lambda, stage->shift[i]);
        expert[row].weight = 1;
        expert[row++].lambda = lambda;
    }
    for (size_t i = 0; own && i < record->as.round.agent_count; i++) {
        (void)snprintf(expert[row].name, OUTCOME_NAME_BYTES, "%s, lambda %g",
                       record->as.round.agent[i].name, lambda);
        expert[row].weight = stage->own_weight;
        expert[row++].lambda = lambda;
    }
}

static enum status add_fit(struct outcome *outcome, const struct stage *stage, uint32_t within,
                           const struct record *record, struct slice blob)
{
    size_t d = outcome->feature_count;
    size_t rows = job_experts_of_round(stage, record->as.round.agent_count);
    size_t total = outcome->expert_count + rows;

    if (blob.size != rows * d * 8 || record->as.round.sum_count != 0) {
        return STATUS_CORRUPT;
    }
    double *weights = realloc(outcome->weights, total * d * sizeof *weights);
    if (weights == NULL) {
        return STATUS_NO_MEMORY;
    }
    outcome->weights = weights;
    struct outcome_expert *expert = realloc(outcome->expert, total * sizeof *expert);
    if (expert == NULL) {
        return STATUS_NO_MEMORY;
    }
    outcome->expert = expert;
    memset(expert + outcome->expert_count, 0, rows * sizeof *expert);
    memcpy(weights + outcome->expert_count * d, blob.data, blob.size);
    name_experts(expert + outcome->expert_count, stage, within, record);
    outcome->expert_count = total;
    outcome->artifact.bytes = total * d * 8;
    struct slice bytes = {weights, outcome->artifact.bytes};
    digest_sha256(&outcome->artifact.digest, &bytes, 1);
    return STATUS_OK;
}

/* Of the mean of n agents' summed losses over `batch` records each, every sum with discrete Laplace
 * noise of scale s = k/(g epsilon) in grid steps, whose variance is below 2 s^2. Unit: loss^2. */
static double variance_of(const struct stage *stage, size_t expert_count, size_t agent_count)
{
    double epsilon = (double)job_round_epsilon_micro(stage) * 1e-6;
    double scale = (double)expert_count / (epsilon * (double)stage->batch);
    return 2 * scale * scale / (double)agent_count;
}

enum status outcome_begin_rwm(struct rwm *rwm, const struct outcome *outcome,
                              const struct stage *stage)
{
    size_t k = outcome->expert_count;
    double *weight = malloc(k * sizeof *weight);
    enum status status =
        weight == NULL ? STATUS_NO_MEMORY : rwm_init(rwm, k, rwm_eta_free(k, stage->rounds));
    if (status == STATUS_OK) {
        for (size_t i = 0; i < k; i++) {
            weight[i] = outcome->expert[i].weight;
        }
        rwm_set_prior(rwm, weight);
    }
    free(weight);
    return status;
}

static enum status add_losses(struct outcome *outcome, const struct stage *stage, uint32_t within,
                              const struct record *record, struct slice blob)
{
    size_t k = outcome->expert_count;
    enum status status = STATUS_NO_MEMORY;
    double *loss = NULL;
    double *probability = NULL;

    if (blob.size != 0 || k == 0 || record->as.round.sum_count != k ||
        record->as.round.agent_count == 0) {
        return STATUS_CORRUPT;
    }
    if (within == 0) {
        stage_forget(outcome);
        status = outcome_begin_rwm(&outcome->rwm, outcome, stage);
        if (status == STATUS_OK) {
            status = regret_init(&outcome->regret, k);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    status = STATUS_NO_MEMORY;
    loss = malloc(k * sizeof *loss);
    probability = malloc(k * sizeof *probability);
    if (loss == NULL || probability == NULL) {
        goto done;
    }
    outcome_mean_losses(loss, stage, record->as.round.sum, k, record->as.round.agent_count);
    rwm_probabilities(probability, &outcome->rwm);
    regret_observe(&outcome->regret, probability, loss);
    rwm_observe(&outcome->rwm, loss);
    outcome->variance_sum += variance_of(stage, k, record->as.round.agent_count);
    status = STATUS_OK;
done:
    free(loss);
    free(probability);
    return status;
}

static enum status history_add_round(struct outcome *outcome, const struct job *job,
                                     const struct stage *stage, const struct record *record)
{
    struct outcome_round *grown =
        realloc(outcome->round, (outcome->round_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    outcome->round = grown;
    struct outcome_round *round = &grown[outcome->round_count];
    *round = (struct outcome_round){.task = stage->task,
                                    .round = record->as.round.round,
                                    .agent_count = record->as.round.agent_count,
                                    .failed = record->as.round.failed,
                                    .chosen = record->as.round.chosen,
                                    .seconds = record->as.round.duration_ms / 1000.0,
                                    .epsilon_micro =
                                        outcome_epsilon_micro(job, record->as.round.round + 1),
                                    .regret_average = NAN,
                                    .regret_bound = NAN};
    outcome->round_count++;
    if (stage->task == TASK_LOSSES && !round->failed) {
        size_t k = outcome->expert_count;
        round->loss = malloc(k * sizeof *round->loss);
        round->weight = malloc(k * sizeof *round->weight);
        if (round->loss == NULL || round->weight == NULL) {
            return STATUS_NO_MEMORY;
        }
        outcome_mean_losses(round->loss, stage, record->as.round.sum, k, round->agent_count);
        rwm_probabilities(round->weight, &outcome->rwm);
        round->regret_average = outcome_regret_average(outcome);
        round->regret_bound = outcome_regret_bound(outcome).tight;
    }
    return STATUS_OK;
}

static struct outcome_agent *history_agent(struct outcome *outcome, const struct peer *peer)
{
    for (size_t i = 0; i < outcome->agent_count; i++) {
        if (strcmp(outcome->agent[i].peer.name, peer->name) == 0) {
            return &outcome->agent[i];
        }
    }
    struct outcome_agent *grown =
        realloc(outcome->agent, (outcome->agent_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    outcome->agent = grown;
    grown[outcome->agent_count] = (struct outcome_agent){.peer = *peer};
    return &grown[outcome->agent_count++];
}

static enum status history_add_agents(struct outcome *outcome, const struct job *job,
                                      const struct stage *stage, const struct record *record)
{
    uint32_t stage_number = (uint32_t)(stage - job->stage) + 1;
    for (size_t i = 0; i < record->as.round.agent_count; i++) {
        struct outcome_agent *agent = history_agent(outcome, &record->as.round.agent[i]);
        if (agent == NULL) {
            return STATUS_NO_MEMORY;
        }
        agent->answers++;
        if (stage->task != TASK_LOSSES || agent->last_stage != stage_number) {
            agent->epsilon_micro += job_round_epsilon_micro(stage);
        }
        agent->last_stage = stage_number;
    }
    return STATUS_OK;
}

static enum status add_round(struct outcome *outcome, const struct job *job,
                             const struct record *record, struct slice blob)
{
    uint32_t within;
    enum status status = STATUS_OK;

    if (!outcome->begun || outcome->finished ||
        !digest_equal(&record->as.round.job, &outcome->job_name.id) ||
        record->as.round.round != outcome->rounds_closed ||
        record->as.round.round >= job_round_count(job)) {
        return STATUS_CORRUPT;
    }
    const struct stage *stage = job_stage_of(job, record->as.round.round, &within);
    if (!record->as.round.failed) {
        status = stage->task == TASK_FIT ? add_fit(outcome, stage, within, record, blob)
                                         : add_losses(outcome, stage, within, record, blob);
        if (status == STATUS_OK && record->as.round.chosen >= outcome->expert_count) {
            status = STATUS_CORRUPT;
        }
        if (status != STATUS_OK) {
            return status;
        }
        outcome->chosen = record->as.round.chosen;
    }
    outcome->rounds_closed++;
    outcome->failed = record->as.round.failed;
    outcome->finished = outcome->failed || outcome->rounds_closed == job_round_count(job);
    if (outcome->keeps_history) {
        status = history_add_round(outcome, job, stage, record);
        if (status == STATUS_OK) {
            status = history_add_agents(outcome, job, stage, record);
        }
    }
    return status;
}

enum status outcome_add(struct outcome *outcome, const struct job *job, const struct record *record,
                        struct slice blob)
{
    switch (record->kind) {
    case RECORD_JOB:
        if (outcome->begun) {
            return STATUS_CORRUPT;
        }
        outcome->begun = true;
        outcome->job_name = record->as.job.job;
        return STATUS_OK;
    case RECORD_ROUND:
        return add_round(outcome, job, record, blob);
    case RECORD_ANSWER:
        return STATUS_CORRUPT;
    }
    return STATUS_CORRUPT;
}
