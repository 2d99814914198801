#include "report/result_fields.h"

#include <math.h>

/* A row whose kind does not fit the type of its member does not compile: the pointers of ?: must be alike. */
#define OF(type, member)    (((type *)0)->member)
#define ALIKE(as, pointer)  (0 * sizeof(1 ? (as *)NULL : (pointer)))
#define PLACE(type, member) offsetof(type, member), .size = sizeof(OF(type, member))
#define ROW(kind, as, pointer, type, member)                                                       \
    kind, .offset = ALIKE(as, pointer) + PLACE(type, member)

#define TEXT(type, member)     ROW(FIELD_TEXT, char, OF(type, member), type, member)
#define NOTE(type, member)     ROW(FIELD_NOTE, char, OF(type, member), type, member)
#define OWNED(type, member)    ROW(FIELD_OWNED, char *, &OF(type, member), type, member)
#define REAL(type, member)     ROW(FIELD_REAL, double, &OF(type, member), type, member)
#define BOOL(type, member)     ROW(FIELD_BOOL, bool, &OF(type, member), type, member)
#define COUNT(type, member)    ROW(FIELD_COUNT, uint32_t, &OF(type, member), type, member)
#define LARGE(type, member)    ROW(FIELD_COUNT, size_t, &OF(type, member), type, member)
#define EXPERT(type, member)   ROW(FIELD_EXPERT, int64_t, &OF(type, member), type, member)
#define LOSSES(type, member)   ROW(FIELD_LOSSES, double *, &OF(type, member), type, member)
#define FEATURES(type, member) ROW(FIELD_FEATURES, double *, &OF(type, member), type, member)
#define DAYS(type, member)     ROW(FIELD_DAYS, double *, &OF(type, member), type, member)
#define LIST(member, rows, most)                                                                   \
    FIELD_LIST, .offset = PLACE(struct result, member), .row = (rows), .max = (most),              \
                .item_size = sizeof *((struct result *)0)->member,                                 \
                .count_offset = offsetof(struct result, member##_count)

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are of 4 or 8 bytes");

/* clang-format off */
static const struct field round_fields[] = {
    {"stage", TEXT(struct result_round, stage)},
    {"round", COUNT(struct result_round, round)},
    {"agents", COUNT(struct result_round, agents)},
    {"chosen", EXPERT(struct result_round, chosen)},
    {"seconds", REAL(struct result_round, seconds)},
    {"failed", BOOL(struct result_round, failed)},
    {"epsilon", REAL(struct result_round, epsilon)},
    {"said", OWNED(struct result_round, said), .is_later = true},
    {"losses", LOSSES(struct result_round, loss)},
    {"weights", LOSSES(struct result_round, weight)},
    {"regret_average", REAL(struct result_round, regret_average)},
    {"regret_bound", REAL(struct result_round, regret_bound)},
    {.key = NULL}
};

const struct field result_expert_fields[] = {
    {"name", TEXT(struct result_expert, name)},
    {"lambda", REAL(struct result_expert, lambda)},
    {"accuracy", REAL(struct result_expert, accuracy)},
    {"auc", REAL(struct result_expert, auc)},
    {"model", FEATURES(struct result_expert, model)},
    {.key = NULL}
};

static const struct field agent_fields[] = {
    {"agent", TEXT(struct result_agent, name)},
    {"epsilon_spent", REAL(struct result_agent, epsilon_spent)},
    {"delta_spent", REAL(struct result_agent, delta_spent), .is_later = true},
    {"epsilon_left", REAL(struct result_agent, epsilon_left)},
    {"answers", COUNT(struct result_agent, answers)},
    {.key = NULL}
};

static const struct field answer_fields[] = {
    {"name", TEXT(struct result_answer, name)},
    {"round", COUNT(struct result_answer, round)},
    {"unit", TEXT(struct result_answer, unit)},
    {"note", NOTE(struct result_answer, note), .is_later = true},
    {"records", REAL(struct result_answer, records), .is_later = true},
    {"value", REAL(struct result_answer, value)},
    {"error", REAL(struct result_answer, error)},
    {"low", REAL(struct result_answer, low)},
    {"high", REAL(struct result_answer, high)},
    {"sampling", REAL(struct result_answer, sampling)},
    {"exact", REAL(struct result_answer, exact)},
    {.key = NULL}
};

static const struct field release_fields[] = {
    {"stage", COUNT(struct result_release, stage)},
    {"task", TEXT(struct result_release, task)},
    {"strategy", TEXT(struct result_release, strategy)},
    {"what", TEXT(struct result_release, what)},
    {"unit", TEXT(struct result_release, unit)},
    {"noise", REAL(struct result_release, noise)},
    {"bar", REAL(struct result_release, bar)},
    {"mechanism", TEXT(struct result_release, mechanism)},
    {"sigma", REAL(struct result_release, sigma)},
    {"sampling", REAL(struct result_release, sampling)},
    {"passes", COUNT(struct result_release, passes)},
    {"epsilon", REAL(struct result_release, epsilon)},
    {"delta", REAL(struct result_release, delta)},
    {.key = NULL}
};

const struct field result_forecast_fields[] = {
    {"stream", TEXT(struct result_forecast, stream)},
    {"truth", DAYS(struct result_forecast, truth)},
    {"forecast", DAYS(struct result_forecast, told)},
    {.key = NULL}
};

static const struct field error_fields[] = {
    {"root_mean_square", REAL(struct result, error.root_mean_square)},
    {"mean_absolute", REAL(struct result, error.mean_absolute)},
    {"pinball", REAL(struct result, error.pinball)},
    {"constant", REAL(struct result, error.constant)},
    {"pooled", REAL(struct result, error.pooled)},
    {.key = NULL}
};

static const struct field baseline_fields[] = {
    {"majority", REAL(struct result, baseline.majority)},
    {"pooled_accuracy", REAL(struct result, baseline.pooled_accuracy)},
    {"pooled_auc", REAL(struct result, baseline.pooled_auc)},
    {"pooled_lambda", REAL(struct result, baseline.pooled_lambda)},
    {"records_learn", LARGE(struct result, baseline.records_learn)},
    {"records_held", LARGE(struct result, baseline.records_held)},
    {.key = NULL}
};

const struct field result_privacy_fields[] = {
    {"trust", TEXT(struct result, privacy.trust)},
    {"unit", TEXT(struct result, privacy.unit)},
    {"epsilon", REAL(struct result, privacy.epsilon)},
    {"delta", REAL(struct result, privacy.delta)},
    {"per_agent", LIST(agent, agent_fields, RESULT_AGENTS_MAX)},
    {.key = NULL}
};

static const struct field regret_fields[] = {
    {"average", REAL(struct result, regret.average)},
    {"bound", REAL(struct result, regret.bound)},
    {"bound_textbook", REAL(struct result, regret.textbook)},
    {"bound_noise", REAL(struct result, regret.noise)},
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
    {"job", TEXT(struct result, job)},
    {"private", BOOL(struct result, private)},
    {"agents", FIELD_DERIVED, .offset = PLACE(struct result, agent_count)},
    {"rounds", LIST(round, round_fields, RESULT_ROUNDS_MAX)},
    {"experts", LIST(expert, result_expert_fields, RESULT_EXPERTS_MAX)},
    {"chosen", EXPERT(struct result, chosen)},
    {"accuracy", REAL(struct result, accuracy)},
    {"auc", REAL(struct result, auc)},
    {"error", FIELD_PART, .row = error_fields, .is_known = has_error, .is_later = true},
    {"baseline", FIELD_PART, .row = baseline_fields, .is_known = has_baseline},
    {"privacy", FIELD_PART, .row = result_privacy_fields},
    {"regret", FIELD_PART, .row = regret_fields},
    {"seconds", REAL(struct result, seconds)},
    {"answers", LIST(answer, answer_fields, RESULT_ANSWERS_MAX), .is_later = true},
    {"forecasts", LIST(forecast, result_forecast_fields, RESULT_FORECASTS_MAX), .is_later = true},
    {"releases", LIST(release, release_fields, RESULT_RELEASES_MAX), .is_later = true},
    {"simulated", BOOL(struct result, simulated)},
    {"finished", BOOL(struct result, finished)},
    {"seed", FIELD_SEED, .offset = PLACE(struct result, seed)},
    {"features", LARGE(struct result, feature_count), .max = RESULT_NUMBERS_MAX},
    {"version", TEXT(struct result, version)},
    {.key = NULL}
};
/* clang-format on */
