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

#define PAGE(name, how, places)              .page = {(name), FORMAT_##how, (places), 0}
#define TERMINAL(name, how, places, columns) .terminal = {(name), FORMAT_##how, (places), (columns)}

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are of 4 or 8 bytes");

/* clang-format off */
static const struct field round_fields[] = {
    {"round", COUNT(struct result_round, round), PAGE("round", COUNT, 0)},
    {"stage", TEXT(struct result_round, stage), PAGE("stage", TEXT, 0)},
    {"stage_number", COUNT(struct result_round, stage_number), .is_later = true},
    {"agents", COUNT(struct result_round, agents), PAGE("institutions", COUNT, 0)},
    {"chosen", EXPERT(struct result_round, chosen), PAGE("played", TEXT, 0)},
    {"failed", BOOL(struct result_round, failed)},
    {"epsilon", REAL(struct result_round, epsilon), PAGE("epsilon so far", FIXED, 4)},
    {"said", OWNED(struct result_round, note), .is_later = true},
    {"losses", LOSSES(struct result_round, loss)},
    {"weights", LOSSES(struct result_round, weight)},
    {"weight_noise", REAL(struct result_round, weight_noise), .is_later = true},
    {"regret_average", REAL(struct result_round, regret_average), PAGE("regret", FIXED, 4)},
    {"regret_bound", REAL(struct result_round, regret_bound), PAGE("bound", FIXED, 4)},
    {"seconds", REAL(struct result_round, seconds), PAGE("seconds", FIXED, 2)},
    {.key = NULL}
};

const struct field result_expert_fields[] = {
    {"name", TEXT(struct result_expert, name), PAGE("expert", TEXT, 0)},
    {"lambda", REAL(struct result_expert, lambda), PAGE("lambda", SIGNIFICANT, 6)},
    {"accuracy", REAL(struct result_expert, accuracy), PAGE("accuracy", PERCENT, 1)},
    {"auc", REAL(struct result_expert, auc), PAGE("AUC", FIXED, 4)},
    {"weight_low", REAL(struct result_expert, weight_low), .is_later = true},
    {"weight_high", REAL(struct result_expert, weight_high), .is_later = true},
    {"model", FEATURES(struct result_expert, model)},
    {.key = NULL}
};

const struct field result_agent_fields[] = {
    {"agent", TEXT(struct result_agent, name), PAGE("institution", TEXT, 0)},
    {"answers", COUNT(struct result_agent, answers), PAGE("answers", COUNT, 0)},
    {"epsilon_spent", REAL(struct result_agent, epsilon_spent), PAGE("epsilon spent", FIXED, 6), TERMINAL("spent", FIXED, 4, 8)},
    {"delta_spent", REAL(struct result_agent, delta_spent), .is_later = true, PAGE("at delta", SIGNIFICANT, 3)},
    {"epsilon_left", REAL(struct result_agent, epsilon_left), PAGE("epsilon left", FIXED, 6), TERMINAL("left", FIXED, 4, 6)},
    {.key = NULL}
};

const struct field result_answer_fields[] = {
    {"name", TEXT(struct result_answer, name), PAGE("question", TEXT, 0)},
    {"round", COUNT(struct result_answer, round)},
    {"value", REAL(struct result_answer, value), PAGE("released answer", SIGNIFICANT, 5)},
    {"unit", TEXT(struct result_answer, unit), PAGE("unit", TEXT, 0)},
    {"note", NOTE(struct result_answer, note), .is_later = true},
    {"records", REAL(struct result_answer, records), .is_later = true, PAGE("of records asked", COUNT, 0)},
    {"low", REAL(struct result_answer, low), PAGE("95 % bar of the noise", SIGNIFICANT, 5)},
    {"high", REAL(struct result_answer, high)},
    {"exact", REAL(struct result_answer, exact), PAGE("exact", SIGNIFICANT, 5)},
    {"error", REAL(struct result_answer, error), PAGE("standard error of the noise", SIGNIFICANT, 5)},
    {"sampling", REAL(struct result_answer, sampling), PAGE("of sampling, about", SIGNIFICANT, 5)},
    {"interval_low", REAL(struct result_answer, total_low), .is_later = true, PAGE("95 % interval, sampling and noise", SIGNIFICANT, 5)},
    {"interval_high", REAL(struct result_answer, total_high), .is_later = true},
    {"table", NOTE(struct result_answer, table), .is_later = true},
    {"variable", NOTE(struct result_answer, variable), .is_later = true},
    {"figure", NOTE(struct result_answer, figure), .is_later = true},
    {"group", NOTE(struct result_answer, group), .is_later = true},
    {.key = NULL}
};

