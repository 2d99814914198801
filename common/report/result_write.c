/* result.json's writer. The keys of the first block are a promise to scripts; later ones may be
 * added.
 */

#include "base/check.h"
#include "report/result.h"
#include "json/json_text.h"

#include <jansson.h>
#include <math.h>

/* json_object_set_new and json_array_append_new take the value even when they fail, and fail when
 * it is NULL (no memory, not UTF-8): a flag collects that. */
struct writer {
    bool failed;
};

static void put(struct writer *writer, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        writer->failed = true;
    }
}

static void append(struct writer *writer, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) {
        writer->failed = true;
    }
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *reals(struct writer *writer, const double *value, size_t count)
{
    if (value == NULL) {
        return json_null();
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        append(writer, array, real(value[i]));
    }
    return array;
}

/* Experts are named, not numbered: their names are unique and mean something to a reader. */
static json_t *expert_name(const struct result *result, int64_t expert)
{
    if (expert == RESULT_NONE) {
        return json_null();
    }
    CHECK(expert >= 0 && (size_t)expert < result->expert_count);
    return json_string(result->expert[expert].name);
}

static json_t *rounds(struct writer *writer, const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->round_count; i++) {
        const struct result_round *round = &result->round[i];
        json_t *object = json_object();
        put(writer, object, "stage", json_string(round->stage));
        put(writer, object, "round", json_integer(round->round));
        put(writer, object, "agents", json_integer(round->agents));
        put(writer, object, "chosen", expert_name(result, round->chosen));
        put(writer, object, "seconds", real(round->seconds));
        put(writer, object, "failed", json_boolean(round->failed));
        put(writer, object, "epsilon", real(round->epsilon));
        if (round->said != NULL) {
            put(writer, object, "said", json_string(round->said));
        }
        put(writer, object, "losses", reals(writer, round->loss, result->expert_count));
        put(writer, object, "weights", reals(writer, round->weight, result->expert_count));
        put(writer, object, "regret_average", real(round->regret_average));
        put(writer, object, "regret_bound", real(round->regret_bound));
        append(writer, array, object);
    }
    return array;
}

static json_t *experts(struct writer *writer, const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->expert_count; i++) {
        const struct result_expert *expert = &result->expert[i];
        json_t *object = json_object();
        put(writer, object, "name", json_string(expert->name));
        put(writer, object, "lambda", real(expert->lambda));
        put(writer, object, "accuracy", real(expert->accuracy));
        put(writer, object, "auc", real(expert->auc));
        put(writer, object, "model", reals(writer, expert->model, result->feature_count));
        append(writer, array, object);
    }
    return array;
}

static json_t *answers(struct writer *writer, const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->answer_count; i++) {
        const struct result_answer *answer = &result->answer[i];
        json_t *object = json_object();
        put(writer, object, "name", json_string(answer->name));
        put(writer, object, "round", json_integer(answer->round));
        put(writer, object, "unit", json_string(answer->unit));
        if (answer->note[0] != '\0') {
            put(writer, object, "note", json_string(answer->note));
        }
        put(writer, object, "records", real(answer->records));
        put(writer, object, "value", real(answer->value));
        put(writer, object, "error", real(answer->error));
        put(writer, object, "low", real(answer->low));
        put(writer, object, "high", real(answer->high));
        put(writer, object, "sampling", real(answer->sampling));
        put(writer, object, "exact", real(answer->exact));
        append(writer, array, object);
    }
    return array;
}

static json_t *releases(struct writer *writer, const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->release_count; i++) {
        const struct result_release *release = &result->release[i];
        json_t *object = json_object();
        put(writer, object, "stage", json_integer(release->stage));
        put(writer, object, "task", json_string(release->task));
        put(writer, object, "strategy", json_string(release->strategy));
        put(writer, object, "what", json_string(release->what));
        put(writer, object, "unit", json_string(release->unit));
        put(writer, object, "noise", real(release->noise));
        put(writer, object, "bar", real(release->bar));
        put(writer, object, "mechanism", json_string(release->mechanism));
        put(writer, object, "sigma", real(release->sigma));
        put(writer, object, "sampling", real(release->sampling));
        put(writer, object, "passes", json_integer(release->passes));
        put(writer, object, "epsilon", real(release->epsilon));
        put(writer, object, "delta", real(release->delta));
        append(writer, array, object);
    }
    return array;
}

static json_t *forecasts(struct writer *writer, const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->forecast_count; i++) {
        const struct result_forecast *forecast = &result->forecast[i];
        json_t *object = json_object();
        put(writer, object, "stream", json_string(forecast->stream));
        put(writer, object, "truth", reals(writer, forecast->truth, forecast->day_count));
        put(writer, object, "forecast", reals(writer, forecast->told, forecast->day_count));
        append(writer, array, object);
    }
    return array;
}

