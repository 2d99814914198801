#include "report/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_init(struct result *result)
{
    *result = (struct result){
        .seconds = NAN,
        .chosen = RESULT_NONE,
        .accuracy = NAN,
        .auc = NAN,
        .error = {.root_mean_square = NAN,
                  .mean_absolute = NAN,
                  .pinball = NAN,
                  .constant = NAN,
                  .pooled = NAN},
        .baseline = {.majority = NAN,
                     .pooled_accuracy = NAN,
                     .pooled_auc = NAN,
                     .pooled_lambda = NAN},
        .privacy = {.epsilon = NAN, .delta = NAN},
        .regret = {.average = NAN, .bound = NAN, .textbook = NAN, .noise = NAN},
    };
}

enum status result_reserve(struct result *result, size_t round_count, size_t expert_count,
                           size_t agent_count)
{
    if (round_count > RESULT_ROUNDS_MAX || expert_count > RESULT_EXPERTS_MAX ||
        agent_count > RESULT_AGENTS_MAX) {
        return STATUS_INVALID;
    }
    result->round = calloc(round_count + 1, sizeof *result->round);
    result->expert = calloc(expert_count + 1, sizeof *result->expert);
    result->agent = calloc(agent_count + 1, sizeof *result->agent);
    if (result->round == NULL || result->expert == NULL || result->agent == NULL) {
        return STATUS_NO_MEMORY;
    }
    result->round_count = round_count;
    result->expert_count = expert_count;
    result->agent_count = agent_count;
    for (size_t i = 0; i < round_count; i++) {
        result->round[i] = (struct result_round){.chosen = RESULT_NONE,
                                                 .seconds = NAN,
                                                 .epsilon = NAN,
                                                 .regret_average = NAN,
                                                 .regret_bound = NAN};
    }
    for (size_t i = 0; i < expert_count; i++) {
        result->expert[i] = (struct result_expert){.lambda = NAN, .accuracy = NAN, .auc = NAN};
    }
    for (size_t i = 0; i < agent_count; i++) {
        result->agent[i] =
            (struct result_agent){.epsilon_spent = NAN, .delta_spent = NAN, .epsilon_left = NAN};
    }
    return STATUS_OK;
}

enum status result_reserve_answers(struct result *result, size_t answer_count, size_t release_count)
{
    if (answer_count > RESULT_ANSWERS_MAX || release_count > RESULT_RELEASES_MAX) {
        return STATUS_INVALID;
    }
    result->answer = calloc(answer_count + 1, sizeof *result->answer);
    result->release = calloc(release_count + 1, sizeof *result->release);
    if (result->answer == NULL || result->release == NULL) {
        return STATUS_NO_MEMORY;
    }
    result->answer_count = answer_count;
    result->release_count = release_count;
    for (size_t i = 0; i < answer_count; i++) {
        result->answer[i] = (struct result_answer){.records = NAN,
                                                   .value = NAN,
                                                   .error = NAN,
                                                   .low = NAN,
                                                   .high = NAN,
                                                   .sampling = NAN,
                                                   .exact = NAN};
    }
    for (size_t i = 0; i < release_count; i++) {
        result->release[i] = (struct result_release){
            .noise = NAN, .bar = NAN, .sigma = NAN, .sampling = NAN, .epsilon = NAN, .delta = NAN};
    }
    return STATUS_OK;
}

enum status result_reserve_forecasts(struct result *result, size_t count)
{
    if (count > RESULT_FORECASTS_MAX) {
        return STATUS_INVALID;
    }
    free(result->forecast); /* a file without any was read before */
    result->forecast = calloc(count + 1, sizeof *result->forecast);
    result->forecast_count = result->forecast == NULL ? 0 : count;
    return result->forecast == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

double *result_numbers(size_t count)
{
    double *number = calloc(count + 1, sizeof *number);
    if (number != NULL) {
        for (size_t i = 0; i < count; i++) {
            number[i] = NAN;
        }
    }
    return number;
}

void result_free(struct result *result)
{
    if (result == NULL) {
        return;
    }
    for (size_t i = 0; i < result->round_count; i++) {
        free(result->round[i].said);
        free(result->round[i].loss);
        free(result->round[i].weight);
    }
    for (size_t i = 0; i < result->expert_count; i++) {
        free(result->expert[i].model);
    }
    free(result->round);
    free(result->expert);
    free(result->agent);
    free(result->answer);
    free(result->release);
    for (size_t i = 0; i < result->forecast_count; i++) {
        free(result->forecast[i].truth);
        free(result->forecast[i].told);
    }
    free(result->forecast);
    result_init(result);
}

bool result_release_is_bar(const struct result_release *release)
{
    return !isfinite(release->noise) && isfinite(release->bar) &&
           strcmp(release->task, "losses") != 0;
}
