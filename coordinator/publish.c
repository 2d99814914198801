#include "coordinator/publish.h"

#include "experts/rwm.h"
#include "job/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPERTS_COMPARED_MAX = 4096 };

/* Names are how result.json points at experts; two stages may have fitted the same lambda. */
static void make_distinct(struct result *result)
{
    size_t count = result->expert_count;
    for (size_t i = 1; i < count && count <= EXPERTS_COMPARED_MAX; i++) {
        size_t same = 0;
        for (size_t j = 0; j < i; j++) {
            same += strcmp(result->expert[i].name, result->expert[j].name) == 0;
        }
        if (same > 0) {
            size_t length = strlen(result->expert[i].name);
            (void)snprintf(result->expert[i].name + length, RESULT_NAME_BYTES - length, " (%zu)",
                           i);
        }
    }
}

static enum status add_experts(struct result *result, const struct outcome *outcome)
{
    size_t d = outcome->width;
    bool small = d > 0 && outcome->expert_count <= PUBLISH_MODEL_NUMBERS_MAX / d;
    result->feature_count = d;
    for (size_t i = 0; i < outcome->expert_count; i++) {
        struct result_expert *expert = &result->expert[i];
        (void)snprintf(expert->name, sizeof expert->name, "%s", outcome->expert[i].name);
        expert->lambda = outcome->expert[i].lambda;
        if (small) {
            expert->model = result_numbers(d);
            if (expert->model == NULL) {
                return STATUS_NO_MEMORY;
            }
            memcpy(expert->model, outcome->weights + i * d, d * sizeof *expert->model);
        }
    }
    make_distinct(result);
    return STATUS_OK;
}

/* A round knows the experts there were; those that came later stay unknown. */
static double *padded(const double *number, size_t known, size_t count)
{
    double *copy = result_numbers(count);
    if (copy != NULL) {
        memcpy(copy, number, known * sizeof *copy);
    }
    return copy;
}

static enum status add_rounds(struct result *result, const struct outcome *outcome,
                              const struct job *job)
{
    for (size_t i = 0; i < outcome->round_count; i++) {
        const struct outcome_round *from = &outcome->round[i];
        struct result_round *to = &result->round[i];
        uint32_t within;
        (void)snprintf(to->stage, sizeof to->stage, "%s", task_name(from->task));
        to->round = from->round;
        to->stage_number = (uint32_t)(job_stage_of(job, from->round, &within) - job->stage) + 1;
        to->agents = from->agent_count;
        to->failed = from->failed;
        to->seconds = from->seconds;
        to->epsilon = (double)from->epsilon_micro / 1e6;
        to->weight_noise = from->weight_noise;
        to->regret_average = from->regret_average;
        to->regret_bound = from->regret_bound;
        if (from->failed) {
            continue;
        }
        to->chosen = from->chosen < from->expert_count ? (int64_t)from->chosen : RESULT_NONE;
        to->note = from->note != NULL ? strdup(from->note) : NULL;
        if (from->note != NULL && to->note == NULL) {
            return STATUS_NO_MEMORY;
        }
        if (from->loss != NULL && from->weight != NULL) {
            to->loss = padded(from->loss, from->expert_count, outcome->expert_count);
            to->weight = padded(from->weight, from->expert_count, outcome->expert_count);
            if (to->loss == NULL || to->weight == NULL) {
                return STATUS_NO_MEMORY;
            }
        }
    }
    return STATUS_OK;
}

