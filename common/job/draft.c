#include "job/draft.h"

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

static const struct config_key privacy_keys[] = {
    {.name = "unit",
     .type = CONFIG_CHOICE,
     .required = true,
     CONFIG_IN(struct draft_privacy, unit),
     .choice = unit_choice,
     .example = "record"},
    {.name = "neighbours",
     .type = CONFIG_CHOICE,
     .required = true,
     CONFIG_IN(struct draft_privacy, neighbours),
     .choice = neighbours_choice,
     .example = "replace_one"},
    {.name = "trust",
     .type = CONFIG_CHOICE,
     .required = true,
     CONFIG_IN(struct draft_privacy, trust),
     .choice = trust_choice,
     .example = "local"},
    {.name = "epsilon",
     .type = CONFIG_FIXED,
     .places = EPSILON_DECIMALS,
     .required = true,
     CONFIG_IN(struct draft_privacy, epsilon_micro),
     .min = 1,
     .max = 1000 * EPSILON_MICRO_ONE,
     .example = "1"},
    {.name = "delta",
     .type = CONFIG_FIXED,
     .places = DELTA_DECIMALS,
     CONFIG_IN(struct draft_privacy, delta_atto),
     .max = DELTA_ATTO_ONE / 10,
     .fallback = "0",
     .example = "0"},
    {.name = NULL},
};

static const struct config_key cohort_keys[] = {
    {.name = "minimum",
     .type = CONFIG_INTEGER,
     .required = true,
     CONFIG_IN(struct draft_cohort, minimum),
     .min = 1,
     .max = JOB_AGENTS_MAX,
     .example = "3"},
    {.name = "records",
     .type = CONFIG_INTEGER,
     CONFIG_IN(struct draft_cohort, records),
     .min = 1,
     .max = 1000000000,
     .fallback = "1",
     .example = "1000"},
    {.name = "records_most",
     .type = CONFIG_INTEGER,
     CONFIG_IN(struct draft_cohort, records_most),
     .min = 1,
     .max = 1000000000,
     .example = "5000"},
    {.name = "join_deadline_s",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     CONFIG_IN(struct draft_cohort, join_deadline_ms),
     .min = 100,
     .max = 604800000,
     .fallback = "60",
     .example = "60"},
    {.name = "deadline_s",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     .required = true,
     CONFIG_IN(struct draft_cohort, deadline_ms),
     .min = 100,
     .max = 604800000,
     .example = "30"},
    {.name = "patience_s",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     CONFIG_IN(struct draft_cohort, patience_ms),
     .min = 0,
     .max = 604800000,
     .fallback = "3600",
     .example = "3600"},
    {.name = NULL},
};

const struct config_key draft_keys[] = {
    {.name = "job",
     .type = CONFIG_NAME,
     .required = true,
     CONFIG_IN(struct draft, name),
     .example = "hospitals-mortality"},
    {.name = "data",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_IN(struct draft, data),
     .keys = draft_data_keys,
     .example = "{label: ..., features: ...}"},
    {.name = "privacy",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_IN(struct draft, privacy),
     .keys = privacy_keys,
     .example = "{unit: record, neighbours: replace_one, trust: local, epsilon: 1}"},
    {.name = "cohort",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_IN(struct draft, cohort),
     .keys = cohort_keys,
     .example = "{minimum: 3, deadline_s: 30}"},
    {.name = "stages",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_LIST_IN(struct draft, stage, stage_count),
     .items_max = JOB_STAGES_MAX,
     .keys = draft_stage_keys,
     .example = "[{task: fit, loss: logistic, lambdas: [0.003], share: 1}]"},
    {.name = NULL},
};

const char *draft_path(char path[static CONFIG_PATH_BYTES], const char *list, size_t index,
                       const char *key)
{
    (void)snprintf(path, CONFIG_PATH_BYTES, "%s[%zu]%s%s", list, index, key[0] != '\0' ? "." : "",
                   key);
    return path;
}
