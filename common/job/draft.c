#include "job/draft.h"

#include "config/keys.h"

#include "dp/charge.h"

#include <stdio.h>

static const char *unit_choice(unsigned index)
{
    return job_unit_name((enum job_unit)index);
}

static const char *trust_choice(unsigned index)
{
    return job_trust_name((enum job_trust)index);
}

/* The only neighbours there are; the text says so, because epsilon means nothing without. */
static const char *neighbours_choice(unsigned index)
{
    return index == 0 ? "replace_one" : NULL;
}

static const struct config_foreign other_files[] = {
    {"data_sets", "this is a data dictionary, not a job: `hedgerow init job` makes a job from it"},
    {NULL, NULL}};

/* clang-format off */
#define KEY_OF struct draft_privacy
static const struct config_key privacy_keys[] = {
    KEY_CHOICE("unit", unit, unit_choice, REQUIRED("record")),
    KEY_CHOICE("neighbours", neighbours, neighbours_choice, REQUIRED("replace_one")),
    KEY_CHOICE("trust", trust, trust_choice, REQUIRED("local")),
    KEY_FIXED("epsilon", epsilon_micro, EPSILON_DECIMALS, 1, 1000 * EPSILON_MICRO_ONE, REQUIRED("1")),
    KEY_FIXED("delta", delta_atto, DELTA_DECIMALS, 0, DELTA_ATTO_ONE / 10, DEFAULT("0", "0")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_cohort
static const struct config_key cohort_keys[] = {
    KEY_WHOLE("minimum", minimum, 1, JOB_AGENTS_MAX, REQUIRED("3")),
    KEY_WHOLE("honest", honest, 0, JOB_AGENTS_SURE, OPTIONAL("13")),
    KEY_WHOLE("dishonest", dishonest, 0, JOB_AGENTS_SURE, OPTIONAL("8")),
    KEY_WHOLE("records", records, 1, 1000000000, DEFAULT("1", "1000")),
    KEY_WHOLE("records_most", records_most, 1, 1000000000, OPTIONAL("5000")),
    KEY_EXACT("join_deadline_s", join_deadline_ms, 3, 100, 604800000, DEFAULT("60", "60")),
    KEY_EXACT("deadline_s", deadline_ms, 3, 100, 604800000, REQUIRED("30")),
    KEY_EXACT("patience_s", patience_ms, 3, 0, 604800000, DEFAULT("3600", "3600")),
    KEY_LIST("agents", agent, agent_count, JOB_AGENTS_MAX, NAME, OPTIONAL("[north, south, west]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft
const struct config_key draft_keys[] = {
    KEY_NAME("job", name, REQUIRED("hospitals-mortality")),
    KEY_TABLE("data", data, draft_data_keys, REQUIRED("{label: ..., features: ...}")),
    KEY_TABLE("privacy", privacy, privacy_keys,
        REQUIRED("{unit: record, neighbours: replace_one, trust: local, epsilon: 1}")),
    KEY_TABLE("cohort", cohort, cohort_keys, REQUIRED("{minimum: 3, deadline_s: 30}")),
    KEY_TABLES("stages", stage, stage_count, JOB_STAGES_MAX, draft_stage_keys,
        REQUIRED("[{task: fit, loss: logistic, lambdas: [0.003], share: 1}]")),
    KEY_END_BUT(other_files),
};
#undef KEY_OF
/* clang-format on */

const char *draft_path(char path[static CONFIG_PATH_BYTES], const char *list, size_t index,
                       const char *key)
{
    (void)snprintf(path, CONFIG_PATH_BYTES, "%s[%zu]%s%s", list, index, key[0] != '\0' ? "." : "",
                   key);
    return path;
}
