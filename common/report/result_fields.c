#include "report/result_fields.h"

#include <math.h>

#define AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define ROUND(member)    AT(struct result_round, member)
#define EXPERT(member)   AT(struct result_expert, member)
#define AGENT(member)    AT(struct result_agent, member)
#define ANSWER(member)   AT(struct result_answer, member)
#define RELEASE(member)  AT(struct result_release, member)
#define FORECAST(member) AT(struct result_forecast, member)
#define RESULT(member)   AT(struct result, member)
#define LIST(member, rows, most)                                                                   \
    RESULT(member), .row = (rows), .max = (most),                                                  \
                    .item_size = sizeof *((struct result *)0)->member,                             \
                    .count_offset = offsetof(struct result, member##_count)

/* clang-format off */
static const struct field round_fields[] = {
    {"stage", FIELD_TEXT, ROUND(stage)},
    {"round", FIELD_COUNT, ROUND(round)},
    {"agents", FIELD_COUNT, ROUND(agents)},
    {"chosen", FIELD_EXPERT, ROUND(chosen)},
    {"seconds", FIELD_REAL, ROUND(seconds)},
    {"failed", FIELD_BOOL, ROUND(failed)},
    {"epsilon", FIELD_REAL, ROUND(epsilon)},
    {"said", FIELD_OWNED, ROUND(said), .is_later = true},
    {"losses", FIELD_LOSSES, ROUND(loss)},
    {"weights", FIELD_LOSSES, ROUND(weight)},
    {"regret_average", FIELD_REAL, ROUND(regret_average)},
    {"regret_bound", FIELD_REAL, ROUND(regret_bound)},
    {.key = NULL}
};

const struct field result_expert_fields[] = {
    {"name", FIELD_TEXT, EXPERT(name)},
    {"lambda", FIELD_REAL, EXPERT(lambda)},
    {"accuracy", FIELD_REAL, EXPERT(accuracy)},
    {"auc", FIELD_REAL, EXPERT(auc)},
    {"model", FIELD_FEATURES, EXPERT(model)},
    {.key = NULL}
};

static const struct field agent_fields[] = {
    {"agent", FIELD_TEXT, AGENT(name)},
    {"epsilon_spent", FIELD_REAL, AGENT(epsilon_spent)},
    {"delta_spent", FIELD_REAL, AGENT(delta_spent), .is_later = true},
    {"epsilon_left", FIELD_REAL, AGENT(epsilon_left)},
    {"answers", FIELD_COUNT, AGENT(answers)},
    {.key = NULL}
};

static const struct field answer_fields[] = {
    {"name", FIELD_TEXT, ANSWER(name)},
    {"round", FIELD_COUNT, ANSWER(round)},
    {"unit", FIELD_TEXT, ANSWER(unit)},
    {"note", FIELD_NOTE, ANSWER(note), .is_later = true},
    {"records", FIELD_REAL, ANSWER(records), .is_later = true},
    {"value", FIELD_REAL, ANSWER(value)},
    {"error", FIELD_REAL, ANSWER(error)},
    {"low", FIELD_REAL, ANSWER(low)},
    {"high", FIELD_REAL, ANSWER(high)},
    {"sampling", FIELD_REAL, ANSWER(sampling)},
    {"exact", FIELD_REAL, ANSWER(exact)},
    {.key = NULL}
};

static const struct field release_fields[] = {
    {"stage", FIELD_COUNT, RELEASE(stage)},
    {"task", FIELD_TEXT, RELEASE(task)},
    {"strategy", FIELD_TEXT, RELEASE(strategy)},
    {"what", FIELD_TEXT, RELEASE(what)},
    {"unit", FIELD_TEXT, RELEASE(unit)},
    {"noise", FIELD_REAL, RELEASE(noise)},
    {"bar", FIELD_REAL, RELEASE(bar)},
    {"mechanism", FIELD_TEXT, RELEASE(mechanism)},
    {"sigma", FIELD_REAL, RELEASE(sigma)},
    {"sampling", FIELD_REAL, RELEASE(sampling)},
    {"passes", FIELD_COUNT, RELEASE(passes)},
    {"epsilon", FIELD_REAL, RELEASE(epsilon)},
    {"delta", FIELD_REAL, RELEASE(delta)},
    {.key = NULL}
};

const struct field result_forecast_fields[] = {
    {"stream", FIELD_TEXT, FORECAST(stream)},
    {"truth", FIELD_DAYS, FORECAST(truth)},
    {"forecast", FIELD_DAYS, FORECAST(told)},
    {.key = NULL}
};

static const struct field error_fields[] = {
    {"root_mean_square", FIELD_REAL, RESULT(error.root_mean_square)},
    {"mean_absolute", FIELD_REAL, RESULT(error.mean_absolute)},
    {"pinball", FIELD_REAL, RESULT(error.pinball)},
    {"constant", FIELD_REAL, RESULT(error.constant)},
    {"pooled", FIELD_REAL, RESULT(error.pooled)},
    {.key = NULL}
};

static const struct field baseline_fields[] = {
    {"majority", FIELD_REAL, RESULT(baseline.majority)},
    {"pooled_accuracy", FIELD_REAL, RESULT(baseline.pooled_accuracy)},
    {"pooled_auc", FIELD_REAL, RESULT(baseline.pooled_auc)},
    {"pooled_lambda", FIELD_REAL, RESULT(baseline.pooled_lambda)},
    {"records_learn", FIELD_COUNT, RESULT(baseline.records_learn)},
    {"records_held", FIELD_COUNT, RESULT(baseline.records_held)},
    {.key = NULL}
};

const struct field result_privacy_fields[] = {
    {"trust", FIELD_TEXT, RESULT(privacy.trust)},
    {"unit", FIELD_TEXT, RESULT(privacy.unit)},
    {"epsilon", FIELD_REAL, RESULT(privacy.epsilon)},
    {"delta", FIELD_REAL, RESULT(privacy.delta)},
    {"per_agent", FIELD_LIST, LIST(agent, agent_fields, RESULT_AGENTS_MAX)},
    {.key = NULL}
};

static const struct field regret_fields[] = {
    {"average", FIELD_REAL, RESULT(regret.average)},
    {"bound", FIELD_REAL, RESULT(regret.bound)},
    {"bound_textbook", FIELD_REAL, RESULT(regret.textbook)},
    {"bound_noise", FIELD_REAL, RESULT(regret.noise)},
    {.key = NULL}
};

/* null in a deployment, or where the label is no number */
static bool has_error(const struct result *result)
{
    return isfinite(result->error.root_mean_square);
}

/* null in a deployment, where nobody may compute it from exact records */
static bool has_baseline(const struct result *result)
{
    return isfinite(result->baseline.majority) || has_error(result);
}

/* The keys down to "seconds" are a promise to scripts; later ones may be added. */
const struct field result_fields[] = {
    {"job", FIELD_TEXT, RESULT(job)},
    {"private", FIELD_BOOL, RESULT(private)},
    {"agents", FIELD_DERIVED, RESULT(agent_count)},
    {"rounds", FIELD_LIST, LIST(round, round_fields, RESULT_ROUNDS_MAX)},
    {"experts", FIELD_LIST, LIST(expert, result_expert_fields, RESULT_EXPERTS_MAX)},
    {"chosen", FIELD_EXPERT, RESULT(chosen)},
    {"accuracy", FIELD_REAL, RESULT(accuracy)},
    {"auc", FIELD_REAL, RESULT(auc)},
    {"error", FIELD_PART, .row = error_fields, .is_known = has_error, .is_later = true},
    {"baseline", FIELD_PART, .row = baseline_fields, .is_known = has_baseline},
    {"privacy", FIELD_PART, .row = result_privacy_fields},
    {"regret", FIELD_PART, .row = regret_fields},
    {"seconds", FIELD_REAL, RESULT(seconds)},
    {"answers", FIELD_LIST, LIST(answer, answer_fields, RESULT_ANSWERS_MAX), .is_later = true},
    {"forecasts", FIELD_LIST, LIST(forecast, result_forecast_fields, RESULT_FORECASTS_MAX), .is_later = true},
    {"releases", FIELD_LIST, LIST(release, release_fields, RESULT_RELEASES_MAX), .is_later = true},
    {"simulated", FIELD_BOOL, RESULT(simulated)},
    {"finished", FIELD_BOOL, RESULT(finished)},
    {"seed", FIELD_SEED, RESULT(seed)},
    {"features", FIELD_COUNT, RESULT(feature_count), .max = RESULT_NUMBERS_MAX},
    {"version", FIELD_TEXT, RESULT(version)},
    {.key = NULL}
};
/* clang-format on */
