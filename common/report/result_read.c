/* result.json's reader. The file may come from anywhere: every type, range and count is checked. */

#include "report/result.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader is, for its message; the first failure stays. */
struct reader {
    const char *name;
    struct why *why;
    size_t numbers;
    bool failed;
    bool no_memory;
};

static void refuse(struct reader *reader, const char *key, const char *problem)
{
    if (!reader->failed) {
        why_set(reader->why, "%s: \"%s\" %s: not a result.json of this program", reader->name, key,
                problem);
    }
    reader->failed = true;
}

static const json_t *find(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        refuse(reader, key, "is missing");
    }
    return value;
}

static void read_text(struct reader *reader, const json_t *object, const char *key, char *out,
                      size_t size)
{
    const json_t *value = find(reader, object, key);
    if (value == NULL) {
        return;
    }
    if (!json_is_string(value) || json_string_length(value) >= size ||
        strlen(json_string_value(value)) != json_string_length(value)) {
        refuse(reader, key, "is not a short text");
        return;
    }
    (void)snprintf(out, size, "%s", json_string_value(value));
}

/* Files before a key have none. */
static double read_later_real(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value != NULL && !json_is_null(value) && !json_is_number(value)) {
        refuse(reader, key, "is neither a number nor null");
    }
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double read_real(struct reader *reader, const json_t *object, const char *key)
{
    (void)find(reader, object, key);
    return read_later_real(reader, object, key);
}

static bool read_bool(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = find(reader, object, key);
    if (value != NULL && !json_is_boolean(value)) {
        refuse(reader, key, "is neither true nor false");
    }
    return json_is_true(value);
}

static uint64_t read_count(struct reader *reader, const json_t *object, const char *key,
                           uint64_t max)
{
    const json_t *value = find(reader, object, key);
    if (value == NULL) {
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > max) {
        refuse(reader, key, "is not a whole number in its range");
        return 0;
    }
    return (uint64_t)json_integer_value(value);
}

/* An array of exactly count numbers, or null. */
static double *read_reals(struct reader *reader, const json_t *object, const char *key,
                          size_t count)
{
    const json_t *array = find(reader, object, key);
    if (reader->failed || json_is_null(array)) {
        return NULL;
    }
    reader->numbers += count;
    if (!json_is_array(array) || json_array_size(array) != count ||
        reader->numbers > RESULT_NUMBERS_MAX) {
        refuse(reader, key, "does not have a number for each expert or feature");
        return NULL;
    }
    double *number = result_numbers(count);
    if (number == NULL) {
        reader->no_memory = true;
        reader->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (json_is_number(value)) {
            number[i] = json_number_value(value);
        } else if (!json_is_null(value)) {
            refuse(reader, key, "holds something that is not a number");
        }
    }
    return number;
}

static int64_t read_expert(struct reader *reader, const json_t *object, const char *key,
                           const struct result *result)
{
    const json_t *value = find(reader, object, key);
    if (reader->failed || json_is_null(value)) {
        return RESULT_NONE;
    }
    for (size_t i = 0; json_is_string(value) && i < result->expert_count; i++) {
        if (strcmp(result->expert[i].name, json_string_value(value)) == 0) {
            return (int64_t)i;
        }
    }
    refuse(reader, key, "names none of the experts");
    return RESULT_NONE;
}

static const json_t *read_part(struct reader *reader, const json_t *object, const char *key,
                               bool array, size_t max)
{
    const json_t *value = find(reader, object, key);
    if (value == NULL) {
        return NULL;
    }
    if (array ? !json_is_array(value) || json_array_size(value) > max : !json_is_object(value)) {
        refuse(reader, key, array ? "is not a list, or too long" : "is not an object");
        return NULL;
    }
    return value;
}

static char *read_said(struct reader *reader, const json_t *object)
{
    const json_t *said = json_object_get(object, "said");
    if (said == NULL) {
        return NULL;
    }
    const char *text = json_string_value(said);
    if (text == NULL || json_string_length(said) >= RESULT_SAID_BYTES_MAX ||
        strlen(text) != json_string_length(said)) {
        refuse(reader, "said", "is not a text of moderate length");
        return NULL;
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        reader->no_memory = true;
        reader->failed = true;
    }
    return copy;
}

static void read_answers(struct reader *reader, struct result *result, const json_t *answers)
{
    for (size_t i = 0; i < result->answer_count && !reader->failed; i++) {
        const json_t *item = json_array_get(answers, i);
        struct result_answer *answer = &result->answer[i];
        read_text(reader, item, "name", answer->name, sizeof answer->name);
        read_text(reader, item, "unit", answer->unit, sizeof answer->unit);
        answer->round = (uint32_t)read_count(reader, item, "round", UINT32_MAX);
        if (json_object_get(item, "note") != NULL) {
            read_text(reader, item, "note", answer->note, sizeof answer->note);
        }
        answer->records = read_later_real(reader, item, "records");
        answer->value = read_real(reader, item, "value");
        answer->error = read_real(reader, item, "error");
        answer->low = read_real(reader, item, "low");
        answer->high = read_real(reader, item, "high");
        answer->sampling = read_real(reader, item, "sampling");
        answer->exact = read_real(reader, item, "exact");
    }
}