/* What the noise may have done to the latest weights, from what was released and the mechanism's public deviation. */
static enum status add_bars(struct result *result, const struct outcome *outcome)
{
    const struct outcome_round *last = NULL;
    for (size_t i = 0; i < outcome->round_count; i++) {
        const bool has = outcome->round[i].weight != NULL;
        last = has && isfinite(outcome->round[i].weight_noise) ? &outcome->round[i] : last;
    }
    if (last == NULL) {
        return STATUS_OK;
    }
    const size_t count = last->expert_count;
    double *low = result_numbers(count);
    double *high = result_numbers(count);
    const bool room = low != NULL && high != NULL;
    if (room) {
        rwm_bars(low, high, last->weight, count, last->weight_noise);
    }
    for (size_t i = 0; i < count && room; i++) {
        result->expert[i].weight_low = low[i];
        result->expert[i].weight_high = high[i];
    }
    free(low);
    free(high);
    return room ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status publish_result(struct result *result, const struct outcome *outcome,
                           const struct publish_options *options)
{
    const struct job *job = options->job;

    result_init(result);
    enum status status = result_reserve(result, "rounds", outcome->round_count);
    if (status == STATUS_OK) {
        status = result_reserve(result, "experts", outcome->expert_count);
    }
    if (status == STATUS_OK) {
        status = result_reserve(result, "per_agent", outcome->agent_count);
    }
    if (status == STATUS_OK) {
        status = add_experts(result, outcome);
    }
    if (status == STATUS_OK) {
        status = add_rounds(result, outcome, job);
    }
    if (status == STATUS_OK) {
        status = add_bars(result, outcome);
    }
    if (status == STATUS_OK) {
        status = publish_terms(result, outcome, job);
    }
    if (status != STATUS_OK) {
        result_free(result);
        return status;
    }
    (void)snprintf(result->job, sizeof result->job, "%s", job->name);
    (void)snprintf(result->version, sizeof result->version, "%s", HEDGEROW_VERSION);
    result->private = !options->seeded;
    result->has_seed = options->seeded;
    result->seed = options->seed;
    result->finished = outcome->finished && !outcome->failed;
    result->seconds = options->seconds;
    result->chosen = outcome->expert_count > 0 ? (int64_t)outcome->chosen : RESULT_NONE;
    (void)snprintf(result->privacy.trust, RESULT_NAME_BYTES, "%s", job_trust_name(job->trust));
    (void)snprintf(result->privacy.sent, RESULT_TEXT_BYTES, "%s", trust_of(job)->sent);
    (void)snprintf(result->privacy.noise, RESULT_TEXT_BYTES, "%s", trust_of(job)->noise);
    (void)snprintf(result->privacy.unit, RESULT_NAME_BYTES, "%s", job_unit_name(job->unit));
    result->privacy.epsilon = (double)job->epsilon_micro / 1e6;
    result->privacy.delta = (double)job->delta_atto * 1e-18;
    return STATUS_OK;
}

enum status publish_model(struct model *model, const struct outcome *outcome,
                          const struct publish_options *options)
{
    const struct job *job = options->job;
    memset(model, 0, sizeof *model);
    if (outcome->expert_count == 0) {
        return STATUS_NOT_FOUND;
    }
    enum status status = model_take(model, &job->schema,
                                    outcome->weights + (size_t)outcome->chosen * outcome->width);
    if (status != STATUS_OK) {
        model_free(model);
        return status;
    }
    model->loss = job_loss(job);
    model->lambda = outcome->expert[outcome->chosen].lambda;
    (void)snprintf(model->job, sizeof model->job, "%s", job->name);
    (void)snprintf(model->expert, sizeof model->expert, "%s",
                   outcome->expert[outcome->chosen].name);
    model->private = !options->seeded;
    model->epsilon_micro = job->epsilon_micro;
    model->delta_atto = job->delta_atto;
    if (options->seeded) {
        (void)snprintf(model->statement, sizeof model->statement,
                       "NOT PRIVATE: the noise came from a known seed");
    } else {
        (void)snprintf(model->statement, sizeof model->statement,
                       "at most epsilon %g, delta %g for any one %s of an agent, neighbours "
                       "replace-one, trust %s",
                       (double)job->epsilon_micro / 1e6, (double)job->delta_atto * 1e-18,
                       job_unit_name(job->unit), job_trust_name(job->trust));
    }
    return STATUS_OK;
}