static json_t *error(struct writer *writer, const struct result *result)
{
    if (!isfinite(result->error.root_mean_square)) {
        return json_null(); /* a deployment, or a label that is no number */
    }
    json_t *object = json_object();
    put(writer, object, "root_mean_square", real(result->error.root_mean_square));
    put(writer, object, "mean_absolute", real(result->error.mean_absolute));
    put(writer, object, "pinball", real(result->error.pinball));
    put(writer, object, "constant", real(result->error.constant));
    put(writer, object, "pooled", real(result->error.pooled));
    return object;
}

static json_t *baseline(struct writer *writer, const struct result *result)
{
    if (!isfinite(result->baseline.majority) && !isfinite(result->error.root_mean_square)) {
        return json_null(); /* a deployment: nobody may compute it from exact records */
    }
    json_t *object = json_object();
    put(writer, object, "majority", real(result->baseline.majority));
    put(writer, object, "pooled_accuracy", real(result->baseline.pooled_accuracy));
    put(writer, object, "pooled_auc", real(result->baseline.pooled_auc));
    put(writer, object, "pooled_lambda", real(result->baseline.pooled_lambda));
    put(writer, object, "records_learn", json_integer((json_int_t)result->baseline.records_learn));
    put(writer, object, "records_held", json_integer((json_int_t)result->baseline.records_held));
    return object;
}

static json_t *privacy(struct writer *writer, const struct result *result)
{
    json_t *object = json_object();
    json_t *per_agent = json_array();
    put(writer, object, "trust", json_string(result->privacy.trust));
    put(writer, object, "unit", json_string(result->privacy.unit));
    put(writer, object, "epsilon", real(result->privacy.epsilon));
    put(writer, object, "delta", real(result->privacy.delta));
    for (size_t i = 0; i < result->agent_count; i++) {
        const struct result_agent *agent = &result->agent[i];
        json_t *item = json_object();
        put(writer, item, "agent", json_string(agent->name));
        put(writer, item, "epsilon_spent", real(agent->epsilon_spent));
        put(writer, item, "delta_spent", real(agent->delta_spent));
        put(writer, item, "epsilon_left", real(agent->epsilon_left));
        put(writer, item, "answers", json_integer(agent->answers));
        append(writer, per_agent, item);
    }
    put(writer, object, "per_agent", per_agent);
    return object;
}

static json_t *regret(struct writer *writer, const struct result *result)
{
    json_t *object = json_object();
    put(writer, object, "average", real(result->regret.average));
    put(writer, object, "bound", real(result->regret.bound));
    put(writer, object, "bound_textbook", real(result->regret.textbook));
    put(writer, object, "bound_noise", real(result->regret.noise));
    return object;
}

enum status result_to_json(char **text, const struct result *result)
{
    struct writer writer = {0};
    json_t *root = json_object();
    *text = NULL;
    put(&writer, root, "job", json_string(result->job));
    put(&writer, root, "private", json_boolean(result->private));
    put(&writer, root, "agents", json_integer((json_int_t)result->agent_count));
    put(&writer, root, "rounds", rounds(&writer, result));
    put(&writer, root, "experts", experts(&writer, result));
    put(&writer, root, "chosen", expert_name(result, result->chosen));
    put(&writer, root, "accuracy", real(result->accuracy));
    put(&writer, root, "auc", real(result->auc));
    put(&writer, root, "error", error(&writer, result));
    put(&writer, root, "baseline", baseline(&writer, result));
    put(&writer, root, "privacy", privacy(&writer, result));
    put(&writer, root, "regret", regret(&writer, result));
    put(&writer, root, "seconds", real(result->seconds));
    put(&writer, root, "answers", answers(&writer, result));
    put(&writer, root, "forecasts", forecasts(&writer, result));
    put(&writer, root, "releases", releases(&writer, result));

    put(&writer, root, "simulated", json_boolean(result->simulated));
    put(&writer, root, "finished", json_boolean(result->finished));
    put(&writer, root, "seed",
        result->has_seed ? json_integer((json_int_t)result->seed) : json_null());
    put(&writer, root, "features", json_integer((json_int_t)result->feature_count));
    put(&writer, root, "version", json_string(result->version));
    if (!writer.failed) {
        /* 15 digits: 0.003 stays 0.003. model.json holds the chosen model exactly. */
        *text = json_text(root, 1, 15);
    }
    json_decref(root);
    if (writer.failed) {
        return STATUS_INVALID;
    }
    return *text == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}