static void read_releases(struct reader *reader, struct result *result, const json_t *releases)
{
    for (size_t i = 0; i < result->release_count && !reader->failed; i++) {
        const json_t *item = json_array_get(releases, i);
        struct result_release *release = &result->release[i];
        release->stage = (uint32_t)read_count(reader, item, "stage", UINT32_MAX);
        read_text(reader, item, "task", release->task, sizeof release->task);
        read_text(reader, item, "strategy", release->strategy, sizeof release->strategy);
        read_text(reader, item, "what", release->what, sizeof release->what);
        read_text(reader, item, "unit", release->unit, sizeof release->unit);
        read_text(reader, item, "mechanism", release->mechanism, sizeof release->mechanism);
        release->noise = read_real(reader, item, "noise");
        release->bar = read_real(reader, item, "bar");
        release->sigma = read_real(reader, item, "sigma");
        release->sampling = read_real(reader, item, "sampling");
        release->passes = (uint32_t)read_count(reader, item, "passes", UINT32_MAX);
        release->epsilon = read_real(reader, item, "epsilon");
        release->delta = read_real(reader, item, "delta");
    }
}

static void read_lists(struct reader *reader, struct result *result, const json_t *rounds,
                       const json_t *experts, const json_t *agents)
{
    for (size_t i = 0; i < result->expert_count && !reader->failed; i++) {
        const json_t *item = json_array_get(experts, i);
        struct result_expert *expert = &result->expert[i];
        read_text(reader, item, "name", expert->name, sizeof expert->name);
        expert->lambda = read_real(reader, item, "lambda");
        expert->accuracy = read_real(reader, item, "accuracy");
        expert->auc = read_real(reader, item, "auc");
        expert->model = read_reals(reader, item, "model", result->feature_count);
    }
    for (size_t i = 0; i < result->round_count && !reader->failed; i++) {
        const json_t *item = json_array_get(rounds, i);
        struct result_round *round = &result->round[i];
        read_text(reader, item, "stage", round->stage, sizeof round->stage);
        round->round = (uint32_t)read_count(reader, item, "round", UINT32_MAX);
        round->agents = (uint32_t)read_count(reader, item, "agents", UINT32_MAX);
        round->failed = read_bool(reader, item, "failed");
        round->chosen = read_expert(reader, item, "chosen", result);
        round->seconds = read_real(reader, item, "seconds");
        round->epsilon = read_real(reader, item, "epsilon");
        round->said = read_said(reader, item);
        round->loss = read_reals(reader, item, "losses", result->expert_count);
        round->weight = read_reals(reader, item, "weights", result->expert_count);
        round->regret_average = read_real(reader, item, "regret_average");
        round->regret_bound = read_real(reader, item, "regret_bound");
    }
    for (size_t i = 0; i < result->agent_count && !reader->failed; i++) {
        const json_t *item = json_array_get(agents, i);
        struct result_agent *agent = &result->agent[i];
        read_text(reader, item, "agent", agent->name, sizeof agent->name);
        agent->epsilon_spent = read_real(reader, item, "epsilon_spent");
        agent->delta_spent = read_later_real(reader, item, "delta_spent");
        agent->epsilon_left = read_real(reader, item, "epsilon_left");
        agent->answers = (uint32_t)read_count(reader, item, "answers", UINT32_MAX);
    }
}

static void read_scalars(struct reader *reader, struct result *result, const json_t *root,
                         const json_t *privacy, const json_t *regret)
{
    const json_t *baseline = find(reader, root, "baseline");
    const json_t *error = json_object_get(root, "error"); /* files before it have none */
    const json_t *seed = find(reader, root, "seed");
    read_text(reader, root, "job", result->job, sizeof result->job);
    read_text(reader, root, "version", result->version, sizeof result->version);
    result->private = read_bool(reader, root, "private");
    result->simulated = read_bool(reader, root, "simulated");
    result->finished = read_bool(reader, root, "finished");
    result->seconds = read_real(reader, root, "seconds");
    result->accuracy = read_real(reader, root, "accuracy");
    result->auc = read_real(reader, root, "auc");
    result->chosen = read_expert(reader, root, "chosen", result);
    if (seed != NULL && !json_is_null(seed)) {
        result->has_seed = true;
        result->seed = read_count(reader, root, "seed", INT64_MAX);
    }
    if (baseline != NULL && !json_is_null(baseline)) {
        result->baseline.majority = read_real(reader, baseline, "majority");
        result->baseline.pooled_accuracy = read_real(reader, baseline, "pooled_accuracy");
        result->baseline.pooled_auc = read_real(reader, baseline, "pooled_auc");
        result->baseline.pooled_lambda = read_real(reader, baseline, "pooled_lambda");
        result->baseline.records_learn =
            (size_t)read_count(reader, baseline, "records_learn", INT64_MAX);
        result->baseline.records_held =
            (size_t)read_count(reader, baseline, "records_held", INT64_MAX);
    }
    if (json_is_object(error)) {
        result->error.root_mean_square = read_real(reader, error, "root_mean_square");
        result->error.mean_absolute = read_real(reader, error, "mean_absolute");
        result->error.pinball = read_real(reader, error, "pinball");
        result->error.constant = read_real(reader, error, "constant");
        result->error.pooled = read_real(reader, error, "pooled");
    } else if (error != NULL && !json_is_null(error)) {
        refuse(reader, "error", "is neither an object nor null");
    }
    read_text(reader, privacy, "trust", result->privacy.trust, sizeof result->privacy.trust);
    read_text(reader, privacy, "unit", result->privacy.unit, sizeof result->privacy.unit);
    result->privacy.epsilon = read_real(reader, privacy, "epsilon");
    result->privacy.delta = read_real(reader, privacy, "delta");
    result->regret.average = read_real(reader, regret, "average");
    result->regret.bound = read_real(reader, regret, "bound");
    result->regret.textbook = read_real(reader, regret, "bound_textbook");
    result->regret.noise = read_real(reader, regret, "bound_noise");
}