static const struct field point_fields[] = {
    {"question", TEXT(struct result_point, question)},
    {"round", COUNT(struct result_point, round)},
    {"curve", NOTE(struct result_point, curve), .is_later = true},
    {"group", TEXT(struct result_point, group), PAGE("group", TEXT, 0)},
    {"time", REAL(struct result_point, time), PAGE("time", SIGNIFICANT, 5)},
    {"at_risk", REAL(struct result_point, at_risk), PAGE("at risk before, about", COUNT, 0)},
    {"value", REAL(struct result_point, value), PAGE("share alive", FIXED, 3)},
    {"low", REAL(struct result_point, low), PAGE("95 % interval", FIXED, 3)},
    {"high", REAL(struct result_point, high)},
    {"band_low", REAL(struct result_point, band_low), PAGE("95 % band", FIXED, 3)},
    {"band_high", REAL(struct result_point, band_high)},
    {"noise_low", REAL(struct result_point, noise_low), PAGE("of the noise alone", FIXED, 3)},
    {"noise_high", REAL(struct result_point, noise_high)},
    {"exact", REAL(struct result_point, exact), PAGE("exact", FIXED, 3)},
    {.key = NULL}
};

const struct field result_effect_fields[] = {
    {"effect", TEXT(struct result_effect, name), PAGE("effect", TEXT, 0)},
    {"round", COUNT(struct result_effect, round)},
    {"unit", TEXT(struct result_effect, unit), PAGE("unit", TEXT, 0)},
    {"note", NOTE(struct result_effect, note), .is_later = true},
    {"table", NOTE(struct result_effect, table), .is_later = true},
    {"row", NOTE(struct result_effect, row), .is_later = true},
    {"sites", COUNT(struct result_effect, sites), PAGE("sites", COUNT, 0)},
    {"value", REAL(struct result_effect, value), PAGE("mean over sites", SIGNIFICANT, 4)},
    {"low", REAL(struct result_effect, low), PAGE("95 % interval", SIGNIFICANT, 4)},
    {"high", REAL(struct result_effect, high)},
    {"error", REAL(struct result_effect, error)},
    {"tau", REAL(struct result_effect, spread), PAGE("tau", SIGNIFICANT, 3)},
    {"i_squared", REAL(struct result_effect, share), PAGE("I\xc2\xb2", PERCENT, 0)},
    {"q", REAL(struct result_effect, statistic), PAGE("Q", SIGNIFICANT, 4)},
    {"p", REAL(struct result_effect, p), PAGE("p, all sites alike", SIGNIFICANT, 2)},
    {"next_low", REAL(struct result_effect, next_low), PAGE("95 % of another site", SIGNIFICANT, 4)},
    {"next_high", REAL(struct result_effect, next_high)},
    {"records_needed", REAL(struct result_effect, needed), .is_later = true},
    {"epsilon_factor", REAL(struct result_effect, factor), .is_later = true},
    {.key = NULL}
};

const struct field result_site_fields[] = {
    {"effect", TEXT(struct result_site, effect)},
    {"round", COUNT(struct result_site, round)},
    {"site", TEXT(struct result_site, site), PAGE("site", TEXT, 0)},
    {"records", REAL(struct result_site, records), PAGE("records", COUNT, 0)},
    {"value", REAL(struct result_site, value), PAGE("answer", SIGNIFICANT, 4)},
    {"low", REAL(struct result_site, low), PAGE("95 % interval", SIGNIFICANT, 4)},
    {"high", REAL(struct result_site, high)},
    {"noise", REAL(struct result_site, noise), PAGE("standard error of the noise", SIGNIFICANT, 3)},
    {"sampling", REAL(struct result_site, sampling), PAGE("of sampling", SIGNIFICANT, 3)},
    {"weight", REAL(struct result_site, weight), PAGE("weight", PERCENT, 1)},
    {.key = NULL}
};

static const struct field release_fields[] = {
    {"stage", COUNT(struct result_release, stage), PAGE("stage", COUNT, 0)},
    {"task", TEXT(struct result_release, task)},
    {"strategy", TEXT(struct result_release, strategy)},
    {"what", TEXT(struct result_release, what), PAGE("released", TEXT, 0)},
    {"unit", TEXT(struct result_release, unit)},
    {"noise", REAL(struct result_release, noise), PAGE("noise on it", SIGNIFICANT, 3)},
    {"bar", REAL(struct result_release, bar)},
    {"mechanism", TEXT(struct result_release, mechanism), PAGE("mechanism", TEXT, 0)},
    {"sigma", REAL(struct result_release, sigma)},
    {"sampling", REAL(struct result_release, sampling)},
    {"passes", COUNT(struct result_release, passes)},
    {"epsilon", REAL(struct result_release, epsilon), PAGE("\xce\xb5 of the stage", FIXED, 4)},
    {"delta", REAL(struct result_release, delta)},
    {.key = NULL}
};

const struct field result_forecast_fields[] = {
    {"stream", TEXT(struct result_forecast, stream)},
    {"truth", DAYS(struct result_forecast, truth)},
    {"forecast", DAYS(struct result_forecast, told)},
    {.key = NULL}
};

const struct field result_error_fields[] = {
    {"root_mean_square", REAL(struct result, error.root_mean_square), PAGE("root mean square", SIGNIFICANT, 5),
     TERMINAL("RMS error", SIGNIFICANT, 4, 12)},
    {"mean_absolute", REAL(struct result, error.mean_absolute), PAGE("mean absolute", SIGNIFICANT, 5),
     TERMINAL("mean absolute", SIGNIFICANT, 4, 13)},
    {"pinball", REAL(struct result, error.pinball), PAGE("pinball", SIGNIFICANT, 5)},
    {"constant", REAL(struct result, error.constant), PAGE("root mean square of always answering the mean", SIGNIFICANT, 5)},
    {"pooled", REAL(struct result, error.pooled), PAGE("root mean square of least squares on all records, not private", SIGNIFICANT, 5)},
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
    {"sent", NOTE(struct result, privacy.sent), .is_later = true},
    {"noise", NOTE(struct result, privacy.noise), .is_later = true},
    {"unit", TEXT(struct result, privacy.unit)},
    {"epsilon", REAL(struct result, privacy.epsilon)},
    {"delta", REAL(struct result, privacy.delta)},
    {"per_agent", LIST(agent, result_agent_fields, RESULT_AGENTS_MAX)},
    {.key = NULL}
};

static const struct field regret_fields[] = {
    {"average", REAL(struct result, regret.average), PAGE("reached", FIXED, 5)},
    {"bound", REAL(struct result, regret.bound), PAGE("bound (Hoeffding\xe2\x80\x99s lemma)", FIXED, 5)},
    {"bound_noise", REAL(struct result, regret.noise), PAGE("of which due to the noise on the losses", FIXED, 5)},
    {"bound_textbook", REAL(struct result, regret.textbook), PAGE("bound as in the textbook (Dwork and Roth, 11.1)", FIXED, 5)},
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
    {"accuracy_error", FIELD_COMPUTED, .compute = result_accuracy_error, .is_later = true},
    {"auc_error", FIELD_COMPUTED, .compute = result_auc_error, .is_later = true},
    {"error", FIELD_PART, .row = result_error_fields, .is_known = has_error, .is_later = true},
    {"baseline", FIELD_PART, .row = baseline_fields, .is_known = has_baseline},
    {"privacy", FIELD_PART, .row = result_privacy_fields},
    {"regret", FIELD_PART, .row = regret_fields},
    {"seconds", REAL(struct result, seconds)},
    {"answers", LIST(answer, result_answer_fields, RESULT_ANSWERS_MAX), .is_later = true},
    {"curves", LIST(point, point_fields, RESULT_POINTS_MAX), .is_later = true},
    {"effects", LIST(effect, result_effect_fields, RESULT_EFFECTS_MAX), .is_later = true},
    {"sites", LIST(site, result_site_fields, RESULT_SITES_MAX), .is_later = true},
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