static void read_forecasts(struct reader *reader, struct result *result, const json_t *forecasts)
{
    for (size_t i = 0; i < result->forecast_count && !reader->failed; i++) {
        const json_t *item = json_array_get(forecasts, i);
        struct result_forecast *forecast = &result->forecast[i];
        const size_t days = json_array_size(json_object_get(item, "truth"));
        read_text(reader, item, "stream", forecast->stream, sizeof forecast->stream);
        forecast->truth = read_reals(reader, item, "truth", days);
        forecast->told = read_reals(reader, item, "forecast", days);
        forecast->day_count = forecast->truth != NULL && forecast->told != NULL ? days : 0;
    }
}

/* A list that files before it do not have; NULL then, which has size 0. */
static const json_t *read_later_list(struct reader *reader, const json_t *root, const char *key,
                                     size_t max)
{
    return json_object_get(root, key) == NULL ? NULL : read_part(reader, root, key, true, max);
}

static enum status read_root(struct reader *reader, struct result *result, const json_t *root)
{
    enum status status = STATUS_OK;
    const json_t *rounds = read_part(reader, root, "rounds", true, RESULT_ROUNDS_MAX);
    const json_t *experts = read_part(reader, root, "experts", true, RESULT_EXPERTS_MAX);
    const json_t *privacy = read_part(reader, root, "privacy", false, 0);
    const json_t *regret = read_part(reader, root, "regret", false, 0);
    const json_t *agents =
        privacy == NULL ? NULL : read_part(reader, privacy, "per_agent", true, RESULT_AGENTS_MAX);
    const json_t *answers = read_later_list(reader, root, "answers", RESULT_ANSWERS_MAX);
    const json_t *releases = read_later_list(reader, root, "releases", RESULT_RELEASES_MAX);
    const json_t *forecasts = read_later_list(reader, root, "forecasts", RESULT_FORECASTS_MAX);
    size_t features = (size_t)read_count(reader, root, "features", RESULT_NUMBERS_MAX);
    if (reader->failed) {
        return STATUS_INVALID;
    }
    status = result_reserve(result, json_array_size(rounds), json_array_size(experts),
                            json_array_size(agents));
    if (status == STATUS_OK) {
        status =
            result_reserve_answers(result, json_array_size(answers), json_array_size(releases));
    }
    if (status == STATUS_OK) {
        status = result_reserve_forecasts(result, json_array_size(forecasts));
    }
    if (status != STATUS_OK) {
        return status;
    }
    result->feature_count = features;
    read_lists(reader, result, rounds, experts, agents);
    read_answers(reader, result, answers);
    read_releases(reader, result, releases);
    read_forecasts(reader, result, forecasts);
    if (!reader->failed) {
        read_scalars(reader, result, root, privacy, regret);
    }
    if (reader->no_memory) {
        return STATUS_NO_MEMORY;
    }
    return reader->failed ? STATUS_INVALID : STATUS_OK;
}

enum status result_from_json(struct result *result, struct slice text, const char *name,
                             struct why *why)
{
    struct reader reader = {.name = name, .why = why};
    enum status status = STATUS_INVALID;
    json_error_t error;
    json_t *root = NULL;

    result_init(result);
    if (text.size > RESULT_FILE_BYTES_MAX) {
        why_set(why, "%s: larger than a result.json can be", name);
        return STATUS_INVALID;
    }
    root =
        json_loadb(text.data == NULL ? "" : text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL || !json_is_object(root)) {
        why_set(why,
                "%s: line %d, column %d: not JSON of a result: name the result.json that a job, "
                "or a simulation, wrote",
                name, root == NULL ? error.line : 1, root == NULL ? error.column : 1);
    } else {
        status = read_root(&reader, result, root);
    }
    json_decref(root);
    if (status != STATUS_OK) {
        result_free(result);
    }
    return status;
}
